"""Models by transformers' own `generate`: `hf:NAME`, a folder or a name in the local cache.

Nothing is fetched and no code of a model is run. Where something is enforced, our mask engine says at every
token which ones are legal, by the logits processor of `runtime/adapters`. One answer is written at a time, in
a thread: the random numbers of torch are those of the process, and a seed sets them.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Ending,
    Event,
    Piece,
    Query,
    TextScore,
    TokenChance,
    Usage,
)
from sglc.runtime.backends.protocols.core.chat_request import chat_messages, is_plain_text, plain_text
from sglc.runtime.backends.protocols.core.enforced import constraint_of
from sglc.runtime.backends.protocols.core.protocol_backend import ProtocolBackend
from sglc.runtime.backends.protocols.core.scoring import first_token
from sglc.runtime.backends.registry import Opening, missing_package

if TYPE_CHECKING:
    from torch import Tensor
    from torch import device as Device

    from sglc.runtime.mask import Vocabulary

_T = TypeVar("_T")


class Output(Protocol):
    """What a model computes."""

    @property
    def logits(self) -> Tensor:
        """float[batch, tokens, vocabulary]."""


class CausalModel(Protocol):
    """A model of transformers, as far as it is used here."""

    @property
    def config(self) -> object:
        """Settings of its architecture."""

    @property
    def device(self) -> Device:
        """Where its weights lie."""

    def generate(self, inputs: Tensor, **settings: object) -> Tensor:
        """The tokens `inputs`, int64[batch, tokens], with those that were written behind them."""

    def __call__(self, inputs: Tensor, /) -> Output: ...


def open_backend(opening: Opening) -> Backend:
    """A backend of a model on disk, which is loaded when it is asked for the first time."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise missing_package("transformers", "torch")
    name = opening.name.model
    return ProtocolBackend(
        opening.name.text, f"hf:{name}", opening.capabilities, GenerateModel(lambda: load(name))
    )


@dataclass(slots=True)
class Loaded:
    """A model of transformers, its tokenizer, and the vocabulary as the mask engine has it."""

    model: CausalModel
    tokenizer: Any
    vocabulary: Vocabulary
    ends: tuple[int, ...]
    """Tokens that end an answer: those of the tokenizer and of the model's settings."""


def load(name: str) -> Loaded:
    """A model from local files. Raises BackendFault where there are none, or they cannot be read."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from sglc.runtime.mask import Vocabulary

    try:
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=True, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            name, local_files_only=True, trust_remote_code=False, use_safetensors=True
        )
    except (OSError, ValueError, KeyError, ImportError) as problem:
        first = " ".join(str(problem).split())[:200]
        raise BackendFault("request", f"the model cannot be loaded: {first}") from None
    model.eval()
    vocabulary = Vocabulary.from_pretrained(tokenizer)
    said = model.generation_config.eos_token_id
    own = {said} if isinstance(said, int) else set(said or ())
    ends = tuple(sorted(vocabulary.end_ids | {end for end in own if end < vocabulary.size}))
    if not ends:
        raise BackendFault("request", "the model has no token that ends an answer")
    return Loaded(model, tokenizer, vocabulary, ends)


@dataclass(slots=True)
class GenerateModel:
    """The protocol: calls of `generate` in a thread of its own."""

    loader: Callable[[], Loaded]
    _loaded: Loaded | None = None
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="sglc-generate")
    )

    async def answer(self, query: Query) -> AsyncIterator[Event]:
        """Pieces as the thread writes them, then the ending. Closing the iterator stops the thread at its
        next token. Raises BackendFault where the model cannot be loaded or does not take the prompt."""
        loop = asyncio.get_running_loop()
        told: asyncio.Queue[Event | None] = asyncio.Queue()
        stopped = threading.Event()

        def tell(event: Event | None) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it who listens
                loop.call_soon_threadsafe(told.put_nowait, event)

        def job() -> Ending:
            try:
                return _generated(self._model(), query, tell, stopped)
            finally:
                tell(None)

        running = loop.run_in_executor(self._thread, job)
        try:
            while (event := await told.get()) is not None:
                yield event
            yield await running
        finally:
            stopped.set()  # the thread ends at the next token
            if not running.done():
                running.cancel()

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """One forward pass for each text, in the thread. Raises BackendFault as `answer` does."""
        return await self._in_thread(lambda: [_scored(self._model(), query, text) for text in texts])

    async def context_length(self) -> int | None:
        """What the configuration of the model says; this loads it."""
        found = await self._in_thread(
            lambda: getattr(self._model().model.config, "max_position_embeddings", None)
        )
        return found if isinstance(found, int) else None

    async def close(self) -> None:
        """Drop the model and the jobs that wait; the one that runs ends by itself."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._loaded = None

    async def _in_thread(self, job: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)

    def _model(self) -> Loaded:
        if self._loaded is None:
            self._loaded = self.loader()
        return self._loaded


def _prompt(loaded: Loaded, query: Query, text: str = "") -> list[int]:
    """The tokens that a query begins with. Special tokens come from the template alone."""
    tokenizer = loaded.tokenizer
    for part in (*(each.text for each in query.messages), query.begun, text):
        for special in tokenizer.all_special_tokens:
            if special and special in part:
                raise BackendFault("request", f"a text has the special token {special!r} in it")
    if is_plain_text(query):
        return list(tokenizer(plain_text(query) + text)["input_ids"])
    if not tokenizer.chat_template:
        raise BackendFault(
            "request", "the model has no chat template: it continues texts without messages only"
        )
    messages = chat_messages(query.messages)
    shown = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return list(tokenizer(shown + query.begun + text, add_special_tokens=False)["input_ids"])


def _generated(
    loaded: Loaded, query: Query, tell: Callable[[Event], None], stopped: threading.Event
) -> Ending:
    """Write an answer; pieces are told as they come. Runs in the thread."""
    import torch
    from transformers import LogitsProcessorList, StoppingCriteriaList

    prompt = _prompt(loaded, query)
    ends = loaded.ends
    watching = _Watching(loaded, query.top_logprobs, len(prompt), tell)
    processors: list[Callable[[Tensor, Tensor], Tensor]] = [watching]
    if query.enforced is not None:
        from sglc.runtime.adapters.transformers import ConstraintLogitsProcessor

        constraint = constraint_of(query.enforced)
        processors.append(
            ConstraintLogitsProcessor(constraint, loaded.vocabulary, end_ids=ends, pad_id=ends[0])
        )
    inputs = torch.tensor([prompt], device=loaded.model.device)
    room = getattr(loaded.model.config, "max_position_embeddings", None) or len(prompt) + 4096
    most = max(1, room - len(prompt))
    if query.max_tokens is not None:
        most = min(most, query.max_tokens)
    with _seeded(query.seed), torch.inference_mode():
        found = loaded.model.generate(
            inputs,
            attention_mask=torch.ones_like(inputs),
            logits_processor=LogitsProcessorList(processors),
            stopping_criteria=StoppingCriteriaList([lambda ids, scores, **_: _all(ids, stopped.is_set())]),
            max_new_tokens=most,
            eos_token_id=list(ends),
            pad_token_id=ends[0],
            **_settings(query),
        )
    written = found[0, len(prompt) :].tolist()
    watching.end(written)
    complete = bool(written) and written[-1] in ends
    usage = Usage(len(prompt), len(written))
    return Ending("stop" if complete or len(written) < most else "length", usage)


def _settings(query: Query) -> dict[str, float | None]:
    """Sampling as `generate` has it; files of the model have defaults of their own for it."""
    given = query.sampling
    found: dict[str, float | None] = {"repetition_penalty": 1.0, "num_beams": 1, "use_cache": True}
    if given.temperature == 0.0:
        return {**found, "do_sample": False, "temperature": None, "top_p": None, "top_k": None, "min_p": None}
    found |= {"do_sample": True, "temperature": given.temperature, "top_k": given.top_k or 0}
    return {**found, "top_p": given.top_p or 1.0, "min_p": given.min_p}


@contextlib.contextmanager
def _seeded(seed: int | None) -> Iterator[None]:
    """Random numbers of torch by a seed, and those of the process behind it."""
    import torch

    if seed is None:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed & 0x7FFF_FFFF_FFFF_FFFF)
        yield


def _all(ids: Tensor, value: bool) -> Tensor:
    import torch

    return torch.full((ids.shape[0],), value, dtype=torch.bool, device=ids.device)


class _Watching:
    """A logits processor that changes nothing: it tells what has been written, with chances of tokens."""

    def __init__(self, loaded: Loaded, top: int, start: int, tell: Callable[[Event], None]) -> None:
        self._loaded = loaded
        self._top = top
        self._start = start
        self._tell = tell
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._seen = 0
        self._chances: tuple[TokenChance, ...] = ()

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        self._new(input_ids[0, self._start :].tolist())
        if self._top:
            best = scores[0].log_softmax(-1).topk(min(self._top, scores.shape[-1]))
            self._chances = tuple(
                TokenChance(self._bytes(token).decode("utf-8", "replace"), float(logprob))
                for logprob, token in zip(best.values.tolist(), best.indices.tolist(), strict=True)
            )
        return scores

    def end(self, written: Sequence[int]) -> None:
        """All has been written."""
        self._new(written)
        rest = self._decode(b"", True)
        if rest:
            self._tell(Piece(rest))

    def _new(self, written: Sequence[int]) -> None:
        for token in written[self._seen :]:
            self._seen += 1
            text = self._decode(self._bytes(token))
            top = (self._chances,) if self._top else ()
            if text or top:
                self._tell(Piece(text, None, top))

    def _bytes(self, token: int) -> bytes:
        if token in self._loaded.ends or token >= self._loaded.vocabulary.size:
            return b""
        return self._loaded.vocabulary.token_bytes[token] or b""


def _scored(loaded: Loaded, query: Query, text: str) -> TextScore:
    """The log-probabilities of a text's tokens. Runs in the thread."""
    import torch

    before, tokens = _prompt(loaded, query), _prompt(loaded, query, text)
    start = max(1, first_token(before, tokens))
    with torch.inference_mode():
        logits = loaded.model(torch.tensor([tokens], device=loaded.model.device)).logits[0].float()
    chances = logits.log_softmax(-1)
    names = loaded.tokenizer.convert_ids_to_tokens
    places = range(start, len(tokens))
    shown = [
        (loaded.vocabulary.token_bytes[tokens[at]] or str(names(tokens[at])).encode()).decode(
            "utf-8", "replace"
        )
        for at in places
    ]
    return TextScore(tuple(shown), tuple(min(0.0, float(chances[at - 1, tokens[at]])) for at in places))
