"""Autocast: in which element type an operation is computed while it is switched on.

Note [Policies of autocast]
An operation is computed in the lower type (matrix products, convolutions, attention), in float32
(losses, transforms, decompositions), in the widest type among its arguments (joins), or, if it is
named nowhere here, as its arguments come. Arguments of a real floating type other than float64 are
converted; the conversion is an operation like any other, so gradients get the type of what they are
gradients of. Which policy an operation has is what PyTorch 2.13 does on the CPU.

Operations reach their policy on the slow path, which is where everything goes while autocast is on.
For functions made of several operations that PyTorch converts as a whole see `autocast_functions`.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import dtypes as D
from ..._core.interposers import NOT_HANDLED, Interposer, interpose
from ..._core.mode import CURRENT, Mode, derive
from ..._core.op import Op
from ..._core.storage import TensorBase
from ..elementwise.convert import convert_tensor
from .autocast_functions import LOWER, SINGLE, WIDEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import AnyCallable, Arguments, Keywords, Positional
    from ..._tensor.tensor import Tensor

#: The policy of each operation of the table that has one.
POLICY: Final[dict[str, int]] = {
    **dict.fromkeys(
        ("mm", "bmm", "addmm", "baddbmm", "addbmm", "_matmul", "_linear",
         "convolution", "_scaled_dot_product_flash_attention_for_cpu",
         "_scaled_dot_product_fused_attention", "_rnn_layer", "_lstm_layer"),
        LOWER,
    ),
    **dict.fromkeys(
        ("avg_pool3d", "binary_cross_entropy", "binary_cross_entropy_with_logits",
         "grid_sampler_2d", "grid_sampler_3d", "polar", "prod", "_cdist", "trace",
         "view_as_complex", "cholesky", "cholesky_inverse", "cholesky_solve", "orgqr", "ormqr",
         "max_unpool2d", "max_unpool3d", "_adaptive_avg_pool3d", "adaptive_max_pool3d",
         "fractional_max_pool2d", "fractional_max_pool3d", "_gru_layer",
         "reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d",
         "replication_pad3d", "mse_loss", "nll_loss", "nll_loss2d", "_cross_entropy",
         "huber_loss", "smooth_l1_loss", "soft_margin_loss", "multi_margin_loss", "_ctc_loss",
         "multilabel_margin_loss", "_fft_c2c", "_fft_r2c", "_fft_c2r",
         "linalg_cholesky", "linalg_inv", "linalg_inv_ex", "linalg_solve", "linalg_qr",
         "linalg_householder_product", "linalg_eigh", "linalg_eigvalsh", "linalg_eig",
         "linalg_eigvals", "linalg_svd", "linalg_svdvals", "linalg_lstsq", "_matrix_rank",
         "_pinv", "linalg_lu_solve", "geqrf", "triangular_solve"),
        SINGLE,
    ),
    **dict.fromkeys(("cat", "stack", "index_copy"), WIDEST),
}  # fmt: skip


class Casting:
    """What is in force under autocast: the lower type, and whether casts of leaves are kept."""

    __slots__ = ("dtype", "keeps")

    def __init__(self, dtype: D.dtype, keeps: bool) -> None:
        self.dtype = dtype
        self.keeps = keeps

    def lower(self, t: Tensor) -> Tensor:
        """A factor in the lower type, for a function that knows of this by its mode only."""
        return cast(t, self.dtype, self)


# Note [Casts of leaves are kept]
# A weight that is used twice is converted once: its two gradients are added in the lower type. The
# kept casts go when the outermost autocast context ends.
_kept: Final[ContextVar[dict[int, tuple[Any, Any]] | None]] = ContextVar(
    "rushlight_autocast_casts", default=None
)


def forget() -> None:
    """Lets go of the casts that are kept."""
    _kept.set(None)


def eligible(t: Tensor) -> bool:
    """Whether autocast converts it: a tensor of a real floating type other than float64."""
    if not isinstance(t, TensorBase):
        return False
    dtype = T.from_raw(t._raw.dtype)
    return dtype.is_floating_point and dtype is not D.float64


def cast(t: Tensor, dtype: D.dtype, casting: Casting) -> Tensor:
    """`t` in `dtype` if it is a tensor that autocast converts, also inside lists; else as it is."""
    if isinstance(t, (list, tuple)):
        if not any(isinstance(item, TensorBase) for item in t):
            return t
        return type(t)(cast(item, dtype, casting) for item in t) if type(t) in (list, tuple) else t
    if not eligible(t) or T.from_raw(t._raw.dtype) is dtype:
        return t
    keeping = (
        casting.keeps
        and dtype is casting.dtype
        and t._requires_grad
        and t._node is None
        and t._view is None
        and T.from_raw(t._raw.dtype) is D.float32
    )
    if not keeping:
        return convert_tensor(t, dtype)
    kept = _kept.get()
    if kept is None:
        kept = {}
        _kept.set(kept)
    found = kept.get(id(t))
    if found is not None and found[0]() is t:
        return found[1]
    made = convert_tensor(t, dtype)
    kept[id(t)] = (weakref.ref(t), made)
    return made


def _widest(values: Any, lower: D.dtype) -> D.dtype:
    """The widest of the types that autocast converts: float32 where one has it."""
    found = lower
    for value in values:
        items = value if isinstance(value, (list, tuple)) else (value,)
        for item in items:
            if isinstance(item, TensorBase):
                dtype = T.from_raw(item._raw.dtype)
                if dtype.is_floating_point and dtype in (D.float32, D.float64):
                    found = D.float32 if found is not D.float64 else found
    return found


def _target(policy: int, values: Sequence[Tensor], casting: Casting) -> D.dtype:
    if policy == LOWER:
        return casting.dtype
    return D.float32 if policy == SINGLE else _widest(values, casting.dtype)


def arguments(op: Op, args: Arguments, mode: Mode) -> list[Any]:
    """The arguments of an operation as its policy wants them."""
    policy = POLICY.get(op.name, 0)
    if not policy:
        return args
    casting = mode.autocast
    dtype = _target(policy, args, casting)
    return [cast(arg, dtype, casting) for arg in args]


class _Autocast(Interposer):
    """Computes products in a lower type."""

    def call(self, op: Op, args: Arguments, mode: Mode, layered: bool) -> Any:
        """Changes the arguments."""
        if mode.autocast is not None:
            args[:] = arguments(op, args, mode)
        return NOT_HANDLED


interpose("autocast", _Autocast())


def run_converted(
    function: AnyCallable, policy: int, args: Positional, kwargs: Keywords, mode: Mode
) -> Any:
    """A call of a function of several operations, whose arguments are converted as a whole."""
    casting = mode.autocast
    if policy:
        dtype = _target(policy, (*args, *kwargs.values()), casting)
        args = tuple([cast(arg, dtype, casting) for arg in args])
        kwargs = {name: cast(value, dtype, casting) for name, value in kwargs.items()}
    before = CURRENT.get()
    try:
        CURRENT.set(derive(mode, autocast=None))
        return function(*args, **kwargs)
    finally:
        CURRENT.set(before)
