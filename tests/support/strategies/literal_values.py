"""Values of the language, and equality that tells their kinds apart."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from sglc.types.values import EnumValue, RecordValue

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.builds(EnumValue, st.text(), st.text()),
)


VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(), inner, max_size=3),
        st.builds(
            RecordValue, st.text(), st.dictionaries(st.text(), inner, max_size=3), st.none() | st.text()
        ),
    ),
    max_leaves=8,
)


def exact(value: object) -> str:
    """Tells 1 from 1.0 and from true, and 1.5 from 1.50."""
    match value:
        case dict():
            return f"{{{', '.join(f'{exact(k)}: {exact(v)}' for k, v in value.items())}}}"
        case list() | tuple():
            return f"{type(value).__name__}({', '.join(map(exact, value))})"
        case RecordValue():
            return f"{value.type!r} {value.variant!r} {exact(dict(value.fields))}"
        case Decimal():
            return f"Decimal({value})"
    return repr(value)
