"""The prompt on a terminal: editing, history, completion, colours. What is typed goes to a `Console`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.patch_stdout import patch_stdout

from sglc.commands.editing.console import Console, names_of_commands
from sglc.commands.editing.typed_history import LONGEST, history_file, is_secret
from sglc.repl.completion import complete
from sglc.repl.pieces import is_open

PROMPT, MORE = "sgl> ", "...  "
INDENT = "    "
LONGEST_META = 48
"""Characters that are shown beside a completion."""


class _Words(Completer):
    """Completions of a session, as prompt_toolkit asks for them."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What may stand at the cursor."""
        found = complete(self._console.session, document.text_before_cursor, names_of_commands())
        for each in found:
            meta = each.detail or each.kind
            yield Completion(each.text, -each.length, each.label, display_meta=meta[:LONGEST_META])


def is_kept(text: str) -> bool:
    """Whether an input goes into the history: not what looks like a secret, nor what is very long, nor what
    begins with a blank."""
    return not text.startswith(" ") and len(text) <= LONGEST and not is_secret(text)


def _history() -> History:
    path = history_file()
    base = InMemoryHistory() if path is None else FileHistory(path)
    store = base.store_string

    def store_some(string: str) -> None:
        if is_kept(string):
            store(string)

    base.store_string = store_some  # type: ignore[method-assign]
    return base


def _keys(console: Console) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    @keys.add("c-j")  # what a terminal makes of Enter while nobody reads
    def _(event: KeyPressEvent) -> None:
        """Accept a whole input; go on with one that is open, as far in as its block."""
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
            return
        text = buffer.text
        if text.lstrip().startswith(":") or not is_open(text):
            buffer.validate_and_handle()
            return
        line = buffer.document.current_line_before_cursor
        margin = line[: len(line) - len(line.lstrip())]
        buffer.insert_text("\n" + margin + (INDENT if line.rstrip().endswith(":") else ""))

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        """A new line in any case."""
        event.current_buffer.insert_text("\n")

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        """Indent at the beginning of a line, else complete."""
        buffer = event.current_buffer
        if not buffer.document.current_line_before_cursor.strip():
            buffer.insert_text(INDENT)
        elif buffer.complete_state is not None:
            buffer.complete_next()
        else:
            found = complete(console.session, buffer.document.text_before_cursor, names_of_commands())
            if len(found) == 1:
                buffer.insert_text(found[0].text[found[0].length :])
            else:
                buffer.start_completion(select_first=True)

    @keys.add("backspace")
    def _(event: KeyPressEvent) -> None:
        """Take away one character, or one level of blanks before a line."""
        buffer = event.current_buffer
        before = buffer.document.current_line_before_cursor
        count = len(INDENT) if before and not before.strip() and len(before) % len(INDENT) == 0 else 1
        buffer.delete_before_cursor(count)

    return keys


def _lexer() -> Lexer | None:
    """Syntax colours, where Pygments has a lexer of the language."""
    try:
        from prompt_toolkit.lexers import PygmentsLexer
        from pygments.lexers import find_lexer_class_by_name
        from pygments.util import ClassNotFound
    except ImportError:
        return None
    try:
        return PygmentsLexer(find_lexer_class_by_name("sgl"))
    except ClassNotFound:
        return None


def prompt_until_end(console: Console, begin: Callable[[], None]) -> None:
    """Take inputs from the terminal until it ends (Ctrl-D) or the session does. `begin` says the first words.

    Ctrl-C gives up what is being typed; while something runs it ends that.
    """
    lexer = _lexer() if console.color else None
    prompts: PromptSession[str] = PromptSession(
        message=FormattedText([("bold", PROMPT)]),
        multiline=True,
        prompt_continuation=lambda width, line, wrapped: MORE,
        history=_history(),
        auto_suggest=AutoSuggestFromHistory(),
        completer=ThreadedCompleter(_Words(console)),
        complete_while_typing=False,
        key_bindings=_keys(console),
        lexer=lexer,
    )
    begin()
    while True:
        try:
            with patch_stdout(raw=True):
                text = prompts.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if not console.feed(text):
            return
