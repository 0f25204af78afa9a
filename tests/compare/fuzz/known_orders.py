"""Decided differences of calls that both sides refuse by the same exception; see known.py."""

from __future__ import annotations

from tests.compare.fuzz.known import Named

#: Operations of which several arguments may be wrong, and which name another of the faults first,
#: or the same in other words.
FAULTS = (
    "abs_ adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool3d add add_ addbmm addcdiv_ "
    "addcmul addcmul_ addmm addr addr_ affine_grid alpha_dropout as_strided as_strided_ "
    "as_strided_copy as_strided_scatter avg_pool2d avg_pool3d backward baddbmm bartlett_window "
    "batch_norm binary_cross_entropy binary_cross_entropy_with_logits blackman_window bmm "
    "broadcast_to celu chain_matmul cholesky cholesky_solve clamp clip conv1d conv2d "
    "conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution cosine_similarity "
    "cuda cumsum_ cumulative_trapezoid diag diagflat diff eig eigvals embedding_bag "
    "fake_quantize_per_tensor_affine fft2 fftfreq fftn floor_divide_ fmod_ "
    "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
    "fractional_max_pool3d_with_indices glu grid_sampler hamming_window hash_tensor histc "
    "histogramdd hsplit huber_loss ifft2 ifftn ihfft2 ihfftn index_put index_put_ index_reduce "
    "inner instance_norm is_pinned istft kaiser_window l1_loss linear local_response_norm "
    "logspace logsumexp lp_pool1d lp_pool2d lstm lstm_cell lstsq lu lu_factor lu_factor_ex "
    "masked_scatter_ matmul matrix_norm matrix_rank max_pool1d max_pool2d "
    "max_pool2d_with_indices max_pool3d max_unpool1d max_unpool2d max_unpool3d mean multinomial "
    "mvlgamma_ nanmean nanquantile narrow_copy native_batch_norm native_dropout "
    "native_group_norm nll_loss norm norm_except_dim normal ormqr pinv prelu randint "
    "randint_like random_ repeat_interleave rfft2 rfftfreq rsub scaled_dot_product_attention "
    "searchsorted segment_reduce soft_margin_loss split stft sub sub_ subtract subtract_ "
    "svdvals take tensordot tensorinv tensorsolve threshold tile to_sparse to_sparse_bsc "
    "to_sparse_bsr to_sparse_csc to_sparse_csr trapz triplet_margin_with_distance_loss "
    "triu_indices unflatten unfold unravel_index"
)
#: What Python or NumPy says where nobody has looked at the arguments; that isn't decided.
_BY_ACCIDENT = (
    r"'\S+' object |unsupported operand|.*not supported between|.*index out of range$|"
    r"operands could not|.*has no attribute|iteration over|len\(\)"
)
#: Faults of what a tensor is, its memory and its history, and faults of what doesn't fit.
_OF_STATE = (
    "single memory location|Inference tensors cannot be saved|A view was created in |"
    "is a view of a view which was created|is a view and its base|a leaf Variable that requires"
)
_OF_FIT = (
    "size of tensor|[sS]hape|[dD]imension|[0-9]D tensor|result type|dtype|"
    "multiple times in the list of dims|Number of indices|tensors expected|Indexing dim|"
    "have the same"
)
_FAULTS = "Of several faults one is told"
#: Their `out` that requires grad is refused under another name, or sooner than another fault.
_OUT_WITH_GRADIENT = (
    "argsort bitwise_not bitwise_or bitwise_right_shift conj_physical det eigvals eigvalsh "
    "floor_divide householder_product i0e i1 i1e inv inverse isin isneginf "
    "ldl_solve log_ndtr log_softmax ndtr ndtri orgqr quantile select_copy "
    "softmax solve xlog1py"
)


def called(names: str) -> str:
    """A pattern for a statement that calls one of these functions or methods."""
    return rf"[.]({'|'.join(names.split())})\("


ORDERS: list[Named] = [
    Named(
        "Of several faults one is told",
        kind="message",
        statement=called(FAULTS) + "| @ ",
        ours=rf"^(?!{_BY_ACCIDENT})",
    ),
    Named(
        "Of several faults one is told",
        kind="message",
        statement=called(_OUT_WITH_GRADIENT),
        torch=r"functions with out=\.\.\. arguments don't support|Expected out tensor|"
        r"size of tensor|doesn't match|can't be cast|a leaf Variable that requires grad",
        ours=r"functions with out=\.\.\. arguments don't support automatic differentiation",
    ),
    Named(
        "A copied view that is written somewhere has no history",
        statement=r"[.]\w+_copy\(.*out=",
        ours=r"aten::\w+_copy\(\): functions with out=\.\.\. arguments don't support automatic",
    ),
    Named(
        "A dilation is never zero",
        kind="message|refused|exception type",
        statement=r"[.]conv_transpose\dd\(.*dilation=",
        ours=r"dilation should be greater than zero",
    ),
    Named(
        "Places of a triangle are counted without end",
        statement=r"[.]tri[lu]_indices\(.*2\*\*6[0-9]",
        ours=r"overflow",
    ),
    Named(
        _FAULTS,
        "message|exception type",
        torch=_OF_STATE,
        ours=_OF_FIT,
    ),
    Named(
        _FAULTS,
        "message|exception type",
        torch=_OF_FIT,
        ours=_OF_STATE,
    ),
    Named(
        _FAULTS,
        "message|exception type",
        r"\b(addcdiv|baddbmm|addbmm|scatter_add|ldexp|index_add|index_copy|mul|gcd|lcm)_\(|"
        r"torch\.matmul\(.*out=",
        torch=r"^(expand\(torch|Integer division with addcdiv|The expanded size|Incompatible "
        r"matrix|Index tensor must have|Dimension specified as 0|ldexp can't be cast|"
        r"index_add_\(\): Number of indices|A view was created in (no_grad|inference) mode|"
        r"both arguments to|vector \+ matrix @ vector|1D tensors expected|Expected out|"
        "IndexError: Dimension out of range)",
    ),
    Named(
        _FAULTS,
        "message",
        r"\.(rand|zeros|randperm|range)\(",
        torch=r"cannot resize variables that|requires a CUDA|^Expected one of cpu, cuda|"
        r"^rand\(\) received an invalid combination of arguments - got \(Tensor, dtype|"
        "argument 'layout' must be torch.layout, not",
    ),
    Named(
        _FAULTS,
        "exception type",
        r"(scatter_reduce_|scatter_add_|silu|glu|baddbmm_|cumsum_|cumprod_|ldexp|linspace|logspace|"
        r"mean|clamp_max_|clamp_min_|unfold|adaptive_(avg|max)_pool\dd|logsigmoid|softshrink|"
        r"lu_unpack|max_unpool\dd|bmm|lstm_cell|bilinear|fractional_max_pool\dd_with_indices)\(|"
        r"^x\[.*\] = |@= ",
        torch=r"^IndexError: Dimension (out of|specified as)|^RuntimeError: (Autograd not support|"
        r"Halving dim|result type Long|Expected one of cpu|aten::bmm|expected m1 and m2)|"
        "^NotImplementedError: (clamp is not supported for complex|.* not implemented for '("
        "ComplexHalf|Bool)'|.*(log_sigmoid_cpu|softshrink_check))|could not infer output dtype|"
        "^ValueError: Input dimension should be at least|^TypeError: cond must be a b|"
        "weight_ih first dim must be|kernel_size must either be a single Int|"
        "expected m1 and m2 to have the same dtype",
        ours=rf"^\w+: (?!{_BY_ACCIDENT})",
    ),
]
