"""Which module declares what, see Note [Rows are loaded late].

Written by `python -m tests.table.homes` from the rows: edit these instead.
"""

from typing import Final

# fmt: off

#: Operations of which a module declares the rows.
ROWS: Final = {
    "elementwise.activation": "relu leaky_relu elu celu gelu silu mish softplus logsigmoid "
        "hardtanh hardsigmoid hardswish hardshrink softshrink _prelu_kernel glu glu_backward",
    "elementwise.arithmetic": "add sub _sub rsub _rsub mul div floor_divide _floor_divide_ "
        "remainder fmod neg reciprocal sqrt rsqrt pow square _cube _root addcmul addcdiv lerp "
        "hypot",
    "elementwise.compare": "eq _eq_ ne _ne_ lt _lt_ le _le_ gt _gt_ ge _ge_ isnan isinf isfinite "
        "isposinf isneginf isreal _isclose logical_and logical_or logical_xor logical_not "
        "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift "
        "gcd lcm nextafter ldexp frexp where masked_fill",
    "elementwise.complexes": "abs angle polar complex _conj _conj_physical _conj_physical_",
    "elementwise.convert": "_to_copy",
    "elementwise.exponential": "exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 xlogy "
        "sigmoid logit",
    "elementwise.number": "_plus _minus _times _over",
    "elementwise.quantize": "fake_quantize_per_tensor_affine_cachemask "
        "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams "
        "fake_quantize_per_channel_affine_cachemask",
    "elementwise.rounding": "ceil floor trunc round frac sign sgn signbit copysign nan_to_num "
        "clamp clamp_min clamp_max maximum minimum fmax fmin heaviside _heaviside_",
    "elementwise.rrelu": "rrelu_with_noise",
    "elementwise.special": "erf erfc erfinv digamma lgamma polygamma _polygamma_ mvlgamma igamma "
        "igammac i0 i0e i1 i1e ndtr ndtri log_ndtr entr erfcx xlog1py zeta airy_ai bessel_j0 "
        "bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 "
        "modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
        "spherical_bessel_j0 chebyshev_polynomial_t shifted_chebyshev_polynomial_t "
        "chebyshev_polynomial_u shifted_chebyshev_polynomial_u chebyshev_polynomial_v "
        "shifted_chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_w "
        "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p",
    "elementwise.threshold": "threshold threshold_backward",
    "elementwise.trigonometric": "sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh "
        "_asinh_ _acosh_ _atanh_ atan2 sinc deg2rad rad2deg",
    "linalg.decompose": "linalg_qr geqrf linalg_householder_product orgqr ormqr linalg_eigh "
        "linalg_eigvalsh linalg_eig linalg_eigvals linalg_svd linalg_svdvals _pinv _matrix_rank "
        "linalg_lstsq",
    "linalg.fft": "_fft_c2c _fft_r2c _fft_c2r",
    "linalg.ldl": "linalg_ldl_factor_ex linalg_ldl_solve",
    "linalg.linalg": "linalg_inv linalg_inv_ex linalg_solve linalg_solve_ex "
        "linalg_solve_triangular triangular_solve _cofactors linalg_det linalg_slogdet slogdet "
        "linalg_cholesky linalg_cholesky_ex cholesky cholesky_solve cholesky_inverse "
        "linalg_matrix_exp",
    "linalg.lu": "linalg_lu linalg_lu_factor_ex permutation_matrix lu_unpack linalg_lu_solve",
    "linalg.matmul": "mm mv dot vdot bmm _matmul _linear addmm addmv baddbmm addbmm addr",
    "linalg.matrix": "linalg_cross _cdist",
    "linalg.pair_distance": "_pdist_backward _pdist_forward",
    "modes.dual": "_make_dual _unpack_dual",
    "names.operator_names": "detach_copy _native_dropout",
    "nn.adaptive": "_adaptive_avg_pool2d_backward _adaptive_avg_pool2d "
        "_adaptive_avg_pool3d_backward _adaptive_avg_pool3d adaptive_max_pool2d_backward "
        "adaptive_max_pool2d adaptive_max_pool3d_backward adaptive_max_pool3d "
        "fractional_max_pool2d_backward fractional_max_pool2d fractional_max_pool3d_backward "
        "fractional_max_pool3d",
    "nn.attention": "_safe_softmax _scaled_dot_product_flash_attention_for_cpu "
        "_scaled_dot_product_fused_attention",
    "nn.class_loss": "nll_loss nll_loss2d _cross_entropy multi_margin_loss multilabel_margin_loss",
    "nn.conv": "channel_sums conv_output conv_input conv_weight convolution",
    "nn.ctc_loss": "_ctc_loss_backward _ctc_loss",
    "nn.distance_loss": "_norm",
    "nn.embed": "embedding _sparse_embedding _embedding_bag _sparse_embedding_bag "
        "_max_embedding_bag one_hot",
    "nn.fold": "im2col col2im",
    "nn.grid": "grid_sampler_2d grid_sampler_3d affine_grid_generator",
    "nn.interpolation": "upsample_nearest1d_backward upsample_nearest1d "
        "upsample_nearest2d_backward upsample_nearest2d upsample_nearest3d_backward "
        "upsample_nearest3d _upsample_nearest_exact1d_backward _upsample_nearest_exact1d "
        "_upsample_nearest_exact2d_backward _upsample_nearest_exact2d "
        "_upsample_nearest_exact3d_backward _upsample_nearest_exact3d upsample_linear1d_backward "
        "upsample_linear1d upsample_bilinear2d_backward upsample_bilinear2d "
        "upsample_trilinear3d_backward upsample_trilinear3d upsample_bicubic2d_backward "
        "upsample_bicubic2d _upsample_bilinear2d_aa_backward _upsample_bilinear2d_aa "
        "_upsample_bicubic2d_aa_backward _upsample_bicubic2d_aa _upsample_lanczos2d_aa_backward "
        "_upsample_lanczos2d_aa",
    "nn.linear_loss": "_linear_cross_entropy_batch_chunked",
    "nn.loss": "mse_loss smooth_l1_loss huber_loss soft_margin_loss binary_cross_entropy "
        "binary_cross_entropy_with_logits",
    "nn.normalization": "native_layer_norm native_batch_norm native_group_norm",
    "nn.packed_sequences": "_pack_rows _place_rows",
    "nn.pixel_shuffle": "pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle",
    "nn.pool": "avg_pool2d_backward avg_pool2d avg_pool3d_backward avg_pool3d pick_from_planes "
        "place_in_planes max_pool2d_with_indices_backward max_pool2d_with_indices "
        "max_pool3d_with_indices_backward max_pool3d_with_indices max_unpool2d max_unpool3d",
    "nn.recurrent": "_rnn_layer _lstm_layer _gru_layer",
    "nn.rms_norm": "_rms_norm",
    "random.random_discrete": "poisson binomial _standard_gamma_grad _standard_gamma "
        "_sample_dirichlet _dirichlet_grad",
    "random.sampling": "_normal_mean _normal_std _normal_both _bernoulli _bernoulli_number",
    "reduce.extreme": "placed_along taken_along ties max min amax amin aminmax argmax argmin "
        "median nanmedian mode kthvalue",
    "reduce.histogram": "_of_histogram _of__histogramdd_bin_edges _of__histogramdd_from_bin_cts "
        "_of__histogramdd_from_bin_tensors",
    "reduce.norm": "vector_norm dist renorm",
    "reduce.reduce": "sum mean others_product prod nansum all any count_nonzero logsumexp _var "
        "_std _var_mean _std_mean",
    "reduce.scan": "reverse_cumsum shifted recurrence exclusive_products cumsum cumprod "
        "logcumsumexp accumulated_along cummax cummin",
    "reduce.segment": "_segment_reduce_backward segment_reduce hash_tensor",
    "reduce.softmax": "softmax log_softmax",
    "reduce.sort": "sort argsort topk _search _unique2 unique_dim _unique_consecutive histc "
        "bincount",
    "shape.copy": "_copy fill _fill_ _zero _unsqueeze_ _squeeze_ _t_ _transpose_ _as_strided_ "
        "_set_",
    "shape.derivative_checks": "_test_autograd_multiple_dispatch "
        "_test_autograd_multiple_dispatch_view _test_autograd_multiple_dispatch_view_copy "
        "_test_warn_in_autograd",
    "shape.index": "index index_backward _index_put _basic_index",
    "shape.join": "cat stack _block_diag",
    "shape.pad": "reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
        "replication_pad2d replication_pad3d _pad_circular",
    "shape.part_scatter": "select_scatter slice_scatter slice_inverse diagonal_scatter "
        "_as_strided_scatter",
    "shape.permute": "transpose t permute",
    "shape.rearrange": "repeat repeat_backward flip roll rot90 tril triu diag_embed trace "
        "constant_pad_nd",
    "shape.scatter": "index_select index_select_backward index_add index_copy index_fill gather "
        "scatter scatter_add scatter_reduce index_reduce take put masked_select masked_place "
        "masked_scatter masked_scatter_source _nonzero nonzero_static",
    "shape.shape": "view _reshape_alias _unsafe_view clone _clone_contiguous _clone_channels_last "
        "alias expand _reshape_words squeeze unsqueeze",
    "shape.slices": "select slice diagonal unfold _as_strided view_as_real view_as_complex "
        "select_backward slice_backward diagonal_backward unfold_backward as_strided_backward "
        "as_strided_values",
    "shape.sparse": "_sparse_product",
    "shape.split": "split split_with_sizes unsafe_split unsafe_split_with_sizes unbind",
    "shape.view_copies": "alias_copy view_copy expand_copy permute_copy transpose_copy t_copy "
        "squeeze_copy unsqueeze_copy select_copy slice_copy diagonal_copy unfold_copy "
        "view_as_real_copy split_copy split_with_sizes_copy unbind_copy _as_strided_copy "
        "view_as_complex_copy narrow_copy",
}

#: Public functions that are no rows.
COMPOSITES: Final = {
    "elementwise.activation": "prelu nn.functional.prelu nn.functional.relu nn.functional.silu "
        "nn.functional.mish nn.functional.hardsigmoid nn.functional.hardswish nn.functional.relu6 "
        "nn.functional.leaky_relu nn.functional.elu selu nn.functional.selu nn.functional.celu "
        "nn.functional.hardtanh nn.functional.threshold nn.functional.softsign selu_ "
        "nn.functional.selu_ celu_ nn.functional.celu_ nn.functional.elu_ "
        "nn.functional.leaky_relu_ nn.functional.hardtanh_ threshold_ nn.functional.threshold_ "
        "nn.functional.relu_",
    "elementwise.arithmetic": "float_power private.float_power_ positive",
    "elementwise.compare": "isclose allclose equal private.where where",
    "elementwise.complexes": "private.abs_ conj conj_physical private.conj_physical_ is_conj "
        "is_neg real imag is_complex is_floating_point",
    "elementwise.convert": "private.to private.bool private.byte private.char private.short "
        "private.int private.long private.half private.bfloat16 private.float private.double "
        "private.cfloat private.cdouble private.chalf private.cpu private.cuda private.is_pinned "
        "private.type_as private.type private.item private.tolist private.numpy result_type "
        "promote_types can_cast",
    "elementwise.dropout": "dropout dropout_ feature_dropout feature_dropout_ alpha_dropout "
        "alpha_dropout_ feature_alpha_dropout feature_alpha_dropout_ nn.functional.dropout "
        "nn.functional.alpha_dropout nn.functional.feature_alpha_dropout nn.functional.dropout1d "
        "nn.functional.dropout2d nn.functional.dropout3d",
    "elementwise.quantize": "fake_quantize_per_tensor_affine fake_quantize_per_channel_affine",
    "elementwise.rounding": "special.round",
    "elementwise.rrelu": "rrelu rrelu_ nn.functional.rrelu nn.functional.rrelu_",
    "elementwise.special": "private.polygamma private.polygamma_",
    "elementwise.trigonometric": "nn.functional.tanhshrink",
    "linalg.decompose": "qr private.thin_svd svd linalg.pinv pinverse linalg.matrix_rank",
    "linalg.einsum": "einsum",
    "linalg.fft": "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fftn fft.fft2 "
        "fft.ifftn fft.ifft2 fft.rfftn fft.rfft2 fft.irfftn fft.irfft2 fft.hfftn fft.hfft2 "
        "fft.ihfftn fft.ihfft2 fft.fftshift fft.ifftshift fft.fftfreq fft.rfftfreq",
    "linalg.ldl": "linalg.ldl_factor",
    "linalg.linalg": "inverse private.cofactors logdet matrix_exp matrix_power "
        "linalg.matrix_power private.same_phase",
    "linalg.lowrank": "svd_lowrank pca_lowrank lobpcg",
    "linalg.lu": "linalg.lu_factor lu private.lu lu_solve private.inverse_adjoint",
    "linalg.matmul": "matmul linalg.matmul nn.functional.linear bilinear nn.functional.bilinear "
        "outer inner tensordot chain_matmul",
    "linalg.matrix": "linalg.matrix_norm linalg.norm linalg.cond linalg.multi_dot private.cross3 "
        "cross linalg.vecdot kron ger linalg.vander vander linalg.tensorinv linalg.tensorsolve "
        "linalg.diagonal cov corrcoef cdist",
    "linalg.pair_distance": "pdist nn.functional.pdist",
    "linalg.scaled_products": "_scaled_mm",
    "linalg.spectral_windows": "signal.windows.exponential signal.windows.cosine "
        "signal.windows.gaussian signal.windows.kaiser signal.windows.general_cosine "
        "signal.windows.general_hamming signal.windows.hamming signal.windows.hann "
        "signal.windows.blackman signal.windows.nuttall signal.windows.bartlett hann_window "
        "hamming_window blackman_window bartlett_window kaiser_window",
    "linalg.spectrogram": "stft istft",
    "names.operator_names": "detach detach_ _conj _conj_physical _softmax _log_softmax "
        "_safe_softmax _masked_softmax _new_zeros_with_same_feature_meta _add_relu "
        "_grid_sampler_2d_cpu_fallback special.logsumexp _assert _is_all_true _is_any_true "
        "nuclear_norm frobenius_norm norm_except_dim _weight_norm _stack _shape_as_tensor "
        "get_device private.is_nonzero _cast_Byte _cast_Char _cast_Short _cast_Int _cast_Long "
        "_cast_Half _cast_Float _cast_Double native_dropout native_batch_norm native_group_norm "
        "_ctc_loss embedding_renorm_ _aminmax solve eig symeig matrix_rank lstsq private.apply_ "
        "private.map_ private.map2_ private.is_same_size private.is_set_to private.dim_order "
        "private.reinforce",
    "names.synonyms": "absolute private.absolute_ subtract private.subtract_ multiply "
        "private.multiply_ divide private.divide_ true_divide private.true_divide_ negative "
        "private.negative_ arccos private.arccos_ arccosh private.arccosh_ arcsin private.arcsin_ "
        "arcsinh private.arcsinh_ arctan private.arctan_ arctanh private.arctanh_ arctan2 "
        "private.arctan2_ clip private.clip_ fix private.fix_ greater private.greater_ "
        "greater_equal private.greater_equal_ less private.less_ less_equal private.less_equal_ "
        "not_equal private.not_equal_ special.expit special.gammainc special.gammaincc "
        "special.gammaln special.multigammaln special.psi abs_ acos_ acosh_ arccos_ arccosh_ "
        "arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ atanh_ ceil_ clamp_ clamp_max_ "
        "clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ erf_ erfc_ exp2_ exp_ expm1_ fix_ "
        "floor_ frac_ gcd_ i0_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ "
        "negative_ rad2deg_ reciprocal_ relu_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ "
        "square_ tan_ tanh_ trunc_ xlogy_",
    "nn.adaptive": "nn.functional.adaptive_avg_pool2d nn.functional.adaptive_avg_pool3d "
        "adaptive_avg_pool1d nn.functional.adaptive_avg_pool1d adaptive_max_pool1d "
        "nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool1d_with_indices "
        "nn.functional.adaptive_max_pool2d nn.functional.adaptive_max_pool2d_with_indices "
        "nn.functional.adaptive_max_pool3d nn.functional.adaptive_max_pool3d_with_indices "
        "nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool2d_with_indices "
        "nn.functional.fractional_max_pool3d nn.functional.fractional_max_pool3d_with_indices",
    "nn.attention": "nn.functional.scaled_dot_product_attention",
    "nn.class_loss": "nn.functional.nll_loss nn.functional.cross_entropy "
        "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss "
        "nn.functional.multilabel_soft_margin_loss",
    "nn.conv": "_convolution private.thnn_conv2d private.slow_conv3d private.slow_conv_dilated2d "
        "private.slow_conv_transpose2d private.slow_conv_dilated3d private.slow_conv_transpose3d "
        "conv1d nn.functional.conv1d conv2d nn.functional.conv2d conv3d nn.functional.conv3d "
        "conv_transpose1d nn.functional.conv_transpose1d conv_transpose2d "
        "nn.functional.conv_transpose2d conv_transpose3d nn.functional.conv_transpose3d "
        "_convolution_mode conv_tbc nn.functional.conv_tbc",
    "nn.ctc_loss": "ctc_loss nn.functional.ctc_loss",
    "nn.distance_loss": "cosine_similarity nn.functional.cosine_similarity pairwise_distance "
        "nn.functional.pairwise_distance nn.functional.cosine_embedding_loss "
        "cosine_embedding_loss nn.functional.margin_ranking_loss margin_ranking_loss "
        "nn.functional.hinge_embedding_loss hinge_embedding_loss "
        "nn.functional.triplet_margin_loss triplet_margin_loss "
        "nn.functional.triplet_margin_with_distance_loss nn.functional.normalize",
    "nn.embed": "nn.functional.embedding nn.functional.embedding_bag embedding_bag _embedding_bag "
        "_embedding_bag_forward_only",
    "nn.fold": "nn.functional.unfold nn.functional.fold",
    "nn.grid": "grid_sampler nn.functional.grid_sample nn.functional.affine_grid",
    "nn.interpolation": "nn.functional.interpolate nn.functional.upsample "
        "nn.functional.upsample_nearest nn.functional.upsample_bilinear",
    "nn.likelihood_loss": "nn.functional.kl_div kl_div nn.functional.poisson_nll_loss "
        "poisson_nll_loss nn.functional.gaussian_nll_loss",
    "nn.linear_loss": "nn.functional.linear_cross_entropy",
    "nn.loss": "nn.functional.mse_loss nn.functional.l1_loss nn.functional.smooth_l1_loss "
        "nn.functional.huber_loss nn.functional.soft_margin_loss "
        "nn.functional.binary_cross_entropy nn.functional.binary_cross_entropy_with_logits "
        "binary_cross_entropy_with_logits",
    "nn.multi_head": "nn.functional.multi_head_attention_forward",
    "nn.normalization": "nn.functional.layer_norm layer_norm nn.functional.batch_norm batch_norm "
        "nn.functional.instance_norm instance_norm nn.functional.group_norm group_norm "
        "nn.functional.local_response_norm",
    "nn.packed_sequences": "_pack_padded_sequence _pad_packed_sequence private.pad_rows",
    "nn.pool": "avg_pool1d nn.functional.avg_pool1d max_pool1d_with_indices max_pool1d max_pool2d "
        "max_pool3d nn.functional.max_pool1d nn.functional.max_pool1d_with_indices "
        "nn.functional.max_pool2d nn.functional.max_pool2d_with_indices nn.functional.max_pool3d "
        "nn.functional.max_pool3d_with_indices nn.functional.lp_pool1d nn.functional.lp_pool2d "
        "nn.functional.lp_pool3d nn.functional.max_unpool1d nn.functional.max_unpool2d "
        "nn.functional.max_unpool3d",
    "nn.recurrent": "lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell",
    "nn.rms_norm": "rms_norm nn.functional.rms_norm",
    "random.random_discrete": "binomial",
    "random.sampling": "rand rand_like randn randn_like randint randint_like randperm normal "
        "bernoulli multinomial private.uniform_ private.normal_ private.bernoulli_ "
        "private.random_ private.exponential_ private.cauchy_ private.log_normal_ "
        "private.geometric_",
    "reduce.histogram": "histogram histogramdd",
    "reduce.masked": "masked.sum masked.prod masked.amax masked.amin masked.argmax masked.argmin "
        "masked.mean masked.median masked.logsumexp masked.logaddexp masked.norm masked.var "
        "masked.std masked.cumsum masked.cumprod masked.softmax masked.log_softmax masked.softmin "
        "masked.normalize",
    "reduce.norm": "norm",
    "reduce.reduce": "nanmean std var std_mean var_mean",
    "reduce.scan": "diff trapezoid trapz cumulative_trapezoid gradient",
    "reduce.segment": "_segment_reduce",
    "reduce.softmax": "nn.functional.softmax nn.functional.log_softmax nn.functional.softmin "
        "nn.functional.gumbel_softmax _softmax_backward_data _log_softmax_backward_data",
    "reduce.sort": "msort quantile nanquantile searchsorted bucketize unique unique_consecutive "
        "isin",
    "shape.copy": "private.copy_ fill_ zero_ private.fill_diagonal_ private.resize_ resize_as_ "
        "private.set_ private.unsqueeze_ private.squeeze_ private.t_ private.transpose_ "
        "private.swapdims_ private.swapaxes_ as_strided_",
    "shape.create": "tensor as_tensor asarray from_numpy zeros ones empty empty_strided "
        "private.new_empty_strided empty_permuted frombuffer full eye scalar_tensor",
    "shape.create_like": "zeros_like ones_like empty_like full_like private.new_zeros "
        "private.new_ones private.new_empty private.new_full private.new_tensor",
    "shape.exchange": "from_dlpack to_dlpack",
    "shape.index": "index_put index_put_",
    "shape.join": "cat concat concatenate stack hstack vstack row_stack dstack column_stack "
        "block_diag atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_shapes meshgrid "
        "cartesian_prod combinations",
    "shape.mapped_files": "from_file",
    "shape.pad": "nn.functional.pad",
    "shape.part_scatter": "as_strided_scatter",
    "shape.permute": "movedim moveaxis swapaxes private.swapaxes swapdims adjoint",
    "shape.ranges": "arange range linspace logspace",
    "shape.rearrange": "tile repeat_interleave fliplr flipud tril_indices triu_indices diag "
        "diagflat private.sum_to_size unravel_index",
    "shape.scatter": "take_along_dim nonzero argwhere",
    "shape.shape": "private.view clone private.contiguous private.reshape reshape private.view_as "
        "private.reshape_as private.expand_as broadcast_to flatten private.unflatten unflatten "
        "ravel",
    "shape.slices": "as_strided narrow resolve_conj resolve_neg",
    "shape.split": "split chunk unsafe_chunk tensor_split hsplit vsplit dsplit",
    "shape.view_copies": "as_strided_copy view_as_complex_copy",
}

#: Methods that are no rows.
COMPOSITE_METHODS: Final = {
    "elementwise.activation": "prelu",
    "elementwise.arithmetic": "float_power float_power_ positive",
    "elementwise.compare": "isclose allclose equal where",
    "elementwise.complexes": "abs_ conj conj_physical conj_physical_ is_conj is_neg is_complex "
        "is_floating_point",
    "elementwise.convert": "to bool byte char short int long half bfloat16 float double cfloat "
        "cdouble chalf cpu cuda is_pinned type_as type item tolist numpy",
    "elementwise.special": "polygamma polygamma_",
    "linalg.decompose": "qr svd pinverse",
    "linalg.linalg": "inverse logdet matrix_exp matrix_power",
    "linalg.lu": "lu lu_solve",
    "linalg.matmul": "matmul outer inner",
    "linalg.matrix": "cross kron ger cov corrcoef",
    "linalg.spectrogram": "stft istft",
    "names.operator_names": "is_nonzero solve eig symeig lstsq apply_ map_ map2_ is_same_size "
        "is_set_to dim_order reinforce",
    "names.synonyms": "absolute absolute_ subtract subtract_ multiply multiply_ divide divide_ "
        "true_divide true_divide_ negative negative_ arccos arccos_ arccosh arccosh_ arcsin "
        "arcsin_ arcsinh arcsinh_ arctan arctan_ arctanh arctanh_ arctan2 arctan2_ clip clip_ fix "
        "fix_ greater greater_ greater_equal greater_equal_ less less_ less_equal less_equal_ "
        "not_equal not_equal_",
    "random.sampling": "bernoulli multinomial uniform_ normal_ bernoulli_ random_ exponential_ "
        "cauchy_ log_normal_ geometric_",
    "reduce.histogram": "histogram",
    "reduce.norm": "norm",
    "reduce.reduce": "nanmean std var",
    "reduce.scan": "diff",
    "reduce.sort": "msort quantile nanquantile unique unique_consecutive",
    "shape.copy": "copy_ fill_ zero_ fill_diagonal_ resize_ resize_as_ set_ unsqueeze_ squeeze_ "
        "t_ transpose_ swapdims_ swapaxes_ as_strided_",
    "shape.create": "new_empty_strided",
    "shape.create_like": "new_zeros new_ones new_empty new_full new_tensor",
    "shape.index": "index_put index_put_ __getitem__ __setitem__ __delitem__",
    "shape.part_scatter": "as_strided_scatter",
    "shape.permute": "movedim moveaxis swapaxes swapdims adjoint T mT H mH",
    "shape.rearrange": "tile repeat_interleave fliplr flipud diag diagflat sum_to_size",
    "shape.scatter": "take_along_dim nonzero argwhere",
    "shape.shape": "view clone contiguous reshape view_as reshape_as expand_as broadcast_to "
        "flatten unflatten ravel",
    "shape.slices": "as_strided narrow resolve_conj resolve_neg",
    "shape.split": "split chunk unsafe_chunk tensor_split hsplit vsplit dsplit",
}

#: Public functions that are made of rows.
FUNCTIONS: Final = (
    "relu celu nn.functional.gelu nn.functional.softplus private.softplus "
        "nn.functional.logsigmoid private.logsigmoid hardshrink nn.functional.hardshrink "
        "nn.functional.softshrink nn.functional.glu private.glu private.glu_backward add sub rsub "
        "mul div floor_divide remainder fmod neg reciprocal sqrt rsqrt pow square addcmul addcdiv "
        "lerp hypot eq ne lt le gt ge isnan isinf isfinite isposinf isneginf isreal logical_and "
        "logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not "
        "bitwise_left_shift bitwise_right_shift gcd lcm nextafter ldexp frexp where masked_fill "
        "abs angle polar complex exp exp2 special.exp2 expm1 special.expm1 log log2 log10 log1p "
        "special.log1p logaddexp logaddexp2 xlogy special.xlogy sigmoid nn.functional.sigmoid "
        "logit special.logit ceil floor trunc round frac sign sgn signbit copysign nan_to_num "
        "clamp clamp_min clamp_max maximum minimum fmax fmin heaviside private.rrelu_with_noise "
        "erf special.erf erfc special.erfc erfinv special.erfinv digamma special.digamma lgamma "
        "polygamma special.polygamma mvlgamma igamma igammac i0 special.i0 special.i0e special.i1 "
        "special.i1e special.ndtr special.ndtri special.log_ndtr special.entr special.erfcx "
        "special.xlog1py special.zeta special.airy_ai special.bessel_j0 special.bessel_j1 "
        "special.bessel_y0 special.bessel_y1 special.modified_bessel_i0 "
        "special.modified_bessel_i1 special.modified_bessel_k0 special.modified_bessel_k1 "
        "special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 "
        "special.spherical_bessel_j0 special.chebyshev_polynomial_t "
        "special.shifted_chebyshev_polynomial_t special.chebyshev_polynomial_u "
        "special.shifted_chebyshev_polynomial_u special.chebyshev_polynomial_v "
        "special.shifted_chebyshev_polynomial_v special.chebyshev_polynomial_w "
        "special.shifted_chebyshev_polynomial_w special.hermite_polynomial_h "
        "special.hermite_polynomial_he special.laguerre_polynomial_l "
        "special.legendre_polynomial_p threshold sin cos tan sinh cosh tanh nn.functional.tanh "
        "asin acos atan asinh acosh atanh atan2 sinc special.sinc deg2rad rad2deg linalg.qr geqrf "
        "linalg.householder_product orgqr ormqr linalg.eigh linalg.eigvalsh linalg.eig "
        "linalg.eigvals linalg.svd linalg.svdvals private._matrix_rank linalg.lstsq _fft_c2c "
        "_fft_r2c _fft_c2r linalg.ldl_factor_ex linalg.ldl_solve linalg.inv linalg.inv_ex "
        "linalg.solve linalg.solve_ex linalg.solve_triangular triangular_solve linalg.det det "
        "linalg.slogdet slogdet linalg.cholesky linalg.cholesky_ex cholesky cholesky_solve "
        "cholesky_inverse linalg.matrix_exp linalg.lu linalg.lu_factor_ex "
        "private.permutation_matrix lu_unpack linalg.lu_solve mm mv dot vdot bmm addmm addmv "
        "baddbmm addbmm addr linalg.cross private._pdist_backward private._pdist_forward "
        "private._make_dual private._unpack_dual detach_copy "
        "private._adaptive_avg_pool2d_backward _adaptive_avg_pool2d "
        "private._adaptive_avg_pool3d_backward _adaptive_avg_pool3d "
        "private.adaptive_max_pool2d_backward private.adaptive_max_pool2d "
        "private.adaptive_max_pool3d_backward private.adaptive_max_pool3d "
        "private.fractional_max_pool2d_backward private.fractional_max_pool2d "
        "private.fractional_max_pool3d_backward private.fractional_max_pool3d "
        "private._safe_softmax private._scaled_dot_product_flash_attention_for_cpu "
        "private._scaled_dot_product_fused_attention private.channel_sums private.conv_output "
        "private.conv_input private.conv_weight convolution private._ctc_loss_backward "
        "private._ctc_loss embedding nn.functional.one_hot private.im2col private.col2im "
        "grid_sampler_2d grid_sampler_3d affine_grid_generator "
        "private.upsample_nearest1d_backward private.upsample_nearest1d "
        "private.upsample_nearest2d_backward private.upsample_nearest2d "
        "private.upsample_nearest3d_backward private.upsample_nearest3d "
        "private._upsample_nearest_exact1d_backward private._upsample_nearest_exact1d "
        "private._upsample_nearest_exact2d_backward private._upsample_nearest_exact2d "
        "private._upsample_nearest_exact3d_backward private._upsample_nearest_exact3d "
        "private.upsample_linear1d_backward private.upsample_linear1d "
        "private.upsample_bilinear2d_backward private.upsample_bilinear2d "
        "private.upsample_trilinear3d_backward private.upsample_trilinear3d "
        "private.upsample_bicubic2d_backward private.upsample_bicubic2d "
        "private._upsample_bilinear2d_aa_backward private._upsample_bilinear2d_aa "
        "private._upsample_bicubic2d_aa_backward private._upsample_bicubic2d_aa "
        "private._upsample_lanczos2d_aa_backward private._upsample_lanczos2d_aa "
        "private._linear_cross_entropy_batch_chunked native_layer_norm pixel_shuffle "
        "nn.functional.pixel_shuffle pixel_unshuffle nn.functional.pixel_unshuffle "
        "channel_shuffle nn.functional.channel_shuffle native_channel_shuffle "
        "nn.functional.native_channel_shuffle private.avg_pool2d_backward "
        "nn.functional.avg_pool2d private.avg_pool2d private.avg_pool3d_backward "
        "nn.functional.avg_pool3d private.avg_pool3d private.pick_from_planes "
        "private.place_in_planes private.max_pool2d_with_indices_backward "
        "nn.functional.max_pool2d_with_indices private.max_pool2d_with_indices "
        "private.max_pool3d_with_indices_backward nn.functional.max_pool3d_with_indices "
        "private.max_pool3d_with_indices private.max_unpool2d private.max_unpool3d poisson "
        "_standard_gamma_grad _standard_gamma _sample_dirichlet _dirichlet_grad "
        "private.placed_along private.taken_along private.ties max min amax amin aminmax argmax "
        "argmin median nanmedian mode kthvalue linalg.vector_norm dist renorm sum mean "
        "private.others_product prod nansum all any count_nonzero logsumexp private._var "
        "private._std private._var_mean private._std_mean private.reverse_cumsum private.shifted "
        "private.recurrence private.exclusive_products cumsum cumprod logcumsumexp "
        "private.accumulated_along cummax cummin private._segment_reduce_backward segment_reduce "
        "hash_tensor softmax special.softmax log_softmax special.log_softmax sort argsort topk "
        "private._search private._unique2 private.unique_dim private._unique_consecutive histc "
        "bincount fill _test_autograd_multiple_dispatch _test_autograd_multiple_dispatch_view "
        "_test_autograd_multiple_dispatch_view_copy private._test_warn_in_autograd private.index "
        "private.index_backward cat stack select_scatter slice_scatter slice_inverse "
        "diagonal_scatter transpose t permute private.repeat_backward flip roll rot90 tril triu "
        "diag_embed trace constant_pad_nd index_select private.index_select_backward index_add "
        "index_copy index_fill gather scatter scatter_add scatter_reduce index_reduce take put "
        "masked_select private.masked_place masked_scatter private.masked_scatter_source "
        "nonzero_static _unsafe_view squeeze unsqueeze select private.slice diagonal view_as_real "
        "view_as_complex private.select_backward private.slice_backward private.diagonal_backward "
        "private.unfold_backward private.as_strided_backward private.as_strided_values "
        "private._sparse_product split_with_sizes unsafe_split unsafe_split_with_sizes unbind "
        "alias_copy view_copy expand_copy permute_copy transpose_copy t_copy squeeze_copy "
        "unsqueeze_copy select_copy slice_copy diagonal_copy unfold_copy view_as_real_copy "
        "split_copy split_with_sizes_copy unbind_copy narrow_copy"
)

#: Methods that are made of rows.
METHODS: Final = (
    "relu relu_ hardshrink add add_ sub sub_ _sub_ mul mul_ div div_ floor_divide floor_divide_ "
        "remainder remainder_ fmod fmod_ neg neg_ reciprocal reciprocal_ sqrt sqrt_ rsqrt rsqrt_ "
        "pow pow_ square square_ addcmul addcmul_ addcdiv addcdiv_ lerp lerp_ hypot hypot_ eq eq_ "
        "ne ne_ lt lt_ le le_ gt gt_ ge ge_ isnan isinf isfinite isposinf isneginf isreal "
        "logical_and logical_and_ logical_or logical_or_ logical_xor logical_xor_ logical_not "
        "logical_not_ bitwise_and bitwise_and_ bitwise_or bitwise_or_ bitwise_xor bitwise_xor_ "
        "bitwise_not bitwise_not_ bitwise_left_shift bitwise_left_shift_ bitwise_right_shift "
        "bitwise_right_shift_ gcd gcd_ lcm lcm_ nextafter nextafter_ ldexp ldexp_ frexp "
        "masked_fill masked_fill_ abs angle _conj_physical_ exp exp_ exp2 exp2_ expm1 expm1_ log "
        "log_ log2 log2_ log10 log10_ log1p log1p_ logaddexp logaddexp2 xlogy xlogy_ sigmoid "
        "sigmoid_ logit logit_ ceil ceil_ floor floor_ trunc trunc_ round round_ frac frac_ sign "
        "sign_ sgn sgn_ signbit copysign copysign_ nan_to_num nan_to_num_ clamp clamp_ clamp_min "
        "clamp_min_ clamp_max clamp_max_ maximum minimum fmax fmin heaviside heaviside_ erf erf_ "
        "erfc erfc_ erfinv erfinv_ digamma digamma_ lgamma lgamma_ mvlgamma mvlgamma_ igamma "
        "igamma_ igammac igammac_ i0 i0_ sin sin_ cos cos_ tan tan_ sinh sinh_ cosh cosh_ tanh "
        "tanh_ asin asin_ acos acos_ atan atan_ asinh asinh_ acosh acosh_ atanh atanh_ atan2 "
        "atan2_ sinc sinc_ deg2rad deg2rad_ rad2deg rad2deg_ geqrf orgqr ormqr triangular_solve "
        "det slogdet cholesky cholesky_solve cholesky_inverse mm mv dot vdot bmm addmm addmm_ "
        "addmv addmv_ baddbmm baddbmm_ addbmm addbmm_ addr addr_ max min amax amin aminmax argmax "
        "argmin median nanmedian mode kthvalue dist renorm renorm_ sum mean prod nansum all any "
        "count_nonzero logsumexp cumsum cumsum_ cumprod cumprod_ logcumsumexp cummax cummin "
        "hash_tensor softmax log_softmax sort argsort topk histc bincount select_scatter "
        "slice_scatter slice_inverse diagonal_scatter transpose t permute repeat flip roll rot90 "
        "tril tril_ triu triu_ diag_embed trace index_select index_add index_add_ index_copy "
        "index_copy_ index_fill index_fill_ gather scatter scatter_ scatter_add scatter_add_ "
        "scatter_reduce scatter_reduce_ index_reduce index_reduce_ take put put_ masked_select "
        "masked_scatter masked_scatter_ nonzero_static expand squeeze unsqueeze select diagonal "
        "unfold split_with_sizes unsafe_split unsafe_split_with_sizes unbind narrow_copy"
)
