"""The models that a program names, joined to engines: what sessions keep of each, and which are missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sglc.bytecode.code import Program
from sglc.diagnostics.suggest import nearest
from sglc.runtime.backends.filling.loaded import behind
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.decoding.conversations.conversation import PlainChat
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.decoding.filling.local import LocalFiller
from sglc.runtime.decoding.requests import Constraints
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.drafting.draft_model import DraftModel
from sglc.runtime.engine.drafting.drafts import Drafting
from sglc.runtime.engine.scheduling.branch import Admission
from sglc.runtime.errors import ArgumentError
from sglc.runtime.mask.artifact.places import MaskPlaces
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.runtime.vm.state.models import RunModel, Script
from sglc.targets.projection.core.candidate import Candidate
from sglc.types.model_use import MAIN, ModelUse

if TYPE_CHECKING:
    from sglc.runtime.backends.filling.guarantees import Guarantees
    from sglc.runtime.backends.filling.kept import Kept
    from sglc.runtime.engine.base import Engine
    from sglc.runtime.engine.scheduling.branch import Branch


@dataclass(frozen=True, slots=True)
class Urgency:
    """Which runs the models serve first: see `Branch.priority`, `deadline`, `tenant` and `admission`."""

    priority: int = 0
    deadline: float | None = None
    tenant: str = ""
    admission: Admission = field(default_factory=Admission)


@dataclass(frozen=True, slots=True, eq=False)
class Served:
    """What the runs of a program share of one model."""

    engine: Engine
    encoder: Encoder
    constraints: Constraints
    drafting: Drafting | None

    @property
    def candidate(self) -> Candidate:
        """As one that may fill holes: it fills all of them exactly."""
        return Candidate(self.engine.model.name)

    def for_run(self, name: str, owner: str, urgency: Urgency, *, own: bool) -> RunModel:
        """The model in one run of a program called `owner`. `own` says that it is the run's own: each other
        engine admits runs for itself."""
        engine = self.engine
        tokenizer = engine.model.tokenizer
        admission = urgency.admission if own else Admission()

        def open_branch(tokens: tuple[int, ...]) -> Branch:
            branch = engine.open(tokens, owner)
            branch.priority, branch.deadline = urgency.priority, urgency.deadline
            branch.tenant, branch.admission = urgency.tenant, admission
            return branch

        vocabulary, window = tokenizer.vocabulary(), engine.model.context_length
        return RunModel(
            vocabulary,
            self.constraints,
            self.encoder,
            tokenizer.chat,
            open_branch,
            engine.put_back,
            _script_of(engine),
            LocalFiller(vocabulary, window, self.constraints, self.drafting),
            name,
        )


def _kept() -> Kept:
    from sglc.runtime.backends.filling.kept import Kept

    return Kept()


@dataclass(frozen=True, slots=True, eq=False)
class ServedElsewhere:
    """What the runs of a program share of a model elsewhere. Its conversations are text, with messages marked
    as in runs without a model."""

    remote: RemoteModel
    constraints: Constraints
    kept: Kept = field(default_factory=_kept)

    @property
    def candidate(self) -> Candidate:
        """As one that may fill holes, with what it can do."""
        return Candidate(self.remote.name, self.remote.backend.capabilities, self.kept.projections)

    def for_run(self, name: str, owner: str, urgency: Urgency, *, own: bool) -> RunModel:
        """The model in one run; see `Served.for_run`."""
        from sglc.runtime.backends.filling.filler import RemoteFiller

        filler = RemoteFiller(
            self.remote.backend, self.constraints, self.kept, urgency.deadline, self.remote.complete
        )
        return RunModel(BYTES, self.constraints, chat=_CHAT, filler=filler, name=name)


_CHAT = PlainChat()
"""One for all: how tools are told is remembered by the chat."""


def _script_of(engine: Engine) -> Script | None:
    make = getattr(engine.model, "script", None)
    script: Script | None = make() if make is not None else None
    return script


def check_names(program: Program, given: Iterable[str]) -> None:
    """Raise ArgumentError where a program needs a model that is not given; of a chain it needs any one."""
    wanted, given = program.models, (*given, MAIN)
    lacking = {hole.name: names for hole in program.holes if (names := _lacking(hole.models, given))}
    if lacking:
        holes = list(lacking)
        missing = list(dict.fromkeys(name for names in lacking.values() for name in names))
        near = nearest(missing[0], [name for name in given if name not in wanted])
        raise ArgumentError(
            "E0721",
            f"no model is given for {_listed(missing)}",
            reason=f"asked for by {_listed(holes[:5])}{' and others' if len(holes) > 5 else ''}",
            hint=(f"did you mean `{near}`? " if near else "")
            + "give each: "
            + " ".join(f"--model {name}=MODEL" for name in missing)
            + f"; in Python `models={{{', '.join(f'{name!r}: …' for name in missing)}}}`",
        )


def _lacking(use: ModelUse | None, given: Iterable[str]) -> list[str]:
    """The models that a hole needs and that are not given; of a chain it needs one."""
    if use is None:
        return []
    missing = [view.name for view in use.views if view.name not in given]
    return [] if use.others and len(missing) < len(use.views) else missing


def check_unknown(program: Program, given: Iterable[str]) -> None:
    """Raise ArgumentError where a model is given that the program does not name."""
    wanted = program.models
    unknown = [name for name in given if name not in wanted and name != MAIN]
    if unknown:
        near = nearest(unknown[0], wanted)
        known = f"it names {_listed(wanted)}" if wanted else "it names none besides `main`"
        raise ArgumentError(
            "E0721",
            f"the program names no model {_listed(unknown)}",
            reason=known,
            hint=f"did you mean `{near}`?" if near else f"leave {_listed(unknown)} out",
        )


@dataclass(frozen=True, slots=True, eq=False)
class ServedModels:
    """All models of a program. `by_name` has them by the names that the program has for them, the run's own
    among them, and their fallbacks by names that no program can write. `fallbacks` says which of these are
    asked where a model fails, in turn."""

    by_name: Mapping[str, Served | ServedElsewhere]
    fallbacks: Mapping[str, tuple[str, ...]]

    def for_run(self, owner: str, urgency: Urgency) -> dict[str, RunModel]:
        """The models in one run of a program called `owner`."""
        return {
            name: replace(
                each.for_run(name, owner, urgency, own=name == MAIN), fallbacks=self.fallbacks.get(name, ())
            )
            for name, each in self.by_name.items()
        }

    def guarantees(self, program: Program) -> Guarantees | None:
        """What they guarantee of the program's holes; None where all are of this machine."""
        if all(isinstance(each, Served) for each in self.by_name.values()):
            return None
        from sglc.runtime.backends.filling.guarantees import Guarantees

        chains = {name: (name, *self.fallbacks.get(name, ())) for name in self.by_name}
        return Guarantees(
            program,
            {name: [self.by_name[each].candidate for each in chain] for name, chain in chains.items()},
        )


NO_MODELS = ServedModels({}, {})
"""Of a session in which nothing can be asked."""


def serve(
    program: Program,
    engine: Engine | RemoteModel,
    models: Mapping[str, Engine | RemoteModel],
    masks: MaskPlaces | None,
    constraints: Constraints,
    fallbacks: Mapping[str, Sequence[Engine | RemoteModel]],
) -> ServedModels:
    """All models of a program, the run's own among them, whose constraints are given. `fallbacks` are asked
    where the model of that name fails.

    Models of one engine share everything. Raises ArgumentError where names do not fit, or a blend cannot be.
    """
    check_names(program, models)
    engines = {**models, MAIN: engine}
    for hole in program.holes:
        if hole.models is not None and hole.models.teacher is not None:
            _check_blend(hole.name, hole.models, engines)
    chains: dict[str, tuple[str, ...]] = {}
    for name in tuple(engines):
        for each in fallbacks.get(name, ()):
            engines[behind(each, name)] = each
            chains[name] = (*chains.get(name, ()), behind(each, name))
    made: dict[int, Served | ServedElsewhere] = {}
    for each in engines.values():
        if id(each) not in made:
            made[id(each)] = _served(each, constraints, masks, own=each is engine)
    return ServedModels({name: made[id(each)] for name, each in engines.items()}, chains)


def served_alone(engine: Engine) -> Served:
    """A model of this process without a program: holes are filled behind conversations that others write."""
    found = _served(engine, Constraints(), None, own=True)
    assert isinstance(found, Served)
    return found


def _served(
    model: Engine | RemoteModel, constraints: Constraints, masks: MaskPlaces | None, *, own: bool
) -> Served | ServedElsewhere:
    """`constraints` are those of the run's own model; `own` says that it is the one."""
    if isinstance(model, RemoteModel):
        return ServedElsewhere(model, constraints if own else Constraints())
    tokenizer = model.model.tokenizer
    if masks is not None and not own:
        constraints = Constraints(masks, tokenizer.vocabulary())
    drafting = None
    if model.cost is not None:
        draft = None
        if isinstance(model, BatchingEngine) and model.draft is not None:
            draft = DraftModel(model.draft, model)
        drafting = Drafting(model.cost, tokenizer.vocabulary(), tokenizer.encode, draft, model.trees)
    return Served(model, Encoder(tokenizer), constraints, drafting)


def _check_blend(hole: str, use: ModelUse, engines: Mapping[str, Engine | RemoteModel]) -> None:
    local: list[Engine] = []
    for view in use.views:
        engine = engines[view.name]
        if isinstance(engine, RemoteModel):
            raise ArgumentError(
                "E0722",
                f"the model `{view.name}` of hole `{hole}` cannot be blended",
                reason=f"{engine.name} answers with texts; a blend needs the logits of both models",
                hint="give a model of this machine, or write `using` with one model",
            )
        local.append(engine)
        if hasattr(engine.model, "script"):
            raise ArgumentError(
                "E0722",
                f"the model `{view.name}` of hole `{hole}` cannot be blended",
                reason="a scripted model answers with texts; a blend needs the logits of both models",
                hint="give a model with weights, or write `using` with one model",
            )
    first, second = (engine.model.tokenizer.vocabulary() for engine in local)
    if first is not second and first.digest != second.digest:
        names = " and ".join(f"`{view.name}`" for view in use.views)
        raise ArgumentError(
            "E0722",
            f"{names} of hole `{hole}` have different vocabularies",
            reason=f"{first.size:,} and {second.size:,} tokens; a blend draws one token for both",
            hint="blend models of one family, which share a tokenizer",
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
