"""Values of torch in Rushlight's world: tensors with their layout, dtypes, functions."""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import types
from typing import Any

import numpy as np
import torch

import rushlight as rl

# Where public functions live, in the order in which a path is preferred.
_NAMESPACES = (
    "",
    "nn.functional",
    "linalg",
    "fft",
    "special",
    "signal.windows",
    "masked",
    "Tensor",
)


class Missing(Exception):
    """Rushlight has no such name."""


def lookup(path: str) -> Any:
    """What stands under a dotted path of `torch` in Rushlight. Raises `Missing`."""
    found: Any = rl
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Missing(path) from None
    return found


@functools.cache
def _paths() -> dict[int, str]:
    """Every public function of torch by identity, with the path under which programs name it."""
    table: dict[int, str] = {}
    for space in _NAMESPACES:
        owner: Any = torch
        for part in space.split(".") if space else ():
            owner = getattr(owner, part)
        for name in dir(owner):
            try:
                value = getattr(owner, name)
            except Exception:  # some attributes of torch only answer on other machines
                continue
            if callable(value):
                table.setdefault(id(value), f"{space}.{name}" if space else name)
    return table


# Functions of the test database that stand around the operator and mean nothing for it.
_STAND_INS: dict[str, Any] = {"freeze_rng_state": contextlib.nullcontext}


class Translator:
    """Translates what belongs together: tensors that share memory still share it afterwards."""

    def __init__(self) -> None:
        self._storages: dict[int, Any] = {}
        self._tensors: dict[int, Any] = {}
        self._keep: list[Any] = []

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, torch.dtype):
            return getattr(rl, str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return rl.device(str(value))
        if isinstance(value, torch.memory_format | torch.layout):
            return getattr(rl, str(value).removeprefix("torch."))
        if isinstance(value, torch.Size):
            return rl.Size(value)
        if isinstance(value, torch.Generator):
            generator = rl.Generator()
            generator.manual_seed(value.initial_seed())
            return generator
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self(v) for v in value]
        if isinstance(value, tuple):
            items = [self(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, torch.nn.Module):
            return lookup("nn." + type(value).__name__)()
        if isinstance(value, functools.partial):
            return functools.partial(
                self(value.func),
                *map(self, value.args),
                **{k: self(v) for k, v in value.keywords.items()},
            )
        if value is torch:
            return rl
        if isinstance(value, types.ModuleType):
            name = value.__name__
            return lookup(name.removeprefix("torch.")) if name.startswith("torch.") else value
        if id(value) in _paths():
            return lookup(_paths()[id(value)])
        if isinstance(value, types.FunctionType):
            return self.function(value)
        if value is torch.Tensor:
            return rl.Tensor
        return value

    def tensor(self, t: torch.Tensor) -> Any:
        if id(t) in self._tensors:
            return self._tensors[id(t)]
        if t.layout is not torch.strided:
            raise Missing(f"layout {t.layout}")
        self._keep.append(t)
        plain = t.detach()
        if plain.is_conj() or plain.is_neg():
            plain = plain.resolve_conj().resolve_neg()
            self._keep.append(plain)  # or the next one may lie at the same address
        made = self._flat(plain).as_strided(
            tuple(plain.shape), plain.stride(), plain.storage_offset()
        )
        made = made.detach()
        if t.requires_grad:
            made.requires_grad_()
        self._tensors[id(t)] = made
        return made

    def _flat(self, t: torch.Tensor) -> Any:
        """The whole memory below `t` as a vector, once per memory and dtype."""
        storage = t.untyped_storage()
        key = hash((storage.data_ptr() or id(t), t.dtype))
        if key not in self._storages:
            count = storage.nbytes() // t.element_size()
            flat = torch.empty(0, dtype=t.dtype).set_(storage, 0, (count,), (1,))
            self._storages[key] = from_flat(flat)
        return self._storages[key]

    def function(self, f: types.FunctionType) -> Any:
        """The same Python function with Rushlight where it says torch."""
        if f.__name__ in _STAND_INS:
            return _STAND_INS[f.__name__]
        if not (f.__module__ or "").startswith(("torch.testing", "tests.", "__main__")):
            raise Missing(f"{f.__module__}.{f.__qualname__}")
        names = _names(f.__code__)
        space: dict[str, Any] = {"__builtins__": builtins}
        for name in names & f.__globals__.keys():
            # Late: a name that the call never reaches may be missing.
            with contextlib.suppress(Missing):
                space[name] = self(f.__globals__[name])
        cells = tuple(types.CellType(self(c.cell_contents)) for c in f.__closure__ or ())
        defaults = tuple(self(d) for d in f.__defaults__ or ())
        made = types.FunctionType(f.__code__, space, f.__name__, defaults, cells)
        made.__kwdefaults__ = {k: self(v) for k, v in (f.__kwdefaults__ or {}).items()}
        return made


def _names(code: types.CodeType) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def from_flat(flat: torch.Tensor) -> Any:
    """A vector of Rushlight with the same bytes. Raises `Missing` for a dtype it lacks."""
    name = str(flat.dtype).removeprefix("torch.")
    dtype = getattr(rl, name, None)
    if dtype is None or name == "complex32":
        raise Missing(f"dtype {name}")
    if flat.dtype is torch.bfloat16:
        return rl.from_numpy(flat.view(torch.int16).numpy().copy()).view(dtype)
    return rl.from_numpy(flat.numpy().copy())


def to_numpy(t: Any) -> Any:
    """The values of a tensor of either side, those of types that NumPy lacks in wider ones."""
    t = t.detach()
    package: Any = rl
    if isinstance(t, torch.Tensor):
        package = torch
        if t.layout is not torch.strided:
            raise Missing(f"layout {t.layout}")
        t = t.resolve_conj().resolve_neg()
        if t._is_zerotensor():
            t = t.clone()
    name = dtype_name(t)
    if name == "bfloat16" or name.startswith("float8"):
        t = t.float()
    elif name == "complex32":
        t = t.to(package.complex64)
    return np.asarray(t.numpy())


def dtype_name(value: Any) -> str:
    return str(value.dtype).rpartition(".")[2]


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor | rl.Tensor)


def leaves(value: Any) -> list[Any]:
    """The tensors and plain values of a nested result, in order."""
    if is_tensor(value):
        return [value]
    if isinstance(value, dict):
        return [x for k in value for x in leaves(value[k])]
    if isinstance(value, tuple | list) and not isinstance(value, torch.Size | rl.Size):
        return [x for v in value for x in leaves(v)]
    return [value]


def close_floats(a: float, b: float, rtol: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=rtol)
