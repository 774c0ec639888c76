"""TypeScript's compilers and Node, for the tests of what is generated."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.installing import ran

HERE = Path(__file__).parent / "ts"
#: The compilers by the folder that npm puts them in.
COMPILERS = ["typescript", "typescript-5"]
#: A checker of small programs ends before the machine code that V8 makes of it pays: without, it takes 3/5 of the time.
NODE = ["node", "--no-opt"]


@dataclass(frozen=True)
class Project:
    """A folder of TypeScript files that import each other."""

    folder: Path
    compilers: Path

    def compiles(self, compiler: str, *words: str) -> str:
        """What the compiler prints of the whole folder; fails the test if there is an error."""
        tsc = self.compilers / "node_modules" / compiler / "bin" / "tsc"
        return ran([*NODE, str(tsc), "-p", ".", *words], self.folder)

    def refused(self, compiler: str) -> str:
        """What the compiler prints of a folder with an error."""
        tsc = self.compilers / "node_modules" / compiler / "bin" / "tsc"
        command = [*NODE, str(tsc), "-p", ".", "--noEmit"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode != 0
        return done.stdout

    def runs(self, name: str, *words: str) -> str:
        """What a file prints that was compiled before; fails the test if it fails."""
        (self.folder / "package.json").write_text('{"type": "module"}')
        return ran(["node", f"out/{name}.js", *words], self.folder)
