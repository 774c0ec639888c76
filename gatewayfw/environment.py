"""Where a process runs, as its environment says, and whether it has threads.

``GATEWAYFW_ENV`` names the environment or, if it is not set, ``FLASK_ENV``. Of the two only the first can make anything
less strict, because Flask itself no longer reads the other: a forgotten ``FLASK_ENV`` must not cause random keys in
production.
"""

import sys
from collections.abc import Container, Mapping
from typing import Any, Literal

from gatewayfw.errors import DefinitionError

VARIABLE = "GATEWAYFW_ENV"
#: Where the processes of one service keep their metrics; read by prometheus_client when it is imported.
METRICS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
#: In the WSGI environment of a request that a program, such as a command, sends to its own app: it does not serve.
IN_PROCESS = "gatewayfw.in_process"
_OTHER = "FLASK_ENV"
_DEVELOPMENT, _PRODUCTION = "development", "production"
_NO = frozenset({"", "0", "false", "no"})
#: The module that replaces parts of the standard library, by the name of the package.
_PATCHERS = {"gevent": ("gevent.monkey", "is_module_patched"), "eventlet": ("eventlet.patcher", "is_monkey_patched")}
#: With either of them greenlets take turns within an operation.
_PARTS = ("threading", "thread", "socket")


def environment(environ: Mapping[str, str]) -> str:
    """Return the name of the environment in lower case; empty when nothing names it."""
    return (environ.get(VARIABLE, "").strip() or environ.get(_OTHER, "").strip()).lower()


def is_development(environ: Mapping[str, str]) -> bool:
    """Tell whether ``GATEWAYFW_ENV`` says ``development``."""
    return environ.get(VARIABLE, "").strip().lower() == _DEVELOPMENT


def multi_worker_server(environ: Mapping[str, str], modules: Container[str], process: str) -> str:
    """Return the server whose worker this process is; empty where none is known.

    ``modules`` are those that are loaded, ``process`` is what multiprocessing calls this one. gunicorn
    sets a variable for its workers, granian (2.8) names them, and only within uWSGI is there a module
    of that name. A worker of granian that is a thread shares its data, and is not one of these.
    """
    if environ.get("SERVER_SOFTWARE", "").startswith("gunicorn"):
        return "gunicorn"
    if process == "granian-worker":
        return "granian"
    return "uwsgi" if "uwsgi" in modules else ""


def judge_memory(
    environ: Mapping[str, str], modules: Container[str], server: str
) -> Literal["refuse", "warn", "allow"]:
    """Say what happens to data in memory, which each worker has for itself.

    ``modules`` are those that are loaded, ``server`` is the `multi_worker_server`. Refused in
    production, and under such a server outside development and tests; allowed in development
    (``GATEWAYFW_ENV``, or ``FLASK_DEBUG`` where nothing is named) and in a process that runs pytest;
    else, and for such a server in development, to be warned of. Our choice.
    """
    name = environment(environ)
    if name == _PRODUCTION:
        return "refuse"
    is_debug = not name and environ.get("FLASK_DEBUG", "").lower() not in _NO
    if is_development(environ) or is_debug or runs_tests(environ, modules):
        return "warn" if server else "allow"
    return "refuse" if server else "warn"


def runs_tests(environ: Mapping[str, str], modules: Container[str]) -> bool:
    """Tell whether pytest runs in this process.

    It says so in the environment, from version 8.2 on at collection, too.

    A program that only imports it, for `gatewayfw.testing`, runs no tests; nor does one that a test starts.
    """
    return "pytest" in modules and ("PYTEST_VERSION" in environ or "PYTEST_CURRENT_TEST" in environ)


def patched_by(modules: Mapping[str, Any] = sys.modules) -> str | None:
    """Return which of the loaded ``modules`` has made threads greenlets, or None."""
    for package, (module, function) in _PATCHERS.items():
        is_patched = getattr(modules.get(module), function, None)
        if is_patched is not None and any(is_patched(part) for part in _PARTS):
            return package
    return None


def refuse_greenlets(modules: Mapping[str, Any] = sys.modules) -> None:
    """Refuse a process whose threads are greenlets.

    What belongs to one transaction or deadline is kept per thread, and greenlets that take turns in one thread would
    share it. A context variable is no way out: what copies its context would share the transaction between threads.

    Raises:
        DefinitionError: says what was found, why it is refused, and what to use instead.
    """
    package = patched_by(modules)
    if package is not None:
        raise DefinitionError(
            f"{package} has replaced the threads of this process by greenlets: requests would share their transactions "
            "and lose each other's writes; serve with threads, by gunicorn's gthread, granian or waitress"
        )
