"""What `get` becomes: the paths to read, and the names to show. Pure.

`compile_projection` turns a `get` into flat dotted paths with value 1, the only thing a driver
ever sees of it. `gatewayfw.odm.reading.shapes` then builds the reply. Relations of what a
relation shows are in no copy: their part of the plan is `LinkShape.below`, which
`gatewayfw.odm.reading.deep` reads from the documents that were copied.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, final

from gatewayfw import messages
from gatewayfw.errors import ValidationError
from gatewayfw.odm.hidden import REVISION
from gatewayfw.odm.reading.viewer import Viewer
from gatewayfw.schemas import ModelSchema, Relation, Schemas, Sort
from gatewayfw.schemas.get import bounds_problem, is_flag
from gatewayfw.schemas.models import Link, copied_model
from gatewayfw.schemas.paths import Collected, below
from gatewayfw.schemas.relations import REV

#: Model, revealed fields, the role of a restricted caller, and the bytes of a `get`.
_Key = tuple[str, tuple[str, ...], tuple[str | None] | None, bytes]

_TOP = "get"
#: Compiled projections that are kept, and how many paths one of them may have: at most about 2.5 MB.
KEPT, KEPT_PATHS = 256, 64


@dataclass(frozen=True)
class LinkShape:
    """What is shown of one relation or reverse relation.

    Attributes:
        names: what of each copy, in order: `_id` and pure fields.
        sort: the order in which a main list is read.
        model: the model that is copied.
        loaded: the names whose values Python has in another form than the database.
        below: what is shown of the relations of the copied documents; None for nothing.
        owned: the names that only copies of the caller's own documents show.
        guarded: whether copies are shown only where their document is there for the caller.
    """

    multiple: bool
    names: tuple[str, ...]
    sort: Sort | None
    model: str
    below: Projection | None = None
    loaded: frozenset[str] = frozenset()
    owned: frozenset[str] = frozenset()
    guarded: bool = False


@dataclass(frozen=True)
class Projection:
    """A compiled `get`: the paths to read, and what to show of the result, in order.

    Attributes:
        deeper: the links below which other documents must be read, with what is shown of these.
        size: the number of paths, those on all levels below included.
        queries: the number of queries that all levels below take for a batch of documents.
        loaded: the names whose values Python has in another form than the database.
        exact: whether all that the paths bring is shown, in the order in which it is stored.
        amended: whether each document differs from what is read by its `_id` or by values that Python has otherwise.
        revision: whether the revision is shown, which is stored under another name.
        model: whose documents these are.
        owned: the names that only the caller's own documents show.
        screened: whether policies decide, document by document, what is shown at some level.
        viewer: the caller whom they are about, once it is known; None if nothing is screened.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    links: Mapping[str, LinkShape]
    deeper: tuple[tuple[str, LinkShape, Projection], ...]
    size: int
    queries: int
    loaded: frozenset[str]
    exact: bool = False
    amended: bool = False
    revision: bool = False
    model: str = ""
    owned: frozenset[str] = frozenset()
    screened: bool = False
    viewer: Viewer | None = None


def source_of(schemas: Schemas, link: Link) -> ModelSchema:
    """Return the model whose documents a relation or reverse relation copies."""
    return schemas.get_schema(copied_model(link))


def copied_fields(schemas: Schemas, link: Link) -> tuple[str, ...]:
    """Return the pure fields of the copies that a relation or reverse relation holds."""
    return source_of(schemas, link).copy_fields(link.excludes)


@final
class Projections:
    """The compiled projections of one gateway.

    Those of small gets are kept: compiling one takes 30 us, finding it 1. Clients choose what is
    kept, so there is a bound; when it is reached, all are dropped. Safe to share between threads.
    """

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._known: tuple[int, dict[_Key, Projection]] = (schemas.version, {})

    def compiled(
        self,
        schema: ModelSchema,
        get: Mapping[str, Any] | None,
        reveal: tuple[str, ...] = (),
        viewer: Viewer | None = None,
    ) -> Projection:
        """Return the projection of a `get`, as `compile_projection` does."""
        found = self._found(schema, get, reveal, viewer)
        return replace(found, viewer=viewer) if found.screened else found

    def _found(
        self, schema: ModelSchema, get: Mapping[str, Any] | None, reveal: tuple[str, ...], viewer: Viewer | None
    ) -> Projection:
        try:
            # Exact types only, all told apart, order included; version 0 gives equal values equal bytes.
            role = None if viewer is None else (viewer.caller.role,)
            key = (schema.name, reveal, role, marshal.dumps(cast("Any", get), 0))
        except ValueError:  # something else, or too deep
            return compile_projection(self._schemas, schema, get, reveal, viewer)
        version, known = self._known
        if version != self._schemas.version:
            version, known = self._known = (self._schemas.version, {})
        found = known.get(key)
        if found is None:
            found = compile_projection(self._schemas, schema, get, reveal, viewer)
            if found.size <= KEPT_PATHS and version == self._schemas.version:
                if len(known) >= KEPT:
                    known.clear()
                known[key] = found
        return found


def compile_projection(
    schemas: Schemas,
    schema: ModelSchema,
    get: Mapping[str, Any] | None,
    reveal: tuple[str, ...] = (),
    viewer: Viewer | None = None,
) -> Projection:
    """Compile a `get` for documents of a model.

    None means everything visible. Excluded fields are dropped unless ``reveal`` names them. What
    a link excludes is dropped from the copies it shows and, of the same model, from everything
    below them (our choice), so that no detour shows what the way itself hides. What policies hide
    from the role of ``viewer`` is dropped, too; what they decide by document is noted.

    Raises:
        ValidationError: an unknown name, a value other than 1, 0 or an object below a relation,
            too deep, too many fields, or too many queries for what lies below the copies.
    """
    hidden = schema.options.excludes.difference(reveal)
    visible = tuple(name for name in schema.pure if name not in hidden) if reveal else schema.copy_fields()
    if get is None:
        get = dict.fromkeys([*visible, *schemas.links(schema.name)], 1)
    problem = bounds_problem(get, schemas.settings) if isinstance(get, Mapping) else messages.NO_OBJECT
    if problem:
        raise ValidationError({"get": [problem]})
    compiler = _Compiler(schemas, viewer, reveal)
    named, links = compiler.level(schema, get, _TOP, {})
    if compiler.errors.errors:
        raise ValidationError(compiler.errors.errors)
    own = ["_id"] if get.get("_id", 1) == 1 else []
    names = [*own, *(name for name in named if name in links or name in visible or name == REV)]
    hides = compiler.hides(schema.name, _TOP)
    owned = frozenset(name for name in names if name in hides)
    projection, most = _projection(schema, names, links, owned), schemas.settings.max_get_queries
    if projection.queries > most:
        raise ValidationError({"get": [messages.TOO_MANY_RELATIONS.format(max=most)]})
    revision = REV in names
    plain = not projection.deeper and not revision and not projection.screened
    exact = plain and all(link.names and link.sort is None for link in links.values())
    amended = not own or bool(projection.loaded) or any(link.loaded for link in links.values())
    return replace(projection, exact=exact, amended=amended, revision=revision)


class _Compiler:
    """One compilation; it gathers what is refused on all levels."""

    def __init__(self, schemas: Schemas, viewer: Viewer | None, reveal: Sequence[str]) -> None:
        self._schemas = schemas
        self._viewer = viewer
        self._revealed = {below(_TOP, name) for name in reveal}
        self.errors = Collected()

    def hides(self, model: str, path: str) -> dict[str, bool]:
        """Return the hidden names at a path, each with whether own documents show it."""
        found = {} if self._viewer is None else self._viewer.hides(model)
        return {name: bool(owns) for name, owns in found.items() if below(path, name) not in self._revealed}

    def level(
        self, schema: ModelSchema, get: Mapping[str, Any], path: str, hidden: Mapping[str, frozenset[str]]
    ) -> tuple[list[str], dict[str, LinkShape]]:
        """Return the names one level asks for, in order, and what links show.

        ``hidden``: what the links above exclude, by model.
        """
        links, hides = self._schemas.links(schema.name), self.hides(schema.name, path)
        named: list[str] = []
        shapes: dict[str, LinkShape] = {}
        for name, value in get.items():
            if hides.get(name) is False:
                continue
            if name == "_id" or name in schema.pure or (name == REV and path == _TOP):
                if not is_flag(value):
                    self.errors.add(below(path, name), messages.NO_FLAG)
                elif value == 1:
                    named.append(name)
            elif name == REV and path != _TOP:
                self.errors.add(below(path, name), messages.NO_REVISION_OF_COPY)
            elif name not in links:
                self.errors.add(below(path, name), messages.UNKNOWN)
            elif (found := self._link(links[name], value, below(path, name), hidden)) is not None:
                named.append(name)
                shapes[name] = found
        return named, shapes

    def _link(self, link: Link, value: object, path: str, hidden: Mapping[str, frozenset[str]]) -> LinkShape | None:
        source = source_of(self._schemas, link)
        hides = self.hides(source.name, path)
        never = frozenset(name for name, is_shown in hides.items() if not is_shown)
        excludes = link.excludes | hidden.get(source.name, frozenset()) | never
        copied = source.copy_fields(excludes)
        multiple, sort = link.type == "multiple", link.sort if isinstance(link, Relation) else None
        if link.sort is not None and link.sort.field in hides:
            sort = Sort("_id", "asc")  # the order of a hidden field would tell of it
        has_rows = self._viewer is not None and self._viewer.has_rows(source.name)
        guarded = self._viewer is not None and not self._viewer.shows_all(link)
        links: dict[str, LinkShape] = {}
        if not isinstance(value, Mapping):
            if not is_flag(value):
                self.errors.add(path, messages.NO_LINK_VALUE)
            if value != 1:
                return None
            named = ["_id", *copied]
        else:
            named, links = self.level(source, value, path, {**hidden, source.name: excludes})
            if not named and value.get("_id") != 0:
                named = ["_id"]
        names = tuple(name for name in named if name == "_id" or name in copied)
        owned = frozenset(name for name in names if name in hides)
        own_links = frozenset(name for name in links if name in hides)
        deeper = _projection(source, list(links), links, own_links, has_rows=has_rows) if links else None
        loaded = source.read_otherwise & set(names)
        return LinkShape(multiple, names, sort, source.name, deeper, loaded, owned, guarded)


def _projection(
    schema: ModelSchema,
    names: list[str],
    links: Mapping[str, LinkShape],
    owned: frozenset[str] = frozenset(),
    *,
    has_rows: bool = False,
) -> Projection:
    """Return the projection of one level.

    ``has_rows`` says that policies limit its query.
    """
    paths = [path for name in names for path in _paths(name, links.get(name))]
    deeper = tuple((name, link, link.below) for name, link in links.items() if link.below is not None)
    size = len(paths) + sum(inner.size for _, _, inner in deeper)
    queries = sum(1 + inner.queries for _, _, inner in deeper)
    loaded = schema.read_otherwise & set(names)
    screened = has_rows or bool(owned) or any(map(_is_screened, links.values()))
    shown = Projection(tuple(paths), tuple(names), links, deeper, size, queries, loaded)
    return replace(shown, model=schema.name, owned=owned, screened=screened)


def _is_screened(link: LinkShape) -> bool:
    return link.guarded or bool(link.owned) or (link.below is not None and link.below.screened)


def _paths(name: str, link: LinkShape | None) -> Iterable[str]:
    if link is None:
        return (REVISION if name == REV else name,)
    needs_id = link.below is not None or link.guarded or link.owned or not link.names
    shown = ("_id", *link.names) if needs_id else link.names
    sorting = () if link.sort is None else (link.sort.field,)
    return [f"{name}.{one}" for one in dict.fromkeys((*shown, *sorting))]
