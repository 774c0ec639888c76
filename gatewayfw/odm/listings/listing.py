"""A listing as its act uses it: its input, its result, and one page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, final

from bson import ObjectId
from marshmallow import ValidationError as WrongValue
from marshmallow import fields as mm
from marshmallow.fields import Field

from gatewayfw import messages
from gatewayfw.errors import ReplyTooLarge, StorageError, ValidationError
from gatewayfw.odm.listings.conditions import all_of, conditions_of
from gatewayfw.odm.listings.declaration import Declaration, Resolution, resolve, resolved
from gatewayfw.odm.listings.next_page import MOST_CHARACTERS, Order, digest, read_token, write_token
from gatewayfw.odm.operations.handle import Handle
from gatewayfw.odm.reading.deep import Reading, show_found, weigh
from gatewayfw.odm.reading.filters import revealed, stored_filter
from gatewayfw.odm.reading.projection import Projection
from gatewayfw.odm.reading.rights import limit
from gatewayfw.pieces import in_batches
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.fields import described, enums, integer, nullable, optional, string
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.schemas.kinds.quick import Test
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.documents import value_at

#: What of a field's description also holds for what it is compared with: its type, not its bounds.
_COMPARED = ("kind", "of", "format", "choices", "places", "description")


class FilterField(KindField, mm.Raw, own=True):
    """What a client filters by: names with a value, or an object of operators.

    It is handed on as it was sent, in both modes; `Listing.page` takes it so.
    """

    kind = "filter"

    def __init__(self, schemas: Schemas, declaration: Declaration) -> None:
        super().__init__()
        self.schemas = schemas
        self.declaration = declaration

    def takes(self, value: Any) -> bool:
        """Tell whether a filter is right."""
        try:
            self._judge(value)
        except ValidationError:
            return False
        return True

    def description(self) -> Description:
        found = resolve(self.schemas, self.declaration)
        fields = {
            name: {
                "value": _describe_operand(one.field),
                "operators": list(one.operators),
                **({"list": True} if one.is_list else {}),
            }
            for name, one in found.filters.items()
        }
        return {"kind": "filter", "fields": fields}

    def _judge(self, value: Any) -> None:
        conditions_of(resolved(self.schemas, self.declaration), value, self.schemas.settings.max_ids, "")

    def _test(self) -> Test | None:
        return self.takes

    def _store_operand(self, value: Any) -> Any:
        return value

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        try:
            self._judge(value)
        except ValidationError as refused:
            whole = refused.errors.get("")
            raise WrongValue(dict(refused.errors) if whole is None else whole) from None
        return value


def _describe_operand(field: Field[Any]) -> Description:
    described = describe(field)
    whole = {"whole": True} if described["kind"] == "decimal" else {}
    return {**{name: described[name] for name in _COMPARED if name in described}, **whole, "presence": "required"}


class CountField(KindField, mm.Raw, own=True):
    """The number of rows, or ``{"atLeast": most}``; results have it, input does not."""

    kind = "count"

    def __init__(self, most: int) -> None:
        super().__init__(required=True)
        self.most = most

    def description(self) -> Description:
        return {"kind": "count", "most": self.most}

    def _test(self) -> Test | None:
        return None

    def _store_operand(self, value: Any) -> Any:
        return value


@final
class Listing:
    """A list of one model's documents that clients filter, sort and read by page.

    Made by `Model.listing`; give `set` and `returns` to the act that answers with `page`. Safe to share
    between threads.
    """

    def __init__(self, model: Handle, declaration: Declaration) -> None:
        self.declaration = declaration
        self._model = model
        self._schemas = model.schemas

    @property
    def set(self) -> dict[str, Field[Any]]:
        """The fields of ``details.set``: ``filter sort limit after``, all optional.

        ``filter`` and ``sort`` are left out where nothing is declared for them.
        """
        declared = self.declaration
        fields: dict[str, Any] = {}
        if declared.filters:
            fields["filter"] = optional(FilterField(self._schemas, declared))
        if declared.sorts:
            text = f"Order of rows; - in front means descending. Default {declared.default_sort}."
            fields["sort"] = optional(described(enums(*declared.orders), text))
        text = f"Max rows per page. Default {declared.default}."
        fields["limit"] = optional(described(integer(minimum=1, maximum=declared.most), text))
        text = "The next of the previous page. Keep filter and sort the same."
        fields["after"] = optional(described(string(size=(1, MOST_CHARACTERS)), text))
        return fields

    @property
    def returns(self) -> dict[str, Any]:
        """What an act that answers with `page` gives to ``returns=``."""
        count = self.declaration.count
        total = {} if count is False else {"total": optional(integer() if count is True else CountField(count))}
        return {"rows": "many", "next": nullable(string()), **total}

    def problems(self) -> Iterator[str]:
        """Yield a message for each mistake in the declaration."""
        yield from self.resolution().problems

    def resolution(self) -> Resolution:
        """Return the fields and indexes that the declared names mean."""
        return self._schemas.remembered(resolve, self.declaration)

    def page(
        self, details: Mapping[str, Any], *, where: Mapping[str, Any] | None = None, reveal: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return one page: ``{"rows": [...], "next": text or None}``.

        ``details`` are those of the request: ``set`` with the fields of `set`, maybe beside others, and
        ``get`` for the rows. ``where`` is a filter of the server's: rows match it and the client's
        filter; ``reveal`` names excluded fields that it uses. ``next`` is None on the last page, else
        what the client sends as ``after`` for the page after it. Where the listing counts, the first page
        also has ``total``: the number of all matches, or ``{"atLeast": n}`` where there are more than the
        n that are counted.

        A document that matches from the first page to the last, and whose sort value does not change
        meanwhile, is on exactly one of them, in order. Rows are read with two commands at most on the
        first page, one on others, and one for each level below copies that ``get`` names.

        Raises:
            ValidationError: an undeclared filter or sort, a value that cannot be the field's, a token of
                another listing, filter or sort (``set.after``), or ``get`` names what the model does not have.
            Hidden: filter or sort reach what a policy hides from the caller, unless ``reveal`` admits it.
            UsageError: ``where`` or ``reveal`` is wrong, as for `Model.find`.
            StorageError: the last row holds what its sort field cannot, because another tool wrote it.
            ReplyTooLarge: the rows have more bytes than the reply of this request may hold.
            DefinitionError: the declaration is wrong.
        """
        given, declared = details["set"], self.declaration
        found = resolved(self._schemas, declared)
        text, most = _sort(given, declared), _limit(given, declared)
        order = Order.of(text)
        asked = conditions_of(found, given.get("filter", {}), self._schemas.settings.max_ids, "set.filter")
        about = digest(declared, asked, text)
        schema, viewer = self._schemas.get_schema(declared.model), self._model.viewer()
        admitted = revealed(self._schemas, schema, reveal)
        if viewer is not None:
            paths = [found.filters[name].path for name in given.get("filter", {})]
            viewer.refuse_reach(schema.name, paths, "set.filter", admitted)
            viewer.refuse_reach(schema.name, [order.path], "set.sort", admitted)
        parsed = stored_filter(self._schemas, schema, where, "where", admitted, viewer)
        own = limit(viewer, schema.name, parsed)
        conditions = [own, *asked] if own else asked
        after = given.get("after")
        everything = all_of(conditions)
        wanted = everything if after is None else order.after(*_place(after, about, order, found), conditions)
        projection = self._model.compile(viewer, details.get("get"))
        storage = self._model.ready()
        rows, last = _read(storage, declared.model, wanted, projection, order, most)
        result: dict[str, Any] = {"rows": rows, "next": None if last is None else _token(about, order, found, *last)}
        if declared.count is not False and after is None:
            result["total"] = _total(storage, declared, everything)
        return result


def _read(
    storage: Storage, model: str, wanted: Mapping[str, Any], projection: Projection, order: Order, most: int
) -> tuple[list[Document], tuple[Any, Any] | None]:
    """Return the rows shown; sort value and `_id` of the last one, if others follow."""
    root = order.path.partition(".")[0]
    beside = root not in projection.names
    wider = _with_path(projection, order.path)
    found = storage.find(model, wanted, wider.paths, sort=order.keys, limit=most + 1, at_once=True)
    if projection.viewer is not None:
        return _read_screened(storage, projection if beside else wider, found, order, most)
    documents = _bounded(found, storage.scope.reply_bytes)
    more = len(documents) > most
    if more:
        del documents[most:]
    last = (value_at(documents[-1], order.path), documents[-1]["_id"]) if more else None  # rows may be what was read
    if beside:
        for document in documents:
            document.pop(root, None)
    return list(show_found(storage, projection if beside else wider, documents)), last


def _read_screened(
    storage: Storage, projection: Projection, found: Iterator[Document], order: Order, most: int
) -> tuple[list[Document], tuple[Any, Any] | None]:
    """Return the same where policies decide what is shown.

    Only what is shown may count, in however many pieces it came: else a refusal would tell of what is not.
    """
    rows: list[Document] = []
    last: tuple[Any, Any] | None = None
    weight, reply_bytes = 0, storage.scope.reply_bytes
    reading = Reading(storage, projection.viewer)
    for piece in in_batches(found):
        kept = piece[: most - len(rows)]
        if kept:
            last = (value_at(kept[-1], order.path), kept[-1]["_id"])
            shown = reading.show(projection, kept)
            rows += shown
            weight += 0 if reply_bytes is None else sum(map(weigh, shown))
            if reply_bytes is not None and weight > reply_bytes:
                raise ReplyTooLarge(reply_bytes)
        if len(kept) < len(piece):
            return rows, last
    return rows, None


def _bounded(found: Iterator[Document], most: int | None) -> list[Document]:
    """Return all documents; raise `ReplyTooLarge` for those that no reply could hold.

    Only large answers of a database come in more pieces than one, and only these are weighed.
    """
    documents: list[Document] = []
    weight = 0
    for piece in in_batches(found):
        documents += piece
        if most is not None and len(documents) > len(piece):
            weight += sum(map(weigh, piece))
            if weight > most:
                raise ReplyTooLarge(most)
    return documents


def _with_path(projection: Projection, path: str) -> Projection:
    if any(path == one or path.startswith(f"{one}.") for one in (*projection.paths, "_id")):
        return projection
    return replace(projection, paths=(*projection.paths, path), exact=False)


def _sort(given: Mapping[str, Any], declared: Declaration) -> str:
    text = given.get("sort", declared.default_sort)
    if text != declared.default_sort and text not in declared.orders:
        raise ValidationError({"set.sort": [messages.NO_CHOICE.format(choices=list(declared.orders))]})
    return str(text)


def _limit(given: Mapping[str, Any], declared: Declaration) -> int:
    limit = given.get("limit", declared.default)
    if type(limit) is not int or not 1 <= limit <= declared.most:
        raise ValidationError({"set.limit": [messages.NO_LIMIT.format(max=declared.most)]})
    return limit


def _place(token: Any, about: bytes, order: Order, found: Resolution) -> tuple[Any, ObjectId]:
    try:
        value, id_ = read_token(token, about)
        return _sort_value(order, found, value), id_
    except (ArithmeticError, TypeError, ValueError, ValidationError):
        raise ValidationError({"set.after": [messages.NO_TOKEN]}) from None


def _token(about: bytes, order: Order, found: Resolution, value: Any, id_: Any) -> str:
    """Return the token of the page after a row.

    Raises:
        StorageError: another tool stored what the sort field cannot hold, or another kind of id.
    """
    try:
        return write_token(about, _sort_value(order, found, value), id_)
    except (ArithmeticError, TypeError, ValueError, ValidationError):
        raise StorageError(f"no page begins after a document whose {order.path} or _id is of another type") from None


def _sort_value(order: Order, found: Resolution, stored: Any) -> Any:
    """Return the value that a token holds for a stored one.

    Fields that are not ours never load it: it would be another one where they change what they load.

    Raises:
        ValidationError: the sort field, which is ours, cannot hold it.
    """
    if order.path == "_id":
        return None
    kind = as_kind(found.sorts[order.path])
    return kind.operand(stored, order.path) if isinstance(kind, KindField) else stored


def _total(storage: Storage, declared: Declaration, wanted: Mapping[str, Any]) -> int | dict[str, int]:
    if declared.count is True:
        return storage.count(declared.model, wanted)
    counted = storage.count(declared.model, wanted, limit=declared.count + 1)
    return counted if counted <= declared.count else {"atLeast": declared.count}
