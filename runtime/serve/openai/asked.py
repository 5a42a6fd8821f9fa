"""Requests of both kinds as they are understood: what is read, and how it is answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.shaping import Shaping
from sglc.runtime.serve.openai.errors import unsupported, wrong
from sglc.runtime.serve.openai.forms import TEXT, Form, form_of
from sglc.runtime.serve.openai.parameters import Parameters, checked_text
from sglc.runtime.serve.openai.tools import PastCall, Tools, past_calls, tools_of
from sglc.types.values import Value

MOST_CHOICES = 8
"""Answers of one request. They hold one place among the runs together, so that they are few."""
MOST_MESSAGES = 1024
"""Messages of a conversation: for each of them the chat template reads all before it."""
MOST_STOPS = 4
"""Texts of `stop`, as many as OpenAI takes."""
LONGEST_STOP = 256
"""Characters of each; a tool of the command line stops at some dozens."""
MOST_TOP = 20
"""Most probable tokens that are told with each token, as many as OpenAI tells."""
MOST_TOP_OF_TEXT = 5
"""The same of plain completions."""
MOST_BIASED = 1024
"""Tokens of `logit_bias`."""
LARGEST_BIAS = 100
LARGEST_PENALTY = 2
LONGEST_PREDICTION = 131_072
"""Characters of a prediction: its tokens are found before the answer begins."""
MOST_TOKENS = 10_000_000
MOST_TOP_K = 1_000_000
SMALLEST_SEED, LARGEST_SEED = -(2**63), 2**63 - 1
USUAL = Sampling(1.0)
"""How tokens are drawn where the request does not say."""
DEFAULT_TOKENS = 16
"""Tokens of a plain completion whose request does not say how many, as OpenAI's."""
UNREAD = (
    *("user", "store", "metadata", "service_tier", "safety_identifier"),
    *("prompt_cache_key", "prompt_cache_retention"),
)
"""Parameters that do not change the answer."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation; without a role it is text outside of messages, or `tokens` of it. `calls`
    are those of an assistant's message, and `answers` is the id of the call whose result a tool's is."""

    role: str
    text: str
    calls: tuple[PastCall, ...] = ()
    answers: str = ""
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: conversations of which each gets `choices` answers.

    `open` says that the last message goes on in place of a new one. `top` is how many of the most probable
    tokens are told with each token, None for no log-probabilities.
    """

    model: str
    conversations: tuple[tuple[Message, ...], ...]
    form: Form = TEXT
    choices: int = 1
    sampling: Sampling = USUAL
    seed: int | None = None
    most: int | None = None
    open: bool = False
    echo: bool = False
    top: int | None = None
    stream: bool = False
    usage: bool = False
    """Whether a stream ends with the usage."""
    tools: Tools | None = None
    """What the model is told of, whether it may call it or not."""
    shaping: Shaping | None = None
    prediction: str = ""
    """What the answer may well be: a draft."""
    chosen: tuple[str, ...] = ()
    """Parameters that the request has and that functions of a program do not take."""


_PLAIN: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    ("repetition_penalty", "use `frequency_penalty` or `presence_penalty`", (1,)),
)
_OF_CHAT: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    ("functions", "they are called `tools` now", ([],)),
    ("function_call", "it is called `tool_choice` now", ("none", "auto")),
    ("modalities", "answers are text", (["text"],)),
    ("audio", "answers are text", ()),
    ("reasoning_effort", "the model has no effort to choose", ("none",)),
    ("add_generation_prompt", "use `continue_final_message` to go on in the last message", ()),
)
_NOT_OF_FUNCTIONS = (
    *("temperature", "top_p", "top_k", "min_p", "n", "stop", "response_format", "structured_outputs"),
    *("logprobs", "top_logprobs", "continue_final_message", "tools", "tool_choice", "prediction"),
    *("logit_bias", "frequency_penalty", "presence_penalty"),
)
"""What the program of a function says, not its caller."""


def read_chat(data: dict[str, Value]) -> Asked:
    """A request for a chat completion. Raises Refusal."""
    chosen = _chosen(data)
    parameters = Parameters(data)
    goes_on = parameters.flag("continue_final_message")
    if goes_on:
        parameters.neutral("add_generation_prompt", "it contradicts `continue_final_message`", False)
    else:
        parameters.neutral("add_generation_prompt", "use `continue_final_message` to go on", True)
    for each in _OF_CHAT[:-1]:
        parameters.neutral(each[0], each[1], *each[2])
    conversation = _messages(parameters.take("messages"))
    if goes_on and conversation[-1].role != "assistant":
        raise wrong("continue_final_message", "only a last message of the assistant can go on")
    if goes_on and conversation[-1].calls:
        raise wrong("continue_final_message", "a message with calls is complete")
    tools, prediction = tools_of(parameters), _prediction(parameters)
    most = parameters.whole("max_completion_tokens", 1, MOST_TOKENS)
    older = parameters.whole("max_tokens", 1, MOST_TOKENS)
    top: int | None = None
    if parameters.flag("logprobs"):
        top = parameters.whole("top_logprobs", 0, MOST_TOP) or 0
    else:
        parameters.neutral("top_logprobs", "it belongs to `logprobs`", 0)
    asked = Asked(
        "",
        (conversation,),
        most=older if most is None else most,
        open=goes_on,
        top=top,
        tools=tools,
        prediction=prediction,
        chosen=chosen,
    )
    return _with_common(parameters, asked)


def read_completion(data: dict[str, Value]) -> Asked:
    """A request for plain completions. Raises Refusal."""
    chosen = _chosen(data)
    parameters = Parameters(data)
    parameters.neutral("suffix", "texts are only gone on with", "")
    parameters.neutral("best_of", "as many are drawn as are given", 1, data.get("n") or 1)
    top = parameters.whole("logprobs", 0, MOST_TOP_OF_TEXT)
    conversations = tuple((each,) for each in _prompts(parameters.take("prompt")))
    most = parameters.whole("max_tokens", 1, MOST_TOKENS)
    echo = parameters.flag("echo")
    if echo and top is not None:
        raise unsupported("echo", "log-probabilities are told of tokens that are drawn")
    asked = Asked(
        "",
        conversations,
        most=DEFAULT_TOKENS if most is None else most,
        open=True,
        echo=echo,
        top=top,
        chosen=chosen,
    )
    return _with_common(parameters, asked)


def _chosen(data: dict[str, Value]) -> tuple[str, ...]:
    return tuple(name for name in _NOT_OF_FUNCTIONS if data.get(name) is not None)


def _with_common(parameters: Parameters, asked: Asked) -> Asked:
    """A request with what those of both kinds have in common."""
    parameters.ignore(*UNREAD)
    for name, why, values in _PLAIN:
        parameters.neutral(name, why, *values)
    form = _form(parameters, asked.tools)
    if asked.top is not None and (form.whole or form.tools is not None):
        raise unsupported("logprobs", "of an answer with a form or with tools only some tokens are drawn")
    choices = parameters.whole("n", 1, MOST_CHOICES) or 1
    if choices * len(asked.conversations) > MOST_CHOICES:
        raise wrong("n", f"a request has at most {MOST_CHOICES} answers, of all prompts together")
    stream = parameters.flag("stream")
    options = parameters.inner("stream_options")
    usage = options.flag("include_usage")
    options.ignore("include_obfuscation")
    options.end()
    found = replace(
        asked,
        model=parameters.needed("model"),
        form=form,
        choices=choices,
        sampling=_sampling(parameters),
        seed=parameters.whole("seed", SMALLEST_SEED, LARGEST_SEED),
        stream=stream,
        usage=usage,
        shaping=_shaping(parameters),
    )
    parameters.end()
    return found


def _form(parameters: Parameters, tools: Tools | None) -> Form:
    """What an answer is held to, with the tools that it may call."""
    form = form_of(parameters, _stops(parameters.take("stop")))
    if tools is None or (tools.mode == "none" and form.whole):
        return form
    if form.whole and form.kind != "json":
        raise unsupported(form.param, "an answer that may be a call of a tool is text or JSON otherwise")
    return replace(form, tools=tools, param=form.param if form.whole else "tools")


def _sampling(parameters: Parameters) -> Sampling:
    temperature = parameters.number("temperature", 0, 2)
    top_p = parameters.number("top_p", 0, 1, above=True)
    min_p = parameters.number("min_p", 0, 1)
    top_k = parameters.whole("top_k", -1, MOST_TOP_K)
    kept = top_k if top_k is not None and top_k > 0 else None  # of vLLM: 0 and -1 keep all
    return Sampling(USUAL.temperature if temperature is None else temperature, kept, top_p, min_p)


def _shaping(parameters: Parameters) -> Shaping | None:
    """The bias and the penalties; None where they change nothing."""
    frequency = parameters.number("frequency_penalty", -LARGEST_PENALTY, LARGEST_PENALTY) or 0.0
    presence = parameters.number("presence_penalty", -LARGEST_PENALTY, LARGEST_PENALTY) or 0.0
    bias = tuple(_biases(parameters.take("logit_bias")))
    return Shaping(bias, frequency, presence) if bias or frequency or presence else None


def _biases(value: Value) -> Iterator[tuple[int, float]]:
    if value is None:
        return
    if not isinstance(value, dict) or len(value) > MOST_BIASED:
        raise wrong("logit_bias", f"`logit_bias` is an object of at most {MOST_BIASED} tokens")
    for token, add in value.items():
        if not token.isascii() or not token.isdecimal() or len(token) > 9:
            raise wrong("logit_bias", "the keys of `logit_bias` are numbers of tokens")
        fits = isinstance(add, int | Decimal) and not isinstance(add, bool)
        if not fits or not -LARGEST_BIAS <= add <= LARGEST_BIAS:  # type: ignore[operator]
            raise wrong("logit_bias", f"a bias is a number from -{LARGEST_BIAS} to {LARGEST_BIAS}")
        if add:
            yield int(token), float(add)  # type: ignore[arg-type]


def _prediction(parameters: Parameters) -> str:
    given = parameters.inner("prediction")
    kind, content = given.text("type"), given.take("content")
    given.end()
    if kind is None and content is None:
        return ""
    if kind != "content":
        raise wrong("prediction.type", "a prediction is of type `content`")
    text = _content(content, "prediction.content", absent=False)
    if len(text) > LONGEST_PREDICTION:
        raise wrong("prediction.content", f"a prediction has at most {LONGEST_PREDICTION} characters")
    return text


def _stops(value: Value) -> tuple[str, ...]:
    if value is None:
        return ()
    given = value if isinstance(value, list) else [value]
    stops = tuple(dict.fromkeys(checked_text(each, "stop") for each in given))
    if len(stops) > MOST_STOPS or not all(0 < len(each) <= LONGEST_STOP for each in stops):
        raise wrong("stop", f"`stop` has at most {MOST_STOPS} texts of 1 to {LONGEST_STOP} characters")
    return stops


def _prompts(value: Value) -> tuple[Message, ...]:
    """A text, several, the tokens of one, or those of several."""
    if isinstance(value, list) and value and isinstance(value[0], int):
        return (_token_prompt(value),)
    given = value if isinstance(value, list) else [value]
    if not given:
        raise wrong("prompt", "`prompt` is a text, or several")
    return tuple(
        _token_prompt(each) if isinstance(each, list) else Message("", checked_text(each, "prompt"))
        for each in given
    )


def _token_prompt(value: list[Value]) -> Message:
    tokens = tuple(each for each in value if isinstance(each, int) and not isinstance(each, bool))
    if not tokens or len(tokens) != len(value) or min(tokens) < 0:
        raise wrong("prompt", "a prompt of tokens is a list of their numbers")
    return Message("", "", tokens=tokens)


# -- messages --------------------------------------------------------------------------------------------

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


def _messages(value: Value) -> tuple[Message, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_MESSAGES:
        raise wrong("messages", f"`messages` is a list of 1 to {MOST_MESSAGES} messages")
    messages = tuple(_message(Parameters(each, f"messages[{at}]")) for at, each in enumerate(value))
    return tuple(_in_order(messages))


def _in_order(messages: Iterable[Message]) -> Iterator[Message]:
    """Messages with the results of calls in the order of the calls: some templates name them by it alone."""
    places: dict[str, int] = {}
    results: list[Message] = []
    for message in messages:
        if message.role == "tool":
            results.append(message)
            continue
        yield from sorted(results, key=lambda each: places.get(each.answers, len(places)))
        results = []
        if message.calls:
            places = {call.id: at for at, call in enumerate(message.calls)}
        yield message
    yield from sorted(results, key=lambda each: places.get(each.answers, len(places)))


def _message(parameters: Parameters) -> Message:
    given = parameters.needed("role")
    role = _ROLES.get(given)
    if role is None:
        raise wrong(parameters.place("role"), f"there is no role {given!r}; roles: " + ", ".join(_ROLES))
    for name in ("function_call", "audio"):
        parameters.neutral(name, "messages have text and `tool_calls`", [])
    calls = past_calls(parameters.take("tool_calls"), parameters.place("tool_calls"))
    if calls and role != "assistant":
        raise wrong(parameters.place("tool_calls"), "calls of tools are the assistant's")
    answers = (parameters.text("tool_call_id") or "") if role == "tool" else ""
    if role == "tool":
        parameters.ignore("name")  # the call has it
    parameters.neutral("name", "chat templates have no names of speakers", "")
    parameters.ignore("refusal", "annotations")
    content = parameters.take("content")
    text = _content(content, parameters.place("content"), absent=role == "assistant")
    parameters.end()
    return Message(role, text, calls, answers)


def _content(value: Value, place: str, *, absent: bool) -> str:
    """A text, or the texts of parts with a line break between them."""
    if value is None and absent:
        return ""
    if not isinstance(value, list):
        return checked_text(value, place)
    texts = []
    for at, each in enumerate(value):
        part = Parameters(each, f"{place}[{at}]")
        if (kind := part.needed("type")) != "text":
            raise unsupported(part.place("type"), f"a model of text reads no {kind!r}")
        texts.append(part.needed("text"))
        part.end()
    return "\n".join(texts)
