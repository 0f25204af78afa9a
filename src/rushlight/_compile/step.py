"""`CompiledStep`: a function that is recorded, then replayed; eager wherever that can't be done.

Note [Recorded until two agree]
A call that no program fits is run eagerly under a recorder. When two recordings agree in every
call, operand, constant and input, the step is compiled; what differs between them is what a program
can't hold (a counter that goes into a number, a tensor made by unknown means, a branch on values),
and it is what `explain` names. State that is made in the first call (momentum buffers, lazy
modules) costs one more recording.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Final

from .. import watching as watching
from .._core.mode import CURRENT, ready, replaced
from . import reads as reads
from .guards import check_inputs, structure_of
from .joint import live_outputs, record_gradients
from .observation import Observation
from .outputs import described
from .passes import improved
from .program import Program, difference
from .recorder import Recorder
from .refusal import Refusal, Unreached
from .replay import Variant
from .state import State

MAX_VARIANTS: Final = 8
MAX_RECORDINGS: Final = 12


class Recording:
    """One recorded call."""

    __slots__ = ("program", "structure", "arguments", "state", "grad", "used")

    def __init__(self, program: Program, structure: Any, arguments: list[Any], state: State,
                 grad: bool) -> None:  # fmt: skip
        self.program = program
        self.structure = structure
        self.arguments = arguments
        self.state = state
        self.grad = grad


class CompiledStep:
    """Calls `function`; from the third call on, as a rule, by replaying what it does to arrays.

    `program` is the program that ran last, `explain()` says why a step runs eagerly.
    """

    def __init__(self, function: Any, *, fullgraph: bool = False, native: bool = True) -> None:
        self.function = function
        self.fullgraph = fullgraph
        self.native = native
        self.variants: list[Variant] = []
        self.recordings: list[Recording] = []
        self.refusals: list[Refusal] = []
        self.attempts = 0
        self.gave_up = False
        self.calls = {"eager": 0, "recorded": 0}
        self.lock = threading.RLock()
        functools.update_wrapper(self, function, updated=())

    # ---- calling -------------------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for variant in self.variants:
            found = variant.run(args, kwargs)
            if found is not None:
                return found[0]
        return self._miss(args, kwargs)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else functools.partial(self, owner)

    def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        mode = ready()
        for variant in self.variants:  # a context that nobody had used yet is one of its own
            found = variant.run(args, kwargs)
            if found is not None:
                return found[0]
        plain = not mode.slow and not mode.carrying
        if self.gave_up or not plain or STANCE.off or not self.lock.acquire(blocking=False):
            self.calls["eager"] += 1
            return self.function(*args, **kwargs)
        try:
            return self._record(args, kwargs, mode)
        finally:
            self.lock.release()

    def _record(self, args: tuple[Any, ...], kwargs: dict[str, Any], mode: Any) -> Any:
        """Runs the step eagerly under a recorder, and compiles it if that agrees with an earlier
        recording.
        """
        found: list[Any] = []
        structure = structure_of(args, found), structure_of(kwargs, found)
        self.attempts += 1
        try:
            state = State(self.function, _others(structure))
            recorder = Recorder(found, _with_leaves(state, found), state.known())
        except Refusal as refusal:
            self._refuse(refusal)
            return self.function(*args, **kwargs)
        self.calls["recorded"] += 1
        observation = Observation()
        token = CURRENT.set(replaced(mode, recorder=recorder))
        try:
            observation.recorder = recorder
            with observation:
                result = self.function(*args, **kwargs)
        finally:
            CURRENT.reset(token)
        try:
            self._take(recorder, observation, state, structure, found, result, mode)
        except Unreached as refusal:
            self._refuse(refusal, final=self.attempts >= 3)
        except Refusal as refusal:
            self._refuse(refusal)
        return reads.plain(result)

    def _take(self, recorder: Recorder, observation: Observation, state: State, structure: Any,
              arguments: list[Any], result: Any, mode: Any) -> None:  # fmt: skip
        if observation.problem is not None:
            raise Refusal(*observation.problem)
        if recorder.reads and state.arrays_named:
            recorder.refuse("a number is read by `item()` in code that also uses NumPy")
        live = live_outputs(result) if mode.grad else []
        if live and recorder.problem is None:
            recorder.joint = record_gradients(recorder, live, arguments, mode)
        recorder.finish()
        program = recorder.program
        program.joint = recorder.joint
        program.outputs = described(result, recorder, arguments)
        check_inputs(program, arguments)
        if program.joint is not None:
            program.joint.outputs = []
        recorder.release()
        unseen = observation.unseen(state.codes)
        if unseen is not None:
            raise Unreached(
                f"the step runs `{unseen.co_name}`, which can't be reached from what it names",
                (unseen.co_filename, unseen.co_firstlineno),
            )
        changed = state.changed()
        mine = Recording(program, structure, list(arguments), state, mode.grad)
        problem: Any = None
        for other in reversed(self.recordings):
            problem = difference(other.program, program)
            if problem is None:
                if changed is not None:
                    raise Refusal(changed)
                self._compile(mine)
                return
        self.recordings.append(mine)
        del self.recordings[:-4]
        if len(self.recordings) > 1 and problem is not None:
            self._refuse(Refusal(changed or problem[0], problem[1]), final=False)

    def _compile(self, recording: Recording) -> None:
        program = improved(recording.program)
        parts = (recording.structure, recording.arguments, recording.state, recording.grad)
        try:
            variant = Variant(program, *parts, self.native)
        except Exception as error:
            if not self.native:
                raise
            variant = Variant(program, *parts, False)
            variant.notes.append(f"no native code: {type(error).__name__}: {error}")
        self.recordings.clear()
        self.refusals.clear()
        self.attempts = 0
        self.variants.insert(0, variant)
        if len(self.variants) >= MAX_VARIANTS:
            self.gave_up = True
            text = f"it has {MAX_VARIANTS} variants already; further ones stay eager"
            self._refuse(Refusal(text))

    def _refuse(self, refusal: Refusal, final: bool = True) -> None:
        if self.fullgraph and final:
            raise RuntimeError(f"the step can't be compiled whole: {refusal}")
        self.refusals.append(refusal)
        del self.refusals[:-8]
        if self.attempts >= (3 if final else MAX_RECORDINGS):
            self.gave_up = True
            self.recordings.clear()

    # ---- looking -------------------------------------------------------------------------------
    @property
    def program(self) -> Program | None:
        """The program that was compiled last; None as long as there is none."""
        return self.variants[0].program if self.variants else None

    def reset(self) -> None:
        """Forgets all programs."""
        self.variants.clear()
        self.recordings.clear()
        self.refusals.clear()
        self.attempts = 0
        self.gave_up = False

    def explain(self) -> str:
        """Whether the step is compiled; if not, what keeps it from that, and where."""
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        lines = [f"{name}: {len(self.variants)} compiled"]
        for variant in self.variants:
            lines[0] += f", {len(variant.program.instructions)} calls on arrays"
        for variant in self.variants:
            lines.append(f"  {variant.described()}")
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
        return "\n".join(lines)


class Stance:
    """Whether compiling is switched off for the process."""

    off = False


STANCE: Final = Stance()


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
        else:
            found.append(x)
    return found


def _with_leaves(state: State, arguments: list[Any]) -> list[Any]:
    leaves = state.leaves()
    known = {id(x) for x in leaves}
    return leaves + [t for t in arguments if t._requires_grad and id(t) not in known]
