"""A log-in, a protected act, two pages of a listing, an error and a batch."""

import sys

from sample import AuthenticatedClient, Client
from sample.api.gateway import batch
from sample.api.user import user_get_me, user_get_users, user_login
from sample.models import SeveralActs, UserGetMe, UserGetUsers, UserLogin

client = Client(base_url=sys.argv[1])


def login(password):
    details = {"set": {"email": "manager@example.com", "password": password}, "get": {"token": 1}}
    body = UserLogin.from_dict({"model": "user", "act": "login", "details": details})
    return user_login.sync_detailed(client=client, body=body)


token = login("demo-manager").parsed.body.token
known = AuthenticatedClient(base_url=sys.argv[1], token=token, prefix="", auth_header_name="token")
ask = {"model": "user", "act": "getMe", "details": {"set": {}, "get": {"email": 1, "roles": 1}}}
me = user_get_me.sync(client=known, body=UserGetMe.from_dict(ask))
assert (me.success, me.body.email) == (True, "manager@example.com")


def page(**after):
    details = {"set": {"limit": 4, **after}, "get": {"first_name": 1}}
    body = UserGetUsers.from_dict({"model": "user", "act": "getUsers", "details": details})
    return user_get_users.sync(client=known, body=body).body


first = page()
second = page(after=first.next_)
assert (len(first.rows), len(second.rows), second.next_) == (4, 2, None)

refused = login("wrong")
assert (refused.status_code, refused.parsed.body.message) == (401, "wrong e-mail or password")

two = batch.sync(client=known, body=SeveralActs.from_dict({"batch": [ask, ask], "atomic": True}))
assert [(item.success, item.status) for item in two.body] == [(True, 200), (True, 200)]
