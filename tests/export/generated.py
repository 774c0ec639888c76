"""A small gateway, and what the Python types of one come to."""

from __future__ import annotations

import ast
import types

import mongomock

from gatewayfw import gateway
from gatewayfw.catalog import build
from gatewayfw.export.python.module import python
from gatewayfw.schemas import date, described, integer, optional, string


def make():
    """Return a gateway of cities in countries; the list of a country's cities hides their size."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("country", {"name": string(), "since": optional(date())})
    cities = {"type": "multiple", "excludes": ["size"]}
    country = {"schemaName": "country", "type": "single", "optional": True, "relatedRelations": {"cities": cities}}
    size = optional(described(integer(), "How many live\nthere."))
    gw.odm.new_model("city", {"name": string(), "size": size}, {"country": country})
    return gw


def source(gw):
    return python(build(gw.schemas, gw.acts))


def loaded(text):
    """The module that a text makes, in a Python of today."""
    module = types.ModuleType("generated")
    exec(compile(text, "generated", "exec", dont_inherit=True), module.__dict__)
    module.__doc__ = text
    return module


def hints(module, name):
    """The annotations of a class as they are written, and the keys that must be there."""
    found = getattr(module, name)
    plain = {key: ast.unparse(hint) for key, hint in _annotations(module.__doc__, name)}
    optional = {key for key, hint in plain.items() if hint.startswith("NotRequired[")}
    stripped = {key: hint[len("NotRequired[") : -1] if key in optional else hint for key, hint in plain.items()}
    return stripped, found.__required_keys__ - optional


def _annotations(text, name):
    for each in ast.parse(text).body:
        if isinstance(each, ast.ClassDef) and each.name == name:
            return [(one.target.id, one.annotation) for one in each.body if isinstance(one, ast.AnnAssign)]
        if isinstance(each, ast.Assign) and each.targets[0].id == name:
            given = each.value.args[1]
            return [(key.value, hint) for key, hint in zip(given.keys, given.values, strict=True)]
    raise LookupError(name)


def signature(gw, **options):
    """What ``call`` takes and gives for one act with these options; the rest of its module."""
    validator = {"set": options.pop("set", {}), "get": options.pop("get", {})}
    options.setdefault("validator", validator)
    gw.acts.set_act(schema="city", act_name="act", fn=lambda body: None, **options)
    module = loaded(source(gw))
    told = module.AnyClient.call.__annotations__
    return (told["set"], told["get"], told["return"]), module
