import sglc


@sglc.fn
def shout(text: str) -> str:
    """| ${text} ?{loud: select ["YES", "NO"] by mean}
    return loud.top"""


@sglc.fn(within=900, using="small")
def options(text: str) -> str:
    """
    user:
        | ${text}
    assistant:
        | ?{data: json schema {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}}, "required": ["n"], "additionalProperties": false}}
        | ?{free: str until "." until "!" max 40 tok temp 0.9 top_k 40 min_p 0.1 seed 7}.
        | ?{kinds: "a" | "b" | "c" n 2 distinct temp 1.0}
        using big:
            | ?{deep: str max 30 chars where it.starts_with("A") temp 0.7 decode smc(4)}
        par:
            let first = shout(text)
            let second = shout(free)
        let last = gen bool using big
    ensure last and first matches /[A-Z ]+/ else "no"
    return first + second
    """  # noqa: E501
