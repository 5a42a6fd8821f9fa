"""Bounds of the holes of a program: in tokens of a model, or in bytes where there is none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sglc.automata.analysis.emptiness import shortest
from sglc.automata.analysis.most_bytes import most_bytes
from sglc.automata.dfa.operations import TooLarge, TooLong
from sglc.automata.term import Language, Words
from sglc.ir.module import HoleInfo
from sglc.plan.plan import HolePlan, MaskPlan, Unit
from sglc.types.condition import bind as bind_condition
from sglc.types.condition import given_numbers
from sglc.types.dependent import bind, given_types
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language
from sglc.types.notation.sgl import show_type
from sglc.types.type import LanguageError, TypeTable
from sglc.types.values import GivenError, NothingLeft
from sglc.values.text import display

if TYPE_CHECKING:
    from sglc.runtime.bounds.bounds import Before
    from sglc.runtime.mask.artifact.places import MaskPlaces


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hole stands: the text of its open message before it. It is `known` where that is all of the
    text, else it is the end of it, behind what varies."""

    role: str = ""
    text: str = ""
    known: bool = True


@dataclass(slots=True)
class HoleBounds:
    """Finds bounds, each once.

    `tokenizer` is None for bounds in bytes; `masks` are places of masks that were made ahead of time.
    """

    holes: tuple[HoleInfo, ...]
    table: TypeTable
    tokenizer: Any = None
    masks: MaskPlaces | None = None
    _known: dict[tuple[object, ...], HolePlan] = field(default_factory=dict)
    _model: _Model | None = None

    @property
    def unit(self) -> Unit:
        """What bounds are counted in."""
        return "bytes" if self.tokenizer is None else "tokens"

    def of(self, hole: int, place: Place, options: Mapping[str, object], attempts: int) -> HolePlan:
        """The plan of a hole. `options` is what is known of the values that it is given."""
        info = self.holes[hole]
        described, narrower, why = self._language(info, options)
        given = tuple(repr(options[name]) for name in info.options if name in options)
        key = (hole, place, attempts, given)
        found = self._known.get(key)
        if found is None:
            plan = self._plan((hole, given), info, place, described, narrower, why)
            plan = replace(plan, attempts=attempts, samples=_samples(info, options), texts=_texts(info))
            found = self._known[key] = _budgeted(plan, options.get("max_tokens"), self.unit)
        return found

    # -- languages -----------------------------------------------------------------------------------

    def _language(self, info: HoleInfo, options: Mapping[str, object]) -> tuple[Language | None, bool, str]:
        """The texts of a hole, as far as they are known; whether a run may refuse some of them; and why."""
        if info.mode == "select":
            return None, False, "scores its options, draws no token"
        if info.type is None:
            given = options.get("options")
            if not isinstance(given, list | tuple) or not given:
                return None, True, "its options are values of the run"
            return Language(Words(frozenset(display(each, self.table).encode() for each in given))), False, ""
        bound = self._bound(info, options)
        if bound is not None:
            return bound, bool(info.validators), "a validator judges its values" if info.validators else ""
        if given_types(info.type):
            return None, True, "its type is made from values of the run"
        condition = info.condition
        if condition is None or given_numbers(condition):
            found = language(info.type, self.table, surface="hole")
        else:
            found = narrowed_language(info.type, self.table, condition)
        if condition is not None and given_numbers(condition):
            return found, True, "its condition reads values of the run"
        if info.validators:
            return found, True, "a validator judges its values"
        return found, False, ""

    def _bound(self, info: HoleInfo, options: Mapping[str, object]) -> Language | None:
        """The texts of a type with the values of the run put in, where the program itself says them."""
        names = [name for name in info.options if name.startswith("given")]
        if not names or info.type is None or any(name not in options for name in names):
            return None
        values: list[Any] = [options[name] for name in names]
        try:
            kind = bind(info.type, values)
            if info.condition is None:
                return language(kind, self.table, surface="hole")
            return narrowed_language(kind, self.table, bind_condition(info.condition, values))
        except (NothingLeft, GivenError, LanguageError, TooLarge):
            return None  # the run says what is wrong with them

    # -- bounds --------------------------------------------------------------------------------------

    def _plan(
        self,
        key: Hashable,
        info: HoleInfo,
        place: Place,
        described: Language | None,
        narrower: bool,
        why: str,
    ) -> HolePlan:
        shown = "one of a list" if info.type is None else show_type(info.type)
        blank = HolePlan(info.name, info.mode, shown, 0, False, None, False, why)
        if described is None:
            return replace(blank, exact=True, most=0, most_exact=True) if info.mode == "select" else blank
        if self.tokenizer is None:
            return _in_bytes(blank, described, narrower)
        if self._model is None:
            self._model = _Model(self.tokenizer, self.masks)
        return self._model.plan(key, info, place, described, narrower, blank)


def _budgeted(plan: HolePlan, most: object, unit: Unit) -> HolePlan:
    """The plan under the hole's own budget. A token has at least a byte."""
    if not isinstance(most, int) or unit == "bytes" or (plan.most is not None and plan.most <= most):
        return plan
    why = f"max {most} tok"
    return replace(
        plan, most=most, most_exact=False, because=f"{plan.because}; {why}" if plan.because else why
    )


def _samples(info: HoleInfo, options: Mapping[str, object]) -> int:
    """Values that a hole is filled with, one after the other or side by side."""
    count = options.get("n", 1)
    beams = info.decoding is not None and info.decoding.strategy == "beam"
    return count if isinstance(count, int) and not beams else 1


def _texts(info: HoleInfo) -> int:
    """Texts that are tried for one that is kept; `choose` weighs its options instead."""
    return max(1, info.decoding.count) if info.decoding is not None and info.mode == "gen" else 1


def _is_scored(info: HoleInfo) -> bool:
    """Whether options are drawn as wholes, in one step and without a token; of a list too long for that it is
    not known here, as most lists are values of the run."""
    return info.mode == "choose" and (info.decoding is None or info.decoding.strategy != "local")


def _in_bytes(blank: HolePlan, described: Language, narrower: bool) -> HolePlan:
    try:
        word = shortest(described)
    except TooLong:
        word = None
    if word is None:
        return replace(blank, most=most_bytes(described))
    return replace(
        blank,
        least=len(word),
        cut=len(word),
        exact=not narrower,
        most=most_bytes(described),
        value=word.decode("utf-8", "replace"),
    )


class _Model:
    """Bounds in tokens of one model. Its weights are not needed."""

    def __init__(self, tokenizer: Any, masks: MaskPlaces | None) -> None:
        from sglc.runtime.decoding.conversations.encoder import Encoder
        from sglc.runtime.decoding.requests import Constraints

        self._tokenizer, self._masks = tokenizer, masks
        self._vocabulary = tokenizer.vocabulary()
        self._encoder = Encoder(tokenizer)
        self._constraints = Constraints()
        self._openings: dict[str, str | None] = {}

    def plan(
        self,
        key: Hashable,
        info: HoleInfo,
        place: Place,
        described: Language,
        narrower: bool,
        blank: HolePlan,
    ) -> HolePlan:
        """The plan of one hole. Equal keys have equal languages."""
        from sglc.runtime.bounds.bounds import token_bounds
        from sglc.runtime.decoding.requests import HoleRequest
        from sglc.runtime.mask.core.errors import ConstraintError

        request = HoleRequest(info.name, key, described, stops=info.stops, end_of_message=info.end_of_message)
        try:
            found = token_bounds(
                self._encoder,
                self._vocabulary,
                self._constraints,
                request,
                self._before(place),
                narrower=narrower,
            )
        except ConstraintError as problem:
            return replace(blank, because=str(problem))
        return replace(
            blank,
            least=found.least,
            exact=found.exact,
            most=found.most,
            most_exact=found.most_exact,
            cut=found.cut,
            drawn=0 if found.drawn and _is_scored(info) else found.drawn,
            forced=found.forced,
            value=found.text,
            masks=self._ahead(described, info.stops),
        )

    def _before(self, place: Place) -> Before:
        from sglc.runtime.bounds.bounds import Before

        if not place.role or not place.known:
            return Before(place.text, place.known)
        opening = self._opening(place.role)
        return Before(place.text, opening is not None, opening or "")

    def _opening(self, role: str) -> str | None:
        """What the chat template writes before a message since its last special token; None where that is not
        the same before every message."""
        if role not in self._openings:
            from sglc.runtime.decoding.conversations.conversation import Conversation
            from sglc.runtime.errors import SglError

            openings = set()
            for before in ("", "text"):
                talk = Conversation(encoder=self._encoder, chat=self._tokenizer.chat)
                try:
                    if before:
                        talk.premise("user" if role != "user" else "assistant")
                        talk.text(before)
                        talk.end_role()
                        talk.role(role)
                    else:
                        talk.premise(role)
                except SglError:
                    continue
                openings.add(talk.state.stretch[: talk.state.content])
            self._openings[role] = openings.pop() if len(openings) == 1 else None
        return self._openings[role]

    def _ahead(self, described: Language, stops: tuple[str, ...]) -> MaskPlan | None:
        """Masks of the hole that were made ahead of time: of the value, and of the value with what may follow
        it, where these have not the same tables."""
        from sglc.runtime.decoding.requests import filled_language

        if self._masks is None:
            return None
        found = []
        for each in (stops, None) if stops else (None,):
            constraint = self._masks.find(filled_language(described, each), self._vocabulary)
            if constraint is not None:
                found.append(constraint.tables)
                if constraint.tables.has_alone:
                    break
        if not found:
            return None
        return MaskPlan(sum(each.n for each in found), sum(each.file_size for each in found))
