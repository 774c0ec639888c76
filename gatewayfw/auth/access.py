"""Access rules as hooks: read the token, load the user, check the active role.

A ghost needs no active role, and ids compare without regard to the case of their digits.
Source: specification 19, 21.3; what these leave open is our choice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, update_wrapper
from types import MappingProxyType
from typing import Any, TypeVar, final

from bson import ObjectId

from gatewayfw import messages
from gatewayfw.acts.context import ContextFns
from gatewayfw.acts.headers import ROLE, read_carried
from gatewayfw.acts.hooks import HookMark, mark
from gatewayfw.auth.tokens import Tokens
from gatewayfw.errors import DefinitionError, Forbidden, HttpError, Unauthenticated
from gatewayfw.schemas.values import HEX_ID
from gatewayfw.token_carriers import TOKEN, Carrier

#: The messages when no token was sent; the first is the contract's.
NO_TOKEN: Mapping[str, str] = MappingProxyType(
    {
        "header": messages.NO_TOKEN_IN_HEADER,
        "bearer": messages.NO_BEARER_TOKEN,
        "cookie": messages.NO_TOKEN_IN_COOKIE,
    }
)

Role = Mapping[str, Any]
Body = Mapping[str, Any]
Scope = Callable[[Role, Body], bool]
#: It takes a body. Told so, mypy finds no type for a list of it and of hooks that take none.
AccessHook = Callable[..., None]
H = TypeVar("H", bound=Callable[..., Any])


@final
@dataclass(frozen=True)
class Rule:
    """The names of roles that may run an act, everywhere or where ``scope`` is true.

    It gets the caller's active role (``{roleId, name, scopeType?, scopeId?}``) and the validated body.
    """

    roles: tuple[str, ...]
    scope: Scope | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.roles, (tuple, list)) or not all(isinstance(name, str) for name in self.roles):
            raise DefinitionError("Rule: roles must be a tuple of names")
        object.__setattr__(self, "roles", tuple(self.roles))

    def allows(self, role: Role, body: Body) -> bool:
        """Tell whether this rule lets a role run the act."""
        return role.get("name") in self.roles and (self.scope is None or self.scope(role, body) is True)


@final
class Auth:
    """The hooks of one gateway, in this order: `read_token`, `load_user`, `grant`.

    ``load_user`` is your function that gets an id of 24 hexadecimal digits and returns the user, or None; the user's
    ``roles`` and ``isGhost`` decide, never the token. The act finds ``user`` and ``active_role`` (None for a ghost
    without one) in the context.

    ``token_from`` says where the token is: ``header(name)``, ``bearer()`` or ``cookie(name)``; ``role_from`` where the
    id of the caller's role is: ``set_field(name)``, ``header(name)`` or ``cookie(name)``. `gatewayfw.auth` has all of
    these; the defaults are the contract's.
    """

    def __init__(
        self,
        contexts: ContextFns,
        tokens: Tokens,
        load_user: Callable[[str], Mapping[str, Any] | None],
        *,
        token_from: Carrier = TOKEN,
        role_from: Carrier = ROLE,
    ) -> None:
        self.tokens = tokens
        self._contexts = contexts
        self._find_user = load_user
        self._token_from = _check_place("token_from", token_from, "set", "header(...), bearer() or cookie(...)")
        self._role_from = _check_place("role_from", role_from, "bearer", "set_field(...), header(...) or cookie(...)")

    @property
    def read_token(self) -> Callable[[], None]:
        """Hook: put the payload of the token into the context, as ``token``.

        It raises `Unauthenticated` for no token, more than one, or one that does not verify.
        """

        # A function for each use, because a mark of `access_rule` must not reach the others.
        @mark(HookMark("read_token", gives="token", token=self._token_from))
        def read_token() -> None:
            context = self._contexts.get_context_model()
            try:
                context["token"] = self._payload(read_carried(self._token_from, context, {}))
            except Unauthenticated as error:
                error.headers = {"WWW-Authenticate": "Bearer"} if self._token_from.place == "bearer" else {}
                raise

        return read_token

    def _payload(self, sent: Sequence[str]) -> dict[str, Any]:
        if not sent:
            raise Unauthenticated(NO_TOKEN[self._token_from.place].format(self._token_from.name))
        if len(sent) > 1:
            raise Unauthenticated(messages.BAD_TOKEN)
        return self.tokens.read(sent[0])

    @mark(HookMark("load_user", needs="token", gives="user"))
    def load_user(self) -> None:
        """Hook: put the user whom the token names into the context, as ``user``.

        It raises `Unauthenticated` if the payload has no usable ``_id``, or that user is gone.
        """
        context = self._contexts.get_context_model()
        payload = context.get("token")
        id_ = payload.get("_id") if isinstance(payload, Mapping) else None
        if not isinstance(id_, str) or not HEX_ID.fullmatch(id_):
            raise Unauthenticated(messages.BAD_TOKEN_DATA)
        user = self._find_user(id_)
        if user is None:
            raise Unauthenticated(messages.NO_USER)
        context["user"] = user

    def grant(self, *rules: Rule) -> AccessHook:
        """Return a hook that admits callers whom a rule allows, and ghosts.

        It never admits a caller who is not logged in, that is, without a ``user`` in the context. The hook raises:
            Unauthenticated: nobody is logged in.
            HttpError: 400, the id of the role, ``details.set.activeRoleId`` by default, is missing.
            Forbidden: it is no role of the user, was sent twice, or no rule allows that role.
        """
        if not all(isinstance(rule, Rule) for rule in rules):
            raise DefinitionError("grant: expected rules: grant(Rule(roles=(...)))")

        # Without rules only ghosts pass, and they need no role.
        @mark(HookMark("grant", needs="user", role=self._role_from if rules else None))
        @access_rule
        def check_access(body: Body) -> None:
            context = self._contexts.get_context_model()
            user = context.get("user")
            if user is None:
                raise Unauthenticated(messages.NO_USER)
            if not isinstance(user, Mapping):
                raise DefinitionError(f"grant: 'user' in the context must be a mapping, not {type(user).__name__}")
            wanted = read_carried(self._role_from, context, body)
            role = _role(user, wanted[0]) if len(wanted) == 1 else None
            if user.get("isGhost") is not True:
                if not wanted:
                    raise HttpError(messages.NO_ACTIVE_ROLE.format(self._role_from.name), 400, code="validation_error")
                if role is None:
                    raise Forbidden(messages.UNKNOWN_ACTIVE_ROLE)
                if not any(rule.allows(role, body) for rule in rules):
                    raise Forbidden(messages.FORBIDDEN)
            context["active_role"] = role

        check_access.rules = rules  # type: ignore[attr-defined]  # for who wants to tell of them
        return check_access

    grant.makes_hook = True  # type: ignore[attr-defined]  # the mark: given uncalled, it would refuse everybody


def _check_place(option: str, carrier: object, refused: str, expected: str) -> Carrier:
    if not isinstance(carrier, Carrier) or carrier.place == refused:
        raise DefinitionError(f"Auth: {option}: expected {expected}")
    return carrier


def access_rule(hook: H) -> H:
    """Mark a hook as one that decides who may run an act; see ``require_access``.

    The hook refuses by raising an error and admits by returning None; any other result ends the request with 500, so
    that ``return False`` admits nobody. A function is marked and returned, so this works as a decorator. A callable
    that cannot be marked, such as a bound method, is returned in a wrapper: ``access_rule(auth.load_user)`` admits
    every user.
    """
    if not callable(hook):
        raise DefinitionError(f"access_rule: expected a function, not {type(hook).__name__}")
    try:
        hook.is_access_rule = True  # type: ignore[attr-defined]  # the mark
    except AttributeError:
        wrapped: Any = update_wrapper(partial(hook), hook)  # named as it is
        wrapped.is_access_rule = True
        return wrapped  # type: ignore[no-any-return]  # called as the hook is
    return hook


def first_id(field: str, scope_type: str) -> Scope:
    """Return a scope: the first id in ``set.<field>`` is the active role's.

    The role's ``scopeType`` must be ``scope_type``. A list that is missing, empty or of anything but ids is not in
    scope. The ids after the first are not compared: see `all_ids`. Source: specification 19.6.
    """
    return _scope(field, scope_type, 1)


def all_ids(field: str, scope_type: str) -> Scope:
    """Return a scope: every id in ``set.<field>`` is the active role's; our choice."""
    return _scope(field, scope_type, None)


def same_id(left: object, right: object) -> bool:
    """Tell whether two are the same id: an ObjectId or its hexadecimal digits."""
    digits = _digits(left)
    return digits is not None and digits == _digits(right)


def _scope(field: str, scope_type: str, compared: int | None) -> Scope:
    for name in (field, scope_type):
        if not isinstance(name, str) or not name:
            raise DefinitionError("scope: expected the name of a field of set and a scopeType")

    def in_scope(role: Role, body: Body) -> bool:
        sent = body["details"]["set"]
        given = sent.get(field) if isinstance(sent, Mapping) else None
        ids = [_digits(id_) for id_ in given] if isinstance(given, list) else []
        if not ids or None in ids or role.get("scopeType") != scope_type:
            return False
        return set(ids[:compared]) == {_digits(role.get("scopeId"))}

    return in_scope


def _digits(id_: object) -> str | None:
    if isinstance(id_, ObjectId):
        return str(id_)
    return id_.lower() if isinstance(id_, str) and HEX_ID.fullmatch(id_) else None


def _role(user: Mapping[str, Any], role_id: object) -> Role | None:
    roles = (role for role in user.get("roles") or () if isinstance(role, Mapping))
    return next((role for role in roles if same_id(role.get("roleId"), role_id)), None)
