"""Faults that are planted into the code, each with the test that has to notice it.

`python tests/support/hostile/planted_faults.py [NAME…]` plants each of them (or those named) into a copy of
the checkout and runs its test there: it must fail with the fault, and pass without. A fault that no test
notices says that a test is missing. `--find NAME PATH…` tells which tests of some files notice it, for
whoever adds one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from hostile.faults import compiler, runtime, tools  # noqa: E402
from hostile.faults.fault import Fault  # noqa: E402

SECONDS = 300
"""Most for one test on a busy machine. A planted fault may make a program run forever."""
PACKAGES = ("runtime", "kernels", "stdlib", "grammar")
"""Folders that are imported from below `sglc` (see `pyproject.toml`)."""

FAULTS = (*compiler.FAULTS, *runtime.FAULTS, *tools.FAULTS)


class Copy:
    """A copy of the checkout, in which the package is imported from the copy whatever is installed."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.imported = folder / "imported"
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_file():
                target.write_bytes((ROOT / name).read_bytes())
        package = self.imported / "sglc"
        package.mkdir(parents=True)
        for entry in (self.root / "sglc").iterdir():
            (package / entry.name).symlink_to(entry)
        for name in PACKAGES:
            (package / name).symlink_to(self.root / name)
        self._changes = int(time.time())

    def write(self, file: str, text: str) -> None:
        """Change a file, so that no compiled file of an earlier text is taken for it."""
        path = self.root / file
        path.write_text(text, encoding="utf-8")
        self._changes += 10
        os.utime(path, (self._changes, self._changes))

    def test(self, nodes: list[str], *options: str) -> tuple[int, str]:
        """The exit status of pytest, and what it says; 1 where it had to be stopped."""
        command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *nodes]
        environment = {**os.environ, "PYTHONPATH": str(self.imported)}
        try:
            done = subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return 1, f"stopped after {SECONDS} s"
        return done.returncode, done.stdout + done.stderr


def planted(fault: Fault, text: str) -> str:
    """The text with the fault. Raises ValueError unless the old text stands in it exactly once."""
    count = text.count(fault.old)
    if count != 1:
        raise ValueError(f"{fault.name}: the old text stands {count} times in {fault.file}")
    return text.replace(fault.old, fault.new)


def try_fault(copy: Copy, fault: Fault, nodes: list[str], *options: str) -> tuple[int, str]:
    """What tests say of a copy with the fault; the copy is as before when this returns."""
    sound = (copy.root / fault.file).read_text(encoding="utf-8")
    copy.write(fault.file, planted(fault, sound))
    try:
        return copy.test(nodes, *options)
    finally:
        copy.write(fault.file, sound)


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="sglc-planted-") as folder:
        copy = Copy(Path(folder))
        if arguments[:1] == ["--find"]:
            fault = next(fault for fault in FAULTS if fault.name == arguments[1])
            said = try_fault(copy, fault, arguments[2:])[1]
            print("\n".join(re.findall(r"^(?:FAILED|ERROR) .*", said, re.MULTILINE)) or said[-2000:])
            return 0
        meant = [fault for fault in FAULTS if not arguments or fault.name in arguments]
        if len(meant) < len(arguments):
            print("names are: " + "; ".join(fault.name for fault in FAULTS))
            return 2
        status, said = copy.test(sorted({fault.test for fault in meant}))
        if status:
            print(f"the tests do not pass without a fault:\n{said[-3000:]}")
            return 2
        missed = 0
        for fault in meant:
            status, said = try_fault(copy, fault, [fault.test], "-x")
            caught = status == 1
            missed += not caught
            print(f"{'caught    ' if caught else 'NOT CAUGHT'} {fault.name}: {fault.test}", flush=True)
            if status > 1:
                print(said[-2000:])
        print(f"{len(meant) - missed} of {len(meant)} caught")
        return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
