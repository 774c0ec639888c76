"""The policies of one gateway, and who calls its acts."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, Protocol, final

from gatewayfw.context_variables import CALLERS, Caller, Entry, Free, calling
from gatewayfw.errors import DefinitionError, UsageError
from gatewayfw.policies.declaration import ContextFn, find_problems, parse_policy
from gatewayfw.policies.joining import Hiding, refuse_hidden
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.get import SelectStruct

_LOG = logging.getLogger("gatewayfw.policies")
#: What users and roles are; `dict` is named, and None asked for before, because a Mapping takes ten times as long.
_OBJECTS = (dict, Mapping)
#: Who called before an act.
Mark = Mapping[Any, Entry]


class Contexts(Protocol):
    """The contexts of requests, as `gatewayfw.acts.context` has them."""

    def get_context_model(self) -> Mapping[str, Any]:
        """Return that of the current request."""

    def peek(self) -> Mapping[str, Any] | None:
        """Return it; None if nobody has asked for it."""

    def snapshot(self) -> Mapping[str, Any]:
        """Return a copy of it that no later change reaches."""


@final
class Policies:
    """Declares the policies of one gateway, and says who calls; ``gw.policies``.

    ``contexts`` has the context of each request, ``roles`` are the names that roles may have, and ``role_of`` gives
    the caller's by the context.
    """

    def __init__(
        self,
        schemas: Schemas,
        contexts: Contexts,
        roles: Sequence[str] = (),
        role_of: ContextFn | None = None,
    ) -> None:
        self._schemas = schemas
        self._contexts = contexts
        is_list = isinstance(roles, Sequence) and not isinstance(roles, (str, bytes))
        if not is_list or not all(isinstance(name, str) and name and name != "*" for name in roles):
            raise DefinitionError("roles: expected a list of names")
        self.roles = tuple(roles)
        if role_of is not None and not callable(role_of):
            raise DefinitionError("policy_role: expected a function of the context")
        self._role_of = role_of or _active_role
        #: The callers that requests of a role share, by version of the definitions and role.
        self._shared: dict[tuple[int, str | None], Caller] = {}
        self._current = contexts.get_context_model if role_of else contexts.peek

    def declare(
        self,
        models: str | Sequence[str],
        *,
        roles: Literal["*"] | Sequence[str | None] | None,
        needs: Sequence[str] = (),
        rows: ContextFn | None = None,
        write: bool | ContextFn = True,
        check: ContextFn | None = None,
        hide: Sequence[str] = (),
        fixed: Sequence[str] = (),
        own: ContextFn | None = None,
        admit: bool = False,
    ) -> None:
        """Say what callers of some roles see and change of some models, in every act.

        ``models``: one name or several; ``"*"`` stands for all models that have what ``needs`` names. ``roles``: names,
        with None for callers who are not signed in; ``"*"`` stands for all who are, and admits them to a model without
        another policy for their role only with ``admit``. All policies that apply are joined. A model that has a policy
        shows and takes nothing from callers whom none of its policies names.

        ``rows`` gives, by the context, the filter of the documents that are there for them; None for none. ``hide`` has
        names of fields and relations that they do not see, but in the documents and copies whose ids ``own`` gives;
        ``fixed`` those that they may not write. ``write``: true, false, or a function that gives the filter of what
        they may change; ``check`` one that gives the filter of what a write may leave.

        Raises:
            DefinitionError: a part has the wrong form, or a role was not declared.
        """
        given = {"roles": roles, "needs": needs, "rows": rows, "write": write, "check": check}
        more = {"hide": hide, "fixed": fixed, "own": own, "admit": admit}
        self._schemas.add_policy(parse_policy(self.roles, models, **given, **more))

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the policies, in words.

        The log says which models those for all models are not about.
        """
        for policy in self._schemas.policies:
            yield from find_problems(self._schemas, policy)
            models = self._schemas.get_schemas() if policy.models is None else ()
            if others := [name for name in models if not policy.covers(self._schemas, name)]:
                _LOG.warning("%s is not about %s: no %s", policy.where, ", ".join(others), ", ".join(policy.needs))

    # -- who calls; the lifecycle of acts asks

    def begin(self) -> Mark | None:
        """Begin an act, whose hooks nothing restricts; `end` takes what is returned.

        None where nothing restricts anybody.
        """
        schemas = self._schemas
        if not schemas.policies_hold:
            return None
        before = CALLERS.get()
        if before or schemas.settings.require_policy:  # else hooks need no mark: each costs a percent of a small act
            CALLERS.set({**before, schemas: Free.HOOKS})
        return before

    def end(self, before: Mark) -> None:
        """End an act: from now on the caller is the one before it."""
        CALLERS.set(before)

    def identify(self, selects: tuple[tuple[str, SelectStruct], ...], details: Mapping[str, Any]) -> None:
        """Let the caller's rights hold from now on, as the context says after the hooks.

        ``selects`` are the select structs for ``details``, by their paths.

        Raises:
            Hidden: the caller asks for what its role does not see.
            UsageError: ``policy_role`` gave no name.
        """
        entry, before = self._find(), CALLERS.get()
        CALLERS.set({**before, self._schemas: entry} if before else {self._schemas: entry})
        if selects and isinstance(entry, Caller):
            refuse_hidden(entry.hidden, selects, details)

    def now(self) -> Entry | None:
        """Return who calls now; None outside of acts, or where nothing restricts anybody."""
        return CALLERS.get().get(self._schemas)

    def identity(self) -> list[str]:
        """Return role and user of who calls now."""
        entry = self.now()
        user = self._contexts.get_context_model().get("user")
        id_ = user.get("_id") if isinstance(user, Mapping) else None
        id_ = user if id_ is None else id_  # else all who have none would be one
        role = repr(entry.role if isinstance(entry, Caller) else entry)
        return [role, type(id_).__name__, str(id_)]

    def hooks(self) -> Entry | None:
        """Return what stands for hooks; None where nothing restricts anybody."""
        return Free.HOOKS if self._schemas.policies_hold else None

    def open(self, entry: Entry | None) -> AbstractContextManager[None]:
        """Let somebody be the caller in a block; None changes nothing."""
        return nullcontext() if entry is None else calling(self._schemas, entry)

    def after_error(self) -> AbstractContextManager[None]:
        """Let the hooks of an error have the rights of the caller.

        They have them even if hooks before the act have failed.
        """
        if self.now() not in (None, Free.HOOKS) or not self._schemas.policies_hold:
            return nullcontext()
        try:
            entry = self._find()
        except Exception:  # What tells who calls may be what has failed.
            entry = Caller(None, {})
        return calling(self._schemas, entry)

    def _find(self) -> Entry:
        context, role, user = self._current(), None, None
        if context is not None:
            user = context.get("user")
            if user is not None and isinstance(user, _OBJECTS) and user.get("isGhost") is True:
                return Free.GHOST
            role = self._role_of(context)
            if role is not None and not isinstance(role, str):
                raise UsageError(f"policy_role: expected the name of a role or None, not {type(role).__name__}")
            if role not in self.roles:
                role = None if user is None else ""
        key = (self._schemas.version, role)
        shared = self._shared.get(key)
        if shared is None:  # `remembered` takes three times as long
            shared = self._shared[key] = _share(self._schemas, role)
        return Caller(role, self._contexts.snapshot(), shared.hidden) if shared.context is None else shared


def _share(schemas: Schemas, role: str | None) -> Caller:
    """Return the caller of a role; its context is None where requests share none."""
    given = ((one.rows, one.check, one.own, one.write) for one in schemas.policies)
    has_functions = any(callable(one) for functions in given for one in functions)
    return Caller(role, None if has_functions else {}, Hiding(schemas, role))


def _active_role(context: Mapping[str, Any]) -> Any:
    role = context.get("active_role")
    return role.get("name") if role is not None and isinstance(role, _OBJECTS) else None
