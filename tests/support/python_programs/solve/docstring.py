from decimal import Decimal

import sglc
from python_programs.solve.classes import Operator, Solution, Step  # noqa: F401


@sglc.fn(pure=True)
def calculate(left: int, operation: Operator, right: int) -> Decimal:
    """
    match operation:
        case "+": return decimal(left + right)
        case "-": return decimal(left - right)
        case "*": return decimal(left * right)
        case "/": return round(left / right, 2)
    """


@sglc.fn
def solve(
    problem: str = "A box holds 12 eggs. Four boxes arrive and 5 eggs break. How many are whole?",
) -> Solution:
    r"""
    system: | You solve word problems one small calculation at a time.
    user: | There are 3 bags with 20 apples each. 7 apples are eaten. How many are left?
    assistant:
        | Step 1: 3 * 20 = 60
        | Is another step needed? yes
        | Step 2: 60 - 7 = 53
        | Is another step needed? no
        | The answer is 53
    user: | ${problem}
    var steps: [Step] = []
    var value = 0.0
    assistant:
        for number in 1..<4:
            | Step ${number}: ?{left: int in 0..9999} ?{operation: "+" | "-" | "*" | "/"} ?{right: int in 1..999} = \
            value = calculate(left, operation, right)
            | ${value}
            steps = steps + [Step(left, operation, right, value)]
            | Is another step needed? ?{more: choose ["yes", "no"]}
            if more == "no": break
        | The answer is ?{answer: int in -9999999..9999999}
        check answer == value else "the last calculation gave ${value}"
    return Solution(steps, value)
    """  # noqa: E501
