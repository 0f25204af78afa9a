"""`profile`: what ran, how often and for how long; `record_function`: names for parts of a program.

While nothing is profiled, operations don't know that there is a profiler, and `record_function`
asks one question.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .._base import errors
from .._core.mode import CURRENT, current, derive, ready
from .profiler_util import EventList, FunctionEvent, FunctionEventAvg, link_events, write_trace
from .recording import ANNOTATION, OPERATION, Event, Recorder

F = TypeVar("F", bound=Callable[..., Any])


class profile:
    """A context that notes every operation, and the backward of every node, that run inside.

    The results are there when it has ended: `function_events`, `key_averages()`, `table()`,
    `export_chrome_trace(path)`.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: object = None,
        acc_events: bool = False,
        custom_trace_id_callback: object = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: object = None,
    ) -> None:
        self.enabled = enabled
        self.use_cpu = use_cpu
        self.use_device = use_device
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.entered = False
        self.function_events_made: EventList | None = None
        self.recorder = Recorder(record_shapes, profile_memory, with_stack, with_flops)
        self.running = False
        self.finished = False

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._start()
        return self

    def _start(self) -> None:
        self.entered = True
        mode = ready()
        if mode.profiler is not None:
            raise RuntimeError("Profiler is already enabled on this thread")
        CURRENT.set(derive(mode, profiler=self.recorder))
        self.running = True

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            self._stop()

    def _stop(self) -> None:
        CURRENT.set(derive(ready(), profiler=None))
        self.running = False
        self.finished = True
        self.recorder.finish()
        self.function_events_made = link_events(
            self.recorder.events, self.profile_memory, self.with_flops
        )

    def _events(self) -> EventList:
        if self.function_events_made is None:  # nothing is known before the end
            self.function_events_made = EventList((), self.profile_memory, self.with_flops)
        return self.function_events_made

    @property
    def function_events(self) -> EventList:
        """The events, in the order in which they began."""
        return self._events()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events outside of their children, in microseconds."""
        return self._events().self_cpu_time_total

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """The events as a table of text."""
        return self._events().table(sort_by=sort_by, row_limit=row_limit, **options)

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """The sums of all events with the same name (and shapes)."""
        return self._events().key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        return self._events().total_average()

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events to a file that Perfetto and chrome://tracing open.

        Raises:
            RuntimeError: before the profile has ended.
        """
        if not self.finished:
            raise RuntimeError("Profiler didn't finish running")
        self._events().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes one line per stack, for flame graphs. Takes a profile `with_stack`."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._events().export_stacks(path, metric)

    def toggle_collection_dynamic(self, enabled: bool, activities: object) -> None:
        """Stops, or goes on with, writing events down."""
        self.recorder.paused = not enabled

    def __repr__(self) -> str:
        if self.function_events_made is None:
            return "<unfinished torch.autograd.profile>"
        return repr(self.function_events_made)

    def __str__(self) -> str:
        if self.function_events_made is None:
            return "<unfinished torch.autograd.profile>"
        return str(self.function_events_made)


def _not_a_text(kind: str, argument: str, place: int, value: object) -> str:
    """What PyTorch says to a name of a part that is no text."""
    return (
        f"profiler::_record_function_enter_new() Expected a value of type '{kind}' for argument "
        f"'{argument}' but instead found type '{errors.type_name(value)}'.\nPosition: {place}\n"
        f"Value: {value}\nDeclaration: profiler::_record_function_enter_new(str name, str? "
        "args=None) -> __torch__.torch.classes.profiler._RecordFunction\nCast error details: "
        f"Unable to cast Python instance of type {errors.class_text(value)} to C++ type '?' "
        "(#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )


class record_function:
    """A context, or decorator, that gives a part of a program a name in profiles.

    Parameters:
        name: the name.
        args: a text that is kept with it.
    Raises: RuntimeError: on entering, for anything but texts.
    Example:
        >>> with torch.profiler.profile() as prof, torch.profiler.record_function("mine"):
        ...     y = torch.ones(2) + 1
        >>> "mine" in [event.key for event in prof.key_averages()]
        True
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._recorder: Recorder | None = None
        self._event: Event | None = None

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str):
            raise RuntimeError(_not_a_text("str", "name", 0, self.name))
        if not isinstance(self.args, str | None):
            raise RuntimeError(_not_a_text("Optional[str]", "args", 1, self.args))
        recorder: Any = current().profiler
        if recorder is not None:
            self._recorder = recorder
            self._event = recorder.begin(self.name, ANNOTATION)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._recorder is not None and self._event is not None:
            self._recorder.leave(self._event)
            self._recorder = self._event = None

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def run_named(*args: object, **kwargs: object) -> object:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return run_named  # type: ignore[return-value]


class _NoBackend:
    """A context for a profiler of other hardware, which isn't there."""

    _names = ("", "")

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes

    def __enter__(self) -> Any:
        if not self.enabled:
            return None
        short, needs = self._names
        raise RuntimeError(
            f"{short} functions not installed. Are you sure you have a {needs} build?"
        )

    def __exit__(self, *exc: object) -> None:
        return None


class emit_nvtx(_NoBackend):
    """A context that would mark operations for NVIDIA's profiler.

    Raises:
        AssertionError: on entering: there is no CUDA.
    """

    def __enter__(self) -> Any:
        if self.enabled:
            raise AssertionError("Torch not compiled with CUDA enabled")


class emit_itt(_NoBackend):
    """A context that would mark operations for Intel's VTune.

    Raises:
        RuntimeError: on entering: there is no ITT.
    """

    _names = ("ITT", "ITT")


def load_nvprof(path: str) -> EventList:
    """Would read a file of NVIDIA's old profiler.

    Raises:
        RuntimeError: always: there is no CUDA.
    """
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def kineto_available() -> bool:
    """Whether profiles can be taken: always.

    Returns: bool: True.
    Example:
        >>> torch.profiler.kineto_available()
        True
    """
    return True


def _profiler_enabled() -> bool:
    """Whether a profile is being taken here."""
    return current().profiler is not None


__all__ = [
    "OPERATION", "EventList", "FunctionEvent", "FunctionEventAvg", "emit_itt", "emit_nvtx",
    "kineto_available", "load_nvprof", "profile", "record_function", "write_trace",
]  # fmt: skip
