"""The files of ``deploy/`` are judged by what reads them, as far as that can be had, and agree with each other."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.faults.nginx import find_nginx, require_nginx

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
UNIT = (DEPLOY / "gatewayfw.service").read_text("utf-8")
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")


@pytest.fixture(scope="module")
def kubernetes():
    """The documents of the manifest."""
    return list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8")))


def test_systemd_accepts_the_unit(tmp_path):
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("there is no systemd-analyze")
    program = "/srv/shop/venv/bin/gunicorn"
    assert program in UNIT
    unit = tmp_path / "gatewayfw.service"
    unit.write_text(UNIT.replace(program, "/bin/true"), "utf-8")
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_kubernetes_accepts_the_manifest(kubernetes):
    validator = pytest.importorskip("kubernetes_validate")
    for document in kubernetes:
        validator.validate(document, validator.latest_version(), strict=True)


def test_the_manifest_asks_for_probes_and_no_variables_of_other_services(kubernetes):
    pod = kubernetes[0]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    probes = [container[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")]
    assert probes == [{"path": f"/gateway/{page}", "port": "http"} for page in ("healthz", "readyz")]
    assert pod["enableServiceLinks"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True


def test_nginx_of_compose_accepts_the_shipped_configuration_as_changed(tmp_path):
    require_nginx()
    program, change = re.search(r"sed '(s/.*/)' /shipped\.conf", COMPOSE["nginx"]["command"][2]).group(0, 1)
    assert program
    old, new = change.removeprefix("s/").removesuffix("/").split("/")
    text = (ROOT / "sample_service" / "nginx.conf").read_text("utf-8")
    assert text.count(old) == 1
    text = text.replace(old, new.replace("app:", "127.0.0.2:"))  # the name is known to compose alone
    places = {"/run/nginx.pid": tmp_path / "pid", "/var/log/nginx": tmp_path}
    for place, ours in places.items():
        text = text.replace(place, str(ours))
    file = tmp_path / "nginx.conf"
    file.write_text(text, "utf-8")
    done = subprocess.run([find_nginx(), "-t", "-c", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "test is successful" in done.stderr


def test_all_of_them_start_the_same_service_as_nobody_in_particular(kubernetes):
    start = "gunicorn -c sample_service/gunicorn.conf.py"
    command = " ".join(re.findall(r'"([^"]*)"', DOCKERFILE.rpartition("CMD ")[2]))
    assert command.endswith(start)
    assert start in UNIT
    user = kubernetes[0]["spec"]["template"]["spec"]["securityContext"]["runAsUser"]
    assert f"\nUSER {user}\n" in DOCKERFILE
    assert COMPOSE["app"]["build"] == {"context": "..", "dockerfile": "deploy/Dockerfile"}


def printed(page):
    """The files of the repository that a page shows in full."""
    path = ROOT / "docs" / page
    names = re.findall(r"^```\{literalinclude\} (\S+)$", path.read_text("utf-8"), re.MULTILINE)
    return {str((path.parent / name).resolve().relative_to(ROOT)) for name in names}


def test_pages_print_these_files_for_those_who_have_no_clone():
    assert printed("howto/containers.md") == {f"deploy/{path.name}" for path in DEPLOY.iterdir() if path.name != ".env"}
    assert printed("deployment.md") == {"sample_service/nginx.conf", "sample_service/gunicorn.conf.py"}


def test_pages_say_which_mongodb_was_tested_and_which_compose_starts():
    image = COMPOSE["db"]["image"]
    for page in ("howto/containers.md", "deployment.md"):
        text = " ".join((ROOT / "docs" / page).read_text("utf-8").split())
        assert "tests of gatewayfw run on MongoDB 6.0; before you use another version" in text
        assert f"such as the {image.partition(':')[2]} that `compose.yaml` starts, run your own tests on it" in text
        assert {*re.findall(r"mongo:[\d.]+", text)} <= {image}


def test_nginx_of_compose_is_restarted_after_the_app_whose_address_it_looked_up():
    assert COMPOSE["nginx"]["depends_on"]["app"]["restart"] is True


def test_the_directory_of_metrics_is_new_at_each_start():
    runtime = re.search(r"^RuntimeDirectory=(\S+)$", UNIT, re.MULTILINE)[1]
    assert f"PROMETHEUS_MULTIPROC_DIR=/run/{runtime}\n" in UNIT
    (memory,) = COMPOSE["app"]["tmpfs"]
    assert memory.partition(":")[0] == COMPOSE["app"]["environment"]["PROMETHEUS_MULTIPROC_DIR"]


def test_logs_of_compose_do_not_fill_the_disk():
    assert {name: service["logging"] for name, service in COMPOSE.items()} == dict.fromkeys(
        COMPOSE, {"driver": "local"}
    )
