"""YAML in block style: two blanks a level, items of a list behind `- `, indented below their key.

Texts stand plain where readers of YAML 1.1 and 1.2 both take them for texts: they begin with a letter, are
no word such as `yes`, and have nothing in them that YAML reads as more than a character. All others stand in
double quotes, written as in JSON. Empty lists, maps and records are `[]` and `{}`. Below BLOCK_LEVELS levels
values are written in flow style, on one line, where all texts have quotes.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import product

from sglc.automata.caches import remembered
from sglc.automata.charset import Ranges
from sglc.automata.dfa.nfa_union import repeated
from sglc.automata.dfa.operations import (
    accepts,
    all_words,
    any_char_class,
    difference,
    intersect,
    words,
)
from sglc.automata.joined_terms import choice, sequence
from sglc.automata.term import Bytes, CharDfa, Nothing, Term, Text
from sglc.types.forms.flat import described, is_scalar, leaf
from sglc.types.forms.shape import (
    Arms,
    Around,
    Entries,
    FormError,
    Group,
    Leaf,
    Many,
    Part,
    Ref,
    Shape,
    Shapes,
    Texts,
    Variants,
    held,
)
from sglc.types.forms.texts import raw
from sglc.types.json_text import json_text
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    InForm,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    SpanOf,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    behind_names,
    declared_type,
)

BLOCK_LEVELS = 8
"""Levels in block style. Each level of a type that contains itself has rules of its own in the mask, since
its lines begin with more blanks: eight are deeper than people write by hand, and few rules."""
FLOW = BLOCK_LEVELS + 1
"""The level of everything in flow style."""
LONGEST_KEY = 160
"""Most characters of a map's key: readers take keys of 1,024 characters, and an escape has six."""

CHARACTERS: Ranges = (
    (0, 0x7E),
    (0xA0, 0x2027),
    (0x202A, 0xD7FF),
    (0xE000, 0xFEFE),
    (0xFF00, 0xFFFD),
    (0x10000, 0x10FFFF),
)
"""Characters that YAML takes as they are, and those that JSON escapes. Left out are the control characters
U+007F to U+009F, the separators U+2028 and U+2029, the byte order mark and two that are none."""
_STRANGE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_RESERVED = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
"""Words that some reader takes for something else than a text, in any case."""
_PLAIN = r"[\p{L}_](?:[^ :\x00-\x1f]|:+[^ :\x00-\x1f]| +[^ #:\x00-\x1f]| +:+[^ :\x00-\x1f])*"
_NUMBER = r"-?[0-9]+(\.[0-9]+)?|-?[0-9]+\.[0-9]+e[-+][0-9]+"
"""Numbers with an exponent have a point and a sign, or a reader of YAML 1.1 takes them for texts."""
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_WORD = re.compile(r"[-+.0-9A-Za-z]*")


def yaml_shapes(type: Type, table: TypeTable) -> Shapes:
    """The shapes of a type. Raises FormError for `json` and texts of grammars."""
    tree = _Tree(table)
    return Shapes(tree.shape(type, 0, False, ""), TEXTS, tree.named, table)


class _Tree:
    def __init__(self, table: TypeTable) -> None:
        self.table = table

    def shape(self, type: Type, level: int, keyed: bool, path: str) -> Shape:
        """A value at a level of indentation; `keyed` if it stands behind a key and its colon."""
        level = min(level, FLOW)
        match type:
            case InForm(item=item):
                return self.shape(item, level, keyed, path)
            case Optional(item=item):
                return self.arms((item, Null()), level, keyed, path)
            case Alternatives(arms=arms):
                return self.arms(arms, level, keyed, path)
            case Named(name=name):
                declared = declared_type(name, self.table)
                if isinstance(declared, RecordType | UnionType):
                    return Ref(name, (level, keyed))
                if isinstance(declared, AliasType):
                    if is_scalar(declared.type, self.table):
                        return self.alias(declared, level, keyed, path)
                    return Ref(name, (level, keyed))
            case ListOf(item=item, minimum=low, maximum=high):
                left, joint, right = self.frame(level, keyed, "[]")
                lead = "" if level == FLOW else "- "
                inner = self.shape(item, level + 1, False, f"{path}[]")
                empty = self.scalar_lead(keyed) + "[]"
                return Many(inner, low, high, joint, left, lead, "", right, empty)
            case MapOf(key=key, value=item, minimum=low, maximum=high):
                left, joint, right = self.frame(level, keyed, "{}")
                inner = self.shape(item, level + 1, True, f"{path}{{}}")
                return Entries(
                    behind_names(key, self.table),
                    inner,
                    low,
                    high,
                    joint,
                    left,
                    right,
                    self.scalar_lead(keyed) + "{}",
                )
            case TupleOf(items=items):
                lead = "" if level == FLOW else "- "
                parts = tuple(
                    Part("", lead, self.shape(item, level + 1, False, f"{path}[]")) for item in items
                )
                return self.group(None, parts, level, keyed, "[]")
        if not is_scalar(type, self.table):
            raise FormError(path, described(type), "write it `as json`")
        # A piece of a text is told from the text around it by its quotes alone.
        quoted = level == FLOW or isinstance(type, SpanOf)
        return self.behind(keyed, leaf(type, path, quoted=quoted, spans=True))

    def alias(self, declared: AliasType, level: int, keyed: bool, path: str) -> Shape:
        shape = self.shape(declared.type, level, keyed, path)
        return held(shape, (declared,) if declared.where or declared.predicates else ())

    def arms(self, arms: tuple[Type, ...], level: int, keyed: bool, path: str) -> Shape:
        return Arms(tuple((arm, self.shape(arm, level, keyed, path)) for arm in arms))

    def scalar_lead(self, keyed: bool) -> str:
        return " " if keyed else ""

    def behind(self, keyed: bool, shape: Leaf) -> Shape:
        return Around(" ", shape) if keyed else shape

    def frame(self, level: int, keyed: bool, brackets: str) -> tuple[str, str, str]:
        """What stands before, between and behind the parts of a value with parts."""
        if level == FLOW:
            return self.scalar_lead(keyed) + brackets[0], ", ", brackets[1]
        line = "\n" + "  " * level
        return line if keyed else "", line, ""

    def group(
        self,
        type: str | None,
        parts: tuple[Part, ...],
        level: int,
        keyed: bool,
        brackets: str,
        variant: str | None = None,
    ) -> Group:
        left, joint, right = self.frame(level, keyed, brackets)
        tag = f"{TAG}: {TEXTS.write(variant, level == FLOW)}" if variant is not None else ""
        return Group(type, parts, joint, left, right, self.scalar_lead(keyed) + brackets, variant, tag)

    def named(self, ref: Ref) -> Shape:
        """The shape of a declared type that is no enum."""
        declared = declared_type(ref.name, self.table)
        level, keyed = ref.place
        if isinstance(declared, AliasType):
            return self.alias(declared, level, keyed, "")
        if isinstance(declared, RecordType):
            return self.group(declared.name, self.fields(declared, level), level, keyed, "{}")
        assert isinstance(declared, UnionType)
        return Variants(
            declared.name,
            tuple(
                self.group(declared.name, self.fields(variant, level), level, keyed, "{}", variant.name)
                for variant in declared.variants
            ),
        )

    def fields(self, record: RecordType, level: int) -> tuple[Part, ...]:
        return tuple(
            Part(
                field.name,
                f"{TEXTS.write(field.name, False)}:",
                self.shape(field.type, level + 1, True, f"{record.name.rsplit('.', 1)[-1]}.{field.name}"),
                optional=field.optional or field.has_default,
                field=field,
            )
            for field in record.fields
        )


@cache
def legal() -> CharDfa:
    """Texts that YAML can hold."""
    return all_words(CHARACTERS)


@cache
def legal_keys() -> CharDfa:
    """Keys of maps that YAML can hold."""
    return repeated(any_char_class(CHARACTERS), 0, LONGEST_KEY)


@cache
def _plain_words() -> CharDfa:
    reserved = [
        "".join(word) for each in _RESERVED for word in product(*((char, char.upper()) for char in each))
    ]
    from sglc.automata.regex.compile import compile_regex

    return difference(intersect(compile_regex(_PLAIN), legal()), words(reserved))


def _is_plain(text: str) -> bool:
    return accepts(_plain_words(), text)


def _write(text: str, quoted: bool) -> str:
    found = _STRANGE.search(text)
    if found is not None:
        point = ord(found.group())
        raise FormError("", f"a text with the character U+{point:04X}, which YAML cannot hold")
    return json_text(text) if quoted or not _is_plain(text) else text


def _read(text: str) -> str | None:
    if not text.startswith('"'):
        return text if _is_plain(text) else None
    try:
        found: str = json.loads(text)
    except ValueError:
        return None
    return found if json_text(found) == text and not _STRANGE.search(found) else None


def _end(text: str, at: int, quoted: bool) -> int:
    if text.startswith('"', at):
        found = _STRING.match(text, at)
        return len(text) if found is None else found.end()
    if quoted:
        found = _WORD.match(text, at)
        assert found is not None
        return found.end()
    line = text.find("\n", at)
    return len(text) if line < 0 else line


def _term(dfa: CharDfa, low: int, high: int | None, quoted: bool) -> Term:
    if quoted:
        return _in_quotes(intersect(dfa, legal()), low, high)
    plain, rest = _apart(dfa)
    return choice(raw(plain, low, high), _in_quotes(rest, low, high))


def _in_quotes(dfa: CharDfa, low: int, high: int | None) -> Term:
    inside: Term = Nothing() if not dfa.edges else Text(dfa, "json", low, high)
    return sequence(Bytes(b'"'), inside, Bytes(b'"'))


@remembered
def _apart(dfa: CharDfa) -> tuple[CharDfa, CharDfa]:
    """The words that stand plain, and those in quotes."""
    dfa = intersect(dfa, legal())
    return intersect(dfa, _plain_words()), difference(dfa, _plain_words())


def _grown(text: str) -> str:
    if not text.startswith('"'):
        return text
    inside = text[1:]
    while inside:
        try:
            found: str = json.loads(f'"{inside}"')
            return found
        except ValueError:
            inside = inside[:-1]
    return ""


@cache
def _numbers() -> CharDfa:
    from sglc.automata.regex.compile import compile_regex

    return compile_regex(_NUMBER)


def number_text(text: str) -> str:
    """A float as readers of YAML 1.1 know it too."""
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    mantissa = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{mantissa}e{exponent if exponent[0] in '+-' else '+' + exponent}"


TEXTS = Texts(_write, _read, _end, _term, _grown, "null", _numbers, number_text, LONGEST_KEY)
