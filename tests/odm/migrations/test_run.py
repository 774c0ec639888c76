"""Migrations change documents and every copy, can be interrupted, and are begun again."""

from __future__ import annotations

import pytest
from bson import Decimal128

from gatewayfw.errors import Conflict, DefinitionError, UsageError
from gatewayfw.odm import Odm
from gatewayfw.odm.notes import MIGRATIONS, MigrationNotes
from gatewayfw.schemas import Schemas, decimal, integer, optional, string
from gatewayfw.settings import Settings

OLD = {"name": string(), "mail": optional(string()), "fax": optional(string())}
NEW = {"name": string(), "email": optional(string()), "level": optional(integer())}
#: Most copies that a transaction writes: with the first everything, with the second nothing but what jobs do.
LIMITS = pytest.mark.parametrize("limit", [100, 0])


@pytest.fixture
def sold(deploy):
    """A function that adds owners with the old definition; it returns their ids and those of their items."""
    return lambda *owners: [deploy(OLD).add({"name": f"n{n}", **owner}) for n, owner in enumerate(owners)]


@LIMITS
def test_a_renamed_field_is_renamed_in_every_copy(deploy, sold, limit):
    [(owner, item)] = sold({"mail": "m"})
    new = deploy(NEW, limit=limit)
    assert new.run(rename={"mail": "email"}) == [(3, 0, 0)]  # it, and the item for each of its frozen copies
    new.odm.work()
    assert new.owner_of(owner) == {"name": "n0", "email": "m"}
    assert new.copies_of(item) == [{"name": "n0", "email": "m"}] * 4
    assert new.problems() == []
    assert new.told() == [(0, 0, 0)]


@LIMITS
def test_a_dropped_field_lives_on_in_no_copy(deploy, sold, limit):
    [(owner, item)] = sold({"mail": "m", "fax": "f"})
    new = deploy({"name": string(), "mail": optional(string())}, limit=limit)
    new.run(drop=["fax"])
    new.odm.work()
    assert new.owner_of(owner) == {"name": "n0", "mail": "m"}
    assert new.copies_of(item) == [{"name": "n0", "mail": "m"}] * 4
    assert new.problems() == []


def test_a_default_fills_what_is_missing_and_frozen_copies_stay_as_they_were(deploy, sold):
    [(one, item), (other, _)] = sold({}, {})
    new = deploy({**OLD, "level": integer()})
    new.owner.find_one_and_update({"_id": other}, {"$set": {"level": 9}})
    assert new.run(default={"level": 3}) == [(1, 0, 0)]
    assert (new.owner_of(one), new.owner_of(other)) == ({"name": "n0", "level": 3}, {"name": "n1", "level": 9})
    assert new.copies_of(item) == [{"name": "n0", "level": 3}] * 2 + [{"name": "n0"}] * 2
    assert new.problems() == []


def test_a_copied_field_keeps_both_names(deploy, sold):
    [(owner, item)] = sold({"mail": "m"})
    new = deploy({**OLD, "email": optional(string())})
    assert new.run(copy={"mail": "email"}) == [(1, 0, 0)]
    assert new.owner_of(owner) == {"name": "n0", "mail": "m", "email": "m"}
    assert new.copies_of(item)[:2] == [{"name": "n0", "mail": "m", "email": "m"}] * 2


@LIMITS
def test_a_function_changes_each_document(deploy, sold, limit):
    [(owner, item), (other, _)] = sold({"name": "Jane Austen", "mail": "m"}, {"name": "Emma"})
    new = deploy({"first": optional(string()), "last_name": optional(string())}, limit=limit)

    @new.odm.migration("names", "owner", where={"first": {"$exists": False}})
    def split(doc):
        first, _, last = doc["name"].partition(" ")
        return {"$set": {"first": first, "last_name": last}, "$unset": {"name": "", "mail": ""}} if last else None

    told = new.odm.migrate()
    new.odm.work()
    listed = [{"_id": other, "reason": "the function changes nothing"}]
    assert told == [{"name": "names", "model": "owner", "changed": 1, "left": 1, "listed": listed}]
    assert new.owner_of(owner) == {"first": "Jane", "last_name": "Austen"}
    assert new.copies_of(item)[:2] == [{"first": "Jane", "last_name": "Austen"}] * 2


def test_what_does_not_fit_is_converted_in_every_copy(database, deploy, sold):
    [(one, item), (other, _), (right, _)] = sold({}, {}, {})
    for id_, level, fee in ((one, "7", 2.5), (other, "high", 1.005), (right, 3, Decimal128("1.00"))):
        database.owner.update_one({"_id": id_}, {"$set": {"level": level, "fee": fee}})
    new = deploy({"name": string(), "level": integer(), "fee": decimal(places=2)})
    new.odm.migration("m", "owner", convert=["level", "fee"])
    assert [(told["left"], len(told["listed"])) for told in new.odm.migrate(plan=True)] == [(2, 1)]
    (told,) = new.odm.migrate()
    assert (told["changed"], told["left"]) == (1, 1)
    assert told["listed"] == [{"_id": other, "reason": "level: this string does not convert without loss"}]
    assert new.owner_of(one) == {"name": "n0", "level": 7, "fee": Decimal128("2.50")}
    assert new.owner_of(other) == {"name": "n1", "level": "high", "fee": 1.005}
    assert new.copies_of(item)[:2] == [{"name": "n0", "level": 7, "fee": Decimal128("2.50")}] * 2
    assert new.told() == [(0, 1, 1)]


def test_a_plan_lists_what_stays_of_a_document_that_is_changed_in_part(database, deploy, sold):
    [(one, _)] = sold({})
    database.owner.update_one({"_id": one}, {"$set": {"level": "7", "fee": 1.005}})
    new = deploy({"name": string(), "level": integer(), "fee": decimal(places=2)})
    new.odm.migration("m", "owner", convert=["level", "fee"])
    listed = [{"_id": one, "reason": "fee: this double does not convert without loss"}]
    assert [told["listed"] for told in new.odm.migrate(plan=True)] == [listed]
    (told,) = new.odm.migrate()
    assert (told["changed"], told["listed"]) == (1, listed)


@pytest.fixture
def related(database):
    """A function that gives books by authors, related in a form."""

    def define(type_, default=True):
        odm = Odm(Schemas(Settings()), Settings(fan_out_thread=False))
        odm.set_db(database)
        odm.new_model("author", {"name": string()})
        books = {"books": {"type": "multiple", "default": default}}
        by = {"schemaName": "author", "type": type_, "relatedRelations": books}
        return odm, odm.new_model("book", {"title": string()}, {"by": by})

    return define


def test_one_copy_becomes_a_list_of_one(database, related):
    old, books = related("single")
    author = old.model("author").insert_one({"name": "a"})["_id"]
    book = books.insert_one({"title": "t"}, relations={"by": {"_ids": author}})["_id"]
    new, books = related("multiple")
    new.migration("m", "book", relation="by")
    assert [one["changed"] for one in (*new.migrate(), *new.migrate())] == [1, 0]
    assert database.book.find_one({"_id": book})["by"] == [{"_id": author, "name": "a"}]
    new.model("author").find_one_and_update({"_id": author}, {"$set": {"name": "b"}})
    assert database.book.find_one({"_id": book})["by"] == [{"_id": author, "name": "b"}]
    assert list(new.integrity.check()) == []


def test_a_list_of_one_becomes_a_copy_and_a_longer_one_is_listed(database, related):
    old, books = related("multiple")
    one, two = (old.model("author").insert_one({"name": name})["_id"] for name in "ab")
    book, longer = (
        books.insert_one({"title": "t"}, relations={"by": {"_ids": ids}})["_id"] for ids in ([one], [one, two])
    )
    new, _ = related("single")
    new.migration("m", "book", relation="by")
    (told,) = new.migrate()
    assert (told["changed"], told["listed"]) == (
        1,
        [{"_id": longer, "reason": "by: holds 2 documents; take out all but one with remove_relation"}],
    )
    assert database.book.find_one({"_id": book})["by"] == {"_id": one, "name": "a"}
    assert len(database.book.find_one({"_id": longer})["by"]) == 2
    assert {problem.id for problem in new.integrity.check()} == {longer}


@pytest.mark.parametrize("way", ["migrate", "repair"])
@pytest.mark.parametrize(("before", "after"), [("single", "multiple"), ("multiple", "single")])
def test_a_document_in_another_form_stays_out_of_the_same_lists(database, related, before, after, way):
    """MongoDB has no index over two lists of a document, such as copies beside what a single relation notes."""
    old, books = related(before, default=False)
    author = old.model("author").insert_one({"name": "a"})["_id"]
    out, listed = (
        books.insert_one({"title": title}, relations={"by": {"_ids": ids, "relatedRelations": {"books": flag}}})["_id"]
        for ids in [author if before == "single" else [author]]
        for title, flag in (("o", False), ("l", True))
    )
    new, books = related(after, default=False)
    new.migration("m", "book", relation="by")
    problems = list(new.integrity.repair()) if way == "repair" else new.migrate()[0]["listed"]
    assert [one.state for one in problems] == ["mended"] * 2 if way == "repair" else problems == []
    assert list(new.integrity.check()) == []
    new.model("author").find_one_and_update({"_id": author}, {"$set": {"name": "b"}})
    books.find_one_and_update({"_id": out}, {"$set": {"title": "n"}})
    assert [isinstance(database.book.find_one({"_id": id_})["by"], list) for id_ in (out, listed)] == [
        after == "multiple"
    ] * 2
    assert [one["_id"] for one in database.author.find_one()["books"]] == [listed]
    assert list(new.integrity.check()) == []


def test_windows_show_the_new_name_and_are_sorted_by_it(database, deploy):
    """Items are members of an owner's lists."""
    before = deploy(OLD)
    owner, _ = before.add({"name": "n"}, title="b")
    relation = {"_ids": owner}
    before.item.insert_one({"title": "a"}, relations={"by": relation, "all": {"_ids": [owner]}})
    new = deploy(OLD, item={"label": string()})
    new.odm.migration("m", "item", rename={"title": "label"})
    assert new.told() == [(2, 0, 0)]
    stored = database.owner.find_one({"_id": owner})
    assert [{**one, "_id": 0} for one in stored["items"]] == [{"_id": 0, "label": "a"}, {"_id": 0, "label": "b"}]
    assert {name for name in stored["last"] if name != "_id"} == {"label"}
    assert new.problems() == []


def test_a_changed_document_has_another_revision(deploy, sold):
    [(owner, _)] = sold({"mail": "m"})
    new = deploy(NEW)
    before = new.owner.find_one({"_id": owner}, projection={"_rev": 1})["_rev"]
    new.run(rename={"mail": "email"})
    assert new.owner.find_one({"_id": owner}, projection={"_rev": 1})["_rev"] == before + 1


@pytest.mark.parametrize(("prefer", "email"), [("old", "m"), ("new", "e")])
def test_a_document_with_both_names_is_listed_unless_one_is_preferred(database, deploy, sold, prefer, email):
    [(owner, _)] = sold({"mail": "m"})
    database.owner.update_one({"_id": owner}, {"$set": {"email": "e"}})
    new = deploy(NEW)
    new.odm.migration("listed", "owner", rename={"mail": "email"})
    new.odm.migration("preferred", "owner", rename={"mail": "email"}, prefer=prefer)
    (listed,) = new.odm.migrate("listed")
    assert (listed["changed"], listed["listed"]) == (2, [{"_id": owner, "reason": "has both mail and email"}])
    assert new.owner_of(owner) == {"name": "n0", "mail": "m", "email": "e"}
    assert new.told(only="preferred") == [(1, 0, 0)]
    assert new.owner_of(owner) == {"name": "n0", "email": email}


def test_what_an_old_process_writes_later_is_found_by_the_next_run(deploy, sold):
    [(owner, _)] = sold({"mail": "m"})
    new = deploy(NEW)
    new.run(rename={"mail": "email"})
    later, item = deploy(OLD).add({"name": "late", "mail": "l"})
    assert new.told() == [(3, 0, 0)]
    assert new.owner_of(later) == {"name": "late", "email": "l"}
    assert new.copies_of(item) == [{"name": "late", "email": "l"}] * 4
    assert new.owner_of(owner) == {"name": "n0", "email": "m"}


def test_a_run_that_was_interrupted_goes_on(deploy, sold):
    ids = [owner for owner, _ in sold(*[{"mail": str(n)} for n in range(30)])]
    new = deploy(NEW)
    new.odm.migration("m", "owner", rename={"mail": "email"})
    (migration,) = new.odm.migrations.chosen()

    def stop(outcome):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        new.odm.migrations.run(migration, stop)
    done = [one for one in ids if "email" in new.owner_of(one)]
    assert 0 < len(done) < 30
    assert new.told()[0][1:] == (0, 0)
    assert [new.owner_of(one)["email"] for one in ids] == [str(n) for n in range(30)]


def test_a_duplicate_is_tried_alone_and_listed(deploy, sold):
    [(one, _), (other, _), (third, _)] = sold({"mail": "m"}, {"mail": "m"}, {"mail": "k"})
    index = {"createIndex": {"indexSpec": {"email": 1}, "options": {"unique": True, "sparse": True}}}
    new = deploy(NEW, options=index)
    new.odm.migration("m", "owner", rename={"mail": "email"})
    (told,) = new.odm.migrate()
    assert [listed["_id"] for listed in told["listed"]] == [other]
    assert new.owner_of(one) == {"name": "n0", "email": "m"}
    assert new.owner_of(other) == {"name": "n1", "mail": "m"}
    assert new.owner_of(third) == {"name": "n2", "email": "k"}


UNIQUE = {"createIndex": {"indexSpec": {"mail": 1}, "options": {"unique": True}}}
UNIQUE_LATER = {"createIndex": {"indexSpec": {"email": 1}, "options": {"unique": True}}}


@pytest.mark.parametrize("keys", [{"rename": {"mail": "email"}}, {"drop": ["mail"]}])
def test_a_name_under_a_unique_index_is_kept_until_the_index_is_gone(database, deploy, keys):
    old = deploy(OLD, options=UNIQUE)
    for n in range(3):
        old.owner.insert_one({"name": str(n), "mail": str(n)})
    new = deploy(NEW)
    new.odm.migration("m", "owner", **keys)
    with pytest.raises(UsageError, match=r'drop it: db.owner.dropIndex\("mail_1"\)'):
        new.odm.migrate()
    (plan,) = map(new.odm.migrations.plan, new.odm.migrations.chosen())
    assert plan.outcome.left == 3
    assert plan.follow_ups == ('when no old process runs, before the migration: db.owner.dropIndex("mail_1")',)
    assert database.owner.count_documents({"mail": {"$exists": True}}) == 3
    database.owner.drop_index("mail_1")
    assert new.told() == [(3, 0, 0)]


@pytest.mark.parametrize("number", [1, 3])
def test_a_unique_index_over_the_new_name_waits_until_nothing_is_left(database, deploy, number):
    old = deploy(OLD)
    for n in range(number):
        old.owner.insert_one({"name": str(n), "mail": str(n)})
    new = deploy(NEW, options=UNIQUE_LATER)
    new.odm.migration("m", "owner", rename={"mail": "email"})
    assert new.odm.ready() == []
    assert new.odm.readiness.state().word == "ok"
    assert "email_1" not in database.owner.index_information()
    old.owner.insert_one({"name": "late", "mail": "late"})
    assert new.told() == [(number + 1, 0, 0)]
    assert database.owner.index_information()["email_1"]["unique"]
    assert new.told() == [(0, 0, 0)]


def test_a_unique_index_of_a_new_collection_does_not_wait(database, deploy):
    new = deploy(NEW, options=UNIQUE_LATER)
    new.odm.migration("m", "owner", rename={"mail": "email"})
    new.owner.insert_one({"name": "n", "email": "e"})
    assert database.owner.index_information()["email_1"]["unique"]


def test_readiness_tells_what_was_noted_as_left(deploy, sold):
    sold({"mail": "m"})
    new = deploy(NEW)
    new.odm.migration("m", "owner", where={"mail": {"$exists": True}})(lambda doc: None)
    assert new.odm.readiness.state().unmigrated is None
    new.odm.migrate()
    again = deploy(NEW)
    assert again.odm.readiness.state().unmigrated is None
    again = deploy(NEW)
    again.odm.migration("m", "owner", drop=["mail"])
    assert again.odm.readiness.state().unmigrated == 1


def test_a_plan_changes_nothing(database, deploy, sold):
    sold({"mail": "m"}, {})
    before = list(database.owner.find()), list(database.item.find())
    new = deploy(NEW)
    new.odm.migration("m", "owner", rename={"mail": "email"})
    assert new.odm.migrate(plan=True) == [{"name": "m", "model": "owner", "changed": 0, "left": 3, "listed": []}]
    assert (list(database.owner.find()), list(database.item.find())) == before
    assert new.odm.migrations.noted() == {}


def test_what_the_database_refuses_is_listed_with_its_reason(database, deploy):
    """No index holds two lists of a document."""
    new = deploy(NEW, options={"createIndex": {"indexSpec": {"name": 1, "email": 1}}})
    new.odm.ready()
    database.owner.insert_one({"name": ["a"], "mail": ["m"]})
    new.odm.migration("m", "owner", rename={"mail": "email"})
    (listed,) = new.odm.migrate()[0]["listed"]
    assert "index" in listed["reason"]


def test_at_most_a_few_are_listed(deploy, sold):
    sold(*[{}] * 25)
    new = deploy(OLD)
    new.odm.migration("m", "owner", where={"name": {"$exists": True}})(lambda doc: None)
    assert new.told() == [(0, 25, 20)]
    assert new.told(plan=True) == [(0, 25, 20)]


def test_migrations_run_in_the_order_of_their_declaration_or_one_alone(deploy, sold):
    [(owner, _)] = sold({"mail": "m"})
    new = deploy(NEW)
    new.odm.migration("z", "owner", rename={"mail": "email"})
    new.odm.migration("a", "owner", default={"email": "none"})
    assert [one["name"] for one in new.odm.migrate(plan=True)] == ["z", "a"]
    assert new.told(only="z") == [(3, 0, 0)]
    assert new.told() == [(0, 0, 0), (0, 0, 0)]
    with pytest.raises(UsageError, match="no migration is named 'b'; there are: z, a"):
        new.odm.migrate("b")


def test_an_old_name_that_the_model_has_again_is_refused(deploy):
    new = deploy(NEW)
    new.odm.migration("m", "item", drop=["bids"])
    bids = {"schemaName": "item", "type": "single", "relatedRelations": {"bids": {"type": "multiple"}}}
    new.odm.new_model("bid", {"sum": integer()}, {"on": bids})
    with pytest.raises(DefinitionError, match="model 'item' still has 'bids'"):
        new.odm.migrate()


def test_nothing_is_migrated_inside_a_transaction(deploy):
    new = deploy(NEW)
    new.odm.migration("m", "owner", drop=["mail"])
    with pytest.raises(UsageError, match="not inside a transaction"):
        new.odm.transaction(new.odm.migrate)


def test_one_process_at_a_time_runs_a_migration(deploy, monkeypatch):
    new = deploy(NEW)
    new.odm.migration("m", "owner", drop=["mail"])
    new.odm.migrate()
    notes = MigrationNotes(new.odm.storage)
    monkeypatch.setattr("gatewayfw.odm.migrations.run.time.sleep", lambda seconds: None)
    assert notes.claim("m", "other") is None
    with pytest.raises(Conflict, match="another process runs the migration m"):
        new.odm.migrate()
    notes.release("m", "other")
    assert new.told() == [(0, 0, 0)]


def test_the_end_of_a_run_is_noted(database, deploy, sold):
    sold({"mail": "m"}, {"mail": "k"})
    new = deploy(NEW)
    new.run(rename={"mail": "email"})
    new.odm.migrate()
    note = new.odm.migrations.noted()["m"]
    assert (note.model, note.changed, note.left, note.version) == ("owner", 6, 0, "0.1.0")
    assert database[MIGRATIONS].find_one({"_id": "m"})["lease"] is None
