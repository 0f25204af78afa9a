"""The signatures of `torch`'s functions; see `_signatures.py` for the form."""

from typing import Final

TORCH: Final = """
get_device is_distributed is_inference is_signed: (@in)
as_tensor: (object data, *, ScalarType dtype=None, Device? device=None)
asarray: (object obj, *, ScalarType? dtype=None, Device? device=None, bool? copy=None, bool?
    requires_grad=False)
frombuffer: (object buffer, *, ScalarType dtype, int count=-1, int offset=0, bool
    requires_grad=False)
nonzero: (@in, *, bool as_tuple=False, Tensor out=None)
numel: (@in)
range: (Scalar start, Scalar end, Scalar step=1, *, Tensor out=None, ScalarType? dtype=None, Layout
    layout=torch.strided, Device? device=None, bool requires_grad=False)
tensor: (object data, *, ScalarType dtype=None, Device? device=None, bool pin_memory=False, bool
    requires_grad=False, name[]? names=None)
_adaptive_avg_pool2d: (@in, int[2] output_size)
_adaptive_avg_pool3d: (@in, int[3] output_size)
_cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short: (@in,
    bool non_blocking=False)
_conj _conj_physical _is_all_true _is_any_true _shape_as_tensor abs_ acos_ acosh_ adjoint arccos_
    arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ argwhere asin_ asinh_ atan_ atanh_ ceil_ conj
    conj_physical_ corrcoef cos_ cosh_ deg2rad_ det detach detach_ erf_ erfc_ exp2_ exp_ expm1_ fix_
    fliplr flipud floor_ frac_ i0_ imag is_complex is_conj is_floating_point is_neg is_nonzero
    isfinite isinf isnan isreal log10_ log1p_ log2_ log_ logdet matrix_exp neg_ negative_ positive
    rad2deg_ ravel real reciprocal_ relu relu_ resolve_conj resolve_neg rsqrt_ selu selu_ sigmoid_
    sin_ sinc_ sinh_ sqrt_ square_ t tan_ tanh_ trace trunc_ view_as_complex view_as_real zero_:
    (@in)
_convolution: (@in, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool
    transposed, int[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool
    cudnn_enabled) (@in, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation,
    bool transposed, int[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool
    cudnn_enabled, bool allow_tf32)
_convolution_mode: (@in, Tensor weight, Tensor? bias, int[] stride, str padding, int[] dilation,
    SymInt groups)
_ctc_loss: (Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int
    blank=0, bool zero_infinity=False) (Tensor log_probs, Tensor targets, @in_lengths, Tensor
    target_lengths, int blank=0, bool zero_infinity=False)
_dirichlet_grad: (Tensor x, Tensor alpha, Tensor total)
_fft_c2c: (@in, int[] dim, int normalization, bool forward @out)
_fft_c2r: (@in, int[] dim, int normalization, SymInt last_dim_size @out)
_fft_r2c: (@in, int[] dim, int normalization, bool onesided @out)
_log_softmax _softmax: (@in, int dim, bool half_to_float @out)
_log_softmax_backward_data: (Tensor grad_output, Tensor output, int dim, ScalarType input_dtype
    @out)
_lu_with_info: (@in, bool pivot=True, bool check_errors=True)
_make_dual: (Tensor primal, Tensor tangent, int level)
_pack_padded_sequence: (@in, Tensor lengths, bool batch_first)
_pad_packed_sequence: (Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int
    total_length)
_safe_softmax: (@in, int dim, ScalarType? dtype=None)
_sample_dirichlet _standard_gamma poisson: (@in, Generator? generator=None)
_scaled_dot_product_flash_attention_for_cpu: (Tensor query, Tensor key, Tensor value, float
    dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None)
_softmax_backward_data: (Tensor grad_output, Tensor output, int dim, ScalarType input_dtype, *,
    Tensor grad_input=None)
_stack cat concat concatenate stack: (Tensor[] tensors, int dim=0 @out)
_standard_gamma_grad: (@in, Tensor output)
_unique2: (@in, bool sorted=True, bool return_inverse=False, bool return_counts=False)
_unpack_dual: (Tensor dual, int level)
_weight_norm: (Tensor v, Tensor g, int dim=0)
abs absolute acos acosh alias_copy angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh
    atan atanh bitwise_not ceil conj_physical cos cosh deg2rad detach_copy digamma erf erfc erfinv
    exp exp2 expm1 fix floor frac i0 inverse isneginf isposinf lgamma log log10 log1p log2
    logical_not msort neg negative rad2deg reciprocal rsqrt sgn sigmoid sign signbit sin sinc sinh
    sqrt square t_copy tan tanh trunc view_as_complex_copy view_as_real_copy: (@in @out)
adaptive_avg_pool1d adaptive_max_pool1d: (@in, int[1] output_size)
add sub: (@in, Scalar alpha, Tensor other @out)|deprecated (@in, Tensor other, *, Scalar alpha=1,
    Tensor out=None)
addbmm: (Scalar beta, @in, Scalar alpha, Tensor batch1, Tensor batch2 @out)|deprecated (Scalar beta,
    @in, Tensor batch1, Tensor batch2 @out)|deprecated (@in, Tensor batch1, Tensor batch2, *, Scalar
    beta=1, Scalar alpha=1, Tensor out=None)
addcdiv addcmul: (@in, Scalar value, Tensor tensor1, Tensor tensor2 @out)|deprecated (@in, Tensor
    tensor1, Tensor tensor2, *, Scalar value=1, Tensor out=None)
addmm: (Scalar beta, @in, Scalar alpha, Tensor mat1, Tensor mat2 @out)|deprecated (Scalar beta, @in,
    Tensor mat1, Tensor mat2 @out)|deprecated (@in, Tensor mat1, Tensor mat2, *, Scalar beta=1,
    Scalar alpha=1, Tensor out=None) (@in, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar
    beta=1, Scalar alpha=1, Tensor out=None)
addmv: (Scalar beta, @in, Scalar alpha, Tensor mat, Tensor vec @out)|deprecated (Scalar beta, @in,
    Tensor mat, Tensor vec @out)|deprecated (@in, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar
    alpha=1, Tensor out=None)
addr: (Scalar beta, @in, Scalar alpha, Tensor vec1, Tensor vec2 @out)|deprecated (Scalar beta, @in,
    Tensor vec1, Tensor vec2 @out)|deprecated (@in, Tensor vec1, Tensor vec2, *, Scalar beta=1,
    Scalar alpha=1, Tensor out=None)
affine_grid_generator: (Tensor theta, int[] size, bool align_corners)
all any: (@in @out) (@in, int[]? dim=None, bool keepdim=False @out) (@in, int dim, bool
    keepdim=False @out)
allclose isclose: (@in, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False)
alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_
    feature_dropout feature_dropout_: (@in, float p, bool train)
amax amin: (@in, int[1] dim=None, bool keepdim=False @out)
aminmax: (@in, *, int? dim=None, bool keepdim=False, Tensor[2] out=None)
arange: (Scalar end, *, Tensor out=None, @new) (Scalar start, Scalar end, *, @new) (Scalar start,
    Scalar end, Scalar step=1, *, Tensor out=None, @new)
arctan2 atan2 fmax fmin gcd hypot igamma igammac inner kron lcm ldexp logaddexp logaddexp2
    logical_and logical_or logical_xor matmul maximum minimum mul nextafter vdot: (@in, Tensor other
    @out)
argmax argmin: (@in, int? dim=None, bool keepdim=False @out)
argsort: (@in, *, bool stable, int dim=-1, bool descending=False, Tensor out=None) (@in, int dim=-1,
    bool descending=False)
as_strided as_strided_: (@in, int[] size, int[] stride, SymInt? storage_offset=None)
as_strided_copy: (@in, int[] size, int[] stride, SymInt? storage_offset=None @out)
as_strided_scatter: (@in, Tensor src, int[] size, int[] stride, SymInt? storage_offset=None)
avg_pool1d: (@in, int[1] kernel_size, int[1] stride=None, int[1] padding=0, bool ceil_mode=False,
    bool count_include_pad=True)
baddbmm: (Scalar beta, @in, Scalar alpha, Tensor batch1, Tensor batch2 @out)|deprecated (Scalar
    beta, @in, Tensor batch1, Tensor batch2 @out)|deprecated (@in, Tensor batch1, Tensor batch2, *,
    Scalar beta=1, Scalar alpha=1, Tensor out=None) (@in, Tensor batch1, Tensor batch2, ScalarType
    out_dtype, *, Scalar beta=1, Scalar alpha=1, Tensor out=None)
bartlett_window blackman_window hann_window: (int window_length, *, @new) (int window_length, bool
    periodic, *, @new)
batch_norm: (@in, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool
    training, float momentum, float eps, bool cudnn_enabled)
bernoulli: (@in, *, Generator? generator=None, Tensor out=None) (@in, float p, *, Generator?
    generator=None)
bilinear: (@in1, @in2, Tensor weight, Tensor? bias=None)
binary_cross_entropy_with_logits: (@in, Tensor target, Tensor? weight=None, Tensor? pos_weight=None,
    int reduction=at::Reduction::Mean)
bincount: (@in, Tensor? weights=None, SymInt minlength=0)
binomial: (Tensor count, Tensor prob, Generator? generator=None)
bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor remainder: (@in, Tensor
    other @out) (Scalar self, Tensor other) (@in, Scalar other @out)
bmm mm: (@in, Tensor mat2 @out) (@in, Tensor mat2, ScalarType out_dtype @out)
broadcast_to: (@in, int[] size)
bucketize: (@in, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor out=None)
    (Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False)
can_cast: (ScalarType from_, ScalarType to)
celu celu_: (@in, Scalar alpha=1.0)
channel_shuffle native_channel_shuffle: (@in, SymInt groups)
cholesky cholesky_inverse: (@in, bool upper=False @out)
cholesky_solve: (@in, @in2, bool upper=False @out)
chunk unsafe_chunk: (@in, int chunks, int dim=0)
clamp clip: (@in, Tensor? min=None, Tensor? max=None @out) (@in, Scalar? min=None, Scalar? max=None
    @out)
clamp_ clip_: (@in, Tensor? min=None, Tensor? max=None) (@in, Scalar? min=None, Scalar? max=None)
clamp_max: (@in, Tensor max @out) (@in, Scalar max @out)
clamp_max_: (@in, Tensor max) (@in, Scalar max)
clamp_min: (@in, Tensor min @out) (@in, Scalar min @out)
clamp_min_: (@in, Tensor min) (@in, Scalar min)
clone: (@in, *, MemoryFormat? memory_format=None)
column_stack dstack hstack row_stack vstack: (Tensor[] tensors @out)
combinations: (@in, int r=2, bool with_replacement=False)
complex: (Tensor real, Tensor imag @out)
constant_pad_nd: (@in, int[] pad, Scalar value=0)
conv1d: (@in, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1]
    dilation=1, SymInt groups=1) (@in, Tensor weight, Tensor? bias=None, int[1] stride=1, str
    padding="valid", int[1] dilation=1, SymInt groups=1)
conv2d: (@in, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2]
    dilation=1, SymInt groups=1) (@in, Tensor weight, Tensor? bias=None, int[2] stride=1, str
    padding="valid", int[2] dilation=1, SymInt groups=1)
conv3d: (@in, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3]
    dilation=1, SymInt groups=1) (@in, Tensor weight, Tensor? bias=None, int[3] stride=1, str
    padding="valid", int[3] dilation=1, SymInt groups=1)
conv_tbc: (@in, Tensor weight, Tensor bias, int pad=0)
conv_transpose1d: (@in, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1]
    output_padding=0, SymInt groups=1, int[1] dilation=1)
conv_transpose2d: (@in, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2]
    output_padding=0, SymInt groups=1, int[2] dilation=1)
conv_transpose3d: (@in, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3]
    output_padding=0, SymInt groups=1, int[3] dilation=1)
convolution: (@in, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool
    transposed, int[] output_padding, SymInt groups)
copysign eq fmod ge greater greater_equal gt le less less_equal lt ne not_equal: (@in, Tensor other
    @out) (@in, Scalar other @out)
cosine_embedding_loss margin_ranking_loss: (@in1, @in2, Tensor target, float margin=0.0, int
    reduction=at::Reduction::Mean)
cosine_similarity: (Tensor x1, Tensor x2, int dim=1, float eps=1e-08)
count_nonzero: (@in, int? dim=None) (@in, int[] dim)
cov: (@in, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None)
cross: (@in, Tensor other, int? dim=None @out)
ctc_loss: (Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0,
    int reduction=at::Reduction::Mean, bool zero_infinity=False) (Tensor log_probs, Tensor targets,
    @in_lengths, Tensor target_lengths, int blank=0, int reduction=at::Reduction::Mean, bool
    zero_infinity=False)
cummax cummin: (@in, int dim, *, Tensor[2] out=None)
cumprod cumsum: (@in, int dim, *, ScalarType? dtype=None, Tensor out=None)
cumulative_trapezoid trapezoid: (Tensor y, Tensor x, *, int dim=-1) (Tensor y, *, Scalar dx=1, int
    dim=-1)
diag: (@in, int diagonal=0 @out)
tril triu: (@in, SymInt diagonal=0 @out)
diag_embed: (@in, int offset=0, int dim1=-2, int dim2=-1)
diagflat: (@in, int offset=0)
diagonal: (@in, int offset=0, int dim1=0, int dim2=1)
diagonal_copy: (@in, int offset=0, int dim1=0, int dim2=1 @out)
diagonal_scatter: (@in, Tensor src, int offset=0, int dim1=0, int dim2=1)
diff: (@in, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None @out)
dist: (@in, Tensor other, Scalar p=2)
div: (@in, Tensor other @out) (@in, Tensor other, *, str? rounding_mode, Tensor out=None) (@in,
    Scalar other, *, str? rounding_mode)
divide: (@in, Tensor other @out) (@in, Tensor other, *, str? rounding_mode, Tensor out=None) (@in,
    Scalar other) (@in, Scalar other, *, str? rounding_mode)
dot: (@in, Tensor tensor @out)
dsplit hsplit vsplit: (@in, int sections) (@in, int[] indices)
embedding: (Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False,
    bool sparse=False)
embedding_bag: (Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode,
    bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) (Tensor
    weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool
    sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False)
embedding_renorm_: (@in, Tensor indices, float max_norm, float norm_type)
empty: (int[] size, *, MemoryFormat? memory_format=None, Tensor out=None, @new)
empty_like ones_like zeros_like: (@in, *, MemoryFormat? memory_format=None, @new)
empty_permuted: (int[] size, int[] physical_layout, *, @new)
empty_strided: (int[] size, int[] stride, *, @new)
equal gcd_ is_same_size lcm_ ldexp_: (@in, Tensor other)
expand_copy: (@in, int[] size, *, bool implicit=False, Tensor out=None)
eye: (SymInt n, *, Tensor out=None, @new) (SymInt n, SymInt m, *, Tensor out=None, @new)
fake_quantize_per_channel_affine: (@in, Tensor scale, Tensor zero_point, int axis, int quant_min,
    int quant_max)
fake_quantize_per_tensor_affine: (@in, Tensor scale, Tensor zero_point, int quant_min, int
    quant_max) (@in, float scale, int zero_point, int quant_min, int quant_max)
fill fill_: (@in, Tensor value) (@in, Scalar value)
flatten: (@in, int start_dim=0, int end_dim=-1)
flip permute tile: (@in, int[] dims)
float_power pow: (@in, Tensor exponent @out) (Scalar self, Tensor exponent @out) (@in, Scalar
    exponent @out)
floor_divide multiply true_divide: (@in, Tensor other @out) (@in, Scalar other)
frexp geqrf slogdet: (@in, *, Tensor[2] out=None)
frobenius_norm logsumexp: (@in, int[1] dim, bool keepdim=False @out)
from_file: (str filename, bool? shared=None, int? size=0, *, @new)
full: (int[] size, Scalar fill_value, *, Tensor out=None, @new)
full_like: (@in, Scalar fill_value, *, MemoryFormat? memory_format=None, @new)
gather: (@in, int dim, Tensor index, *, bool sparse_grad=False, Tensor out=None)
ger outer: (@in, Tensor vec2 @out)
gradient: (@in, *, int[] dim, int edge_order=1) (@in, *, Scalar spacing, int[] dim, int
    edge_order=1) (@in, *, Scalar? spacing=None, int? dim=None, int edge_order=1) (@in, *, Scalar[]
    spacing, SymInt? dim=None, SymInt edge_order=1) (@in, *, Scalar[] spacing, int[] dim, SymInt
    edge_order=1) (@in, *, Tensor[] spacing, int? dim=None, int edge_order=1) (@in, *, Tensor[]
    spacing, int[] dim, int edge_order=1)
grid_sampler grid_sampler_2d grid_sampler_3d: (@in, Tensor grid, int interpolation_mode, int
    padding_mode, bool align_corners)
group_norm: (@in, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool
    cudnn_enabled=True)
gru rnn_relu rnn_tanh: (Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool
    has_biases, int num_layers, float dropout, bool train, bool bidirectional) (@in, Tensor hx,
    Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional,
    bool batch_first)
gru_cell rnn_relu_cell rnn_tanh_cell: (@in, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None,
    Tensor? b_hh=None)
hamming_window: (int window_length, *, @new) (int window_length, bool periodic, *, @new) (int
    window_length, bool periodic, float alpha, *, @new) (int window_length, bool periodic, float
    alpha, float beta, *, @new)
hardshrink: (@in, Scalar lambd=0.5 @out)
hash_tensor: (@in, int[1] dim=None, *, bool keepdim=False, int mode=0, Tensor out=None)
heaviside: (@in, Tensor values @out)
hinge_embedding_loss: (@in, Tensor target, float margin=1.0, int reduction=at::Reduction::Mean)
histc: (@in, int bins=100, Scalar min=0, Scalar max=0 @out)
histogram: (@in, Tensor bins, *, Tensor? weight=None, bool density=False, Tensor[2] out=None) (@in,
    int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False, Tensor[2]
    out=None)
histogramdd: (@in, int bins, float[]? range=None, Tensor? weight=None, bool density=False) (@in,
    int[] bins, float[]? range=None, Tensor? weight=None, bool density=False) (@in, Tensor[] bins,
    float[]? range=None, Tensor? weight=None, bool density=False)
index_add: (@in, int dim, Tensor index, Tensor source, *, Scalar alpha=1, Tensor out=None)
index_copy: (@in, int dim, Tensor index, Tensor source @out)
index_fill: (@in, int dim, Tensor index, Tensor value) (@in, int dim, Tensor index, Scalar value)
index_put index_put_: (@in, Tensor?[] indices, Tensor values, bool accumulate=False)
index_reduce: (@in, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True,
    Tensor out=None)
index_select: (@in, int dim, Tensor index @out)
instance_norm: (@in, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool
    use_input_stats, float momentum, float eps, bool cudnn_enabled)
isin: (Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor
    out=None) (Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False,
    Tensor out=None) (Tensor elements, Scalar test_element, *, bool assume_unique=False, bool
    invert=False, Tensor out=None)
istft: (@in, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool
    center=True, bool normalized=False, bool? onesided=None, int? length=None, bool
    return_complex=False)
kaiser_window: (int window_length, *, @new) (int window_length, bool periodic, *, @new) (int
    window_length, bool periodic, float beta, *, @new)
kl_div: (@in, Tensor target, int reduction=at::Reduction::Mean, *, bool log_target=False)
kthvalue: (@in, SymInt k, int dim=-1, bool keepdim=False, *, Tensor[2] out=None)
layer_norm: (@in, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05,
    bool cudnn_enable=True)
lerp: (@in, Tensor end, Tensor weight @out) (@in, Tensor end, Scalar weight @out)
linspace: (Tensor start, Tensor end, int steps, *, Tensor out=None, @new) (Scalar start, Tensor end,
    int steps, *, Tensor out=None, @new) (Tensor start, Scalar end, int steps, *, Tensor out=None,
    @new) (Scalar start, Scalar end, int steps, *, Tensor out=None, @new)
log_softmax softmax: (@in, int dim, ScalarType? dtype=None @out)
logcumsumexp unsqueeze_copy: (@in, int dim @out)
logit: (@in, float? eps=None @out)
logit_: (@in, float? eps=None)
logspace: (Tensor start, Tensor end, int steps, float base=10.0, *, Tensor out=None, @new) (Scalar
    start, Tensor end, int steps, float base=10.0, *, Tensor out=None, @new) (Tensor start, Scalar
    end, int steps, float base=10.0, *, Tensor out=None, @new) (Scalar start, Scalar end, int steps,
    float base=10.0, *, Tensor out=None, @new)
lstm: (Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int
    num_layers, float dropout, bool train, bool bidirectional) (@in, Tensor[] hx, Tensor[] params,
    bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool
    batch_first)
lstm_cell: (@in, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
lu_solve: (@in, Tensor LU_data, Tensor LU_pivots @out)
lu_unpack: (Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True, *,
    Tensor[3] out=None)
masked_fill: (@in, Tensor mask, Tensor value) (@in, Tensor mask, Scalar value)
masked_scatter: (@in, Tensor mask, Tensor source)
masked_select: (@in, Tensor mask @out)
matrix_power: (@in, int n @out)
max min: (@in @out) (@in, Tensor other @out) (@in, int dim, bool keepdim=False, *, Tensor[2]
    out=None)
max_pool1d max_pool1d_with_indices: (@in, int[1] kernel_size, int[1] stride=None, int[1] padding=0,
    int[1] dilation=1, bool ceil_mode=False)
max_pool2d: (@in, int[2] kernel_size, int[2] stride=None, int[2] padding=0, int[2] dilation=1, bool
    ceil_mode=False)
max_pool3d: (@in, int[3] kernel_size, int[3] stride=None, int[3] padding=0, int[3] dilation=1, bool
    ceil_mode=False)
mean: (@in, *, ScalarType? dtype=None, Tensor out=None) (@in, int[1]? dim, bool keepdim=False, *,
    ScalarType? dtype=None, Tensor out=None)
median nanmedian: (@in) (@in, int dim, bool keepdim=False, *, Tensor[2] out=None)
mode: (@in, int dim=-1, bool keepdim=False, *, Tensor[2] out=None)
moveaxis movedim: (@in, int source, int destination) (@in, int[] source, int[] destination)
multinomial: (@in, SymInt num_samples, bool replacement=False, *, Generator? generator=None, Tensor
    out=None)
mv: (@in, Tensor vec @out)
mvlgamma: (@in, int p @out)
nan_to_num: (@in, float? nan=None, float? posinf=None, float? neginf=None @out)
nan_to_num_: (@in, float? nan=None, float? posinf=None, float? neginf=None)
nanmean nansum: (@in, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor
    out=None)
nanquantile quantile: (@in, Tensor q, int? dim=None, bool keepdim=False, *, str
    interpolation="linear", Tensor out=None) (@in, float q, int? dim=None, bool keepdim=False, *,
    str interpolation="linear", Tensor out=None)
narrow: (@in, int dim, Tensor start, SymInt length) (@in, int dim, SymInt start, SymInt length)
narrow_copy: (@in, int dim, SymInt start, SymInt length @out)
native_batch_norm: (@in, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
    bool training, float momentum, float eps, *, Tensor[3] out=None)
native_dropout: (@in, float p, bool? train)
native_group_norm: (@in, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group,
    float eps)
native_layer_norm: (@in, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps)
nonzero_static: (@in, *, SymInt size, int fill_value=-1, Tensor out=None)
norm_except_dim: (Tensor v, int pow=2, int dim=0)
normal: (Tensor mean, Tensor std, *, Generator? generator=None, Tensor out=None) (Tensor mean, float
    std=1, *, Generator? generator=None, Tensor out=None) (float mean, Tensor std, *, Generator?
    generator=None, Tensor out=None) (float mean, float std, int[] size, *, Generator?
    generator=None, Tensor out=None, @new)
nuclear_norm: (@in, int[2] dim, bool keepdim=False @out) (@in, bool keepdim=False @out)
ones zeros: (int[] size, *, Tensor out=None, @new)
orgqr: (@in, @in2 @out)
ormqr: (@in, @in2, @in3, bool left=True, bool transpose=False @out)
pairwise_distance: (Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False)
pdist: (@in, float p=2)
permute_copy: (@in, int[] dims @out)
pinverse: (@in, float rcond=1e-15)
pixel_shuffle: (@in, int upscale_factor)
pixel_unshuffle: (@in, int downscale_factor)
poisson_nll_loss: (@in, Tensor target, bool log_input, bool full, float eps, int reduction)
polar: (Tensor abs, Tensor angle @out)
polygamma: (int n, @in @out)
prelu: (@in, Tensor weight)
prod: (@in, *, ScalarType? dtype=None) (@in, int dim, bool keepdim=False, *, ScalarType? dtype=None,
    Tensor out=None)
promote_types: (ScalarType type1, ScalarType type2)
put: (@in, Tensor index, Tensor source, bool accumulate=False)
qr: (@in, bool some=True, *, Tensor[2] out=None)
rand randn: (int[] size, *, Generator? generator, Tensor out=None, @new) (int[] size, *, Tensor
    out=None, @new)
rand_like randn_like: (@in, *, Generator? generator, MemoryFormat? memory_format=None, @new) (@in,
    *, MemoryFormat? memory_format=None, @new)
randint: (SymInt high, int[] size, *, Generator? generator, Tensor out=None, @new) (SymInt high,
    int[] size, *, Tensor out=None, @new) (SymInt low, SymInt high, int[] size, *, Generator?
    generator, Tensor out=None, @new) (SymInt low, SymInt high, int[] size, *, Tensor out=None,
    @new)
randint_like: (@in, SymInt low, SymInt high, *, Generator? generator, MemoryFormat?
    memory_format=None, @new) (@in, SymInt low, SymInt high, *, MemoryFormat? memory_format=None,
    @new) (@in, Tensor high, *, Generator? generator, MemoryFormat? memory_format=None, @new) (@in,
    Tensor high, *, MemoryFormat? memory_format=None, @new) (@in, SymInt high, *, Generator?
    generator, MemoryFormat? memory_format=None, @new) (@in, SymInt high, *, MemoryFormat?
    memory_format=None, @new)
randperm: (SymInt n, *, Generator? generator, Tensor out=None, @new) (SymInt n, *, Tensor out=None,
    @new)
renorm: (@in, Scalar p, int dim, Scalar maxnorm @out)
repeat_interleave: (@in, Tensor repeats, int? dim=None, *, SymInt? output_size=None) (Tensor
    repeats, *, SymInt? output_size=None) (@in, SymInt repeats, int? dim=None, *, SymInt?
    output_size=None)
reshape: (@in, int[] shape)
resize_as_: (@in, Tensor the_template, *, MemoryFormat? memory_format=None)
result_type: (Tensor tensor, Tensor other) (Scalar scalar, Tensor tensor) (Tensor tensor, Scalar
    other) (Scalar scalar1, Scalar scalar2)
rms_norm: (@in, int[] normalized_shape, Tensor? weight=None, float? eps=None)
roll: (@in, int[1] shifts, int[1] dims=None)
rot90: (@in, int k=1, int[] dims={0,1})
round: (@in @out) (@in, *, int decimals, Tensor out=None)
round_: (@in) (@in, *, int decimals)
rrelu rrelu_: (@in, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False,
    Generator? generator=None)
rsub: (@in, Tensor other, *, Scalar alpha=1) (@in, Scalar other, Scalar alpha=1)
scalar_tensor: (Scalar s, *, @new)
scatter: (@in, int dim, Tensor index, Tensor src @out) (@in, int dim, Tensor index, Tensor src, *,
    str reduce, Tensor out=None) (@in, int dim, Tensor index, Scalar value @out) (@in, int dim,
    Tensor index, Scalar value, *, str reduce, Tensor out=None)
scatter_add: (@in, int dim, Tensor index, Tensor src @out)
scatter_reduce: (@in, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True,
    Tensor out=None)
searchsorted: (Tensor sorted_sequence, @in, *, bool out_int32=False, bool right=False, str?
    side=None, Tensor? sorter=None, Tensor out=None) (Tensor sorted_sequence, Scalar self, *, bool
    out_int32=False, bool right=False, str? side=None, Tensor? sorter=None, Tensor out=None)
segment_reduce: (Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor?
    offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None)
select: (@in, int dim, SymInt index)
select_copy: (@in, int dim, SymInt index @out)
select_scatter: (@in, Tensor src, int dim, SymInt index)
slice_copy: (@in, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1 @out)
slice_inverse: (@in, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1)
slice_scatter: (@in, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1
    @out)
sort: (@in, *, bool? stable, int dim=-1, bool descending=False, Tensor[2] out=None) (@in, int
    dim=-1, bool descending=False, *, Tensor[2] out=None)
atleast_1d atleast_2d atleast_3d: (@in) (Tensor[] tensors)
split: (@in, SymInt split_size, int dim=0) (@in, int[] split_size, int dim=0)
split_copy: (@in, SymInt split_size, int dim=0, *, Tensor[] out=None)
split_with_sizes unsafe_split_with_sizes: (@in, int[] split_sizes, int dim=0)
split_with_sizes_copy: (@in, int[] split_sizes, int dim=0, *, Tensor[] out=None)
squeeze: (@in) (@in, int dim) (@in, int[] dim)
squeeze_copy: (@in @out) (@in, int dim @out) (@in, int[] dim @out)
std var: (@in, int[1]? dim, bool unbiased=True, bool keepdim=False @out) (@in, int[1]? dim=None, *,
    Scalar? correction=None, bool keepdim=False, Tensor out=None) (@in, bool unbiased=True)
std_mean var_mean: (@in, int[1]? dim, bool unbiased=True, bool keepdim=False) (@in, int[1]?
    dim=None, *, Scalar? correction=None, bool keepdim=False) (@in, bool unbiased=True)
stft: (@in, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool
    center=True, str pad_mode="reflect", bool normalized=False, bool? onesided=None, bool?
    return_complex=None, bool? align_to_window=None) (@in, int n_fft, int? hop_length=None, int?
    win_length=None, Tensor? window=None, bool normalized=False, bool? onesided=None, bool?
    return_complex=None, bool? align_to_window=None)
subtract: (@in, Tensor other, *, Scalar alpha=1, Tensor out=None) (@in, Scalar other, Scalar
    alpha=1)
sum: (@in, *, ScalarType? dtype=None) (@in, int[1]? dim, bool keepdim=False, *, ScalarType?
    dtype=None, Tensor out=None)
svd: (@in, bool some=True, bool compute_uv=True, *, Tensor[3] out=None)
swapaxes: (@in, int axis0, int axis1)
swapdims transpose: (@in, int dim0, int dim1)
take: (@in, Tensor index @out)
take_along_dim: (@in, Tensor indices, int? dim=None @out)
tensor_split: (@in, int[] indices, int dim=0) (@in, Tensor tensor_indices_or_sections, int dim=0)
    (@in, SymInt sections, int dim=0)
tensordot: (@in, Tensor other, int[] dims_self, int[] dims_other @out)
threshold: (@in, Scalar threshold, Scalar value @out)
threshold_: (@in, Scalar threshold, Scalar value)
topk: (@in, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor[2] out=None)
transpose_copy: (@in, int dim0, int dim1 @out)
trapz: (Tensor y, *, float dx=1, int dim=-1) (Tensor y, Tensor x, *, int dim=-1)
triangular_solve: (@in, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False,
    *, Tensor[2] out=None)
tril_indices triu_indices: (int row, int col, int offset=0, *, @new)
triplet_margin_loss: (Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2,
    float eps=1e-06, bool swap=False, int reduction=at::Reduction::Mean)
unbind: (@in, int dim=0)
unbind_copy: (@in, int dim=0, *, Tensor[] out=None)
unflatten: (@in, int dim, int[] sizes)
unfold_copy: (@in, int dimension, int size, int step @out)
unsafe_split: (@in, SymInt split_size, int dim=0)
unsqueeze: (@in, int dim)
vander: (Tensor x, int? N=None, bool increasing=False)
view_copy: (@in, ScalarType dtype @out) (@in, int[] size @out)
where: (Tensor condition) (Tensor condition, @in, Tensor other @out) (Tensor condition, Scalar self,
    Tensor other) (Tensor condition, @in, Scalar other) (Tensor condition, Scalar self, Scalar
    other)
xlogy: (@in, Tensor other @out) (Scalar self, Tensor other @out) (@in, Scalar other @out)
xlogy_: (@in, Tensor other) (@in, Scalar other)
"""
