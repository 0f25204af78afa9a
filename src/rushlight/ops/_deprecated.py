"""Calls in the old order of arguments: `p.add_(-lr, d_p)`, `torch.addmm(beta, M, alpha, a, b)`.

PyTorch still takes them, with a warning the first time; optimizers of some age are full of them.
"""

from __future__ import annotations

from typing import Any, Final

from .._array.types import is_number
from .._core.storage import TensorBase
from ._once import say_once

_SUM: Final = (("self", "alpha", "other"),)
_PRODUCT: Final = (("self", "value", "tensor1", "tensor2"),)


def _products(first: str, second: str) -> tuple[tuple[str, ...], ...]:
    return (
        ("beta", "self", "alpha", first, second),
        ("self", "beta", "alpha", first, second),  # as a method: the tensor stands first
        ("beta", "self", first, second),
        ("self", "beta", first, second),
    )


#: For each name, the orders that it was once called in.
ORDERS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "add": _SUM,
    "sub": _SUM,
    "addcmul": _PRODUCT,
    "addcdiv": _PRODUCT,
    "addmm": _products("mat1", "mat2"),
    "addmv": _products("mat", "vec"),
    "addr": _products("vec1", "vec2"),
    "addbmm": _products("batch1", "batch2"),
    "baddbmm": _products("batch1", "batch2"),
}
#: The parameters that are numbers.
_FACTORS: Final = ("alpha", "beta", "value")
_SOURCE: Final = "/__w/pytorch/pytorch/torch/csrc/utils/python_arg_parser.cpp:1841"


def old_order(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, int | str] | None:
    """Where each parameter of such a call is found: a position or a keyword; None if it is none."""
    for order in ORDERS.get(name.removesuffix("_"), ()):
        if len(args) > len(order) or len(args) + len(kwargs) != len(order):
            continue
        places: dict[str, int | str] = {p: i for i, p in enumerate(order[: len(args)])}
        if not all(key in kwargs for key in order[len(args) :]):
            continue
        places.update({p: p for p in order[len(args) :]})
        given = {p: args[at] if isinstance(at, int) else kwargs[at] for p, at in places.items()}
        if all(
            _is_factor(value) if p in _FACTORS else isinstance(value, TensorBase)
            for p, value in given.items()
        ):
            _warn(name, order)
            return places
    return None


def _is_factor(value: Any) -> bool:
    return is_number(value) or (isinstance(value, TensorBase) and value._raw.ndim == 0)


def _warn(name: str, order: tuple[str, ...]) -> None:
    method = name.endswith("_")
    named = ["input" if p == "self" else p for p in order if not (method and p == "self")]
    tensors = [f"Tensor {p}" for p in named if p not in _FACTORS]
    factors = [f"Number {p} = 1" for p in ("beta", "alpha", "value") if p in order]
    if "beta" in order and "alpha" not in order:
        factors.append("Number alpha = 1")
    out = [] if method else ["Tensor out = None"]
    old = [f"{'Number' if p in _FACTORS else 'Tensor'} {p}" for p in named]
    past = ", ".join([*old, "*", *out]) if out else ", ".join(old)
    say_once(
        "deprecated overload",
        f"This overload of {name} is deprecated:\n\t{name}({past})\n"
        "Consider using one of the following signatures instead:\n"
        f"\t{name}({', '.join([*tensors, '*', *factors, *out])})"
        f" (Triggered internally at {_SOURCE}.)",
    )
