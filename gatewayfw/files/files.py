"""The files of one gateway: documents about them, and a store of their bytes.

The bytes are stored before the document, and deleted after it. So a document always has its bytes, and what a crash
leaves are bytes without a document, which the sweep deletes.
"""

import hashlib
import logging
import os
import random
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, BinaryIO, NamedTuple, final

from gatewayfw import messages
from gatewayfw.acts.act import Act, ActDefinition, parse_act
from gatewayfw.acts.hooks import Hook, find_marks, find_order_problems
from gatewayfw.acts.registry import Acts
from gatewayfw.environment import is_development
from gatewayfw.errors import DefinitionError, Forbidden, GatewayError, NotFound, UsageError, ValidationError
from gatewayfw.files.links import LONGEST, SIGNATURE, Links, links_of
from gatewayfw.files.stores import GRACE, FileStore, new_key, origin_of
from gatewayfw.logs import traceback_of
from gatewayfw.odm import Model, Odm
from gatewayfw.schemas import integer, object_id, optional, string
from gatewayfw.schemas.kinds.file import UNKNOWN, Upload
from gatewayfw.schemas.values import id_of
from gatewayfw.spelling import MAIN
from gatewayfw.storage import Document

_LOG = logging.getLogger("gatewayfw.files")
#: What documents about files have; ``key`` is never shown, and missing where the bytes are elsewhere.
FIELDS: Mapping[str, Any] = {
    "name": string(size=(1, 255)),
    "type": string(size=(1, 255)),
    "size": integer(minimum=0),
    "sha256": optional(string(size=64)),
    "key": optional(string(size=40)),
}
_KEY = "key"
#: Keys that the sweep asks for at once.
_BATCH = 500


@final
@dataclass(frozen=True)
class StoredFile:
    """A file to be sent: what its document says, and its content, open and seekable."""

    name: str
    type: str
    size: int
    sha256: str
    content: BinaryIO


class _Defined(NamedTuple):
    """The model, and the acts that read a file: by link, and under its hooks, if any."""

    model: Model
    by_hooks: Act | None
    by_link: Act


@final
class Files:
    """Files of acts, stored; ``gw.files``."""

    def __init__(self, odm: Odm, acts: Acts) -> None:
        self._odm = odm
        self._acts = acts
        self._store: FileStore | None = None
        self._defined: _Defined | None = None
        self._due = 0.0
        self._base = ""

    def use(self, store: FileStore) -> None:
        """Keep the bytes of files in a store: `DirectoryFiles` or `GridFsFiles`."""
        if not isinstance(store, FileStore):
            raise DefinitionError(f"files.use: expected DirectoryFiles or GridFsFiles, not {type(store).__name__}")
        store.bind(lambda: self._odm.storage)
        self._store = store
        self._odm.schemas.note_change()

    def model(
        self,
        name: str = "file",
        pure_fields: Mapping[str, Any] | None = None,
        relations: Mapping[str, Any] | None = None,
        *,
        read: Sequence[Hook] = (),
        public: bool = False,
        limit: str | Sequence[str] | None = None,
    ) -> Model:
        """Define the model of documents about files, and who may read them.

        A gateway has at most one such model. Its fields are ``name type size sha256``, and those of ``pure_fields``.
        Other models embed its documents like any other; documents that `insert` did not write have no bytes here.
        ``read`` are the hooks of ``GET {base}/gateway/files/<id>``: they get a body whose ``set`` is ``{"_id": id}``.
        Without hooks only links open a file (`link`), unless ``public`` is true. ``limit`` is the rate limit of that
        route, as for acts.

        Raises:
            DefinitionError: there is one already, the name or a field is taken, or a hook is not valid or looks for
                the role in ``set``, which these requests do not have.
        """
        if self._defined is not None:
            raise DefinitionError(f"files.model: the model {self._defined.model.name!r} is defined already")
        own = dict(pure_fields or {})
        if taken := FIELDS.keys() & own.keys():
            raise DefinitionError(f"files.model: every file has the field {sorted(taken)[0]!r} of its own")
        if any(mark.role is not None and mark.role.place == "set" for mark in find_marks(read)):
            raise DefinitionError(
                "files.model: read: the role is looked for in set, which a request for a file does not have; "
                "use role_from=header(...) or cookie(...), or links"
            )
        definition = ActDefinition(
            schema=name,
            act_name="read",
            validator={"set": {"_id": object_id(of=name)}, "get": {}},
            fn=self._open_linked,
            limit=limit,
        )
        schemas, limits = self._odm.schemas, self._acts.limits
        by_link = parse_act(schemas, limits, replace(definition, public=True))
        under_hooks = replace(definition, fn=self._open_seen, pre_act=read, public=public)
        by_hooks = parse_act(schemas, limits, under_hooks) if read or public else None
        model = self._odm.new_model(
            name, {**FIELDS, **own}, relations, {"createIndex": {"indexSpec": {_KEY: 1}}, "excludes": [_KEY]}
        )
        self._odm.database.keep_bytes(name, _KEY, self._free, self._attend)
        self._defined = _Defined(model, by_hooks, by_link)
        return model

    def insert(
        self,
        upload: Upload,
        *,
        doc: Mapping[str, Any] | None = None,
        relations: Mapping[str, Any] | None = None,
        projection: Mapping[str, Any] | None = None,
    ) -> Document:
        """Store the bytes of an upload, then insert the document about it.

        Returns the document, projected. ``doc`` has the model's other fields, and may have another ``name``. The bytes
        are stored outside the transaction, and only once, however often it is repeated; another insert after the commit
        stores them again. For the errors of the document see `Model.insert_one`.

        Raises:
            UsageError: ``upload`` is not an `Upload`, or its content was changed.
            ValidationError: ``doc`` has a field that comes from the file.
            StorageError: the bytes could not be stored.
        """
        model = self._known.model
        if not isinstance(upload, Upload):
            raise UsageError(f"files.insert: expected an Upload, not {type(upload).__name__}")
        given = dict(doc or {})
        if fixed := sorted((FIELDS.keys() - {"name"}) & given.keys()):
            raise ValidationError({f"doc.{name}": [messages.OF_FILE] for name in fixed})
        facts = {"name": upload.name, "type": upload.type, "size": upload.size, "sha256": upload.sha256}
        whole = {**facts, **given, _KEY: self._keep(upload)}
        filled_in = [name for name in whole if name not in given]
        document = model.insert_one(whole, relations=relations, projection=projection, allow=filled_in)
        # The document owns the bytes now, and they may go with it: another insert stores its own.
        self._odm.after_commit(lambda: setattr(upload, "key", ""))
        return document

    def link(self, id: Any, seconds: int = 300) -> str:
        """Return a link with which anybody can open one file for ``seconds``.

        It is a path with a query, below the first mount: ``/gateway/files/<id>?until=...&signature=...``. It is not
        checked whether there is such a file, unless policies restrict the caller: then it must be there for them.

        Raises:
            NotFound: policies do not show the caller such a file.
            UsageError: outside development ``link_key`` is unset; there is no model; or an argument is wrong.
        """
        model = self._known.model
        id_ = id_of(id)
        if self._links is None:
            raise UsageError("files.link: set the setting 'link_key' to a secret of at least 32 bytes")
        if id_ is None:
            raise UsageError("files.link: expected the _id of a file")
        if type(seconds) is not int or not 0 < seconds <= LONGEST:
            raise UsageError(f"files.link: seconds must be a whole number from 1 to {LONGEST}")
        if model.is_restricted and not model.exists({"_id": id_}):
            raise NotFound(messages.NO_FILE_FOUND)
        base = self._base or "/gateway"
        if "<" in base:
            raise UsageError("files.link: the gateway's first url_prefix has a variable")
        return f"{base}/files/{id_}?{self._links.query(model.name, str(id_), int(time.time()) + seconds)}"

    def need_links(self) -> bool:
        """Tell whether there are files that only links open."""
        return self._defined is not None and self._defined.by_hooks is None

    def note_mount(self, path: str) -> None:
        """Take the path of a mount; links lead to the first."""
        self._base = self._base or path

    def sweep(self, seconds: float = GRACE, *, on_progress: Callable[[int], object] | None = None) -> int:
        """Delete bytes without a document that are older than so many seconds.

        Returns how many files these were; ``on_progress`` gets the number so far after each. Never give less time than
        a request may take, because its bytes are stored before its document.
        """
        if self._defined is None:
            return 0
        name, store, storage = self._defined.model.name, self._stored, self._odm.storage
        count, keys = 0, store.old(origin_of(storage.name, name), seconds)
        while batch := list(islice(keys, _BATCH)):
            for key in self._unused(batch):
                store.delete(key)
                count += 1
                if on_progress is not None:
                    on_progress(count)
        return count

    def find_act(self, id: str, query: Mapping[str, str]) -> tuple[Act, dict[str, Any]]:
        """Return the act that gives a `StoredFile` to a request, and the body it gets.

        Raises:
            NotFound: there are no files, the id is none, or only links open files.
            Forbidden: the link is forged, changed or expired.
        """
        id_, defined = id_of(id), self._defined
        if defined is None or id_ is None:
            raise NotFound(messages.NO_FILE_FOUND)
        model = defined.model.name
        if SIGNATURE in query:
            if self._links is None or not self._links.opens(model, str(id_), query, time.time()):
                raise Forbidden(messages.BAD_LINK)
            act: Act | None = defined.by_link
        else:
            act = defined.by_hooks
        if act is None:
            raise NotFound(messages.NO_FILE_FOUND)
        return act, {"service": MAIN, "model": model, "act": "read", "details": {"set": {"_id": str(id_)}, "get": {}}}

    @property
    def opened_model(self) -> str | None:
        """The model whose files its hooks open; None where only links open any."""
        return self._defined.model.name if self._defined is not None and self._defined.by_hooks is not None else None

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the definitions, in words."""
        if self._defined is not None:
            name = self._defined.model.name
            if self._store is None:
                yield f"no store for the files of {name!r}: call files.use(DirectoryFiles(path) or GridFsFiles())"
            if self._defined.by_hooks is not None:
                yield from (f"files.model: read: {one}" for one in find_order_problems(self._defined.by_hooks.pre_act))

    @cached_property
    def _links(self) -> Links | None:
        return links_of(self._odm.schemas.settings, in_development=is_development(os.environ))

    @property
    def _known(self) -> _Defined:
        if self._defined is None:
            raise UsageError("files: no model; call gw.files.model(...) first")
        return self._defined

    @property
    def _stored(self) -> FileStore:
        if self._store is None:
            raise UsageError("files: no store; call gw.files.use(...) first")
        return self._store

    def _keep(self, upload: Upload) -> str:
        """Store the bytes of an upload, unless they are, and return their key."""
        if not upload.key:
            store, key = self._stored, new_key(origin_of(self._odm.storage.name, self._known.model.name))
            upload.stream.seek(0)
            digest = hashlib.file_digest(upload.stream, "sha256")  # type: ignore[arg-type]  # a `BinaryIO`
            if digest.hexdigest() != upload.sha256:
                raise UsageError("files.insert: the content of the upload was changed")
            upload.stream.seek(0)
            store.put(key, upload.stream, upload.size)
            upload.stream.seek(0)
            upload.key = key
        return upload.key

    def _open_seen(self, body: Mapping[str, Any]) -> StoredFile:
        """Open a file whose document is there for the caller, without a hidden name."""
        model = self._known.model
        if not model.is_restricted:
            return self._open_linked(body)
        seen = model.find_one({"_id": body["details"]["set"]["_id"]}, projection={"name": 1, "type": 1})
        if seen is None:
            raise NotFound(messages.NO_FILE_FOUND)
        return replace(self._open_linked(body), name=seen.get("name", "file"), type=seen.get("type", UNKNOWN))

    def _open_linked(self, body: Mapping[str, Any]) -> StoredFile:
        wanted = {"_id": body["details"]["set"]["_id"], _KEY: {"$exists": True}}
        model = self._known.model.unrestricted
        found = model.find_one(wanted, projection=dict.fromkeys(FIELDS, 1), reveal=[_KEY])
        if found is None:
            raise NotFound(messages.NO_FILE_FOUND)
        content = self._stored.open(found[_KEY], found["size"])
        if content is None:
            _LOG.error("the bytes of the file %s are missing", found["_id"])
            raise NotFound(messages.NO_FILE_FOUND)
        return StoredFile(found["name"], found["type"], found["size"], found["sha256"], content)

    def _unused(self, keys: Collection[str]) -> list[str]:
        found = self._odm.storage.find(self._known.model.name, {_KEY: {"$in": list(keys)}}, [_KEY])
        values = [one[_KEY] for one in found]
        used = {key for one in values for key in (one if isinstance(one, list) else [one]) if isinstance(key, str)}
        return [key for key in keys if key not in used]

    def _free(self, keys: Collection[str]) -> None:
        """Delete the bytes of deleted documents; what fails is left to the sweep."""
        try:
            for key in self._unused(keys):
                self._stored.delete(key)
        except GatewayError as error:
            _LOG.warning("the bytes of deleted files are left to the sweep: %s", type(error).__name__)

    def _attend(self) -> None:
        """Sweep about once in an hour; the thread of the jobs calls it."""
        now = time.monotonic()
        if self._store is None or now < self._due:
            return
        is_first = self._due == 0.0
        self._due = now + GRACE * random.uniform(0.5, 1.5)  # noqa: S311  (so that workers do not all sweep at once)
        if is_first:
            return
        try:
            self.sweep()
        except GatewayError as error:
            _LOG.warning("the sweep of files failed\n%s", traceback_of(error))
