"""Pure functions that find what the names in filters, sorts and updates lead to.

A path leads to a field, to the copies of a relation or reverse relation, or, below a value that
no kind describes, to anything. The server's code writes filters and sorts, so a wrong
name in them is a `UsageError`. Our choice.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from marshmallow import fields as mm
from marshmallow.fields import Field

from gatewayfw import messages
from gatewayfw.errors import Hidden, UsageError, ValidationError
from gatewayfw.odm.reading.projection import source_of
from gatewayfw.odm.reading.viewer import Viewer
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.fields import object_id
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.models import Link
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.values import MOST_NAMES
from gatewayfw.storage.order import is_place


@cache
def _id_of(model: str) -> Field[Any]:
    return object_id(of=model)


@dataclass(frozen=True)
class Copies:
    """The value of a relation or reverse relation: copies of documents of ``source``.

    ``hidden`` are names in them that are hidden from the caller.
    """

    link: Link
    source: ModelSchema
    hidden: frozenset[str] = frozenset()


#: What a path leads to: a field, whole copies, or (None) anything.
Found = Field[Any] | Copies | None
Find = Callable[[str], Found]
#: The path of a field: text with dots, or its parts, of which each is one key whatever it holds.
Path = str | tuple[str, ...]


def path_text(path: Any, where: str) -> Any:
    """Return a `Path` as text; what is no path at all is returned as it is.

    A client may have chosen what stands behind the name of a field.

    Raises:
        ValidationError: a part cannot be a key: it is empty, begins with ``$``, or holds NUL or, in a tuple, a dot;
            or there are more than `MOST_NAMES`.
    """
    if type(path) is str and "." not in path:
        return path
    parts = path.split(".") if isinstance(path, str) else path
    if not isinstance(path, (str, tuple)) or not parts or not all(isinstance(part, str) for part in parts):
        return path  # who reads it next refuses it
    if any("." in part for part in parts) or not all(map(is_key, parts[1:])):
        raise ValidationError({f"{where}.{'.'.join(map(shown, parts))}": [messages.NO_KEY]})
    text = ".".join(parts)
    if len(parts) > MOST_NAMES:
        raise ValidationError({f"{where}.{shown(text)}": [messages.LONG_PATH]})
    return text


def with_text_paths(given: Any, where: str, whose: str = "") -> Any:
    """Return an object with each path in its keys as text; see `path_text`.

    ``whose`` is the operator that it belongs to.

    Raises:
        ValidationError: a part of a path cannot be a key.
        UsageError: a path is there in both forms.
    """
    if not isinstance(given, Mapping):
        return given
    texts = {path_text(path, where): value for path, value in given.items()}
    if len(texts) < len(given):
        raise UsageError(f"{where}: {f'{whose} has a path' if whose else 'a path is there'} as text and in parts")
    return texts


def find_in_model(
    schemas: Schemas,
    schema: ModelSchema,
    path: str,
    where: str,
    reveal: Collection[str] = (),
    viewer: Viewer | None = None,
) -> Found:
    """Return what a path leads to from a document of a model.

    ``where`` begins the messages: ``filter``, ``filters`` or ``sort``. ``reveal`` names excluded
    fields that are allowed, and hidden ones. Nothing allows a field that a copy leaves out, because it is not there.

    Raises:
        UsageError: the model has no such field, or it is hidden or excluded.
        Hidden: a policy hides it from the caller, who is the ``viewer``.
    """
    if path == "_id":
        return _id_of(schema.name)
    if viewer is not None:
        viewer.refuse(schema.name, path, where, reveal)
    head, *below = path.split(".")
    field = schema.pure.get(head)
    if field is not None:
        if head in schema.options.excludes and head not in reveal:
            raise UsageError(f"{where}: model {schema.name} excludes {head}; reveal=[{head!r}] admits it")
        return field_below(field, below, f"{where}: model {schema.name}", path) if below else field
    link = schemas.links(schema.name).get(head)
    if link is None:
        raise _unknown(f"{where}: model {schema.name}", head)
    hidden = frozenset() if viewer is None else viewer.hidden_in(link, reveal)
    copies = Copies(link, source_of(schemas, link), hidden)
    if below and is_place(below[0]) and link.type == "multiple":
        del below[0]
    return find_in_copies(copies, ".".join(below), where) if below else copies


def find_in_copies(copies: Copies, path: str, where: str) -> Found:
    """Return what a path leads to inside each copy; UsageError for no such field.

    Raises:
        Hidden: a policy hides it from the caller.
    """
    source = copies.source
    if path == "_id":
        return _id_of(source.name)
    head, *below = path.split(".")
    field = source.pure.get(head)
    if field is None:
        raise _unknown(f"{where}: model {source.name}", head)
    if head in source.options.excludes or head in copies.link.excludes:
        raise UsageError(f"{where}: the copies in {copies.link.name} leave out {head}")
    if head in copies.hidden:
        raise Hidden(messages.HIDDEN.format(path=f"{where}.{copies.link.name}.{shown(path)}"))
    return field_below(field, below, f"{where}: model {source.name}", path) if below else field


def find_in_elements(found: Found, path: str, where: str) -> Find:
    """Return what follows paths inside one element of the list at ``path``.

    Raises:
        UsageError: there is no list.
    """
    element = find_element(found, path, where)
    if isinstance(element, Copies):
        return lambda below: find_in_copies(element, below, where)
    if element is None:
        return lambda below: None
    return lambda below: field_below(element, below.split("."), f"{where}: an element of {shown(path)}", below)


def find_element(found: Found, path: str, where: str) -> Found:
    """Return what each element of a list is; of copies, the copies as a whole.

    Raises:
        UsageError: no list is there.
    """
    if isinstance(found, Copies):
        if found.link.type == "multiple":
            return found
        raise UsageError(f"{where}: {shown(path)} is not a list; write {shown(path)}._id or another field of it")
    if found is None or (is_free(found) and not _has_places(found)):
        return None
    inner = as_kind(found).elements
    if inner is None:
        told = f"is a tuple: name a place of it, such as {shown(path)}.0" if _has_places(found) else "is not a list"
        raise UsageError(f"{where}: {shown(path)} {told}")
    return inner


def field_below(field: Field[Any], parts: Sequence[str], whose: str, path: str) -> Field[Any] | None:
    """Return the field below another, through objects and lists of them.

    Returns None where any value is allowed.

    Raises:
        UsageError: there is no such field; ``whose`` and ``path`` name the place in the message.
    """
    if not all(map(is_key, parts)):
        raise ValidationError({f"{whose.partition(':')[0]}.{shown(path)}": [messages.NO_KEY]})
    chosen = False  # whether a client may have chosen a key on the way
    for part in parts:
        elements = as_kind(field).elements
        if elements is not None:
            field = elements
            if is_place(part):
                continue
        inner = as_kind(field).part(part)
        if inner is None and is_free(field) and not _has_places(field):
            return None
        if inner is None and chosen:
            raise ValidationError({f"{whose.partition(':')[0]}.{shown(path)}": [messages.NO_PART]})
        if inner is None:
            raise _unknown(whose, path, "; below a tuple name a place, such as 0" if _has_places(field) else "")
        chosen = chosen or takes_any_keys(field)
        field = inner
    return field


def is_list(schemas: Schemas, schema: ModelSchema, name: str) -> bool:
    """Tell whether a field is a list, or a link that holds many documents."""
    if name in schema.pure:
        return as_kind(schema.pure[name]).elements is not None
    link = schemas.links(schema.name).get(name)
    return link is not None and link.type == "multiple"


def is_free(field: Field[Any]) -> bool:
    """Tell whether nothing describes the inside of a field's values.

    Of marshmallow's own fields only scalars are known.
    """
    kind = as_kind(field)
    return kind.is_free or kind.is_unknown


def takes_any_keys(found: Found) -> bool:
    """Tell whether a value may be, or list, objects whose keys a client chose."""
    if not isinstance(found, Field):
        return found is None
    while (inner := as_kind(found).elements) is not None:
        found = inner
    return is_free(found) or as_kind(found).part("$") is not None


def may_be_text(found: Found) -> bool:
    """Tell whether a value there is a text, a list of texts, or anything."""
    if not isinstance(found, Field):
        return found is None
    field = as_kind(found).elements or found
    return is_free(field) or as_kind(field).is_text


def is_key(part: str) -> bool:
    """Tell whether a part of a path can be the key of a stored object."""
    return bool(part) and not part.startswith("$") and "\0" not in part


def _has_places(field: Field[Any]) -> bool:
    """Tell whether each place has a field of its own: a name may mean several."""
    return isinstance(getattr(field, "wrapped", field), mm.Tuple)


def _unknown(whose: str, path: str, more: str = "") -> UsageError:
    return UsageError(f"{whose} has no field {shown(path)}{more}")
