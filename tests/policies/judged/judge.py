"""What policies let a caller see, computed from raw documents without a line of the framework.

Definitions are the mappings that `new_model` takes, documents what the database holds, policies the keywords of
`gw.policy` with filters in place of functions (`judge_terms`), a caller ``{"role", "user"}``. Each method carries one
sentence of the specification; `tests.policies.judged.judged_writes` goes on with what a caller may change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, final

from tests.policies.judged.judge_terms import Link, copies_in, in_order, matches, named_in, values_at

#: The status of what policies refuse.
FORBIDDEN = 403


def once(method):
    """Answer the same question to a judge once: nothing that it knows changes."""

    @wraps(method)
    def answer(judge, *about):
        known, question = judge.answers, (method.__name__, *about)
        if question not in known:
            known[question] = method(judge, *about)
        return known[question]

    return answer


@final
@dataclass(frozen=True)
class Judge:
    """One caller before one state of the database, ``{model: {id: document}}``; ``links`` are those of each model."""

    definitions: dict[str, Any]
    links: dict[str, dict[str, Link]]
    policies: list[dict[str, Any]]
    documents: dict[str, dict[Any, dict[str, Any]]]
    caller: dict[str, Any]
    answers: dict[tuple[Any, ...], Any] = field(default_factory=dict, repr=False)

    # Whose.

    @cached_property
    def is_free(self) -> bool:
        """A ghost is never restricted."""
        return bool(self.caller["user"]) and self.caller["user"].get("isGhost") is True

    def names_caller(self, policy) -> bool:
        """`"*"` is every signed-in caller, with a role or without; None is nobody signed in."""
        if policy["roles"] == "*":
            return self.caller["user"] is not None
        role = self.caller["role"] if self.caller["user"] else None
        return role in policy["roles"] and (role is None) == (self.caller["user"] is None)

    def is_about(self, policy, model: str) -> bool:
        """`"*"` as a model stands for all that have what `needs` names."""
        if policy["models"] != "*":
            return model in policy["models"]
        names = {*self.definitions[model]["pure"], *self.links[model]}
        return names.issuperset(policy.get("needs", ()))

    @once
    def is_closed(self, model: str) -> bool:
        """A model that has a policy shows and takes nothing from callers whom none of its policies names.

        `roles="*"` restricts and never admits, unless with `admit=True`.
        """
        about = [] if self.is_free else [policy for policy in self.policies if self.is_about(policy, model)]
        admitting = [policy for policy in about if policy["roles"] != "*" or policy.get("admit")]
        return bool(about) and not any(map(self.names_caller, admitting))

    @once
    def joined(self, model: str) -> list[dict[str, Any]]:
        """All that apply are joined: return those that apply to this caller."""
        if self.is_free or self.is_closed(model):
            return []
        return [policy for policy in self.policies if self.is_about(policy, model) and self.names_caller(policy)]

    # Rows.

    @once
    def has_rows(self, model: str) -> bool:
        """Tell whether not every document of a model is there for the caller; a closed one has none."""
        return self.is_closed(model) or any("rows" in policy for policy in self.joined(model))

    @once
    def is_visible(self, model: str, id_) -> bool:
        """Rows are joined by `$and`; what they hide is not there."""
        document = self.documents[model].get(id_)
        if document is None or self.is_closed(model):
            return False
        return all(matches(document, policy["rows"]) for policy in self.joined(model) if "rows" in policy)

    # Fields.

    @once
    def hidden(self, model: str) -> set[str]:
        """Hidden names are united."""
        return {name for policy in self.joined(model) for name in policy.get("hide", ())}

    @once
    def hides(self, model: str, id_, name: str) -> bool:
        """**own** lists ids whose documents and copies show what `hide` hides, that of the same policy."""
        hiding = [policy for policy in self.joined(model) if name in policy.get("hide", ())]
        return any(id_ not in policy.get("own", ()) for policy in hiding)

    @once
    def may_name(self, model: str, name: str) -> bool:
        """A `get` may name a hidden field where every policy that hides it has an own list."""
        hiding = [policy for policy in self.joined(model) if name in policy.get("hide", ())]
        return all(policy.get("own") for policy in hiding)

    def refuses_get(self, model: str, get) -> bool:
        """A client's `get` that names a hidden name is 403, at any depth; `1` leaves it out."""
        links = self.links[model]
        for name, value in get.items():
            if value != 0 and not self.may_name(model, name):
                return True
            if name in links and isinstance(value, dict) and self.refuses_get(links[name].source, value):
                return True
        return False

    # Copies.

    def shows_copy(self, link: Link, copy) -> bool:
        """Copies of a model with rows are shown only where their document is visible, unless they are shared.

        Of a closed model not even shared copies are shown: it "shows nothing".
        """
        if self.is_closed(link.source):
            return False
        return link.shared or not self.has_rows(link.source) or self.is_visible(link.source, copy["_id"])

    def show(self, model: str, document, get) -> dict[str, Any]:
        """Return what a `get` shows of a stored document."""
        own = {name: value for name, value in {"_id": 1, **get}.items() if value == 1}
        return self._fields(model, document, own, frozenset()) | self._links(model, document, get, {})

    def _fields(self, model, document, names, excluded) -> dict[str, Any]:
        """`hide`: no path in any projection, at any depth, in any copy."""
        left_out = excluded | set(self.definitions[model].get("excludes", ()))
        known = ["_id", *(name for name in self.definitions[model]["pure"] if name not in left_out)]
        id_ = document["_id"]
        shown = [name for name in known if name in names and name in document and not self.hides(model, id_, name)]
        return {name: document[name] for name in shown}

    def _links(self, model, document, get, excluded) -> dict[str, Any]:
        """A relation whose copy is hidden is absent, a list lacks it."""
        shown: dict[str, Any] = {}
        for name, link in self.links[model].items():
            if get.get(name, 0) == 0 or not self.may_name(model, name):
                continue
            value = [] if self.hides(model, document.get("_id"), name) else copies_in(document, name)
            copies = [copy for copy in value if self.shows_copy(link, copy)]
            below = {**excluded, link.source: excluded.get(link.source, frozenset()) | link.excludes}
            copies = link.ordered(copies, self.hidden(link.source))
            parts = [self._part(link.source, copy, get[name], below) for copy in copies]
            if link.multiple:
                shown[name] = parts
            elif parts:
                shown[name] = parts[0]
        return shown

    def _part(self, model, copy, get, excluded) -> dict[str, Any]:
        """Shared is the copy alone, its deeper levels as ever: those of a visible document."""
        if get == 1:
            return self._fields(model, copy, {"_id", *self.definitions[model]["pure"]}, excluded[model])
        get = {name: value for name, value in get.items() if self.may_name(model, name)}
        if not any(value != 0 for value in get.values()) and get.get("_id") != 0:
            get = {"_id": 1}
        shown = self._fields(model, copy, {name for name, value in get.items() if value == 1}, excluded[model])
        there = self.documents[model][copy["_id"]] if self.is_visible(model, copy["_id"]) else {}
        return shown | self._links(model, there, get, excluded)

    # Requests that read. None stands for the refusal.

    def refuses_path(self, model: str, path: str, by_client: bool) -> bool:
        """A filter or sort that reaches a hidden name, also inside a copy, is 403.

        A client's through copies of a model with rows is 403 unless they are shared.
        """
        name, _, rest = path.partition(".")
        link = self.links[model].get(name)
        if link is None or name in self.hidden(model):
            return name in self.hidden(model)
        is_open = not self.has_rows(link.source) or (link.shared and not self.is_closed(link.source))
        return rest in self.hidden(link.source) or (by_client and not is_open)

    def refuses_paths(self, request, by_client: bool) -> bool:
        """Tell whether one of the names of a filter and a sort is refused."""
        paths = [*named_in(request.get("filter", [])), request.get("sort", "_id").lstrip("-")]
        return any(self.refuses_path(request["model"], path, by_client) for path in paths)

    def found(self, request) -> list[dict[str, Any]]:
        """The filter joins that of every read: return the documents that match and are there, in order."""
        model = request["model"]
        rows = [one for id_, one in self.documents[model].items() if self.is_visible(model, id_)]
        return in_order([one for one in rows if matches(one, request.get("filter", []))], request.get("sort", "_id"))

    def find(self, request):
        """Judge a `find` of server code with its own filter and sort, and the client's `get` or its own projection.

        A client's `get` that names a hidden name is 403; without `reveal=` a projection leaves it out.
        """
        if self.refuses_get(request["model"], request["get"]) or self.refuses_paths(request, by_client=False):
            return None
        rows = self.found(request)[request.get("skip", 0) :][: request.get("limit", 100)]
        get = request.get("projection", request["get"])
        get = self.everything(request["model"]) if get is None else get
        return [self.show(request["model"], row, get) for row in rows]

    def everything(self, model: str) -> dict[str, int]:
        """Return the projection that stands for all names."""
        return dict.fromkeys([*self.definitions[model]["pure"], *self.links[model]], 1)

    def page(self, request):
        """Judge a listing read to its end; its default sort counts as the client's."""
        if self.refuses_get(request["model"], request["get"]) or self.refuses_paths(request, by_client=True):
            return None
        rows = [self.show(request["model"], row, request["get"]) for row in self.found(request)]
        return {"rows": rows, "total": len(rows)}

    def count(self, request):
        """Counts are of what is there."""
        return None if self.refuses_paths(request, by_client=False) else len(self.found(request))

    def distinct(self, request):
        """`distinct` on a hidden name is refused; our choice: through copies of a model with rows, too."""
        model, path = request["model"], request["path"]
        if self.refuses_path(model, path, by_client=True) or self.refuses_paths(request, by_client=False):
            return None
        values = {value for row in self.found(request) for value in values_at(row, path)}
        return sorted(values, key=lambda value: (isinstance(value, str), value))

    # The whole of it.

    @cached_property
    def texts(self) -> set[str]:
        """Every unique text and id in the database, those of copies included."""
        found: set[str] = set()
        for documents in self.documents.values():
            for document in documents.values():
                copies = [copy for name in document for copy in copies_in(document, name) if isinstance(copy, dict)]
                found |= {str(value) for one in (document, *copies) for value in one.values()}
        return {text for text in found if text.startswith("<") or len(text) == 24}

    @once
    def knowable(self) -> set[str]:
        """Return every text and id that any reply may hold: of documents that are there, and of shared copies."""
        known: set[str] = set()
        for model, documents in self.documents.items():
            for id_, document in documents.items():
                if not self.is_visible(model, id_):
                    continue
                known |= self._texts(model, document)
                for name, link in self.links[model].items():
                    for copy in [] if self.hides(model, id_, name) else copies_in(document, name):
                        known |= self._texts(link.source, copy) if self.shows_copy(link, copy) else set()
        return known

    def _texts(self, model, document) -> set[str]:
        pure = self.definitions[model]["pure"]
        left_out = set(self.definitions[model].get("excludes", ()))
        names = ["_id", *(name for name in pure if name not in left_out)]
        shown = [name for name in names if name in document and not self.hides(model, document["_id"], name)]
        return {str(document[name]) for name in shown}
