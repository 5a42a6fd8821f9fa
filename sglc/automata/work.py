"""The account of the work of one compile, one mask or one step.

Work is counted, not timed, so that every machine accepts or refuses the same constraints. A unit is about a
microsecond of a compile in CPython: looking at one edge of an automaton, making one state, one product of two
requirements, comparing two sets of characters. Whoever starts something opens an account; what works for it,
however far below, spends from the account that is open. Work that nobody has opened an account for is free.

What is remembered is charged as if it were done again (`caches.remembered`), so that what a process has
compiled before does not decide what it takes now.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

DEFAULT_WORK = 3_000_000
"""Units that compiling one constraint may take where nobody says more: some three seconds."""


class OutOfWork(Exception):
    """An account is spent. `part` is what has spent most of it: a JSON pointer, a pattern, a rule.

    No ValueError: what tries something smaller where a limit of its own is passed must not take this for one.
    """

    def __init__(self, limit: int, spent: int, part: str) -> None:
        of = f"; most of it is for {part}" if part else ""
        super().__init__(f"it takes more than {limit:,} units of work{of}")
        self.limit = limit
        self.spent = spent
        self.part = part


class WorkAccount:
    """So much may be spent (None: anything), and by which part it was."""

    __slots__ = ("_by_part", "_open", "_since", "limit", "most", "spent")

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.most = sys.maxsize if limit is None else limit
        """The limit as a number in every case."""
        self.spent = 0
        self._by_part: dict[str, int] | None = None
        """Units by name; most accounts never have a part."""
        self._open = ""
        self._since = 0

    def spend(self, units: int) -> None:
        """Raises OutOfWork once the limit is passed, and whenever something more is spent."""
        self.spent += units
        if self.spent > self.most:
            raise self.exhausted()

    def exhausted(self) -> OutOfWork:
        """The error of an account whose limit is passed."""
        return OutOfWork(self.most, self.spent, self.costliest)

    @property
    def costliest(self) -> str:
        """The part that has spent most; empty if none has been named."""
        total = Counter(self._by_part or {}) + Counter({self._open: self.spent - self._since})
        total.pop("", None)
        return max(total, key=lambda name: total[name]) if total else ""

    @property
    def named(self) -> bool:
        """Whether some part is at work."""
        return bool(self._open)

    def enter(self, name: str) -> str:
        """From here on `name` spends; returns who did before."""
        before = self._open
        if self._by_part is None:
            self._by_part = {}
        self._by_part[before] = self._by_part.get(before, 0) + self.spent - self._since
        self._since = self.spent
        self._open = name
        return before


_account: ContextVar[WorkAccount | None] = ContextVar("work", default=None)


def spend(units: int) -> None:
    """Put work on the account that is open, if one is."""
    account = _account.get()
    if account is not None:
        # `WorkAccount.spend` in line: hundreds of thousands of small sums make a compile.
        account.spent = spent = account.spent + units
        if spent > account.most:
            raise account.exhausted()


def current() -> WorkAccount | None:
    """The account that is open."""
    return _account.get()


def exchange(account: WorkAccount | None) -> WorkAccount | None:
    """Put work on this account from here on; returns the one that was open, which the caller puts back."""
    before = _account.get()
    _account.set(account)
    return before


class charged:
    """Inside, work is put on this account: `with charged(account):`. A class, for it is opened for every type
    that a program writes, and a generator takes four times as long."""

    __slots__ = ("_account", "_token")

    def __init__(self, account: WorkAccount) -> None:
        self._account = account

    def __enter__(self) -> WorkAccount:
        self._token = _account.set(self._account)
        return self._account

    def __exit__(self, *fault: object) -> None:
        _account.reset(self._token)


@contextmanager
def part(name: str, *, unless_named: bool = False) -> Iterator[None]:
    """Inside, work is that of a part of the constraint; of nested parts the inner one spends (or, with
    `unless_named`, the outer one)."""
    account = _account.get()
    if account is None or (unless_named and account.named):
        yield
        return
    before = account.enter(name)
    try:
        yield
    finally:
        account.enter(before)


@contextmanager
def measured() -> Iterator[WorkAccount]:
    """Inside, work is put on an account of its own, which is a part of the one that is open."""
    outer = _account.get()
    inner = WorkAccount(None if outer is None or outer.limit is None else max(outer.limit - outer.spent, 0))
    try:
        with charged(inner):
            yield inner
    except OutOfWork as fault:
        assert outer is not None
        assert outer.limit is not None
        outer.spent += inner.spent
        raise OutOfWork(outer.limit, outer.spent, outer.costliest or fault.part) from None
    except BaseException:
        if outer is not None:
            outer.spent += inner.spent
        raise
    if outer is not None:
        outer.spend(inner.spent)
