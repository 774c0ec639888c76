"""Checks of a gateway's definitions that need no database.

One function checks at the start of an app, at the first request after a change, and for ``doctor``. It names every
mistake with its place. What counts as a mistake is our choice.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator
from typing import final

from gatewayfw.acts.act import Act
from gatewayfw.acts.hooks import find_marks, find_order_problems
from gatewayfw.acts.registry import Acts
from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.schemas.registry import Schemas
from gatewayfw.spelling import MAIN

#: How many models are named.
_NAMED = 10


@final
class Checks:
    """Checks the definitions of one gateway, once for each state of them.

    ``more`` give the mistakes that other parts find. ``roles`` are the names that rules may use; none for any.
    ``right`` is the ``stamp`` of ``schemas``, which changes with every definition, when all were correct last; None
    before.
    """

    def __init__(
        self,
        schemas: Schemas,
        acts: Acts,
        has_database: Callable[[], bool],
        *more: Callable[[], Iterable[str]],
        roles: Collection[str] = (),
    ) -> None:
        self.schemas = schemas
        self.right: object = None
        self._acts = acts
        self._has_database = has_database
        self._more = more
        self.roles = roles
        self._judged: tuple[object, tuple[str, ...]] = (None, ())

    def problems(self) -> list[str]:
        """Return what is wrong, in words: models first, then acts in the order registered."""
        stamp = self.schemas.stamp  # read first: the next call checks a change made meanwhile
        judged, found = self._judged
        if judged is not stamp:
            found = tuple(dict.fromkeys(self._found()))
            self._judged = stamp, found
        if not found:
            self.right = stamp
        return list(found)

    def check(self) -> None:
        """Refuse wrong definitions by an error that names every problem, one a line."""
        problems = self.problems()
        if len(problems) > 1:
            raise DefinitionError("\n- ".join([f"{len(problems)} definitions are wrong:", *problems]))
        if problems:
            raise DefinitionError(problems[0])

    def _found(self) -> Iterator[str]:
        models = list(self.schemas.get_schemas())
        yield from self.schemas.problems()
        if models and not self._has_database():
            more = f" and {len(models) - _NAMED} more" if len(models) > _NAMED else ""
            yield f"no database for the models {', '.join(models[:_NAMED])}{more}: call odm.set_db(...) first"
        used: set[tuple[str, object]] = set()
        for name, act in acts_by_name(self._acts):
            selects = list(act.struct.selects())
            used.update((select.model, select.spec) for _, select in selects)
            yield from (f"{name}: {problem}" for problem in find_act_problems(act))
            yield from (f"{name}: {problem}" for problem in find_role_problems(act, self.roles))
            if act.once and not self._has_database():
                yield f"{name}: idempotent acts need a database: call odm.set_db(...) first"
        for remote in self._acts.remote_services():
            yield from (f"service {remote.name}: {problem}" for problem in find_order_problems(remote.pre_act))
        for find_problems in self._more:
            yield from find_problems()
        for select in self.schemas.select_structs():
            if (select.model, select.spec) not in used:
                yield from select.problems()


def acts_by_name(acts: Acts) -> Iterator[tuple[str, Act]]:
    """Yield every act of this process by its name: ``book.buy``, ``billing/bill.pay``."""
    for service, models in acts.get_acts_with_services().items():
        if not isinstance(models, str):
            before = "" if service == MAIN else f"{service}/"
            for schema, by_name in models.items():
                yield from ((f"{before}{schema}.{name}", act) for name, act in by_name.items())


def find_act_problems(act: Act) -> Iterator[str]:
    """Yield what is wrong with one act, in words."""
    for path, select in act.struct.selects():
        yield from (f"{path}: {problem}" for problem in select.problems())
    yield from find_order_problems(act.early_hooks)
    fields = fields_of_set(act)
    for mark in find_marks(act.early_hooks):
        if fields is not None and mark.role and mark.role.place == "set" and mark.role.name not in fields:
            yield f"set: {mark.name} takes the caller's role from {mark.role.name!r}, which set does not have"


def find_role_problems(act: Act, roles: Collection[str]) -> Iterator[str]:
    """Yield the roles in an act's access rules that are not among declared ones."""
    rules = (rule for hook in act.access_rules for rule in getattr(hook, "rules", ())) if roles else ()
    for role in dict.fromkeys(role for rule in rules for role in rule.roles):
        if role not in roles:
            yield f"grant: unknown role {role!r} (known: {', '.join(roles)})"


def fields_of_set(act: Act) -> Container[str] | None:
    """Return the names that ``set`` takes; None where nothing here knows them."""
    given = (act.struct.fields or {}).get("set")
    return given.fields if isinstance(given, ObjectField) else None
