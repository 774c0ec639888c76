"""What hypothesis draws: definitions, documents full of unique texts, policies, callers and requests.

To make a strategy takes longer than to draw from it: those of values are made once, and only what tests draw is
`composite`. The other functions draw with what they are given.
"""

from __future__ import annotations

from functools import cache, cached_property, lru_cache
from typing import Any

from bson import ObjectId
from hypothesis import strategies as st

from tests.policies.judged.judge_terms import Link, links_of
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


#: More keywords of a relation or reverse relation.
SHARED = st.sampled_from([{}, {}, {"shared": True}])
#: More keywords of a relation to several documents.
SORTS = st.sampled_from([{}, {"sort": {"field": "rank", "order": "desc"}}, {"sort": {"field": "a", "order": "desc"}}])


@lru_cache(maxsize=None, typed=True)
def one_of(*values):
    """Return the strategy of one of these values."""
    return st.sampled_from(values)


@cache
def some_of(*values, least=0, most=2):
    """Return the strategy of a list of some of these values, each at most once."""
    return st.lists(st.sampled_from(values), min_size=least, max_size=most, unique=True)


@cache
def integers(least, most):
    """Return the strategy of the whole numbers in these bounds."""
    return st.integers(least, most)


BOOLEANS = st.booleans()
#: The roles of a policy.
ROLES = st.sampled_from(["*", ["A"], ["B"], ["A", "B"], [None], ["A", None]])
#: The order of a page; None is the default of its listing.
DEFAULT_OR_SORT = st.none() | st.sampled_from(["rank", "a"])


class World(dict):
    """What was drawn, with what follows from it."""

    @cached_property
    def links(self) -> dict[str, dict[str, Link]]:
        """The relations and reverse relations of each model."""
        return {name: links_of(self["definitions"], name) for name in self["definitions"]}

    @cached_property
    def hidden(self) -> dict[str, set[str]]:
        """The names that policies hide from somebody, by model."""
        policies = [policy for policy in self["policies"] if "hide" in policy]
        return {
            model: {name for one in policies if one["models"] in ("*", [model]) for name in one["hide"]}
            for model in self["definitions"]
        }

    @cached_property
    def aimed(self) -> list[str]:
        """The models in whose copies something is hidden from somebody."""
        return [name for name, links in self.links.items() if any(self.hidden[one.source] for one in links.values())]


def marker(model, number, field, version=0):
    """Return the text that only this field of this document has ever had."""
    return f"<{model}-{number}-{field}-{version}>"


@st.composite
def worlds(draw, policies=None):
    """Draw definitions, documents, what is changed of these later, and policies, by default of every kind."""
    names = [f"m{number}" for number in range(draw(one_of(2, 2, 2, 3, 3, 4)))]
    definitions = {name: models(draw) for name in names}
    for number in range(draw(integers(1, len(names) + 1))):
        at = draw(integers(0, len(names) - 1))
        to = draw(integers(0, len(names) - 1))
        definitions[names[at]]["relations"][f"r{number}"] = relations(draw, names[to], number, may_require=to < at)
    for name in names:
        single = [one for one, relation in definitions[name]["relations"].items() if relation["type"] == "single"]
        paths = ["_id", "rank", "a", *(f"{one}.a" for one in single if _copies(definitions, name, one, "a"))]
        definitions[name]["default_sort"] = draw(one_of("", "-")) + draw(one_of(*paths))
    documents = [one for name in names for one in documents_of(draw, name, names, definitions)]
    world = World(definitions=definitions, documents=documents)
    world["later"] = draw(st.lists(changes(names), max_size=2))
    kind, most = policies or policies_of, 5 if policies is None else 2
    world["policies"] = draw(st.lists(kind(world), min_size=1, max_size=most))
    return world


def _copies(definitions, model, relation, field):
    declared = definitions[model]["relations"][relation]
    left_out = {*declared["excludes"], *definitions[declared["schemaName"]]["excludes"]}
    return field not in left_out


def models(draw):
    """Draw a model without relations."""
    pure = [name for name in FIELDS if name != "owner" or draw(integers(0, 3))]
    excludes = list(draw(one_of((), (), (), ("c",))))
    return {"pure": pure, "excludes": excludes, "relations": {}}


def relations(draw, to, number, may_require):
    """Draw a relation with up to two reverse relations."""
    reverses = {}
    for name in (f"v{number}", f"w{number}")[: draw(integers(0, 2))]:
        reverses[name] = {"type": draw(one_of("multiple", "multiple", "single")), "default": True}
        reverses[name] |= draw(SHARED)
        if reverses[name]["type"] == "multiple":
            order = draw(one_of("asc", "desc"))
            reverses[name]["limit"] = draw(integers(1, 3))
            reverses[name]["sort"] = {"field": draw(one_of("rank", "rank", "_id")), "order": order}
    kind = draw(one_of("single", "multiple", "multiple"))
    return {
        "schemaName": to,
        "type": kind,
        **(draw(SORTS) if kind == "multiple" else {}),
        "optional": not (may_require and draw(BOOLEANS)),
        "frozen": draw(one_of(False, False, True)),
        "excludes": list(draw(one_of((), (), ("b",)))),
        "relatedRelations": reverses,
        **draw(SHARED),
    }


def documents_of(draw, model, names, definitions):
    """Draw the documents of a model, related to what was inserted before."""
    drawn = []
    for number in range(draw(integers(2, 3))):
        # A missing field that an index covers is read as null by MongoDB: a has indexes, and is always there.
        fields = {name: marker(model, number, name) for name in ("a", "b", "c") if name == "a" or draw(integers(0, 4))}
        fields["rank"] = draw(integers(0, 3))
        if "owner" in definitions[model]["pure"]:
            fields["owner"] = draw(one_of(*KEYS))
        links = {}
        for name, relation in definitions[model]["relations"].items():
            to = relation["schemaName"]
            there = number if to == model else 2 if names.index(to) < names.index(model) else 0
            least = 0 if relation["optional"] else 1
            most = min(there, 1 if relation["type"] == "single" else 2)
            least = draw(one_of(least, most))
            chosen = draw(some_of(*range(there), least=least, most=most)) if most else []
            if chosen:
                links[name] = [(to, one) for one in chosen]
        drawn.append((model, fields, links))
    return drawn


@st.composite
def changes(draw, names):
    """Draw a later change: of a text, or a deletion if nothing but frozen copies is in the way."""
    model, number = draw(one_of(*names)), draw(integers(0, 1))
    return (model, number, {"b": marker(model, number, "b", 1)} if draw(BOOLEANS) else None)


def filters_of(draw, model, definitions):
    """Draw the rows of a policy for one model, or for all that have an owner."""
    own = definitions[model]["relations"]
    paths = ["rank", "a", *(["owner", "owner"] if "owner" in definitions[model]["pure"] else []), *own]
    path = draw(one_of(*paths))
    if path in own:
        return [(f"{path}._id", "in", [(own[path]["schemaName"], draw(integers(0, 1)))])]
    if path == "rank":
        return [("rank", "gte", draw(integers(0, 2)))]
    if path == "owner":
        return [("owner", "eq", draw(one_of(ME, ME, "k0")))]
    return [("a", "in", [marker(model, number, "a") for number in draw(some_of(0, 1, 2, least=1, most=3))])]


@st.composite
def policies_of(draw, world):
    """Draw a policy."""
    definitions = world["definitions"]
    model = draw(one_of(*definitions))
    policy = {"models": [model], "roles": draw(ROLES)}
    if policy["roles"] == "*":
        policy["admit"] = draw(BOOLEANS)
    about_all = False
    has_owner = any("owner" in one["pure"] for one in definitions.values())
    if has_owner and draw(integers(0, 4)) == 0:
        about_all = True
        policy |= {"models": "*", "needs": ["owner"]}

    def own_filter():
        if about_all:
            return [draw(one_of(("owner", "eq", ME), ("rank", "gte", 1)))]
        return filters_of(draw, model, definitions)

    if draw(BOOLEANS):
        policy["rows"] = None if draw(integers(0, 5)) == 5 else own_filter()
    if draw(BOOLEANS):
        links = [] if about_all else sorted(world.links[model])
        policy["hide"] = draw(some_of("a", "b", "c", "rank", *links, least=1))
        if draw(integers(0, 2)) == 0:
            policy["own"] = [(model, draw(integers(0, 1)))]
    if draw(integers(0, 2)) == 0:
        main = [] if about_all else sorted(definitions[model]["relations"])
        policy["fixed"] = draw(some_of("b", "d", "rank", *main, least=1))
    if draw(integers(0, 2)) == 0:
        policy["write"] = draw(BOOLEANS) and own_filter()
    if policy.get("write") is not False and draw(integers(0, 3)) == 0:
        policy["check"] = own_filter()
    return policy


@st.composite
def limits_of(draw, world):
    """Draw a policy that lets one role write, within limits."""
    model = draw(one_of(*world["definitions"]))
    policy = {"models": [model], "roles": ["A"]}
    for key in draw(one_of(("rows",), ("rows",), ("write",), ("rows", "write"), ("rows", "check"))):
        policy[key] = filters_of(draw, model, world["definitions"])
    if draw(integers(0, 4)) == 0:
        policy["fixed"] = [draw(one_of("b", "d"))]
    return policy


@st.composite
def hidings_of(draw, world):
    """Draw a policy that only hides names from one role."""
    model = draw(one_of(*world["definitions"]))
    links = [link for links in world.links.values() for link in links.values() if link.source == model]
    orders = [link.sort.lstrip("-") for link in links if link.sort.lstrip("-") not in ("", "_id")]
    hide = draw(some_of("rank", "a", "b", *sorted(world.links[model]), least=1))
    more = draw(one_of(*orders)) if orders else "c"  # an order would tell of it
    return {"models": [model], "roles": ["A"], "hide": sorted({*hide, more})}


#: Three roles, one of which no policy names, no role, nobody, and a ghost with the least role.
KINDS_OF_CALLERS = ("A", "B", "C", "none", "nobody", "ghost")


@st.composite
def callers(draw, world):
    """Draw who calls: anybody, but more often one whom a policy names."""
    named = [role or "nobody" for one in world["policies"] if one["roles"] != "*" for role in one["roles"]]
    key, kind = draw(one_of(*KEYS)), draw(one_of(*KINDS_OF_CALLERS, *named, *named))
    role = kind if kind in ("A", "B", "C") else "C" if kind == "ghost" else None
    user = None if kind == "nobody" else {"_id": key * 12, "key": key, "isGhost": kind == "ghost"}
    return {"role": role, "user": user}


def gets(draw, world, model, depth=3, avoided=None):
    """Draw what a client asks for; ``avoided`` are names, by model, that would be refused."""
    left_out = (avoided or {}).get(model, set())
    names = [name for name in world["definitions"][model]["pure"] if name not in left_out]
    get = dict.fromkeys(draw(some_of(*names)), 1)
    links = world.links[model]
    if shown := sorted(set(links) - left_out):
        for name in draw(some_of(*shown, least=depth // 2)):
            deeper = draw(integers(0, 4 if depth > 1 else 2))
            get[name] = gets(draw, world, links[name].source, depth - 1, avoided) if deeper > 2 else [1, 1, {}][deeper]
    return get


@st.composite
def requests(draw, world, operations=OPERATIONS):
    """Draw a request that reads; of the names that it asks for the client gives some, and the server's code others."""
    model, operation = draw(one_of(*world["definitions"], *world.aimed * 3)), draw(one_of(*operations))
    request = {"op": operation, "model": model, "filter": filters(draw, world, model, operation)}
    if operation in ("find", "find_one", "page"):
        by_server = operation != "page" and draw(integers(0, 3)) == 0
        avoided = None if by_server or draw(integers(0, 2)) == 0 else world.hidden
        get = gets(draw, world, model, avoided=avoided)
        request |= {"get": {}, "projection": get if draw(integers(0, 2)) else None} if by_server else {"get": get}
    if operation == "find":
        request |= {"skip": draw(integers(0, 1)), "limit": draw(one_of(3, 2, 1))}
    if operation == "page":
        request["limit"] = draw(integers(1, 2))
        request["sort"] = draw(DEFAULT_OR_SORT)
    if operation == "find":
        request["sort"] = draw(one_of("", "-")) + draw(one_of("_id", "a", "rank"))
    if operation == "distinct":
        request["path"] = draw(one_of(*_paths(world, model)[1:]))
    return request


def _paths(world, model):
    shown = [name for name in ("a", "rank", "owner") if name in world["definitions"][model]["pure"]]
    return ["_id", *shown, *(f"{name}.{field}" for name in world.links[model] for field in ("_id", "a", "rank"))]


def filters(draw, world, model, operation):
    """Draw the conditions of server code, or those of a client in a listing."""
    if operation == "find_one":
        return [("_id", "eq", (model, draw(integers(0, 2))))]
    paths = _paths(world, model)
    if operation == "page":
        paths = ["a", "rank", *(f"{name}._id" for name in world["definitions"][model]["relations"])]
    conditions = []
    for path in draw(some_of(*paths, most=1)):
        name, _, rest = path.rpartition(".")
        source = world.links[model][name].source if name else model
        if rest == "_id":
            value = [(source, draw(integers(0, 1)))]
        elif rest == "rank":
            conditions.append((path, "gte", draw(integers(0, 2))))
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
    model, operation = draw(one_of(*names)), draw(one_of(*WRITES))
    aimed = [one["models"][0] for one in world["policies"] if one["models"] != "*"]
    model = draw(one_of(model, *aimed))
    write = {"op": operation, "model": model, "get": {}}
    declared = definitions[model]["relations"]
    if operation in ("add", "remove") and not declared:
        operation = write["op"] = "update"
    if operation == "upsert" and not all(one["optional"] for one in declared.values()):
        operation = write["op"] = "insert"
    if not operation.endswith("many") and not operation.startswith("delete"):
        write["get"] = gets(draw, world, model, 2, world.hidden if draw(BOOLEANS) else None)
    if operation != "insert":
        write["ids"] = [(model, draw(integers(0, 2)))]
    if operation.endswith("many"):
        write["ids"] = [(model, number) for number in range(draw(integers(1, 3)))]
    if operation.startswith("delete"):
        write["cascade"] = len(write["ids"]) > 1 or draw(BOOLEANS)  # else some may be deleted before an error
    if operation in ("insert", "update", "upsert", "update_many"):
        write["set"] = fields_of(draw, model, definitions)
        write["set"] |= fitting(world, model, caller) if draw(integers(0, 3)) else {}
    if operation == "upsert" and draw(integers(0, 2)) == 0:
        write["ids"] = [ObjectId(bytes(12))]
    if operation == "update" and draw(BOOLEANS):
        write |= {"set": {}, "unset": ["b"]} if draw(BOOLEANS) else {"set": {}, "inc": {"rank": 1}}
    if operation == "insert":
        named = [name for name, one in declared.items() if not one["optional"] or draw(BOOLEANS)]
        write["relations"] = {name: ids_for(draw, declared[name]) for name in named}
    if operation in ("add", "remove"):
        name = draw(one_of(*sorted(declared)))
        held = [links.get(name) for one, _, links in world["documents"] if one == model][write["ids"][0][1] :][:1]
        ids = held[0] if operation == "remove" and any(held) else ids_for(draw, declared[name])
        write |= {"relations": {name: ids}, "replace": draw(BOOLEANS)}
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


def ids_for(draw, relation):
    """Draw new ids of a relation."""
    most = 1 if relation["type"] == "single" else 2
    chosen = draw(some_of(0, 1, least=1, most=most))
    return [(relation["schemaName"], one) for one in chosen]


def fields_of(draw, model, definitions):
    """Draw new values of some fields."""
    values = {"a": "<new-a>", "b": "<new-b>", "c": "<new-c>", "d": "<new-d>"}
    values |= {"rank": draw(integers(0, 2)), "owner": draw(one_of(*KEYS))}
    known = [name for name in values if name in definitions[model]["pure"]]
    return {name: values[name] for name in draw(some_of(*known, least=1, most=3))}
