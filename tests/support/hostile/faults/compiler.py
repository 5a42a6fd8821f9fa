"""Faults in the compiler: checks, analyses, passes, types and what is written for other programs."""

from __future__ import annotations

from hostile.faults.fault import Fault

STARTS = "tests/compiler/passes/test_start_early.py::test_goldens"

FAULTS = (
    # -- calls that run ahead, branches that run side by side
    Fault(
        "a call begins where a retry goes back over it",
        "sglc/analysis/course.py",
        "                first = self._retrying[index] + 1\n",
        "                pass\n",
        STARTS,
    ),
    Fault(
        "the closing line of varying text moves away from it",
        "sglc/advice/late_text.py",
        "    while late and _is_delimiter(body[late[0]]):\n        del late[0]\n",
        "",
        "tests/prompt/test_late_text.py::test_openings_and_closings_stay_with_what_varies",
    ),
    Fault(
        "text is moved above the name that it uses",
        "sglc/advice/moves.py",
        "or (names and _mention(moved, names))",
        "",
        "tests/prompt/test_late_text.py::test_a_name_is_not_used_before_it_is_defined",
    ),
    # -- calls that begin early
    Fault(
        "starts of a function overtake each other",
        "sglc/analysis/independence.py",
        "                ready.update(dict.fromkeys(coming.functions, at))\n",
        "",
        f"{STARTS}[a start waits for the earlier ones of its function]",
    ),
    Fault(
        "a start stands where a retry comes by again",
        "sglc/analysis/independence.py",
        "            at = course.behind_retries(max(least, way.first), coming.due)\n",
        "            at = max(least, way.first)\n",
        f"{STARTS}[nothing is started where a retry comes by again]",
    ),
    Fault(
        "a loop is started with a variable that it changes",
        "sglc/analysis/independence.py",
        "        return None if changing else value\n",
        "        return value\n",
        f"{STARTS}[in a loop each round goes on from the last]",
    ),
    Fault(
        "a value is loaded after its variable has changed",
        "sglc/analysis/independence.py",
        "            if at <= min(way.last, coming.due):\n",
        "            if at <= coming.due:\n",
        f"{STARTS}[a stored result is loaded where its operands have changed]",
    ),
    # -- the cache of programs
    Fault(
        "a program from the cache keeps what a module said then",
        "sglc/library.py",
        "            if self._digest(answer) != lookup.answer:\n",
        "            if bool(answer) != bool(lookup.answer):\n",
        "tests/cli/test_compiled.py::test_a_program_of_several_files_is_compiled_when_one_of_them_changes",
    ),
    # -- the virtual machine
    Fault(
        "a truth value is widened like a number",
        "sglc/values/coerce.py",
        "    if isinstance(value, bool) or value is None:\n",
        "    if value is None:\n",
        "tests/vm/test_values.py::test_a_truth_value_is_no_number",
    ),
    # -- the checker and what is computed before a run
    Fault(
        "the type of an argument is not checked",
        "sglc/check/expressions/arguments.py",
        '            self.inference.expect(argument.value, types[label], f"`{label}`")\n',
        "            self.inference.infer(argument.value, types[label])\n",
        "tests/compiler/check/test_check.py::test_programs_are_told_what_is_written_beside_them[calls]",
    ),
    Fault(
        "a case with a guard counts as taking all",
        "sglc/check/patterns/exhaustive.py",
        "_Row(_before((0,), (form,), None), place, firm, True)",
        "_Row(_before((0,), (form,), None), place, True, True)",
        "tests/compiler/check/test_check_exhaustive.py::test_a_match_is_judged_as_by_trying_every_value",
    ),
    Fault(
        "a constant is divided by zero",
        "sglc/check/expressions/operators.py",
        '        if node.operator in ("/", "//", "%") and right == 0:\n',
        '        if node.operator in ("/", "//", "%") and right is None:\n',
        "tests/compiler/check/test_check.py::test_examples_of_a_code_show_exactly_that_code[E0321]",
    ),
    Fault(
        "a remainder by zero is a number",
        "sglc/types/arithmetic.py",
        '    if b == 0:\n        raise ArithmeticFault("division by zero")\n',
        "    pass\n",
        "tests/compiler/check/test_arithmetic.py::test_what_has_no_result_says_why",
    ),
    Fault(
        "a value that only a check can prove is not checked",
        "sglc/check/expressions/inference.py",
        "        if answer is Fit.CHECK:\n"
        "            self.module.coercions[id(node)] = target  # type: ignore[assignment]\n",
        "        if answer is Fit.CHECK:\n",
        "tests/compiler/check/test_check_facts.py::test_values_that_only_a_check_can_prove_are_marked",
    ),
    Fault(
        "integers count as truth values",
        "sglc/check/types/assignability.py",
        "            return Fit.ALWAYS if is_bool(source, table) else Fit.NEVER\n",
        "            return Fit.ALWAYS if is_bool(source, table) or source == Int() else Fit.NEVER\n",
        "tests/compiler/check/test_check.py::test_programs_are_told_what_is_written_beside_them[types]",
    ),
    Fault(
        "a variable is known that was written again with what is not known",
        "sglc/passes/fold.py",
        "self.here.pop(op.slot, None)",
        "pass",
        "tests/compiler/test_passes.py::test_a_pass_keeps_the_module_sound_and_what_an_observer_sees",
    ),
    Fault(
        "a list that is larger than a constant may be becomes one",
        "sglc/passes/evaluate.py",
        "if total + len(below) > LARGEST:",
        "if total > 100 * LARGEST:",
        "tests/compiler/passes/test_fold_values.py::test_a_constant_is_at_most_so_large",
    ),
    # -- prefixes
    Fault(
        "a prefix goes on behind a value that is not known",
        "sglc/analysis/prefix.py",
        "return state.stopped() if known is None else state.write(known)",
        "return state if known is None else state.write(known)",
        "tests/compiler/analysis/test_prefix.py::test_goes_through_constants_lines_and_parts_and_stops_at_an_argument",
    ),
    Fault(
        "where two roads meet, the prefix is what the first has written",
        "sglc/analysis/prefix.py",
        "    return first[: next(at for at, char in enumerate(first) if second[at : at + 1] != char)]",
        "    return first",
        "tests/compiler/analysis/test_prefix.py::test_roads",
    ),
    Fault(
        "what values end with may overlap what they begin with",
        "sglc/automata/analysis/certain_text.py",
        "    return end[len(end) - max(0, room) :]",
        "    return end",
        "tests/automata/test_certain_text.py::test_every_text_of_random_types_has_both",
    ),
    Fault(
        "what one value may begin with counts as certain",
        "sglc/automata/analysis/certain_text.py",
        "if low != high or (point is not None and point != low):",
        "if low != high:",
        "tests/automata/test_certain_text.py::test_every_text_of_random_types_has_both",
    ),
    # -- targets
    Fault(
        "a target forgets the ends that run into a stop",
        "sglc/types/notation/text_rules.py",
        "        if any(stop.startswith(other[size:]) for stop in stops)\n",
        "        if False\n",
        "tests/targets/test_json_schema.py::test_what_a_text_may_not_hold_is_said",
    ),
    Fault(
        "a portable pattern has the class of the other dialect",
        "sglc/automata/regex/portable.py",
        "        case r.Chars(these):\n            return _class(these)\n",
        "        case r.Chars(these):\n"
        '            return r"\\d" if these == charset.DIGITS else _class(these)\n',
        "tests/targets/test_json_schema.py::test_a_pattern_means_the_same_in_another_dialect",
    ),
    Fault(
        "a model takes 1 for true",
        "sglc/targets/pydantic_prelude.py",
        "        if isinstance(value, bool) == isinstance(wanted, bool) and value == wanted:\n",
        "        if value == wanted:\n",
        "tests/targets/test_pydantic.py::test_a_literal_takes_nothing_that_is_merely_equal",
    ),
    Fault(
        "a stub gives a field by its place that Python takes by name",
        "sglc/targets/stubs.py",
        "            if field.has_default or field.optional:\n",
        "            if field.has_default:\n",
        "tests/targets/test_stubs.py::test_stubs_agree_with_what_python_sees",
    ),
    Fault(
        "a line of a doc comment goes on behind its docstring",
        "sglc/targets/core/comments.py",
        "    return ends.sub(lambda found: '\\\\\"' * len(found[0]), escaped)\n",
        "    return escaped\n",
        "tests/targets/test_hostile_names.py::test_programs",
    ),
    Fault(
        "an object of strict mode takes other fields",
        "sglc/targets/projection/schemas/value_schema.py",
        '            "additionalProperties": False,\n',
        '            "additionalProperties": True,\n',
        "tests/targets/test_openai.py::test_a_schema_is_strict_and_has_the_values",
    ),
    Fault(
        "a written module forgets what a condition has rejected",
        "sglc/targets/python/support/conversation.py",
        "            self.repairs.append((self.text, show(reason)))\n",
        "            pass\n",
        "tests/targets/test_python.py::test_a_program_has_the_values_and_messages_of_the_machine",
    ),
    Fault(
        "a written module keeps the conversation of what an error ended",
        "sglc/targets/python/statements.py",
        'context.add(f"c.restore({before})" if context.writes else "pass")',
        'context.add("pass")',
        "tests/targets/test_python.py::test_a_program_has_the_values_and_messages_of_the_machine",
    ),
    Fault(
        "a message of SGLang's front end names an answer before it is there",
        "sglc/targets/requests/sglang.py",
        "        if not cut:\n",
        "        if True:\n",
        "tests/targets/test_sglang.py::test_one_function",
    ),
    Fault(
        "a digit behind a code is one of its digits",
        "sglc/targets/grammars/print_w3c.py",
        '        if _CODE_AT_END.search(text) and first in "0123456789ABCDEFabcdef":\n',
        '        if _CODE_AT_END.search(text) and first in "":\n',
        "tests/targets/test_hole_targets.py::test_a_digit_behind_a_code_is_none_of_its_digits",
    ),
    Fault(
        "what a strategy tells stands in front of a field of the value",
        "sglc/check/names/hole_figures.py",
        "        if self._has_part(local.type, label):\n",
        "        if False:\n",
        "tests/compiler/check/test_check.py::test_programs_are_told_what_is_written_beside_them",
    ),
    Fault(
        "`select` takes options of draws and heeds none",
        "sglc/check/holes/options.py",
        "elif isinstance(node, ast.Select) and kind in DRAWING:",
        "elif False:",
        "tests/decoding/test_combinations.py::test_each_three_options_compile_together_or_are_refused_at_the_hole",
    ),
    Fault(
        "the page keeps what it said of a pair that is refused now",
        "sglc/check/holes/decoding.py",
        'for kind in ("temp", *LIMITING, "seed"):',
        'for kind in ("temp", *LIMITING):',
        "tests/decoding/test_combinations.py::test_the_page_has_the_table_of_what_goes_together",
    ),
)
