"""Static files: what is served, and what never leaves the directory."""

import os

import pytest

from gatewayfw.errors import DefinitionError
from gatewayfw.web import files
from gatewayfw.web.files import StaticFiles
from gatewayfw.web.mount import make_app
from tests.web.mount import endpoint, host, refusal, seen


@pytest.fixture
def public(tmp_path):
    """A directory with files, a folder, dotfiles and links; beside it a secret."""
    public = tmp_path / "public"
    (public / "docs").mkdir(parents=True)
    (public / ".git").mkdir()
    for name in ("index.html", "a.txt", "docs/index.html", "docs/b c.css", ".env", ".git/config", "docs/.hidden"):
        (public / name).write_text(name)
    (tmp_path / "secret").write_text("secret")
    (public / "out").symlink_to(tmp_path / "secret")
    (public / "up").symlink_to(tmp_path)
    (public / "masked").symlink_to(public / ".env")
    (public / "in.txt").symlink_to(public / "a.txt")
    (tmp_path / "public2").write_text("sibling")
    (public / "sibling").symlink_to(tmp_path / "public2")
    (public / "a\\b").write_text("backslash")
    os.mkfifo(public / "pipe")
    return public


@pytest.fixture
def app(public):
    return make_app(endpoint(), static_path=[public])


SERVED = {
    "/a.txt": ("a.txt", "text/plain; charset=utf-8"),
    "/": ("index.html", "text/html; charset=utf-8"),
    "/index.html": ("index.html", "text/html; charset=utf-8"),
    "/docs/": ("docs/index.html", "text/html; charset=utf-8"),
    "/docs/b%20c.css": ("docs/b c.css", "text/css; charset=utf-8"),
    "/in.txt": ("a.txt", "text/plain; charset=utf-8"),
}


@pytest.mark.parametrize("path", SERVED)
def test_file_is_served_at_the_root(app, path):
    with app.test_client().get(path) as reply:
        found = reply.status_code, reply.text, reply.headers["Content-Type"], reply.headers["X-Content-Type-Options"]
    assert found == (200, *SERVED[path], "nosniff")


HIDDEN = [
    "/.env",
    "/.git/config",
    "/docs/.hidden",
    "/out",
    "/up/secret",
    "/masked",
    "/sibling",
    "/a%5cb",
    "/pipe",
    "/docs",
    "/up/",
    "/missing",
    "/a.txt/",
    "/a.txt/x",
    "/../secret",
    "/docs/../a.txt",
    "/%2e%2e/secret",
    "/docs/..%2f..%2fsecret",
    "/..%5csecret",
    "/a.txt%00",
    "/%00",
    "/%ff%fe",
    "/" + "x" * 5000,
    "/~/a.txt",
    "/./a.txt",
    "/%2fetc/passwd",
]


@pytest.mark.parametrize("path", HIDDEN)
def test_nothing_else_is_served(app, path):
    assert seen(app.test_client().get(path)) == refusal(404, "not found; acts are called by POST /gateway")


@pytest.mark.parametrize("path", ["//etc/passwd", "/docs//index.html", "/..", "/../public/a.txt", "", "/a.txt\udc80"])
def test_paths_that_no_client_library_sends_are_refused_too(public, path):
    assert StaticFiles([public]).find(path) == (str(public / "index.html") if path == "" else None)


def test_unreadable_file_is_not_found(app, monkeypatch):
    def refuse(*_args, **_options):
        raise PermissionError

    monkeypatch.setattr(files, "send_file", refuse)  # the tests may run as root, who reads everything
    assert seen(app.test_client().get("/a.txt")) == refusal(404, "not found; acts are called by POST /gateway")


def test_head_gives_the_headers_only(app):
    with app.test_client().head("/a.txt") as reply:
        assert reply.status_code == 200
        assert reply.data == b""
        assert reply.content_length == 5


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
def test_other_methods_find_nothing(app, method):
    assert seen(app.test_client().open("/a.txt", method=method)) == refusal(
        404, "not found; acts are called by POST /gateway"
    )


def test_unchanged_file_is_not_sent_again(app):
    client = app.test_client()
    with client.get("/a.txt") as first:
        etag = first.headers["ETag"]
    with client.get("/a.txt", headers={"If-None-Match": etag}) as reply:
        assert (reply.status_code, reply.data) == (304, b"")


def test_range_is_answered(app):
    with app.test_client().get("/a.txt", headers={"Range": "bytes=2-3"}) as reply:
        assert reply.status_code == 206
        assert reply.data == b"tx"
        assert reply.headers["Content-Range"] == "bytes 2-3/5"


def test_range_beyond_the_end_is_refused(app):
    with app.test_client().get("/a.txt", headers={"Range": "bytes=99-"}) as reply:
        assert (reply.status_code, reply.headers["Content-Range"]) == (416, "bytes */5")
        assert (reply.data, reply.headers["X-Content-Type-Options"]) == (b"", "nosniff")


def test_first_directory_that_has_the_file_wins(public, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.txt").write_text("second")
    (tmp_path / "more" / "c.txt").write_text("c")
    files = StaticFiles([str(public), tmp_path / "more"])
    assert [files.find("/a.txt"), files.find("/c.txt")] == [str(public / "a.txt"), str(tmp_path / "more" / "c.txt")]


def test_route_added_to_the_app_is_not_shadowed(app):
    app.add_url_rule("/a.txt", "own", lambda: "own")
    assert app.test_client().get("/a.txt").text == "own"


def test_gateway_is_not_shadowed(public):
    (public / "gateway").write_text("file")
    client = make_app(endpoint(), static_path=[public]).test_client()
    assert seen(client.get("/gateway")) == refusal(405, "method not allowed: use POST")


def test_cors_is_on_files_too(public):
    app = make_app(endpoint(cors="*"), static_path=[public])
    with app.test_client().get("/a.txt") as reply:
        assert (reply.status_code, reply.headers["Access-Control-Allow-Origin"]) == (200, "*")


def test_host_app_serves_files_under_the_prefix_only(public):
    app = host(options={"static_path": [public], "static_prefix": "/files"})
    client = app.test_client()
    with client.get("/api/files/a.txt") as file, client.get("/api/files/") as index:
        assert [file.text, index.text] == ["a.txt", "index.html"]
    assert [client.get(path).status_code for path in ("/a.txt", "/api/a.txt", "/files/a.txt", "/")] == [404] * 4


def test_missing_file_in_a_host_app_is_the_hosts_404(public):
    app = host(options={"static_path": [public], "static_prefix": "/files"})
    app.register_error_handler(404, lambda error: ("host 404", 404))
    replies = [app.test_client().get(f"/api/files/{name}") for name in ("missing", ".env", "out")]
    assert [(reply.status_code, reply.text) for reply in replies] == [(404, "host 404")] * 3


def test_missing_directory_is_refused_at_the_start(tmp_path):
    with pytest.raises(DefinitionError) as caught:
        StaticFiles([tmp_path / "no"])
    assert caught.value.message == f"option 'static_path': '{tmp_path}/no' is not a directory"


HERE, ABOVE = os.getcwd(), os.path.dirname(os.getcwd())


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        *((option, "expected a list of directories") for option in ("public", None, 5, {"/tmp"})),  # noqa: S108
        ([5], "'5' is not a directory"),
        *(([path], f"{path!r} is or holds the working directory") for path in ("/", HERE, ABOVE)),
    ],
)
def test_wrong_static_path_is_refused(option, problem):
    with pytest.raises(DefinitionError) as caught:
        StaticFiles(option)
    assert caught.value.message == f"option 'static_path': {problem}"


def test_a_directory_whose_name_goes_on_is_another(public, monkeypatch):
    """The working directory is beside it, with a longer name."""
    (public.parent / "public3").mkdir()
    monkeypatch.chdir(public.parent / "public3")
    assert StaticFiles([public]).roots == (str(public),)


def test_what_the_process_may_not_read_is_not_found(public, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "access", lambda *words: bool(asked.append(words)))
    assert StaticFiles([public]).find("/a.txt") is None
    assert asked == [(str(public / "a.txt"), os.R_OK)]


@pytest.mark.parametrize("prefix", ["", "/", "files", "/a/", "/<path:x>", 5])
def test_wrong_static_prefix_is_refused(public, prefix):
    with pytest.raises(DefinitionError) as caught:
        host(options={"static_path": [public], "static_prefix": prefix})
    assert caught.value.message == "option 'static_prefix': expected a path like '/files'"


@pytest.mark.parametrize("options", [{"static_path": ["/tmp"]}, {"static_prefix": "/files"}])
def test_static_options_go_together(options):
    with pytest.raises(DefinitionError) as caught:
        host(options=options)
    assert caught.value.message == "options 'static_path' and 'static_prefix' go together"
