"""`CompiledStep`: a function that is recorded, then replayed; eager wherever that can't be done.

Note [Recorded until two agree]
A call that no program fits is run eagerly under a recorder. When two recordings agree in every
call, operand, constant and input, the step is compiled; what differs between them is what a program
can't hold (a counter that goes into a number, a tensor made by unknown means, a branch on values),
and it is what `explain` names. State that is made in the first call (momentum buffers, lazy
modules) costs one more recording.
"""

from __future__ import annotations

import copy
import functools
import sys
import warnings
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from .._array.memory.out_of_memory import refusal as memory_refusal
from .._base.fork_locks import long_lock
from .._base.notebook_forms import Laid
from .._core.mode import CURRENT, current, derive, ready
from .._tensor import dispatch_modes as watching  # noqa: F401
from .capture import element_reads as reads
from .capture.argument_effects import ArgumentsBefore, find_stand_ins, returns_container
from .capture.code_observation import Observation
from .capture.forward_backward import live_outputs, record_gradients
from .capture.number_sources import Numbers, Substitution, free_numbers
from .capture.output_structure import describe_result
from .capture.recorder import Recorder
from .capture.side_effects import SideEffects
from .diagnostics import advice_for, formats, place_of
from .guards.branch_guards import hoist, misses, outcomes
from .guards.captured_state import State
from .guards.environment import ask_library, take_up
from .guards.guards import ArgumentPlace, check_inputs
from .guards.names_in_code import compares_identity
from .guards.unwatchable import names_of, refuse_opaque
from .ir.messages import settle_messages
from .ir.program import Program, difference
from .passes import improve
from .refusal import Refusal, Unreached
from .runtime.replay import Variant
from .runtime.tiering import FAILED, warm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._base.annotations import AnyCallable, Arguments, Keywords, Positional
    from .._core.mode import Mode
    from .._tensor.tensor import Tensor

MAX_VARIANTS: Final = 8
MAX_RECORDINGS: Final = 12
MAX_STRAYS: Final = 32


class Recording:
    """One recorded call."""

    __slots__ = ("program", "structure", "arguments", "state", "grad", "used", "apart")

    def __init__(self, program: Program, structure: tuple[tuple[object, ...], object],
                 arguments: Arguments, state: State,
                 grad: bool) -> None:  # fmt: skip
        self.program = program
        self.structure = structure
        self.arguments = arguments
        self.state = state
        self.grad = grad
        self.apart = False  # the code asks whether one thing is another


class CompiledStep:
    """Calls `function`; from the third call on, as a rule, by replaying what it does to arrays.

    `program` is the program that ran last, `explain()` says why a step runs eagerly.
    """

    def __init__(
        self, function: AnyCallable, *, fullgraph: bool = False, native: bool = True
    ) -> None:
        self.function = function
        self.fullgraph = fullgraph
        self.native = native
        self.variants: list[Variant] = []
        self.hidden: list[Variant] = []
        self.recordings: list[Recording] = []
        self.refusals: list[Refusal] = []
        self.attempts = 0
        self.gave_up = False
        self.calls = {"eager": 0, "recorded": 0}
        self.strays = 0  # how often no variant took the path of a call, since there are no more
        self.numbers = Numbers()
        self.lock = long_lock()
        self.inside: list[None] = []  # one for each thread that runs it eagerly beside a recording
        self.disturbed = False  # whether another thread has called it during this recording
        functools.update_wrapper(self, function, updated=())

    # ---- calling -------------------------------------------------------------------------------
    def __call__(self, *args: object, **kwargs: object) -> Any:
        for variant in self.variants:
            try:
                found = variant.run(args, kwargs)
            except MemoryError as error:
                raise memory_refusal(error) from None
            if found is not None:
                return found[0]
            if variant.left.refused:
                return self._refused(variant, args, kwargs)
            if variant.left.missed >= 0:
                return self._stray(variant, args, kwargs)
        return self._miss(args, kwargs)

    def _refused(
        self, variant: Variant, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> Any:
        """A row refuses some value: the eager step does so where that row stands in it."""
        variant.left.refused = False
        self.calls["eager"] += 1
        return self.function(*args, **kwargs)

    def _stray(self, first: Variant, args: Positional, kwargs: Keywords) -> Any:
        """A run has left its program's path: another variant goes on from the start, or none.

        See Note [Expected outcomes].
        """
        tried = [(first.path, first.left.missed)]
        first.left.missed = -1
        start = self.variants.index(first) + 1 if first in self.variants else 0
        for variant in self.variants[start:]:
            if any(misses(path, place, variant.path) for path, place in tried):
                continue
            found = variant.run(args, kwargs)
            if found is not None:
                if self.strays > 0:
                    self.strays -= 1
                if variant in self.variants:  # the path that was taken last is tried first
                    others = [x for x in self.variants if x is not variant]
                    self.variants = [variant, *others]
                return found[0]
            if variant.left.refused:
                return self._refused(variant, args, kwargs)
            if variant.left.missed >= 0:
                tried.append((variant.path, variant.left.missed))
                variant.left.missed = -1
        if self.gave_up:
            self.strays += 2
            if self.strays > MAX_STRAYS:
                self.variants = [x for x in self.variants if not x.path]
                self.refusals.append(Refusal("its branches on values take too many paths"))
        return self._miss(args, kwargs, tried=True)

    def __get__(self, owner: object, kind: object = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    @property
    def _torchdynamo_orig_callable(self) -> Any:
        return self.function

    def _miss(self, args: Positional, kwargs: Keywords, tried: bool = False) -> Any:
        before = current()
        mode = ready()
        if mode is not before and not tried:  # a context that nobody had used yet is one of its own
            return self(*args, **kwargs)
        plain = not mode.slow and not mode.carrying
        if STANCE.strict and self.variants and plain:
            raise RuntimeError(
                "Detected recompile when torch.compile stance is 'fail_on_recompile'. "
                f"filename: {_place(self.function)}"
            )
        if self.gave_up or not plain or STANCE.off:
            self.calls["eager"] += 1
            return self.function(*args, **kwargs)
        if not self.lock.acquire(blocking=False):
            return self._beside(args, kwargs)
        try:
            return self._record(args, kwargs, mode)
        finally:
            self.lock.release()

    def _beside(self, args: Positional, kwargs: Keywords) -> Any:
        """A call while another thread records."""
        self.calls["eager"] += 1
        self.disturbed = True
        self.inside.append(None)
        try:
            return self.function(*args, **kwargs)
        finally:
            self.inside.pop()

    def _record(self, args: tuple[object, ...], kwargs: dict[str, object], mode: Mode) -> Any:
        """Runs the step eagerly under a recorder, and compiles it if that agrees with an earlier
        recording.
        """
        given = ArgumentsBefore(args, kwargs)
        found, structure = given.tensors, given.structure
        self.attempts += 1
        self.disturbed = bool(self.inside)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of being looked at, as `typing.io` does
                state = State(self.function, _others(structure), found)
            take_up(state)
            recorder = Recorder(found, _with_leaves(state, found), state.list_known())
            if "grad" in state.names:  # which the code may read
                recorder.tell_gradients_apart()
            numbers = Substitution(self.numbers.find_varied(state, args, kwargs), state, recorder)
            shown = numbers.why_visible()
            if shown is not None:
                self.disturbed = True
                raise Refusal(shown)
        except Refusal as refusal:
            self._refuse(refusal)
            return self.function(*args, **kwargs)
        except Exception as error:  # what it can see is odder than the walk knows
            text = f"what it can see can't be walked: {type(error).__name__}: {error}"
            self._refuse(Refusal(text))
            return self.function(*args, **kwargs)
        self.calls["recorded"] += 1
        observation = Observation()
        former_mode = CURRENT.get()
        try:
            CURRENT.set(derive(mode, recorder=recorder))
            observation.recorder = recorder
            args, kwargs = numbers.arguments(args, kwargs)
            with numbers, observation:
                result = self.function(*args, **kwargs)
            grad = current().grad
        except BaseException:
            recorder.close()
            raise
        finally:
            CURRENT.set(former_mode)
        if grad is not mode.grad:
            CURRENT.set(derive(mode, grad=grad))
            recorder.refuse("the step leaves the gradient mode another than it was", (None, 0))
        try:
            self._take(recorder, observation, state, given, result, mode, numbers)
        except Unreached as refusal:
            self._refuse(refusal, final=self.attempts >= 3)
        except Refusal as refusal:
            self._refuse(refusal)
        except Exception as error:  # the step has run: its result is what the user gets
            if self.fullgraph and isinstance(error, RuntimeError):
                raise
            FAILED.append(error.with_traceback(None))
            del FAILED[:-8]
            self._refuse(Refusal(f"recording it failed: {type(error).__name__}: {error}"))
        finally:
            recorder.close()
        return reads.plain(result)

    def _take(self, recorder: Recorder, observation: Observation, state: State,
              given: ArgumentsBefore, result: object, mode: Mode,
              numbers: Substitution) -> None:  # fmt: skip
        arguments = given.tensors
        if observation.problem is not None:
            raise Refusal(*observation.problem)
        lasting = observation.find_setter()
        if lasting is not None:
            raise Refusal(f"the step calls `{lasting}`, whose effect outlives it")
        if state.lookups.excess is not None:
            raise Refusal(state.lookups.excess)
        if recorder.reads and state.arrays_named:
            recorder.refuse("a number is read by `item()` in code that also uses NumPy")
        keeping = SideEffects(state, observation, given.containers)
        live = live_outputs([result, *keeping.values()]) if mode.grad else []
        if live and recorder.problem is None:
            recorder.joint = record_gradients(recorder, live, arguments, mode)
        recorder.finish()
        program = recorder.program
        program.joint = recorder.joint
        program.stores = keeping.effects(result, recorder, arguments)
        program.outputs = describe_result(result, recorder, arguments)
        program.conditions, program.effects = recorder.conditions, numbers.effects
        keeping.loosen_numbers(program.effects)
        self.numbers.settle(program.conditions)
        recorder.settle_unseen(any(formats(code) for code in observation.own()))
        if recorder.problem is not None:
            raise Refusal(*recorder.problem)
        check_inputs(program, arguments)
        if program.joint is not None:
            program.joint.outputs = []
        unseen = observation.unseen(state.codes)
        if unseen is not None:
            raise Unreached(
                f"the step runs `{unseen.co_name}`, which can't be reached from what it names",
                (unseen.co_filename, unseen.co_firstlineno),
            )
        refuse_opaque(state, observation.codes)
        changed = given.find_changes() or state.find_changes()
        names = names_of(observation.own())
        state.read = names if keeping.tells_reads() else None
        state.widen(observation.standard())
        if state.lookups.excess is not None:
            raise Refusal(state.lookups.excess)
        keeping.loosen_again()
        if "state" in names:
            state.take_state()
        ask_library(state, observation)
        if returns_container(result, given.containers, state.seen):
            raise Refusal("the step returns a list or dict that was there before")
        structure = free_numbers(given.structure, state, numbers.found)
        kept = find_stand_ins(arguments, program, state)
        mine = Recording(program, structure, kept, state, mode.grad)
        mine.apart = any(compares_identity(code) for code in observation.own())
        problem: Any = None
        path = outcomes(program)
        for other in reversed(self.recordings):
            if outcomes(other.program) != path:  # it went another way
                continue
            problem = difference(other.program, program)
            if problem is None:
                if changed is not None:
                    raise Refusal(changed, place_of(changed, observation.own()))
                self._compile(mine)
                return
        self.recordings.append(mine)
        del self.recordings[:-MAX_VARIANTS]
        if problem is not None:
            why, where = (changed, None) if changed else problem
            where = where or place_of(why, observation.own())
            self._refuse(Refusal(why, where), final=False)

    def _compile(self, recording: Recording) -> None:
        program = improve(recording.program)
        hoist(program)
        settle_messages(program)
        recording.state.apart = recording.apart
        parts = (recording.structure, recording.arguments, recording.state, recording.grad)
        try:
            variant = Variant(program, *parts, self.native)
        except Exception as error:
            if not self.native:
                raise
            variant = Variant(program, *parts, False)
            variant.notes.append(f"no native code: {type(error).__name__}: {error}")
        warm(variant)
        self.recordings.clear()
        self.refusals.clear()
        self.attempts = 0
        self.variants.insert(0, variant)
        if len(self.variants) >= MAX_VARIANTS:
            self.gave_up = True
            text = f"it has {MAX_VARIANTS} variants already; further ones stay eager"
            self._refuse(Refusal(text))

    def _refuse(self, refusal: Refusal, final: bool = True) -> None:
        final = final and not self.disturbed  # another thread's writes may be what was found
        if self.fullgraph and final:
            raise RuntimeError(f"the step can't be compiled whole: {refusal}")
        refusal.__traceback__ = refusal.__context__ = refusal.__cause__ = None  # they hold frames
        self.refusals.append(refusal)
        del self.refusals[:-8]
        if self.attempts >= (3 if final else MAX_RECORDINGS):
            self.gave_up = True
            self.recordings.clear()

    # ---- copies --------------------------------------------------------------------------------
    def __deepcopy__(self, memo: dict[int, object]) -> CompiledStep:
        """A step of its own: of the same function, or of the copied object's method or module."""
        made = CompiledStep.__new__(CompiledStep)
        memo[id(self)] = made
        function = copy.deepcopy(self.function, memo)
        CompiledStep.__init__(made, function, fullgraph=self.fullgraph, native=self.native)
        return made

    def __copy__(self) -> CompiledStep:
        return CompiledStep(self.function, fullgraph=self.fullgraph, native=self.native)

    def __reduce__(self) -> Any:
        """Pickled by name where it stands under its name, as functions are; else with its own."""
        name = getattr(self, "__qualname__", "")
        module = sys.modules.get(getattr(self, "__module__", None) or "")
        if name and getattr(module, name, None) is self:
            return name
        return restore, (self.function, self.fullgraph, self.native)

    # ---- looking -------------------------------------------------------------------------------
    @property
    def program(self) -> Program | None:
        """The program that was compiled last; None as long as there is none."""
        return self.variants[0].program if self.variants else None

    def hide(self, hidden: bool) -> None:
        """Has no program run until they are shown again."""
        if hidden and self.variants:
            self.hidden, self.variants = [*self.variants, *self.hidden], []
        elif not hidden and self.hidden:
            self.variants, self.hidden = [*self.variants, *self.hidden], []

    @property
    def machine(self) -> Any:
        """How the program that was compiled last runs natively; None where NumPy replays it.

        Printed, it shows kernels, products with what follows them, sweeps and the arena.
        """
        return self.variants[0].machine if self.variants else None

    def reset(self) -> None:
        """Forgets all programs."""
        self.variants.clear()
        self.hidden.clear()
        self.recordings.clear()
        self.refusals.clear()
        self.attempts = 0
        self.gave_up = False

    def explain(self) -> str:
        """Whether the step is compiled; if not, what keeps it from that, and where."""
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        lines = [f"{name}: {len(self.variants)} compiled"]
        for variant in self.variants:
            calls = sum(i.kind != "expect" for i in variant.program.instructions)
            lines.append(f"  {calls} calls on arrays, {variant.describe()}")
            lines += [f"    where {text}" for text in variant.program.path_texts()]
        if self.gave_up and not self.variants:
            lines[0] = f"{name}: runs eagerly"
        elif not self.variants:
            lines[0] = f"{name}: not compiled yet"
        seen: set[str] = set()
        for refusal in reversed(self.refusals):
            text = str(refusal)
            if text not in seen:
                seen.add(text)
                lines.append(f"  {text}")
                advice = advice_for(refusal.why)
                if advice is not None:
                    lines.append(f"    {advice}")
        return Laid("\n".join(lines))


def restore(function: AnyCallable, fullgraph: bool, native: bool) -> CompiledStep:
    """A step that was pickled."""
    return CompiledStep(function, fullgraph=fullgraph, native=native)


class Stance:
    """Whether compiling is switched off for the process."""

    off = False
    strict = False  # a call that no program fits is an error


STANCE: Final = Stance()


def _place(function: object) -> str:
    code = getattr(function, "__code__", None)
    return "?" if code is None else f"{code.co_filename}, line {code.co_firstlineno}"


def _others(structure: Any) -> list[Any]:
    """What the arguments hold beside tensors and containers."""
    found: list[Any] = []
    stack = [structure]
    while stack:
        x = stack.pop()
        if type(x) in (list, tuple):
            stack.extend(x)
        elif type(x) is dict:
            stack.extend(x.values())
        elif type(x) is not ArgumentPlace:
            found.append(x)
    return found


def _with_leaves(state: State, arguments: list[Tensor]) -> list[Tensor]:
    leaves = state.leaves()
    known = {id(x) for x in leaves}
    return leaves + [t for t in arguments if t._requires_grad and id(t) not in known]
