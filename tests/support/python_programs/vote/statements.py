from typing import Annotated

from pydantic import Field

import sglc
from python_programs.vote.classes import Meeting


@sglc.sgl_function
def vote(s, text: str) -> Meeting:
    s += s.user(f"Which meeting? {text} Answer like this: {s.schema(Meeting)}")
    with s.assistant():
        s += "How many? " + s.gen("guesses", type=Annotated[int, Field(ge=0, le=100)], n=5, temperature=0.8)
        s += f"\nMiddle: {sorted(s['guesses'])[2]}\n"
        s += s.gen("meeting", type=Meeting, temperature=1.0, decode="exact", max_tokens=200)
    return s["meeting"]
