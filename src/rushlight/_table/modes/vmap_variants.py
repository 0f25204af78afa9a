"""Functions that are no operations of the table, but not the same under vmap: draws and fills.

They are wrapped once, when the public names are made: outside of vmap a call costs one look at the
mode more.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from ..._core.interposers import CALL_KIND, NOT_HANDLED
from ..._core.mode import current

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable

#: What kind of function each name is: see `_tensor/batching/calls.py`, which handles them.
KINDS: Final = {
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like"), "like"),
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty", "new_full"), "new"),
    **dict.fromkeys(("rand", "randn", "randint"), "draw"),
    "randperm": "draw_alone",
    **dict.fromkeys(("rand_like", "randn_like", "randint_like"), "draw_like"),
    **dict.fromkeys(("bernoulli", "poisson", "normal", "multinomial", "binomial",
                     "_standard_gamma", "_sample_dirichlet"), "draw_from"),
    **dict.fromkeys(
        ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "dropout1d",
         "dropout2d", "dropout3d"),
        "drop",
    ),
    **dict.fromkeys(
        ("uniform_", "normal_", "random_", "bernoulli_", "exponential_", "cauchy_", "geometric_",
         "log_normal_"),
        "draw_into",
    ),
    **dict.fromkeys(("unsqueeze_", "squeeze_", "t_", "transpose_", "swapdims_", "swapaxes_"),
                    "reshape_"),
    **dict.fromkeys(("quantile", "nanquantile", "isin", "unravel_index", "repeat_interleave",
                     "combinations", "bucketize"), "each"),
    "equal": "refused",
    "allclose": "refused",
}  # fmt: skip
_made: Final[dict[int, tuple[Any, Any]]] = {}


def aware(name: str, function: AnyCallable) -> AnyCallable:
    """The function, which asks what is to be done under vmap if its name is among `KINDS`."""
    kind = KINDS.get(name)
    if kind is None:
        return function
    known = _made.get(id(function))
    if known is not None:
        return known[1]

    @functools.wraps(function)
    def run(*args: object, **kwargs: object) -> Any:
        if current().layers:
            for interposer in CALL_KIND:
                handled = interposer.call_kind(kind, name, function, args, kwargs)
                if handled is not NOT_HANDLED:
                    return handled
        return function(*args, **kwargs)

    run._in_no_mode = function  # type: ignore[attr-defined]
    _made[id(function)] = (function, run)
    return run
