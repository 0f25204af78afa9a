"""`Recorder`: what a profile writes down while it is taken.

A recorder lies in the mode of its context, so operations find it on the slow path only: a program
without a profile pays nothing. Every event is a span of time with a parent; what belongs to one
event is written between `enter` and `leave`.
"""

from __future__ import annotations

import math
import sys
import threading
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

from .._core.mode import Mode, derive
from .._core.node import STEP, Node
from .._core.op import Op
from .._core.storage import TensorBase
from .._table.names.aten_forms import span_name
from .._tensor import dispatch_modes as _watching

if TYPE_CHECKING:
    from .._base.annotations import Arguments

OPERATION: Final = "cpu_op"
ANNOTATION: Final = "user_annotation"
_HERE: Final = __file__.rpartition("autograd")[0]
_names: Final[dict[tuple[Any, bool, int], str]] = {}


class Event:
    """One span. Times are in nanoseconds of the process's clock; `end` is 0 while it is open."""

    __slots__ = ("bytes", "category", "end", "flops", "forward_thread", "is_async", "name",
                 "parent", "scope", "sequence", "shapes", "stack", "start", "strides", "thread",
                 "types")  # fmt: skip

    def __init__(self, name: str, category: str, parent: Event | None) -> None:
        self.name = name
        self.category = category
        self.parent = parent
        self.is_async = False  # goes on while its thread does something else
        self.shapes: list[Any] = []
        self.types: list[str] = []
        self.strides: list[Any] = []
        self.stack: list[str] = []
        self.sequence = -1
        self.scope = 7 if category == ANNOTATION else 0  # PyTorch's numbers for kinds of events
        self.forward_thread = 0
        self.thread = threading.get_native_id()
        self.bytes = 0
        self.flops = 0
        self.start = 0
        self.end = 0


class Recorder:
    """Writes the events of one context down."""

    def __init__(self, shapes: bool, memory: bool, stack: bool, flops: bool) -> None:
        self.shapes = shapes
        self.memory = memory
        self.stack = stack
        self.flops = flops
        self.events: list[Event] = []
        self.open: list[Event] = []
        self.paused = False
        self._opened = False
        self._pair: tuple[Any, Any] = (None, None)

    def without(self, mode: Mode) -> Mode:
        """`mode` without the profiler: what an operation runs in once it is being measured."""
        known, quick = self._pair
        if known is not mode:
            quick = derive(mode, profiler=None)
            self._pair = (mode, quick)
        return quick

    def finish(self) -> None:
        """Lets go of the mode that it was in, which holds the recorder."""
        self._pair = (None, None)
        self.open.clear()

    def begin(self, name: str, category: str) -> Event:
        """Opens a span."""
        event = Event(name, category, self.open[-1] if self.open else None)
        if not self.paused:
            self.events.append(event)
        self.open.append(event)
        if self.stack:
            event.stack = _stack()
        event.start = perf_counter_ns()
        return event

    def enter(self, op: Op, args: list[object], inplace: bool) -> Event:
        """Opens the span of an operation."""
        event = self.begin(_name(op, args, inplace), OPERATION)
        if self.shapes or self.flops:
            _describe(event, args)
            if self.flops:
                event.flops = _count(event)
            if not self.shapes:
                event.shapes = []
            event.start = perf_counter_ns()
        return event

    def enter_named(self, name: str, args: tuple[object, ...]) -> Event:
        """Opens the span of a function that is no row, and those of the steps that make a tensor.

        The last step stays open: it ends with the whole.
        """
        event = self.begin(name, OPERATION)
        if self.shapes:
            _describe(event, list(args))
        filled = _FILLED_BY.get(name)
        if filled is not None:
            like = name.endswith("_like")
            self.leave(self.begin("aten::empty_like" if like else "aten::empty", OPERATION))
            self.begin(filled, OPERATION)
        return event

    def aside(self, name: str) -> Event:
        """A span of what goes on while the thread does something else; who asks sets its times."""
        event = Event(name, OPERATION, None)
        event.is_async = True
        if not self.paused:
            self.events.append(event)
        return event

    def leave(self, event: Event) -> None:
        """Closes a span, and those inside of it that an exception has left open."""
        event.end = perf_counter_ns()
        while self.open:
            last = self.open.pop()
            if last is event:
                break
            last.end = event.end

    def note_node(self, event: Event, result: Any) -> None:
        """Notes what an operation made: the node's number, and how much memory."""
        outs = result if type(result) in (tuple, list) else (result,)
        for out in outs:
            if not isinstance(out, TensorBase):
                continue
            if event.sequence < 0 and out._node is not None:
                event.sequence = out._node.seq // STEP
            if self.memory and out._view is None and out._raw.base is None:
                event.bytes += out._raw.nbytes

    # ---- custom functions, whose `apply` calls itself once to get between these ----------------
    def opens(self, name: str) -> bool:
        """Opens the span of a custom function, unless that has just been done."""
        self._opened = not self._opened
        if self._opened:
            self.begin(name, OPERATION)
        return self._opened

    def closes(self) -> None:
        """Closes it."""
        self.leave(self.open[-1])

    # ---- backward, called by the engine ---------------------------------------------------------
    def enter_node(self, node: Node, grads: Any) -> Event:
        """Opens the two spans of a node's backward."""
        name = type(node.shown()).__name__
        outer = self.begin(f"autograd::engine::evaluate_function: {name}", OPERATION)
        inner = self.begin(name, OPERATION)
        outer.sequence = inner.sequence = node.seq // STEP
        outer.forward_thread = inner.forward_thread = inner.scope = 1
        if self.shapes:
            _describe(inner, list(grads) if type(grads) is list else [grads])
        return outer

    def enter_leaf(self) -> Event:
        """Opens the two spans of an accumulation."""
        name = "torch::autograd::AccumulateGrad"
        outer = self.begin(f"autograd::engine::evaluate_function: {name}", OPERATION)
        self.begin(name, OPERATION).scope = 1
        return outer


#: What fills the memory that a function has asked for first.
_FILLED_BY: Final = {
    "aten::zeros": "aten::zero_", "aten::zeros_like": "aten::zero_",
    "aten::ones": "aten::fill_", "aten::ones_like": "aten::fill_",
    "aten::full": "aten::fill_", "aten::full_like": "aten::fill_",
    "aten::rand": "aten::uniform_", "aten::rand_like": "aten::uniform_",
    "aten::randn": "aten::normal_", "aten::randn_like": "aten::normal_",
    "aten::randint": "aten::random_", "aten::randint_like": "aten::random_",
    "aten::arange": "aten::arange", "aten::linspace": "aten::linspace",
    "aten::logspace": "aten::logspace", "aten::eye": "aten::eye",
    "aten::randperm": "aten::randperm",
}  # fmt: skip


def _name(op: Op, args: list[object], inplace: bool) -> str:
    """The name of an operation as PyTorch's profiler shows it."""
    key = (op, inplace, len(args))
    name = _names.get(key)
    if name is None:
        name = _names[key] = span_name(op, args, inplace)
    return name


def _describe(event: Event, args: Arguments) -> None:
    """Notes shapes, strides and types of the arguments, as PyTorch's profiler lists them."""
    for arg in args:
        if isinstance(arg, TensorBase):
            t: Any = arg
            event.shapes.append(list(t._raw.shape))
            size = t._raw.itemsize
            event.strides.append([s // size for s in t._raw.strides])
            event.types.append(_TYPES.get(t.dtype.name, t.dtype.name))
        elif type(arg) in (list, tuple) and arg and isinstance(arg[0], TensorBase):
            event.shapes.append([list(x._raw.shape) for x in arg])
            event.strides.append([])
            event.types.append("TensorList")
        else:
            event.shapes.append([])
            event.strides.append([])
            lists = type(arg) in (list, tuple)
            event.types.append("" if arg is None else "ScalarList" if lists else "Scalar")


_TYPES: Final = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int",
                 "bool": "bool", "int16": "short int", "uint8": "unsigned char",
                 "int8": "signed char", "float16": "c10::Half",
                 "bfloat16": "c10::BFloat16"}  # fmt: skip


def _count(event: Event) -> int:
    """The floating-point operations of a product or a pointwise sum, 0 for anything else."""
    shapes: list[list[int]] = event.shapes
    name = event.name
    if name == "aten::mm":
        return 2 * math.prod(shapes[0]) * shapes[1][1]
    if name == "aten::addmm":
        return 2 * math.prod(shapes[1]) * shapes[2][1]
    if name == "aten::bmm":
        return 2 * math.prod(shapes[0]) * shapes[1][2]
    if name in ("aten::mul", "aten::add"):
        return math.prod(shapes[0])
    return 0


def _stack() -> list[str]:
    """The lines of the program that led here, innermost first."""
    lines: list[str] = []
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_HERE):
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back  # type: ignore[assignment]
    return lines


_ = _watching

__all__ = ["ANNOTATION", "OPERATION", "Event", "Recorder"]
