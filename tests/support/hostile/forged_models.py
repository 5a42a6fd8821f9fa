"""Model folders and files that lie, one lie each: for tests that open them in a process of their own."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fakes.small_models import CHAT, small_definition
from oracles.llama_reference import config_of, random_weights, write_model
from sglc.runtime.model.weights.convert import convert_gguf
from sglc.runtime.model.weights.family import family_of
from sglc.runtime.model.weights.packed import HEAD

MAGIC = b"sglc native weights\0"
NUMBERS: tuple[Any, ...] = (0, -1, 1 << 31, 1 << 63, 1.5, 1e300, "7", None, True, [], {})
"""What stands where a number belongs; one more and one less than the right one come beside these."""


@dataclass(frozen=True)
class Forged:
    """A model to be opened: its name for messages, and the folder or file."""

    name: str
    path: Path


def base_folder(place: Path, kind: str = "llama") -> Path:
    """A sound folder of a tiny model, as one fetches them."""
    config = {**config_of(kind), "eos_token_id": 1}
    write_model(place, config, random_weights(family_of(config)))
    (place / "tokenizer.json").write_text(small_definition())
    (place / "tokenizer_config.json").write_text(json.dumps({"chat_template": CHAT}))
    (place / "generation_config.json").write_text(json.dumps({"eos_token_id": 1}))
    return place


def copy_of(base: Path, place: Path) -> Path:
    shutil.copytree(base, place)
    return place


# -- lies about one value of a JSON object -----------------------------------------------------------


def places_of(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all numbers of a JSON value; of long lists to the first and the last two items only."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places_of(part, (*way, key))
    elif isinstance(value, list):
        for index in sorted({0, 1, len(value) - 2, len(value) - 1} & set(range(len(value)))):
            yield from places_of(value[index], (*way, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield way


def changed(value: Any, way: tuple[Any, ...], to: Any) -> Any:
    copy = json.loads(json.dumps(value))
    part = copy
    for key in way[:-1]:
        part = part[key]
    part[way[-1]] = to
    return copy


def lies(value: Any) -> Iterator[tuple[str, Any]]:
    """The value with one number changed at a time, and by what name."""
    for way in places_of(value):
        right = value
        for key in way:
            right = right[key]
        for wrong in (*NUMBERS, right + 1, right - 1):
            if wrong != right or type(wrong) is not type(right):
                yield f"{'.'.join(map(str, way))}={wrong!r}", changed(value, way, wrong)


# -- native.bin --------------------------------------------------------------------------------------


def read_head(data: bytes) -> dict[str, Any]:
    start = len(MAGIC) + 40
    size = int.from_bytes(data[start - 8 : start], "little")
    return json.loads(data[start : start + size])


def with_head(data: bytes, header: Any) -> bytes:
    """The file with another head, whose checksum is right."""
    text = json.dumps(header).encode()
    body = len(text).to_bytes(8, "little") + text
    head = MAGIC + hashlib.sha256(body).digest() + body
    return head + bytes(HEAD - len(head)) + data[HEAD:]


def packed_lies(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Packed weights with right checksums and wrong heads."""
    head = read_head(data)
    for name, wrong in lies({key: head[key] for key in head if key != "sha256"}):
        yield name, with_head(data, {"sha256": head["sha256"], **wrong})
    places = head["places"]
    for name, wrong in (
        ("no places", []),
        ("too few places", places[:-1]),
        ("too many places", [*places, places[-1]]),
        ("all in one place", [places[0]] * len(places)),
        ("the other way round", places[::-1]),
        ("overlapping", [[place // 2 // 64 * 64, kind] for place, kind in places]),
        ("behind the end", [[place + (1 << 40), kind] for place, kind in places]),
        ("kinds of their own", [[place, 12] for place, _ in places]),
        ("places of three numbers", [[*each, 0] for each in places]),
        ("places that are texts", ["ab"] * len(places)),
    ):
        yield name, with_head(data, {**head, "places": wrong})
    for key in head:
        yield f"without {key}", with_head(data, {name: head[name] for name in head if name != key})
    for name, wrong in (("a list", []), ("nothing", None), ("a number", 3)):
        yield f"a head that is {name}", with_head(data, wrong)
    start = len(MAGIC) + 32
    for size in (0, 1, HEAD - 1, HEAD, 1 << 31, (1 << 64) - 1):
        yield f"a head of {size} bytes", data[:start] + size.to_bytes(8, "little") + data[start + 8 :]
    for size in (0, 10, HEAD - 1, HEAD, HEAD + 1, len(data) // 2, len(data) - 1):
        yield f"cut to {size} bytes", data[:size]
    deep = b"[" * 30_000
    body = len(deep).to_bytes(8, "little") + deep
    whole = MAGIC + hashlib.sha256(body).digest() + body
    yield "a head that is nested deeply", whole + bytes(HEAD - len(whole)) + data[HEAD:]


# -- safetensors -------------------------------------------------------------------------------------


def weights_lies(data: bytes) -> Iterator[tuple[str, bytes]]:
    size = int.from_bytes(data[:8], "little")
    header, rest = json.loads(data[8 : 8 + size]), data[8 + size :]

    def written(wrong: Any) -> bytes:
        text = json.dumps(wrong).encode()
        return len(text).to_bytes(8, "little") + text + rest

    names = sorted(header)
    for name in (names[0], names[-1]):
        for lie, wrong in lies(header[name]):
            yield f"{name} {lie}", written({**header, name: wrong})
        for kind in ("F64", "I64", "BOOL", "F8_E4M3", "U8", "F16", "", None):
            yield f"{name} of {kind}", written({**header, name: {**header[name], "dtype": kind}})
        shape = header[name]["shape"]
        for wrong in (shape[::-1] + [1], [*shape, 2], shape[:-1], [2**32, 2**32], [-1, -1]):
            yield f"{name} of shape {wrong}", written({**header, name: {**header[name], "shape": wrong}})
    every = header[names[0]]["data_offsets"]
    yield "all in one place", written({n: {**header[n], "data_offsets": every} for n in names})
    yield "without tensors", written({})
    yield "a list", written([])
    for length in (0, 7, size, len(data), 1 << 31, (1 << 64) - 1):
        yield f"a head of {length} bytes", length.to_bytes(8, "little") + data[8:]
    for length in (0, 4, 8, 8 + size // 2, 8 + size, len(data) // 2, len(data) - 1):
        yield f"cut to {length} bytes", data[:length]
    deep = b"[" * 100_000
    yield "a head that is nested deeply", len(deep).to_bytes(8, "little") + deep + rest


# -- tokenizers --------------------------------------------------------------------------------------


def tokenizer_lies(definition: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    vocabulary = definition["model"]["vocab"]
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)

    def with_model(**parts: Any) -> dict[str, Any]:
        return {**definition, "model": {**definition["model"], **parts}}

    few = {piece: vocabulary[piece] for piece in pieces[:50]}
    yield "with few tokens", with_model(vocab=few, merges=[])
    yield "with no tokens", {**with_model(vocab={}, merges=[]), "added_tokens": []}
    more = {**vocabulary, **{f"more{n}": len(vocabulary) + n for n in range(500)}}
    yield "larger than the embedding", with_model(vocab=more)
    for id in (-1, -(1 << 31), 1 << 22, 1 << 31, 1 << 63, 1 << 70, 1.5, "x", None, [], True):
        yield f"with a token of id {id!r}", with_model(vocab={**vocabulary, pieces[-1]: id})
        wrong = [{**definition["added_tokens"][0], "id": id}, *definition["added_tokens"][1:]]
        yield f"with a special token of id {id!r}", {**definition, "added_tokens": wrong}
    yield "with one id for all", with_model(vocab=dict.fromkeys(vocabulary, 3))
    yield "with merges of what is not there", with_model(merges=[["no such", "piece"]])
    yield "with merges that are numbers", with_model(merges=[1, 2, 3])
    yield "of another kind", with_model(type="WordPiece")
    yield "of Unigram", with_model(type="Unigram", vocab=[["a", -1.0]] * 300, unk_id=1 << 40)
    for part in ("model", "added_tokens", "pre_tokenizer", "decoder", "normalizer", "post_processor"):
        for wrong in (3, "x", [3], {"type": "Sequence"}, {"type": "no such"}):
            yield f"with {part} {wrong!r}", {**definition, part: wrong}
    split = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    yield "with a pattern that looks back", {**definition, "pre_tokenizer": split}
    yield (
        "with a pattern that is none",
        {**definition, "pre_tokenizer": {**split, "pattern": {"Regex": "(((("}}},
    )
    added = definition["added_tokens"]
    yield "with special tokens of no text", {**definition, "added_tokens": [{**added[0], "content": ""}]}
    yield (
        "with a template of no token",
        {
            **definition,
            "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}]},
        },
    )


# -- all -----------------------------------------------------------------------------------------------


def forged_models(place: Path, cache: Path, gguf: bytes) -> Iterator[Forged]:
    """Every forgery, written under `place`; folders as the cache holds them under `cache`."""
    base = base_folder(place / "base")
    yield Forged("sound", base)
    source = place / "base.gguf"
    source.write_bytes(gguf)
    converted = convert_gguf(source, cache / "models" / "base")
    packed = (converted / "native.bin").read_bytes()
    number = 0

    def forged(kind: str, name: str, base: Path, change: Callable[[Path], Any], own: bool = False) -> Forged:
        nonlocal number
        number += 1
        folder = copy_of(base, (cache / "models" if own else place) / f"{number:04}")
        change(folder)
        return Forged(f"{kind}: {name}", folder)

    def write(file: str, content: Any) -> Callable[[Path], Any]:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        return lambda folder: (folder / file).write_bytes(data)

    for name, data in packed_lies(packed):
        for own in (True, False):
            where = "packed weights of ours" if own else "packed weights"
            yield forged(where, name, converted, _packed(data), own)
    config = json.loads((base / "config.json").read_text())
    for name, wrong in lies(config):
        yield forged("configuration", name, base, write("config.json", wrong))
    for name, wrong in (
        ("empty", {}),
        ("a list", []),
        ("deep", b"[" * 100_000),
        ("digits", b'{"a": 1' + b"0" * 5000 + b"}"),
        ("no JSON", b"{"),
        ("another kind", {**config, "model_type": "mistral"}),
        ("unknown kind", {**config, "model_type": "no such"}),
        ("many layers of another kind", {**config, "model_type": "gpt2", "n_layer": 1 << 40}),
        ("layers by a float", {**config, "num_hidden_layers": 1e15}),
        ("rotations", {**config, "rope_parameters": {"rope_type": "llama3", "factor": 0}}),
        ("windows", {**config, "model_type": "mistral", "sliding_window": 1 << 63}),
    ):
        yield forged("configuration", name, base, write("config.json", wrong))
    weights = (base / "model.safetensors").read_bytes()
    for name, data in weights_lies(weights):
        yield forged("weights", name, base, write("model.safetensors", data))
    for name, wrong in tokenizer_lies(json.loads(small_definition())):
        yield forged("tokenizer", name, base, write("tokenizer.json", wrong))
    yield forged("tokenizer", "deep", base, write("tokenizer.json", b"[" * 100_000))
    for file in ("generation_config.json", "config.json"):
        right = json.loads((base / file).read_text())
        for ends in (-1, 1 << 40, 1.0, "x", [-5], [[]], [None], {"a": 1}, True):
            lie = {**right, "eos_token_id": ends}
            yield forged(file, f"eos_token_id={ends!r}", base, write(file, lie))
    for cut in (0, 3, 24, 100, len(gguf) // 2, len(gguf) - 1):
        (place / f"cut{cut}.gguf").write_bytes(gguf[:cut])
        yield Forged(f"GGUF: cut to {cut} bytes", place / f"cut{cut}.gguf")
    for at in range(4, 24, 4):
        for value in (0xFFFFFFFF, 0x7FFFFFFF, 1 << 20):
            path = place / f"count{at}-{value}.gguf"
            path.write_bytes(gguf[:at] + struct.pack("<I", value) + gguf[at + 4 :])
            yield Forged(f"GGUF: {value} at {at}", path)


def _packed(data: bytes) -> Callable[[Path], Any]:
    """Puts packed weights into a converted folder, whose manifest says that they are right."""

    def change(folder: Path) -> None:
        (folder / "native.bin").write_bytes(data)
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["files"]["native.bin"] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        (folder / "manifest.json").write_text(json.dumps(manifest))

    return change


def random_forgeries(place: Path, base: Path, count: int, seed: int) -> Iterator[Forged]:
    """Folders with some bytes of one file changed at random."""
    dice = random.Random(seed)
    files = sorted(path.name for path in base.iterdir() if path.is_file())
    for number in range(count):
        folder = copy_of(base, place / f"random{number:05}")
        path = folder / dice.choice(files)
        data = bytearray(path.read_bytes())
        edge = min(len(data), dice.choice((64, 4096, len(data))))
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(edge)] = dice.randrange(256)
        path.write_bytes(data)
        yield Forged(f"random {number}: {path.name}", folder)


def random_gguf(place: Path, gguf: bytes, count: int, seed: int) -> Iterator[Forged]:
    """GGUF files with some bytes changed at random, mostly where their tables are."""
    dice = random.Random(seed)
    for number in range(count):
        data = bytearray(gguf)
        edge = dice.choice((64, 400, 8000, len(data)))
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(edge)] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
        path = place / f"random{number:05}.gguf"
        path.write_bytes(data)
        yield Forged(f"random GGUF {number}", path)
