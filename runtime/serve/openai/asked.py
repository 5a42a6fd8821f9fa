"""Requests of both kinds as they are understood: what is read, and how it is answered."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.serve.openai.errors import unsupported, wrong
from sglc.runtime.serve.openai.forms import TEXT, Form, form_of
from sglc.runtime.serve.openai.parameters import Parameters, checked_text
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
    """A message of a conversation; without a role it is text outside of messages."""

    role: str
    text: str


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
    chosen: tuple[str, ...] = ()
    """Parameters that the request has and that functions of a program do not take."""


_PLAIN: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    ("frequency_penalty", "tokens are drawn without penalties", (0,)),
    ("presence_penalty", "tokens are drawn without penalties", (0,)),
    ("repetition_penalty", "tokens are drawn without penalties", (1,)),
    ("logit_bias", "logits are the model's own", ({},)),
)
_OF_CHAT: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    ("tools", "this server calls no tools of clients; use `response_format`", ([],)),
    ("functions", "this server calls no tools of clients; use `response_format`", ([],)),
    ("tool_choice", "this server calls no tools of clients; use `response_format`", ("none", "auto")),
    ("function_call", "this server calls no tools of clients; use `response_format`", ("none", "auto")),
    ("parallel_tool_calls", "this server calls no tools of clients", (True, False)),
    ("modalities", "answers are text", (["text"],)),
    ("audio", "answers are text", ()),
    ("prediction", "answers are not drafted by clients", ()),
    ("reasoning_effort", "the model has no effort to choose", ("none",)),
    ("add_generation_prompt", "use `continue_final_message` to go on in the last message", ()),
)
_NOT_OF_FUNCTIONS = (
    *("temperature", "top_p", "top_k", "min_p", "n", "stop", "response_format", "structured_outputs"),
    *("logprobs", "top_logprobs", "continue_final_message"),
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
    most = parameters.whole("max_completion_tokens", 1, MOST_TOKENS)
    older = parameters.whole("max_tokens", 1, MOST_TOKENS)
    top: int | None = None
    if parameters.flag("logprobs"):
        top = parameters.whole("top_logprobs", 0, MOST_TOP) or 0
    else:
        parameters.neutral("top_logprobs", "it belongs to `logprobs`", 0)
    return _asked(parameters, (conversation,), older if most is None else most, goes_on, False, top, chosen)


def read_completion(data: dict[str, Value]) -> Asked:
    """A request for plain completions. Raises Refusal."""
    chosen = _chosen(data)
    parameters = Parameters(data)
    parameters.neutral("suffix", "texts are only gone on with", "")
    parameters.neutral("best_of", "as many are drawn as are given", 1, data.get("n") or 1)
    parameters.neutral("logprobs", "chat completions tell log-probabilities")
    prompts = _prompts(parameters.take("prompt"))
    most = parameters.whole("max_tokens", 1, MOST_TOKENS)
    echo = parameters.flag("echo")
    conversations = tuple((Message("", each),) for each in prompts)
    return _asked(
        parameters, conversations, DEFAULT_TOKENS if most is None else most, True, echo, None, chosen
    )


def _chosen(data: dict[str, Value]) -> tuple[str, ...]:
    return tuple(name for name in _NOT_OF_FUNCTIONS if data.get(name) is not None)


def _asked(
    parameters: Parameters,
    conversations: tuple[tuple[Message, ...], ...],
    most: int | None,
    goes_on: bool,
    echo: bool,
    top: int | None,
    chosen: tuple[str, ...],
) -> Asked:
    """What requests of both kinds have in common."""
    parameters.ignore(*UNREAD)
    for name, why, values in _PLAIN:
        parameters.neutral(name, why, *values)
    form = form_of(parameters, _stops(parameters.take("stop")))
    if top is not None and form.whole:
        raise unsupported("logprobs", "of an answer with a form only some tokens are drawn")
    choices = parameters.whole("n", 1, MOST_CHOICES) or 1
    if choices * len(conversations) > MOST_CHOICES:
        raise wrong("n", f"a request has at most {MOST_CHOICES} answers, of all prompts together")
    stream = parameters.flag("stream")
    options = parameters.inner("stream_options")
    usage = options.flag("include_usage")
    options.ignore("include_obfuscation")
    options.end()
    found = Asked(
        parameters.needed("model"),
        conversations,
        form,
        choices,
        _sampling(parameters),
        parameters.whole("seed", SMALLEST_SEED, LARGEST_SEED),
        most,
        goes_on,
        echo,
        top,
        stream,
        usage,
        chosen,
    )
    parameters.end()
    return found


def _sampling(parameters: Parameters) -> Sampling:
    temperature = parameters.number("temperature", 0, 2)
    top_p = parameters.number("top_p", 0, 1, above=True)
    min_p = parameters.number("min_p", 0, 1)
    top_k = parameters.whole("top_k", -1, MOST_TOP_K)
    kept = top_k if top_k is not None and top_k > 0 else None  # of vLLM: 0 and -1 keep all
    return Sampling(USUAL.temperature if temperature is None else temperature, kept, top_p, min_p)


def _stops(value: Value) -> tuple[str, ...]:
    if value is None:
        return ()
    given = value if isinstance(value, list) else [value]
    stops = tuple(dict.fromkeys(checked_text(each, "stop") for each in given))
    if len(stops) > MOST_STOPS or not all(0 < len(each) <= LONGEST_STOP for each in stops):
        raise wrong("stop", f"`stop` has at most {MOST_STOPS} texts of 1 to {LONGEST_STOP} characters")
    return stops


def _prompts(value: Value) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    if not given:
        raise wrong("prompt", "`prompt` is a text, or several")
    if any(isinstance(each, int | list) for each in given):
        raise unsupported("prompt", "prompts are texts, not tokens")
    return tuple(checked_text(each, "prompt") for each in given)


# -- messages --------------------------------------------------------------------------------------------

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


def _messages(value: Value) -> tuple[Message, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_MESSAGES:
        raise wrong("messages", f"`messages` is a list of 1 to {MOST_MESSAGES} messages")
    return tuple(_message(Parameters(each, f"messages[{at}]")) for at, each in enumerate(value))


def _message(parameters: Parameters) -> Message:
    given = parameters.needed("role")
    role = _ROLES.get(given)
    if role is None:
        raise wrong(parameters.place("role"), f"there is no role {given!r}; roles: " + ", ".join(_ROLES))
    for name in ("tool_calls", "function_call", "audio"):
        parameters.neutral(name, "messages have text only", [])
    parameters.neutral("name", "chat templates have no names of speakers", "")
    parameters.ignore("refusal", "annotations", *(("tool_call_id",) if role == "tool" else ()))
    content = parameters.take("content")
    text = _content(content, parameters.place("content"), absent=role == "assistant")
    parameters.end()
    return Message(role, text)


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
