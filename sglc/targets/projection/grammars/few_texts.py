"""The texts of a term that says by itself that they are few."""

from __future__ import annotations

from sglc.automata import term as t
from sglc.automata.analysis.emptiness import few_words
from sglc.automata.dfa.operations import is_finite


def few_texts(term: t.Term, language: t.Language, most: int) -> frozenset[bytes] | None:
    """The words of a text, a list of words or a choice of these; None for others and for more than `most`.

    Sequences and objects are not multiplied out: there may be far more of their words than anyone lists.
    """
    found: frozenset[bytes] | None = None
    match term:
        case t.Nothing():
            found = frozenset()
        case t.Bytes(data):
            found = frozenset({data})
        case t.Words(words):
            found = words
        case t.Rule(name):
            return few_texts(language.rules[name], language, most)
        case t.Text(dfa=dfa) if is_finite(dfa):
            few = few_words(t.Language(term), most)
            found = None if few is None else frozenset(few)
        case t.Except(item, left_out):
            whole = few_texts(item, language, most + len(left_out))
            found = None if whole is None else whole - left_out
        case t.Choice(arms):
            found = frozenset()
            for arm in arms:
                more = few_texts(arm, language, most)
                if more is None:
                    return None
                found |= more
    return found if found is not None and len(found) <= most else None
