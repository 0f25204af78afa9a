"""Modes: what is switched on for the code that runs now (grad mode, inference mode, hooks…).

One immutable `Mode` per context, in a `ContextVar`: right under threads and under asyncio alike. A
new thread starts in a context of its own, with gradients enabled, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

#: Holds `is_interposed` once somebody has been on whom functions made of operations ask, see Note
#: [Functions ask from the start] in `_tensor/public_functions.py`.
ALERTED: Final[list[Callable[[], bool]]] = []
#: The classes of programs that such functions ask, be a mode on or not.
ASKED_CLASSES: Final[list[type]] = []


class Mode:
    """An immutable set of switches. `slow` sums up all that the fast path must not meet.

    `interposed` sums up what an interposer answers for.
    """

    __slots__ = (
        "anomaly",
        "autocast",
        "carrying",
        "check_nan",
        "dispatch",
        "dual",
        "forward_grad",
        "functions",
        "grad",
        "inference",
        "infers",
        "interposed",
        "layers",
        "multithreaded",
        "profiler",
        "recorder",
        "saved_hooks",
        "saved_hooks_off",
        "slow",
        "view_replay",
    )

    def __init__(
        self,
        grad: bool = True,
        inference: bool = False,
        saved_hooks: tuple[Any, ...] = (),
        saved_hooks_off: str = "",
        anomaly: bool = False,
        check_nan: bool = True,
        layers: tuple[Any, ...] = (),
        functions: tuple[Any, ...] = (),
        forward_grad: bool = True,
        multithreaded: bool = True,
        dual: bool = False,
        carrying: bool = False,
        view_replay: bool = False,
        dispatch: tuple[Any, ...] = (),
        profiler: Any = None,
        autocast: Any = None,
        recorder: Any = None,
        fresh: bool = False,
    ) -> None:
        self.grad = grad
        self.inference = inference
        self.saved_hooks = saved_hooks
        self.saved_hooks_off = saved_hooks_off
        self.anomaly = anomaly
        self.check_nan = check_nan
        self.layers = layers
        self.functions = functions
        self.forward_grad = forward_grad
        self.multithreaded = multithreaded
        self.dual = dual  # a forward-mode level is open
        self.view_replay = view_replay  # views remember the operations that made them
        self.carrying = carrying  # a backward over Tensors for their tangents' sake: not recorded
        self.dispatch = dispatch  # the modes that see operations below autograd, outermost first
        self.profiler = profiler  # what is told of each operation while a profile is taken
        self.recorder = recorder  # what notes each operation on arrays while a step is recorded
        self.autocast = autocast  # the type in which products are computed; None: as they come
        # Somebody is to be asked about operations, see Note [The order of interposers].
        self.interposed = (
            bool(saved_hooks or layers or functions or dispatch)
            or profiler is not None
            or autocast is not None
            or anomaly
        )
        if (self.interposed or recorder is not None) and not ALERTED:
            ALERTED.append(is_interposed)
        beside = fresh or self.interposed or recorder is not None or dual or view_replay
        self.infers = inference and not beside  # inference mode, and nothing else that is `slow`
        self.slow = inference or beside


def ask_class(cls: type) -> None:
    """Has functions made of operations ask who has been on, and the class, from now on."""
    if cls not in ASKED_CLASSES:
        ASKED_CLASSES.append(cls)
    if not ALERTED:
        ALERTED.append(is_interposed)


def is_interposed() -> bool:
    """Whether somebody is on, or any class is to be asked; for where `ALERTED` isn't empty."""
    mode = current()
    return (mode.slow and not mode.infers) or bool(ASKED_CLASSES)


def derive(mode: Mode, **changes: Any) -> Mode:
    """A mode like `mode` but for the switches given by name.

    The usual modes are shared objects: who looks for `READY` finds it again after a context.
    """
    values: dict[str, Any] = {
        "grad": mode.grad,
        "inference": mode.inference,
        "saved_hooks": mode.saved_hooks,
        "saved_hooks_off": mode.saved_hooks_off,
        "anomaly": mode.anomaly,
        "check_nan": mode.check_nan,
        "layers": mode.layers,
        "functions": mode.functions,
        "forward_grad": mode.forward_grad,
        "multithreaded": mode.multithreaded,
        "dual": mode.dual,
        "carrying": mode.carrying,
        "view_replay": mode.view_replay,
        "dispatch": mode.dispatch,
        "profiler": mode.profiler,
        "recorder": mode.recorder,
        "autocast": mode.autocast,
    }
    values.update(changes)
    made = Mode(**values)
    unusual = (
        made.slow
        or made.carrying
        or bool(made.saved_hooks_off)
        or not (made.forward_grad and made.multithreaded and made.check_nan)
    )
    if unusual:
        return made
    return READY if made.grad else NO_GRAD


# Note [A context that nobody has used yet]
# NumPy keeps its floating-point error settings per context too, and a new thread starts with
# warnings on. `FRESH` is the value that such a context sees: it is `slow`, so the first operation
# there takes the slow path, which runs the `on_first_use` callbacks and sets `READY`. The fast path
# pays nothing for this.

FRESH: Final[Mode] = Mode(fresh=True)
READY: Final[Mode] = Mode()
NO_GRAD: Final[Mode] = Mode(grad=False)

# Inside the forward of a custom function: nothing is recorded, in either direction.
UNRECORDED: Final[Mode] = Mode(grad=False, forward_grad=False)

CURRENT: Final[ContextVar[Mode]] = ContextVar("rushlight_mode", default=FRESH)
current: Final = CURRENT.get


class Starting:
    """What is switched on for the whole process, and so for contexts that start later."""

    __slots__ = ("anomaly", "check_nan")

    anomaly: bool
    check_nan: bool

    def __init__(self) -> None:
        self.anomaly = False
        self.check_nan = True


STARTING: Final = Starting()

on_first_use: Final[list[Callable[[], object]]] = []


def ready() -> Mode:
    """The mode in force, after this context has been prepared for use."""
    mode = current()
    if mode is FRESH:
        for prepare in on_first_use:
            prepare()
        if STARTING.anomaly or not STARTING.check_nan:
            mode = derive(READY, anomaly=STARTING.anomaly, check_nan=STARTING.check_nan)
        else:
            mode = READY
        CURRENT.set(mode)
    return mode


def with_grad(mode: Mode, enabled: bool) -> Mode:
    """A mode like `mode` in which gradients are recorded, or not."""
    if mode.grad is enabled:
        return mode
    if mode is READY:
        return NO_GRAD
    if mode is NO_GRAD:
        return READY
    return derive(mode, grad=enabled)


def derive_unrecorded(mode: Mode) -> Mode:
    """A mode like `mode` in which nothing is recorded, in either direction."""
    if mode is READY or mode is NO_GRAD:
        return UNRECORDED
    return derive(mode, grad=False, forward_grad=False)


def set_grad(enabled: bool) -> None:
    """Switches gradient recording for the context that runs now."""
    mode = ready()
    if mode.grad is enabled:
        return
    if mode is READY:
        CURRENT.set(NO_GRAD)
    elif mode is NO_GRAD:
        CURRENT.set(READY)
    else:
        CURRENT.set(derive(mode, grad=enabled))
