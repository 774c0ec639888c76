"""One act: parsed and checked once, when it is registered.

Source: specification 18.2; access rules, ceilings and rate limits are our choice.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol, final, get_args

from gatewayfw.acts.context import Context
from gatewayfw.acts.hooks import (
    HOOKS,
    NO_HOOKS,
    ActFn,
    AfterHook,
    Hook,
    Lists,
    add_after_hooks,
    call_with_body,
    find_access_rules,
    find_fn_problems,
    find_hook_problems,
    join_early_hooks,
)
from gatewayfw.acts.idempotent import Idempotency, parse_idempotent
from gatewayfw.acts.replies import Exceptions, Returns, parse_exceptions, parse_returns
from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.get import Bounds, Ceilings
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.registry import Schemas
from gatewayfw.schemas.structs import Mode, Struct, compile_struct
from gatewayfw.settings import Settings
from gatewayfw.spelling import PARAMETERS, pythonic

#: What an act does as a tool of language models.
ToolWord = Literal["read", "add", "change"]
#: Whether it is one, or what it does.
AsTool = bool | ToolWord


class Limits(Protocol):
    """Counts the calls of acts with a ``limit``, as `gatewayfw.limits` does."""

    def parse(self, texts: Sequence[str], /) -> tuple[Any, ...]:
        """Return what `count` takes for the texts of a limit."""

    def count(self, act: str, rates: Sequence[Any], context: Context, remaining: Callable[[], float], /) -> None:
        """Count one call of an act; ``remaining`` gives the seconds left."""


def parse_limit_texts(limit: Any) -> tuple[str, ...]:
    """Return the texts of ``limit``: one, several, or none for None."""
    if limit is None:
        return ()
    texts = (limit,) if isinstance(limit, str) else limit
    if not isinstance(texts, Sequence) or not texts or not all(isinstance(text, str) for text in texts):
        raise DefinitionError("limit must be a text such as '10/minute', or a list of such")
    return tuple(texts)


_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MODES = ("assert", "create")
_CEILINGS = ("max_get_depth", "max_get_leaves", "max_reply_bytes")
_BAD_NAME = "bad {}: a letter or _, then letters, digits and _"
_BAD_CEILING = "{} must be a positive integer"
_BAD_TOOL = "mcp must be true or false, or what the act does: 'read', 'add' or 'change'"
_CONTRADICTION = "public contradicts the access rule among its hooks"
# Its hooks and fn use the context, the deadline and the models of the gateway they were written for.
_FOREIGN = "an act of another gateway; mount that gateway and give its URL, or give plain objects"


@dataclass(frozen=True, eq=False, kw_only=True)
class ActDefinition:
    """What an author says of an act, not judged yet; see `Acts.set_act`."""

    schema: str
    act_name: str
    validator: Any = field(repr=False)
    fn: ActFn = field(repr=False)
    pre_act: Sequence[Hook] = field(default=(), repr=False)
    pre_validation: Sequence[Hook] = field(default=(), repr=False)
    post_act: Sequence[AfterHook] = field(default=(), repr=False)
    on_error: Sequence[AfterHook] = field(default=(), repr=False)
    validation_run_type: Mode = field(default="assert", repr=False)
    public: bool = field(default=False, repr=False)
    limit: str | Sequence[str] | None = field(default=None, repr=False)
    max_get_depth: int | None = field(default=None, repr=False)
    max_get_leaves: int | None = field(default=None, repr=False)
    max_reply_bytes: int | None = field(default=None, repr=False)
    returns: Any = field(default=None, repr=False)
    mcp: AsTool = field(default=False, repr=False)
    exceptions: Mapping[type[Exception], tuple[int, str, str]] | None = field(default=None, repr=False)
    idempotent: str | None = field(default=None, repr=False)
    idempotent_by: ActFn | None = field(default=None, repr=False)


#: The keys of an act as a mapping: the contract's, then ours in its spelling.
_SPELLED = {name: key for key, name in PARAMETERS.items()}
ACT_KEYS = tuple(_SPELLED.get(one.name, one.name) for one in fields(ActDefinition))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Act(ActDefinition, Mapping[str, Any]):
    """One registered act; also a mapping with the contract's keys (``act["preAct"]``).

    Attributes, besides what `Acts.set_act` takes:
        limit: the texts of its rate limits, or None.
        description: the docstring of ``fn``, empty without one.
        schemas: those of the gateway the act belongs to.
        struct: the compiled validator.
        bounds: the ceilings of ``get`` in force: its own, or the settings.
        reply_bytes: the limit on the reply's body in force.
        rates: the parsed rate limits, for the gateway's `Limits`; the shortest span first.
        result: the parsed ``returns``.
        once: the parsed ``idempotent``; None without.
        validation_hooks, act_hooks: ``pre_validation`` and ``pre_act``, each callable with the body.
        run: ``fn`` with the hooks of ``post_act`` after it.
        common: the hooks of all acts, with which each of its lists begins.
    """

    limit: tuple[str, ...] | None = field(repr=False)
    exceptions: Exceptions = field(repr=False)
    schemas: Schemas = field(repr=False)
    struct: Struct = field(repr=False)
    bounds: Bounds = field(repr=False)
    reply_bytes: int = field(repr=False)
    rates: tuple[Any, ...] = field(repr=False)
    result: Returns = field(repr=False)
    once: Idempotency | None = field(repr=False)
    act_hooks: tuple[ActFn, ...] = field(repr=False)
    validation_hooks: tuple[ActFn, ...] = field(repr=False)
    run: ActFn = field(repr=False)
    common: Lists = field(repr=False)
    description: str = field(repr=False)

    @property
    def access_rules(self) -> list[Hook]:
        """Its hooks that decide who may call."""
        return find_access_rules(self.early_hooks)

    @property
    def early_hooks(self) -> tuple[Hook, ...]:
        """Its hooks before the act, in the order in which they run."""
        return join_early_hooks(vars(self))

    def __getitem__(self, key: str) -> Any:
        if key not in ACT_KEYS:
            raise KeyError(key)
        return getattr(self, PARAMETERS.get(key, key))

    def __iter__(self) -> Iterator[str]:
        return iter(ACT_KEYS)

    def __len__(self) -> int:
        return len(ACT_KEYS)


ActsByName = Mapping[str, Act]
Service = Mapping[str, ActsByName]


def parse_service(schemas: Schemas, limits: Limits, name: str, service: Any, common: Lists = NO_HOOKS) -> Service:
    """Return the acts of a service given as an object, keyed by schema, then act name.

    ``common`` are the hooks of all acts, which come before their own. An error names every act that is wrong.
    """
    problems: list[str] = []
    parsed: dict[str, dict[str, Act]] = {}
    for schema, act_name, entry in _entries(name, service, problems):
        try:
            parsed.setdefault(schema, {})[act_name] = _parsed_entry(schemas, limits, (schema, act_name), entry, common)
        except DefinitionError as error:
            problems.append(error.message)
    if problems:
        raise DefinitionError(f"service {name}: {'; '.join(problems)}")
    return parsed


def _entries(name: str, service: Any, problems: list[str]) -> Iterator[tuple[Any, Any, Any]]:
    if not isinstance(service, Mapping):
        raise DefinitionError(f"service {name}: expected a URL or an object of acts, not {type(service).__name__}")
    for schema, acts in service.items():
        if isinstance(acts, Mapping) and not isinstance(acts, Act):
            yield from ((schema, act_name, entry) for act_name, entry in acts.items())
        else:
            problems.append(f"schema {shown(schema)}: expected an object of acts keyed by act name")


def _parsed_entry(schemas: Schemas, limits: Limits, names: tuple[Any, Any], entry: Any, common: Lists) -> Act:
    schema, act_name = names
    where = f"act {shown(schema)}.{shown(act_name)}"
    if not isinstance(entry, Mapping):
        raise DefinitionError(f"{where}: expected an object with validator and fn")
    if (entry.get("schema", schema), entry.get("actName", act_name)) != (schema, act_name):
        raise DefinitionError(f"{where}: its schema or actName says otherwise")
    if isinstance(entry, Act):
        if entry.schemas is not schemas:
            raise DefinitionError(f"{where}: {_FOREIGN}")
        return put_common_hooks(entry, common)
    problems = [f"unknown key {shown(key)}" for key in entry if key not in ACT_KEYS]
    problems += [f"missing key {key}" for key in ("validator", "fn") if key not in entry]
    if problems:
        raise DefinitionError(f"{where}: {', '.join(problems)}")
    given = pythonic(None, {**entry, "schema": schema, "actName": act_name})
    return parse_act(schemas, limits, ActDefinition(**given), common)


def parse_act(schemas: Schemas, limits: Limits, given: ActDefinition, common: Lists = NO_HOOKS) -> Act:
    """Return an act whose parts have been checked, its struct compiled.

    An error names the act and every part that is wrong. ``common`` are hooks, checked already, that come before its
    own.
    """
    where = f"act {shown(given.schema)}.{shown(given.act_name)}"
    if problems := list(_problems(schemas.settings, given, common)):
        raise DefinitionError(f"{where}: {'; '.join(problems)}")
    settings, depth, leaves = schemas.settings, given.max_get_depth, given.max_get_leaves
    own = Ceilings(depth or settings.max_get_depth, leaves or settings.max_get_leaves)
    bounds: Bounds = own if depth or leaves else settings
    try:
        struct = compile_struct(given.validator, schemas, bounds)
        limit = parse_limit_texts(given.limit)
        rates = limits.parse(limit) if limit else ()
        exceptions = parse_exceptions(given.exceptions)
        once = parse_idempotent(
            given.idempotent, given.idempotent_by, [*join_early_hooks(common), *join_early_hooks(vars(given))]
        )
        result = parse_returns(given.returns, (struct.fields or {}).get("get"))
        if given.mcp and struct.files:
            raise DefinitionError("mcp: an act with files cannot be a tool")
    except DefinitionError as error:
        raise DefinitionError(f"{where}: {error.message}") from error
    hooks = _hooks_of(given.fn, vars(given), common)
    return Act(
        **{**vars(given), "limit": limit or None, "exceptions": exceptions, **hooks},
        schemas=schemas,
        struct=struct,
        bounds=bounds,
        reply_bytes=given.max_reply_bytes or settings.max_reply_bytes,
        rates=rates,
        result=result,
        once=once,
        description=(inspect.getdoc(given.fn) or "") if inspect.isroutine(given.fn) else "",
    )


def _hooks_of(fn: ActFn, own: Lists, common: Lists) -> dict[str, Any]:
    lists: dict[str, Any] = {name: (*common[name], *own[name]) for name in HOOKS}
    return {
        **lists,
        "common": common,
        "act_hooks": tuple(map(call_with_body, lists["pre_act"])),
        "validation_hooks": tuple(map(call_with_body, lists["pre_validation"])),
        "run": add_after_hooks(fn, lists["post_act"]),
    }


def put_common_hooks(act: Act, common: Lists) -> Act:
    """Return an act whose own hooks come after these, and no other common ones.

    An act that says that it is public is refused if one of them is an access rule.
    """
    if act.common is common:
        return act
    if act.public and find_access_rules(join_early_hooks(common)):
        raise DefinitionError(f"act {act.schema}.{act.act_name}: {_CONTRADICTION}")
    own = {name: getattr(act, name)[len(act.common[name]) :] for name in HOOKS}
    return replace(act, **_hooks_of(act.fn, own, common))


def _problems(settings: Settings, given: ActDefinition, common: Lists) -> Iterator[str]:
    parts = vars(given)
    problems = [
        *(_BAD_NAME.format(name) for name in ("schema", "act_name") if not _is_name(parts[name])),
        *([] if given.validation_run_type in _MODES else ["the mode must be 'assert' or 'create'"]),
        *find_fn_problems(given.fn),
        *find_hook_problems({name: parts[name] for name in HOOKS}),
        *(_BAD_CEILING.format(name) for name in _CEILINGS if not _is_ceiling(parts[name])),
        *([] if isinstance(given.mcp, bool) or given.mcp in get_args(ToolWord) else [_BAD_TOOL]),
    ]
    yield from problems
    if not problems:
        yield from _access_problems(settings, given.public, [*join_early_hooks(common), *join_early_hooks(parts)])


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_ceiling(value: object) -> bool:
    return value is None or (type(value) is int and value > 0)


def _access_problems(settings: Settings, public: Any, hooks: Sequence[Hook]) -> Iterator[str]:
    ruled = bool(find_access_rules(hooks))
    if not isinstance(public, bool):
        yield "public must be true or false"
    elif public and ruled:
        yield _CONTRADICTION
    elif settings.require_access and not public and not ruled:
        yield "no access rule in pre_act or pre_validation: add one, or say public=True (setting require_access)"
