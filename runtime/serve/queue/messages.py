"""Messages of a queue: calls, results, dead letters, and the digest that makes a call once in effect."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sglc.runtime.serve.functions import Answer, parsed_body
from sglc.runtime.serve.problems import Problem
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import parse_json, write_json
from sglc.types.values import Value

MEMBERS = ("function", "arguments", "options", "id", "reply")
LONGEST_ID = 200
LONGEST_LETTER = 64 * 1024
"""Most bytes of a message that its dead letter has of it."""
_REPLY = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Poison(Exception):
    """A message that is no call. Its text says why."""


@dataclass(frozen=True, slots=True)
class QueuedCall:
    """A call as a message has it. `options` are not read yet."""

    function: str
    arguments: Mapping[str, Value]
    options: Value
    id: str
    """Who calls gives it, or nobody: then it is empty."""
    reply: str
    content: str
    """Digest of function, arguments and options: SHA-256 of their canonical JSON."""

    @property
    def digest(self) -> str:
        """What the result stands under: the SHA-256 of `id`, without one the digest of the content."""
        return _sha(self.id) if self.id else self.content


def read_call(data: bytes, most: int) -> QueuedCall:
    """The call of a message, of at most so many bytes. Raises Poison."""
    if len(data) > most:
        raise Poison(f"the message is larger than {most} bytes")
    try:
        body = parsed_body(data.decode())
    except UnicodeDecodeError as wrong:
        raise Poison(f"the message is no UTF-8 text: byte {wrong.start}") from None
    except MemberError as wrong:
        raise Poison(f"the message is not what is wanted: {wrong}") from None
    for name in body:
        if name not in MEMBERS:
            raise Poison(f"there is no member `{name[:100]}`; members: {', '.join(MEMBERS)}")
    function, arguments = body.get("function"), body.get("arguments", {})
    if not isinstance(function, str) or not 0 < len(function) <= LONGEST_ID:
        raise Poison(f"`function` is the name of a function, of at most {LONGEST_ID} characters")
    if not isinstance(arguments, dict):
        raise Poison("`arguments` is a JSON object")
    id, reply = body.get("id"), body.get("reply")
    if id is not None and (not isinstance(id, str) or not 0 < len(id) <= LONGEST_ID):
        raise Poison(f"`id` is a text of 1 to {LONGEST_ID} characters")
    if reply is not None and (not isinstance(reply, str) or not _REPLY.fullmatch(reply)):
        raise Poison("`reply` has letters, digits, _ and -, at most 64 of them")
    options = body.get("options")
    asked: Value = {"function": function, "arguments": arguments, "options": options or {}}
    return QueuedCall(function, arguments, options, id or "", reply or "", _sha(canonical(asked)))


def canonical(value: Value) -> str:
    """JSON without spaces, members in the order of their names' characters, numbers exact."""
    if isinstance(value, Mapping):
        members = (f"{write_json(name)}:{canonical(value[name])}" for name in sorted(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(each) for each in value) + "]"
    return write_json(value)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def result_text(call: QueuedCall, answer: Answer, run: str) -> str:
    """What is stored of a call that has ended: its value, or the problem."""
    head: dict[str, object] = {"id": call.id} if call.id else {}
    head |= {"digest": call.digest, "content": call.content, "function": call.function, "run": run}
    if answer.problem is not None:
        return write_json({**head, "problem": answer.problem.data()})
    tail = write_json({"usage": answer.usage, "checks": list(answer.checks)})[1:]
    return f'{write_json(head)[:-1]}, "value": {answer.value}, {tail}'


def is_result_of(text: str, call: QueuedCall) -> bool:
    """Whether a stored result is of the same function, arguments and options."""
    try:
        found = parse_json(text)
    except MemberError:
        return False
    return isinstance(found, dict) and found.get("content") == call.content


def letter_text(
    beginning: bytes, size: int, reason: str, attempts: int, problem: Problem | None = None
) -> str:
    """A dead letter: the beginning of a message of so many bytes, why it is one, how often it was taken."""
    told: dict[str, object] = {
        "reason": reason,
        "attempts": attempts,
        "message": beginning.decode(errors="backslashreplace"),
    }
    if size > len(beginning):
        told["bytes"] = size
    if problem is not None:
        told["problem"] = problem.data()
    return write_json(told)
