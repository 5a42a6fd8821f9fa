"""What masks of an object need to know of a state: which labels are open, what follows entries of them."""

from __future__ import annotations

import numpy as np

from sglc.automata.json.object_states import ObjectStates, Outcome, Profile
from sglc.runtime.mask.nodes.object_keys import KeyLexeme


class Profiles:
    """Profiles by number; `labels` has the bit set of labels of each."""

    def __init__(self, states: ObjectStates, lexeme_table: KeyLexeme) -> None:
        self._states = states
        self._lexeme_table = lexeme_table
        self.known: dict[int, Profile] = {}
        self.labels: dict[int, int] = {}
        self._numbers: dict[Profile, int] = {}
        self._of_states: dict[int, int] = {}
        self._restricted: dict[tuple[int, int], int] = {}
        self._open: dict[int, np.ndarray] = {}

    def of(self, state: int) -> int:
        """The profile of a state."""
        found = self._of_states.get(state)
        if found is None:
            found = self._of_states[state] = self._number(self._states.profile(state))
        return found

    def _number(self, profile: Profile) -> int:
        found = self._numbers.get(profile)
        if found is None:
            found = self._numbers[profile] = len(self.known)
            self.known[found] = profile
            labels = 0
            for _, bits in profile:
                labels |= bits
            self.labels[found] = labels
        return found

    def restrict(self, profile: int, labels: int) -> int:
        """The profile of these labels only, or -1 if it has none of them."""
        key = (profile, labels)
        found = self._restricted.get(key)
        if found is None:
            rest = tuple([(outcome, bits & labels) for outcome, bits in self.known[profile] if bits & labels])
            found = self._restricted[key] = self._number(rest) if rest else -1
        return found

    def open(self, profile: int) -> np.ndarray:
        """The labels of a profile as the lexeme table has them."""
        found = self._open.get(profile)
        if found is None:
            found = self._open[profile] = self._lexeme_table.words(self.labels[profile])
        return found

    def outcome(self, profile: int, label: int) -> Outcome:
        """What follows an entry with the label: empty where the label is not open."""
        for outcome, bits in self.known[profile]:
            if bits >> label & 1:
                return outcome
        return ()

    def only(self, profile: int) -> int | None:
        """The label of a profile if it has just one."""
        labels = self.labels[profile]
        return labels.bit_length() - 1 if not labels & (labels - 1) else None
