"""`functionalize`: accepted, for programs that ask for it; there is no graph to clean of writes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .derivatives import Level

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable


def functionalize(func: Callable[..., object], *, remove: str = "mutations") -> AnyCallable:
    """`func`, with the same results: writes and views are not rewritten.

    Raises:
        RuntimeError: for another word than "mutations" or "mutations_and_views".

    Parameters:
        func: a function of tensors.
        remove: what is taken away: "mutations", or "mutations_and_views".
    Returns: a function that gives the same without writing.
    Example:
        >>> torch.func.functionalize(lambda x: x.clone().add_(1))(torch.ones(2))
        tensor([2., 2.])
    """

    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for "
            f"remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the "
            "program, and replaced with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing "
            "operators {view} will be replaced with their non-aliasing counterparts, "
            "{view}_copy.\n"
        )

    @functools.wraps(func)
    def run(*args: object, **kwargs: object) -> Any:
        with Level(derivative=False):
            return func(*args, **kwargs)

    return run
