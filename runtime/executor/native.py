"""The native executor: models of the Llama family on the CPU, a step in one call of machine code.

Weights stay quantised in mapped memory; activations, keys and values are bytes. The code is made for the
model's shape and the processor at hand, and kept on disk. What a sequence gives does not depend on what else
is in a step, on how it was cut into steps, or on the number of threads: results are equal to the last bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np

from sglc.cache_files import cache_folder, is_own_folder, make_private
from sglc.kernels.dsl.addresses import address
from sglc.kernels.dsl.language import Specialised
from sglc.kernels.dsl.structs import KINDS
from sglc.kernels.dsl.vectors import LANES
from sglc.kernels.jit_library import typed_library
from sglc.kernels.llama.argmax import argmax
from sglc.kernels.llama.attention import byte_numbers, score_numbers
from sglc.kernels.llama.linear import FACTORS, FINE
from sglc.kernels.llama.step import ALONE, Batch, ModelArrays, Scratch, scratch_numbers, step
from sglc.kernels.llama.weight_layout import kinds_mask, matrix_bytes
from sglc.runtime.executor.plan import ExecutorError, Piece
from sglc.runtime.executor.rows import RowBuffers
from sglc.runtime.executor.thread_pool import ThreadPool, processors
from sglc.runtime.executor.thread_tuner import ThreadTuner
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.model.config import read_config
from sglc.runtime.model.load import cache_directory
from sglc.runtime.model.step_time_model import StepTimeModel
from sglc.runtime.model.weights import packed
from sglc.runtime.model.weights.convert import MANIFEST, Progress
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.family import Family, NotNativeError, family_of
from sglc.runtime.model.weights.fewer_layers import without_layers
from sglc.runtime.model.weights.packed import FolderSource, PackedModel, matrix_names, open_packed, pack
from sglc.runtime.tokenizer import Tokenizer

MOST_ROWS = 256
"""Tokens of one native call; longer steps are several. Bounds the memory to work in."""
LAYOUT = 4
"""Version of the layout and the arithmetic of keys and values; blocks of another one are not read again."""
_COUNTERS = 8
"""Numbers of a line of memory: one for all threads, one for each of them, for each layer and for the head."""
LOGITS_A_THREAD = 1 << 19
"""Logits that are worth another thread to look for the largest: to wake it takes a tenth of a millisecond."""


class NativeExecutor:
    """Implements `Executor`."""

    kind = "native"
    invariant = True
    trees = False
    prompt_tokens = 256  # larger products gain nothing: weights are read once for 16 tokens and more

    def __init__(
        self, name: str, tokenizer: Tokenizer, family: Family, model: PackedModel, threads: int | None = None
    ) -> None:
        """`threads` fixes the number of threads; None takes what the machine has, fewer while it is loaded.

        Raises NotNativeError where no code can be made for this machine.
        """
        shape = family.shape
        self.name, self.tokenizer = name, tokenizer
        self.context_length = family.context_length
        self.block_bytes = shape.block_bytes
        self.identity = f"native {LAYOUT} {packed.FORMAT} {model.digest}"
        self._family, self._model = family, model
        one = Specialised(step, step_constants(family, model))
        library = typed_library(one, wide=True).functions()
        if library is None:
            raise NotNativeError("no machine code can be made for this processor")
        self._step = getattr(library, one.name)
        reader = typed_library(argmax, wide=True).functions()
        if reader is None:
            raise NotNativeError("no machine code can be made for this processor")
        self._argmax = reader.argmax
        self.best: np.ndarray | None = None
        self._thread_pool = ThreadPool(threads or processors())
        self._tuner = ThreadTuner(self._thread_pool.most) if threads is None else None
        self._step_time_models: dict[int, StepTimeModel] = {}
        """How many threads are best for steps of a size, by the number of bits of that size."""
        self._threads = self._thread_pool.most
        """Of the last step."""
        self._pool = _lines(0, np.uint8)
        self._written = bytearray()
        """By block: whether it holds anything."""
        none = np.zeros((0, shape.turned // 2), np.float32)
        self._arrays = ModelArrays(
            w=model.weights,
            places=model.places,
            vectors=model.vectors,
            windows=np.array(family.windows, np.int64),
            cosines=none,
            sines=none,
        )
        self._logits = RowBuffers(shape.padded_vocabulary)
        self._scratch = _no_scratch()
        self._room = 0
        self._closed = False

    @classmethod
    def from_directory(
        cls,
        folder: Path,
        *,
        name: str | None = None,
        threads: int | None = None,
        bits: int = 8,
        left_out: Sequence[int] = (),
        progress: Progress | None = None,
    ) -> NativeExecutor:
        """Load a folder with config.json, tokenizer.json and weights.

        `bits`, 8 or 4, are for weights that are not quantised yet; `left_out` are layers to go without.
        Raises NotNativeError with the reason where the model or the machine does not allow it, ModelError
        where the model is damaged.
        """
        family = family_of(read_config(folder))
        with ThreadPoolExecutor(1) as other:  # checking the digest leaves the interpreter to the tokenizer
            kept = other.submit(kept_weights, folder, family, bits)
            tokenizer = Tokenizer.from_directory(folder, size=family.shape.vocabulary)
            model = kept.result()
        if model is None:
            model = new_weights(folder, family, bits, progress)
        if left_out:
            family, model = without_layers(family, model, left_out, name or folder.name)
        return cls(name or folder.name, tokenizer, family, model, threads)

    @property
    def weight_bytes(self) -> int:
        """Bytes of the weights that a step reads; of the embeddings only where they are the head too."""
        kinds = self._model.places[:, 1].tolist()
        sizes = [
            matrix_bytes(outputs, inputs, kind)
            for (_, outputs, inputs), kind in zip(matrix_names(self._family), kinds, strict=True)
        ]
        return sum(sizes) - sizes[-2]

    # -- blocks ---------------------------------------------------------------------------------------

    def reserve(self, blocks: int) -> None:
        """See `Executor.reserve`. Memory is taken from the system as blocks are written."""
        have = len(self._written)
        if blocks <= have:
            return
        size = self.block_bytes
        pool = _lines(blocks * size, np.uint8)
        for block in np.flatnonzero(np.frombuffer(self._written, np.uint8)).tolist():
            pool[block * size : (block + 1) * size] = self._pool[block * size : (block + 1) * size]
        self._pool = pool
        self._written = self._written + bytes(blocks - have)

    def copy_block(self, source: int, target: int) -> None:
        """See `Executor.copy_block`. Raises ExecutorError for a block beyond the pool."""
        self._block(target)[:] = self._block(source)
        self._written[target] = True

    def read_block(self, block: int) -> bytes:
        """See `Executor.read_block`: keys and values as `kernels/llama/kv_layout.py` lays them out."""
        return self._block(block).tobytes()

    def write_block(self, block: int, data: bytes) -> None:
        """See `Executor.write_block`. Raises ValueError for another number of bytes."""
        if len(data) != self.block_bytes:
            raise ValueError(f"a block has {self.block_bytes} bytes, not {len(data)}")
        self._block(block)[:] = np.frombuffer(data, np.uint8)
        self._written[block] = True

    def _block(self, block: int) -> np.ndarray:
        if not 0 <= block < len(self._written):
            raise ExecutorError(f"the pool has {len(self._written)} blocks, no number {block}")
        return self._pool[block * self.block_bytes : (block + 1) * self.block_bytes]

    def close(self) -> None:
        """End the threads and free the pool. More calls do nothing."""
        if not self._closed:
            self._closed = True
            self._thread_pool.close()
            self._pool = _lines(0, np.uint8)
            self._written = bytearray()
            self._logits, self._scratch, self._room = RowBuffers(0), _no_scratch(), 0

    # -- steps ----------------------------------------------------------------------------------------

    def run(self, pieces: Sequence[Piece]) -> np.ndarray:
        """See `Executor.run`."""
        if self._closed:
            raise ExecutorError("the executor is closed")
        self._check(pieces)
        shape = self._family.shape
        rows = self._logits.take(sum([piece.wanted for piece in pieces]))
        done = 0
        for part in _parts(pieces):
            done += self._call(part, rows[done:])
        self.best = self._best_of(rows)
        return rows[:, : shape.vocabulary]

    def _best_of(self, rows: np.ndarray) -> np.ndarray:
        """Places of the largest logits, int32 [rows]."""
        best = np.empty(len(rows), np.int32)
        before = (address(rows), len(rows), self._family.shape.vocabulary, rows.shape[1], address(best))
        self._thread_pool.run(self._argmax, before, (), min(self._threads, 1 + rows.size // LOGITS_A_THREAD))
        return best

    def _check(self, pieces: Sequence[Piece]) -> None:
        """A piece that is wrong must not reach code that checks nothing."""
        for table, start, tokens, wanted, _ in pieces:
            count = len(tokens)
            end = start + count
            if not count or start < 0 or end > self.context_length:
                raise ExecutorError(
                    f"positions {start} to {end} are not in a window of {self.context_length}"
                )
            if not 0 <= wanted <= count:
                raise ExecutorError(f"logits of {wanted} of {count} tokens")
            if len(table) * BLOCK_TOKENS < end:
                raise ExecutorError(f"{len(table)} blocks for {end} positions")

    def _call(self, pieces: Sequence[Piece], logits: np.ndarray) -> int:
        """One native call; its logits go to the first rows of `logits`. Returns how many rows there are."""
        shape = self._family.shape
        tokens: list[int] = []
        positions: list[int] = []
        rows: list[int] = []
        last: list[int] = []
        blocks: list[int] = []
        touched: list[int] = []
        longest = max([piece.start + len(piece.tokens) for piece in pieces])
        most_blocks = -(-longest // BLOCK_TOKENS)
        none = [0] * most_blocks
        for number, (table, start, given, wanted, _) in enumerate(pieces):
            count = len(given)
            end, needed = start + count, -(-(start + count) // BLOCK_TOKENS)
            tokens += given
            positions += range(start, end)
            rows += [number] * count
            last += range(len(tokens) - wanted, len(tokens))
            blocks += table[:needed]
            blocks += none[needed:]
            touched += table[start // BLOCK_TOKENS : needed]
        if min(tokens) < 0 or max(tokens) >= shape.vocabulary:
            raise ExecutorError("a token that the model does not have")
        if min(blocks) < 0 or max(blocks) >= len(self._written):
            raise ExecutorError(f"a block that a pool of {len(self._written)} does not have")
        for block in touched:
            self._written[block] = True
        where = np.array([tokens, positions, rows], np.int32)
        tables = np.fromiter(blocks, np.int32, len(blocks))
        behind = np.array(last, np.int32)
        self._angles_up_to(longest)
        stride = -(-longest // (2 * LANES)) * 2 * LANES
        self._make_room(len(tokens), stride)
        batch = Batch(
            pool=self._pool,
            tokens=where[0],
            positions=where[1],
            rows=where[2],
            count=len(tokens),
            table=tables,
            most_blocks=most_blocks,
            sequences=len(pieces),
            last=behind,
            last_count=len(last),
            logits=logits,
            logits_stride=logits.shape[1],
            longest=stride,
            counters=np.zeros((2 + self._thread_pool.most + shape.layers) * _COUNTERS, np.int64),
        )
        self._invoke(batch, (self._family.epsilon, shape.size**-0.5))
        return len(last)

    def _invoke(self, batch: Batch, after: Sequence[float]) -> None:
        """Run the step; `after` are its arguments behind the thread and the number of threads.

        It takes as many threads as get a processor, and of these as many as are best for steps of about as
        many tokens.
        """
        given = self._arrays, batch, self._scratch
        tuner, most = self._tuner, self._thread_pool.most
        if tuner is None or most == 1:
            self._thread_pool.run(self._step, given, after, most)
            return
        step_time_model = self._step_time_models.setdefault(batch.count.bit_length(), StepTimeModel(most))
        allowed = tuner.threads()
        self._threads = (
            step_time_model.threads() if allowed == most else min(allowed, step_time_model.settled)
        )
        started = perf_counter()
        self._thread_pool.run(self._step, given, after, self._threads)
        seconds = perf_counter() - started
        times = batch.counters[_COUNTERS : _COUNTERS * (1 + self._threads)].tolist()
        whole, running = times[::_COUNTERS], times[1::_COUNTERS]
        lost = max([a - b for a, b in zip(whole, running, strict=True)]) / 1e9
        if tuner.record(self._threads, max(whole) / 1e9, lost) and allowed == most:
            step_time_model.record(seconds / batch.count)

    def _make_room(self, rows: int, stride: int) -> None:
        """Places to work in for so many tokens, the longest of them behind fewer than `stride` others."""
        most, shape = self._thread_pool.most, self._family.shape
        rows = max(rows, ALONE * most)
        if rows > self._room:
            self._room = rows
            every = shape.heads * shape.size
            wide = max(shape.inner, every)
            self._scratch = self._scratch.changed(
                x=_lines(rows * shape.width, np.float32),
                qkv=_lines(rows * shape.all_heads, np.float32),
                h=_lines(most * scratch_numbers(every, shape.width), np.float32),
                q=_lines(rows * shape.width, np.int8),
                factors=_lines(rows * shape.width // 32 * FINE, np.float32),
                inner_q=_lines(rows * wide, np.int8),
                inner_factors=_lines(rows * wide // 32 * FACTORS, np.float32),
            )
        floats = most * score_numbers(shape.together, stride)
        spare = most * byte_numbers(shape.together, stride, shape.size)
        if len(self._scratch.scores) < floats or len(self._scratch.spare) < spare:
            self._scratch = self._scratch.changed(
                scores=_lines(2 * floats, np.float32), spare=_lines(2 * spare, np.int8)
            )

    def _angles_up_to(self, length: int) -> None:
        """Take the angles of so many positions into the model's arrays."""
        arrays = self._arrays
        have = len(arrays.cosines)
        if have < length:
            more = self._family.angles(have, max(length, min(2 * have, self.context_length), 256))
            cosines, sines = (
                np.concatenate([arrays.cosines, more[0]]),
                np.concatenate([arrays.sines, more[1]]),
            )
            self._arrays = arrays.changed(cosines=cosines, sines=sines)


def step_constants(family: Family, model: PackedModel) -> dict[str, int]:
    """What the code of a step is made for."""
    kinds = model.places[:, 1].tolist()
    # Rows of embeddings are read whatever their kind is.
    return {**family.shape.constants(), "kinds": kinds_mask(kinds[:-2]), "head_kinds": kinds_mask(kinds[-1:])}


def _parts(pieces: Sequence[Piece]) -> Sequence[Sequence[Piece]]:
    """The pieces in native calls of at most `MOST_ROWS` tokens; a piece that is longer is cut."""
    if sum([len(piece.tokens) for piece in pieces]) <= MOST_ROWS:
        return [pieces] if pieces else []
    parts: list[list[Piece]] = []
    room = 0
    for piece in pieces:
        count, start = len(piece.tokens), 0
        while start < count:
            if room == 0:
                parts.append([])
                room = MOST_ROWS
            stop = min(count, start + room)
            wanted = max(0, stop - max(start, count - piece.wanted))
            if start == 0 and stop == count:
                parts[-1].append(piece)
            else:
                parts[-1].append(Piece(piece.table, piece.start + start, piece.tokens[start:stop], wanted))
            room -= stop - start
            start = stop
    return parts


def _no_scratch() -> Scratch:
    kinds = {name: KINDS[field.kind] for name, field in Scratch.fields.items()}
    return Scratch(**{name: _lines(0, kind) for name, kind in kinds.items()})


def _lines(count: int, kind: type) -> np.ndarray:
    """An array that begins at a multiple of 64 bytes; its memory is not touched."""
    size = np.dtype(kind).itemsize
    raw = np.empty(count * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * size].view(kind)


def kept_weights(folder: Path, family: Family, bits: int = 8) -> PackedModel | None:
    """The weights of a folder as the step reads them, if they are kept.

    A folder that was converted from GGUF into the cache has them as a file of its own. For others they are
    kept in the cache, by what the folder's files are now: machine code reads packed weights by the numbers in
    their head, so none are taken that came with a folder from elsewhere.
    """
    converted = _converted_digest(folder) if _is_in_cache(folder) else None
    found = open_packed(folder / packed.NAME, family, converted) if converted is not None else None
    if found is None:
        identity = _identity(folder, bits)
        found = open_packed(_place(identity), family, identity)
    return found


def new_weights(folder: Path, family: Family, bits: int = 8, progress: Progress | None = None) -> PackedModel:
    """Quantise the weights of a folder, and keep them in the cache. Raises ModelError."""
    identity = _identity(folder, bits)
    place = _place(identity)
    try:
        make_private(place.parent)
        pack(FolderSource(folder, bits), family, place, identity, progress)
    except OSError as error:
        hint = "SGLC_CACHE_DIR names another folder for the cache"
        raise ModelError("cannot write the packed weights", str(place), str(error), hint) from error
    found = open_packed(place, family, identity)
    if found is None:
        raise ModelError("cannot read the packed weights", str(place), "they are not what was written")
    return found


def _is_in_cache(folder: Path) -> bool:
    """Whether sglc has made the folder: it lies in the cache of this user, who alone can write to it."""
    return folder.resolve().parent == cache_directory().resolve() and is_own_folder(folder)


def _place(identity: str) -> Path:
    return cache_folder() / "native" / f"{identity[:40]}.bin"


def _converted_digest(folder: Path) -> str | None:
    """What packed weights in the folder must have been made from, where it was converted from GGUF."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return str(manifest["files"]["model.safetensors"]["sha256"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _identity(folder: Path, bits: int) -> str:
    """Names the folder's weights by the path, size and time of their files."""
    state = hashlib.sha256(f"{folder.resolve()} {bits}".encode())
    for path in sorted([*folder.glob("*.safetensors*"), folder / "config.json"]):
        facts = path.stat()
        state.update(f"\0{path.name} {facts.st_size} {facts.st_mtime_ns}".encode())
    return state.hexdigest()
