"""Worlds side by side: one runs a program eagerly, others compiled, and all can be compared."""

from __future__ import annotations

import threading
import warnings
from contextlib import ExitStack
from typing import Any

import numpy as np

import rushlight as torch
from rushlight._compile.runtime import tiering as warming
from tests.attack.program import Program, Turn

#: How much results may differ by rounding, of the largest element: machine code sums otherwise.
ROUNDING = {"float64": 1e-7, "float32": 2e-3, "float16": 2e-2, "bfloat16": 1e-1}
_STATE = ("a", "b", "idx", "leaf", "kept", "knobs", "items", "memory")


class World:
    """One of the runs of a program."""

    def __init__(self, program: Program, mode: str) -> None:
        self.mode = mode  # "eager", "replayed", "native", or "shaken": eager, on values close by
        self.program = program
        self.names = program.namespace()
        exec(compile(program.source, f"<attack {program.seed}>", "exec"), self.names)
        step = self.names["raw"]
        if mode in ("replayed", "native"):
            step = torch.compile(step, options={"native": mode == "native"})
        self.step = step
        self.random = torch.get_rng_state()
        self.result: Any = None

    def take(self, turn: Turn, place: int) -> Any:
        """Makes one turn; all that can be seen afterwards."""
        torch.set_rng_state(self.random)
        for text in (turn.before, turn.change):
            try:
                exec(text, self.names)
            except Exception as error:
                self.names["said"] = f"{type(error).__name__}: {error}"
        if self.mode == "shaken":
            self._shake(place)
        self.result = None
        found = self._called(turn)
        self.random = torch.get_rng_state()
        return found, self._seen(), facts(self.random)

    def _called(self, turn: Turn) -> Any:
        found: list[Any] = []
        if turn.settings.get("thread"):
            thread = threading.Thread(target=lambda: found.append(self._call(turn)))
            thread.start()
            thread.join()
            return found[0]
        return self._call(turn)

    def _call(self, turn: Turn) -> Any:
        names, settings = self.names, turn.settings
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            mode = settings.get("grad", "yes")
            if mode == "inference":
                stack.enter_context(torch.inference_mode())
            stack.enter_context(torch.set_grad_enabled(mode == "yes"))
            if "autocast" in settings:
                stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
            default, threads = torch.get_default_dtype(), torch.get_num_threads()
            torch.set_default_dtype(getattr(torch, settings.get("default", "float32")))
            torch.set_num_threads(settings.get("threads", threads))
            try:
                self.result = self.step(names.get("a"), names.get("b"), names.get("idx"))
                return facts(self.result), self._shared(), self._backward(turn)
            except Exception as error:
                return f"{type(error).__name__}: {error}"
            finally:
                torch.set_default_dtype(default)
                torch.set_num_threads(threads)

    def _backward(self, turn: Turn) -> Any:
        """Differentiates results as a caller would."""
        if not turn.backward:
            return None
        live = [x for x in tensors(self.result) if x.requires_grad and x.is_floating_point()]
        try:
            for x in live[:1]:
                x.sum().backward()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return len(live)

    def _shared(self) -> Any:
        """Which results are tensors of the world's, or lie in their memory."""
        known = [x for name in _STATE for x in tensors(self.names.get(name))]
        return [
            [(x is y, np.shares_memory(x._raw, y._raw)) for y in known]
            for x in tensors(self.result)
        ]

    # ---- what is seen ----------------------------------------------------------------------------
    def held(self) -> dict[str, Any]:
        """Everything of the world that a step may change."""
        names = self.names
        found = {name: names.get(name) for name in _STATE}
        found["thing"] = dict(vars(names["thing"]))
        model = names["model"]
        found["model"] = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        found["gradients"] = [p.grad for p in model.parameters()]
        found["states"] = [dict(s) for s in names["optimizer"].state.values()]
        found["groups"] = [
            {k: v for k, v in g.items() if k != "params"} for g in names["optimizer"].param_groups
        ]
        found["leaf gradient"] = [
            x.grad for name in ("a", "b", "leaf") for x in tensors(names.get(name)) if x.is_leaf
        ]
        return found

    def _seen(self) -> Any:
        return {name: facts(x) for name, x in self.held().items()}

    def follow(self, other: World) -> None:
        """Takes over another's numbers: roundings of one call aren't carried to the next."""
        for mine, theirs in zip(tensors(self.held()), tensors(other.held())):
            if mine._raw.shape == theirs._raw.shape and mine._raw.dtype == theirs._raw.dtype:
                flag = mine._raw.flags.writeable
                if not np.array_equal(mine._raw, theirs._raw) and flag:
                    np.copyto(mine._raw, theirs._raw)

    def _shake(self, place: int) -> None:
        noise = np.random.default_rng(place)
        for x in tensors(self.held()):
            raw = x._raw
            if raw.dtype.kind == "f" and raw.flags.writeable and raw.size:
                size = {"float64": 1e-11, "float32": 3e-6}.get(raw.dtype.name, 0.0)
                with np.errstate(all="ignore"):
                    raw[...] = raw + (size * noise.standard_normal(raw.shape)).astype(raw.dtype)


def tensors(x: Any) -> list[Any]:
    """The tensors in something, in order."""
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, dict):
        return [t for y in x.values() for t in tensors(y)]
    return [t for y in x for t in tensors(y)] if isinstance(x, (list, tuple)) else []


def facts(x: Any) -> Any:
    """What can be seen of something, kept apart from it."""
    if isinstance(x, torch.Tensor):
        told = (str(x.dtype), tuple(x.shape), x.stride(), x.requires_grad, type(x).__name__)
        return "tensor", told, np.array(x._raw)
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, *[facts(y) for y in x]]
    if isinstance(x, dict):
        return {k: facts(v) for k, v in x.items()}
    if isinstance(x, (bool, int, float, str)) or x is None:
        return x
    return type(x).__name__


def rounded(world: World) -> str:
    """The type among those that the programs of a world compute in that rounds most."""
    values = [v for variant in world.step.variants for v in variant.program.values]
    names = {v.dtype.name for v in values} & ROUNDING.keys()
    return max(names, key=ROUNDING.__getitem__, default="float64")


def differs(x: Any, y: Any, rounding: str | None, path: str = "") -> str | None:
    """Where two things that were seen differ; None where they agree."""
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return None if close(x, y, rounding) else path
    if type(x) is not type(y):
        return path
    if isinstance(x, (list, tuple)):
        if len(x) != len(y):
            return path
        pairs: Any = enumerate(zip(x, y))
    elif isinstance(x, dict):
        if list(x) != list(y):
            return path
        pairs = ((k, (x[k], y[k])) for k in x)
    elif isinstance(x, float):
        return None if close(np.float64(x), np.float64(y), rounding, "float32") else path
    else:
        return None if x == y else path
    for k, (p, q) in pairs:
        found = differs(p, q, rounding, f"{path}/{k}")
        if found is not None:
            return found
    return None


def close(x: Any, y: Any, rounding: str | None, name: str = "") -> bool:
    """Whether two arrays are equal: nan is itself, and 0 isn't -0 where nothing is rounded."""
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.tobytes() == y.tobytes():
        return True
    if x.dtype.kind not in "fV":
        return bool(np.array_equal(x, y))
    with np.errstate(all="ignore"):
        p, q = x.astype(np.float64), y.astype(np.float64)
        if rounding is None:
            return bool(np.array_equal(p, q, equal_nan=True))
        finite = np.isfinite(p) & np.isfinite(q)
        if not np.array_equal(p[~finite], q[~finite], equal_nan=True):
            return False
        if not finite.any():
            return True
        share = max(ROUNDING[name or x.dtype.name], ROUNDING[rounding])
        reach = share * (np.abs(p[finite]).max() + 1e-2)
        return bool(np.abs(p - q)[finite].max() <= reach)


class Verdict:
    """What came of a program."""

    def __init__(self) -> None:
        self.calls = 0
        self.compiled = 0
        self.doubtful = 0  # where values close by give other results, too
        self.wrong: list[str] = []


def tried(program: Program, modes: tuple[str, ...] = ("replayed", "native")) -> Verdict:
    """Runs a program in all ways, turn by turn, and says where they part."""
    warming.WARM = 1
    verdict = Verdict()
    rounds = [World(program, mode) for mode in ("eager", *modes)]
    eager, *others = rounds
    for place, turn in enumerate(program.turns):
        wanted = eager.take(turn, place)
        for world in list(others):
            found = world.take(turn, place)
            verdict.calls += 1
            native = world.mode == "native"
            where = differs(wanted, found, rounded(world) if native else None)
            if where is None:
                if native:
                    world.follow(eager)
                continue
            others.remove(world)
            if native and shaken(program, place, wanted):
                verdict.doubtful += 1
                continue
            verdict.wrong.append(
                f"seed {program.seed}, {world.mode}, turn {place} ({turn}), at {where}:\n"
                f"eager    {at(wanted, where)}\ncompiled {at(found, where)}\n"
                f"{world.step.explain()}"
            )
        if place == 3:
            verdict.compiled = sum(w.step.program is not None for w in others)
    return verdict


def shaken(program: Program, place: int, wanted: Any) -> bool:
    """Whether an eager run on values close by comes to something else at a turn as well."""
    for start in range(12):  # a singular matrix: each time with even odds
        plain, world = World(program, "eager"), World(program, "shaken")
        for k, turn in enumerate(program.turns[: place + 1]):
            told = plain.take(turn, k)
            found = world.take(turn, 1000 * start + k)
            if k == place and differs(told, found, "float64") is not None:
                return True
            world.follow(plain)
            world.random = plain.random
    return False


def at(x: Any, path: str) -> str:
    """What is found at a path, as text."""
    for part in path.split("/")[1:]:
        if isinstance(x, dict):
            x = next(v for k, v in x.items() if str(k) == part)
        elif isinstance(x, (list, tuple)):
            x = x[int(part)]
    return repr(x)[:400]
