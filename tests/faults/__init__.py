"""What is promised must hold while processes are killed and the network fails: the fault harness.

``./dev test --faults`` runs everything at full size and asserts times too; ``./dev test`` runs the same
scenarios shortened, without assertions on seconds. ``./dev test --faults -s`` also prints the figures.

What causes the faults:

- ``replica.py``: replica sets of local mongods that can be killed and started again;
- ``proxy.py``: a TCP proxy that delays, drops and swallows;
- ``nginx.py``: nginx with the shipped configuration;
- ``slow_service.py``: a service whose acts take their time;
- ``soak.py``, ``soak_service.py``: a service with jobs, files and stored replies, its clients, and what grows;
- ``serving.py``: the sample service behind gunicorn, the pids of its workers, and what kills them;
- ``bursts.py``: random operations of many threads and processes on few documents. As a program it
  takes away one of the guards (``--without touch``), so that one sees the checks fail.

What is watched:

- ``clients.py``: clients of the service, and a ledger of all they sent and were told;
- ``invariants.py``: compares the ledger and every copy and window with what is stored.

The scenarios:

- ``test_crashes.py``: workers are killed while users are added;
- ``test_same_email.py``: many clients add the same user at once;
- ``test_failover.py``: the primary is killed; all mongods are killed and come back;
- ``test_probes.py``: the primary hangs or dies, and comes back, under probes;
- ``test_network.py``: replies are swallowed, delayed, connections dropped;
- ``test_fan_out.py``: a document with very many holders is renamed while they change;
- ``test_bursts.py``: the random bursts;
- ``test_standalone.py``: a process dies in the middle of a write to a server without transactions;
- ``test_slow_clients.py``, ``test_nginx.py``: clients that send slowly, behind the shipped nginx configuration;
- ``test_overload.py``: slow databases and remote services, a used-up pool;
- ``test_soak.py``: for a minute, or an hour, nothing grows while workers and primaries die;
- ``test_stop.py``: a server is told to stop while acts are under way;
- ``test_invariants.py``, ``test_proxy.py``: the harness itself notices and does what it says.
"""
