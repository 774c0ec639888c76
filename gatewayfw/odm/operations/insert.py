"""Insert documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatewayfw.odm.operations.handle import Get, Handle
from gatewayfw.odm.reading.deep import show
from gatewayfw.odm.writing.apply import apply
from gatewayfw.odm.writing.new_documents import NewDocument, parse_document
from gatewayfw.odm.writing.plan.insert import insert
from gatewayfw.odm.writing.relation_input import parse_new_inputs, sources_in
from gatewayfw.storage import Document


def insert_documents(
    model: Handle,
    docs: Sequence[Mapping[str, Any]],
    relations: Sequence[Mapping[str, Any] | None],
    get: Get | None,
    where: Sequence[str],
) -> list[Document]:
    """Insert all documents or none, and return them projected, in order.

    ``relations`` has one object for all, or one for each; ``where`` has the place of each document in the input.
    """
    storage = model.ready()
    projection = model.compile(get)
    if not docs:
        return []
    inputs = parse_new_inputs(model.schema, relations, len(docs), model.schemas.settings.insert_copies)
    new: list[NewDocument] = []
    for doc, given, place in zip(docs, inputs, where, strict=True):
        if new:
            storage.check_deadline()
        new.append(parse_document(model.schema, doc, given, model.allowance, place))
    done = model.database.run(
        lambda attempt: show(storage, projection, apply(storage, insert(attempt, model.schema, new))),
        proof=(model.name, new[0].proof()),
        hot=[target for one in new for target in sources_in(one.inputs)],
    )
    return done.result
