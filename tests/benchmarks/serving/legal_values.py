"""Counts illegal values in the answers of a server in OpenAI's protocol: JSON of schemas, arguments of tools.

Every answer is judged by the package jsonschema, streamed or not, at temperatures up to 1.5, with limits of
tokens that end many of them early. A value that a limit has ended counts as any other.

    python tests/benchmarks/serving/legal_values.py --model smollm2 --requests 2000
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

import jsonschema

LEAVES: list[Any] = [
    {"type": "string", "maxLength": 12},
    {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{1,4}$"},
    {"type": "integer", "minimum": -5, "maximum": 1000},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "boolean"},
    {"type": ["string", "null"], "format": "date"},
    {"enum": ["red", "green", "blue", 7, None]},
]
QUESTIONS = ["Tell me about a person.", "What is the weather in Zürich?", "Order two pizzas.", "Plan a trip."]


def schema(draw: random.Random, depth: int = 2) -> dict[str, Any]:
    """An object of random members."""
    members: dict[str, Any] = {}
    for name in draw.sample(
        ["name", "age", "city", "tags", "size", "when", "note", "parts"], draw.randint(1, 4)
    ):
        kind = draw.random()
        if depth and kind < 0.2:
            members[name] = schema(draw, depth - 1)
        elif kind < 0.4:
            items = {
                "type": "array",
                "items": draw.choice(LEAVES),
                "minItems": draw.randint(0, 2),
                "maxItems": 3,
            }
            members[name] = items
        else:
            members[name] = draw.choice(LEAVES)
    needed = [name for name in members if draw.random() < 0.7]
    return {"type": "object", "properties": members, "required": needed, "additionalProperties": False}


def request(number: int, forms: list[dict[str, Any]]) -> dict[str, Any]:
    """The request of a number, the same in every run."""
    draw = random.Random(number)
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": draw.choice(QUESTIONS)}],
        "temperature": draw.choice([0, 0.7, 1, 1.5]),
        "seed": number,
        "stream": draw.random() < 0.5,
        "max_tokens": draw.choice([70, 120, 200]),
    }
    chosen = draw.sample(range(len(forms)), 2)
    if draw.random() < 0.4:
        form = {"name": "f", "schema": forms[chosen[0]]}
        return body | {"response_format": {"type": "json_schema", "json_schema": form}}
    tools: list[dict[str, Any]] = [
        {"type": "function", "function": {"name": f"f{at}", "parameters": forms[at]}} for at in chosen
    ]
    grammar = {"type": "grammar", "grammar": {"syntax": "regex", "definition": "[a-z]{1,8}@[a-z]{1,8}"}}
    tools.append({"type": "custom", "custom": {"name": "mail", "format": grammar}})
    named = {"type": "function", "function": {"name": f"f{chosen[0]}"}}
    choice = draw.choice(["required", "required", named, "auto"])
    if draw.random() < 0.3:
        body["frequency_penalty"] = 0.5
    return body | {"tools": tools, "tool_choice": choice}


def answer(port: int, model: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Status and the message of an answer, or its error."""
    connection = HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        text = json.dumps({"model": model} | body)
        connection.request("POST", "/v1/chat/completions", text, {"content-type": "application/json"})
        reply = connection.getresponse()
        data = reply.read().decode()
    finally:
        connection.close()
    if reply.status != 200 or not body["stream"]:
        found = json.loads(data)
        return reply.status, found["choices"][0]["message"] if reply.status == 200 else found
    message: dict[str, Any] = {"content": "", "tool_calls": []}
    for line in data.split("\n"):
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            message["content"] += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls", ()):
                joined(message["tool_calls"], piece)
    return 200, message


def model_of(port: int) -> str:
    """The name of the only model."""
    connection = HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        connection.request("GET", "/v1/models")
        found: str = json.loads(connection.getresponse().read())["data"][0]["id"]
        return found
    finally:
        connection.close()


def joined(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Put a piece of a stream to its call."""
    kind, member = ("custom", "input") if "custom" in piece else ("function", "arguments")
    if piece["index"] == len(calls):
        calls.append({"type": kind, kind: {"name": piece[kind]["name"], member: ""}})
    calls[piece["index"]][kind][member] += piece[kind][member]


def judge(body: dict[str, Any], message: dict[str, Any], forms: list[dict[str, Any]]) -> list[str]:
    """What each value of an answer is: `legal` or why not, with its kind."""
    found = []
    if "response_format" in body:
        return [told("json", message["content"], body["response_format"]["json_schema"]["schema"])]
    for call in message.get("tool_calls") or ():
        if call["type"] == "custom":
            fits = re.fullmatch("[a-z]{1,8}@[a-z]{1,8}", call["custom"]["input"])
            found.append("custom legal" if fits else f"custom ILLEGAL {call}")
        else:
            name = call["function"]["name"]
            found.append(told("arguments", call["function"]["arguments"], forms[int(name[1:])]))
    if body["tool_choice"] != "auto" and not found:
        found.append(f"ILLEGAL no call: {message}")
    return found or ["text"]


def told(kind: str, text: str, schema: dict[str, Any]) -> str:
    """A verdict on the JSON text of a value."""
    try:
        jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    except (ValueError, jsonschema.ValidationError) as fault:
        return f"{kind} ILLEGAL {text!r}: {str(fault)[:200]}"
    return f"{kind} legal"


def main() -> int:
    """Serve a model, ask it, and print what its values are."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--model", default="smollm2")
    reader.add_argument("--requests", type=int, default=2000)
    reader.add_argument("--clients", type=int, default=8)
    options = reader.parse_args()
    draw = random.Random(5)
    forms = [schema(draw) for _ in range(40)]
    command = ["serve", "--model", options.model, "--port", "0", "--no-access-log", "--schemas", "100000"]
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "sglc", *command], stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    try:
        address = None
        while address is None:
            address = re.search(r"serving .* at http://127.0.0.1:(\d+)", server.stderr.readline())
        port = int(address[1])
        name = model_of(port)
        counts: Counter[str] = Counter()
        began = time.monotonic()

        def one(number: int) -> list[str]:
            body = request(number, forms)
            status, message = answer(port, name, body)
            if status != 200:
                limit = "does not fit" if message["error"]["code"] == "truncated" else str(message)
                return [f"{status} {limit}"]
            return judge(body, message, forms)

        with ThreadPoolExecutor(options.clients) as pool:
            for verdicts in pool.map(one, range(options.requests)):
                counts.update(verdicts)
        print(f"{options.requests} requests to {name} in {time.monotonic() - began:.0f} s")
        for verdict, count in counts.most_common():
            print(f"{count:6} {verdict}")
        return any("ILLEGAL" in verdict for verdict in counts)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
