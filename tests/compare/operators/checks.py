"""What is compared for one sample of one operator: values, layout, gradients, variants, errors."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.autograd.forward_ad as torch_dual

import rushlight as rl
import rushlight.autograd.forward_ad as rl_dual
from tests.compare.operators.translate import (
    Missing,
    Translator,
    close_floats,
    dtype_name,
    is_tensor,
    leaves,
    lookup,
    to_numpy,
)

# Relative and absolute, by the coarser dtype: other orders of summation, not other formulas.
TOLERANCE = {
    "float64": (1e-6, 1e-7),
    "complex128": (1e-6, 1e-7),
    "float32": (1e-4, 1e-5),
    "complex64": (1e-4, 1e-5),
    "float16": (1e-2, 5e-3),
    "bfloat16": (5e-2, 5e-2),
}
# Results whose values nobody may read.
UNINITIALISED = {
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "resize_",
    "resize_as_",
}


class Differs(Exception):
    """Both sides answered, and not the same."""


class Sides:
    """One sample on both sides: the function, its arguments, the same memory layout."""

    def __init__(self, op: Any, sample: Any, function: Callable[..., Any] | None = None) -> None:
        self.name = op.name
        self.translate = Translator()
        self.torch_function = function or op.op
        if function is None:
            self.rl_function = self._resolve(op)
        self.torch_args = (sample.input, *sample.args)
        self.torch_kwargs = dict(sample.kwargs)
        self.process = getattr(sample, "output_process_fn_grad", None)
        self.rl_args = tuple(self.translate(a) for a in self.torch_args)
        self.rl_kwargs = {k: self.translate(v) for k, v in self.torch_kwargs.items()}

    def _resolve(self, op: Any) -> Any:
        module = getattr(op.op, "__module__", None) or ""
        if module.startswith("torch.testing"):
            return self.translate.function(op.op)
        name = op.name
        is_method = getattr(torch.Tensor, name, None) is op.op
        if is_method or name.startswith("__") or not hasattr(torch, name.split(".")[0]):
            return getattr(rl.Tensor, name, None) or _missing(name)
        return lookup(name)

    def run_torch(self) -> Any:
        torch.manual_seed(42)
        return self.torch_function(*self.torch_args, **self.torch_kwargs)

    def run_rl(self) -> Any:
        rl.manual_seed(42)
        return self.rl_function(*self.rl_args, **self.rl_kwargs)


def _missing(name: str) -> Any:
    raise Missing(name)


# ---- comparing ---------------------------------------------------------------------------------


def same(expected: Any, got: Any, what: str, *, values: bool = True, strides: bool = False) -> None:
    """Raises `Differs` where two results differ."""
    first, second = leaves(expected), leaves(got)
    if len(first) != len(second):
        raise Differs(f"{what}: {len(second)} results instead of {len(first)}")
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        where = f"{what}[{i}]" if len(first) > 1 else what
        if is_tensor(a) != is_tensor(b):
            raise Differs(f"{where}: {type(b).__name__} instead of {type(a).__name__}")
        if not is_tensor(a):
            _same_plain(a, b, where)
            continue
        if dtype_name(a) != dtype_name(b):
            raise Differs(f"{where}: dtype {dtype_name(b)} instead of {dtype_name(a)}")
        if tuple(a.shape) != tuple(b.shape):
            raise Differs(f"{where}: shape {tuple(b.shape)} instead of {tuple(a.shape)}")
        if strides:
            if a.numel() and _seen_strides(a) != _seen_strides(b):
                raise Differs(f"{where}: stride {tuple(b.stride())} instead of {tuple(a.stride())}")
        elif values:
            _close(to_numpy(a), to_numpy(b), dtype_name(a), where)


def _seen_strides(t: Any) -> tuple[int, ...]:
    """Strides of the dimensions that have more than one element: the others mean nothing."""
    return tuple(s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1)


def _same_plain(a: Any, b: Any, where: str) -> None:
    if isinstance(a, float) and isinstance(b, float):
        if not close_floats(a, b, 1e-5):
            raise Differs(f"{where}: {b!r} instead of {a!r}")
    elif isinstance(a, torch.dtype):
        if str(a).rpartition(".")[2] != str(b).rpartition(".")[2]:
            raise Differs(f"{where}: {b!r} instead of {a!r}")
    elif isinstance(a, torch.Size):
        if tuple(a) != tuple(b):
            raise Differs(f"{where}: {b!r} instead of {a!r}")
    elif a is not None and (type(a) is not type(b) or a != b) and not (a != a and b != b):
        raise Differs(f"{where}: {b!r} instead of {a!r}")


def _close(a: Any, b: Any, dtype: str, where: str) -> None:
    if dtype not in TOLERANCE:
        if not np.array_equal(a, b):
            raise Differs(f"{where}: {_worst(a, b, a != b)}")
        return
    rtol, atol = TOLERANCE[dtype]
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(b, a, rtol=rtol, atol=atol, equal_nan=True)
    if a.dtype.kind == "c" and wrong.any():
        # A NaN or infinity in either part: which part holds it is chance.
        wrong &= np.isfinite(a) | np.isfinite(b)
    if wrong.any():
        raise Differs(f"{where}: {_worst(a, b, wrong)}")


def _worst(a: Any, b: Any, wrong: Any) -> str:
    where = np.argwhere(wrong)[0]
    at = tuple(int(i) for i in where)
    return f"{b[at]} instead of {a[at]} at {at}, {int(wrong.sum())} of {wrong.size} differ"


# ---- the checks --------------------------------------------------------------------------------


def forward(op: Any, sample: Any, dtype: torch.dtype) -> None:
    """Value, dtype and shape of the result; the same refusal where torch refuses."""
    sides = Sides(op, sample)
    with torch.no_grad():
        expected = sides.run_torch()
    with rl.no_grad():
        got = sides.run_rl()
    values = op.name not in UNINITIALISED
    try:
        same(expected, got, "result", values=values)
    except Differs:
        if not _invariant(sides, expected, got):
            raise


def _invariant(sides: Sides, expected: Any, got: Any) -> bool:
    """Whether the parts that are unique agree: singular vectors, say, are free in their sign."""
    named = getattr(sides.process, "__name__", "") != "<lambda>"
    if (sides.process is None or named) and sides.name not in _FREE_SIGNS:
        return False
    try:
        if sides.name in _FREE_SIGNS:
            a, b = _absolute(expected), _absolute(got)
        else:
            a, b = sides.process(expected), sides.translate(sides.process)(got)
        same(a, b, "invariant result")
    except (Differs, Missing):
        return False
    return True


_FREE_SIGNS = {"linalg.svd", "svd", "linalg.eigh", "linalg.eig", "pca_lowrank", "svd_lowrank"}


def _absolute(result: Any) -> list[Any]:
    """Sizes alone; of square singular vectors those that belong to a singular value."""
    found = leaves(result)
    if len(found) == 3 and found[1].ndim == found[0].ndim - 1:
        u, s, v = found
        k, by_row = s.shape[-1], type(result).__name__ == "linalg_svd"
        found = [u[..., :k], s, v[..., :k, :] if by_row else v[..., :k]]
    return [x.abs() for x in found]


def strides(op: Any, sample: Any, dtype: torch.dtype) -> None:
    sides = Sides(op, sample)
    with torch.no_grad():
        expected = sides.run_torch()
    with rl.no_grad():
        same(expected, sides.run_rl(), "result", strides=True)


def _differentiable(args: Any) -> list[Any]:
    return [x for x in leaves(args) if is_tensor(x) and x.requires_grad]


def _cotangent(like: Any, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(like.shape, dtype=like.dtype, generator=generator)


def gradient(op: Any, sample: Any, dtype: torch.dtype) -> None:
    _derivatives(op, sample, 1)


def second_order(op: Any, sample: Any, dtype: torch.dtype) -> None:
    _derivatives(op, sample, 2)


def _derivatives(op: Any, sample: Any, order: int) -> None:
    sides = Sides(op, sample)
    xs = _differentiable((sides.torch_args, list(sides.torch_kwargs.values())))
    ys = _differentiable((sides.rl_args, list(sides.rl_kwargs.values())))
    expected, got = sides.run_torch(), sides.run_rl()
    if sides.process is not None:
        with _quiet():
            expected, got = sides.process(expected), sides.translate(sides.process)(got)
    outs_a, outs_b = _differentiable(expected), _differentiable(got)
    if len(outs_a) != len(outs_b):
        raise Differs(f"{len(outs_b)} results require grad instead of {len(outs_a)}")
    if not outs_a:
        return
    cot = [_cotangent(o, 100 + i) for i, o in enumerate(outs_a)]
    if order == 2:
        cot = [c.requires_grad_() for c in cot]
    rl_cot = [sides.translate(c) for c in cot]
    if order == 1:
        a = torch.autograd.grad(outs_a, xs, cot, allow_unused=True)
        b = rl.autograd.grad(outs_b, ys, rl_cot, allow_unused=True)
        _same_gradients(a, b, xs, "gradient")
        return
    a = torch.autograd.grad(outs_a, xs, cot, allow_unused=True, create_graph=True)
    b = rl.autograd.grad(outs_b, ys, rl_cot, allow_unused=True, create_graph=True)
    live = [i for i, g in enumerate(a) if g is not None and g.requires_grad]
    if not live:
        return
    for i in live:
        if b[i] is None or not b[i].requires_grad:
            raise Differs(f"first gradient[{i}] doesn't require grad")
    again = [_cotangent(a[i], 200 + i) for i in live]
    rl_again = [sides.translate(c) for c in again]
    aa = torch.autograd.grad([a[i] for i in live], xs + cot, again, allow_unused=True)
    bb = rl.autograd.grad([b[i] for i in live], ys + rl_cot, rl_again, allow_unused=True)
    _same_gradients(aa, bb, xs + cot, "second gradient")


def _same_gradients(a: Any, b: Any, xs: list[Any], what: str) -> None:
    for i, (p, q) in enumerate(zip(a, b, strict=True)):
        if p is None and q is None:
            continue
        # None and zeros are the same derivative; which of them is the engine's business.
        zero = torch.zeros_like(xs[i])
        p = zero if p is None else p
        q = rl.zeros(tuple(zero.shape), dtype=getattr(rl, dtype_name(zero))) if q is None else q
        same(p, q, f"{what}[{i}]")


def forward_mode(op: Any, sample: Any, dtype: torch.dtype) -> None:
    sides = Sides(op, sample)
    a = _push(sides, torch_dual, sides.torch_function, sides.torch_args, sides.torch_kwargs, True)
    b = _push(sides, rl_dual, sides.rl_function, sides.rl_args, sides.rl_kwargs, False)
    if len(a) != len(b):
        raise Differs(f"{len(b)} results instead of {len(a)}")
    for i, (p, q) in enumerate(zip(a, b, strict=True)):
        if p is None and q is None:
            continue
        if p is None:
            p = torch.zeros(tuple(q.shape), dtype=getattr(torch, dtype_name(q)))
        if q is None:
            q = rl.zeros(tuple(p.shape), dtype=getattr(rl, dtype_name(p)))
        same(p, q, f"tangent[{i}]")


def _push(
    sides: Sides, dual: Any, function: Any, args: Any, kwargs: Any, is_torch: bool
) -> list[Any]:
    count = 0

    def attach(value: Any) -> Any:
        nonlocal count
        if is_tensor(value) and value.requires_grad:
            count += 1
            tangent = torch.randn(
                tuple(value.shape),
                dtype=getattr(torch, dtype_name(value)),
                generator=torch.Generator().manual_seed(300 + count),
            )
            return dual.make_dual(value.detach(), tangent if is_torch else sides.translate(tangent))
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            return type(value)(attach(v) for v in value)
        return value

    (torch if is_torch else rl).manual_seed(42)
    with dual.dual_level():
        result = function(*[attach(a) for a in args], **{k: attach(v) for k, v in kwargs.items()})
        if sides.process is not None:
            process = sides.process if is_torch else sides.translate(sides.process)
            result = process(result)
        return [dual.unpack_dual(x).tangent for x in leaves(result) if is_tensor(x)]


def method(op: Any, sample: Any, dtype: torch.dtype) -> None:
    _variant(op, sample, op.method_variant)


def inplace(op: Any, sample: Any, dtype: torch.dtype) -> None:
    _variant(op, sample, op.inplace_variant)


def _variant(op: Any, sample: Any, variant: Any) -> None:
    name = getattr(variant, "__name__", "")
    sides = Sides(op, sample, variant)
    if isinstance(variant, functools.partial) or name == "<lambda>":
        sides.rl_function = sides.translate(variant)
    else:
        sides.rl_function = getattr(rl.Tensor, name, None) or _missing("Tensor." + name)
    with torch.no_grad():
        sides.torch_args = (sides.torch_args[0].clone(), *sides.torch_args[1:])
        expected = sides.run_torch()
    with rl.no_grad():
        sides.rl_args = (sides.rl_args[0].clone(), *sides.rl_args[1:])
        got = sides.run_rl()
    try:
        same(expected, got, "result", values=op.name not in UNINITIALISED)
    except Differs:
        if not _invariant(sides, expected, got):
            raise


def out(op: Any, sample: Any, dtype: torch.dtype) -> None:
    sides = Sides(op, sample)
    with torch.no_grad():
        plain = sides.run_torch()
        single = isinstance(plain, torch.Tensor)
        targets = [torch.full_like(t, 1) for t in leaves(plain)]
        sides.torch_kwargs["out"] = targets[0] if single else tuple(targets)
        expected = sides.run_torch()
    rl_targets = [sides.translate(torch.full_like(t, 1)) for t in targets]
    sides.rl_kwargs["out"] = rl_targets[0] if single else tuple(rl_targets)
    with rl.no_grad():
        got = sides.run_rl()
    if expected is None:  # a list of results
        expected, got = sides.torch_kwargs["out"], sides.rl_kwargs["out"]
    for target, x in zip(rl_targets, leaves(got), strict=True):
        if x is not target:
            raise Differs("out= isn't what is returned")
    if op.name in UNINITIALISED:
        return
    try:
        same(expected, got, "out")
    except Differs:
        if not _invariant(sides, expected, got):
            raise


# ---- errors ------------------------------------------------------------------------------------

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def text_of(error: BaseException) -> str:
    """The message without what may differ: addresses, torch's C++ trail, the package's name."""
    text = str(error).split("\nException raised from")[0]
    return _ADDRESS.sub("0x", text).replace("rushlight.", "torch.").strip()


def refusal(op: Any, sample: Any) -> tuple[bool, bool, str]:
    """Whether class and text of a refusal are torch's, and a line that says what differs."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(42)
            op.op(sample.input, *sample.args, **sample.kwargs)
    except Exception as error:
        expected: BaseException = error
    else:
        return True, True, ""
    try:
        sides = Sides(op, sample)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sides.run_rl()
    except Missing:
        raise
    except Exception as error:
        kind = type(error).__name__ == type(expected).__name__
        text = text_of(error) == text_of(expected)
        said = (
            ""
            if kind and text
            else (
                f"{type(error).__name__}: {text_of(error)[:300]}  INSTEAD OF  "
                f"{type(expected).__name__}: {text_of(expected)[:300]}"
            )
        )
        return kind, text, said
    return False, False, f"no error INSTEAD OF {type(expected).__name__}: {text_of(expected)[:300]}"


def _quiet() -> Any:
    return warnings.catch_warnings()
