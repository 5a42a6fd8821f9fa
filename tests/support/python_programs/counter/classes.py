"""The tools of both forms."""

from typing import Annotated, Literal

from pydantic import Field

import sglc


@sglc.extern(effects="pure")
def price(item: Literal["tea", "jam"]) -> int:
    """The price of one piece, in cents."""
    return 250 if item == "tea" else 380


@sglc.sgl_function(pure=True)
def times(a: Annotated[int, Field(ge=0, le=9999)], b: Annotated[int, Field(ge=0, le=9)] = 1) -> int:
    """Multiplies two numbers."""
    return a * b
