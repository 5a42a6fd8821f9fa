"""The classes of both forms."""

import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field


class Meeting(BaseModel):
    day: datetime.date
    topic: str = Field(min_length=3, max_length=40)
    seats: int = Field(ge=1, le=50, multiple_of=5)
    price: Decimal = Field(ge=Decimal("0.5"), le=Decimal("99.5"))
    guests: Annotated[dict[str, Literal["yes", "no"]], Field(max_length=3)]
    note: str | None = None
