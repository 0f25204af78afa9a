"""Functions made of several operations whose arguments autocast converts as a whole.

They are wrapped once, when the public names are made; what they do under autocast is in `autocast`,
which is loaded when that is first switched on.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from ..._base.lazy import load
from ..._core.mode import current

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import AnyCallable

AS_IT_IS: Final = 0
LOWER: Final = 1
SINGLE: Final = 2
WIDEST: Final = 3

#: The policy of functions made of several operations: (namespace, name).
WHOLE: Final[dict[tuple[str, str], int]] = {
    # Made of operations with a policy, but without one.
    **dict.fromkeys((("", "bilinear"), ("nn.functional", "bilinear")), AS_IT_IS),
    **dict.fromkeys((("linalg", "vecdot"), ("", "conv_tbc"), ("nn.functional", "conv_tbc"),
                     ("", "prelu"), ("nn.functional", "prelu"),
                     ("nn.functional", "scaled_dot_product_attention")), LOWER),
    **dict.fromkeys(
        (("", "cdist"), ("", "cosine_embedding_loss"), ("nn.functional", "cosine_embedding_loss"),
         ("nn.functional", "cross_entropy"), ("", "ctc_loss"), ("nn.functional", "ctc_loss"),
         ("", "grid_sampler"), ("", "hinge_embedding_loss"),
         ("nn.functional", "hinge_embedding_loss"), ("", "inverse"), ("", "kl_div"),
         ("nn.functional", "kl_div"), ("nn.functional", "l1_loss"), ("linalg", "cond"),
         ("linalg", "matrix_rank"), ("linalg", "tensorinv"), ("linalg", "tensorsolve"),
         ("", "lu_solve"), ("", "margin_ranking_loss"), ("nn.functional", "margin_ranking_loss"),
         ("", "max_pool3d"), ("nn.functional", "max_pool3d"), ("", "pinverse"),
         ("", "poisson_nll_loss"), ("nn.functional", "poisson_nll_loss"), ("", "quantile"),
         ("", "nanquantile"), ("", "stft"), ("", "svd"), ("", "qr"),
         ("nn.functional", "adaptive_avg_pool3d"), ("", "triplet_margin_loss"),
         ("nn.functional", "triplet_margin_loss"),
         *(("fft", name) for name in (
             "fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "rfft", "rfft2", "rfftn", "irfft",
             "irfft2", "irfftn", "hfft", "ihfft"))),
        SINGLE,
    ),
}  # fmt: skip
CAST_NAMES: Final = {name for _, name in WHOLE}
_made: Final[dict[int, tuple[Any, Any]]] = {}


def casting(key: tuple[str, str], function: AnyCallable) -> AnyCallable:
    """The public function called `key`, which converts its arguments if it is one of `WHOLE`."""
    policy = WHOLE.get(key)
    if policy is None or function is None:
        return function
    known = _made.get(id(function))
    if known is not None:
        return known[1]

    @functools.wraps(function)
    def run(*args: object, **kwargs: object) -> Any:
        mode = current()
        if mode.autocast is None or kwargs.get("out") is not None:
            return function(*args, **kwargs)  # what writes into `out` has no policy
        return _autocast().run_converted(function, policy, args, kwargs, mode)

    run._in_no_mode = getattr(function, "_in_no_mode", function)  # type: ignore[attr-defined]
    _made[id(function)] = (function, run)
    return run


def make_casting_method(name: str, function: object) -> Any:
    """The method called `name`, which converts its arguments if it is a function that does."""
    known = _made.get(id(function)) if name in CAST_NAMES else None
    return function if known is None else known[1]


@functools.cache
def _autocast() -> ModuleType:
    return load("_table.modes.autocast")
