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


_REMOVED_SOON: Final = "will be removed in a future PyTorch release."
#: What PyTorch says, once, of functions that have a better one.
BETTER: Final = {
    "cholesky": "torch.cholesky is deprecated in favor of torch.linalg.cholesky and "
    f"{_REMOVED_SOON}\nL = torch.cholesky(A)\nshould be replaced with\n"
    "L = torch.linalg.cholesky(A)\nand\n"
    "U = torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\n"
    "This transform will produce equivalent results for all valid (symmetric positive definite) "
    "inputs.",
    "qr": f"torch.qr is deprecated in favor of torch.linalg.qr and {_REMOVED_SOON}\n"
    "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
    "Q, R = torch.qr(A, some)\nshould be replaced with\n"
    "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')",
    "lu": "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex "
    f"and {_REMOVED_SOON}\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
    "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
    "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
    "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)",
    "triangular_solve": "torch.triangular_solve is deprecated in favor of "
    f"torch.linalg.solve_triangularand {_REMOVED_SOON}\n"
    "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of "
    "the inputs.\nX = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
    "X = torch.linalg.solve_triangular(A, B).",
    "lu_solve": f"torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand {_REMOVED_SOON}"
    "\nNote that torch.linalg.lu_solve has its arguments reversed.\n"
    "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\n"
    "X = torch.linalg.lu_solve(LU, pivots, B)",
    "nuclear_norm": "at::nuclear_norm is deprecated and it is just left for JIT compatibility. It "
    "will be removed in a future PyTorch release. Please use `linalg.matrix_norm(A, 'nuc', dim, "
    "keepdim)` instead",
    "frobenius_norm": "at::frobenius_norm is deprecated and it is just left for JIT compatibility. "
    "It will be removed in a future PyTorch release. Please use `linalg.vector_norm(A, 2., dim, "
    "keepdim)` instead",
    "chain_matmul": f"torch.chain_matmul is deprecated and {_REMOVED_SOON} Use "
    "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
    "multiple parameters.",
    "cross": "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass "
    "the dim explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to "
    "agree with that of linalg.cross in a future release.",
    "meshgrid": "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
    "argument.",
    "cov": "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
    "of observations.",
    "index_reduce": "index_reduce() is in beta and the API may change at any time.",
}


def say_better(name: str) -> None:
    """Warns, once, of a function that has a better one."""
    say_once(name, BETTER[name])


def saying_better(name: str, raw: Any) -> Any:
    """The array function of a row, which warns, once, that there is a better one."""

    def run(*args: Any) -> Any:
        result = raw(*args)
        say_better(name)
        return result

    return run


def old_order(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], kind: str
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
            _warn(name, order, kind == "method")
            return places
    return None


def _is_factor(value: Any) -> bool:
    return is_number(value) or (isinstance(value, TensorBase) and value._raw.ndim == 0)


def _warn(name: str, order: tuple[str, ...], method: bool) -> None:
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
