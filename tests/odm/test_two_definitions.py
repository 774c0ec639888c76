"""While two definitions of a relation are in use, neither loses or spoils what the other has stored."""

from __future__ import annotations

from operator import itemgetter
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.errors import Conflict, NotFound, StillReferenced, ValidationError
from tests.examples import examples
from tests.odm.two_definitions import LISTED, MODELS, Form, Gateway, copies_of, stored_in

EXPECTED = (Conflict, NotFound, ValidationError)
OTHER_FORM = {"is a list", "is no list", "holds several documents"}
KINDS = ["author", "book", "book", "review", "rename", "rename", "retitle", "delete", "cascade", "cascade", "cascade"]
KINDS += ["add", "add", "replace", "replace", "remove", "remove", "repair", "work", "work"]
FORMS = st.builds(Form, st.sampled_from(["single", "multiple"]), st.booleans(), st.sampled_from([False] * 7 + [True]))
STEPS = st.tuples(st.sampled_from(KINDS), st.integers(0, 1), st.lists(st.integers(0, 9), min_size=6, max_size=6))


ONE, LIST = Form("single"), Form("multiple")
PAIRS = [(ONE, LIST), (LIST, ONE)]
#: Most copies that a transaction writes: with the first everything, with the second nothing but what jobs do.
LIMITS = pytest.mark.parametrize("limit", [100, 0])


@pytest.fixture
def two(database, unattended):
    """A function that gives two gateways with these definitions, and the ids of three authors."""

    def define(mine, other, limit=100):
        gateways = [Gateway(database, form, limit) for form in (mine, other)]
        return *gateways, [gateways[0].add_author(name) for name in "xyz"]

    return define


@pytest.fixture
def stored_by(database):
    """A function that gives what a book holds in its relation."""
    return lambda book: database.book.find_one({"_id": book}).get("by")


@LIMITS
@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("pair", PAIRS)
def test_a_cascade_passes_over_what_holds_nothing_else_in_the_other_form(two, stored_by, pair, optional, limit):
    mine, other = pair
    here, there, [x, *_] = two(mine._replace(optional=optional), other, limit)
    books = [there.add_book([x]) for _ in range(4)]
    before = [stored_by(book) for book in books]
    assert here.cascade(x)["deletedCount"] == 1
    assert here.odm.work() == 0
    assert [stored_by(book) for book in books] == before
    named = {("by", "is a list" if mine == ONE else "is no list"), (f"by.{x}", "its source does not exist")}
    assert here.problems() == dict.fromkeys(books, named)
    assert there.problems() == dict.fromkeys(books, {(f"by.{x}", "its source does not exist")})


@LIMITS
@pytest.mark.parametrize("optional", [False, True])
def test_a_cascade_takes_one_of_several_from_a_list_whatever_is_declared(two, stored_by, optional, limit):
    here, there, [x, y, _] = two(ONE._replace(optional=optional), LIST, limit)
    book = there.add_book([x, y])
    here.cascade(x)
    assert here.odm.work() == 0
    assert stored_by(book) == [{"_id": y, "name": "y"}]
    assert there.problems() == {}


@LIMITS
@pytest.mark.parametrize("form", [ONE, LIST])
def test_a_cascade_is_what_the_gateway_defines_that_was_asked(two, database, form, limit):
    required, loose, [x, y, _] = two(form, form._replace(optional=True), limit)
    kept, gone = loose.add_book([x]), loose.add_book([y])
    loose.cascade(x)
    required.odm.work()
    required.cascade(y)
    loose.odm.work()
    assert [(one["_id"], one.get("by")) for one in database.book.find()] == [(kept, None)]
    assert gone != kept


@LIMITS
@pytest.mark.parametrize("pair", PAIRS)
def test_a_new_name_reaches_the_form_of_the_gateway_that_was_asked(two, stored_by, pair, limit):
    here, there, [x, *_] = two(*pair, limit)
    books = [gateway.add_book([x]) for gateway in (here, there)]
    here.rename(x, "new")
    there.odm.work()
    assert [copies_of({"by": stored_by(book)}) for book in books] == [
        [{"_id": x, "name": "new"}],
        [{"_id": x, "name": "x"}],
    ]
    assert ("by", "is a list" if here.form == ONE else "is no list") in here.problems()[books[1]]
    assert there.problems()[books[1]] == {(f"by.{x}", "differs from its source")}


@pytest.mark.mongo
@pytest.mark.parametrize("database", ["mongo"], indirect=True)
def test_the_jobs_of_two_definitions_wait_side_by_side(two, stored_by):
    here, there, [x, *_] = two(ONE, LIST, 0)
    books = [gateway.add_book([x]) for gateway in (here, there)]
    here.rename(x, "first")
    there.rename(x, "second")
    here.odm.work()
    assert [copies_of({"by": stored_by(book)})[0]["name"] for book in books] == ["second"] * 2


@pytest.mark.parametrize("pair", PAIRS)
def test_a_delete_is_refused_while_either_form_holds_the_document(two, pair):
    here, there, [x, *_] = two(*pair)
    there.add_book([x])
    with pytest.raises(StillReferenced) as refused:
        here.author.delete_one({"_id": x})
    assert refused.value.counts == {"book": 1}


def test_a_single_relation_leaves_the_other_documents_of_a_list(two, stored_by):
    here, there, [x, y, z] = two(ONE, LIST)
    book = there.add_book([x, y, z])
    here.part(book, [x])
    assert stored_by(book) == [{"_id": y, "name": "y"}, {"_id": z, "name": "z"}]


def test_a_single_relation_replaces_no_list_of_several(two, stored_by):
    here, there, [x, y, z] = two(ONE, LIST)
    book = there.add_book([x, y])
    before = stored_by(book)
    with pytest.raises(Conflict, match="book has several documents in by"):
        here.relate(book, [z], replace=True)
    assert stored_by(book) == before


def test_a_list_of_one_is_replaced_by_a_single_copy(two, stored_by):
    here, there, [x, y, _] = two(ONE, LIST)
    book = there.add_book([x])
    here.relate(book, [y], replace=True)
    assert stored_by(book) == {"_id": y, "name": "y"}
    assert here.problems() == {}


def test_a_single_copy_that_joins_a_list_is_taken_anew(two, stored_by):
    here, there, [x, y, _] = two(LIST, ONE)
    book = there.add_book([x])
    here.rename(x, "new")
    here.relate(book, [y])
    assert stored_by(book) == [{"_id": x, "name": "new"}, {"_id": y, "name": "y"}]
    assert here.problems() == {}


def test_a_frozen_copy_that_joins_a_list_stays_as_it_was(two, stored_by):
    here, there, [x, y, _] = two(LIST._replace(frozen=True), ONE._replace(frozen=True))
    book = there.add_book([x])
    here.rename(x, "new")
    here.relate(book, [y])
    assert stored_by(book) == [{"_id": x, "name": "x"}, {"_id": y, "name": "y"}]


@pytest.mark.parametrize("pair", PAIRS)
def test_a_window_lists_the_members_of_both_forms(two, database, pair):
    here, there, [x, *_] = two(*pair)
    first, second = there.add_book([x], "first"), here.add_book([x], "second")
    here.book.find_one_and_update({"_id": second}, {"$set": {"title": "new"}})
    listed = [{"_id": second, "title": "new"}, {"_id": first, "title": "first"}]
    assert database.author.find_one({"_id": x})["books"] == listed


@pytest.mark.parametrize("pair", PAIRS)
def test_a_window_lists_nobody_who_stays_out_of_it_in_either_form(two, database, pair):
    here, there, [x, y, _] = two(*pair)
    many = here if here.form == LIST else there
    listed = many.add_book([x], "listed")
    some = {"by": {"_ids": [y], "relatedRelations": {"books": False}}}
    many.book.add_relation({"_id": listed}, relations=some)
    for gateway in (here, there):
        relation = {**gateway.relation([x]), "relatedRelations": {"books": False}}
        gateway.book.insert_one({"title": "out"}, relations={"by": relation})
    for author, expected in ((x, [listed]), (y, [])):
        here.book.delete_one({"_id": here.add_book([author], "gone")})
        shown = database.author.find_one({"_id": author}).get("books", [])
        assert [one["_id"] for one in shown] == expected


@LIMITS
@pytest.mark.parametrize("form", [ONE, LIST])
def test_the_keys_of_a_copy_are_no_places_in_a_list(two, database, stored_by, form, limit):
    here, _, [x, *_] = two(form, ONE, limit)
    copy = {"_id": x, "name": "x", "0": "a", "1": "b"}
    database.book.insert_one({"_id": 1, "title": "t", "by": copy})
    here.rename(x, "new")
    here.odm.work()
    renewed = {**copy, "name": "new"} if form == ONE else copy
    assert stored_by(1) == renewed
    here.cascade(x)
    here.odm.work()
    assert [one["by"] for one in database.book.find()] == ([] if form == ONE else [copy])


@pytest.mark.parametrize("pair", PAIRS)
def test_repair_brings_what_loses_nothing_into_the_declared_form(two, stored_by, pair):
    here, there, [x, *_] = two(*pair)
    book = there.add_book([x])
    assert [problem.state for problem in here.odm.integrity.repair()] == ["mended"]
    copy = {"_id": x, "name": "x"}
    assert stored_by(book) == (copy if here.form == ONE else [copy])
    assert here.problems() == {}


# -- random histories


class _Asked(NamedTuple):
    """A cascade: which author, and how the gateway that deleted it defines the relation."""

    author: object
    form: Form


class History:
    """Plays steps by two gateways on a database, and knows what may be stored after each."""

    def __init__(self, db, forms, limit):
        for name in (*MODELS, "_gw_jobs"):
            db[name].delete_many({})
        self._db = db
        self._gateways = [Gateway(db, form, limit) for form in forms]
        self._names = {}
        self._by = {}
        self._out = {}
        self._asked = []
        self._count = 0
        self._stored = stored_in(db)

    def play(self, step):
        """Play a step; a refused one must change nothing."""
        kind, number, self._numbers = step[0], step[1], iter(step[2] * 9)
        self._before, refused = self._stored, False
        try:
            getattr(self, f"_{kind}")(self._gateways[number])
        except EXPECTED:
            refused = True
        self._stored = stored_in(self._db)
        assert not refused or self._stored == self._before
        self.judge()

    def _one(self, model):
        ids = sorted(self._before[model])
        return ids[next(self._numbers) % len(ids)] if ids else "0" * 24

    def _ids(self, gateway):
        most = 1 + next(self._numbers) % 3 if gateway.form.type == "multiple" else 1
        return list(dict.fromkeys(self._one("author") for _ in range(most)))

    def _is_listed(self):
        return next(self._numbers) % 3 > 0

    def _new_name(self):
        self._count += 1
        return f"name {self._count}"

    # -- steps

    def _author(self, gateway):
        name = self._new_name()
        self._names[gateway.add_author(name)] = {name}

    def _book(self, gateway):
        ids = [] if gateway.form.optional and next(self._numbers) < 2 else self._ids(gateway)
        listed = self._is_listed()
        book = gateway.add_book(ids, listed=listed)
        self._by[book], self._out[book] = set(ids), set() if listed else set(ids)

    def _review(self, gateway):
        gateway.add_review(self._one("book"))

    def _rename(self, gateway):
        """Rename an author; once all jobs are done, its copies in the gateway's form have the new name.

        Where a job is worked on, the relation must not be frozen either.
        """
        author, name = self._one("author"), self._new_name()
        self._names.setdefault(author, set()).add(name)
        if gateway.rename(author, name) is None or gateway.form.frozen or next(self._numbers) < 5:
            return
        worker = self._gateways[next(self._numbers) % 2]
        self._work(worker)
        if not worker.form.frozen and not gateway.odm.jobs():
            books = [one for one in self._db.book.find() if gateway.form.fits(one.get("by"))]
            copies = [copy for book in books for copy in copies_of(book) if copy["_id"] == author]
            assert {copy["name"] for copy in copies} <= {name}

    def _retitle(self, gateway):
        gateway.book.find_one_and_update({"_id": self._one("book")}, {"$set": {"title": self._new_name()}})

    def _delete(self, gateway):
        author = self._one("author")
        gateway.author.delete_one({"_id": author})
        held = [one for one in self._before["book"].values() if author in _ids_in(one)]
        assert gateway.form.frozen or not held

    def _cascade(self, gateway):
        author = self._one("author")
        self._asked.append(_Asked(author, gateway.form))
        gateway.cascade(author)
        if next(self._numbers) < 5:
            self._work(self._gateways[next(self._numbers) % 2])
        stored = stored_in(self._db)["book"]
        for id_, book in self._before["book"].items():
            if not gateway.form.fits(book.get("by")) and _ids_in(book) == {author}:
                assert _ids_in(stored[id_]) == {author}

    def _add(self, gateway, replace=False):
        book, ids = self._one("book"), self._ids(gateway)
        listed = self._is_listed()
        if gateway.relate(book, ids, replace, listed) is not None:
            kept = set() if replace or gateway.form.type == "single" else self._out[book] - {*ids}
            self._out[book] = kept if listed else kept | {*ids}
            several = len(copies_of(self._before["book"][book])) > 1
            assert not several or gateway.form.type == "multiple"
            self._by[book] = {*ids} if replace else {*ids, *self._by[book]}
            if not gateway.form.frozen and not gateway.form.fits(self._before["book"][book].get("by")):
                names = {one["_id"]: one["name"] for one in self._db.author.find()}
                copies = copies_of(self._db.book.find_one({"_id": book}))
                assert [copy["name"] for copy in copies] == [names[copy["_id"]] for copy in copies]

    def _replace(self, gateway):
        self._add(gateway, replace=True)

    def _remove(self, gateway):
        book, ids = self._one("book"), self._ids(gateway)
        if gateway.part(book, ids) is not None:
            self._by[book] -= {*ids}
            self._out[book] -= {*ids}

    def _repair(self, gateway):
        found = list(gateway.odm.integrity.repair())
        assert [one for one in found if one.reason == "is no list" and one.state != "mended"] == []

    def _work(self, gateway):
        gateway.odm.work()

    # -- the judge

    def judge(self):
        """Compare all that is stored with what was asked for."""
        stored = self._stored
        assert self._lost(stored) == []
        for id_, book in stored["book"].items():
            value, copies, ids = book.get("by"), copies_of(book), _ids_in(book)
            assert value != []
            assert len(ids) == len(copies)
            assert ids <= self._by[id_]
            assert self._by[id_] & stored["author"].keys() <= ids
            assert [copy for copy in copies if not self._was(copy)] == []

    def _was(self, copy):
        return copy.keys() == {"_id", "name"} and copy["name"] in self._names[copy["_id"]]

    def _lost(self, stored):
        """Return the documents that are gone although no cascade asked for it."""
        gone = {name: self._before[name].keys() - stored[name].keys() for name in MODELS}
        lost = [id_ for id_ in gone["book"] if not self._is_doomed(self._before["book"][id_], stored["author"])]
        reviews = [self._before["review"][id_]["of"]["_id"] for id_ in gone["review"]]
        return lost + [id_ for id_ in reviews if id_ in stored["book"]]

    def _is_doomed(self, book, authors):
        ids = _ids_in(book)
        asked = [one.form for one in self._asked if one.author in ids and one.author not in authors]
        right = [form for form in asked if not form.optional and not form.frozen and form.fits(book.get("by"))]
        return bool(right) and ids.isdisjoint(authors)

    def end(self):
        """Do all jobs; afterwards each check names what is of another form, or not as its source."""
        self._before = self._stored
        for gateway in self._gateways:
            gateway.odm.work()
        stored = self._stored = stored_in(self._db)
        self.judge()
        assert self._gateways[0].odm.jobs() == []
        assert self._wrong_windows(stored) == []
        for gateway in self._gateways:
            named = gateway.problems()
            for id_, book in stored["book"].items():
                assert self._unnamed(gateway.form, book, stored["author"], named.get(id_, set())) == []

    def _unnamed(self, form, book, authors, named):
        """Return what is wrong with a book and not among the problems that a check names."""
        of_form = form.fits(book.get("by"))
        if not of_form and not any(path == "by" and reason in OTHER_FORM for path, reason in named):
            return [book]
        paths = {path for path, _reason in named}
        wrong = [copy["_id"] for copy in copies_of(book) if copy["name"] != authors.get(copy["_id"], {}).get("name")]
        return [id_ for id_ in wrong if of_form and not form.frozen and f"by.{id_}" not in paths]

    def _wrong_windows(self, stored):
        found = []
        for id_, author in stored["author"].items():
            books = [one for one in stored["book"].values() if id_ in _ids_in(one)]
            members = [one["_id"] for one in books if id_ not in self._out[one["_id"]]]
            copies = [{"_id": one["_id"], "title": one["title"]} for one in books]
            listed = sorted((copy for copy in copies if copy["_id"] in members), key=itemgetter("_id"), reverse=True)
            if author.get("books", []) != listed[:LISTED] or author.get("latest") not in (None, *copies):
                found.append((author, copies))
        return found


def _ids_in(book):
    return {copy["_id"] for copy in copies_of(book)}


@pytest.mark.slow
@examples(60)
@given(
    forms=st.tuples(FORMS, FORMS),
    limit=st.sampled_from([0, 0, 2, 100]),
    steps=st.lists(STEPS, min_size=10, max_size=30),
)
def test_no_history_of_two_definitions_loses_a_document_or_a_copy(database, unattended, forms, limit, steps):
    history = History(database, forms, limit)
    first = [("author", number, [number] * 6) for number in (0, 1, 0)]
    first += [("book", number % 2, [2, 2, 0, 1, 2, 0]) for number in range(4)]
    first += [("book", number % 2, [number, number + 1, 2] * 2) for number in range(2, 6)]
    for step in [*first, *steps]:
        history.play(step)
    history.end()
