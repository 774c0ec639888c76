"""Commits of the MongoDB adapter that fail."""

from __future__ import annotations

import time
from types import SimpleNamespace

from pymongo import errors
from pymongo.client_session import ClientSession

TRANSACTIONS = "gatewayfw.storage.mongo.transactions"
UNKNOWN = "UnknownTransactionCommitResult"


def failing_commit(monkeypatch, label, really, times=10**9):
    """Make commits raise an error with a label, after they happened or without; return a list of one for each."""
    commit, calls = ClientSession.commit_transaction, []

    def fail(session):
        calls.append(1)
        if really or len(calls) > times:
            commit(session)
        if len(calls) <= times:
            raise unanswered(label)

    monkeypatch.setattr(ClientSession, "commit_transaction", fail)
    return calls


def unanswered(label=UNKNOWN):
    """Return the driver's error for a commit, with a label."""
    return errors.OperationFailure("made up", 91, {"errorLabels": [label]})


def take_a_minute(monkeypatch, calls):
    """Let each of these commits take longer than an operation has, so that none is sent again."""
    monkeypatch.setattr(f"{TRANSACTIONS}.time", SimpleNamespace(monotonic=lambda: 60.0 * len(calls), sleep=time.sleep))
    monkeypatch.setattr(f"{TRANSACTIONS}.LOOK", 20.0)  # however slow the machine is
