"""What a step does beside computing is done in every call, and `explain` says where it is done."""

import array
import collections
import contextlib
import dataclasses
import functools
import inspect
import io
import itertools
import logging
import os
import random
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim

COUNTED = 0


class Holder:
    shared = 0

    def __init__(self) -> None:
        self.n = 0
        self.rate = 1.0
        self.tensor: Any = torch.zeros(2)
        self.entries: dict[Any, Any] = {}


class Slotted:
    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0


def appended() -> Any:
    seen: list[int] = []

    def step(x: Any) -> Any:
        seen.append(1)
        return x * 2

    return step, lambda: len(seen)


def appended_by_another_name() -> Any:
    seen: list[int] = []
    note = seen.append

    def step(x: Any) -> Any:
        note(1)
        return x * 2

    return step, lambda: len(seen)


def appended_by_a_partial() -> Any:
    seen: list[int] = []
    note = functools.partial(seen.append, 1)

    def step(x: Any) -> Any:
        note()
        return x * 2

    return step, lambda: len(seen)


def popped() -> Any:
    left = list(range(40))

    def step(x: Any) -> Any:
        return x * left.pop()

    return step, lambda: left


def popped_from_a_dict() -> Any:
    left = {k: k for k in range(40)}

    def step(x: Any) -> Any:
        return x * left.popitem()[1]

    return step, lambda: left


def swapped() -> Any:
    pair = [1.0, 2.0]

    def step(x: Any) -> Any:
        pair[0], pair[1] = pair[1], pair[0]
        return x * pair[0]

    return step, lambda: pair


def reordered() -> Any:
    table = collections.OrderedDict(a=1.0, b=2.0, c=3.0)

    def step(x: Any) -> Any:
        table.move_to_end(next(iter(table)))
        return x * next(iter(table.values()))

    return step, lambda: list(table)


def counted_in_a_global() -> Any:
    def step(x: Any) -> Any:
        global COUNTED
        COUNTED += 1
        return x * COUNTED

    globals()["COUNTED"] = 0
    return step, lambda: COUNTED


def counted_through_globals() -> Any:
    def step(x: Any) -> Any:
        globals()["COUNTED"] = globals()["COUNTED"] + 1
        return x * 2

    globals()["COUNTED"] = 0
    return step, lambda: COUNTED


def counted_in_an_attribute() -> Any:
    holder = Holder()

    def step(x: Any) -> Any:
        holder.n += 1
        holder.rate *= 0.5
        return x * holder.rate

    return step, lambda: (holder.n, holder.rate)


def counted_in_a_class() -> Any:
    class Own(Holder):
        shared = 0

    def step(x: Any) -> Any:
        Own.shared += 1
        return x * Own.shared

    return step, lambda: Own.shared


def counted_in_a_slot() -> Any:
    slotted = Slotted()

    def step(x: Any) -> Any:
        slotted.n += 1
        return x * slotted.n

    return step, lambda: slotted.n


def counted_in_a_function() -> Any:
    def step(x: Any) -> Any:
        step.n = getattr(step, "n", 0) + 1  # type: ignore[attr-defined]
        return x * 2

    return step, lambda: step.n  # type: ignore[attr-defined]


def counted_in_a_counter() -> Any:
    counter: Any = collections.Counter()

    def step(x: Any) -> Any:
        counter["n"] += 1
        counter.update(["m"])
        return x * counter["n"]

    return step, lambda: dict(counter)


def counted_by_a_property() -> Any:
    class Own(Holder):
        @property
        def scale(self) -> int:
            self.n += 1
            return self.n

    own = Own()

    def step(x: Any) -> Any:
        return x * own.scale

    return step, lambda: own.n


def counted_in_a_dataclass() -> Any:
    @dataclasses.dataclass
    class Own:
        n: int = 0

    own = Own()

    def step(x: Any) -> Any:
        own.n += 1
        return x * own.n

    return step, lambda: own


def counted_per_thread() -> Any:
    own = threading.local()
    own.n = 0

    def step(x: Any) -> Any:
        own.n += 1
        return x * 2

    return step, lambda: own.n


def counted_in_an_array() -> Any:
    numbers = array.array("d", [0.0])

    def step(x: Any) -> Any:
        numbers[0] += 1
        return x * numbers[0]

    return step, lambda: numbers[0]


def counted_in_bytes() -> Any:
    numbers = bytearray(1)

    def step(x: Any) -> Any:
        numbers[0] += 1
        return x * numbers[0]

    return step, lambda: bytes(numbers)


def counted_by_an_iterator() -> Any:
    count = itertools.count()

    def step(x: Any) -> Any:
        return x * next(count)

    return step, lambda: next(count)


def kept_tensors() -> Any:
    holder = Holder()

    def step(x: Any) -> Any:
        holder.tensor = holder.tensor * 0.5 + x
        return holder.tensor * 2

    return step, lambda: holder.tensor.tolist()


def kept_in_a_table() -> Any:
    holder = Holder()

    def step(x: Any) -> Any:
        holder.entries["last"] = x * 2
        return x

    return step, lambda: holder.entries["last"].tolist()


def replaced_buffer() -> Any:
    module = nn.Module()
    module.register_buffer("mean", torch.zeros(2))

    def step(x: Any) -> Any:
        module.mean = module.mean * 0.9 + x * 0.1
        return x - module.mean

    return step, lambda: module.mean.tolist()


def losses_listed() -> Any:
    losses: list[float] = []

    def step(x: Any) -> Any:
        losses.append(x.sum().item())
        return x

    return step, lambda: [(type(v).__name__, v) for v in losses]


def printed() -> Any:
    out = io.StringIO()

    def step(x: Any) -> Any:
        with contextlib.redirect_stdout(out):
            print("a")
        return x * 2

    return step, out.getvalue


def written_to_a_pipe() -> Any:
    read, write = os.pipe()

    def step(x: Any) -> Any:
        os.write(write, b"a")
        return x * 2

    def look() -> bytes:
        found = os.read(read, 100)
        os.close(read)
        os.close(write)
        return found

    return step, look


def logged() -> Any:
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger = logging.getLogger("rushlight.tests.effects")
    logger.handlers[:] = [Lines()]
    logger.setLevel(logging.INFO)
    logger.propagate = False

    def step(x: Any) -> Any:
        logger.info("step")
        return x * 2

    return step, lambda: lines


def drawn_from_python() -> Any:
    random.seed(1)

    def step(x: Any) -> Any:
        return x * random.choice([1.0, 2.0, 3.0, 4.0, 5.0])

    return step, random.random


def seeded_inside() -> Any:
    torch.manual_seed(1)

    def step(x: Any) -> Any:
        torch.manual_seed(3)
        return x + torch.rand(2)

    return step, lambda: torch.rand(1).item()


def another_default_type_inside() -> Any:
    def step(x: Any) -> Any:
        torch.set_default_dtype(torch.float64)
        made = torch.ones(2) / 3
        torch.set_default_dtype(torch.float32)
        return made + x

    return step, torch.get_default_dtype


def gradient_mode_left_behind() -> Any:
    def step(x: Any) -> Any:
        torch.set_grad_enabled(not torch.is_grad_enabled())
        return x * 2

    return step, torch.is_grad_enabled


def hooks_of_tensors() -> Any:
    seen: list[int] = []
    w = torch.ones(2, requires_grad=True)

    def step(x: Any) -> Any:
        w.grad = None
        y = w * x
        y.register_hook(lambda g: seen.append(1))
        y.sum().backward()
        return w.grad

    return step, lambda: len(seen)


def hooks_of_an_optimizer() -> Any:
    seen: list[int] = []
    w = torch.ones(2, requires_grad=True)
    rule = optim.SGD([w], lr=0.1)
    rule.register_step_post_hook(lambda *args: seen.append(1))

    def step(x: Any) -> Any:
        rule.zero_grad()
        (w * x).sum().backward()
        rule.step()
        return w.detach().clone()

    return step, lambda: len(seen)


def scheduled() -> Any:
    w = torch.ones(2, requires_grad=True)
    rule = optim.SGD([w], lr=0.1)
    schedule = optim.lr_scheduler.ExponentialLR(rule, 0.9)

    def step(x: Any) -> Any:
        rule.zero_grad()
        (w * x).sum().backward()
        rule.step()
        schedule.step()
        return w.detach().clone()

    return step, lambda: (rule.param_groups[0]["lr"], schedule.last_epoch)


def called_back() -> Any:
    seen: list[int] = []

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append(1)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(2)
            return g * 2

    w = torch.ones(2, requires_grad=True)

    def step(x: Any) -> Any:
        w.grad = None
        Doubled.apply(w * x).sum().backward()
        return w.grad

    return step, lambda: seen


def finalized() -> Any:
    seen: list[int] = []

    class Own:
        def __del__(self) -> None:
            seen.append(1)

    def step(x: Any) -> Any:
        Own()
        return x * 2

    return step, lambda: len(seen)


def held_weakly() -> Any:
    kept: list[Any] = []
    known: weakref.WeakSet[Any] = weakref.WeakSet()

    def step(x: Any) -> Any:
        kept.append(Holder())
        known.add(kept[-1])
        return x * 2

    return step, lambda: len(known)


EFFECTS = [
    appended, appended_by_another_name, appended_by_a_partial, popped, popped_from_a_dict, swapped,
    reordered, counted_in_a_global, counted_through_globals, counted_in_an_attribute,
    counted_in_a_class, counted_in_a_slot, counted_in_a_function, counted_in_a_counter,
    counted_by_a_property, counted_in_a_dataclass, counted_per_thread, counted_in_an_array,
    counted_in_bytes, counted_by_an_iterator, kept_tensors, kept_in_a_table, replaced_buffer,
    losses_listed, printed, written_to_a_pipe, logged, drawn_from_python, seeded_inside,
    another_default_type_inside, gradient_mode_left_behind, hooks_of_tensors,
    hooks_of_an_optimizer, scheduled, called_back, finalized, held_weakly,
]  # fmt: skip


@pytest.mark.parametrize("make", EFFECTS, ids=lambda make: make.__name__)
def test_no_effect_is_lost(make: Any) -> None:
    found = []
    for compiled in (False, True):
        torch.manual_seed(0)
        step, look = make()
        if compiled:
            step = torch.compile(step, options={"native": False})
        generator = torch.Generator().manual_seed(1)
        results = [step(torch.randn(2, generator=generator)).tolist() for _ in range(16)]
        found.append((results, look()))
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
    assert str(found[0]) == str(found[1])


def explained(step: Any, times: int = 14) -> list[str]:
    compiled = torch.compile(step)
    for _ in range(times):
        compiled(torch.ones(2))
    assert compiled.program is None
    text: str = compiled.explain()
    return text.splitlines()


def line_of(step: Any, text: str) -> int:
    lines, start = inspect.getsourcelines(step)
    return start + next(k for k, line in enumerate(lines) if text in line)


def test_a_reason_names_the_line_and_says_what_to_write_instead() -> None:
    losses: list[Any] = []

    def step(x: Any) -> Any:
        loss = x.sum()
        losses.append(loss)
        return losses[-1]

    first, why, advice, *_ = explained(step)
    assert first.endswith("runs eagerly")
    assert why.strip() == f"`losses` got or lost an entry ({__file__}:{line_of(step, 'append')})"
    assert "after the call" in advice


@pytest.mark.parametrize(
    ("kind", "reason", "advice"),
    [
        (printed, "calls `print`", "print it after"),
        (logged, "calls `logging.info`", "log it after"),
        (drawn_from_python, "calls `random.choice`", "torch.rand"),
        (kept_tensors, "`tensor` of `holder` was changed", "written in place"),
        (seeded_inside, "`manual_seed`", "outside of the step"),
        (counted_by_an_iterator, "an iterator", "as an argument"),
        (popped, "`left` got or lost", "after the call"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_each_kind_of_effect_has_its_reason_and_its_advice(
    kind: Any, reason: str, advice: str
) -> None:
    step, _ = kind()
    text = "\n".join(explained(step))
    assert reason in text
    assert advice in text


def test_the_clock_is_read_in_every_call() -> None:
    def step(x: Any) -> Any:
        return x * (time.perf_counter() - start)

    start = time.perf_counter()
    text = "\n".join(explained(step))
    assert "calls `time.perf_counter`" in text
    assert "around the call" in text


def test_a_file_is_written_in_every_call(tmp_path: Path) -> None:
    path = tmp_path / "log"

    def step(x: Any) -> Any:
        with path.open("a") as file:
            file.write(".")
        return x * 2

    text = "\n".join(explained(step, times=9))
    assert path.read_text() == "." * 9
    assert f"test_explain_effects.py:{line_of(step, 'path.open')}" in text
    assert "write files after the call" in text


def test_the_arguments_of_the_process_are_looked_at() -> None:
    def step(x: Any) -> Any:
        return x * len(sys.argv)

    compiled = torch.compile(step)
    before = list(sys.argv)
    try:
        for k in range(6):
            sys.argv[:] = ["program"] * (1 + k // 3)
            assert compiled(torch.ones(1)).item() == 1 + k // 3
    finally:
        sys.argv[:] = before
