"""Every pair of operands' types, with and without dimensions, beside several kinds of numbers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs torch")

import rushlight  # noqa: E402

TYPES = (
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64",
)  # fmt: skip
MASK = [True, False]
NAMES = (
    "add sub rsub mul true_divide floor_divide remainder fmod pow float_power atan2 hypot copysign "
    "nextafter logaddexp logaddexp2 maximum minimum fmax fmin heaviside xlogy ldexp gcd lcm "
    "bitwise_and logical_and bitwise_left_shift eq lt where_ lerp_ dist outer dot inner isclose"
)
FUNCTIONS = NAMES.split()


def square(x: Any) -> Any:
    return x.reshape(-1, 1) * x.reshape(1, -1) if x.ndim else x.reshape(1, 1)


#: What is called, of the package, two tensors and a number.
CALLS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    **{n: (lambda t, a, b, s, n=n: getattr(t, n)(a, b)) for n in FUNCTIONS if n[-1] != "_"},
    **{
        f"{n} with a number": (lambda t, a, b, s, n=n: getattr(t, n)(a, s))
        for n in ("mul", "true_divide", "floor_divide", "remainder", "pow", "xlogy", "clamp", "eq")
    },
    "add of a scaled tensor": lambda t, a, b, s: t.add(a, b, alpha=s),
    "add of a scaled number": lambda t, a, b, s: t.add(a, 1, alpha=s),
    "sub of a scaled number": lambda t, a, b, s: t.sub(a, 1, alpha=s),
    "rsub of a scaled number": lambda t, a, b, s: t.rsub(a, 1, alpha=s),
    "add in place": lambda t, a, b, s: a.clone().add_(b, alpha=s),
    "addcmul": lambda t, a, b, s: t.addcmul(a, b, b, value=s),
    "addcdiv": lambda t, a, b, s: t.addcdiv(a, b, b, value=s),
    "lerp by a number": lambda t, a, b, s: t.lerp(a, b, s),
    "lerp by a tensor": lambda t, a, b, s: t.lerp(a, a, b),
    "where": lambda t, a, b, s: t.where(t.tensor(MASK), a, b),
    "where with a number": lambda t, a, b, s: t.where(t.tensor(MASK), a, s),
    "masked_fill": lambda t, a, b, s: t.masked_fill(a, t.tensor(MASK), b),
    "masked_fill with a number": lambda t, a, b, s: t.masked_fill(a, t.tensor(MASK), s),
    "index_fill": lambda t, a, b, s: t.index_fill(a, 0, t.tensor([0]), b),
    "a mask written": lambda t, a, b, s: written(a, t.tensor(MASK), b),
    "an item written": lambda t, a, b, s: written(a, 0, b),
    "index_put": lambda t, a, b, s: a.index_put((t.tensor([0]),), b),
    "searchsorted": lambda t, a, b, s: t.searchsorted(a.reshape(-1), b),
    "searchsorted of a number": lambda t, a, b, s: t.searchsorted(a.reshape(-1), s),
    "addr": lambda t, a, b, s: t.addr(square(a), a, b),
    "addr scaled": lambda t, a, b, s: t.addr(square(a), a, a, beta=s, alpha=s),
    "addmm scaled": lambda t, a, b, s: t.addmm(square(a), square(a), square(a), beta=s, alpha=s),
    "addmv scaled": lambda t, a, b, s: t.addmv(a, square(a), a, beta=s, alpha=s),
    "dist of an order": lambda t, a, b, s: t.dist(a, b, s),
    "norm of an order": lambda t, a, b, s: t.norm(a, s),
    "threshold": lambda t, a, b, s: t.threshold(a, s, s),
    "softplus": lambda t, a, b, s: t.nn.functional.softplus(a, s),
    **{
        f"{n}{what}": (
            lambda t, a, b, s, n=n, g=g: (
                graded(t, getattr(t.nn.functional, n), a, b)
                if g
                else getattr(t.nn.functional, n)(a, b)
            )
        )
        for n in ("mse_loss", "l1_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits")
        for what, g in (("", False), (" backward", True))
    },
    **{
        f"{n} backward": (lambda t, a, b, s, n=n: graded(t, getattr(t, n), a, b))
        for n in ("ldexp", "dist", "maximum", "atan2", "true_divide")
    },
}

#: Calls of which Rushlight takes more than torch, or less, each with the reason.
OTHERWISE = {
    "clamp with a number": "bools are clamped, here by numbers as by tensors",
    "dist backward": "the gradient for a real tensor beside a complex one is its real part",
}
#: Calls with complex operands that Rushlight refuses.
REFUSED = {"binary_cross_entropy_with_logits": "complex targets of real logits"}
#: A type that NumPy lacks, and what torch says or computes of it.
NO_COMPLEX32 = "complex32"


def written(a: Any, index: Any, value: Any) -> Any:
    x = a.clone()
    x[index] = value
    return x


def graded(t: Any, function: Any, a: Any, b: Any) -> Any:
    x = a.clone().requires_grad_()
    return t.autograd.grad(function(x, b).sum(), x)[0]


def of(t: Any, dtype: str, shape: tuple[int, ...], value: int) -> Any:
    return t.full(shape, 1 if dtype == "bool" else value, dtype=getattr(t, dtype))


def cases() -> Iterator[tuple[str, tuple[int, ...], str, tuple[int, ...], Any]]:
    for first in TYPES:
        for second in TYPES:
            yield first, (2,), second, (2,), 2
            yield first, (2,), second, (), 2
            yield first, (), second, (2,), 2
        for number in (0.5, True, 2j):
            yield first, (2,), "float32", (2,), number


def outcome(t: Any, call: Any, case: Any) -> tuple[str, Any]:
    """A result's type and elements, or the kind of error."""
    first, shape, second, other, number = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            r = call(t, of(t, first, shape, 3), of(t, second, other, 2), number)
        except Exception as error:
            return "refused", f"{type(error).__name__}: {error}"
    name = str(r.dtype).rpartition(".")[2]
    if name == NO_COMPLEX32:
        return name, None
    wide = t.complex128 if r.is_complex() else t.float64
    return name, (tuple(r.shape), r.detach().to(wide).reshape(-1).tolist())


@pytest.mark.parametrize("name", CALLS)
def test_torch_gives_the_same_type_and_value_or_refuses_too(name: str) -> None:
    wrong = []
    for case in cases():
        kind, want = outcome(torch, CALLS[name], case)
        if kind == NO_COMPLEX32 or (kind == "refused" and re.search("ComplexHalf", want)):
            continue
        mine, got = outcome(rushlight, CALLS[name], case)
        if "complex32" in str(got) or (kind == "refused" and name in OTHERWISE):
            continue
        if mine == "refused" and name in REFUSED and "complex64" in case:
            continue
        if mine != kind:
            wrong.append(f"{case}: {mine} {got}, not {kind} {want}")
        elif kind != "refused":
            coarse = kind if "backward" not in name else str(case)
            tolerance = 2e-2 if "bfloat16" in coarse else 2e-3 if "float16" in coarse else 1e-5
            if got[0] != want[0] or not np.allclose(
                got[1], want[1], tolerance, tolerance, equal_nan=True
            ):
                wrong.append(f"{case}: {got}, not {want}")
    assert not wrong, "\n".join(wrong[:20])
