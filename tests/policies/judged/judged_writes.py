"""What policies let a caller change: the refusals of one write, in the order in which they may be noticed."""

from __future__ import annotations

from collections.abc import Iterator

from tests.policies.judged.judge import FORBIDDEN, Judge
from tests.policies.judged.judge_terms import copies_in, matches

#: No document matched: null, or 0 of a delete or a bulk change.
NO_MATCH = "no match"
MISSING, CONFLICT = 404, 409


def refusals(judge: Judge, write) -> list[int | str]:
    """Return what a write is refused with: nothing, one answer, or several of which it gets any.

    An answer in the first place that is alone says that nothing was read before.
    """
    at_once = refuses_get(judge, write) or is_not_writable(judge, write) or names_forbidden(judge, write)
    if at_once:
        return [FORBIDDEN]
    judged = [outside_rows, outside_write, new_ids, taken, embedded, left_outside]
    return [answer for rule in judged for answer in rule(judge, write)]


def refuses_get(judge, write) -> bool:
    """A client's `get` is judged before `fn`."""
    return judge.refuses_get(write["model"], write.get("get", {}))


def is_not_writable(judge, write) -> bool:
    """`write=False` is 403 before anything is read; a closed model takes nothing: 403 on writes."""
    model = write["model"]
    return judge.is_closed(model) or any(policy.get("write") is False for policy in judge.joined(model))


def names_forbidden(judge, write) -> bool:
    """A write that names a fixed or hidden name is 403, whatever the value; so is a filter with a hidden one."""
    model = write["model"]
    fixed = {name for policy in judge.joined(model) for name in policy.get("fixed", ())}
    named = {*write.get("set", {}), *write.get("inc", {}), *write.get("unset", ()), *write.get("relations", {})}
    return not named.isdisjoint(fixed | judge.hidden(model)) or judge.refuses_paths(write, by_client=False)


def targets(judge, write) -> list:
    """Return the ids of the visible documents that a write is about."""
    there = [id_ for id_ in write.get("ids", []) if judge.is_visible(write["model"], id_)]
    return [id_ for id_ in there if matches(judge.documents[write["model"]][id_], write.get("filter", []))]


def outside_rows(judge, write):
    """Invisible: no match. An upsert then inserts, which the `_id` of a document or a frozen copy refuses."""
    if write["op"] == "insert" or targets(judge, write):
        return []
    if write["op"] != "upsert":
        return [NO_MATCH]
    [id_] = write["ids"]
    is_there = id_ in judge.documents[write["model"]] or any(holders(judge, write["model"], {id_}, frozen=True))
    return [CONFLICT] if is_there else []


def outside_write(judge, write):
    """`write=` a filter of what may be changed: visible but outside it: 403."""
    model = write["model"]
    filters = [one["write"] for one in judge.joined(model) if not isinstance(one.get("write", True), bool)]
    documents = [judge.documents[model][id_] for id_ in targets(judge, write)]
    return [FORBIDDEN for one in documents if not all(matches(one, filter_) for filter_ in filters)][:1]


def new_ids(judge, write):
    """Every id newly named in a relation must be visible, else the error of a missing document.

    Of ids that are related already only those of shared copies need not be: naming one would tell that it is related.
    A frozen copy may stay and may go without its document, if it is shown; taken anew, it would show what that is now.
    """
    for name, ids in write.get("relations", {}).items():
        link = judge.links[write["model"]][name]
        old = {id_ for one in targets(judge, write) for id_ in related(judge.documents[write["model"]][one], name)}
        shown = {id_ for id_ in old if judge.shows_copy(link, {"_id": id_})}
        is_frozen = judge.definitions[write["model"]]["relations"][name].get("frozen", False)
        stays = write["op"] == "remove" or (is_frozen and write.get("replace", False))
        there = judge.documents[link.source]
        known = {id_ for id_ in shown if stays or (id_ in there and not is_frozen)}
        if not all(id_ in known or judge.is_visible(link.source, id_) for id_ in ids):
            return [MISSING]
    return []


def related(document, name) -> list:
    """Return the ids in a relation of a stored document."""
    return [copy["_id"] for copy in copies_in(document, name)]


def taken(judge, write):
    """A `single` relation that is present can only be replaced; the frozen copies of a gone document keep its id."""
    if write["op"] != "add" or write.get("replace"):
        return []
    relations = judge.definitions[write["model"]]["relations"]
    single = [name for name in write["relations"] if relations[name]["type"] == "single"]
    documents = [judge.documents[write["model"]][id_] for id_ in targets(judge, write)]
    return [CONFLICT for one in documents for name in single if related(one, name)]


def embedded(judge, write):
    """Deleting what others embed is a conflict, unless the cascade deletes what the caller could not.

    What goes too, itself included, is in nobody's way.
    """
    if write["op"] not in ("delete", "delete_many") or write.get("cascade"):
        return []
    gone, model = set(targets(judge, write)), write["model"]
    held = holders(judge, model, gone, frozen=False)
    return [CONFLICT for other, id_ in held if other != model or id_ not in gone][:1]


def holders(judge, model, ids, frozen) -> Iterator:
    """Yield model and id of each document with a copy of one of these, in a frozen relation or another."""
    for other, definition in judge.definitions.items():
        for name, relation in definition["relations"].items():
            if relation["schemaName"] == model and relation.get("frozen", False) == frozen:
                documents = judge.documents[other].items()
                yield from ((other, id_) for id_, document in documents if ids.intersection(related(document, name)))


def left_outside(judge, write):
    """`check=` a filter of what a write may leave; the default is `write`'s, else `rows`'."""
    if write["op"].startswith("delete"):
        return []
    wanted = [check for policy in judge.joined(write["model"]) if (check := check_of(policy)) is not EVERYTHING]
    return [FORBIDDEN for one in changed(judge, write) if not all(matches(one, check) for check in wanted)][:1]


EVERYTHING: list = []


def check_of(policy):
    """Return the filter of what may be left."""
    if "check" in policy:
        return policy["check"]
    if not isinstance(policy.get("write", True), bool):
        return policy["write"]
    return policy.get("rows", EVERYTHING)


def changed(judge, write) -> list:
    """Return the documents that a write leaves, as far as filters of policies can ask."""
    model = write["model"]
    before = [judge.documents[model][id_] for id_ in targets(judge, write)]
    if write["op"] == "insert" or (write["op"] == "upsert" and not before):
        before = [{"_id": None, "d": "default"}]
    return [_changed(judge, write, document) for document in before]


def _changed(judge, write, document):
    after = {**document, **write.get("set", {})}
    for name, more in write.get("inc", {}).items():
        after[name] = after.get(name, 0) + more
    for name, ids in write.get("relations", {}).items():
        kept = [] if write.get("replace") else related(document, name)
        kept = [id_ for id_ in related(document, name) if id_ not in ids] if write["op"] == "remove" else [*kept, *ids]
        after[name] = [{"_id": id_} for id_ in kept]
    return {name: value for name, value in after.items() if name not in write.get("unset", ())}
