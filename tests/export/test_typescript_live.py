"""The generated client against a live server: replies have the keys that their static type says, and no others."""

from __future__ import annotations

import json
import random
import threading
from contextlib import contextmanager

import mongomock
import pytest
from werkzeug.serving import make_server

from gatewayfw.export.typescript.module import typescript
from sample_service import demo
from sample_service.app import create_service
from tests.export.village import village


@contextmanager
def served(app):
    """The URL of an app that runs on a free port."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def sample():
    service = create_service(mongomock.MongoClient().sample, "k" * 32)
    demo.seed(service)
    return service.gw


def run(project, gw, program):
    """What a program prints that is compiled with the module of a gateway and run against its server."""
    made = project("shape", program, gateway=typescript(gw.catalog()))
    made.compiles("typescript")
    with served(gw.create_app()) as url:
        return made.runs(program, url)


def test_the_sample_service_answers_as_its_types_say(project, sample):
    assert run(project, sample, "sample_live") == "9 rows\n"


def test_every_kind_of_get_is_answered_as_its_type_says(project):
    assert run(project, village(), "village_live") == "14 rows\n"


def test_random_gets_are_answered_as_their_types_say(project):
    """The types of 150 random gets have just the keys of what is found where nothing optional is absent."""
    gw, chance = village(), random.Random(6)
    people = gw.odm.model("person")
    lines = [
        'import type { Result } from "./gateway.js";',
        'import type { Assert, Equal, Shape } from "./shape.js";',
        "type Sure<S> = S extends readonly [infer E] ? readonly [Sure<E>]",
        "  : S extends object ? { readonly [K in keyof S as K extends `${infer N}?` ? N : K]: Sure<S[K]> } : 1;",
        'type Keys<G> = Sure<Shape<Result<"person", G>>>;',
    ]
    for number in range(150):
        get = random_get(gw, "person", 4, chance)
        (found, _) = people.find(projection=get).sort("_id").to_list()
        keys = shape(found)
        lines.append(f"export type T{number} = Assert<Equal<Keys<{json.dumps(get)}>, {keys}>>;")
    made = project("shape", gateway=typescript(gw.catalog()), random="\n".join(lines))
    made.compiles("typescript", "--noEmit")


def random_get(gw, model, levels, chance):
    """A `get` that names some fields and, on each of some levels, some links."""
    catalog = gw.catalog()["models"][model]
    fields = {name: chance.choice([0, 1, 1]) for name in catalog["fields"] if chance.random() < 0.3}
    links = [name for name in catalog["links"] if levels and chance.random() < 0.3]
    below = {
        name: chance.choice([0, 1]) if chance.random() < 0.3 else random_get(gw, of["model"], levels - 1, chance)
        for name, of in catalog["links"].items()
        if name in links
    }
    return {**fields, **below}


def shape(value):
    """The keys of a found value as a type of TypeScript."""
    if isinstance(value, list):
        return f"readonly [{shape(value[0])}]"
    if isinstance(value, dict) and "a" not in value:  # what has no fields of its own is one value
        return "{ " + "; ".join(f"readonly {key}: {shape(item)}" for key, item in value.items()) + " }"
    return "1"
