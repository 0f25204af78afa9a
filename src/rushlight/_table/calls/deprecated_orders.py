"""Calls in the old order of arguments: `p.add_(-lr, d_p)`, `torch.addmm(beta, M, alpha, a, b)`.

PyTorch still takes them, with a warning the first time; optimizers of some age are full of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..._base.schema import Parameter
from ..rows.warn_once import say_once
from .argument_parser import misfit, names_of
from .overload_texts import signatures

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor

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
    "index_reduce": "index_reduce() is in beta and the API may change at any time.",
}


def say_better(name: str) -> None:
    """Warns, once, of a function that has a better one."""
    say_once(name, BETTER[name])


def warn_of_better(name: str, raw: AnyCallable) -> AnyCallable:
    """The array function of a row, which warns, once, that there is a better one."""

    def run(*args: Array | int) -> Any:
        try:
            result = raw(*args)
        except NotImplementedError:  # which the kernel would say
            say_better(name)
            raise
        say_better(name)
        return result

    return run


def old_order(
    kind: str, name: str, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[dict[str, int | str], Callable[[Any], Any]] | None:
    """How a call in an old order is read, None if it is none.

    Gives where each parameter of the row is found (a position or a keyword), and what passes a
    value on with the warning.
    """
    found = signatures(kind, name)
    if not any(s.deprecated for s in found):
        return None
    own = 1 if kind == "method" else 0
    bound: list[tuple[Parameter, Any]] = []
    for signature in sorted(found, key=lambda s: s.deprecated):
        if misfit(signature, name, args[own:], kwargs, bound) is None:
            break
        bound.clear()
    if not bound or not signature.deprecated:
        return None
    places: dict[str, int | str] = {"self": 0} if own else {}
    for i, (p, _) in enumerate(bound):
        at = i + own
        shown = next(n for n in names_of(p) if n in kwargs) if at >= len(args) else at
        places["self" if p.name == "input" else p.name] = shown
    better = "".join(f"\n\t{name}{s.text}" for s in found if not s.deprecated)
    text = (
        f"This overload of {name} is deprecated:\n\t{name}{signature.text}\n"
        f"Consider using one of the following signatures instead:{better}"
        f" (Triggered internally at {_SOURCE}.)"
    )

    def note_order(value: Tensor) -> Tensor:
        say_once("deprecated overload", text)
        return value

    return places, note_order


REINFORCE: Final = """reinforce() was removed.
Use torch.distributions instead.
See https://pytorch.org/docs/main/distributions.html

Instead of:

probs = policy_network(state)
action = probs.multinomial()
next_state, reward = env.step(action)
action.reinforce(reward)
action.backward()

Use:

probs = policy_network(state)
# NOTE: categorical is equivalent to what used to be called multinomial
m = torch.distributions.Categorical(probs)
action = m.sample()
next_state, reward = env.step(action)
loss = -m.log_prob(action) * reward
loss.backward()
"""
