"""What a form cannot express of a type."""

from __future__ import annotations

from itertools import combinations

from sglc.automata.analysis.ambiguity import overlap
from sglc.automata.joined_terms import choice
from sglc.automata.term import Language, Term
from sglc.types.dependent import erased
from sglc.types.forms.forms import shapes_of
from sglc.types.forms.shape import (
    Arms,
    Around,
    Conditioned,
    Entries,
    FormError,
    Group,
    Many,
    Ref,
    Shape,
    Variants,
)
from sglc.types.language.builder import LanguageBuilder
from sglc.types.language.form_terms import FormTerms
from sglc.types.language.language import language
from sglc.types.language.narrowing import NARROWED
from sglc.types.type import (
    Bool,
    Constant,
    Dec,
    EnumType,
    Float,
    InForm,
    Int,
    LanguageError,
    ListOf,
    Named,
    Null,
    TupleOf,
    Type,
    TypeTable,
    behind_names,
    declared_type,
    uses_of,
)


def form_fault(type: InForm, table: TypeTable) -> FormError | None:
    """Why a type has no such form: a part that the form has no place for, or arms whose texts meet in it."""
    if type.form == "json":
        return None
    try:
        terms = _unbound(type, table)
        terms.term(terms.shapes.root)
        if type.form != "yaml":  # whose readers tell texts from numbers, as those of JSON do
            _tell_apart(terms)
    except FormError as fault:
        return fault
    except LanguageError as fault:
        return FormError("", str(fault))
    return None


def open_language(type: InForm, table: TypeTable) -> Language:
    """The texts of a type that has its form, before the values that it depends on are known: with any."""
    if type.form == "json":
        return language(erased(type), table)
    terms = _unbound(type, table)
    root = terms.term(terms.shapes.root)
    return Language(root, terms.builder.rules)


def _unbound(type: InForm, table: TypeTable) -> FormTerms:
    """Raises FormError."""
    shapes = shapes_of(type, table)
    shared = frozenset(name for name, count in uses_of(type, table).items() if count > 1)
    builder = LanguageBuilder(shapes.table, shared, NARROWED)
    return FormTerms(builder, shapes, type.form, bound=False)


def _tell_apart(terms: FormTerms) -> None:
    """Raises FormError for arms that share a text, which are apart as JSON."""
    seen: set[Ref] = set()
    stack: list[Shape] = [terms.shapes.root]
    while stack:
        match stack.pop():
            case Ref() as ref if ref not in seen:
                seen.add(ref)
                stack.append(terms.shapes.of(ref))
            case Around(shape=inner) | Conditioned(shape=inner) | Many(item=inner) | Entries(value=inner):
                stack.append(inner)
            case Group(parts=parts):
                stack += (part.shape for part in parts)
            case Variants(groups=groups):
                stack += groups
            case Arms(arms=arms):
                stack += (shape for _, shape in arms)
                _arms_apart(terms, arms)


def _arms_apart(terms: FormTerms, arms: tuple[tuple[Type, Shape], ...]) -> None:
    """Raises FormError. Texts are spelled one by one, so two kinds of them are apart as in JSON; so are
    numbers."""
    kinds: dict[str, list[Term]] = {}
    for place, (type, shape) in enumerate(arms):
        kind = _kind(type, terms.shapes.table)
        kinds.setdefault(kind if kind in ("text", "number") else f"{kind}{place}", []).append(
            terms.term(shape)
        )
    joined = [choice(*found) for found in kinds.values()]
    for one, other in combinations(joined, 2):
        rules = terms.builder.rules
        witness = overlap(Language(one, rules), Language(other, rules))
        if witness is not None:
            shown = witness.decode("utf-8", "replace")
            raise FormError(
                "",
                f"two arms of a union that share the text {shown!r}",
                "narrow one of them, use a `union` whose variants are tagged, or choose `as json`",
            )


def _kind(type: Type, table: TypeTable) -> str:
    plain = behind_names(type, table)
    match plain:
        case Int() | Dec() | Float():
            return "number"
        case Bool() | Null():
            return "word"
        case Constant(value=value):
            return "text" if isinstance(value, str) else "word" if isinstance(value, bool) else "number"
        case Named(name=name):
            return "text" if isinstance(declared_type(name, table), EnumType) else "object"
        case ListOf() | TupleOf():
            return "list"
    return "text"
