import sglc


@sglc.fn
def sum_of(a: int, b: int) -> int:
    """
    user: | What is ${a} + ${b}?
    assistant:
        forget:
            | First: ?{guess: int in 0..2000}
        think max 60 tok temp 0.6
        | So the answer is ?{answer: int in 0..2000}
        ensure answer >= guess - 100 else "${answer} is too far from ${guess}"
            retry 2 resample
    return answer
    """
