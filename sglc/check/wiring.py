"""The checkers of one module, each made with those that it needs.

What a checker needs stands in its fields; all of it is made here, from the bottom up. The calls that go
against this order are set at the end (`sglc.check.core.callbacks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglc.check.core.callbacks import Callbacks
from sglc.check.core.context import ModuleContext
from sglc.check.declarations.declared_types import DeclaredTypes
from sglc.check.declarations.dependent_types import DependentTypes
from sglc.check.declarations.module_names import ModuleNames
from sglc.check.declarations.signatures import Signatures
from sglc.check.declarations.type_parameters import TypeParameters
from sglc.check.expressions.arguments import Arguments
from sglc.check.expressions.attributes import Attributes
from sglc.check.expressions.builtin_calls import BuiltinCalls
from sglc.check.expressions.builtin_results import BuiltinResults
from sglc.check.expressions.calls import Calls
from sglc.check.expressions.constants import Constants
from sglc.check.expressions.displays import Displays
from sglc.check.expressions.expressions import Expressions
from sglc.check.expressions.inference import Inference
from sglc.check.expressions.items import Items
from sglc.check.expressions.iteration import Elements, Iteration
from sglc.check.expressions.operators import Operators
from sglc.check.expressions.raising import Raising
from sglc.check.expressions.references import References
from sglc.check.functions import FunctionChecker
from sglc.check.holes.choices import Choices
from sglc.check.holes.declared_conditions import DeclaredConditions
from sglc.check.holes.decoding import Decodings
from sglc.check.holes.distinct import Distinct
from sglc.check.holes.ends import HoleEnds
from sglc.check.holes.holes import Holes
from sglc.check.holes.models import HoleModels
from sglc.check.holes.options import HoleOptions
from sglc.check.holes.where_clauses import WhereClauses
from sglc.check.names.hole_figures import HoleFigures
from sglc.check.names.scopes import Scopes
from sglc.check.proofs.conditions import Conditions
from sglc.check.proofs.memberships import Memberships
from sglc.check.proofs.unused_values import UnusedValues
from sglc.check.statements.blocks import Blocks
from sglc.check.statements.control_flow import ControlFlow
from sglc.check.statements.forks import Forks
from sglc.check.statements.loops import Loops
from sglc.check.statements.parallel import ParallelCalls
from sglc.check.statements.parts import Parts
from sglc.check.statements.prompt_lines import PromptLines
from sglc.check.statements.retry_policies import RetryPolicies
from sglc.check.statements.statements import Statements
from sglc.check.statements.streams import Streams
from sglc.check.statements.tests import StatementsOfTests
from sglc.check.statements.tools import Tools
from sglc.check.statements.variables import Variables
from sglc.check.types.facts import TypeFacts
from sglc.check.types.resolve import TypeResolver
from sglc.immutable import value

if TYPE_CHECKING:
    from sglc.check.statements.matches import Matches


@value
class Checkers:
    """Those that the phases of a module begin with."""

    names: ModuleNames
    declared: DeclaredTypes
    signatures: Signatures
    constants: Constants
    functions: FunctionChecker
    conditions: DeclaredConditions


def checkers_of(module: ModuleContext, facts: TypeFacts) -> Checkers:
    """Make the checkers of a module. `facts` are those of its program."""
    callbacks = Callbacks()
    scopes = Scopes(module)
    types = TypeResolver(module, callbacks, facts)
    inference = Inference(module, facts, scopes, callbacks)
    constants = Constants(module, scopes, types, inference)
    arguments = Arguments(module, inference)
    iteration = Iteration(module, scopes, inference)
    raising = Raising(module, scopes, inference, arguments)
    references = References(module, scopes)
    results = BuiltinResults(module)
    elements = Elements(module, scopes, inference, results)
    builtins = BuiltinCalls(module, scopes, inference, results, elements)
    figures = HoleFigures(module, scopes)
    calls = Calls(module, scopes, inference, builtins, arguments, figures, types)
    expressions = Expressions(
        module,
        callbacks,
        references,
        Attributes(module, scopes, inference, references, results, figures),
        Items(module, inference),
        Operators(module, facts, scopes, inference),
        Displays(module, facts, scopes, types, inference),
        iteration,
        calls,
        raising,
    )
    dependent = DependentTypes(module, types, inference)
    conditions = DeclaredConditions(module, scopes, inference)
    clauses = WhereClauses(module, scopes, inference, dependent, conditions, facts)
    decodings = Decodings(module, constants)
    distinct = Distinct(module, facts, decodings)
    options = HoleOptions(module, scopes, inference, constants, decodings, distinct)
    ends = HoleEnds(module, facts, scopes)
    choices = Choices(module, facts, scopes, types, inference, ends, decodings, distinct)
    models = HoleModels(module, scopes, constants)
    holes = Holes(module, facts, scopes, dependent, clauses, options, models, ends, choices)
    blocks = Blocks(module, scopes, callbacks)
    members = Memberships(module, scopes)
    loops = Loops(module, scopes, inference, constants, iteration, blocks)
    forks = Forks(module, scopes, inference, iteration, blocks)

    def matches() -> Matches:
        """Made for a `match`: what judges its cases is imported then."""
        from sglc.check.patterns.patterns import Patterns
        from sglc.check.statements.matches import Matches

        return Matches(module, scopes, inference, blocks, Patterns(module, facts, scopes))

    statements = Statements(
        module,
        scopes,
        inference,
        PromptLines(module, scopes, inference, holes, blocks, Tools(module, facts, scopes, constants)),
        Parts(module, scopes, inference, calls, blocks),
        Variables(module, scopes, dependent, inference, holes, members),
        raising,
        ControlFlow(module, scopes, inference, blocks, models, members),
        loops,
        matches,
        RetryPolicies(module, scopes, inference, constants, iteration, raising),
        forks,
        StatementsOfTests(module, scopes, inference, constants, blocks, arguments),
        ParallelCalls(module, blocks),
        Streams(module, scopes, inference, loops),
        UnusedValues(module, scopes),
    )
    callbacks.condition_of_type = clauses.where
    callbacks.dependent_type = dependent.given_type
    callbacks.given_grammar = dependent.given_grammar
    callbacks.applied_type = dependent.applied_type
    callbacks.form = expressions.form
    proofs = Conditions(module, scopes)
    callbacks.decided = proofs.tell
    scopes.left_of_paths = proofs.left_of_paths
    callbacks.hole = holes.expression
    callbacks.fork = forks.fork
    callbacks.statement = statements.statement
    declared = DeclaredTypes(module, types, constants, TypeParameters(module, types, dependent, scopes))
    return Checkers(
        ModuleNames(module),
        declared,
        Signatures(module, scopes, dependent, constants, declared),
        constants,
        FunctionChecker(module, facts, scopes, constants, blocks, models),
        conditions,
    )
