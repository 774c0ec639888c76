"""What the client of a generated module refuses to send; how it answers is in `tests/client`."""

from __future__ import annotations

import pytest

from gatewayfw.client.standalone import UntypedClient

URL = "https://example.com"
SECRET = "a-token-nobody-may-see"
WRONG = {
    "token over two lines": {"token": f"{SECRET}\r\nX: y"},
    "empty token": {"token": ""},
    "token that is no text": {"token": 5},
    "header name": {"headers": {"a b": "x"}},
    "header value": {"headers": {"X-A": f"{SECRET}\n"}},
    "own header": {"headers": {"Content-Length": "1"}},
    "token as a header": {"headers": {"TOKEN": "x"}},
    "no host": {"url": "https://"},
    "other scheme": {"url": "ftp://example.com"},
    "credentials": {"url": f"https://me:{SECRET}@example.com"},
    "query": {"url": "https://example.com/?a=1"},
    "space": {"url": "https://example.com/a b"},
    "port": {"url": "https://example.com:99999"},
    "no time": {"timeout": 0},
    "endless time": {"timeout": float("inf")},
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG)
def test_what_cannot_be_sent_is_refused_without_a_word_of_it(options):
    with pytest.raises(ValueError, match=r"^(token|url|timeout|headers|X-A|Port)\b") as found:
        UntypedClient(**{"url": URL, **options})
    assert SECRET not in str(found.value)


@pytest.mark.parametrize("key", ["", "a\nb", "é", 5])
def test_a_key_that_cannot_stand_in_a_header_is_refused(key):
    with pytest.raises(ValueError, match="^key: it cannot stand in a header$"):
        UntypedClient(URL).call("book", "order", key=key)


def test_another_token_is_checked_too():
    with pytest.raises(ValueError, match="^token: it cannot stand in a header$"):
        UntypedClient(URL).with_token("a\nb")
