"""Write documents: insert, update, relate, delete."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, TypedDict, TypeVar

from gatewayfw import messages
from gatewayfw.errors import DuplicateKey, NotFound, UsageError, ValidationError
from gatewayfw.odm.hidden import of_revision, raise_if_stale
from gatewayfw.odm.operations.handle import Filter, Get, Handle, Update
from gatewayfw.odm.operations.permission import Permission, names_in_documents, names_in_update
from gatewayfw.odm.operations.read import find_first
from gatewayfw.odm.reading.deep import show, show_one
from gatewayfw.odm.sizes.own_fields import Allowance, FieldsTooLarge
from gatewayfw.odm.writing.inputs import (
    NewDocument,
    parse_document,
    parse_inputs,
    parse_new_inputs,
    sources_in,
)
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.delete import delete
from gatewayfw.odm.writing.plan.insert import insert
from gatewayfw.odm.writing.plan.relate import add, remove
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.odm.writing.plan.update import update
from gatewayfw.odm.writing.updates import parse_upsert, stored_update
from gatewayfw.storage import Document

T = TypeVar("T")
#: How often an upsert may meet another one that inserts the same key, in a row.
_MEETINGS = 10


class DeleteResult(dict[str, Any]):
    """The result of a delete: ``{"deletedCount": n, "cascaded": {model: n}}``.

    It is falsy if nothing was deleted. ``deletedCount`` counts what the filter matched (0 or 1 for
    `delete_one`), ``cascaded`` those deleted with it. It has ``pending: True`` while a job is still removing
    a deleted document from its holders.
    """

    def __bool__(self) -> bool:
        return bool(self["deletedCount"])


class UpdateResult(TypedDict):
    """The result of `update_many`: how many documents matched, and how many differ."""

    matched: int
    modified: int


def insert_documents(
    model: Handle,
    docs: Sequence[Mapping[str, Any]],
    relations: Sequence[Mapping[str, Any] | None],
    get: Get | None,
    where: Sequence[str],
    allow: Sequence[str] = (),
) -> list[Document]:
    """Insert all documents or none, and return them projected, in order.

    ``relations`` has one object for all, or one for each; ``where`` has the place of each document in the input.
    """
    permission = Permission(model, names_in_documents(chain(docs, relations)), allow)
    storage = model.ready()
    projection = model.compile(permission.viewer, get)
    if not docs:
        return []
    inputs = parse_new_inputs(model.schema, relations, len(docs), model.schemas.settings.insert_copies)
    new: list[NewDocument] = []
    for doc, given, place in zip(docs, inputs, where, strict=True):
        if new:
            storage.scope.check()
        new.append(parse_document(model.schema, doc, given, model.allowance, place))

    def write(attempt: Attempt) -> list[Document]:
        permission.refuse_missing(storage, inputs)
        with permission.veiled():
            documents = apply(storage, insert(attempt, model.schema, new))
        permission.judge(documents)
        return show(storage, projection, documents)

    done = model.database.run(
        write,
        proof=(model.name, new[0].proof()),
        hot=[target for one in new for target in sources_in(one.inputs)],
    )
    return done.result


def update_one(
    model: Handle,
    wanted: dict[str, Any],
    changes: Update | None,
    rev: int | None,
    get: Get | None,
    allow: Sequence[str],
) -> Document | None:
    """Change one document's pure fields, and every copy; return it projected."""
    permission = Permission(model, names_in_update(changes), allow)
    storage, wanted = model.ready(), permission.limit(wanted)
    projection = model.compile(permission.viewer, get)
    change = stored_update(model.schema, changes or {})
    exact, shown = of_revision(permission.narrow(wanted), rev), [*projection.paths, *permission.judged]
    if not change.named:
        found = permission.changed(storage, wanted, find_first(storage, model, exact, projection))
        return raise_if_stale(storage, model.name, wanted, rev, found)

    def write(attempt: Attempt, allowance: Allowance | None) -> Document | None:
        document = apply(storage, update(attempt, model.schema, exact, change, shown, allowance))
        permission.judge([permission.changed(storage, wanted, document)])
        return show_one(storage, projection, raise_if_stale(storage, model.name, wanted, rev, document))

    return _run_checked(model, wanted, write)


def upsert_one(
    model: Handle,
    wanted: dict[str, Any],
    changes: Update | None,
    filter: Mapping[str, Any],
    get: Get | None,
    allow: Sequence[str],
) -> Document | None:
    """Update a document, or insert it; return it projected.

    ``wanted`` is the ``filter`` as stored. This begins again where another call has inserted it meanwhile.
    """
    permission = Permission(model, chain(names_in_update({"$set": filter}), names_in_update(changes)), allow)
    storage = model.ready()
    projection = model.compile(permission.viewer, get)
    parsed = parse_upsert(model.schema, wanted, changes or {}, filter)
    wanted = permission.limit(wanted)
    exact, shown = permission.narrow(wanted), [*projection.paths, *permission.judged]
    inserts = False

    def write(attempt: Attempt, allowance: Allowance | None) -> Document | None:
        nonlocal inserts
        inserts = False
        if parsed.change.named:
            document = apply(storage, update(attempt, model.schema, exact, parsed.change, shown, allowance))
        else:
            document = next(storage.find(model.name, exact, projection.paths, limit=1), None)
        if permission.changed(storage, wanted, document) is None:
            inserts = True
            new = parse_document(model.schema, parsed.first, {}, model.allowance, "update")
            with permission.veiled():
                (document,) = apply(storage, insert(attempt, model.schema, [new]))
        if inserts or parsed.change.named:
            permission.judge([document])
        return show_one(storage, projection, document)

    meetings = 0
    while True:
        try:
            return _run_checked(model, wanted, write)
        except DuplicateKey as error:
            meetings += 1
            # The document that has the values of another unique index may be the one that the filter names.
            most = _MEETINGS if tuple(sorted(error.fields)) == parsed.key else 2
            if not inserts or meetings >= most or model.database.is_nested:
                raise


def check_upsert(upsert: object, rev: object) -> None:
    """Refuse an upsert that asks for a revision, or whose flag is none."""
    check_flag("upsert", upsert)
    if rev is not None:
        raise UsageError("upsert: a document that may be new has no revision to ask for")


def _run_checked(model: Handle, wanted: Filter, write: Callable[[Attempt, Allowance | None], T]) -> T:
    """Run an update in a transaction, with the check of its size where it needs one."""

    def run(allowance: Allowance | None) -> T:
        return model.database.run(lambda attempt: write(attempt, allowance), hot=model.named(wanted)).result

    allowance = model.allowance
    if allowance is None:
        return run(None)
    if not model.database.is_nested and model.database.storage.has_transactions():
        try:
            return run(allowance)
        except FieldsTooLarge:  # what only reading shows: it may have been so before, which is rare
            pass
    return run(allowance.looking_first())


def relate(
    model: Handle,
    wanted: dict[str, Any],
    relations: Mapping[str, Any],
    rev: int | None,
    get: Get | None,
    allow: Sequence[str],
    *,
    replace: bool = False,
    leaving: bool = False,
) -> Document | None:
    """Relate one document to others, or end relations of it; return it projected."""
    check_flag("replace", replace)
    permission = Permission(model, names_in_documents([relations]), allow)
    storage, wanted = model.ready(), permission.limit(wanted)
    projection = model.compile(permission.viewer, get)
    inputs = parse_inputs(model.schema, relations)
    if not inputs:
        raise ValidationError({"relations": [messages.NO_RELATION_NAMED]})
    holder = permission.narrow(wanted)
    exact = of_revision(holder, rev)

    def change(attempt: Attempt, one: dict[str, Any]) -> Document | None:
        try:
            permission.refuse_missing(storage, [inputs], one, leaving=leaving, anew=not replace)
        except NotFound:
            permission.refuse_seen(storage, wanted, holder)
            raise
        if leaving:
            return apply(storage, remove(attempt, model.schema, one, inputs))
        return apply(storage, add(attempt, model.schema, one, inputs, replace=replace))

    def write(attempt: Attempt) -> Document | None:
        one = permission.pin(storage, exact, inputs)
        document = None if one is None else change(attempt, one)
        permission.judge([permission.changed(storage, wanted, document)])
        return show_one(storage, projection, raise_if_stale(storage, model.name, wanted, rev, document))

    return model.database.run(write, hot=[*model.named(wanted), *sources_in(inputs)]).result


def delete_one(model: Handle, wanted: dict[str, Any], rev: int | None, cascade: bool) -> DeleteResult:
    """Delete one document, and with ``cascade`` those that require it."""
    permission = Permission(model)
    storage, wanted = model.ready(), permission.limit(wanted)
    check_flag("hardCascade", cascade)
    exact = of_revision(permission.narrow(wanted), rev)

    def write(attempt: Attempt) -> dict[str, int] | None:
        with permission.veiled():
            counts = apply(storage, delete(attempt, model.schema, exact, cascade))
        return raise_if_stale(storage, model.name, wanted, rev, permission.changed(storage, wanted, counts))

    done = model.database.run(write, hot=model.named(wanted))
    if done.result is None:
        return DeleteResult(deletedCount=0, cascaded={})
    cascaded = dict(sorted((done.deleted + Counter(done.result)).items())) if permission.counts_holders else {}
    pending = {"pending": True} if done.pending and permission.counts_holders else {}
    return DeleteResult(deletedCount=1, cascaded=cascaded, **pending)


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither true nor false, for an argument of a client."""
    if not isinstance(value, bool):
        raise ValidationError({name: [messages.NO_BOOLEAN]})
