import sglc
from python_programs.vote.classes import Meeting


@sglc.fn
def vote(text: str) -> Meeting:
    """
    user: | Which meeting? ${text} Answer like this: ${schema(Meeting)}
    assistant:
        | How many? ?{guesses: int in 0..100 n 5 temp 0.8}
        | Middle: ${sorted(guesses)[2]}
        | ?{meeting: Meeting temp 1.0 decode exact max 200 tok}
    return meeting
    """
