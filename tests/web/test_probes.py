"""The routes of probes: gatewayfw.web.monitoring."""

from __future__ import annotations

from types import SimpleNamespace

import mongomock
import pytest
from flask import Blueprint, Flask
from prometheus_client import CollectorRegistry

from gatewayfw import DefinitionError, gateway, string
from gatewayfw.errors import StorageError, Unavailable
from gatewayfw.observe import prometheus
from gatewayfw.odm import readiness
from gatewayfw.odm.jobs.records import COLLECTION, now
from gatewayfw.storage import MockStorage, Trouble
from gatewayfw.web.monitoring import add_probes
from gatewayfw.web.servers import restrict_hosts
from tests.waiting import wait_until

HEALTH, READY = "/gateway/healthz", "/gateway/readyz"
#: What readyz answers when all is well.
FINE = {"status": "ok", "jobs": 0, "oldestJobSeconds": 0.0}


class Away(MockStorage):
    """A database that others use, too; what its ping gives may be set."""

    multi_process = True
    answer: Trouble | Exception | None = None

    def ping(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture(autouse=True)
def _no_share(monkeypatch):
    """Look at the database each time."""
    monkeypatch.setattr(readiness, "SHARED", 0)


def service(storage):
    """Return a gateway with one model that has a unique index, and one act."""
    gw = gateway()
    gw.odm.set_db(storage)
    index = {"indexSpec": {"title": 1}, "options": {"unique": True}}
    gw.odm.new_model("book", {"title": string()}, {}, {"createIndex": index})
    gw.acts.act("book", "list", set={}, get=1)(lambda body: [])
    return gw


@pytest.fixture
def gw(storage):
    """A gateway whose indexes are built."""
    gw = service(storage)
    gw.odm.ready()
    return gw


@pytest.fixture
def away():
    """A database of which the test says how it is."""
    return Away(mongomock.MongoClient().test)


@pytest.fixture
def shaky(away):
    """A gateway on this database, its indexes built."""
    gw = service(away)
    gw.odm.ready()
    return gw


def get(app, path, method="GET", **options):
    reply = app.test_client().open(path, method=method, **options)
    return reply.status_code, reply.get_json(silent=True)


def test_a_service_that_is_well_says_so(gw):
    app = gw.create_app()
    assert (get(app, HEALTH), get(app, READY)) == ((200, {"status": "ok"}), (200, FINE))


def test_no_reply_is_ever_kept(gw):
    client = gw.create_app().test_client()
    for path in (HEALTH, READY):
        headers = {name: value for name, value in client.get(path).headers if name != "Content-Length"}
        expected = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        assert headers == {"Content-Type": "application/json", **expected}


@pytest.mark.parametrize("path", [HEALTH, READY])
def test_only_get_and_head_are_answered(gw, path):
    app = gw.create_app()
    assert get(app, path, "HEAD") == (200, None)
    refused = app.test_client().post(path)
    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD")
    assert refused.get_json() == {"body": {"message": "method not allowed"}, "success": False}


def test_a_prefix_is_before_them(gw):
    app = gw.create_app(url_prefix="/api/v1")
    assert (get(app, f"/api/v1{READY}"), get(app, READY)[0]) == ((200, FINE), 404)


# -- where they are


def test_an_app_of_its_own_can_do_without(gw):
    app = gw.create_app(probes=False)
    assert (get(app, HEALTH)[0], get(app, READY)[0]) == (404, 404)


def test_another_app_has_them_on_request(gw):
    without, given = Flask("without"), Flask("given")
    gw.init_app(without)
    gw.init_app(given, "/api", probes=True)
    assert get(without, READY)[0] == 404
    assert get(given, f"/api{READY}") == (200, FINE)
    assert get(given, f"/api{HEALTH}")[0] == 200


def test_the_option_is_true_or_false(gw):
    for mount in (gw.create_app, gw.blueprint, gw.run_server):
        with pytest.raises(DefinitionError, match="^option 'probes': expected true or false$"):
            mount(probes="yes")


def test_values_of_a_prefix_do_not_disturb(gw):
    app = Flask("app")
    gw.init_app(app, "/<tenant>", probes=True)
    assert (get(app, f"/a{READY}"), get(app, f"/a{HEALTH}")[0]) == ((200, FINE), 200)


def test_an_app_for_some_hosts_answers_probes_under_these_only(gw):
    app = gw.create_app()
    app.config["TRUSTED_HOSTS"] = ["shop.example"]
    replies = [get(app, READY, headers={"Host": host})[0] for host in ("10.1.2.3:8000", "shop.example:8000")]
    assert replies == [400, 200]


def test_a_server_for_this_machine_answers_probes_by_its_address(gw):
    app = gw.create_app()
    restrict_hosts(app, "127.0.0.1", playground=True, environ={})
    replies = [get(app, READY, headers={"Host": host})[0] for host in ("127.0.0.1:8000", "localhost", "10.1.2.3")]
    assert replies == [200, 200, 400]


# -- what they are not


def test_observers_are_not_told(gw):
    calls = []
    gw.on_call(lambda call: calls.append(call))
    app = gw.create_app()
    get(app, HEALTH), get(app, READY), get(app, READY, "POST")
    assert calls == []


def test_pages_of_other_origins_cannot_read_them(gw):
    client = gw.create_app(cors="*").test_client()
    headers = client.get(READY, headers={"Origin": "https://elsewhere.example"}).headers
    assert [name for name, _ in headers if name.startswith("Access-Control")] == []


# -- what is wrong


@pytest.mark.parametrize("kind", ["unreachable", "unauthenticated", "no_primary", "wrong_set"])
def test_why_the_database_does_not_answer_is_one_word(shaky, away, kind):
    app = shaky.create_app()
    away.answer = Trouble(kind, "db.internal:27017 refuses the user name or the password")
    nothing = {"jobs": None, "oldestJobSeconds": None}
    assert (get(app, READY), get(app, HEALTH)[0]) == ((503, {"status": kind, **nothing}), 200)
    away.answer = None
    assert get(app, READY) == (200, FINE)


@pytest.mark.parametrize(("error", "word"), [(Unavailable("secret"), "unreachable"), (StorageError("secret"), "error")])
def test_no_text_of_an_error_is_told(shaky, away, error, word):
    away.answer = error
    assert get(shaky.create_app(), READY) == (503, {"status": word, "jobs": None, "oldestJobSeconds": None})


def test_a_new_database_is_made_ready(storage):
    app = service(storage).create_app()
    assert wait_until(lambda: get(app, READY) == (200, FINE))


def test_jobs_are_told(gw, storage):
    made = now()
    storage.insert(COLLECTION, [{"_id": "a", "since": made.replace(year=made.year - 1)}, {"_id": "b", "since": made}])
    status, body = get(gw.create_app(), READY)
    oldest = body.pop("oldestJobSeconds")
    assert status == 200
    assert body == {"status": "ok", "jobs": 2}
    assert oldest >= 365 * 24 * 3600


@pytest.mark.parametrize(
    ("word", "jobs", "oldest", "reply", "prepared"),
    [
        ("ok", 3, 1.26, (200, {"status": "ok", "jobs": 3, "oldestJobSeconds": 1.3}), 0),
        ("ok", 1000, 9.0, (200, {"status": "ok", "jobs": 1000, "atLeast": True, "oldestJobSeconds": 9.0}), 0),
        ("index_missing", None, None, (503, {"status": "index_missing", "jobs": None, "oldestJobSeconds": None}), 1),
        ("unreachable", None, None, (503, {"status": "unreachable", "jobs": None, "oldestJobSeconds": None}), 0),
    ],
)
def test_what_is_known_of_the_database_is_told(word, jobs, oldest, reply, prepared):
    asked, state = [], SimpleNamespace(word=word, jobs=jobs, oldest=oldest, unmigrated=None)
    blueprint, app = Blueprint("gw", __name__), Flask("app")
    add_probes(blueprint, SimpleNamespace(state=lambda: state, prepare=lambda: asked.append(1)), lambda: None)
    app.register_blueprint(blueprint)
    assert (get(app, READY), len(asked)) == (reply, prepared)


def test_what_is_left_of_migrations_is_told():
    state = SimpleNamespace(word="ok", jobs=0, oldest=0.0, unmigrated=7)
    blueprint, app = Blueprint("gw", __name__), Flask("app")
    add_probes(blueprint, SimpleNamespace(state=lambda: state), lambda: None)
    app.register_blueprint(blueprint)
    assert app.test_client().get(READY).json == {"status": "ok", "jobs": 0, "oldestJobSeconds": 0.0, "unmigrated": 7}


@pytest.mark.mongo
def test_a_database_that_was_dropped_is_prepared_again(mongo_database, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.preparation.LOOK", 0)
    gw = service(mongo_database)
    gw.odm.ready()
    app = gw.create_app()
    assert get(app, READY) == (200, FINE)
    mongo_database.client.drop_database(mongo_database.name)
    assert get(app, READY) == (503, {**FINE, "status": "index_missing"})
    assert wait_until(lambda: get(app, READY) == (200, FINE))


# -- the page of metrics


def measured(gw):
    """Serve the page of metrics; return a function that gives its lines about jobs and migrations."""
    gw.on_call(prometheus(registry=CollectorRegistry(), guard=lambda sent: True))
    client = gw.create_app(probes=False).test_client()

    def page():
        reply = client.get("/gateway/metrics")
        assert reply.status_code == 200
        lines = [line for line in reply.text.splitlines() if not line.startswith("#")]
        return [line for line in lines if "job" in line or "unmigrated" in line]

    return page


def test_metrics_tell_of_jobs(gw, storage):
    page = measured(gw)
    assert page() == ["gatewayfw_jobs 0.0", "gatewayfw_oldest_job_seconds 0.0"]
    storage.insert(COLLECTION, [{"_id": "a", "since": now().replace(year=2001)}])
    number, oldest = page()
    assert number == "gatewayfw_jobs 1.0"
    assert float(oldest.split()[1]) > 20 * 365 * 24 * 3600


def test_metrics_tell_what_was_noted_as_left_of_migrations(gw, storage):
    page = measured(gw)
    gw.odm.migration("m", "book", drop=["none"])
    note = {"model": "book", "changed": 0, "left": 7, "version": "1", "at": now()}
    storage.insert("_gw_migrations", [{"_id": "m", **note}, {"_id": "gone", **note}])
    assert page()[2:] == ["gatewayfw_unmigrated 7.0"]


def test_metrics_tell_of_jobs_of_several_processes_once(gw, storage, tmp_path, monkeypatch):
    page = measured(gw)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    assert page() == ["gatewayfw_jobs 0.0", "gatewayfw_oldest_job_seconds 0.0"]


@pytest.mark.parametrize("answer", [Trouble("unreachable", "x"), Unavailable(), StorageError()])
def test_metrics_do_without_a_database_that_is_away(shaky, away, answer):
    page = measured(shaky)
    away.answer = answer
    assert page() == []
