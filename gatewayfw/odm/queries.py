"""What callers of a model write, turned into filters and updates for storage. Pure.

Names are checked against the model, ids and dates are brought into their stored form, and
nothing outside the adapters' subset passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bson import ObjectId
from marshmallow.fields import Field

from gatewayfw.errors import BadRequest, ValidationError
from gatewayfw.odm.links import REQUIRED
from gatewayfw.odm.projection import links_of, source_of
from gatewayfw.odm.snapshots import HIDDEN
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.fields import HEX_ID, any_, object_id
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.strict import AnyField, ArrayField, IntegerField, NumberField, ObjectField
from gatewayfw.schemas.structs import check_value
from gatewayfw.schemas.values import finite_number
from gatewayfw.storage.subset import JUNCTIONS, check_filter, check_update

_ID: Field[Any] = object_id()
_ANY: Field[Any] = any_()


#: What a path of a filter leads to: a field, the copies of a model's documents, or something unknown.
Found = Field[Any] | ModelSchema | None


def stored_filter(schemas: Schemas, schema: ModelSchema, filters: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a filter in its stored form: hexadecimal ids and ISO dates converted by field.

    None means all documents.

    Raises:
        BadRequest: an operator outside the subset, or a name the model does not have.
    """
    if filters is None:
        return {}
    if type(filters) is dict and len(filters) == 1 and (id_ := _plain_id(filters.get("_id"))) is not None:
        return {"_id": id_}
    check_filter(filters)
    return _filter(lambda path: _found(schemas, schema, path), filters)


def _plain_id(value: object) -> ObjectId | None:
    """Return the stored form of an id; None where more than a look at it is needed."""
    if type(value) is ObjectId:
        return value
    return ObjectId(value) if type(value) is str and HEX_ID.fullmatch(value) else None


def _filter(find: Callable[[str], Found], filters: Mapping[str, Any]) -> dict[str, Any]:
    converted: dict[str, Any] = {}
    for key, value in filters.items():
        if key in JUNCTIONS:
            converted[key] = [_filter(find, part) for part in value]
        else:
            converted[key] = _condition(find(key), value)
    return converted


def _found(schemas: Schemas, schema: ModelSchema, path: str) -> Found:
    """Return what a path leads to from a document of a model."""
    head, *below = path.split(".")
    if head == "_id" or head in schema.pure:
        return _in_copy(schema, path)
    source = _embedded_model(schemas, schema, head)
    below = [part for part in below if not part.isdigit()]
    return _in_copy(source, ".".join(below)) if below else source


def _in_copy(schema: ModelSchema, path: str) -> Found:
    """Return what a path leads to among the `_id` and pure fields of a model."""
    head, *below = path.split(".")
    if head == "_id":
        return _ID
    if head not in schema.pure:
        raise BadRequest(f"filter: model {schema.name} has no field {shown(head)}")
    return field_at(schema.pure[head], below)


def _embedded_model(schemas: Schemas, schema: ModelSchema, name: str) -> ModelSchema:
    """Return the model whose copies a relation or reverse relation holds."""
    link = links_of(schemas, schema).get(name)
    if link is None:
        raise BadRequest(f"filter: model {schema.name} has no field {shown(name)}")
    return source_of(schemas, link)


def field_at(field: Field[Any], path: list[str]) -> Field[Any] | None:
    """Return the field below another one: through objects with declared fields, and lists of them."""
    for part in path:
        if isinstance(field, ArrayField):
            field = field.inner
            if part.isdigit():
                continue
        if not isinstance(field, ObjectField) or field.fields is None or part not in field.fields:
            return None
        field = field.fields[part]
    return field


def _condition(found: Found, value: Any) -> Any:
    if not isinstance(value, Mapping) or not any(str(key).startswith("$") for key in value):
        return _operand(found, value)
    converted = dict(value)
    for name, operand in value.items():
        if name == "$elemMatch":
            converted[name] = _filter(_in_elements(found), operand)
        elif name != "$exists":
            converted[name] = _operand(found, operand)
    return converted


def _in_elements(found: Found) -> Callable[[str], Found]:
    """Return the function that says what a path leads to inside one element of a list."""
    if isinstance(found, ModelSchema):
        return lambda path: _in_copy(found, path)
    inner = found.inner if isinstance(found, ArrayField) else None
    return lambda path: None if inner is None else field_at(inner, path.split("."))


def _operand(field: Found, value: Any) -> Any:
    if field is None or isinstance(field, ModelSchema):
        return value
    inner = field.inner if isinstance(field, ArrayField) else field
    if isinstance(value, (list, tuple)):
        return [_stored_or_same(inner, one) for one in value]
    return _stored_or_same(inner, value)


def _stored_or_same(field: Field[Any], value: Any) -> Any:
    """Return a value's stored form; a value the field does not take compares as it is."""
    try:
        return check_value(field, value, "filter")
    except ValidationError:
        return value


@dataclass(frozen=True)
class Change:
    """An update in its stored form, the pure fields it names, and those to be checked afterwards."""

    update: dict[str, dict[str, Any]]
    named: frozenset[str]
    recheck: frozenset[str]


def stored_update(schema: ModelSchema, update: Mapping[str, Any]) -> Change:
    """Check an update against the model and return it in its stored form.

    ``$set``, ``$unset`` and ``$inc`` on pure fields and below objects; ``$push``, ``$pull`` and
    ``$addToSet`` on arrays. Values that are set are checked here; what an operator makes of a
    stored value can only be judged by `check_result`.

    Raises:
        BadRequest: no operator, an unknown one, or a path that is changed twice.
        ValidationError: an unknown or protected field, or a value the field refuses.
    """
    check_update(update)
    errors: dict[str, list[str]] = {}
    result: dict[str, dict[str, Any]] = {}
    named: set[str] = set()
    recheck: set[str] = set()
    for operator, changes in update.items():
        for path, value in changes.items():
            head, *below = path.split(".")
            named.add(head)
            if operator != "$set" or below:
                recheck.add(head)
            try:
                result.setdefault(operator, {})[path] = _checked(schema, operator, path, value)
            except ValidationError as error:
                errors.update(error.errors)
    if errors:
        raise ValidationError(errors)
    return Change(result, frozenset(named), frozenset(recheck))


def _checked(schema: ModelSchema, operator: str, path: str, value: Any) -> Any:
    head, *below = path.split(".")
    where = f"update.{path}"
    if head == HIDDEN or head == "_id" or head not in schema.pure:
        raise ValidationError({where: ["Not a pure field of the model."]})
    field = field_at(schema.pure[head], below) if not any(part.isdigit() for part in below) else None
    if below and field is None and not _is_free(schema.pure[head]):
        raise ValidationError({where: ["Not a field of this object."]})
    if any(part.startswith("$") for part in below):
        raise ValidationError({where: ["Keys may not start with $."]})
    if operator == "$unset":
        if not below and schema.pure[head].required:
            raise ValidationError({where: [REQUIRED]})
        return ""
    if operator == "$inc":
        if not finite_number(value):
            raise ValidationError({where: ["Not a valid number."]})
        if field is not None and not isinstance(field, (NumberField, IntegerField, AnyField)):
            raise ValidationError({where: ["Not a number."]})
        return value
    if operator == "$set":
        return check_value(field or _ANY, value, where)
    return _element(field, operator, value, where)


def _is_free(field: Field[Any]) -> bool:
    return isinstance(field, AnyField) or (isinstance(field, ObjectField) and field.fields is None)


def _element(field: Field[Any] | None, operator: str, value: Any, where: str) -> Any:
    """Return what is pushed onto, added to or pulled from a list."""
    if not isinstance(field, ArrayField):
        raise ValidationError({where: ["Not a list."]})
    if operator == "$pull":
        is_filter = isinstance(value, Mapping) and not any(str(key).startswith("$") for key in value)
        return _filter(_in_elements(field), value) if is_filter else _condition(field, value)
    if isinstance(value, Mapping) and "$each" in value:
        return {"$each": [check_value(field.inner, one, f"{where}.{at}") for at, one in enumerate(value["$each"])]}
    return check_value(field.inner, value, where)


def check_result(schema: ModelSchema, change: Change, document: Mapping[str, Any]) -> None:
    """Check the fields that operators changed, as they are now.

    Raises:
        ValidationError: one no longer fits its field.
    """
    for name in change.recheck:
        if name in document:
            check_value(schema.pure[name], document[name], f"update.{name}")
        elif schema.pure[name].required:
            raise ValidationError({f"update.{name}": [REQUIRED]})
