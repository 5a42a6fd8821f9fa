from decimal import Decimal
from typing import Annotated

from pydantic import Field

import sglc
from python_programs.solve.classes import Operator, Solution, Step


@sglc.sgl_function(pure=True)
def calculate(left: int, operation: Operator, right: int) -> Decimal:
    match operation:
        case "+":
            return Decimal(left + right)
        case "-":
            return Decimal(left - right)
        case "*":
            return Decimal(left * right)
        case "/":
            return round(left / right, 2)


@sglc.sgl_function
def solve(
    s, problem: str = "A box holds 12 eggs. Four boxes arrive and 5 eggs break. How many are whole?"
) -> Solution:
    s += s.system("You solve word problems one small calculation at a time.")
    s += s.user("There are 3 bags with 20 apples each. 7 apples are eaten. How many are left?")
    with s.assistant():
        s += "Step 1: 3 * 20 = 60\n"
        s += "Is another step needed? yes\n"
        s += "Step 2: 60 - 7 = 53\n"
        s += "Is another step needed? no\n"
        s += "The answer is 53"
    s += s.user(problem)
    steps: list[Step] = []
    value = 0.0
    with s.assistant():
        for number in range(1, 4):
            s += f"Step {number}: " + s.gen("left", type=Annotated[int, Field(ge=0, le=9999)])
            s += " " + s.gen("operation", type=Operator) + " "
            s += s.gen("right", type="int in 1..999") + " = "
            value = calculate(s["left"], s["operation"], s["right"])
            s += f"{value}\n"
            steps.append(Step(s["left"], s["operation"], s["right"], value))
            s += "Is another step needed? " + s.choose("more", ["yes", "no"]) + "\n"
            if s["more"] == "no":
                break
        s += "The answer is " + s.gen("answer", type="int in -9999999..9999999")
        s.check(s["answer"] == value, f"the last calculation gave {value}")
    return Solution(steps, value)
