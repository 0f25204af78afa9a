"""One implementation in a process of its own: programs come in, what each statement shows goes out.

    python -m tests.compare.fuzz.child torch|rushlight

Messages are pickles behind their length. In comes a list of programs, each a list of statements;
for each program goes out a list with a `Step` (as a plain tuple) for each statement, and one for
the graph that is there at the end.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pickle
import re
import struct
import sys
import types
import warnings
from typing import Any, BinaryIO

LONGEST = 4096  # elements of a tensor whose values are told
PLAIN = (bool, int, float, complex, str, bytes, type(None))
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")

# A step: what the statement raised (type, text) or None; warnings; what was printed; the states of
# the variables that are new or other than before; the names of those that are gone.
Step = tuple[
    "tuple[str, str] | None", list[tuple[str, str]], str, dict[str, dict[str, Any]], list[str]
]


class Observer:
    """Looks at variables without changing them."""

    def __init__(self, torch: types.ModuleType) -> None:
        self.torch = torch

    def step(
        self, names: dict[str, Any], before: dict[str, Any]
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """The states that are other than `before`, which is brought up to date."""
        places: dict[int, str] = {}
        changed: dict[str, dict[str, Any]] = {}
        seen = set()
        for name, value in list(names.items()):
            if name.startswith("_") or name == "torch":
                continue
            for part, item in self.parts(name, value):
                seen.add(part)
                state = self.state(part, item, places)
                if before.get(part) != state:
                    before[part] = changed[part] = state
        gone = [part for part in before if part not in seen]
        for part in gone:
            del before[part]
        return changed, gone

    def parts(self, name: str, value: Any, depth: int = 0) -> list[tuple[str, Any]]:
        """The variable itself, or its items where it is a sequence."""
        if isinstance(value, (list, tuple)) and depth < 2 and not self.is_size(value):
            found: list[tuple[str, Any]] = [(name, f"{type(value).__name__} of {len(value)}")]
            for number, item in enumerate(value[:8]):
                found += self.parts(f"{name}[{number}]", item, depth + 1)
            return found
        return [(name, value)]

    def is_size(self, value: Any) -> bool:
        return type(value).__name__ == "Size"

    def state(self, name: str, value: Any, places: dict[int, str]) -> dict[str, Any]:
        if isinstance(value, self.torch.Tensor):
            return self.tensor_state(name, value, places)
        if isinstance(value, PLAIN):
            return {"value": value, "class": type(value).__name__}
        if self.is_size(value) or type(value).__name__ in ("dtype", "device", "layout"):
            return {"value": repr(value)}
        if isinstance(value, dict):
            return {"value": sorted(map(str, value))}
        return {"class": type(value).__name__}

    def tensor_state(self, name: str, t: Any, places: dict[int, str]) -> dict[str, Any]:
        with self.torch.no_grad():
            state: dict[str, Any] = {
                "class": type(t).__name__,
                "dtype": str(t.dtype),
                "shape": tuple(t.shape),
                "requires_grad": told(lambda: t.requires_grad),
                "is_leaf": told(lambda: t.is_leaf),
                "version": told(lambda: t._version) if not t.is_inference() else "inference",
                "node": told(lambda: node_name(t.grad_fn)),
                "output_nr": told(lambda: t.output_nr),
                "is_view": told(lambda: t._is_view()),
            }
            if str(t.layout) == "torch.strided":
                empty = t.numel() == 0
                state["stride"] = (
                    None if empty else tuple(s for s, n in zip(t.stride(), t.shape) if n != 1)
                )
                state["offset"] = None if empty else t.storage_offset()
                state["shares"] = None if empty else self.place(name, t, places)
                state["values"] = values(t)
            state["grad"] = told(lambda: self.grad_state(t))
            return state

    def place(self, name: str, t: Any, places: dict[int, str]) -> Any:
        """The first variable that lies in the same memory."""
        try:
            return places.setdefault(t.untyped_storage().data_ptr(), name)
        except Exception as error:
            return type(error).__name__

    def grad_state(self, t: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            g = t.grad
        if g is None:
            return None
        return (str(g.dtype), tuple(g.shape), g.requires_grad, node_name(g.grad_fn), values(g))

    def graph(self, names: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The nodes behind each variable, three deep. Nodes may be taken apart by the look."""
        found = {}
        for name, value in list(names.items()):
            if name.startswith("_") or not isinstance(value, self.torch.Tensor):
                continue
            found[name] = {"graph": told(lambda value=value: walked(value.grad_fn, 3))}
        return found


def told(look: Any) -> Any:
    """What the look gives, or the error that it raises."""
    try:
        return look()
    except Exception as error:
        return f"{type(error).__name__}: {masked(str(error))}"


def node_name(node: Any) -> str | None:
    return None if node is None else type(node).__name__


def walked(node: Any, depth: int) -> Any:
    if node is None:
        return None
    if depth == 0:
        return node_name(node)
    return (node_name(node), tuple(walked(n, depth - 1) for n, _ in node.next_functions))


def values(t: Any) -> Any:
    try:
        if t.numel() > LONGEST:
            return f"{t.numel()} elements"
        return t.detach().tolist()
    except Exception as error:
        return f"{type(error).__name__}: {masked(str(error))}"


def masked(text: str) -> str:
    """`text` without addresses, and without what C++ adds behind a message, or blanks."""
    text = text.split("\nException raised from")[0]
    text = re.sub(r"\s*\(Triggered internally at [^)]*\)", "", text)
    return ADDRESS.sub("0x", text).rstrip()


def settle(torch: types.ModuleType) -> None:
    """Puts everything back that a program may have left behind."""
    torch.set_grad_enabled(True)
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    torch.manual_seed(0)


def run(program: list[str], torch: types.ModuleType, observer: Observer) -> list[Step]:
    """What each statement of a program shows."""
    settle(torch)
    names: dict[str, Any] = {"torch": torch, "__name__": "program"}
    before: dict[str, Any] = {}
    steps: list[Step] = []
    for statement in program:
        raised = None
        printed = io.StringIO()
        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
            warnings.simplefilter("always")
            try:
                exec(compile(statement, "<program>", "exec"), names)
            except Exception as error:
                raised = (type(error).__name__, masked(str(error)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            changed, gone = observer.step(names, before)
        said = [(w.category.__name__, masked(str(w.message))) for w in caught]
        steps.append((raised, said, masked(printed.getvalue()), changed, gone))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps.append((None, [], "", observer.graph(names), []))
    return steps


def send(pipe: BinaryIO, message: Any) -> None:
    data = pickle.dumps(message)
    pipe.write(struct.pack("<I", len(data)) + data)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    head = pipe.read(4)
    if len(head) < 4:
        raise EOFError
    return pickle.loads(pipe.read(struct.unpack("<I", head)[0]))


def bound_memory(gigabytes: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(name: str) -> None:
    """Answers until its input ends."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what C++ prints is no result
    bound_memory(12)
    torch = importlib.import_module(name)
    sys.modules["torch"] = torch
    torch.set_num_threads(1)
    torch.set_warn_always(True)
    torch.storage._set_always_warn_typed_storage_removal(True)
    observer = Observer(torch)
    send(results, getattr(torch, "__file__", name))
    with contextlib.suppress(EOFError):
        while True:
            for program in receive(sys.stdin.buffer):
                send(results, run(program, torch, observer))


if __name__ == "__main__":
    main(sys.argv[1])
