"""Parameters of a request, read one by one. What nobody reads is refused, so that nothing is ignored."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from sglc.runtime.serve.openai.errors import unsupported, wrong
from sglc.types.values import Value


class Parameters:
    """The members of a JSON object that are not null. `path` is where it stands in the request."""

    def __init__(self, data: object, path: str = "") -> None:
        """Raises Refusal for what is no object."""
        if not isinstance(data, Mapping):
            raise wrong(path, f"`{path}` is a JSON object")
        self._left: dict[str, Value] = {str(name): each for name, each in data.items() if each is not None}
        self._path = path

    def place(self, name: str) -> str:
        """How the request calls a member."""
        return f"{self._path}.{name}" if self._path else name

    def take(self, name: str) -> Value:
        """A member; None where there is none."""
        return self._left.pop(name, None)

    def inner(self, name: str) -> Parameters:
        """The members of an object in this one; none where it is absent."""
        return Parameters(self._left.pop(name, {}), self.place(name))

    def text(self, name: str) -> str | None:
        """A text. Raises Refusal for anything else, and for lone surrogates, which no model reads."""
        value = self.take(name)
        return None if value is None else checked_text(value, self.place(name))

    def needed(self, name: str) -> str:
        """A text that must be there."""
        found = self.text(name)
        if found is None:
            raise wrong(self.place(name), f"`{self.place(name)}` is needed")
        return found

    def flag(self, name: str) -> bool:
        """True or false; false where it is absent."""
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            raise wrong(self.place(name), f"`{self.place(name)}` is true or false")
        return value is True

    def whole(self, name: str, least: int, most: int) -> int | None:
        """A whole number within bounds."""
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise wrong(self.place(name), f"`{self.place(name)}` is a whole number from {least} to {most}")
        return value

    def number(self, name: str, least: float, most: float, *, above: bool = False) -> float | None:
        """A number within bounds; `above` says that it is more than the least."""
        value = self.take(name)
        if value is None:
            return None
        fits = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        if not fits or not least <= value <= most or (above and value == least):  # type: ignore[operator]
            bounds = f"above {least:g} and at most {most:g}" if above else f"from {least:g} to {most:g}"
            raise wrong(self.place(name), f"`{self.place(name)}` is a number {bounds}")
        return float(value)  # type: ignore[arg-type]

    def ignore(self, *names: str) -> None:
        """Members that do not change the answer."""
        for name in names:
            self._left.pop(name, None)

    def neutral(self, name: str, why: str, *values: object) -> None:
        """A member that is supported with these values only, which change nothing; `why` not with others."""
        value = self.take(name)
        if value is not None and not any(
            value == each and isinstance(value, bool) == isinstance(each, bool) for each in values
        ):
            raise unsupported(self.place(name), why)

    def end(self) -> None:
        """Raises Refusal for a member that nobody has read."""
        for name in self._left:
            raise unsupported(self.place(name), "this server does not know it")


def checked_text(value: object, place: str) -> str:
    """A text of a request. Raises Refusal."""
    if not isinstance(value, str):
        raise wrong(place, f"`{place}` is a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise wrong(place, f"`{place}` has half of a pair of surrogates") from None
    return value
