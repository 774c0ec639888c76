"""Acts and services: how they are registered, and the hooks they have in common.

Source: specification 18.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from types import MappingProxyType
from typing import Any, TypedDict, TypeVar, Unpack, final

from gatewayfw.acts.act import Act, ActDefinition, AsTool, Limits, Service, parse_act, parse_service, put_common_hooks
from gatewayfw.acts.hooks import (
    HOOKS,
    NO_HOOKS,
    ActFn,
    AfterHook,
    Hook,
    Lists,
    find_hook_problems,
    find_marks,
    join_early_hooks,
)
from gatewayfw.acts.lookup import Directory, Services, list_hooks
from gatewayfw.acts.remote import RemoteService
from gatewayfw.acts.replies import NO_EXCEPTIONS, Exceptions
from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.definition_types import Kind, ResultShape, UntypedDict
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.registry import Schemas
from gatewayfw.schemas.structs import Mode
from gatewayfw.spelling import MAIN, as_contract, pythonic
from gatewayfw.token_carriers import TOKEN, Carrier

F = TypeVar("F", bound=ActFn)

_SERVICE_NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


class ActOptions(TypedDict, total=False):
    """The keywords of an act that a group passes on; see `Acts.set_act`."""

    pre_validation: Sequence[Hook]
    pre_act: Sequence[Hook]
    post_act: Sequence[AfterHook]
    on_error: Sequence[AfterHook]
    public: bool
    limit: str | Sequence[str] | None
    max_get_depth: int | None
    max_get_leaves: int | None
    max_reply_bytes: int | None
    returns: ResultShape | None
    mcp: AsTool
    exceptions: Mapping[type[Exception], tuple[int, str, str]] | None
    idempotent: str | None
    idempotent_by: ActFn | None


@final
class Acts(Directory):
    """The acts and services of one gateway.

    You may register at any time and from any thread, with immediate effect: an act enters its table in one step, and
    every other change replaces the whole table, so readers never see half a change. The getters and `set_service` take
    their arguments by position or by name, because the contract calls them by position; `set_act` takes names only.

    Attributes:
        limits: parses and counts the rate limits of acts.
        exceptions: what exceptions of all acts become; those of an act come first.
    """

    def __init__(self, schemas: Schemas, limits: Limits, exceptions: Exceptions = NO_EXCEPTIONS) -> None:
        self.limits = limits
        self.exceptions = exceptions
        self._schemas = schemas
        self._lock = Lock()
        #: The acts of `main`. Copies of so large a table for each act would take most of the time of a start.
        self._main: dict[str, dict[str, Act]] = {}
        self._services: Services = MappingProxyType({MAIN: self._main})
        self._tokens: tuple[Carrier, ...] = ()
        self._roles: tuple[Carrier, ...] = ()
        #: The hooks of all acts, by the names of their lists.
        self._common: Lists = NO_HOOKS

    def set_act(
        self,
        *,
        schema: str,
        act_name: str,
        validator: Kind | Mapping[str, Kind | UntypedDict] | UntypedDict,
        fn: ActFn,
        pre_act: Sequence[Hook] = (),
        pre_validation: Sequence[Hook] = (),
        post_act: Sequence[AfterHook] = (),
        on_error: Sequence[AfterHook] = (),
        validation_run_type: Mode = "assert",
        public: bool = False,
        limit: str | Sequence[str] | None = None,
        max_get_depth: int | None = None,
        max_get_leaves: int | None = None,
        max_reply_bytes: int | None = None,
        returns: ResultShape | None = None,
        mcp: AsTool = False,
        exceptions: Mapping[type[Exception], tuple[int, str, str]] | None = None,
        idempotent: str | None = None,
        idempotent_by: ActFn | None = None,
    ) -> None:
        """Register an act of the service ``main``.

        ``fn`` gets the whole body ``{"service", "model", "act", "details": {"set", "get"}}`` and returns the ``body``
        of the envelope. A hook that can take one positional argument gets the body, too; any other is called without
        arguments. What a hook of ``pre_validation`` or ``pre_act`` returns is ignored, but see `Lifecycle.run`.
        ``schema`` need not name a model. For accepted validators see `gatewayfw.schemas.structs.compile_struct`.

        The hooks of ``post_act`` run after ``fn``: each gets the body and the result, and what it returns, unless None,
        replaces the result. Those of ``on_error`` get the body and the exception that a hook, the validator or ``fn``
        raised, and may raise another error. The hooks of `use` come before those of the act.

        ``public`` says that the act needs no access rule; the setting ``require_access`` demands a rule of all other
        acts. ``limit`` is the rate at which one caller may call, such as ``"10/minute"``, or a list of rates; see
        `gatewayfw.limits`. ``max_get_depth``, ``max_get_leaves`` and ``max_reply_bytes`` replace the settings of those
        names. ``returns`` describes the result for clients, see `gatewayfw.acts.replies.parse_returns`. ``mcp`` offers
        the act to language models as a tool, and may say what it does with the service's own data: see
        `gatewayfw.export.mcp`. ``exceptions`` says which replies exceptions of the act and its hooks become,
        ``{SomeError: (409, "code", "message")}``, in addition to the gateway's, see `gatewayfw.acts.replies`.

        ``idempotent`` is how long (``"24h"``) the reply is kept for requests that repeat an ``Idempotency-Key``; such a
        request is done once, in one transaction, and a repetition gets the first reply. A key belongs to its caller:
        the ``user`` in the context, or what ``idempotent_by(body)`` returns, unless that is None.

        Raises:
            DefinitionError: something given is wrong, there is no access rule where one is required, or an act of this
                name is registered already; the message names the act.
        """
        given = locals()  # The parameters are the fields of a definition.
        del given["self"]
        self._register(ActDefinition(**given))

    def act(
        self,
        schema: str,
        act_name: str,
        *,
        set: Kind | UntypedDict = MappingProxyType({}),  # the contract's word
        get: Any = MappingProxyType({}),
        mode: Mode = "assert",
        pre_act: Sequence[Hook] = (),
        pre_validation: Sequence[Hook] = (),
        post_act: Sequence[AfterHook] = (),
        on_error: Sequence[AfterHook] = (),
        public: bool = False,
        limit: str | Sequence[str] | None = None,
        max_get_depth: int | None = None,
        max_get_leaves: int | None = None,
        max_reply_bytes: int | None = None,
        returns: ResultShape | None = None,
        mcp: AsTool = False,
        exceptions: Mapping[type[Exception], tuple[int, str, str]] | None = None,
        idempotent: str | None = None,
        idempotent_by: ActFn | None = None,
    ) -> Callable[[F], F]:
        """Register the decorated function, which stays as it was, as an act of ``main``.

        ``set`` is a mapping of value kinds or one field. ``get`` is a number or a mapping of numbers, which stand for
        the select struct of the model ``schema``, or else a field or mapping of kinds as for ``set``. If left out, each
        accepts ``{}`` only. The docstring becomes the act's description. For the other keywords and the errors see
        `set_act`.
        """
        options = {name: value for name, value in locals().items() if name not in ("self", "set", "get", "mode")}
        validator = {"set": set, "get": self._parse_get(schema, act_name, get)}

        def register(fn: F) -> F:
            self._register(ActDefinition(**options, validator=validator, fn=fn, validation_run_type=mode))
            return fn

        return register

    def use(
        self,
        *,
        pre_validation: Sequence[Hook] = (),
        pre_act: Sequence[Hook] = (),
        post_act: Sequence[AfterHook] = (),
        on_error: Sequence[AfterHook] = (),
    ) -> None:
        """Give hooks to all acts, registered before or after, ahead of their own.

        Hooks of several calls run in the order of the calls. Requests to remote services run those of
        ``pre_validation`` and ``pre_act``, in this order, ahead of the service's own. Nothing changes if a hook is not
        valid, or is an access rule and an act is public.
        """
        more = _parse_lists(pre_validation=pre_validation, pre_act=pre_act, post_act=post_act, on_error=on_error)
        with self._lock:
            common = {name: (*self._common[name], *more[name]) for name in HOOKS}
            main = _local_acts(self._main, common)
            others = {name: _with_common_hooks(one, common) for name, one in self._services.items() if name != MAIN}
            self._common, self._main = common, main
            self._services = MappingProxyType({MAIN: main, **others})
            self._note_carriers(join_early_hooks(more))
            self._schemas.note_change()

    def group(
        self,
        schema: str,
        *,
        pre_validation: Sequence[Hook] = (),
        pre_act: Sequence[Hook] = (),
        post_act: Sequence[AfterHook] = (),
        on_error: Sequence[AfterHook] = (),
    ) -> Group:
        """Return what registers acts of one model, with hooks ahead of their own."""
        lists = _parse_lists(pre_validation=pre_validation, pre_act=pre_act, post_act=post_act, on_error=on_error)
        return Group(self.act, self.set_act, schema, lists)

    def set_service(
        self,
        name: str,
        service: str | Mapping[str, Mapping[str, Mapping[str, Any]]],
        *,
        pre_act: Sequence[Hook] = (),
        headers: Sequence[str] = (),
    ) -> None:
        """Register another service, under a name of its own.

        ``service`` is the URL of a gateway that requests are forwarded to (``/gateway`` is appended unless the path
        ends in it), or acts to run here, keyed by schema, then act name: ``{"validator": ..., "fn": ..., "preAct"?:
        [...], ...}`` with the keys of `setAct`, or an `Act` of this gateway (what `get_main_acts` gives).

        With a URL you may give ``pre_act``, hooks that run before a request is forwarded (like those of an act, but
        with a body that has not been validated), and ``headers``, names of request headers to forward besides
        `gatewayfw.acts.remote.FORWARDED`, as the context has them in ``Headers`` after the hooks.

        Raises:
            DefinitionError: the name is bad, taken or ``main``; the URL, a hook or a header is bad; hooks or headers
                are given without a URL; or acts are bad, and the message names each one. An `Act` of another gateway
                is bad: its functions use that gateway's context and database, which no request here opens.
        """
        if not isinstance(name, str) or not _SERVICE_NAME.fullmatch(name):
            raise DefinitionError(f"bad service name {shown(name)}: a letter or _, then letters, digits, _ and -")
        if name == MAIN:
            raise DefinitionError("the service main is this gateway itself; use set_act")
        parsed: Service | RemoteService
        if isinstance(service, str):
            settings = self._schemas.settings
            parsed = RemoteService(service, name=name, settings=settings, pre_act=pre_act, headers=headers)
        elif pre_act or headers:
            raise DefinitionError(f"service {name}: pre_act and headers go with a URL; acts have hooks of their own")
        else:
            parsed = parse_service(self._schemas, self.limits, name, service, self._common)
        with self._lock:
            # Once more: `use` in another thread may have added some.
            parsed = _with_common_hooks(parsed, self._common)
            if name in self._services:
                raise DefinitionError(f"service {name} is registered already")
            self._note_carriers(list_hooks(parsed))
            self._services = MappingProxyType({**self._services, name: parsed})
            self._schemas.note_change()

    @property
    def token_carriers(self) -> tuple[Carrier, ...]:
        """Where hooks look for a token; the header ``token`` if none looks for one."""
        return self._tokens or (TOKEN,)

    @property
    def role_carriers(self) -> tuple[Carrier, ...]:
        """Where the hooks of all services look for the caller's role, if any do."""
        return self._roles

    def _register(self, given: ActDefinition) -> None:
        act = parse_act(self._schemas, self.limits, given, self._common)
        name = f"{act.schema}.{act.act_name}"
        with self._lock:
            act = put_common_hooks(act, self._common)  # once more: `use` in another thread may have added some
            acts = self._main.get(act.schema, {})
            if act.act_name in acts:
                raise DefinitionError(f"act {name} is registered already")
            self._note_carriers(act.early_hooks)
            acts[act.act_name] = act
            self._main[act.schema] = acts
            self._schemas.note_change()

    def _note_carriers(self, hooks: Iterable[Hook]) -> None:
        marks = find_marks(hooks)
        self._tokens = tuple(dict.fromkeys([*self._tokens, *(mark.token for mark in marks if mark.token)]))
        self._roles = tuple(dict.fromkeys([*self._roles, *(mark.role for mark in marks if mark.role)]))

    def _parse_get(self, schema: str, act_name: str, get: Any) -> Any:
        if not _is_selection(get):
            return get
        try:
            return self._schemas.select_struct(schema, get)
        except DefinitionError as error:
            raise DefinitionError(f"act {shown(schema)}.{shown(act_name)}: get: {error.message}") from error

    # The contract's spellings of the methods above.
    setAct = as_contract(set_act)

    def setService(self, name: str, service: str | Mapping[str, Mapping[str, Mapping[str, Any]]], **keys: Any) -> None:
        """Register a service: ``setService(name, service, preAct=[...], headers=[...])``."""
        self.set_service(name, service, **pythonic(None, keys))


@final
class Group:
    """Registers acts of one model, with hooks after those of `use`, before their own."""

    def __init__(
        self, act: Callable[..., Callable[[Any], Any]], set_act: Callable[..., None], schema: str, lists: Lists
    ) -> None:
        self._act, self._set_act = act, set_act
        self._schema = schema
        self._lists = lists

    def act(
        self,
        act_name: str,
        *,
        set: Kind | UntypedDict = MappingProxyType({}),  # the contract's word
        get: Any = MappingProxyType({}),
        mode: Mode = "assert",
        **options: Unpack[ActOptions],
    ) -> Callable[[F], F]:
        """Register the decorated function as an act of the model; see `Acts.act`."""
        return self._act(self._schema, act_name, set=set, get=get, mode=mode, **self._joined(options))

    def set_act(
        self,
        *,
        act_name: str,
        validator: Any,
        fn: ActFn,
        validation_run_type: Mode = "assert",
        **options: Unpack[ActOptions],
    ) -> None:
        """Register an act of the model; see `Acts.set_act`."""
        names = {"schema": self._schema, "act_name": act_name, "validation_run_type": validation_run_type}
        self._set_act(**names, validator=validator, fn=fn, **self._joined(options))

    def _joined(self, options: Mapping[str, Any]) -> dict[str, Any]:
        own = {name: options.get(name, ()) for name in HOOKS}
        # What is no list is left to the check of the act.
        lists = {name: [*self._lists[name], *own[name]] for name in HOOKS if isinstance(own[name], list | tuple)}
        return {**options, **lists}


def _parse_lists(**lists: Any) -> dict[str, tuple[Any, ...]]:
    if problems := list(find_hook_problems(lists)):
        raise DefinitionError("; ".join(problems))
    return {name: tuple(given) for name, given in lists.items()}


def _with_common_hooks(service: Service | RemoteService, common: Lists) -> Service | RemoteService:
    if isinstance(service, RemoteService):
        return service.with_common_hooks(join_early_hooks(common))
    return _local_acts(service, common)


def _local_acts(service: Service, common: Lists) -> dict[str, dict[str, Act]]:
    return {
        schema: {name: put_common_hooks(act, common) for name, act in acts.items()} for schema, acts in service.items()
    }


def _is_selection(get: Any) -> bool:
    """Tell whether ``get`` is a number or a mapping of numbers, not of kinds."""
    if isinstance(get, Mapping):
        return bool(get) and all(_is_selection(value) for value in get.values())
    return isinstance(get, (int, float)) and not isinstance(get, bool)
