"""Run mongod for another process, and end it however that process ends.

`mongod.py` runs this file as a program: ``supervisor.py FOLDER REMOVE ARGV...``. Its standard
input is a pipe whose other end only the owner holds, so the kernel closes it even when the
owner is killed; a byte, or the end of the pipe, means stop. ``PR_SET_PDEATHSIG`` was rejected:
it is Linux only and fires when the *thread* that started mongod ends.

The folder is locked for as long as mongod runs. The exit status is mongod's, `IN_USE` or `CANNOT_RUN`.
This file imports the standard library only, so that it starts in a few milliseconds.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from io import BufferedWriter
from pathlib import Path

#: Exit status: another process works on the folder.
IN_USE = 75
#: Exit status, as a shell gives it: the program cannot be run.
CANNOT_RUN = 126
#: Seconds to wait for the folder; an owner that was just killed leaves its mongod a moment behind.
LOCK_WAIT = 3.0
#: Seconds that mongod may take to end before it is killed.
STOP_WAIT = 10.0


def main(folder: Path, remove: bool, argv: list[str]) -> int:
    """Run ``argv`` until it ends or the owner does; return its exit status."""
    with (folder / "lock").open("wb") as lock:
        if not locked(lock):
            return IN_USE
        with (folder / "mongod.log").open("wb") as log:
            try:
                mongod = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            except OSError as error:
                log.write(f"{error}\n".encode())
                return CANNOT_RUN
        signal.signal(signal.SIGTERM, lambda *_: mongod.terminate())
        stopped = threading.Event()
        threading.Thread(target=stop_with_owner, args=(mongod, stopped), daemon=True).start()
        status = mongod.wait()
        if remove and stopped.is_set():  # else the owner wants to read the log
            shutil.rmtree(folder, ignore_errors=True)
    return status if status >= 0 else 128 - status


def locked(lock: BufferedWriter) -> bool:
    """Lock the file for this process; tell whether that succeeded within `LOCK_WAIT`."""
    end = time.monotonic() + LOCK_WAIT
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        else:
            return True


def stop_with_owner(mongod: subprocess.Popen[bytes], stopped: threading.Event) -> None:
    """Wait for the owner's word or end, then stop mongod."""
    os.read(0, 1)  # not sys.stdin: its lock, held here, would abort the interpreter at its end
    stopped.set()
    mongod.terminate()
    try:
        mongod.wait(STOP_WAIT)
    except subprocess.TimeoutExpired:
        mongod.kill()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2] == "remove", sys.argv[3:]))
