"""The logits processor: whatever transformers does with the rows, all texts are legal."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.small_models import small_tokenizer
from late import Late
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

torch = Late("torch")
transformers = Late("transformers")
adapter = Late("sglc.runtime.adapters.transformers")

END, PAD = 1, 0
WIDTH = 448
"""The model's logits are wider than the vocabulary, as they often are."""
PATTERNS = ["[a-z]{2,6}( the)?", "(yes|no|the answer)", '\\{"age": [0-9]{1,3}\\}']
PROMPTS = [[5, 6, 7, 8], [9, 10], [30, 31, 32]]


def vocabulary() -> Vocabulary:
    return small_tokenizer().vocabulary()


@cache
def model(seed: int = 3) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=200,
        initializer_range=0.4,
        bos_token_id=None,
        eos_token_id=END,
        pad_token_id=PAD,
    )
    return transformers.LlamaForCausalLM(config).eval()


def padded(prompts: list[list[int]]) -> dict[str, Any]:
    """Prompts of one length, padded on the left."""
    length = max(map(len, prompts))
    return {
        "input_ids": torch.tensor([[PAD] * (length - len(prompt)) + prompt for prompt in prompts]),
        "attention_mask": torch.tensor([[0] * (length - len(p)) + [1] * len(p) for p in prompts]),
    }


def generate(processor: Any, prompts: list[list[int]], **options: Any) -> list[tuple[str, bool]]:
    """(text, whether it was ended) of each row."""
    torch.manual_seed(11)
    given = padded(prompts)
    rows = model().generate(
        **given,
        **{"max_new_tokens": 30, **options},
        logits_processor=transformers.LogitsProcessorList([processor]),
    )
    found = []
    for row in rows[:, given["input_ids"].shape[1] :].tolist():
        text = row[: row.index(END)] if END in row else row
        assert all(token in (END, PAD) for token in row[len(text) :])
        found.append((small_tokenizer().bytes_of(text).decode(), END in row))
    return found


WAYS = {
    "greedy": {"do_sample": False},
    "sampling": {"do_sample": True, "temperature": 1.5},
    "beams": {"do_sample": False, "num_beams": 4},
    "several sampled": {"do_sample": True, "num_return_sequences": 3},
    "several beams": {"do_sample": False, "num_beams": 3, "num_return_sequences": 2},
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_one_constraint_for_all_prompts(way: dict[str, Any]) -> None:
    for pattern in PATTERNS:
        processor = adapter.ConstraintLogitsProcessor(compile_constraint(regex=pattern), vocabulary())
        for text, ended in generate(processor, PROMPTS, **way):
            assert ended and re.fullmatch(pattern, text), (pattern, text)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_one_constraint_for_each_prompt(way: dict[str, Any]) -> None:
    processor = adapter.ConstraintLogitsProcessor(
        [compile_constraint(regex=p) for p in PATTERNS], vocabulary()
    )
    texts = generate(processor, PROMPTS, **way)
    each = len(texts) // len(PATTERNS)
    assert each == way.get("num_return_sequences", 1)
    for row, (text, ended) in enumerate(texts):
        assert ended and re.fullmatch(PATTERNS[row // each], text)


@pytest.mark.slow
def test_greedy_texts_are_those_of_masking_step_by_step() -> None:
    """Against a loop without the processor: the best token that the constraint allows, by the model."""
    pattern, words = PATTERNS[0], vocabulary()
    for prompt in PROMPTS:
        tokens = list(prompt)
        matcher = compile_constraint(regex=pattern).matcher(words)
        while tokens[-1] != END:
            with torch.no_grad():
                logits = model()(torch.tensor([tokens])).logits[0, -1]
            ids = [*matcher.allowed().tolist(), *([END] if matcher.is_accepting() else [])]
            tokens.append(max(ids, key=lambda token: float(logits[token])))
            matcher.accept(tokens[-1])
        expected = small_tokenizer().bytes_of(tokens[len(prompt) : -1]).decode()
        processor = adapter.ConstraintLogitsProcessor(compile_constraint(regex=pattern), words)
        assert generate(processor, [prompt], do_sample=False) == [(expected, True)]


@pytest.mark.slow
def test_drafted_tokens_that_are_turned_down() -> None:
    """Assisted generation asks for masks ahead and goes back; the texts are those without an assistant."""
    for pattern in PATTERNS:
        processor = adapter.ConstraintLogitsProcessor(compile_constraint(regex=pattern), vocabulary())
        plain = generate(processor, PROMPTS[:1], do_sample=False)
        assert generate(processor, PROMPTS[:1], do_sample=False, assistant_model=model(8)) == plain


@pytest.mark.slow
def test_a_text_that_was_begun_in_the_prompt() -> None:
    def processor() -> adapter.ConstraintLogitsProcessor:
        return adapter.ConstraintLogitsProcessor(
            compile_constraint(regex=PATTERNS[1]), vocabulary(), prompt_length=2
        )

    for begun in ("t", "th", "the"):
        tokens = small_tokenizer().encode(begun)
        ((text, ended),) = generate(processor(), [[5, 6, *tokens]], do_sample=False)
        assert ended and begun + text == "the answer"
    with pytest.raises(adapter.IllegalToken, match=r"row 0: token 40 is not legal after ''"):
        generate(processor(), [[5, 6, 40]], do_sample=False)


@pytest.mark.slow
def test_prompts_that_go_on_from_old_ones_need_a_reset() -> None:
    processor = adapter.ConstraintLogitsProcessor(compile_constraint(regex="(yes|no)"), vocabulary())
    first = generate(processor, PROMPTS[:1], do_sample=False)
    longer = [[*PROMPTS[0], 40, 41]]
    with pytest.raises(adapter.IllegalToken):
        generate(processor, longer, do_sample=False)
    processor.reset()
    assert generate(processor, longer, do_sample=False)[0][0] in ("yes", "no")
    assert generate(processor, PROMPTS[:1], do_sample=False) == first


@pytest.mark.slow
def test_processors_that_cannot_work_are_refused() -> None:
    good = compile_constraint(regex="a")
    with pytest.raises(ConstraintError, match="no text is legal"):
        adapter.ConstraintLogitsProcessor([good, compile_constraint(regex="[^\\s\\S]")], vocabulary())
    with pytest.raises(ValueError, match="at least one constraint"):
        adapter.ConstraintLogitsProcessor([], vocabulary())
    with pytest.raises(ValueError, match="end token"):
        adapter.ConstraintLogitsProcessor(good, Vocabulary([b"a"]))
    with pytest.raises(ValueError, match="3 rows cannot be shared out to 2"):
        adapter.ConstraintLogitsProcessor([good, good], vocabulary())(
            torch.zeros((3, 2)).long(), torch.zeros((3, WIDTH))
        )
    with pytest.raises(ValueError, match="prompt length is 9"):
        processor = adapter.ConstraintLogitsProcessor(good, vocabulary(), prompt_length=9)
        processor(torch.zeros((1, 2)).long(), torch.zeros((1, WIDTH)))


def test_a_tokenizer_of_transformers_will_do() -> None:
    from tokenizers import Tokenizer as Backend
    from tokenizers import decoders, models

    backend = Backend(models.BPE({"a": 0, "b": 1, "<end>": 2}, []))
    backend.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>")
    processor = adapter.ConstraintLogitsProcessor(compile_constraint(regex="ab"), tokenizer)
    assert processor.vocabulary.end_ids == {2}
    scores = torch.zeros((1, 3))
    rows = [[0], [0, 0], [0, 0, 1]]
    shown = [processor(torch.tensor([row]), scores).isfinite()[0].tolist() for row in rows]
    assert shown == [[True, False, False], [False, True, False], [False, False, True]]
    assert bool(scores.isfinite().all())  # they are not written to


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float16", "float64"])
def test_scores_of_every_kind(kind: str) -> None:
    processor = adapter.ConstraintLogitsProcessor(compile_constraint(regex="[ab]"), vocabulary(), end_ids=END)
    scores = torch.randn((2, WIDTH)).to(getattr(torch, kind))
    out = processor(torch.tensor([[5], [6]]), scores)
    ids = out.isfinite().nonzero().tolist()
    letters = sorted(vocabulary().token_bytes.index(letter) for letter in (b"a", b"b"))
    assert ids == [[row, letter] for row in (0, 1) for letter in letters]
    assert out.dtype == scores.dtype
    assert all(out[row, token] == scores[row, token] for row, token in ids)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_any_order_of_any_histories(seed: int) -> None:
    """Rows are shuffled, dropped, doubled, cut back, prolonged: masks depend on histories alone."""
    draw = np.random.default_rng(seed)
    words = vocabulary()
    constraints = [compile_constraint(regex=p) for p in ("(ab|ba?)*c", "[a-z]{1,9}")]
    processor = adapter.ConstraintLogitsProcessor(constraints, words)
    histories: list[list[list[int]]] = [[[]], [[]]]
    prompt = [[7, 8], [9, 3]]
    for _ in range(12):
        length = len(histories[0][0])
        count = int(draw.integers(1, 4))
        pick = [[group[draw.integers(len(group))] for _ in range(count)] for group in histories]
        rows = [[*prompt[which], *history] for which, group in enumerate(pick) for history in group]
        out = processor(torch.tensor(rows), torch.zeros((len(rows), WIDTH))).isfinite()
        following: list[list[list[int]]] = [[], []]
        for which, group in enumerate(pick):
            for place, history in enumerate(group):
                matcher = constraints[which].matcher(words)
                text = history[: history.index(END)] if END in history else history
                assert all(map(matcher.accept, text))
                ids = set(out[which * count + place].nonzero().view(-1).tolist())
                if END in history:
                    assert ids == {END}
                else:
                    ends = {END} if matcher.is_accepting() else set()
                    assert ids == set(matcher.allowed().tolist()) | ends
                following[which].append([*history, int(draw.choice(sorted(ids)))])
        cut = length if draw.random() < 0.2 else None
        short = int(draw.integers(0, length + 1)) if cut is not None else length + 1
        histories = [[history[:short] for history in group] for group in following]


@pytest.mark.slow
def test_rows_that_generation_finishes_by_itself_stay_as_they_are() -> None:
    """A stop string ends one row in the middle of its text; it is filled up while the other one goes on."""
    words = small_tokenizer()

    class Stops(transformers.StoppingCriteria):
        """The first row stops after two tokens."""

        def __call__(self, input_ids: Any, scores: Any, **more: Any) -> Any:
            return torch.tensor([input_ids.shape[1] >= 6, *[False] * (len(input_ids) - 1)])

    for pad in (PAD, END):
        processor = adapter.ConstraintLogitsProcessor(
            [compile_constraint(regex="[ab]{60}"), compile_constraint(regex="[ab]{20}")],
            vocabulary(),
            pad_id=pad,
        )
        rows = (
            model()
            .generate(
                **padded(PROMPTS[:2]),
                max_new_tokens=40,
                do_sample=False,
                pad_token_id=pad,
                logits_processor=[processor],
                stopping_criteria=[Stops()],
            )[:, 4:]
            .tolist()
        )
        size = rows[1].index(END)
        assert re.fullmatch("[ab]{2,}", words.bytes_of(rows[0][:2]).decode())
        assert set(rows[0][2:]) == {pad} and size > 2
        assert re.fullmatch("[ab]{20}", words.bytes_of(rows[1][:size]).decode())


def test_illegal_rows_of_one_constraint_are_not_hidden_by_another_one_with_the_same_prompt() -> None:
    a = vocabulary().token_bytes.index(b"a")
    constraints = [compile_constraint(regex="ab"), compile_constraint(regex="ba")]
    processor = adapter.ConstraintLogitsProcessor(constraints, vocabulary())
    processor(torch.tensor([[5], [5]]), torch.zeros((2, WIDTH)))
    with pytest.raises(adapter.IllegalToken, match="row 1"):
        processor(torch.tensor([[5, a], [5, a]]), torch.zeros((2, WIDTH)))


def test_illegal_rows_beside_legal_ones_are_led_to_their_end() -> None:
    """As beam search leaves them: one prompt, two rows, of which one took a token of score minus infinity."""
    processor = adapter.ConstraintLogitsProcessor(compile_constraint(regex="ab"), vocabulary())
    a, b = (vocabulary().token_bytes.index(letter) for letter in (b"a", b"b"))
    scores = torch.zeros((2, WIDTH))
    processor(torch.tensor([[5], [5]]), scores)
    out = processor(torch.tensor([[5, a], [5, b]]), scores).isfinite()
    assert [row.nonzero().view(-1).tolist() for row in out] == [[b], [END]]
    out = processor(torch.tensor([[5, b, 9], [5, a, b]]), scores).isfinite()
    assert [row.nonzero().view(-1).tolist() for row in out] == [[END], [END]]
    processor(torch.tensor([[5], [6]]), scores)
    with pytest.raises(adapter.IllegalToken, match="row 1"):
        processor(torch.tensor([[5, a], [6, b]]), scores)
