"""A log-in, a protected act, an error; things of every kind are taken, listed in two pages; a batch."""

import json
import sys
from pathlib import Path

from awkward import AuthenticatedClient, Client
from awkward.api.gateway import batch
from awkward.api.keeper import keeper_login, keeper_me
from awkward.api.thing import thing_add_assert, thing_list
from awkward.models import KeeperLogin, KeeperMe, SeveralActs, ThingAddAssert, ThingList

client = Client(base_url=sys.argv[1])


def asked(act, set=None, get=None, model="thing"):
    return {"model": model, "act": act, "details": {"set": set or {}, "get": get or {}}}


def login(password):
    body = KeeperLogin.from_dict(asked("login", {"password": password}, model="keeper"))
    return keeper_login.sync_detailed(client=client, body=body)


me = asked("me", model="keeper")
nobody = AuthenticatedClient(base_url=sys.argv[1], token="x", prefix="", auth_header_name="token")
assert keeper_me.sync_detailed(client=nobody, body=KeeperMe.from_dict(me)).status_code == 401
token = login("secret words").parsed.body.token
known = AuthenticatedClient(base_url=sys.argv[1], token=token, prefix="", auth_header_name="token")
assert keeper_me.sync(client=known, body=KeeperMe.from_dict(me)).body.name == "Ann"
refused = login("wrong")
assert (refused.status_code, refused.parsed.body.message) == (401, "wrong password")

for document in json.loads(Path("things.json").read_text()):
    del document["codes"]  # Of several numbers beside texts, the generated code takes the first only.
    body = ThingAddAssert.from_dict(asked("add_assert", document, dict.fromkeys(document, 1)))
    reply = thing_add_assert.sync_detailed(client=client, body=body)
    assert reply.status_code == 200, reply.content
    assert reply.parsed.body.to_dict().keys() == {"_id", *document}


def page(**after):
    body = ThingList.from_dict(asked("list", {"limit": 2, **after}, {"enums": 1}))
    return thing_list.sync(client=client, body=body).body


first = page()
second = page(after=first.next_)
assert (len(first.rows), len(second.rows), second.next_) == (2, 1, None)

both = SeveralActs.from_dict({"batch": [asked("list"), me], "atomic": True})
two = batch.sync(client=known, body=both)
assert [(item.success, item.status) for item in two.body] == [(True, 200), (True, 200)]
