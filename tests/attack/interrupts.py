"""Ctrl-C at every place where Python asks for signals: contexts leave the mode as it was.

`at_every_place` raises KeyboardInterrupt at each place of the package's own code, one after the
other, where the interpreter would: at the entry of a function, and after a call. `storm` lets a
timer do so at random. One place can't be defended, in PyTorch neither: the entry of
`__exit__` itself. The first leaves it out; the second tells how often it was hit.
"""

from __future__ import annotations

import argparse
import dis
import random
import signal
import sys
import warnings
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from rushlight.overrides import TorchFunctionMode

import rushlight as torch
from rushlight._core.mode import CURRENT, STARTING, Mode
from rushlight._core.run import RUNNING
from rushlight._tensor.torch_function import _off
from rushlight.amp import switches
from rushlight.autograd import forward_ad
from rushlight.utils._python_dispatch import TorchDispatchMode


class FunctionMode(TorchFunctionMode):
    """Changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class DispatchMode(TorchDispatchMode):
    """Changes nothing."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _keep(t: Any) -> Any:
    return t


X = torch.ones(3, requires_grad=True)

devices = sys.modules["rushlight._base.device"]  # of that name there is a class too

CONTEXTS: dict[str, Callable[[], Any]] = {
    "no_grad": torch.no_grad,
    "enable_grad": torch.enable_grad,
    "set_grad_enabled": lambda: torch.set_grad_enabled(False),
    "inference_mode": torch.inference_mode,
    "inference_mode off": lambda: torch.inference_mode(False),
    "autocast": lambda: torch.autocast("cpu"),
    "device": lambda: torch.device("meta"),
    "saved_tensors_hooks": lambda: torch.autograd.graph.saved_tensors_hooks(_keep, _keep),
    "save_on_cpu": torch.autograd.graph.save_on_cpu,
    "disable_saved_tensors_hooks": lambda: torch.autograd.graph.disable_saved_tensors_hooks("off"),
    "allow_mutation": torch.autograd.graph.allow_mutation_on_saved_tensors,
    "detect_anomaly": torch.autograd.detect_anomaly,
    "set_detect_anomaly": lambda: torch.autograd.set_detect_anomaly(True),
    "dual_level": forward_ad.dual_level,
    "function mode": FunctionMode,
    "dispatch mode": DispatchMode,
    "DisableTorchFunctionSubclass": torch._C.DisableTorchFunctionSubclass,
    "set_multithreading_enabled": lambda: torch.autograd.set_multithreading_enabled(False),
}


def _work() -> None:
    x = torch.ones(3, requires_grad=True)
    torch.rand(3)
    (x * x).sum()


def _differentiate() -> None:
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda g: None)
    (x * x).sum().backward()


def _create_graph() -> None:
    x = torch.ones(3, requires_grad=True)
    (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    g.sum().backward()


def _write_out() -> None:
    torch.add(torch.ones(2), 1, out=torch.empty(2))


@torch.no_grad()
def _decorated() -> None:
    torch.ones(3)


@torch.inference_mode()
def _generator() -> Any:
    yield torch.ones(3)
    yield torch.ones(3)


def _vmapped() -> None:
    torch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.ones(2, 3))


def _pushed() -> None:
    torch.func.jvp(lambda x: x.sin(), (torch.ones(2),), (torch.ones(2),))


CALLS: dict[str, Callable[[], Any]] = {
    "backward": _differentiate, "create_graph": _create_graph, "out=": _write_out,
    "a decorated function": _decorated, "a decorated generator": lambda: list(_generator()),
    "vmap": _vmapped, "jvp": _pushed,
}  # fmt: skip


def _inside(context: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        with context():
            pass

    return run


#: Of a mode; the compiled class doesn't tell its slots.
SWITCHES = [name for name in dir(Mode) if name[0] != "_"]

#: They switch as soon as they are made, before anything could guard them, in PyTorch too.
AT_ONCE = {"set_grad_enabled", "set_detect_anomaly", "set_multithreading_enabled"}

SCENES: dict[str, Callable[[], None]] = {
    **{name: _inside(context) for name, context in CONTEXTS.items()},
    **CALLS,
}


def state() -> tuple[Any, ...]:
    """All that contexts switch."""
    mode = CURRENT.get()
    return (
        *(getattr(mode, name) for name in SWITCHES),
        torch.get_default_device(), switches.snapshot()[0].enabled,
        switches.snapshot()[0].nesting, len(forward_ad.LEVELS), STARTING.anomaly,
        _off.get(), RUNNING.get(),
    )  # fmt: skip


def _handlers(code: CodeType) -> Callable[[int], int | None]:
    table = dis._parse_exception_table(code)  # type: ignore[attr-defined]

    def handler(at: int) -> int | None:
        return next((e.target for e in table if e.start <= at < e.end), None)

    return handler


class _Raiser:
    """Raises at the n-th place; counts the places."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.seen = 0
        self.where = ""
        self.names: dict[CodeType, dict[int, str]] = {}
        self.last: dict[FrameType, int] = {}

    def _reached(self, frame: FrameType) -> None:
        self.seen += 1
        if self.seen == self.place:
            code = frame.f_code
            self.where = f"{code.co_filename.rpartition('rushlight/')[2]}:{frame.f_lineno} " \
                         f"{code.co_name}"  # fmt: skip
            raise KeyboardInterrupt

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if "/rushlight/" not in code.co_filename:
            return None
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            if code.co_name not in ("__exit__", "__del__") and not code.co_flags & 0x20:
                self._reached(frame)
        elif event == "opcode":
            if code not in self.names:
                self.names[code] = {i.offset: i.opname for i in dis.get_instructions(code)}
            at, before = frame.f_lasti, self.last.get(frame)
            self.last[frame] = at
            if before is not None:
                kind = self.names[code].get(before, "")
                handler = _handlers(code)
                # The interpreter asks at the end of the call: where the exception goes is decided
                # there.
                if kind in ("CALL", "CALL_FUNCTION_EX") and handler(before) == handler(at):
                    self._reached(frame)
        elif event == "return":
            self.last.pop(frame, None)
        return self


def at_every_place(scene: Callable[[], Any], most: int = 100_000) -> tuple[int, list[str]]:
    """How many places there are, and those after which something stays switched."""
    broken: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene()
        before = state()
        for place in range(1, most + 1):
            raiser = _Raiser(place)
            former = sys.gettrace()
            sys.settrace(raiser)
            try:
                scene()
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(former)
            if raiser.seen < place:
                return place - 1, broken
            if state() != before:
                broken.append(raiser.where)
                _mend()
    return most, broken


def _mend() -> None:
    from rushlight._core.mode import READY

    CURRENT.set(READY)
    RUNNING.set(None)
    forward_ad.LEVELS.clear()
    STARTING.anomaly = False
    devices._default.set(None)
    devices._before.set(())
    _off.set(False)
    switches._switches.set(switches._AT_START)


def traceback_frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """The frames of an exception, each with the instruction at which it was left."""
    found = []
    trace = error.__traceback__
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def storm(scene: Callable[[], Any], count: int, seed: int) -> tuple[int, int, int]:
    """Interrupts at random times: how many, at the entry of an `__exit__`, and what is broken."""
    chance = random.Random(seed)
    scene()
    before = state()
    hits = entries = broken = 0

    def ring(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, ring)
    try:
        while hits < count:
            error: BaseException | None = None
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(2e-5, 3e-4))
                while True:
                    scene()
            except KeyboardInterrupt as caught:
                error = caught
            hits += 1
            frames = [(f.f_code, at) for f, at in traceback_frames(error)]
            # Inference mode ends with its object, which the traceback's frames hold.
            error.__traceback__ = None
            del error
            if state() != before:
                places = [
                    code.co_name for code, at in frames
                    if code.co_name == "__exit__" and at <= 2
                ]  # fmt: skip
                entries += bool(places)
                broken += not places
                _mend()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    return hits, entries, broken


def main() -> int:
    """Runs both attacks on every scene."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    failed = 0
    warnings.simplefilter("ignore")
    for name, scene in SCENES.items():
        if given.only not in name:
            continue
        places, broken = at_every_place(scene)
        hits, entries, lost = storm(scene, given.count, given.seed)
        if name not in AT_ONCE:
            failed += len(broken) + lost
        promised = " (not promised)" if name in AT_ONCE else ""
        print(
            f"{name}{promised}: {places} places, {len(broken)} broken {sorted(set(broken))[:4]}; "
            f"{hits} at random, {lost} broken, {entries} at the entry of __exit__",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
