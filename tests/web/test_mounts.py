"""What a gateway knows of the apps in which it is mounted."""

from __future__ import annotations

import gc
from dataclasses import FrozenInstanceError

import pytest
from flask import Flask

from gatewayfw import gateway
from gatewayfw.odm import Odm
from gatewayfw.web.mounts import Mount, init_worker


def test_each_mount_is_noted_by_app_and_name_until_the_app_is_gone():
    gw, first, second = gateway(), Flask("first"), Flask("second")
    gw.init_app(first, cors="*")
    gw.init_app(first, url_prefix="/more", playground=True)
    gw.init_app(second)
    assert gw.mounts[first] == {"gateway": Mount(False, "*"), "gateway_2": Mount(True, None)}
    assert first.extensions["gatewayfw"] == {"gateway": gw, "gateway_2": gw}
    del first
    gc.collect()
    assert dict(gw.mounts) == {second: {"gateway": Mount(False, None)}}


def test_a_mount_never_changes():
    with pytest.raises(FrozenInstanceError):
        Mount(True, None).playground = False


def test_all_gateways_of_an_app_begin_to_serve(monkeypatch):
    told, app = [], Flask("app")
    monkeypatch.setattr(Odm, "init_worker", lambda odm: told.append(odm))
    first, second = gateway(), gateway()
    first.init_app(app, "/a")
    second.init_app(app, "/b")
    init_worker(app)
    assert told == [first.odm, second.odm]
    init_worker(Flask("without"))
    assert len(told) == 2
