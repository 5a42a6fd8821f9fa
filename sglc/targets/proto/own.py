"""Messages that sglc itself says, alike in every file: options, usage, checks, events, problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sglc.targets.proto.description import (
    Item,
    Label,
    MessageItem,
    ProtoField,
    ProtoMessage,
    ScalarItem,
)
from sglc.targets.proto.shapes import Plain

OPTIONS, USAGE, CHECK, PARTIAL, TOLD, LOST, PROBLEM = (
    *("SglOptions", "SglUsage", "SglCheck", "SglPartial", "SglTold", "SglLost", "SglProblem"),
)
EVENT_NAMES = ("number", "event", "partial", "told", "lost", "value")
SO_FAR, SO_FAR_NUMBER = "so_far", 6
OPTIONS_NUMBER = 1000
"""The number of the options in each request: parameters that come later stand before it."""


def own_messages() -> tuple[ProtoMessage, ...]:
    """All of them. Their numbers are never changed."""
    return (
        _message(
            OPTIONS,
            "Options of a call. The deadline of the call bounds it too.",
            seed=(1, "integer", "optional", "Of every draw; 0 by default."),
            max_tokens=(2, "integer", "optional", "Most tokens of all holes together."),
            timeout=(3, "float", "optional", "Most seconds, with waiting."),
            priority=(4, "integer", "optional", "From -100 to 100: those with more go first."),
            tokens=(5, "bool", "optional", "Whether events tell of each token."),
        ),
        _message(
            USAGE,
            "What a call took.",
            output_tokens=(1, "integer", "", ""),
            forced_tokens=(2, "integer", "", "Of these, tokens that could be no others."),
            forwards=(3, "integer", "", "Passes through the model."),
            retries=(4, "integer", "", ""),
            seconds=(5, "float", "", ""),
        ),
        _message(
            CHECK,
            "A check of the program.",
            passed=(1, "bool", "", ""),
            reason=(2, "text", "", ""),
        ),
        _message(
            PARTIAL,
            "What is certain of the value of a hole.",
            hole=(1, "text", "", ""),
            branch=(2, "text", "", "Of a fork."),
            value=(3, "text", "", "JSON; parts that are not there yet are left out."),
        ),
        _message(
            TOLD,
            "An event of the run.",
            name=(1, "text", "", ""),
            data=(2, "text", "", "JSON."),
        ),
        _message(
            LOST,
            "Events between two numbers that were not kept: the client was too slow.",
            after=(1, "integer", "", ""),
            before=(2, "integer", "", ""),
        ),
        _message(
            PROBLEM,
            "Why a call has no value: a detail of google.rpc.Status in `grpc-status-details-bin`.",
            status=(1, "integer", "", "As over HTTP."),
            name=(2, "text", "", "Of the error, in the language or of the server."),
            detail=(3, "text", "", ""),
            code=(4, "text", "", ""),
            hint=(5, "text", "", ""),
            fields=(6, "text", "", "Of a declared error: a JSON object."),
            partial=(7, "text", "", "Of an answer that was not finished."),
            retry_after=(8, "integer", "optional", "Seconds."),
            run=(9, "text", "", "Its number, where there was one."),
        ),
    )


def reply_message(name: str, function: str, value: ProtoField | None) -> ProtoMessage:
    """The reply of a function; it has no value where the function has none."""
    fields = (
        _own("id", 1, ScalarItem("text")),
        *(() if value is None else (value,)),
        _own("usage", 3, MessageItem(USAGE)),
        _own("checks", 4, MessageItem(CHECK), "repeated"),
    )
    return ProtoMessage(name, "reply", fields, f"The value of `{function}`.")


def event_message(name: str, function: str, reply: str, so_far: Sequence[ProtoField]) -> ProtoMessage:
    """An event of a run of a function; the last is the value. `so_far` is for what is there of it."""
    told: Mapping[str, str] = {"partial": PARTIAL, "told": TOLD, "lost": LOST, "value": reply}
    fields = (
        _own("number", 1, ScalarItem("integer")),
        *(
            ProtoField(key, key, MessageItem(kind), number=number, oneof="event")
            for number, (key, kind) in enumerate(told.items(), 2)
        ),
        *so_far,
    )
    return ProtoMessage(
        name, "event", fields, f"What happens in a run of `{function}`; the last is its value."
    )


def options_field(name: str) -> ProtoField:
    """The options in a request."""
    return ProtoField("", name, MessageItem(OPTIONS), number=OPTIONS_NUMBER)


def _own(name: str, number: int, item: Item, label: Label = "") -> ProtoField:
    return ProtoField(name, name, item, label, number)


def _message(named: str, said: str, /, **fields: tuple[int, Plain, Label, str]) -> ProtoMessage:
    made = tuple(
        ProtoField(key, key, ScalarItem(kind), label, number, doc=doc)
        for key, (number, kind, label, doc) in fields.items()
    )
    return ProtoMessage(named, "own", made, said)
