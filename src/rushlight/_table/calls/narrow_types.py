"""Operations on the types that are only stored: complex numbers of half precision, 8-bit floats.

See Note [Stored narrow]. PyTorch's CPU computes some operations with them; the others it refuses,
naming the kernel that lacks the type. Both are said here, for all rows at once; nothing of this
module runs before a program has an array of such a type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..._array import types as T
from ..._array.narrow import rounded_to, wide_of
from ..._base import dtypes as D, errors
from ..._core import slow
from ..._core.mode import current

if TYPE_CHECKING:
    from ..._array.annotations import Array, RawType
    from ..._base.annotations import Arguments
    from ..._core.op import Op

#: What moves elements, or makes new ones, without computing: it has every type.
_MOVING_ROWS: Final = """
    alias alias_copy all any as_strided_values cat clone constant_pad_nd detach_copy diag_embed
    diagonal diagonal_backward diagonal_copy diagonal_scatter embedding eq expand expand_copy
    fill index index_backward index_select isnan isreal masked_select narrow_copy ne
    nonzero_static permute permute_copy pixel_shuffle pixel_unshuffle pick_from_planes
    place_in_planes placed_along repeat roll rot90 select select_backward select_copy
    select_scatter shifted slice slice_backward slice_copy slice_scatter split split_copy
    split_with_sizes split_with_sizes_copy squeeze squeeze_copy stack t t_copy taken_along
    transpose transpose_copy unbind unbind_copy unfold unfold_copy unfold_backward unsafe_split
    unsafe_split_with_sizes unsqueeze unsqueeze_copy view view_copy where view_as_complex_copy
    view_as_real_copy
"""
_MOVING: Final = frozenset(_MOVING_ROWS.split())

_COMPLEX_ROWS: Final = """
    abs add addcmul conv_input conv_output conv_weight convolution count_nonzero dist index_add
    index_copy index_fill index_put isfinite isinf linalg_svd masked_fill mul neg rsub sgn sub
    tril triu vector_norm view_as_real _std _std_mean _var _var_mean _nonzero _norm _isclose
"""
_COMPLEX: Final = _MOVING | frozenset(_COMPLEX_ROWS.split())

_SMALL: Final = _MOVING | frozenset(("_linear", "abs", "addbmm", "addmm", "mm", "mul"))

#: What has rules of its own for operands of several types, and computes nothing.
_TAKEN_AS_THEY_ARE: Final = frozenset(("cat", "stack"))

#: The kernels that PyTorch's refusals name, where it isn't the operation's name with `_cpu`.
_KERNELS: Final = {
    row: kernel
    for kernel, rows in {
        "addmm_impl_cpu_": "addbmm addmm mm", "addmv_impl_cpu": "addmv mv",
        "dot": "dot", "vdot": "vdot", "bmm": "bmm", "baddbmm": "baddbmm",
        "minimum_cpu": "clamp_max", "maximum_cpu": "clamp_min", "clamp_min_scalar_cpu": "relu",
        "addcdiv_cpu_out": "addcdiv", "addcmul_cpu_out": "addcmul",
        "add_stub": "add sub rsub dist", "sum_cpu": "sum mean", "prod_out_cpu": "prod",
        "cholesky_cpu": "cholesky linalg_cholesky linalg_cholesky_ex",
        "cumsum_out_cpu": "cumsum", "cumprod_out_cpu": "cumprod",
        "logcumsumexp_out_cpu": "logcumsumexp", "div_floor_cpu": "floor_divide",
        "exp_vml_cpu": "exp logsumexp soft_margin_loss", "exp2": "exp2", "pow": "pow square",
        "geqrf_cpu": "geqrf linalg_qr", "masked_fill": "masked_fill",
        "masked_scatter": "masked_scatter", "max_all": "max", "min_all": "min",
        "max_values_cpu": "amax", "min_values_cpu": "amin", "median_cpu": "median nanmedian",
        "softmax_lastdim_kernel_impl": "softmax",
        "log_softmax_lastdim_kernel_impl": "log_softmax",
        "GroupNormKernelImpl": "native_group_norm", "LayerNormKernelImpl": "native_layer_norm",
        "batch_norm": "native_batch_norm", "adaptive_max_pool2d": "adaptive_max_pool2d",
        "avg_pool2d": "avg_pool2d", "avg_pool3d_out_frame": "avg_pool3d",
        "log_sigmoid_cpu": "binary_cross_entropy_with_logits logsigmoid",
        "elu_cpu": "elu celu", "GeluKernelImpl": "gelu", "mse_cpu": "mse_loss",
        "smooth_l1_cpu": "smooth_l1_loss", "huber_cpu": "huber_loss",
        "nll_loss_out_frame": "nll_loss", "binary_cross_entropy": "binary_cross_entropy",
        "triangular_solve_cpu": "linalg_solve_triangular triangular_solve",
        "nan_to_num": "nan_to_num", "lerp_kernel_scalar": "lerp", "digamma": "digamma",
        "scatter_gather_tensor_cpu": "gather scatter scatter_add",
        "scatter_reduce_exclude_input_init": "scatter_reduce", "index_func_": "index_reduce",
        "index_add_": "index_add", "take_put_cpu": "put", "trace": "trace", "cross": "linalg_cross",
        "lu_cpu": "linalg_det linalg_lu linalg_lu_factor_ex linalg_solve linalg_solve_ex slogdet",
        "linalg_eig_out_cpu": "linalg_eig linalg_eigvals", "isinf": "isinf", "isfinite": "isfinite",
        "linalg_eigh_cpu": "linalg_eigh linalg_eigvalsh", "linalg_svd_cpu": "linalg_svdvals",
        "orgqr_cpu": "linalg_householder_product", "ldl_factor_kernel_cpu": "linalg_ldl_factor_ex",
        "sorting_kernel_method_name": "sort argsort", "tril": "tril", "triu": "triu",
        "sign_cpu": "sgn sign", "nonzero_count_cpu": "count_nonzero",
        "norm_cpu": "vector_norm", "clamp_scalar_cpu": "clamp",
        "slow_conv2d_cpu": "convolution conv_output",
    }.items()
    for row in rows.split()
}  # fmt: skip
_OF_VECTORS_ROWS: Final = """
    acos asin atan ceil cos erf erfc erfinv expm1 floor i0 lgamma log log10 log1p log2 round
    sin sqrt tan tanh trunc
"""
_OF_VECTORS: Final = frozenset(_OF_VECTORS_ROWS.split())
#: With a number 8-bit floats are refused by a kernel of its own.
_BESIDE_A_NUMBER: Final = {"mul": "mul_cpu_reduced_float", "div": "div_cpu_reduced_float"}


def forward(op: Op, raws: Arguments) -> object:
    """The raw results of an operation; computed wide and rounded where an operand is narrow.

    Raises:
        NotImplementedError: for what PyTorch's CPU doesn't compute with the type.
    """
    narrow = _narrow_in(raws)
    if narrow is None or op.is_view or op.row is None:
        return op.raw(*raws)
    name = op.row.schema.name
    if name == "_to_copy":
        return op.raw(*raws)
    recorder = current().recorder
    if recorder is not None:
        recorder.refuse("elements of a type that is only stored")
    dtype = T.from_raw(narrow)
    if name in _TAKEN_AS_THEY_ARE:
        return op.raw(*raws)
    wide_dtype = any(isinstance(raw, D.dtype) and raw is not dtype for raw in raws)
    if not (wide_dtype or (name.startswith("_") and name not in _PRIVATE)):
        _refuse(op, name, dtype, raws)
    results = op.raw(*[_widened(raw) for raw in raws])
    if wide_dtype:
        return results
    if op.n_out == 1:
        return _rounded(results, dtype)
    return [_rounded(result, dtype) for result in results]


def _narrow_in(raws: Arguments) -> RawType | None:
    for raw in raws:
        if type(raw) is T.ndarray:
            if wide_of(raw.dtype) is not None:
                return raw.dtype
        elif type(raw) is list:
            found = _narrow_in(raw)
            if found is not None:
                return found
    return None


def _refuse(op: Op, name: str, dtype: D.dtype, raws: Arguments) -> None:
    if dtype is D.complex32:
        if name in _COMPLEX:
            return
        _refuse_as_complex(op, raws)
    elif name in _BESIDE_A_NUMBER and not _takes_part(raws[1]):
        name = _BESIDE_A_NUMBER[name]
    elif name in _SMALL:
        if dtype is not D.float8_e8m0fnu or name in _MOVING or name == "mul":
            return
    elif (name == "isinf" and dtype is D.float8_e5m2) or (
        name == "isfinite" and dtype in (D.float8_e5m2, D.float8_e8m0fnu)
    ):
        return
    raise NotImplementedError(errors.not_implemented(_kernel(name, raws), D.scalar_name(dtype)))


def _refuse_as_complex(op: Op, raws: Arguments) -> None:
    """Refuses what is refused for all complex numbers, in the words for these."""
    try:
        op.raw(*[_widened(raw) for raw in raws])
    except (NotImplementedError, RuntimeError) as error:
        text = str(error)
        if "complex" in text.lower():
            raise type(error)(text.replace("ComplexFloat", "ComplexHalf")) from None


def _takes_part(raw: object) -> bool:
    return type(raw) is T.ndarray and raw.ndim > 0


def _kernel(name: str, raws: Arguments) -> str:
    if name in _PRIVATE:
        return _PRIVATE[name](raws)
    if name.endswith("_float"):
        return name
    return _KERNELS.get(name) or (f"{name}_vml_cpu" if name in _OF_VECTORS else f"{name}_cpu")


def _of_product(raws: Arguments) -> str:
    a, b = (raw.ndim for raw in raws[:2])
    if a == 1 or b == 1:
        return "dot" if a == b else "addmv_impl_cpu"
    return "addmm_impl_cpu_" if a == b == 2 else "bmm"


_PRIVATE: Final[dict[str, Callable[[Arguments], str]]] = {
    "_matmul": _of_product,
    "_linear": lambda raws: "addmm_impl_cpu_" if raws[0].ndim == 2 else "bmm",
    "_std": lambda raws: "std_cpu",
    "_std_mean": lambda raws: "std_cpu",
    "_var": lambda raws: "std_cpu",
    "_var_mean": lambda raws: "std_cpu",
    "_nonzero": lambda raws: "nonzero_count_cpu",
    "_norm": lambda raws: "norm_cpu",
    "_isclose": lambda raws: "mul_cpu_reduced_float",
    "_unique2": lambda raws: "unique",
    "_search": lambda raws: "searchsorted_out_cpu",
    "_native_dropout": lambda raws: "bernoulli_scalar_cpu_",
}


def _widened(raw: object) -> object:
    if type(raw) is T.ndarray:
        wide = wide_of(raw.dtype)
        return raw if wide is None else raw.astype(wide)
    if type(raw) is list:
        return [_widened(item) for item in raw]
    return raw


def _rounded(value: object, dtype: D.dtype) -> Array:
    result: Array = T.as_array(value)
    if dtype is not D.complex32:
        return rounded_to(result, T.to_raw(dtype)) if result.dtype is T.FLOAT32 else result
    if result.dtype == T.COMPLEX64:
        return result.astype(T.to_raw(dtype))
    return result.astype(T.to_raw(D.float16)) if result.dtype == T.FLOAT32 else result


slow.NARROW.forward = forward
