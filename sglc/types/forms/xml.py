"""XML: one element a field, one `item` an item of a list, on one line. No attributes, no DTD.

The outermost element has the name of the record, union or alias, else `list` or `value`. `&`, `<` and `>` are
escaped, null is `<null/>`. The variant of a union is named by its first element, `type`.
"""

from __future__ import annotations

import re
from functools import cache

from sglc.automata.charset import Ranges
from sglc.automata.dfa.operations import all_words, intersect
from sglc.automata.term import CharDfa, Term
from sglc.types.forms.flat import described, is_scalar, leaf
from sglc.types.forms.shape import (
    Arms,
    Around,
    FormError,
    Group,
    Many,
    Part,
    Ref,
    Shape,
    Shapes,
    Texts,
    Variants,
    held,
)
from sglc.types.forms.texts import escaped
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
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    behind_names,
    declared_type,
)

ITEM = "item"
"""The element of an item of a list or tuple."""
_CHARACTERS: Ranges = ((9, 10), (0x20, 0xD7FF), (0xE000, 0xFFFD), (0x10000, 0x10FFFF))
"""What XML 1.0 can hold, but for carriage returns, which readers change."""
_ILLEGAL = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
NULL = "<null/>"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ENTITY = re.compile(r"&[a-z]{0,3}$")


def xml_shapes(type: Type, table: TypeTable) -> Shapes:
    """The shapes of a type. Raises FormError for maps, `json` and texts of grammars."""
    tree = _Tree(table)
    left, right = _element(_root(type, table), "")
    return Shapes(Around(left, tree.shape(type, ""), right), TEXTS, tree.named, table)


def _root(type: Type, table: TypeTable) -> str:
    if isinstance(type, InForm):
        return _root(type.item, table)
    if isinstance(type, Named):
        return type.name.rsplit(".", 1)[-1]
    return "list" if isinstance(behind_names(type, table), ListOf) else "value"


def _element(name: str, path: str) -> tuple[str, str]:
    if not _NAME.fullmatch(name):
        raise FormError(path, f"the name `{name}`, where an element has letters of ASCII", "rename it")
    return f"<{name}>", f"</{name}>"


class _Tree:
    def __init__(self, table: TypeTable) -> None:
        self.table = table

    def shape(self, type: Type, path: str) -> Shape:
        """What stands inside the element of a value."""
        match type:
            case InForm(item=item):
                return self.shape(item, path)
            case Optional(item=item):
                return Arms(((item, self.shape(item, path)), (Null(), self.shape(Null(), path))))
            case Alternatives(arms=arms):
                return Arms(tuple((arm, self.shape(arm, path)) for arm in arms))
            case Named(name=name):
                declared = declared_type(name, self.table)
                if isinstance(declared, RecordType | UnionType):
                    return Ref(name)
                if isinstance(declared, AliasType):
                    scalar = is_scalar(declared.type, self.table)
                    return self.alias(declared, path) if scalar else Ref(name)
            case ListOf(item=item, minimum=low, maximum=high):
                lead, trail = _element(ITEM, path)
                return Many(self.shape(item, f"{path}[]"), low, high, "", lead=lead, trail=trail)
            case TupleOf(items=items):
                lead, trail = _element(ITEM, path)
                parts = tuple(Part("", lead, self.shape(item, f"{path}[]"), trail) for item in items)
                return Group(None, parts, "")
            case MapOf():
                raise FormError(
                    path,
                    "a map, whose keys are no names of elements",
                    "use a list of records of key and value",
                )
        if not is_scalar(type, self.table):
            raise FormError(path, described(type), "write it `as json`")
        return leaf(type, path)

    def alias(self, declared: AliasType, path: str) -> Shape:
        shape = self.shape(declared.type, path)
        return held(shape, (declared,) if declared.where or declared.predicates else ())

    def named(self, ref: Ref) -> Shape:
        """The shape of a declared type that is no enum."""
        declared = declared_type(ref.name, self.table)
        if isinstance(declared, AliasType):
            return self.alias(declared, "")
        if isinstance(declared, RecordType):
            return Group(declared.name, self.fields(declared), "")
        assert isinstance(declared, UnionType)
        left, right = _element(TAG, "")
        return Variants(
            declared.name,
            tuple(
                Group(
                    declared.name,
                    self.fields(variant),
                    "",
                    variant=variant.name,
                    tag=f"{left}{TEXTS.write(variant.name, False)}{right}",
                )
                for variant in declared.variants
            ),
        )

    def fields(self, record: RecordType) -> tuple[Part, ...]:
        found = []
        for field in record.fields:
            path = f"{record.name.rsplit('.', 1)[-1]}.{field.name}"
            left, right = _element(field.name, path)
            absent = field.optional or field.has_default
            found.append(Part(field.name, left, self.shape(field.type, path), right, absent, field))
        return tuple(found)


@cache
def _legal() -> CharDfa:
    return all_words(_CHARACTERS)


def _write(text: str, quoted: bool) -> str:
    found = _ILLEGAL.search(text)
    if found is not None:
        raise FormError("", f"a text with the character U+{ord(found.group()):04X}, which XML cannot hold")
    for char, entity in _ESCAPES:
        text = text.replace(char, entity)
    return text


def _read(text: str) -> str | None:
    found = text
    for char, entity in reversed(_ESCAPES):
        found = found.replace(entity, char)
    try:
        return found if _write(found, False) == text else None
    except FormError:
        return None


def _end(text: str, at: int, quoted: bool) -> int:
    rest = text[at : at + len(NULL)]
    if rest and NULL.startswith(rest):
        return at + len(rest)
    found = text.find("<", at)
    return len(text) if found < 0 else found


def _term(dfa: CharDfa, low: int, high: int | None, quoted: bool) -> Term:
    return escaped(intersect(dfa, _legal()), low, high, _ESCAPES)


def _grown(text: str) -> str:
    return _read(_ENTITY.sub("", text)) or ""


TEXTS = Texts(_write, _read, _end, _term, _grown, null=NULL)
