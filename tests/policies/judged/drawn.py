"""What hypothesis draws: definitions, documents full of unique texts, policies, callers and requests."""

from __future__ import annotations

from typing import Any

from bson import ObjectId
from hypothesis import strategies as st

from tests.policies.judged.judge_terms import links_of
from tests.policies.judged.service import ME

FIELDS = ("a", "b", "c", "owner", "rank", "d")
KEYS = ("k0", "k1")
OPERATIONS = ("find", "find", "find", "find_one", "page", "count", "exists", "distinct")
WRITES = (
    "upsert",
    "upsert",
    "insert",
    "update",
    "upsert",
    "add",
    "add",
    "remove",
    "delete",
    "update_many",
    "delete_many",
)


def marker(model, number, field, version=0):
    """Return the text that only this field of this document has ever had."""
    return f"<{model}-{number}-{field}-{version}>"


@st.composite
def worlds(draw, policies=None):
    """Draw definitions, documents, what is changed of these later, and policies, by default of every kind."""
    names = [f"m{number}" for number in range(draw(st.sampled_from([2, 2, 2, 3, 3, 4])))]
    definitions = {name: draw(models()) for name in names}
    for number in range(draw(st.integers(1, len(names) + 1))):
        at = draw(st.integers(0, len(names) - 1))
        to = draw(st.integers(0, len(names) - 1))
        definitions[names[at]]["relations"][f"r{number}"] = draw(relations(names[to], number, may_require=to < at))
    for name in names:
        single = [one for one, relation in definitions[name]["relations"].items() if relation["type"] == "single"]
        paths = ["_id", "rank", "a", *(f"{one}.a" for one in single if _copies(definitions, name, one, "a"))]
        definitions[name]["default_sort"] = draw(st.sampled_from(["", "-"])) + draw(st.sampled_from(paths))
    documents = [one for name in names for one in draw(documents_of(name, names, definitions))]
    later = draw(st.lists(changes(names), max_size=2))
    kind, most = policies or policies_of, 5 if policies is None else 2
    drawn = draw(st.lists(kind(names, definitions), min_size=1, max_size=most))
    return {"definitions": definitions, "documents": documents, "later": later, "policies": drawn}


def _copies(definitions, model, relation, field):
    declared = definitions[model]["relations"][relation]
    left_out = {*declared["excludes"], *definitions[declared["schemaName"]]["excludes"]}
    return field not in left_out


@st.composite
def models(draw):
    """Draw a model without relations."""
    pure = [name for name in FIELDS if name != "owner" or draw(st.integers(0, 3))]
    excludes = draw(st.sampled_from([[], [], [], ["c"]]))
    return {"pure": pure, "excludes": excludes, "relations": {}}


@st.composite
def relations(draw, to, number, may_require):
    """Draw a relation with up to two reverse relations."""
    reverses = {}
    for name in (f"v{number}", f"w{number}")[: draw(st.integers(0, 2))]:
        reverses[name] = {"type": draw(st.sampled_from(["multiple", "multiple", "single"])), "default": True}
        reverses[name] |= draw(_shared())
        if reverses[name]["type"] == "multiple":
            order = draw(st.sampled_from(["asc", "desc"]))
            reverses[name]["limit"] = draw(st.integers(1, 3))
            reverses[name]["sort"] = {"field": draw(st.sampled_from(["rank", "rank", "_id"])), "order": order}
    kind = draw(st.sampled_from(["single", "multiple", "multiple"]))
    sorts = [{}, {"sort": {"field": "rank", "order": "desc"}}, {"sort": {"field": "a", "order": "desc"}}]
    return {
        "schemaName": to,
        "type": kind,
        **(draw(st.sampled_from(sorts)) if kind == "multiple" else {}),
        "optional": not (may_require and draw(st.booleans())),
        "frozen": draw(st.sampled_from([False, False, True])),
        "excludes": draw(st.sampled_from([[], [], ["b"]])),
        "relatedRelations": reverses,
        **draw(_shared()),
    }


def _shared():
    return st.sampled_from([{}, {}, {"shared": True}])


@st.composite
def documents_of(draw, model, names, definitions):
    """Draw the documents of a model, related to what was inserted before."""
    drawn = []
    for number in range(draw(st.integers(2, 3))):
        # A missing field that an index covers is read as null by MongoDB: a has indexes, and is always there.
        fields = {
            name: marker(model, number, name) for name in ("a", "b", "c") if name == "a" or draw(st.integers(0, 4))
        }
        fields["rank"] = draw(st.integers(0, 3))
        if "owner" in definitions[model]["pure"]:
            fields["owner"] = draw(st.sampled_from(KEYS))
        links = {}
        for name, relation in definitions[model]["relations"].items():
            to = relation["schemaName"]
            there = number if to == model else 2 if names.index(to) < names.index(model) else 0
            least = 0 if relation["optional"] else 1
            most = min(there, 1 if relation["type"] == "single" else 2)
            least = draw(st.sampled_from([least, most]))
            chosen = (
                draw(st.lists(st.integers(0, there - 1), min_size=least, max_size=most, unique=True)) if most else []
            )
            if chosen:
                links[name] = [(to, one) for one in chosen]
        drawn.append((model, fields, links))
    return drawn


@st.composite
def changes(draw, names):
    """Draw a later change: of a text, or a deletion if nothing but frozen copies is in the way."""
    model, number = draw(st.sampled_from(names)), draw(st.integers(0, 1))
    return (model, number, draw(st.sampled_from([None, {"b": marker(model, number, "b", 1)}])))


@st.composite
def filters_of(draw, model, definitions):
    """Draw the rows of a policy for one model, or for all that have an owner."""
    own = definitions[model]["relations"]
    paths = ["rank", "a", *(["owner", "owner"] if "owner" in definitions[model]["pure"] else []), *own]
    path = draw(st.sampled_from(paths))
    if path in own:
        return [(f"{path}._id", "in", [(own[path]["schemaName"], draw(st.integers(0, 1)))])]
    if path == "rank":
        return [("rank", "gte", draw(st.integers(0, 2)))]
    if path == "owner":
        return [("owner", "eq", draw(st.sampled_from([ME, ME, "k0"])))]
    return [("a", "in", [marker(model, number, "a") for number in draw(st.sets(st.integers(0, 2), min_size=1))])]


@st.composite
def policies_of(draw, names, definitions):
    """Draw a policy."""
    model = draw(st.sampled_from(names))
    policy = {"models": [model], "roles": draw(st.sampled_from(["*", ["A"], ["B"], ["A", "B"], [None], ["A", None]]))}
    if policy["roles"] == "*":
        policy["admit"] = draw(st.booleans())
    own_filter = filters_of(model, definitions)
    has_owner = any("owner" in one["pure"] for one in definitions.values())
    if has_owner and draw(st.integers(0, 4)) == 0:
        policy |= {"models": "*", "needs": ["owner"]}
        own_filter = st.sampled_from([[("owner", "eq", ME)], [("rank", "gte", 1)]])
    if draw(st.booleans()):
        policy["rows"] = None if draw(st.integers(0, 5)) == 5 else draw(own_filter)
    about_all = policy["models"] == "*"
    if draw(st.booleans()):
        links = [] if about_all else sorted(links_of(definitions, model))
        names_of = st.sampled_from(["a", "b", "c", "rank", *links])
        policy["hide"] = draw(st.lists(names_of, min_size=1, max_size=2, unique=True))
        if draw(st.integers(0, 2)) == 0:
            policy["own"] = [(model, draw(st.integers(0, 1)))]
    if draw(st.integers(0, 2)) == 0:
        main = [] if about_all else sorted(definitions[model]["relations"])
        policy["fixed"] = draw(
            st.lists(st.sampled_from(["b", "d", "rank", *main]), min_size=1, max_size=2, unique=True)
        )
    if draw(st.integers(0, 2)) == 0:
        policy["write"] = draw(st.just(False) | own_filter)
    if policy.get("write") is not False and draw(st.integers(0, 3)) == 0:
        policy["check"] = draw(own_filter)
    return policy


@st.composite
def limits_of(draw, names, definitions):
    """Draw a policy that lets one role write, within limits."""
    model = draw(st.sampled_from(names))
    policy = {"models": [model], "roles": ["A"]}
    for key in draw(st.sampled_from([("rows",), ("rows",), ("write",), ("rows", "write"), ("rows", "check")])):
        policy[key] = draw(filters_of(model, definitions))
    if draw(st.integers(0, 4)) == 0:
        policy["fixed"] = [draw(st.sampled_from(["b", "d"]))]
    return policy


@st.composite
def hidings_of(draw, names, definitions):
    """Draw a policy that only hides names from one role."""
    model = draw(st.sampled_from(names))
    links = [link for name in names for link in links_of(definitions, name).values() if link.source == model]
    orders = [link.sort.lstrip("-") for link in links if link.sort.lstrip("-") not in ("", "_id")]
    hidden = st.sampled_from(["rank", "a", "b", *sorted(links_of(definitions, model))])
    hide = draw(st.lists(hidden, min_size=1, max_size=2, unique=True))
    more = draw(st.sampled_from(orders)) if orders else "c"  # an order would tell of it
    return {"models": [model], "roles": ["A"], "hide": sorted({*hide, more})}


def hidden_names(world) -> dict[str, set[str]]:
    """Return the names that policies hide from somebody, by model."""
    policies = [policy for policy in world["policies"] if "hide" in policy]
    return {
        model: {name for one in policies if one["models"] in ("*", [model]) for name in one["hide"]}
        for model in world["definitions"]
    }


#: Three roles, one of which no policy names, no role, nobody, and a ghost with the least role.
KINDS_OF_CALLERS = ("A", "B", "C", "none", "nobody", "ghost")


@st.composite
def callers(draw, world):
    """Draw who calls: anybody, but more often one whom a policy names."""
    named = [role or "nobody" for one in world["policies"] if one["roles"] != "*" for role in one["roles"]]
    key, kind = draw(st.sampled_from(KEYS)), draw(st.sampled_from([*KINDS_OF_CALLERS, *named, *named]))
    role = kind if kind in ("A", "B", "C") else "C" if kind == "ghost" else None
    user = None if kind == "nobody" else {"_id": key * 12, "key": key, "isGhost": kind == "ghost"}
    return {"role": role, "user": user}


@st.composite
def gets(draw, model, definitions, depth=3, avoided=None):
    """Draw what a client asks for; ``avoided`` are names, by model, that would be refused."""
    left_out = (avoided or {}).get(model, set())
    names = st.sampled_from([name for name in definitions[model]["pure"] if name not in left_out])
    get = dict.fromkeys(draw(st.lists(names, max_size=2, unique=True)), 1)
    links = links_of(definitions, model)
    if shown := sorted(set(links) - left_out):
        for name in draw(st.lists(st.sampled_from(shown), min_size=depth // 2, max_size=2, unique=True)):
            deeper = draw(st.integers(0, 4 if depth > 1 else 2))
            below = gets(links[name].source, definitions, depth - 1, avoided)
            get[name] = draw(below) if deeper > 2 else [1, 1, {}][deeper]
    return get


@st.composite
def requests(draw, world, operations=OPERATIONS):
    """Draw a request that reads; of the names that it asks for the client gives some, and the server's code others."""
    definitions = world["definitions"]
    aimed = [
        name
        for name in definitions
        if any(hidden_names(world)[one.source] for one in links_of(definitions, name).values())
    ]
    model, operation = draw(st.sampled_from([*definitions, *aimed * 3])), draw(st.sampled_from(operations))
    request = {"op": operation, "model": model, "filter": draw(filters(model, definitions, operation))}
    if operation in ("find", "find_one", "page"):
        by_server = operation != "page" and draw(st.integers(0, 3)) == 0
        avoided = None if by_server else draw(st.sampled_from([None, hidden_names(world), hidden_names(world)]))
        get = draw(gets(model, definitions, avoided=avoided))
        request |= {"get": {}, "projection": draw(st.sampled_from([None, get, get]))} if by_server else {"get": get}
    if operation == "find":
        request |= {"skip": draw(st.integers(0, 1)), "limit": draw(st.sampled_from([3, 2, 1]))}
    if operation == "page":
        request["limit"] = draw(st.integers(1, 2))
    if operation in ("find", "page"):
        request["sort"] = draw(sorts(model, definitions, operation))
    if operation == "distinct":
        request["path"] = draw(st.sampled_from([path for path in _paths(model, definitions) if path != "_id"]))
    return request


@st.composite
def sorts(draw, model, definitions, operation):
    """Draw an order; None is the default of a listing."""
    names = ["rank", "a"] if operation == "page" else ["_id", "a", "rank"]
    if operation == "page":
        return draw(st.none() | st.sampled_from(names))
    return draw(st.sampled_from(["", "-"])) + draw(st.sampled_from(names))


def _paths(model, definitions):
    shown = [name for name in ("a", "rank", "owner") if name in definitions[model]["pure"]]
    copies = [
        f"{name}.{field}" for name, link in links_of(definitions, model).items() for field in ("_id", "a", "rank")
    ]
    return ["_id", *shown, *copies]


@st.composite
def filters(draw, model, definitions, operation):
    """Draw the conditions of server code, or those of a client in a listing."""
    links = links_of(definitions, model)
    main = definitions[model]["relations"]
    paths = _paths(model, definitions)
    if operation == "find_one":
        return [("_id", "eq", (model, draw(st.integers(0, 2))))]
    if operation == "page":
        paths = ["a", "rank", *(f"{name}._id" for name in main)]
    conditions = []
    for path in draw(st.lists(st.sampled_from(paths), max_size=1)):
        name, _, rest = path.rpartition(".")
        source = links[name].source if name else model
        if rest == "_id":
            value = [(source, draw(st.integers(0, 1)))]
        elif rest == "rank":
            conditions.append((path, "gte", draw(st.integers(0, 2))))
            continue
        else:
            value = list(KEYS[:1]) if rest == "owner" else [marker(source, one, rest) for one in range(2)]
        conditions.append((path, "in", value))
    return conditions


@st.composite
def writes(draw, world, caller):
    """Draw a request that writes; many leave what rows and checks ask for."""
    definitions = world["definitions"]
    names = sorted(definitions)
    model, operation = draw(st.sampled_from(names)), draw(st.sampled_from(WRITES))
    aimed = [one["models"][0] for one in world["policies"] if one["models"] != "*"]
    model = draw(st.sampled_from([model, *aimed]))
    write = {"op": operation, "model": model, "get": {}}
    declared = definitions[model]["relations"]
    if operation in ("add", "remove") and not declared:
        operation = write["op"] = "update"
    if operation == "upsert" and not all(one["optional"] for one in declared.values()):
        operation = write["op"] = "insert"
    if not operation.endswith("many") and not operation.startswith("delete"):
        avoided = draw(st.sampled_from([None, hidden_names(world)]))
        write["get"] = draw(gets(model, definitions, 2, avoided))
    if operation != "insert":
        write["ids"] = [(model, draw(st.integers(0, 2)))]
    if operation.endswith("many"):
        write["ids"] = [(model, number) for number in range(draw(st.integers(1, 3)))]
    if operation.startswith("delete"):
        write["cascade"] = len(write["ids"]) > 1 or draw(st.booleans())  # else some may be deleted before an error
    if operation in ("insert", "update", "upsert", "update_many"):
        write["set"] = draw(fields_of(model, definitions, least=1))
        write["set"] |= draw(st.sampled_from([{}, *[fitting(world, model, caller)] * 3]))
    if operation == "upsert" and draw(st.integers(0, 2)) == 0:
        write["ids"] = [ObjectId(bytes(12))]
    if operation == "update" and draw(st.booleans()):
        write |= draw(st.sampled_from([{"set": {}, "inc": {"rank": 1}}, {"set": {}, "unset": ["b"]}]))
    if operation == "insert":
        named = [name for name, one in declared.items() if not one["optional"] or draw(st.booleans())]
        write["relations"] = {name: draw(ids_for(declared[name])) for name in named}
    if operation in ("add", "remove"):
        name = draw(st.sampled_from(sorted(declared)))
        held = [links.get(name) for one, _, links in world["documents"] if one == model][write["ids"][0][1] :][:1]
        ids = held[0] if operation == "remove" and any(held) else draw(ids_for(declared[name]))
        write |= {"relations": {name: ids}, "replace": draw(st.booleans())}
    return write


def fitting(world, model, caller) -> dict[str, Any]:
    """Return values of fields that policies of a model ask for."""
    policies = [policy for policy in world["policies"] if policy["models"] in ("*", [model])]
    filters = [policy[key] for policy in policies for key in ("rows", "write", "check") if policy.get(key)]
    asked = {path: value for one in filters if one is not True for path, _, value in one}
    own = (caller["user"] or {}).get("key", "nobody")
    return {
        path: own if value == ME else value[0] if isinstance(value, list) else value
        for path, value in asked.items()
        if value != [] and path in world["definitions"][model]["pure"]
    }


@st.composite
def ids_for(draw, relation):
    """Draw new ids of a relation."""
    most = 1 if relation["type"] == "single" else 2
    chosen = draw(st.lists(st.integers(0, 1), min_size=1, max_size=most, unique=True))
    return [(relation["schemaName"], one) for one in chosen]


@st.composite
def fields_of(draw, model, definitions, least):
    """Draw new values of some fields."""
    values = {"a": "<new-a>", "b": "<new-b>", "c": "<new-c>", "d": "<new-d>"}
    values |= {"rank": draw(st.integers(0, 2)), "owner": draw(st.sampled_from(KEYS))}
    known = [name for name in values if name in definitions[model]["pure"]]
    chosen = draw(st.lists(st.sampled_from(known), min_size=least, max_size=3, unique=True))
    return {name: values[name] for name in chosen}
