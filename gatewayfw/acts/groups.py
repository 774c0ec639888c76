"""Acts with hooks in common: of all acts, and of the acts of one model.

Source: our choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypedDict, TypeVar, Unpack, final

from gatewayfw.acts.act import Service, put_common_hooks
from gatewayfw.acts.hooks import HOOKS, ActFn, AfterHook, Hook, Lists, find_list_problems, join_early_hooks
from gatewayfw.acts.services import RemoteService
from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.shapes import Kind, UntypedDict
from gatewayfw.schemas.structs import Mode
from gatewayfw.spelling import PYTHON

F = TypeVar("F", bound=ActFn)


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
    returns: Any
    mcp: bool
    exceptions: Mapping[type[Exception], tuple[int, str, str]] | None
    idempotent: str | None
    idempotent_by: ActFn | None


@final
class Group:
    """Registers acts of one model, with hooks ahead of their own.

    Made by `Acts.group`. The hooks of `Acts.use` come before both.
    """

    def __init__(
        self, act: Callable[..., Callable[[Any], Any]], set_act: Callable[..., None], schema: str, lists: Lists
    ) -> None:
        """Take `Acts.act` and `Acts.set_act`."""
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


def parse_lists(**lists: Any) -> dict[str, tuple[Any, ...]]:
    """Return checked hooks by the names of their lists."""
    if problems := list(find_list_problems(lists, PYTHON)):
        raise DefinitionError("; ".join(problems))
    return {name: tuple(given) for name, given in lists.items()}


def put_common_hooks_everywhere(service: Service | RemoteService, common: Lists) -> Service | RemoteService:
    """Return a service whose acts begin with these hooks, and no other common ones."""
    if isinstance(service, RemoteService):
        return service.with_common_hooks(join_early_hooks(common))
    return {
        schema: {name: put_common_hooks(act, common) for name, act in acts.items()} for schema, acts in service.items()
    }
