"""The page of `sglc serve --ui` in a browser: forms, runs as they go on, keys, and who is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from judges.browser import Tab, chromium, find_chromium
from serving.server import Server, serving
from sglc.runtime.serve.access import Access, Key, digest_of
from sglc.runtime.serve.ui.face import UiFace

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH, and none in SGLC_CHROMIUM"),
]
PROGRAM = """
enum Mood: calm, cross, glad

## One person.
record Person:
    name: str min 2 chars max 40 chars  ## first and last
    age: int in 18..70
    mood: Mood
    email: (str max 20 chars)?
    tags: [str max 9 chars; ..4]

union Shape:
    Circle:
        r: decimal in 0..10
    Square:
        side: int

record Tree:
    label: str
    children: [Tree]

## Gives back what it gets, as text.
pub fn all_kinds(PARAMETERS) -> str:
    return "SHOWN"

error Unwanted(why: str)

pub fn pick(text: str) -> Mood raises Unwanted:
    user: | ${text}
    assistant: | It is ?{mood: Mood}.
    if text == "bad":
        raise Unwanted("<b>no</b>")
    return mood

pub fn three() -> [str]:
    assistant:
        | ?{first: "a" | "b" | "c"}
        | ?{second: "a" | "b" | "c"}
        | ?{third: "a" | "b" | "c"}
    return [first, second, third]

pub fn long(text: str) -> str:
    user: | ${text}
    assistant: | ?{answer: str max 400 chars}
    return answer
"""
PARAMETERS = {
    **{"person": "Person", "shape": "Shape", "scores": "{str: int; ..3}", "price": "decimal"},
    **{"pair": "(int, str)", "yes": "bool", "note": "str?", "tree": "Tree", "size": '"a" | "b" | 3'},
    **{"any": "json", "word": "str matching /[a-z]+/", "big": "int in 0.. = 7"},
}
PROGRAM = PROGRAM.replace("PARAMETERS", ", ".join(f"{name}: {type}" for name, type in PARAMETERS.items()))
PROGRAM = PROGRAM.replace("SHOWN", " / ".join(f"${{{name}}}" for name in PARAMETERS))
ANSWERS = {
    "pick.mood": "glad",
    "three.first": "a",
    "three.second": "b",
    "three.third": "b",
    "long.answer": "word " * 60,
}
FUNCTION = "document.querySelector('.function')"


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    assert CHROMIUM is not None
    with chromium(CHROMIUM) as opened:
        yield opened


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PROGRAM, ANSWERS, faces=[UiFace], pace=0.02) as found:
        yield found


def visit(
    tab: Tab, server: Server, wait: str = "document.querySelector('.functions button') !== null"
) -> None:
    tab.visit(f"http://127.0.0.1:{server.port}/ui/")
    tab.until(wait)


def clean(tab: Tab, server: Server) -> None:
    """Nothing was complained of, and only the server was asked."""
    assert tab.complaints == []
    assert all(each.startswith(f"http://127.0.0.1:{server.port}/") for each in tab.requests)


def open_function(tab: Tab, name: str) -> None:
    tab.evaluate(f"document.querySelector('[data-name={name}]').click()")


def text_of(tab: Tab, selector: str) -> str:
    found: str = tab.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")
    return found


FILL = """
((label, value, nth) => {
  const labels = [...document.querySelectorAll('.function label')].filter(
    (each) => each.textContent.trim() === label && each.offsetParent);
  const field = document.getElementById(labels[nth].htmlFor);
  if (field.type === 'checkbox') field.checked = value === 'true';
  else if (field.tagName === 'SELECT')
    field.selectedIndex = [...field.options].findIndex((each) => each.text === value);
  else field.value = value;
  for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {bubbles: true}));
})
"""
PRESS = """
((text, legend) => {
  const groups = [...document.querySelectorAll('.function fieldset')].filter(
    (each) => each.querySelector('legend')?.textContent === legend);
  const place = legend ? groups.at(-1) : document.querySelector('.function');
  [...place.querySelectorAll('button')].find((each) => each.textContent === text).click();
})
"""


def fill(tab: Tab, label: str, value: str, nth: int = 0) -> None:
    """Give a field what it holds, found by the text of its label."""
    tab.evaluate(f"{FILL}(...{json.dumps([label, value, nth])})")


def press_button(tab: Tab, text: str, within: str = "") -> None:
    """Press a button by its text, in the last group with a legend of some text."""
    tab.evaluate(f"{PRESS}(...{json.dumps([text, within])})")


def test_a_form_for_every_type(tab: Tab, server: Server) -> None:
    visit(tab, server)
    assert "first and last; at least 2, at most 40 characters" in text_of(tab, ".function")
    for label, value in (
        *(("name", "Ada L"), ("age", "36"), ("mood", "glad"), ("email", "nothing")),
        *(("price", "1234567890123456789.50"), ("yes", "true"), ("note", "text"), ("size", "3")),
        *(("word", "abc"), ("label", "root"), ("any", '{"k": [1, null]}'), ("big", "")),
    ):
        if label == "any":
            tab.evaluate(
                f"{FUNCTION}.querySelector('textarea[spellcheck=false]').value = {json.dumps(value)}"
            )
        elif label != "big":
            fill(tab, label, value)
    fill(tab, "shape", "Square")
    fill(tab, "side", "4")
    press_button(tab, "Add an item", "tags")
    tab.write("kind")
    press_button(tab, "Add an entry", "scores")
    fill(tab, "key", "one")
    fill(tab, "value", "12345678901234567890123")
    press_button(tab, "Add an item", "children")
    fill(tab, "label", "leaf", 1)
    items = (
        f"[...{FUNCTION}.querySelectorAll('fieldset')].find(each => each.firstChild.textContent === 'pair')"
    )
    tab.evaluate(f"{items}.querySelectorAll('input, textarea')[0].value = '-5'")
    tab.evaluate(f"{items}.querySelectorAll('input, textarea')[1].value = 'five'")
    tab.evaluate(f"[...{FUNCTION}.querySelectorAll('.arm textarea')].at(-1).value = 'a note'")
    press_button(tab, "Run")
    value = tab.until("document.querySelector('.result .v-text')?.innerText")
    for part in (
        "Ada L",
        "36",
        "glad",
        "null",
        "kind",
        "Square",
        "4",
        "12345678901234567890123",
        "1234567890123456789.50",
    ):
        assert part in value, part
    for part in ("-5", "five", "true", "a note", "root", "leaf", " / 3 / ", "abc", " / 7"):
        assert part in value, part
    clean(tab, server)


def test_what_is_wrong_is_said_at_its_field(tab: Tab, server: Server) -> None:
    visit(tab, server)
    fill(tab, "age", "seventeen")
    press_button(tab, "Run")
    told = tab.until(
        "[...document.querySelectorAll('.wrong')].filter(each => !each.hidden).map(each => each.textContent)"
    )
    assert (
        told[0] == "It has 0 characters; 2 are the least." and "A whole number is wanted, such as 42." in told
    )
    assert tab.evaluate("document.activeElement.getAttribute('aria-invalid')") == "true"
    described = (
        "document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ').at(-1))"
    )
    assert tab.evaluate(f"{described}.textContent") == told[0]
    fill(tab, "age", "17")
    press_button(tab, "Run")
    assert "It is out of its bounds: from 18 to 70." in text_of(tab, ".function")
    assert not any("/v1/functions/all_kinds" in each for each in tab.requests)
    clean(tab, server)


def test_a_call_by_keyboard_alone(tab: Tab, server: Server) -> None:
    visit(tab, server)
    open_function(tab, "pick")
    tab.evaluate("document.querySelector('[data-name=pick]').focus()")
    for _ in range(6):
        tab.press("Tab")
        if tab.evaluate("document.activeElement.tagName") == "TEXTAREA":
            break
    tab.write("a fine day")
    tab.press("Enter", control=True)
    assert tab.until("document.querySelector('.result .v-text')?.innerText") == "glad"
    assert tab.evaluate("document.activeElement.textContent") == "Run"
    assert "Done." in text_of(tab, ".status")
    tab.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "See the conversation"
    tab.press("Enter")
    tab.until("document.querySelector('.conversation .it.token') !== null")
    assert text_of(tab, ".conversation .it.inserted") == "a fine day"
    clean(tab, server)


def test_partial_values_and_cancelling(tab: Tab, server: Server) -> None:
    visit(tab, server)
    open_function(tab, "long")
    fill(tab, "text", "x")
    press_button(tab, "Run")
    tab.until("document.querySelector('.partials dd')?.innerText.startsWith('word word')")
    assert text_of(tab, ".partials dt") == "long.answer"
    assert tab.evaluate("document.activeElement.textContent") == "Cancel"
    tab.press("Enter")
    problem = tab.until("document.querySelector('.problem')?.innerText")
    assert "Cancelled" in problem and "What there was" in problem and "word word" in problem
    server.until(lambda: server.runs.admission.running == 0)
    tab.evaluate("document.getElementById('tab-conversation').click()")
    assert "Cancelled" in text_of(tab, ".facts")
    clean(tab, server)


def test_problems_are_shown_with_their_fields(tab: Tab, server: Server) -> None:
    visit(tab, server)
    open_function(tab, "pick")
    fill(tab, "text", "bad")
    press_button(tab, "Run")
    problem = tab.until("document.querySelector('.problem')?.innerText")
    assert "Unwanted" in problem and "<b>no</b>" in problem and "status 422" in problem
    assert tab.evaluate("document.querySelector('.problem b')?.textContent !== 'no'")
    clean(tab, server)


def test_a_call_is_edited_and_run_again(tab: Tab, server: Server) -> None:
    visit(tab, server)
    open_function(tab, "pick")
    fill(tab, "text", "first")
    press_button(tab, "Run")
    tab.until("document.querySelector('.result .v-text') !== null")
    tab.evaluate("document.getElementById('tab-conversation').click()")
    tab.evaluate("[...document.querySelectorAll('.facts button')].at(-1).click()")
    assert tab.evaluate("document.activeElement.value") == "first"
    assert "from its beginning" in text_of(tab, ".function form .hint")
    fill(tab, "text", "second")
    press_button(tab, "Run")
    tab.until("document.querySelector('.result .tools button:nth-child(2)') !== null")
    press_button(tab, "Compare with the run before")
    tab.until("document.querySelectorAll('.differs').length === 2")
    found = tab.evaluate("[...document.querySelectorAll('.differs')].map(each => each.textContent)")
    assert found == ["first", "second"]
    clean(tab, server)


def test_the_server_as_it_is_now(tab: Tab, server: Server) -> None:
    visit(tab, server)
    open_function(tab, "long")
    fill(tab, "text", "x")
    press_button(tab, "Run")
    tab.evaluate("document.getElementById('tab-server').click()")
    tab.until("document.querySelector('#panel-server td')?.textContent")
    state = text_of(tab, "#panel-server")
    assert "1 of 4" in state and "long" in state and "scripted" in state
    tab.evaluate("document.getElementById('tab-functions').click()")
    press_button(tab, "Cancel")
    tab.until("document.querySelector('.problem') !== null")
    clean(tab, server)


def test_a_key_is_asked_for_and_kept_in_the_tab(tab: Tab) -> None:
    access = Access((Key("ada", digest_of("sgl-secret"), "ada"),))
    with serving(PROGRAM, ANSWERS, faces=[UiFace], access=access) as server:
        visit(tab, server, "!document.getElementById('key-form').hidden")
        assert "This server wants a key" in tab.until("document.getElementById('key-told').textContent")
        assert "wants a key" in text_of(tab, ".function") and not any(
            "openapi" in each for each in tab.requests
        )
        tab.evaluate("document.getElementById('key').focus()")
        tab.write("sgl-secret")
        tab.press("Enter")
        tab.until("document.querySelector('.functions button') !== null")
        open_function(tab, "pick")
        fill(tab, "text", "x")
        press_button(tab, "Run")
        assert tab.until("document.querySelector('.result .v-text')?.innerText") == "glad"
        assert tab.evaluate("sessionStorage.length") == 1 and tab.evaluate("localStorage.length") == 0
        assert "sgl-secret" not in tab.evaluate("document.documentElement.outerHTML")
        assert not any("secret" in each for each in tab.requests)
        clean(tab, server)


def test_inline_scripts_do_not_run(tab: Tab, server: Server) -> None:
    """The policy is in force: what a mistake in the page would let in does nothing."""
    visit(tab, server)
    tab.evaluate(
        "(() => { const bad = document.createElement('script'); "
        "try { bad.textContent = 'window.ran = 1' } catch {} document.body.append(bad) })()"
    )
    assert tab.evaluate("window.ran === undefined")
    markup = "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'set' } catch { return 'no' } })()"
    assert tab.evaluate(markup) == "no"


def test_a_call_goes_on_from_a_hole(tab: Tab, server: Server) -> None:
    """Holes before it keep their texts, it gets the one that is typed, those behind it are drawn."""
    visit(tab, server)
    open_function(tab, "three")
    press_button(tab, "Run")
    tab.until("document.querySelector('.result .value') !== null")
    tab.evaluate("document.getElementById('tab-holes').click()")
    tab.until("document.querySelectorAll('.lane').length === 3")
    tab.evaluate("document.querySelector('.timeline').focus()")
    tab.press("ArrowDown")
    assert "three.second" in text_of(tab, "#inspector h2")
    tab.evaluate("[...document.querySelectorAll('#inspector button')].at(-1).click()")
    assert tab.evaluate("document.activeElement.value") == "b"
    tab.evaluate("document.activeElement.value = 'c'")
    press_button(tab, "Run")
    tab.until("document.querySelector('.result .tools button:nth-child(2)') !== null")
    assert text_of(tab, ".result .value").split() == ["1", "a", "2", "c", "3", "b"]
    press_button(tab, "Compare with the run before")
    tab.until("document.querySelectorAll('.differs').length === 2")
    found = tab.evaluate("[...document.querySelectorAll('.differs')].map(each => each.textContent)")
    assert found == ["b", "c"]
    clean(tab, server)
