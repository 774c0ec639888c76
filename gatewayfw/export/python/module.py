"""The Python types of a gateway, and a client: one module.

It needs nothing but Python. It holds a typed dictionary for each `set`, `get` and document, and the protocol
``AnyClient``, whose ``call`` has an overload for each act, and ``pages`` one for each that answers by page. Its own
``Client`` and those of `gatewayfw.client` match it: ``client: AnyClient = InProcessClient(app)``. The types cannot
express the effect of a projection: a document has all keys that a `get` can ask for; ``NotRequired`` are those that it
may lack even then.
"""

from collections.abc import Iterator, Mapping
from typing import Any, final

from gatewayfw.export import OPENING
from gatewayfw.export.python.runtime import import_lines, runtime
from gatewayfw.export.python.types import IMPORTS, Entry, Selections, Types, class_name, comment, docstring, quoted
from gatewayfw.spelling import MAIN

_HEAD = '''\
# {header}
# fmt: off
# ruff: noqa
# pyright: basic
"""The models and acts of a gateway, and a client: ``Client("https://example.com", token="...")``."""

from __future__ import annotations

{imports}
#: 24 hexadecimal digits.
Id: TypeAlias = str
#: ISO 8601; in replies in UTC with milliseconds, as in "2024-05-01T12:00:00.000Z".
Date: TypeAlias = str
#: A file to send: its path, or a file that is open in binary mode.
File: TypeAlias = PathLike[str] | IO[bytes]
#: What a `get` says of a field: shown or not.
Flag: TypeAlias = Literal[0, 1]


'''

_PROTOCOL = '''\
class AnyClient(Protocol):
    """Calls acts: a `Client`, one of `gatewayfw.client`, or a stand-in of your own."""

    def with_token(self, token: str | None) -> AnyClient:
        """Return a client that sends another token, or none."""
        ...
'''

#: mypy takes a method of a protocol without a body for one that a client must still write.
_BODY = "        raise TypeError\n"
_IMPLEMENTATION = f"    def {{method}}(self, *args: Any, **named: Any) -> Any:\n{_BODY}"

#: Types come from the protocol, code from the runtime.
_CLIENT = '''\
if TYPE_CHECKING:

    class Client(HttpSender, AnyClient):
        """Calls the acts over HTTP."""

else:

    class Client(HttpClient):
        __doc__ = HttpClient.__doc__
'''

_METHOD = """\
    def {method}(
        self,
        model: {model},
        act: {act},
        *,
        service: {service},
        set: {set},
        get: {get},{keys}
        headers: Mapping[str, str] | None = None,
    ) -> {returns}:
{doc}
"""

_BATCH = '''\
    def batch(
        self, requests: Sequence[Request], *, atomic: bool = False, headers: Mapping[str, str] | None = None
    ) -> list[Any]:
        """Run several acts by one request; a result is what ``call`` returns, or the error that it raises."""
'''

#: What ``call`` takes besides, of an idempotent act and of one of which nothing is known.
_KEYS = "\n        retries: int = 0,\n        key: str | None = None,"
_FREE = "Mapping[str, Any] | None = None"
_OF_REMOTE = {"set": _FREE, "get": _FREE}


def python(catalog: Mapping[str, Any]) -> str:
    """Return the source of the module for a catalog; equal catalogs give equal text.

    It is plain Python 3.11 and imports nothing but Python's own library.
    """
    types = Types()
    acts = _Acts(catalog, types)
    methods = {"call": list(acts.calls())}  # before pages: it finds them
    takes_batches = catalog["maxBatch"] and acts.requests
    methods |= {"pages": acts.pages, "batch": [_BATCH] if takes_batches else []}
    protocol = "\n".join([_PROTOCOL, *(part for name, found in methods.items() for part in _overload(name, found))])
    requests = _requests(acts.requests) if takes_batches else ""
    head = _HEAD.format(header=OPENING, imports=import_lines(IMPORTS | runtime().imports))
    return head + "\n\n".join(filter(None, [types.source(), requests, protocol, runtime().code, _CLIENT]))


def _overload(name: str, methods: list[str]) -> list[str]:
    if len(methods) < 2:
        return [method + _BODY for method in methods]
    return [*(f"    @overload\n{method}" for method in methods), _IMPLEMENTATION.format(method=name)]


@final
class _Acts:
    """The methods ``call`` of a client, one for each act or remote service.

    Attributes:
        pages: the methods ``pages``, one for each act found so far that answers by page.
        requests: the classes of requests in a batch, one for each act found so far; none if there are no batches.
    """

    def __init__(self, catalog: Mapping[str, Any], types: Types) -> None:
        self._services: Mapping[str, Any] = catalog["services"]
        self._types = types
        self._selections = Selections(catalog["models"], types)
        self.pages: list[str] = []
        self.requests: list[str] = []
        self._takes_batches = bool(catalog["maxBatch"])

    def calls(self) -> Iterator[str]:
        for service, described in self._services.items():
            if described["remote"]:
                self._request(class_name(service), {"model": "str", "act": "str", **_OF_REMOTE}, service)
                yield _remote(service)
                continue
            for model, acts in described["acts"].items():
                yield from (self._call(service, model, name, act) for name, act in acts.items())

    def _call(self, service: str, model: str, name: str, act: Mapping[str, Any]) -> str:
        base = class_name(*([] if service == MAIN else [service]), model, name)
        # In the order of use, which is that of the module.
        set_ = self._argument(act["set"], base, "Set")
        get = self._argument(act["get"], base, "Get")
        parts = {
            "model": f"Literal[{quoted(model)}]",
            "act": f"Literal[{quoted(name)}]",
            "service": _service(service),
            "set": set_,
            "get": get,
            "doc": docstring(act["description"], "        "),
        }
        self._request(base, {"model": parts["model"], "act": parts["act"], "set": set_, "get": get}, service)
        returns = self._returned(act["returns"], act["get"], base)
        if _is_paged(act):
            self.pages.append(_METHOD.format(**parts, method="pages", keys="", returns=f"Iterator[{returns}]"))
        keys = _KEYS if act["idempotent"] else ""
        return _METHOD.format(**parts, method="call", keys=keys, returns=returns)

    def _request(self, base: str, arguments: Mapping[str, str], service: str) -> None:
        """Add the class of an act's requests in a batch; its keys are those of ``call``."""
        if self._takes_batches:
            given = {**arguments, "service": _service(service)}
            entries = [Entry(name, *_without_default(annotation)) for name, annotation in given.items()]
            self.requests.append(self._types.add(f"{base}Request", entries))

    def _argument(self, kind: Mapping[str, Any], base: str, suffix: str) -> str:
        """Return annotation and default of ``set`` or ``get``; the default means ``{}``."""
        if kind["kind"] == "selection":
            return f"{self._selections.shape(kind, base).get} | None = None"
        if kind["kind"] != "object" or kind["fields"] is None or kind.get("open"):
            return _FREE
        if not kind["fields"]:  # one class for all acts that take nothing
            return f"{self._types.value(kind, 'Nothing')} | None = None"
        entries = [self._entry(name, field, base, suffix) for name, field in kind["fields"].items()]
        found = self._types.add(base + suffix, entries)
        return found if any(entry.required for entry in entries) else f"{found} | None = None"

    def _entry(self, name: str, kind: Mapping[str, Any], base: str, suffix: str) -> Entry:
        required = kind["presence"] == "required"
        if kind["kind"] == "selection":
            return Entry(name, self._selections.shape(kind, class_name(base, name)).get, required, comment(kind))
        return Entry(name, self._types.value(kind, class_name(base, suffix, name)), required, comment(kind))

    def _returned(self, kind: Mapping[str, Any], get: Mapping[str, Any], base: str) -> str:
        if kind["kind"] == "object" and kind["fields"]:
            entries = [
                Entry(name, self._part(part, get, base, name), part["presence"] == "required", comment(part))
                for name, part in kind["fields"].items()
            ]
            found = self._types.add(f"{base}Result", entries)
        else:
            found = self._part(kind, get, base, "Result")
        may_be_null = kind["presence"] != "required" and found != "Any" and not found.endswith(" | None")
        return f"{found} | None" if may_be_null else found

    def _part(self, kind: Mapping[str, Any], get: Mapping[str, Any], base: str, name: str) -> str:
        if kind["kind"] != "documents":
            return self._types.value(kind, class_name(base, name))
        for step in kind["get"]:
            get = get["fields"][step]
        document = self._selections.shape(get, class_name(base, *kind["get"])).document
        return {"one": document, "optional": f"{document} | None", "many": f"list[{document}]"}[kind["type"]]


def _is_sure(part: Mapping[str, Any]) -> bool:
    return part["presence"] == "required" and not part.get("picked")


def _is_paged(act: Mapping[str, Any]) -> bool:
    """Tell whether an act answers by page.

    Its ``set`` takes the text ``after``, which may be left out; its result has ``rows``, and ``next``: text or null.
    """
    given, result = act["set"].get("fields") or {}, act["returns"].get("fields") or {}
    after, rows, following = given.get("after", {}), result.get("rows", {}), result.get("next", {})
    is_list = rows.get("kind") == "array" or rows.get("type") == "many"
    takes_text = after.get("kind") == "string" and after["presence"] != "required"
    gives_text = following.get("kind") == "string" and following.get("nullable", False)
    return takes_text and is_list and _is_sure(rows) and gives_text and _is_sure(following)


def _without_default(annotation: str) -> tuple[str, bool]:
    found, _, default = annotation.partition(" = ")
    return found, not default


def _requests(classes: list[str]) -> str:
    listed = "".join(f"    {'| ' if number else ''}{name}\n" for number, name in enumerate(classes))
    return f"#: What a batch holds: the arguments of a ``call``.\nRequest: TypeAlias = (\n{listed})\n"


def _remote(service: str) -> str:
    """Return the method for a remote service, of which nothing is known."""
    names = {"method": "call", "model": "str", "act": "str", "service": _service(service), **_OF_REMOTE}
    return _METHOD.format(**names, keys=_KEYS, returns="Any", doc=docstring("An act of a remote service.", "        "))


def _service(name: str) -> str:
    return f"Literal[{quoted(name)}]" + (f' = "{MAIN}"' if name == MAIN else "")
