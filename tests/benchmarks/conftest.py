"""Fixtures of the tests of the benchmarks: a small dataset, and no server where one is not needed."""

from __future__ import annotations

import random

import pytest
from pymongo import MongoClient

from benchmarks import dataset

SIZE = dataset.Size(countries=5, users=300)


@pytest.fixture
def filled(mongod_uri):
    """A database with the small dataset, which is dropped at the end."""
    with MongoClient(mongod_uri, w="majority") as client:
        name = f"bench_{random.randrange(16**8):08x}"
        dataset.seed(client[name], SIZE)
        yield client[name]
        client.drop_database(name)
