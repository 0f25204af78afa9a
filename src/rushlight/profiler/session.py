"""`profile`: a profile that follows a schedule of steps."""

from __future__ import annotations

import enum
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any, Final
from warnings import warn

from ..autograd import profiler as _profiler
from ..autograd.profiler_util import EventList, write_trace


class ProfilerActivity(enum.Enum):
    """Kinds of hardware whose work can be measured. There is the CPU.

    Example:
        >>> torch.profiler.ProfilerActivity.CPU.name
        'CPU'
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What a schedule may ask for at a step.

    Example:
        >>> torch.profiler.ProfilerAction.RECORD.value
        2
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def supported_activities() -> set[ProfilerActivity]:
    """The kinds of hardware that can be measured here.

    Returns: set of ProfilerActivity.
    Example:
        >>> [activity.name for activity in torch.profiler.supported_activities()]
        ['CPU']
    """
    return {ProfilerActivity.CPU}


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """A schedule: skip some steps, then wait, warm up and measure, again and again.

    `repeat` limits the cycles (0: none); `skip_first_wait` leaves the waiting out of the first.

    Parameters:
        wait: how many steps of a cycle nothing happens.
        warmup: how many steps are run after these without counting.
        active: how many steps are measured then.
        repeat: how many cycles there are; 0: no end.
        skip_first: how many steps come before the first cycle.
        skip_first_wait: not 0: the first cycle has no waiting.
    Returns: a function of a step's number, for `profile(schedule=…)`.
    Raises: AssertionError: for negative numbers, and for no active step.
    Example:
        >>> plan = torch.profiler.schedule(wait=1, warmup=1, active=2)
        >>> [plan(step).name for step in range(4)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
            f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        length = wait + warmup + active
        if skip_first_wait != 0:
            step += wait
        if repeat > 0 and step / length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        last = place == length - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


def _always(_: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[object], None]:
    """A handler for `on_trace_ready` that writes each trace to a file of its own in a folder.

    Parameters:
        dir_name: the folder, which is made where it isn't there.
        worker_name: the beginning of the files' names; None: the machine's and the process's.
        use_gzip: whether they are compressed.
    Returns: a function of a profile.
    Raises: nothing itself; OSError from the handler, where the folder can't be written.
    Example:
        >>> import tempfile, os
        >>> folder = tempfile.mkdtemp()
        >>> handler = torch.profiler.tensorboard_trace_handler(folder, "me")
        >>> with torch.profiler.profile(on_trace_ready=handler):
        ...     y = torch.ones(2) + 1
        >>> os.listdir(folder)
        ['me...pt.trace.json']
    """

    def handler(prof: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        ending = ".gz" if use_gzip else ""
        name = f"{worker}.{time.time_ns()}.pt.trace.json{ending}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


_MEASURED: Final = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile:
    """A context that measures what runs inside, at the steps that `schedule` names.

    Call `step()` at the end of each step. `on_trace_ready(self)` is called whenever a cycle of the
    schedule has been measured, and at the end if something has been.

    Parameters:
        activities: the kinds of hardware; None: what there is.
        schedule: what is done at which step; None: all is measured.
        on_trace_ready: what is called with this object.
        record_shapes: whether the shapes of inputs are noted.
        profile_memory: whether memory is measured.
        with_stack: whether the lines of the program are noted.
        with_flops: whether operations on numbers are counted.
        with_modules: whether the modules are noted.
        acc_events: whether the events of all cycles are kept.
        use_cuda: deprecated: kinds of hardware are named by `activities`.
        experimental_config, execution_trace_observer, custom_trace_id_callback: accepted: they are
            for other hardware.
        post_processing_timeout_s: accepted: it is for other hardware, too.
    Raises: TypeError: for activities that can't be gone through.
    Example:
        >>> with torch.profiler.profile() as prof:
        ...     y = torch.ones(2).exp()
        >>> "aten::exp" in [event.key for event in prof.key_averages()]
        True
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., object] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: object = None,
        execution_trace_observer: object = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: object = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.activities = set(activities) if activities else supported_activities()
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning,
                 stacklevel=2)  # fmt: skip
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        self.schedule = _always if schedule is None else schedule
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.acc_events = acc_events
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.step_rec_fn: Any = None
        self.profiler: _profiler.profile | None = None
        self.preset_metadata: dict[str, Any] = {}

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begins at step 0."""
        self._enter_action()
        self._enter_step()

    def stop(self) -> None:
        """Ends; what is being measured is handed to `on_trace_ready`."""
        self._leave_step()
        if self.current_action in _MEASURED:
            self._finish()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        elif self.current_action is ProfilerAction.WARMUP:
            self._finish()

    def step(self) -> None:
        """Says that a step has ended and the next one begins."""
        self._leave_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._finish()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
            self._enter_action()
        elif before not in _MEASURED or self.current_action not in _MEASURED:
            self._finish()
            self._enter_action()
        self._enter_step()

    def _enter_action(self) -> None:
        if self.current_action not in _MEASURED:
            return
        before = self.profiler
        if before is not None and not self.acc_events:
            warn(
                "Warning: Profiler clears events at the end of each cycle. Only events from the "
                "current cycle will be reported. To keep events across cycles, set "
                "acc_events=True.",
                stacklevel=3,
            )
        self.profiler = _profiler.profile(
            record_shapes=self.record_shapes,
            profile_memory=self.profile_memory,
            with_stack=self.with_stack,
            with_flops=self.with_flops,
            with_modules=self.with_modules,
        )
        if self.acc_events and before is not None:
            self.profiler.recorder.events.extend(before.recorder.events)
        self.profiler._start()

    def _finish(self) -> None:
        if self.profiler is not None and self.profiler.running:
            self.profiler._stop()

    def _enter_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = _profiler.record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _leave_step(self) -> None:
        if self.record_steps and self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def set_custom_trace_id_callback(self, callback: Callable[..., object]) -> None:
        """Takes a function that names traces; names aren't used here."""

    def get_trace_id(self) -> str | None:
        """The name of the trace: none."""
        return None

    def toggle_collection_dynamic(self, enable: bool, activities: object) -> None:
        """Stops, or goes on with, writing events down."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def _running(self, purpose: str) -> _profiler.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {purpose}")
        return self.profiler

    def events(self) -> EventList:
        """The events of the last cycle, in the order in which they began."""
        return self._running("accessing events").function_events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """The sums of all events with the same name (and shapes)."""
        return self._running("getting key averages").key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events to a file that Perfetto and chrome://tracing open."""
        taken = self._running("exporting chrome trace")
        write_trace(path, taken.function_events._records, self.preset_metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes one line per stack, for flame graphs. Takes a profile `with_stack`."""
        self._running("exporting stacks").export_stacks(path, metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a string to the trace file."""
        self.preset_metadata[key] = value.replace('"', '\\"')

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds a JSON value to the trace file."""
        self.preset_metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """As `add_metadata_json`."""
        self.add_metadata_json(key, value)
