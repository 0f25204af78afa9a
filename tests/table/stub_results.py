"""What functions and methods give, where it isn't one tensor; for the stubs."""

from __future__ import annotations

from typing import Final

_BY_RESULT: Final = {
    "tuple[Tensor, ...]": """
        _embedding_bag_forward_only broadcast_tensors chunk dsplit gradient hsplit meshgrid split
        split_with_sizes tensor_split unbind unravel_index unsafe_chunk unsafe_split
        unsafe_split_with_sizes vsplit _to_cpu _histogramdd_bin_edges align_tensors""",
    "tuple[Tensor, Tensor]": """
        _aminmax _ctc_loss _fused_dropout _fused_rms_norm _native_multi_head_attention
        _pack_padded_sequence _pad_packed_sequence _scaled_dot_product_attention_math
        _sobol_engine_draw _unique _weight_norm_interface batch_norm_stats
        batch_norm_gather_stats batch_norm_update_stats gru lobpcg lstm_cell
        max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices
        adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices
        adaptive_max_pool3d_with_indices fractional_max_pool2d_with_indices
        fractional_max_pool3d_with_indices native_dropout rnn_relu rnn_tanh std_mean var_mean
        torch.adaptive_max_pool1d""",
    "tuple[Tensor, Tensor, Tensor]": """
        _native_batch_norm_legit _native_batch_norm_legit_no_training _unique2 lstm lu_with_info
        native_batch_norm native_group_norm native_layer_norm pca_lowrank svd_lowrank unique_dim
        _transform_bias_rescale_qkv""",
    "tuple[Tensor, Tensor, Tensor, Tensor]": "_embedding_bag torch.embedding_bag",
    "tuple[Tensor, Tensor, Tensor, Tensor, _int]": "_batch_norm_impl_index",
    "_bool": """
        _has_compatible_shallow_copy_type _is_view _is_zerotensor _nnpack_available
        _use_cudnn_ctc_loss allclose can_cast equal has_names is_coalesced is_complex is_conj
        is_contiguous is_distributed is_floating_point is_inference is_neg is_nonzero is_pinned
        is_same_size is_set_to is_shared is_signed is_storage is_tensor""",
    "_int": """
        _dimI _dimV _fused_sdp_choice _nnz __len__ data_ptr dense_dim dim element_size get_device
        get_num_interop_threads get_num_threads ndimension nelement numel sparse_dim
        storage_offset _debug_has_internal_overlap""",
    "dtype": "promote_types result_type",
    "Size": "broadcast_shapes",
    "None": """
        _assert _assert_async _assert_scalar _assert_tensor_metadata backward retain_grad
        record_stream __setitem__""",
    "Any": "tolist __reduce_ex__ to_dlpack __dlpack__ __torch_function__ apply_once",
    "tuple[_int, ...]": "dim_order",
    "tuple[Any, _int]": "__dlpack_device__",
    "ndarray[Any, Any]": "numpy __array__",
    "Number": "item",
    "UntypedStorage": "untyped_storage",
    "RemovableHandle": "register_hook register_post_accumulate_grad_hook",
    # What PyTorch has removed: in `linalg` the names live on.
    "NoReturn": "eig lstsq matrix_rank solve symeig reinforce",
    "Tensor": "linalg.matrix_rank linalg.solve",
}
#: The result of a name, `space.name` where it has another meaning elsewhere.
RESULTS: Final = {
    name: result for result, names in _BY_RESULT.items() for name in names.split()
}  # fmt: skip
#: Functions with named results: with these parameters only, where any are said.
NAMED: Final = {
    **dict.fromkeys(("max", "min", "median", "nanmedian"), "dim"),
    **dict.fromkeys(
        ("aminmax", "cummax", "cummin", "frexp", "geqrf", "histogram", "histogramdd", "kthvalue",
         "lu_unpack", "mode", "qr", "slogdet", "sort", "svd", "topk", "triangular_solve",
         "linalg.cholesky_ex", "linalg.eig", "linalg.eigh", "linalg.inv_ex",
         "linalg.ldl_factor", "linalg.ldl_factor_ex", "linalg.lstsq", "linalg.lu",
         "linalg.lu_factor",
         "linalg.lu_factor_ex", "linalg.qr",
         "linalg.slogdet", "linalg.solve_ex", "linalg.svd"),
        "",
    ),
}  # fmt: skip

_NO, _YES = "Literal[False]", "Literal[True]"
_UNIQUE = [
    f"(@self, sorted: _bool = True, return_inverse: {_NO} = False, return_counts: {_NO} = False,"
    " dim: _int | None = None) -> Tensor",
    f"(@self, sorted: _bool = True, *, return_inverse: {_YES}, return_counts: {_NO} = False,"
    " dim: _int | None = None) -> tuple[Tensor, Tensor]",
    f"(@self, sorted: _bool = True, return_inverse: {_NO} = False, *, return_counts: {_YES},"
    " dim: _int | None = None) -> tuple[Tensor, Tensor]",
    f"(@self, sorted: _bool = True, *, return_inverse: {_YES}, return_counts: {_YES},"
    " dim: _int | None = None) -> tuple[Tensor, Tensor, Tensor]",
    f"(@self, sorted: _bool, return_inverse: {_YES}, return_counts: {_NO} = False,"
    " dim: _int | None = None) -> tuple[Tensor, Tensor]",
    f"(@self, sorted: _bool, return_inverse: {_YES}, return_counts: {_YES},"
    " dim: _int | None = None) -> tuple[Tensor, Tensor, Tensor]",
    "(@self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False,"
    " dim: _int | None = None) -> Any",
]
#: The whole signatures of names whose result depends on their arguments; `@self` is the tensor.
WHOLE: Final = {
    "unique": _UNIQUE,
    "unique_consecutive": [
        s.replace("sorted: _bool = True, *,", "*,")
        .replace("sorted: _bool = True, ", "")
        .replace("sorted: _bool, ", "")
        for s in _UNIQUE
    ],
    "nonzero": [
        f"(@self, *, as_tuple: {_NO} = False) -> Tensor",
        f"(@self, *, as_tuple: {_YES}) -> tuple[Tensor, ...]",
        "(@self, *, as_tuple: _bool = False) -> Tensor | tuple[Tensor, ...]",
    ],
    "torch.nonzero": [
        f"(input: Tensor, *, as_tuple: {_NO} = False, out: Tensor | None = None) -> Tensor",
        f"(input: Tensor, *, as_tuple: {_YES}) -> tuple[Tensor, ...]",
        "(input: Tensor, *, as_tuple: _bool = False) -> Tensor | tuple[Tensor, ...]",
    ],
    "torch.split": [
        "(tensor: Tensor, split_size_or_sections: _int | Sequence[_int], dim: _int = 0)"
        " -> tuple[Tensor, ...]",
    ],
    "torch.where": [
        "(condition: Tensor) -> tuple[Tensor, ...]",
        "(condition: Tensor, input: Tensor | Scalar, other: Tensor | Scalar, *,"
        " out: Tensor | None = None) -> Tensor",
    ],
    "torch.einsum": ["(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor"],
    "torch.broadcast_tensors": ["(*tensors: Tensor) -> tuple[Tensor, ...]"],
    "torch.broadcast_shapes": ["(*shapes: _int | Sequence[_int]) -> Size"],
    "torch.block_diag": ["(*tensors: Tensor | Scalar) -> Tensor"],
    "torch.cartesian_prod": ["(*tensors: Tensor) -> Tensor"],
    "torch.chain_matmul": ["(*matrices: Tensor, out: Tensor | None = None) -> Tensor"],
    "torch.meshgrid": [
        "(*tensors: Tensor | Sequence[Tensor], indexing: Literal['ij', 'xy'] | None = None)"
        " -> tuple[Tensor, ...]",
    ],
    "torch.tensordot": [
        "(a: Tensor, b: Tensor, dims: _int | Sequence[Sequence[_int]] | Tensor = 2,"
        " out: Tensor | None = None) -> Tensor",
    ],
    "torch.from_numpy": ["(ndarray: ndarray[Any, Any]) -> Tensor"],
    "torch.lu": [
        f"(A: Tensor, pivot: _bool = True, get_infos: {_NO} = False,"
        " out: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]",
        f"(A: Tensor, pivot: _bool = True, *, get_infos: {_YES},"
        " out: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor]",
    ],
    "Tensor.lu": [
        f"(self, pivot: _bool = True, get_infos: {_NO} = False) -> tuple[Tensor, Tensor]",
        f"(self, pivot: _bool = True, *, get_infos: {_YES}) -> tuple[Tensor, Tensor, Tensor]",
    ],
    "Tensor.where": ["(self, condition: Tensor, other: Tensor | Scalar) -> Tensor"],
    "Tensor.split": [
        "(self, split_size: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]"
    ],
    "Tensor.size": ["(self) -> Size", "(self, dim: _int) -> _int"],
    "Tensor.stride": ["(self) -> tuple[_int, ...]", "(self, dim: _int) -> _int"],
    "Tensor.type": [
        "(self, dtype: None = None, non_blocking: _bool = False) -> str",
        "(self, dtype: DTypeLike | str | _type[Any], non_blocking: _bool = False) -> Tensor",
    ],
    "Tensor.to": [
        "(self, dtype: DTypeLike, non_blocking: _bool = False, copy: _bool = False, *,"
        " memory_format: memory_format | None = None) -> Tensor",
        "(self, device: DeviceLike | None = None, dtype: DTypeLike | None = None,"
        " non_blocking: _bool = False, copy: _bool = False, *,"
        " memory_format: memory_format | None = None) -> Tensor",
        "(self, other: Tensor, non_blocking: _bool = False, copy: _bool = False, *,"
        " memory_format: memory_format | None = None) -> Tensor",
    ],
    "Tensor.norm": [
        "(self, p: Scalar | str | None = 'fro', dim: _int | Sequence[_int] | None = None,"
        " keepdim: _bool = False, dtype: DTypeLike | None = None) -> Tensor",
    ],
    "torch.norm": [
        "(input: Tensor, p: Scalar | str | None = 'fro', dim: _int | Sequence[_int] | None = None,"
        " keepdim: _bool = False, out: Tensor | None = None, dtype: DTypeLike | None = None)"
        " -> Tensor",
    ],
    "Tensor.apply_": ["(self, callable: Callable[[Any], Any]) -> Tensor"],
    "Tensor.map_": ["(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor"],
    "Tensor.map2_": [
        "(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor"
    ],
    "Tensor.numpy": ["(self, *, force: _bool = False) -> ndarray[Any, Any]"],
}
_POOLS: Final = ("max_pool1d", "max_pool2d", "max_pool3d", "adaptive_max_pool1d",
                 "adaptive_max_pool2d", "adaptive_max_pool3d", "fractional_max_pool2d",
                 "fractional_max_pool3d")  # fmt: skip
#: Functions with a flag that adds a result.
FLAGGED: Final = dict.fromkeys((f"nn.functional.{name}" for name in _POOLS), "return_indices")
#: The words that a parameter takes, by its name; `space.name.parameter` for one function alone.
WORDS: Final = {
    "reduction": ("none", "mean", "sum"),
    "nn.functional.kl_div.reduction": ("none", "batchmean", "sum", "mean"),
    "rounding_mode": ("trunc", "floor"),
    "indexing": ("ij", "xy"),
    "approximate": ("none", "tanh"),
    "side": ("left", "right"),
    "UPLO": ("L", "U", "l", "u"),
    "padding_mode": ("zeros", "border", "reflection"),
    "fft.norm": ("forward", "backward", "ortho"),
    "nn.functional.pad.mode": ("constant", "reflect", "replicate", "circular"),
    "nn.functional.grid_sample.mode": ("bilinear", "nearest", "bicubic"),
    "nn.functional.interpolate.mode": (
        "nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact",
        "lanczos",
    ),
    "nn.functional.embedding_bag.mode": ("sum", "mean", "max"),
}  # fmt: skip
