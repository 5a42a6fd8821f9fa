import sglc


@sglc.fn
def motto(of: str) -> str:
    """user: | Write a motto for ${of}.
    let tries = fork t_number in 0..<3 seed t_number:
        assistant: | ?{line: str min 5 chars max 60 chars temp 0.9}
        yield len(line)
    let shortest = tries.min(by = value)
    adopt shortest
    return shortest.line
    """
