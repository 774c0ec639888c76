"""The acts of organization, unit, file, country and city."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.odm.sizes.budgets import MOST_BYTES, own_bytes, worst_sizes
from tests.sample_service.conftest import NOBODY, ok, refused

NO_TOKEN = "you should send your id with token key in req header"
BAD_ID = "Not a valid ObjectId (24 hexadecimal digits)."


def test_country_is_added_and_read_without_a_token(call, stored):
    reply = call("country", "addCountry", {"name": "Norway", "population": 5_600_000}, {"name": 1})
    id_ = reply[1]["body"]["_id"]
    assert reply == ok({"_id": id_, "name": "Norway"})
    assert stored("country", id_) == {"_id": ObjectId(id_), "name": "Norway", "population": 5_600_000}
    get = {"population": 1, "cities": {"name": 1}}
    assert call("country", "getCountry", {"countryId": id_}, get) == ok(
        {"_id": id_, "population": 5_600_000, "cities": []}
    )


def test_city_embeds_its_country_and_is_listed_there(call, service, stored):
    country = service.countries.insert_one(doc={"name": "Norway", "population": 1})
    reply = call("city", "addCity", {"name": "Oslo", "country": str(country["_id"])}, {"country": {"name": 1}})
    id_ = reply[1]["body"]["_id"]
    assert reply == ok({"_id": id_, "country": {"name": "Norway"}})
    copy = {"_id": country["_id"], "name": "Norway", "population": 1}
    assert stored("city", id_) == {"_id": ObjectId(id_), "name": "Oslo", "country": copy}
    assert call("country", "getCountry", {"countryId": str(country["_id"])}, {"cities": {"name": 1}}) == ok(
        {"_id": str(country["_id"]), "cities": [{"name": "Oslo"}]}
    )
    assert call("city", "getCity", {"cityId": id_}, {"name": 1}) == ok({"_id": id_, "name": "Oslo"})


@pytest.mark.parametrize(
    ("model", "act", "set_", "status", "message"),
    [
        (
            "country",
            "addCountry",
            {"name": "X", "population": "5"},
            400,
            "validation error: set.population: Not a valid number.",
        ),
        (
            "country",
            "addCountry",
            {"name": "X", "population": True},
            400,
            "validation error: set.population: Not a valid number.",
        ),
        (
            "country",
            "addCountry",
            {"population": 5},
            400,
            "validation error: set.name: Missing data for required field.",
        ),
        ("country", "getCountry", {"countryId": NOBODY}, 404, "country not found"),
        ("country", "getCountry", {"countryId": "x"}, 400, f"validation error: set.countryId: {BAD_ID}"),
        ("city", "addCity", {"name": "X", "country": NOBODY}, 404, f"country not found: {NOBODY}"),
        ("city", "addCity", {"name": "X"}, 400, "validation error: set.country: Missing data for required field."),
        ("city", "getCity", {"cityId": NOBODY}, 404, "city not found"),
    ],
    ids=str,
)
def test_country_and_city_refuse(call, digest, model, act, set_, status, message):
    before = digest()
    assert call(model, act, set_, {}) == refused(status, message)
    assert digest() == before


def test_file_is_added_and_read_by_who_signed_in(call, people, stored):
    set_, token = {"name": "me.png", "type": "image/png", "size": 9, "path": "/me.png"}, people["Ordinary"].token
    reply = call("file", "addFile", set_, {"name": 1}, token)
    id_ = reply[1]["body"]["_id"]
    assert (reply, stored("file", id_)) == (ok({"_id": id_, "name": "me.png"}), {"_id": ObjectId(id_), **set_})
    assert call("file", "getFile", {"fileId": id_}, {"size": 1}, token) == ok({"_id": id_, "size": 9})


@pytest.mark.parametrize("name", ["Manager", "Admin", "ghost"])
def test_organization_is_added(act_as, stored, name):
    set_ = {"name": "New", "description": "Text"}
    reply = act_as(name, "addOrganization", set_, {"name": 1}, "organization")
    id_ = reply[1]["body"]["_id"]
    assert (reply, stored("organization", id_)) == (ok({"_id": id_, "name": "New"}), {"_id": ObjectId(id_), **set_})


def test_organization_is_renamed_everywhere(act_as, places, stored):
    set_ = {"_id": places.home, "name": "Renamed"}
    reply = act_as("Admin", "updateOrganization", set_, {"name": 1, "units": {"name": 1}}, "organization")
    assert reply == ok({"_id": places.home, "name": "Renamed", "units": [{"name": "Unit"}]})
    assert stored("unit", places.unit)["organization"] == {"_id": ObjectId(places.home), "name": "Renamed"}


def test_organizations_are_read_by_who_signed_in(call, people, places):
    token = people["Ordinary"].token
    one = call("organization", "getOrganization", {"organizationId": places.home}, {"name": 1}, token)
    assert one == ok({"_id": places.home, "name": "Home"})


@pytest.mark.parametrize("name", ["Manager", "Admin", "ghost"])
def test_unit_is_added_to_its_organization(act_as, places, stored, name):
    set_ = {"name": "New", "organization": places.away}
    reply = act_as(name, "addUnit", set_, {"organization": {"name": 1}}, "unit")
    id_ = reply[1]["body"]["_id"]
    assert reply == ok({"_id": id_, "organization": {"name": "Away"}})
    assert stored("organization", places.away)["units"] == [{"_id": ObjectId(id_), "name": "New"}]


def test_unit_is_renamed_everywhere(act_as, places, stored):
    reply = act_as("Manager", "updateUnit", {"_id": places.unit, "name": "Renamed"}, {"name": 1}, "unit")
    assert reply == ok({"_id": places.unit, "name": "Renamed"})
    assert stored("organization", places.home)["units"] == [{"_id": ObjectId(places.unit), "name": "Renamed"}]


def test_units_are_read_by_who_signed_in(call, people, places):
    reply = call("unit", "getUnit", {"unitId": places.unit}, {"name": 1}, people["Ordinary"].token)
    assert reply == ok({"_id": places.unit, "name": "Unit"})


@pytest.mark.parametrize("name", ["OrgHead", "UnitHead", "Employee", "Ordinary"])
@pytest.mark.parametrize(
    ("model", "act", "set_"),
    [
        ("organization", "addOrganization", {"name": "X"}),
        ("organization", "updateOrganization", {"_id": NOBODY}),
        ("unit", "addUnit", {"name": "X", "organization": NOBODY}),
        ("unit", "updateUnit", {"_id": NOBODY, "name": "X"}),
    ],
    ids=["addOrganization", "updateOrganization", "addUnit", "updateUnit"],
)
def test_other_roles_may_not_write_places(act_as, digest, name, model, act, set_):
    before = digest()
    assert act_as(name, act, set_, {}, model) == refused(403, "You cant do this")
    assert digest() == before


@pytest.mark.parametrize(
    ("model", "act", "set_", "message"),
    [
        ("organization", "updateOrganization", {"_id": NOBODY, "name": "X"}, "organization not found"),
        ("unit", "updateUnit", {"_id": NOBODY, "name": "X"}, "unit not found"),
        ("unit", "addUnit", {"name": "X", "organization": NOBODY}, f"organization not found: {NOBODY}"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_writing_refuses_what_does_not_exist(act_as, digest, model, act, set_, message):
    before = digest()
    assert act_as("Manager", act, set_, {}, model) == refused(404, message)
    assert digest() == before


@pytest.mark.parametrize("model", ["organization", "unit", "file"])
def test_reading_refuses_what_does_not_exist_and_who_has_no_token(call, people, model):
    act, set_ = f"get{model.title()}", {f"{model}Id": NOBODY}
    assert call(model, act, set_, {}, people["Ordinary"].token) == refused(404, f"{model} not found")
    assert call(model, act, set_, {}) == refused(401, NO_TOKEN)


@pytest.mark.parametrize(
    ("model", "act", "set_"),
    [
        ("file", "addFile", {"name": "x", "type": "y", "size": 1}),
        ("organization", "getOrganizations", {}),
        ("organization", "addOrganization", {"name": "x"}),
        ("organization", "updateOrganization", {"_id": NOBODY}),
        ("unit", "getUnits", {}),
        ("unit", "addUnit", {"name": "x", "organization": NOBODY}),
        ("unit", "updateUnit", {"_id": NOBODY, "name": "x"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_token_is_needed(call, digest, model, act, set_):
    before = digest()
    assert call(model, act, set_, {}) == refused(401, NO_TOKEN)
    assert digest() == before


@pytest.mark.parametrize("size", [-1, 1.5, "1"])
def test_file_refuses_a_bad_size(call, people, digest, size):
    before = digest()
    set_ = {"name": "x", "type": "y", "size": size}
    status, envelope = call("file", "addFile", set_, {}, people["Ordinary"].token)
    assert status == 400
    assert envelope["body"]["message"].startswith("validation error: set.size: ")
    assert digest() == before


def test_a_city_cannot_fill_the_country_that_lists_it(call, service, digest):
    country = str(service.countries.insert_one(doc={"name": "Norway", "population": 1})["_id"])
    before = digest()
    large = {"name": "a" * 262_000, "country": country}
    assert call("city", "addCity", large, {}) == refused(
        400, "validation error: set.name: Longer than maximum length 200."
    )
    assert digest() == before


@pytest.mark.parametrize(
    ("model", "act", "set_"),
    [
        ("organization", "addOrganization", {"description": "a" * 2001, "name": "X"}),
        ("unit", "addUnit", {"name": "a" * 201, "organization": NOBODY}),
    ],
    ids=["addOrganization", "addUnit"],
)
def test_long_texts_are_refused(act_as, digest, model, act, set_):
    before, (field, value) = digest(), next(iter(set_.items()))
    message = f"validation error: set.{field}: Longer than maximum length {len(value) - 1}."
    assert act_as("Manager", act, set_, {}, model) == refused(400, message)
    assert digest() == before


def test_no_document_can_be_filled(service):
    sizes = {size.model: (size.bytes < MOST_BYTES, size.unstated) for size in worst_sizes(service.gw.schemas)}
    assert sizes == dict.fromkeys(["user", "country", "city", "file", "organization", "unit"], (True, ()))
    models = service.gw.schemas.get_schemas().values()
    assert max(own_bytes(model) for model in models) < service.gw.settings.document_bytes
