"""Each module has its test file: `gatewayfw/odm/ids.py` is tested by `tests/odm/test_ids.py`."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent

#: Modules without a test file, and why. What has rules of its own is not among them.
EXEMPT = {
    "export/typescript/batches.py": "holds text only; what it means, the compilers say",
    "export/typescript/parts.py": "holds text only; what it means, the compilers say",
    "testing/storage_suite/deadlines.py": "is tests itself",
    "testing/storage_suite/filters.py": "is tests itself",
    "testing/storage_suite/indexes.py": "is tests itself",
    "testing/storage_suite/locks.py": "is tests itself",
    "testing/storage_suite/reads.py": "is tests itself",
    "testing/storage_suite/topic.py": "is what those tests share",
    "testing/storage_suite/transactions.py": "is tests itself",
    "testing/storage_suite/uniqueness.py": "is tests itself",
    "testing/storage_suite/updates.py": "is tests itself",
    "testing/storage_suite/writes.py": "is tests itself",
}


def modules():
    """Return the modules of the package by path, without what only gathers names."""
    package = ROOT / "gatewayfw"
    found = (path.relative_to(package) for path in package.rglob("*.py"))
    return {str(path): path for path in found if not path.name.startswith("__")}


def missing():
    """Return the modules that have no test file."""
    tests = ROOT / "tests"
    return {name for name, path in modules().items() if not (tests / path.parent / f"test_{path.name}").is_file()}


def test_each_module_has_its_test_file():
    assert sorted(missing() - EXEMPT.keys()) == []


def test_what_is_exempt_is_there_and_has_no_test_file():
    assert sorted(EXEMPT.keys() - missing()) == []
