"""The element types that `out=` must have, operation by operation, each in PyTorch's own words.

Most operations convert their result to the type of `out`, where the category allows it. Those here
don't, or say it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..._base import dtypes as D, errors

Words = Callable[[D.dtype, D.dtype, int], str]

_C_NAMES: Final = {
    D.float32: "float", D.float64: "double", D.int64: "long int", D.int32: "int",
    D.int16: "short int", D.int8: "signed char", D.uint8: "unsigned char", D.bool_: "bool",
    D.float16: "c10::Half", D.bfloat16: "c10::BFloat16", D.complex64: "c10::complex<float>",
    D.complex128: "c10::complex<double>",
}  # fmt: skip


def _c(dtype: D.dtype) -> str:
    return _C_NAMES.get(dtype, str(dtype))


def _s(dtype: D.dtype) -> str:
    return D.scalar_name(dtype)


def _expected_out(have: D.dtype, want: D.dtype, position: int) -> str:
    return f"Expected out tensor to have dtype {_c(have)}, but got {_c(want)} instead"


def _expected_match(have: D.dtype, want: D.dtype, position: int) -> str:
    return (
        f"Expected the dtype for input and out to match, but got {_s(have)} for input's dtype and "
        f"{_s(want)} for out's dtype."
    )


def _expected_object(have: D.dtype, want: D.dtype, position: int) -> str:
    return (
        f"Expected object of scalar type {_s(have)} but got scalar type {_s(want)} for argument "
        "'out'"
    )


def _found_dtype(have: D.dtype, want: D.dtype, position: int) -> str:
    return f"Found dtype {_s(want)} but expected {_s(have)}"


def _scalar_type(have: D.dtype, want: D.dtype, position: int) -> str:
    return f"expected scalar_type {_s(have)} but found {_s(want)}"


def _of_mode(have: D.dtype, want: D.dtype, position: int) -> str:
    part = ("values", "indices")[position]
    return f"expected scalar type '{_s(have)}' but got '{_s(want)}' for {part} output"


def _of_kthvalue(have: D.dtype, want: D.dtype, position: int) -> str:
    return (
        "output indices must be of scalar type Long"
        if position
        else "output values must be of same type as input"
    )


def _of_histogram(have: D.dtype, want: D.dtype, position: int) -> str:
    part, place = ("bin_edges", " for dimension 0") if position else ("hist", "")
    return (
        f"torch.histogram: input tensor and {part} tensor should have the same dtype, but got "
        f"input {_c(have)} and {part} {_c(want)}{place}"
    )


def _of_search(have: D.dtype, want: D.dtype, position: int) -> str:
    return (
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
        "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype "
        f"{_s(want)} and out_int32 flag is {have is D.int32}"
    )


def _of_places(name: str) -> Words:
    return lambda have, want, position: (
        f"{name}: Expected out tensor to have scalar type Long but got scalar type{_s(want)}"
    )


def _of_norm(shown: str) -> Words:
    return lambda have, want, position: (
        f"{shown} expected out tensor dtype {_s(have)} but got: {_s(want)}"
    )


def _without_numbers(name: str) -> Words:
    return lambda have, want, position: f"{name} does not support non-boolean outputs."


_DECOMPOSITIONS: Final = (
    "linalg_cholesky", "linalg_cholesky_ex", "linalg_det", "linalg_eigh", "linalg_eigvalsh",
    "linalg_inv", "linalg_inv_ex", "linalg_ldl_factor", "linalg_ldl_factor_ex", "linalg_ldl_solve",
    "linalg_lu", "linalg_lu_factor", "linalg_lu_factor_ex", "linalg_lu_solve", "linalg_qr",
    "linalg_slogdet", "linalg_solve", "linalg_solve_ex", "linalg_svd", "linalg_svdvals",
)  # fmt: skip
#: Operations (or overloads, behind a point) whose `out` must have the type of the result.
EXACT: Final[dict[str, Words]] = {
    **dict.fromkeys(
        [
            "gather",
            "addmm",
            "argmax",
            "argmin",
            "renorm",
            "norm",
            "vector_norm",
            "isin",
            "linalg_cross",
            "cross",
            "addbmm",
            "baddbmm",
            "bmm",
            "addmv",
            "index_add",
            "scatter_reduce",
            "index_reduce",
            "scatter_add",
            "scatter",
            "diag",
            "argsort",
            "matrix_power",
            "avg_pool2d",
            "avg_pool3d",
            "qr",
            "linear",
            "softmax",
            "log_softmax",
            *_DECOMPOSITIONS,
            "inverse",
            "matmul",
            "mm",
            "sort",
            "svd",
            "topk",
            "triangular_solve",
            "tril",
            "triu",
            "max.dim",
            "min.dim",
        ],
        _expected_out,
    ),
    **dict.fromkeys(
        [
            "abs",
            "bitwise_not",
            "ceil",
            "clamp.",
            "conj_physical",
            "_conj_physical",
            "fix",
            "floor",
            "frac",
            "hardshrink",
            "clamp_max.",
            "clamp_min.",
            "gelu",
            "softplus",
            "softshrink",
            "lerp.Tensor",
            "neg",
            "negative",
            "round",
            "sgn",
            "sign",
            "trunc",
        ],
        _found_dtype,
    ),
    **dict.fromkeys(("cummax", "cummin", "logcumsumexp"), _scalar_type),
    **dict.fromkeys(
        ("linalg_solve_triangular", "logsigmoid"),
        lambda have, want, _: f"expected scalar type {_s(have)} but found {_s(want)}",
    ),
    "vecdot": lambda have, want, _: (
        f"linalg.vecdot: Expected out of dtype{_s(have)} but found {_s(want)}"
    ),
    "linalg_norm": _of_norm("linalg.norm"),
    "matrix_norm": _of_norm("linalg.matrix_norm"),
    "multi_dot": lambda have, want, _: (
        f"multi_dot(): expected out tensor to have dtype {_c(have)} but got {_c(want)}"
    ),
    **dict.fromkeys(("amax", "amin"), _expected_match),
    **dict.fromkeys(("complex", "polar"), _expected_object),
    **dict.fromkeys(("histc", "histogram"), _of_histogram),
    **{name: _without_numbers(name) for name in ("isneginf", "isposinf", "signbit")},
    "aminmax": _expected_out,
    "mode": _of_mode,
    "kthvalue": _of_kthvalue,
    "float_power": lambda have, want, _: (
        f"the output given to float_power has dtype {_s(want)} but the operation's result "
        f"requires dtype {_s(have)}"
    ),
    "nan_to_num": lambda have, want, _: (
        f"nan_to_num: dtype of out: {_s(want)} should be same as input: {_s(have)}"
    ),
    "where": lambda have, want, _: f"Expected out type to be {_s(have)} but got {_s(want)}",
    "masked_select": lambda *_: "masked_select(): self and result must have the same scalar type",
    "heaviside": lambda have, want, _: errors.no_heaviside(have.is_complex or want.is_complex),
    **{name: _of_places(name) for name in ("nonzero", "nonzero_static")},
    **dict.fromkeys(
        ("quantile", "nanquantile"),
        lambda *_: "quantile() out tensor must be same dtype as the input tensor",
    ),
    "take": lambda have, want, _: (
        f"take(): self and out expected to have the same dtype, but got self.dtype = {_s(have)} "
        f"and out.dtype = {_s(want)}"
    ),
    "index_select": lambda *_: "index_select(): self and result must have the same scalar type",
    **dict.fromkeys(
        ("dot", "vdot", "matmul.dot"),
        lambda have, want, _: f"result dtype {_s(want)} does not match input dtype {_s(have)}",
    ),
    **dict.fromkeys(
        ("mv", "matmul.mv"),  # `out` stands for what is added
        lambda have, want, _: (
            "addmv input tensors must have the same dtype, but got "
            f"{_s(want)}, {_s(have)}, and {_s(have)}"
        ),
    ),
    "tensordot": lambda have, want, _: (
        f"tensordot: Expected the output tensor to have dtype {_s(have)}, but got an output tensor "
        f"with dtype {_s(want)}"
    ),
    "hash_tensor": lambda have, want, _: (
        f"Expected result to be of dtype uint64, but got {_s(want)}"
    ),
    **dict.fromkeys(("bucketize", "searchsorted"), _of_search),
    "multinomial": lambda have, want, _: f"multinomial expects Long tensor out, got: {_s(want)}",
}


_ANSWERS: Final = (D.bool_, D.uint8)


def _of_joined(have: D.dtype, want: D.dtype, operand: D.dtype | None) -> Exception:
    return TypeError(
        f"torch.cat(): input types can't be cast to the desired output type {_s(want)}"
    )


def _of_logsumexp(have: D.dtype, want: D.dtype, operand: D.dtype | None) -> Exception:
    return RuntimeError(
        f"logsumexp(): Expected floating point type for result tensor, but got: {_s(want)}"
    )


def _of_mvlgamma(have: D.dtype, want: D.dtype, operand: D.dtype | None) -> Exception:
    return RuntimeError(f"mvlgamma: {errors.cannot_cast(_s(operand or have), _s(have))}")


def _safely(what: str, result: str) -> Callable[..., Exception]:
    """The words of what speaks of safe casts: how it names itself and its result."""
    return lambda have, want, operand: RuntimeError(
        f"{what}: Expected {result} to be safely castable from {_s(have)} dtype, but got "
        f"{result} with dtype {_s(want)}"
    )


#: What refuses in words of its own a cast that isn't allowed.
_CASTS: Final[dict[str, Callable[..., Exception]]] = {
    **dict.fromkeys(
        ("cat", "concat", "concatenate", "stack", "column_stack", "dstack", "hstack", "row_stack",
         "vstack"),
        _of_joined,
    ),
    "logsumexp": _of_logsumexp,
    "mvlgamma": _of_mvlgamma,
    "cholesky_inverse": _safely("cholesky_inverse", "result"),
    "cholesky_solve": _safely("cholesky_solve", "result"),
    "one_power": _safely("matrix_power", "result"),
    "cond": _safely("linalg.cond", "result"),
    "tensorinv": _safely("tensorinv", "result"),
    "tensorsolve": _safely("tensorsolve", "result"),
    "geqrf": _safely("torch.geqrf", "a"),
    "linalg_eigvals": _safely("torch.linalg.eigvals", "eigenvalues"),
    "pinv": _safely("linalg.pinv", "result"),
}  # fmt: skip


def refusal(
    name: str,
    overload: str,
    have: D.dtype,
    want: D.dtype,
    position: int,
    operand: D.dtype | None = None,
) -> Exception | None:
    """Why a result of type `have` may not be written into an `out` of type `want`.

    For `abs` the type of its operand is told as well: of a complex one the result is real. So it is
    for `mvlgamma`, which names it.
    """
    of_complex = operand is not None and operand.is_complex
    if operand is not None and of_complex and want.is_complex:
        have = operand
    if name in ("all", "any") and want not in _ANSWERS:
        return RuntimeError(f"{name} only supports bool tensor for result, got: {_s(want)}")
    if have is want:
        return None
    words = EXACT.get(f"{name}.{overload}") or EXACT.get(name)
    if words is None and (name.endswith(("_copy", "_scatter")) or "upsample_" in name):
        words = _expected_out
    if words is not None and not (of_complex and not want.is_complex):
        return RuntimeError(words(have, want, position))
    if D.can_cast(have, want):
        return None
    own = _CASTS.get(name)
    if own is not None:
        return own(have, want, operand)
    return RuntimeError(errors.cannot_cast(_s(have), _s(want)))
