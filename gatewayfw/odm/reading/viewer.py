"""For whom an operation reads, and which names are hidden there. Pure."""

from collections.abc import Collection, Iterable, Mapping
from typing import final

from gatewayfw import messages
from gatewayfw.context_variables import Caller
from gatewayfw.errors import Hidden
from gatewayfw.policies.declaration import ContextFn
from gatewayfw.policies.joining import OPEN, Joined, hidden_for_somebody, joined, policies_of
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.models import Link, copied_model
from gatewayfw.schemas.paths import shown


@final
class Viewer:
    """The caller whose policies restrict an operation."""

    def __init__(self, schemas: Schemas, caller: Caller) -> None:
        self.schemas = schemas
        self.caller = caller

    def joined(self, model: str) -> Joined | None:
        """Return what the policies of a model say; None if they restrict nothing."""
        return joined(self.schemas, model, self.caller.role)

    @property
    def is_restricted(self) -> bool:
        """Whether some model is."""
        return any(self.joined(model) is not None for model in self.schemas.get_schemas())

    def hides(self, model: str) -> Mapping[str, tuple[ContextFn, ...]]:
        """Return the hidden names of a model, as `Joined.hides`."""
        return (self.joined(model) or OPEN).hides

    def has_rows(self, model: str) -> bool:
        """Tell whether some documents of a model are not there."""
        return (self.joined(model) or OPEN).has_rows

    def shows_all(self, link: Link) -> bool:
        """Tell whether all copies of a link are shown, as `Joined.shows_all`."""
        return (self.joined(copied_model(link)) or OPEN).shows_all(shared=link.shared)

    def hidden_in(self, link: Link, reveal: Collection[str]) -> frozenset[str]:
        """Return the names that are hidden in the copies of a link.

        Those in ``reveal``, by their path, are not.
        """
        hides = self.hides(copied_model(link))
        return frozenset(name for name in hides if f"{link.name}.{name}" not in reveal)

    def refuse(self, model: str, path: str, where: str, reveal: Collection[str]) -> None:
        """Refuse a path from a model's documents that begins with a hidden name.

        Raises:
            Hidden: names the path below ``where``; nothing in ``reveal`` admits it.
        """
        head = path.partition(".")[0]
        if head in self.hides(model) and head not in reveal:
            raise Hidden(messages.HIDDEN.format(path=f"{where}.{shown(path)}"))

    def refuse_reach(self, model: str, paths: Iterable[str], where: str, reveal: Collection[str]) -> None:
        """Refuse paths that reach hidden names, or copies that are not all shown.

        Raises:
            Hidden: as `refuse`.
        """
        links = self.schemas.links(model)
        for path in paths:
            self.refuse(model, path, where, reveal)
            head, *below = path.split(".")
            link = links.get(head)
            if link is None:
                continue
            partly = head not in reveal and not self.shows_all(link)
            if partly or not self.hidden_in(link, reveal).isdisjoint(below):
                raise Hidden(messages.HIDDEN.format(path=f"{where}.{shown(path)}"))


def viewer_of(schemas: Schemas, caller: Caller) -> Viewer:
    """Return the viewer that a caller is, one for all of its operations."""
    if caller.viewer is None:
        caller.viewer = Viewer(schemas, caller)
    return caller.viewer  # type: ignore[no-any-return]  # nobody else sets it


def revealable(schemas: Schemas, model: str) -> frozenset[str]:
    """Return what ``reveal=`` may name because a policy hides it from somebody.

    A name of the model, a name in copies by its path, or a link whose copies are not shown to all.
    """
    found = set(hidden_for_somebody(schemas, model))
    for name, link in schemas.links(model).items():
        source = copied_model(link)
        found |= {f"{name}.{hidden}" for hidden in hidden_for_somebody(schemas, source)}
        found |= {name} if policies_of(schemas, source) else set()
    return frozenset(found)
