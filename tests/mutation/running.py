"""Runs tests on mutants, in copies of the tree."""

from __future__ import annotations

import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gatewayfw.testing.mongod import LocalMongod, MongodNotFound

#: Exit statuses of pytest: all passed, and none was there.
PASSED, NONE = 0, 5
#: Without the plugins whose import takes longer than most tests.
OPTIONS = (
    *("-x", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:xdist"),
    *("--timeout", "120", "--no-header", "--tb=no"),
)
#: Seconds that a round of tests may take: a start, and a multiple of what it took when it was recorded. Of one that
#: was not, nobody knows how long it takes on a busy machine; its tests that hang still end, see above.
START, SLOWER, UNRECORDED = 300, 10, 3600


class Scratch:
    """A copy of the tree in which one file at a time is changed."""

    def __init__(self, folder, mongo):
        self.root = folder / "tree"
        self._running = None
        temporary = folder / "t"
        temporary.mkdir()
        self._environment = os.environ | {
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(temporary),
            **({"GATEWAYFW_TEST_MONGO_URI": mongo} if mongo else {}),
        }

    @contextmanager
    def changed(self, mutant):
        """Have a mutant in the copy."""
        file = self.root / mutant.path
        file.write_text(mutant.new, "utf-8")
        try:
            yield
        finally:
            file.write_text(mutant.old, "utf-8")

    def run(self, *args, timeout=None):
        """Run Python in the copy; return exit status and output, None as status when time was up."""
        command = ["nice", "-n", "19", sys.executable, *args]
        self._running = process = subprocess.Popen(
            command,
            cwd=self.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end(process)
            return None, process.communicate()[0]
        end(process)
        return process.returncode, output

    def stop(self):
        """End what runs, and what it started."""
        if self._running and self._running.returncode is None:
            end(self._running)


def end(process):
    """End a process and what it left behind in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@contextmanager
def scratch(mongo):
    """Give a copy of the files that git knows, as they are now."""
    # A short name: paths of sockets below it must stay below 100 characters.
    with tempfile.TemporaryDirectory(prefix="mut", ignore_cleanup_errors=True) as folder:
        given = Scratch(Path(folder), mongo)
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], check=True, capture_output=True, text=True
        ).stdout
        for name in filter(os.path.isfile, listed.split("\0")):
            target = given.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, target)
        if Path(".mypy_cache").is_dir():
            shutil.copytree(".mypy_cache", given.root / ".mypy_cache")
        # No later run writes bytecode: that of a mutant must not outlive it.
        subprocess.run([sys.executable, "-m", "compileall", "-q", given.root], check=True)
        yield given


class Copies:
    """Copies of the tree, each with a mongod of its own where there is one, that work side by side."""

    def __init__(self, all_):
        self._all = all_
        self._free = queue.SimpleQueue()
        for copy in all_:
            self._free.put(copy)

    def each(self, work, items):
        """Give each item with what ``work(copy, item)`` returns, in their order; Ctrl-C ends what runs."""

        def one(item):
            copy = self._free.get()
            try:
                return item, work(copy, item)
            finally:
                self._free.put(copy)

        with ThreadPoolExecutor(len(self._all)) as pool:
            try:
                yield from pool.map(one, items)
            finally:
                for copy in self._all:
                    copy.stop()


@contextmanager
def copies(count):
    """Give so many copies of the tree."""
    with ExitStack() as stack:
        yield Copies([stack.enter_context(scratch(server(stack))) for _ in range(count)])


def server(stack):
    """Return the URI of a mongod that runs until a stack is left; None where there is none."""
    try:
        return stack.enter_context(LocalMongod()).uri
    except MongodNotFound:
        return None


def killer(copy, rounds, *, types=True):
    """Return what sees the mutant that is in the copy: a test, `types`, or None when it survives."""
    for tests, seconds in rounds:
        if not tests:
            continue
        limit = START + SLOWER * seconds if seconds else UNRECORDED
        status, output = copy.run("-m", "pytest", *OPTIONS, *tests, timeout=limit)
        if status is None:
            return "timeout"
        if status not in (PASSED, NONE):
            return first_failure(output)
    return "types" if types and copy.run("-m", "mypy")[0] else None


def first_failure(output):
    """Return the name of the test that failed; without one, the last line of the output."""
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.M)
    return found[1] if found else next(iter(output.strip().splitlines()[-1:]), "no output")
