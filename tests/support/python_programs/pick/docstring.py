import sglc


@sglc.fn
def pick(least: int, taken: list[int], words: list[str]) -> tuple[int, str]:
    """
    user: | A multiple of six above ${least}, please.
    assistant:
        | ?{n: int in 0..99 where it > least and it % 3 == 0 and it not in taken}
        | ?{word: choose words temp 0.5}
    return (n, word)
    """
