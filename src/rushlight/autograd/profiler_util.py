"""Events of a profile, sums of them by name, and the tables that are printed of both."""

from __future__ import annotations

import json
import os
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from .._base.atomic_files import write_whole
from .._base.notebook_forms import preformat

MEMORY_EVENT_NAME: Final = "[memory]"


class Interval:
    """A span of time in microseconds."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """Its length."""
        return self.end - self.start


def _format_time(time_us: float) -> str:
    """A time with the unit that fits: `1.234ms`."""
    if time_us >= 1e6:
        return f"{time_us / 1e6:.3f}s"
    if time_us >= 1e3:
        return f"{time_us / 1e3:.3f}ms"
    return f"{time_us:.3f}us"


def _format_time_share(time_us: float, total_time_us: float) -> str:
    if total_time_us == 0:
        return "NaN"
    return f"{time_us * 100.0 / total_time_us:.2f}%"


def _format_memory(nbytes: int) -> str:
    for power, unit in ((30, "GB"), (20, "MB"), (10, "KB")):
        if abs(nbytes) >= 1 << power:
            return f"{nbytes / (1 << power):.2f} {unit}"
    return f"{nbytes} B"


class _Times:
    """What events and sums of events have in common: averages, and times as text."""

    count: int
    cpu_time_total: float
    self_cpu_time_total: float

    @property
    def cpu_time(self) -> float:
        """The average time of a call."""
        return 0.0 if self.count == 0 else self.cpu_time_total / self.count

    @property
    def cpu_time_str(self) -> str:
        """It, as text."""
        return _format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """The whole time, as text."""
        return _format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """The time outside of children, as text."""
        return _format_time(self.self_cpu_time_total)

    # There is no other device.
    device_time = device_time_total = self_device_time_total = 0.0
    device_memory_usage = self_device_memory_usage = 0
    device_time_str = device_time_total_str = self_device_time_total_str = "0.000us"


class FunctionEvent(_Times):
    """One call: its name, its time, what it was called in."""

    def __init__(
        self, id: int, name: str, thread: int, start_us: float, end_us: float,
        overload_name: str | None = None, fwd_thread: int | None = None,
        input_shapes: object = None, stack: list[str] | None = None, scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: int = 0, device_memory_usage: int = 0, is_async: bool = False,
        is_remote: bool = False, sequence_nr: int = -1, node_id: int = -1,
        device_type: object = None, device_index: int = 0, device_resource_id: int | None = None,
        is_legacy: bool = False, flops: int | None = None, trace_name: str | None = None,
        concrete_inputs: object = None, kwinputs: object = None, is_user_annotation: bool = False,
    ) -> None:  # fmt: skip
        self.id = id
        # All steps are one row of a table.
        self.name: str = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.key: str = self.name
        self.overload_name = overload_name
        self.node_id = node_id
        self.trace_name = trace_name
        self.time_range = Interval(start_us, end_us)
        self.thread = thread
        self.fwd_thread = fwd_thread
        self.kernels: list[Any] = []
        self.count = 1
        self.cpu_children: list[FunctionEvent] = []
        self._parent: Any = None  # weak: a list of events goes with its last reference
        self.input_shapes: Any = input_shapes
        self.concrete_inputs: Any = concrete_inputs
        self.kwinputs: Any = kwinputs
        self.stack = stack
        self.scope = scope
        self.use_device = use_device
        self._bytes = cpu_memory_usage
        self.is_async = is_async
        self.is_remote = is_remote
        self.sequence_nr = sequence_nr
        self.device_type: Any = DeviceType.CPU if device_type is None else device_type
        self.device_index = device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.is_legacy = is_legacy
        self.is_user_annotation = is_user_annotation
        self.flops = flops
        self.self_cpu_percent = -1.0
        self.total_cpu_percent = -1.0

    @classmethod
    def of(cls, source: Any, id: int, origin: int, thread: int) -> FunctionEvent:
        """The event of a record; times count from `origin`."""
        return cls(
            id, source.name, thread, (source.start - origin) / 1e3, (source.end - origin) / 1e3,
            "", source.forward_thread, source.shapes, source.stack, source.scope,
            cpu_memory_usage=source.bytes, is_async=source.is_async, sequence_nr=source.sequence,
            device_index=-1, flops=source.flops, trace_name=source.name, concrete_inputs=[],
            kwinputs={},
            is_user_annotation=source.category == "user_annotation",
        )  # fmt: skip

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Notes an event that was called in this one."""
        self.cpu_children.append(child)
        child._parent = weakref.ref(self)

    @property
    def cpu_parent(self) -> FunctionEvent | None:
        """The event that it was called in."""
        return None if self._parent is None else self._parent()

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Its time, with its children's."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Its time without its children's; none of its thread where it went on aside."""
        if self.is_async:
            return 0.0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """The memory of its own results."""
        return self._bytes

    @property
    def cpu_memory_usage(self) -> int:
        """The memory of its results and its children's."""
        return self._bytes + sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} None_time=0.000us "
            f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} None_memory_usage=0 "
            f"is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} "
            f"is_legacy={self.is_legacy}>"
        )


class DeviceType:
    """Where an event ran.

    Example:
        >>> torch.profiler.DeviceType.CPU
        DeviceType.CPU
    """

    class _CPU:
        name = "CPU"

        def __repr__(self) -> str:
            return "DeviceType.CPU"

    CPU: Final = _CPU()


class FunctionEventAvg(_Times):
    """The sum of all events of one name."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.node_id = 0
        self.is_async = False
        self.is_remote = False
        self.use_device = None
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: list[str] | None = None
        self.scope: int | None = None
        self.cpu_memory_usage = 0
        self.self_cpu_memory_usage = 0
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.device_type = DeviceType.CPU
        self.is_legacy = False
        self.is_user_annotation = False
        self.flops = 0
        self.self_cpu_percent = 0.0
        self.total_cpu_percent = 0.0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Adds an event, or another sum of the same key."""
        if self.key is None:
            self.key = other.key
            self.node_id = other.node_id
            self.is_async = other.is_async
            self.is_remote = other.is_remote
            self.cpu_parent = other.cpu_parent
            self.cpu_children = other.cpu_children
            self.overload_name = other.overload_name
            self.input_shapes = other.input_shapes
            self.stack = other.stack
            self.scope = other.scope
            self.is_user_annotation = other.is_user_annotation
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.count += other.count
        self.flops += other.flops or 0
        return self

    def __iadd__(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        return self.add(other)

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_cuda_time=0.000us cuda_time=0.000us "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            "cuda_memory_usage=0>"
        )


class EventList(list[Any]):
    """Events, or sums of them."""

    def __init__(self, events: Any = (), profile_memory: bool = False, with_flops: bool = False,
                 records: object = ()) -> None:  # fmt: skip
        super().__init__(events)
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._records = records
        self._whole: EventList | None = None  # of sums: the events that they are of

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return preformat(self.table())

    def _populate_cpu_children(self) -> None:
        """Ties each event to the smallest one of its thread that it lies in."""
        by_thread: dict[tuple[Any, ...], list[FunctionEvent]] = defaultdict(list)
        for event in self:
            if not event.is_async and event.device_type is DeviceType.CPU:
                by_thread[event.thread, event.node_id].append(event)
        for events in by_thread.values():
            around: list[FunctionEvent] = []
            for event in sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end)):
                time = event.time_range
                while around and (
                    time.start >= around[-1].time_range.end or time.end > around[-1].time_range.end
                ):
                    around.pop()
                if around:
                    around[-1].append_cpu_child(event)
                around.append(event)

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events outside of their children."""
        return float(sum(event.self_cpu_time_total for event in self))

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as a table of text, the largest first where `sort_by` names a number."""
        return _table(
            self, sort_by, row_limit, max_src_column_width, max_name_column_width,
            max_shapes_column_width, header, top_level_events_only, time_unit,
        )  # fmt: skip

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """The sums of all events with the same name (and shapes, and lines of the stack)."""
        sums: dict[tuple[Any, ...], FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            key: tuple[Any, ...] = (event.key, event.node_id, event.is_async, event.scope)
            if group_by_input_shapes:
                key += (str(event.input_shapes),)
            if group_by_stack_n > 0:
                key += tuple(event.stack[:group_by_stack_n])
            sums[key].add(event)
        made = EventList(sums.values(), self._profile_memory, self._with_flops)
        for found in made:
            found.stack = (found.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                found.input_shapes = ""
            if not group_by_overload_name:
                found.overload_name = ""
        return made

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        total = FunctionEventAvg()
        for event in self:
            total += event
            total.key = None
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events to a file that Perfetto and chrome://tracing open."""
        write_trace(path, self._records, {})

    def export_stacks(self, path: str, metric: str) -> None:
        """Writes one line per stack, with the sum of a number, for flame graphs.

        Raises:
            ValueError: for another number than the self times.
        """
        if metric not in ("self_cpu_time_total", "self_cuda_time_total", "self_device_time_total"):
            raise ValueError("metric should be one of: self_cpu_time_total")
        lines = []
        for event in self:
            if event.stack:
                value = int(getattr(event, metric, 0))
                if value > 0:
                    frames = ";".join(line.replace(" ", "_").replace(";", "_")
                                      for line in reversed(event.stack))  # fmt: skip
                    lines.append(f"{frames} {value}\n")
        text = "".join(lines).encode()
        write_whole(path, lambda file: file.write(text))

    def supported_export_stacks_metrics(self) -> list[str]:
        """What `export_stacks` may sum."""
        return ["self_cpu_time_total", "self_cuda_time_total"]


def _time_column(unit: str | None) -> Callable[[float], str]:
    if unit is None:
        return _format_time
    scale = {"s": 1e6, "ms": 1e3, "us": 1.0}[unit]
    return lambda time_us: f"{time_us / scale:.3f}{unit}"


def _table(events: EventList, sort_by: str | None, row_limit: int, source_width: int,
           name_width: int, shapes_width: int, header: str | None, top_level: bool,
           unit: str | None) -> str:  # fmt: skip
    if not events:
        return ""
    shown = list(events)
    if sort_by is not None:
        key = sort_by.replace("cuda", "device")
        shown.sort(key=lambda event: getattr(event, key), reverse=True)
    timed = _time_column(unit)
    name_column = max(len(event.key) for event in shown) + 4
    name_column = min(name_column, name_width)
    with_shapes = any(e.input_shapes is not None and len(e.input_shapes) > 0 for e in shown)
    shapes_column = min(max(len(str(e.input_shapes)) for e in shown) + 4, shapes_width)
    with_stack = any(e.stack for e in shown)
    stack_column = 0
    if with_stack:
        longest = max(max((len(line) for line in e.stack), default=0) for e in shown if e.stack)
        stack_column = min(longest + 4, source_width)
    headers = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    if events._profile_memory:
        headers += ["CPU Mem", "Self CPU Mem"]
    headers.append("# of Calls")
    widths = [name_column] + [12] * (len(headers) - 1)
    if with_shapes:
        headers.append("Input Shapes")
        widths.append(shapes_column)
    if with_stack:
        headers.append("Source Location")
        widths.append(stack_column)
    flops_unit = 1.0
    if events._with_flops:
        counted = [e.flops for e in shown if e.flops > 0]
        if counted:
            power = min(max(len(str(int(min(counted)))) - 1, 0) // 3, 8)
            flops_unit = 1000.0**power
            headers.append(f"Total {['', *'KMGTPEZY'][power]}FLOPs")
            widths.append(12)
    left = {"Input Shapes": False, "Source Location": True}
    rule = "  ".join("-" * w for w in widths) + "  "

    def line(cells: list[str]) -> str:
        pieces = []
        for title, width, cell in zip(headers, widths, cells):
            pieces.append(cell.ljust(width) if left.get(title, False) else cell.rjust(width))
        return "  ".join(pieces) + "  "

    lines: list[str] = []
    if header is not None:
        lines += ["=" * len(rule), header]
    if top_level:
        lines += ["=" * len(rule), "This report only display top-level ops statistics"]
    lines += [rule, line(headers), rule]
    total = sum(event.self_cpu_time_total for event in events)
    count = 0
    for event in shown:
        if top_level and event.cpu_parent is not None:
            continue
        if count == row_limit and row_limit >= 0:
            break
        count += 1
        name = event.key
        if len(name) >= name_width - 3:
            name = name[: name_width - 3] + "..."
        cells = [
            name,
            _format_time_share(event.self_cpu_time_total, total),
            timed(event.self_cpu_time_total),
            _format_time_share(event.cpu_time_total, total),
            timed(event.cpu_time_total),
            timed(event.cpu_time),
        ]
        if events._profile_memory:
            cells += [_format_memory(event.cpu_memory_usage),
                      _format_memory(event.self_cpu_memory_usage)]  # fmt: skip
        cells.append(str(event.count))
        if with_shapes:
            cells.append(str(event.input_shapes)[:shapes_column])
        more: list[str] = []
        if with_stack:
            found = list(event.stack or [])
            cells.append(_cut(found[0], stack_column) if found else "")
            more = found[1:]
        if flops_unit > 1.0 or "FLOPs" in headers[-1]:
            cells.append(f"{event.flops / flops_unit:8.3f}" if event.flops > 0 else "--")
        lines.append(line(cells))
        if more:
            blank = [""] * (len(headers) - 1 - (1 if "FLOPs" in headers[-1] else 0))
            for place in more:
                lines.append(line([*blank, _cut(place, stack_column)]))
            lines.append(line([""] * len(headers)))
    lines += [rule, f"Self CPU time total: {timed(total)}", ""]
    return "\n".join(lines)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else "..." + text[-(width - 3) :]


def link_events(records: list[Any], memory: bool, flops: bool) -> EventList:
    """The events of a recorder, tied to each other."""
    done = [record for record in records if record.end]
    origin = min((record.start for record in done), default=0)
    threads: dict[int, int] = {}
    made: dict[int, FunctionEvent] = {}
    events = EventList((), memory, flops, done)
    for k, record in enumerate(done):
        thread = threads.setdefault(record.thread, len(threads) + 1)
        event = FunctionEvent.of(record, k + 1, origin, thread)
        made[id(record)] = event
        events.append(event)
    for record in done:
        parent = made.get(id(record.parent)) if record.parent is not None else None
        if parent is not None:
            parent.append_cpu_child(made[id(record)])
    return events


def write_trace(path: str, records: Any, extra: dict[str, object]) -> None:
    """Writes a file in Chrome's Trace Event format; compressed where the name ends in `.gz`."""
    process = os.getpid()
    first = {"pid": process, "tid": 0, "ts": 0}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", **first, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", **first, "args": {"labels": "CPU"}},
    ]
    for thread in sorted({record.thread for record in records}):
        name = {"name": f"thread {thread} (python)"}
        events.append({"ph": "M", "name": "thread_name", **first, "tid": thread, "args": name})
    starts = {r.sequence: r for r in records if r.sequence >= 0 and not r.forward_thread
              and not r.name.startswith("autograd::engine")}  # fmt: skip
    for k, record in enumerate(records):
        arguments: dict[str, Any] = {"External id": k + 1, "Record function id": 0, "Ev Idx": k}
        if record.sequence >= 0:
            arguments["Sequence number"] = record.sequence
            arguments["Fwd thread id"] = record.forward_thread
        if record.shapes:
            arguments["Input Dims"] = record.shapes
            arguments["Input Strides"] = record.strides
            arguments["Input type"] = record.types
        if record.stack:
            arguments["Call stack"] = ";".join(record.stack)
        place = {"pid": process, "tid": record.thread, "ts": record.start / 1e3}
        length = (record.end - record.start) / 1e3
        if record.is_async:  # has a row of its own: such events overlap
            own = {"cat": record.category, "name": record.name, "id": k + 1}
            events.append({"ph": "b", **own, **place, "args": arguments})
            events.append({"ph": "e", **own, **place, "ts": record.end / 1e3})
            continue
        events.append({"ph": "X", "cat": record.category, "name": record.name, **place,
                       "dur": length, "args": arguments})  # fmt: skip
        if record.scope == 1 and record.sequence in starts:
            origin = starts[record.sequence]
            link = {"cat": "fwdbwd", "name": "fwdbwd", "id": record.sequence}
            events.append({"ph": "s", "pid": process, "tid": origin.thread,
                           "ts": origin.start / 1e3, **link})  # fmt: skip
            events.append({"ph": "f", **place, **link, "bp": "e"})
    content = {"schemaVersion": 1, "displayTimeUnit": "ms", "traceName": path, **extra,
               "traceEvents": events}  # fmt: skip
    data = json.dumps(content).encode()
    if path.endswith(".gz"):
        import gzip

        data = gzip.compress(data)
    write_whole(path, lambda file: file.write(data))


__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]
