"""The signatures of methods, and of the functions of other modules; see `_signatures.py`.

A method isn't listed whose signatures are those of the function without the tensor and without
`out`; and an in-place method isn't whose signatures are those of the method without underscore.
"""

from typing import Final

METHODS: Final = """
item tolist: ()
new_tensor: (object data, *, ScalarType dtype=None, Device? device=None, bool requires_grad=False)
__and__ __iand__ __ilshift__ __ior__ __irshift__ __ixor__ __lshift__ __or__ __rshift__ __xor__
    bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor remainder xlogy:
    (Tensor other) (Scalar other)
addbmm baddbmm: (Scalar beta, Scalar alpha, Tensor batch1, Tensor batch2)|deprecated (Scalar beta,
    Tensor batch1, Tensor batch2)|deprecated (Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar
    alpha=1)
addmm: (Scalar beta, Scalar alpha, Tensor mat1, Tensor mat2)|deprecated (Scalar beta, Tensor mat1,
    Tensor mat2)|deprecated (Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1)
addmv: (Scalar beta, Scalar alpha, Tensor mat, Tensor vec)|deprecated (Scalar beta, Tensor mat,
    Tensor vec)|deprecated (Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1)
addr: (Scalar beta, Scalar alpha, Tensor vec1, Tensor vec2)|deprecated (Scalar beta, Tensor vec1,
    Tensor vec2)|deprecated (Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1)
bernoulli_: (Tensor p, *, Generator? generator=None) (float p=0.5, *, Generator? generator=None)
bmm mm: (Tensor mat2)
bfloat16 bool byte cdouble cfloat chalf char cpu double float half int long short: (*, MemoryFormat?
    memory_format=None)
cauchy_: (float median=0, float sigma=1, *, Generator? generator=None)
ccol_indices coalesce col_indices crow_indices dense_dim indices is_coalesced is_inference is_signed
    retain_grad row_indices sparse_dim values: ()
cuda: (Device? device=None, bool non_blocking=False, *, MemoryFormat? memory_format=None)
contiguous is_contiguous: (*, MemoryFormat memory_format=contiguous_format)
copy_: (Tensor other, bool non_blocking=False) (Tensor other, bool async=False)|deprecated
expand: (int[] size, *, bool implicit=False)
expand_as reshape_as type_as view_as: (Tensor other)
exponential_: (float lambd=1, *, Generator? generator=None)
fill_diagonal_: (Scalar fill_value, bool wrap=False)
float_power pow: (Tensor exponent) (Scalar exponent)
geometric_: (float p, *, Generator? generator=None)
is_pinned pin_memory: (Device? device=None)
is_set_to: (Tensor tensor)
log_normal_: (float mean=1, float std=2, *, Generator? generator=None)
new_empty new_ones new_zeros: (int[] size, *, @new)
new_empty_strided: (int[] size, int[] stride, *, @new)
new_full: (int[] size, Scalar fill_value, *, @new)
nonzero: () (*, bool as_tuple)
normal_: (float mean=0, float std=1, *, Generator? generator=None)
numpy: (*, bool force=False)
polygamma: (int n)
random_: (*, Generator? generator=None) (int from, int? to, *, Generator? generator=None) (int to,
    *, Generator? generator=None)
repeat: (int[] repeats)
repeat_interleave: (Tensor repeats, int? dim=None, *, SymInt? output_size=None) (SymInt repeats,
    int? dim=None, *, SymInt? output_size=None)
requires_grad_: (bool requires_grad=True)
resize_: (int[] size, *, MemoryFormat? memory_format=None)
set_: () (Storage source) (Storage source, int storage_offset, int[] size, int[] stride=None)
    (Tensor source) (Tensor source, int storage_offset, int[] size, int[] stride=None)
size stride: (int? dim=None)
sparse_mask: (Tensor mask)
sum_to_size: (int[] size)
to: (Device device=None, ScalarType dtype=None, bool non_blocking=False, bool copy=False, *,
    MemoryFormat? memory_format=None) (ScalarType dtype, bool non_blocking=False, bool copy=False,
    *, MemoryFormat? memory_format=None) (Tensor tensor, bool non_blocking=False, bool copy=False,
    *, MemoryFormat? memory_format=None)
to_dense: (ScalarType? dtype=None, *, bool? masked_grad=None)
to_sparse: (*, Layout? layout=None, int[2]? blocksize=None, int? dense_dim=None) (int sparse_dim)
to_sparse_bsc to_sparse_bsr: (int[2] blocksize, int? dense_dim=None)
to_sparse_csc to_sparse_csr: (int? dense_dim=None)
type: (object dtype=None, bool non_blocking=False, *, MemoryFormat? memory_format=None) (object
    dtype=None, bool async=False, *, MemoryFormat? memory_format=None)|deprecated
unfold: (int dimension, int size, int step)
uniform_: (float from=0, float to=1, *, Generator? generator=None)
view: (ScalarType dtype) (int[] size)
where: (Tensor condition, Tensor other) (Tensor condition, Scalar other)
"""

MODULES: Final = """
fft.fft fft.hfft fft.ifft fft.ihfft fft.irfft fft.rfft: (@in, SymInt? n=None, int dim=-1, str?
    norm=None @out)
fft.fft2 fft.hfft2 fft.ifft2 fft.ihfft2 fft.irfft2 fft.rfft2: (@in, int[1]? s=None, int[1]
    dim={-2,-1}, str? norm=None @out)
fft.fftfreq fft.rfftfreq: (int n, float d=1.0, *, Tensor out=None, @new)
fft.fftn fft.hfftn fft.ifftn fft.ihfftn fft.irfftn fft.rfftn: (@in, int[1]? s=None, int[1]?
    dim=None, str? norm=None @out)
fft.fftshift fft.ifftshift: (@in, int[1]? dim=None)
linalg.cholesky: (@in, *, bool upper=False, Tensor out=None)
linalg.cholesky_ex: (@in, *, bool upper=False, bool check_errors=False, Tensor[2] out=None)
linalg.cond: (@in, Scalar? p=None @out) (@in, str p @out)
linalg.cross: (@in, Tensor other, *, int dim=-1, Tensor out=None)
linalg.det linalg.inv: (Tensor A @out)
linalg.diagonal: (Tensor A, *, int offset=0, int dim1=-2, int dim2=-1)
linalg.eig: (@in, *, Tensor[2] out=None)
linalg.eigh: (@in, str UPLO="L", *, Tensor[2] out=None)
linalg.eigvals: (@in @out)
linalg.eigvalsh: (@in, str UPLO="L" @out)
linalg.householder_product: (@in, Tensor tau @out)
linalg.inv_ex: (Tensor A, *, bool check_errors=False, Tensor[2] out=None)
linalg.ldl_factor: (@in, *, bool hermitian=False, Tensor[2] out=None)
linalg.ldl_factor_ex: (@in, *, bool hermitian=False, bool check_errors=False, Tensor[3] out=None)
linalg.ldl_solve: (Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False, Tensor out=None)
linalg.lstsq: (@in, Tensor b, float? rcond=None, *, str? driver=None, Tensor[4] out=None)
linalg.lu: (Tensor A, *, bool pivot=True, Tensor[3] out=None)
linalg.lu_factor: (Tensor A, *, bool pivot=True, Tensor[2] out=None)
linalg.lu_factor_ex: (Tensor A, *, bool pivot=True, bool check_errors=False, Tensor[3] out=None)
linalg.lu_solve: (Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor
    out=None)
linalg.matmul: (@in, Tensor other @out)
linalg.matrix_exp: (@in)
linalg.matrix_norm: (@in, Scalar ord, int[] dim={-2,-1}, bool keepdim=False, *, ScalarType?
    dtype=None, Tensor out=None) (@in, str ord="fro", int[] dim={-2,-1}, bool keepdim=False, *,
    ScalarType? dtype=None, Tensor out=None)
linalg.matrix_power: (@in, int n @out)
linalg.matrix_rank: (@in, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor
    out=None) (@in, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor out=None)
    (@in, Tensor tol, bool hermitian=False @out) (@in, float tol, bool hermitian=False @out)
linalg.multi_dot: (Tensor[] tensors @out)
linalg.norm: (@in, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType?
    dtype=None, Tensor out=None) (@in, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType?
    dtype=None, Tensor out=None)
linalg.pinv: (@in, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor out=None)
    (@in, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor out=None) (@in, Tensor
    rcond, bool hermitian=False @out) (@in, float rcond, bool hermitian=False @out)
linalg.qr: (Tensor A, str mode="reduced", *, Tensor[2] out=None)
linalg.slogdet: (Tensor A, *, Tensor[2] out=None)
linalg.solve: (Tensor A, Tensor B, *, bool left=True, Tensor out=None)
linalg.solve_ex: (Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensor[2]
    out=None)
linalg.solve_triangular: (@in, Tensor B, *, bool upper, bool left=True, bool unitriangular=False,
    Tensor out=None)
linalg.svd: (Tensor A, bool full_matrices=True, *, str? driver=None, Tensor[3] out=None)
linalg.svdvals: (Tensor A, *, str? driver=None, Tensor out=None)
linalg.tensorinv: (@in, int ind=2 @out)
linalg.tensorsolve: (@in, Tensor other, int[]? dims=None @out)
linalg.vander: (Tensor x, *, SymInt? N=None)
linalg.vecdot: (Tensor x, Tensor y, *, int dim=-1, Tensor out=None)
linalg.vector_norm: (@in, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType?
    dtype=None, Tensor out=None)
nn._upsample_bicubic2d_aa nn._upsample_bilinear2d_aa nn._upsample_lanczos2d_aa nn.upsample_bicubic2d
    nn.upsample_bilinear2d: (@in, int[]? output_size, bool align_corners, float[]? scale_factors)
    (@in, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None @out)
nn._upsample_nearest_exact1d nn.upsample_nearest1d: (@in, int[]? output_size, float[]?
    scale_factors) (@in, int[1] output_size, float? scales=None @out)
nn._upsample_nearest_exact2d nn.upsample_nearest2d: (@in, int[]? output_size, float[]?
    scale_factors) (@in, int[2] output_size, float? scales_h=None, float? scales_w=None @out)
nn._upsample_nearest_exact3d nn.upsample_nearest3d: (@in, int[]? output_size, float[]?
    scale_factors) (@in, int[3] output_size, float? scales_d=None, float? scales_h=None, float?
    scales_w=None @out)
nn.adaptive_avg_pool2d: (@in, int[2] output_size @out)
nn.adaptive_avg_pool3d: (@in, int[3] output_size @out)
nn.adaptive_max_pool2d: (@in, int[2] output_size, *, Tensor[2] out=None)
nn.adaptive_max_pool3d: (@in, int[3] output_size, *, Tensor[2] out=None)
nn.avg_pool2d: (@in, int[2] kernel_size, int[2] stride=None, int[2] padding=0, bool ceil_mode=False,
    bool count_include_pad=True, int? divisor_override=None @out)
nn.avg_pool3d: (@in, int[3] kernel_size, int[3] stride=None, int[3] padding=0, bool ceil_mode=False,
    bool count_include_pad=True, int? divisor_override=None @out)
nn.binary_cross_entropy: (@in, Tensor target, Tensor? weight=None, int reduction=at::Reduction::Mean
    @out)
nn.col2im: (@in, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2]
    stride @out)
nn.elu: (@in, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1 @out)
nn.elu_: (@in, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1)
nn.cross_entropy_loss: (@in, Tensor target, Tensor? weight=None, int reduction=at::Reduction::Mean,
    SymInt ignore_index=-100, float label_smoothing=0.0)
nn.fractional_max_pool2d: (@in, int[2] kernel_size, int[2] output_size, Tensor random_samples, *,
    Tensor[2] out=None)
nn.fractional_max_pool3d: (@in, int[3] kernel_size, int[3] output_size, Tensor random_samples, *,
    Tensor[2] out=None)
nn.gelu: (@in, *, str approximate="none", Tensor out=None)
nn.glu: (@in, int dim=-1 @out)
nn.hardsigmoid nn.hardswish nn.log_sigmoid nn.mish nn.silu: (@in @out)
nn.hardtanh: (@in, Scalar min_val=-1, Scalar max_val=1 @out)
nn.hardtanh_: (@in, Scalar min_val=-1, Scalar max_val=1)
nn.huber_loss: (@in, Tensor target, int reduction=at::Reduction::Mean, float delta=1.0 @out)
nn.im2col: (@in, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride @out)
nn.l1_loss: (@in, Tensor target, int reduction=at::Reduction::Mean)
nn.leaky_relu: (@in, Scalar negative_slope=0.01 @out)
nn.leaky_relu_: (@in, Scalar negative_slope=0.01)
nn.linear: (@in, Tensor weight, Tensor? bias=None @out)
nn.max_pool2d_with_indices: (@in, int[2] kernel_size, int[2] stride=None, int[2] padding=0, int[2]
    dilation=1, bool ceil_mode=False, *, Tensor[2] out=None)
nn.max_pool3d_with_indices: (@in, int[3] kernel_size, int[3] stride=None, int[3] padding=0, int[3]
    dilation=1, bool ceil_mode=False, *, Tensor[2] out=None)
nn.max_unpool2d: (@in, Tensor indices, int[2] output_size @out)
nn.max_unpool3d: (@in, Tensor indices, int[3] output_size, int[3] stride, int[3] padding @out)
nn.mse_loss nn.multilabel_margin_loss nn.soft_margin_loss: (@in, Tensor target, int
    reduction=at::Reduction::Mean @out)
nn.multi_margin_loss: (@in, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int
    reduction=at::Reduction::Mean @out)
nn.nll_loss: (@in, Tensor target, Tensor? weight=None, int reduction=at::Reduction::Mean, SymInt
    ignore_index=-100 @out)
nn.nll_loss_nd: (@in, Tensor target, Tensor? weight=None, int reduction=at::Reduction::Mean, SymInt
    ignore_index=-100)
nn.one_hot: (@in, int num_classes=-1)
nn.pad: (@in, int[] pad, str mode="constant", float? value=None)
nn.relu6: (@in)
nn.rrelu_with_noise: (@in, Tensor noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool
    training=False, Generator? generator=None @out)
nn.scaled_dot_product_attention: (Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None,
    float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False)
nn.smooth_l1_loss: (@in, Tensor target, int reduction=at::Reduction::Mean, float beta=1.0 @out)
nn.softplus: (@in, Scalar beta=1, Scalar threshold=20 @out)
nn.softshrink: (@in, Scalar lambd=0.5 @out)
nn.upsample_linear1d: (@in, int[]? output_size, bool align_corners, float[]? scale_factors) (@in,
    int[1] output_size, bool align_corners, float? scales=None @out)
nn.upsample_trilinear3d: (@in, int[]? output_size, bool align_corners, float[]? scale_factors) (@in,
    int[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, float?
    scales_w=None @out)
special.airy_ai special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1
    special.spherical_bessel_j0: (Tensor x @out)
special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1 special.digamma special.entr
    special.erf special.erfc special.erfcx special.erfinv special.exp2 special.expit special.expm1
    special.gammaln special.i0 special.i0e special.i1 special.i1e special.log1p special.log_ndtr
    special.modified_bessel_i0 special.modified_bessel_i1 special.modified_bessel_k0
    special.modified_bessel_k1 special.ndtr special.ndtri special.psi special.sinc: (@in @out)
special.chebyshev_polynomial_t special.chebyshev_polynomial_u special.chebyshev_polynomial_v
    special.chebyshev_polynomial_w special.hermite_polynomial_h special.hermite_polynomial_he
    special.laguerre_polynomial_l special.legendre_polynomial_p
    special.shifted_chebyshev_polynomial_t special.shifted_chebyshev_polynomial_u
    special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w: (Tensor x, Tensor
    n @out) (Scalar x, Tensor n @out) (Tensor x, Scalar n @out)
special.gammainc special.gammaincc: (@in, Tensor other @out)
special.log_softmax: (@in, int dim, *, ScalarType? dtype=None)
special.logit: (@in, float? eps=None @out)
special.logsumexp: (@in, int[1] dim, bool keepdim=False @out)
special.multigammaln: (@in, int p @out)
special.polygamma: (int n, @in @out)
special.round: (@in, *, int decimals=0, Tensor out=None)
sparse._sparse_log_softmax sparse._sparse_softmax: (@in, int dim, ScalarType? dtype=None) (@in, int
    dim, bool half_to_float)
sparse._sparse_sum: (@in) (@in, *, ScalarType dtype) (@in, int[1] dim) (@in, int[1] dim, *,
    ScalarType dtype)
sparse.sparse_sampled_addmm: (@in, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1,
    Tensor out=None)
sparse._spdiags: (Tensor diagonals, Tensor offsets, int[] shape, Layout? layout=None)
special.softmax: (@in, int dim, ScalarType? dtype=None)
special.xlog1py special.xlogy special.zeta: (@in, Tensor other @out) (Scalar self, Tensor other
    @out) (@in, Scalar other @out)
"""

#: Functions and methods that are Python there, and have other parameters here.
PYTHON: Final = """
torch chain_matmul: chain_matmul(*matrices, out=None)
torch eig: eig(self, eigenvectors=False, *, e=None, v=None)
torch lu: _lu_no_infos(A, pivot=True, get_infos=False, out=None)
torch lstsq: lstsq(input, A, *, out=None)
torch matrix_rank: matrix_rank(input, tol=None, symmetric=False, *, out=None)
torch solve: solve(input, A, *, out=None)
torch symeig: _symeig(input, eigenvectors=False, upper=True, *, out=None)
torch tensordot: tensordot(a, b, dims=2, out=None)
python glu: glu(input, dim=-1)
python sigmoid: sigmoid(input)
python tanh: tanh(input)
python threshold: _threshold(input, threshold, value, inplace=False)
method to_sparse_coo: Tensor.to_sparse_coo(self)
method unflatten: Tensor.unflatten(self, dim, sizes)
method norm: Tensor.norm(self, p='fro', dim=None, keepdim=False, dtype=None)
method split: Tensor.split(self, split_size, dim=0)
method lu: Tensor.lu(self, pivot=True, get_infos=False)
method solve: Tensor.solve(self, other)
method eig: Tensor.eig(self, eigenvectors=False)
method symeig: Tensor.symeig(self, eigenvectors=False)
method lstsq: Tensor.lstsq(self, other)
method dim_order: Tensor.dim_order(self, *, ambiguity_check=False)
method reinforce: Tensor.reinforce(self, reward)
method unique: Tensor.unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None)
method unique_consecutive: Tensor.unique_consecutive(self, return_inverse=False,
    return_counts=False, dim=None)
method stft: Tensor.stft(self, n_fft, hop_length=None, win_length=None, window=None, center=True,
    pad_mode='reflect', normalized=False, onesided=None, return_complex=None, align_to_window=None)
method istft: Tensor.istft(self, n_fft, hop_length=None, win_length=None, window=None, center=True,
    normalized=False, onesided=None, length=None, return_complex=False)
python max_pool1d: _max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1,
    ceil_mode=False, return_indices=False)
python max_pool2d: _max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1,
    ceil_mode=False, return_indices=False)
python max_pool3d: _max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1,
    ceil_mode=False, return_indices=False)
python adaptive_max_pool1d: _adaptive_max_pool1d(input, output_size, return_indices=False)
python adaptive_max_pool2d: _adaptive_max_pool2d(input, output_size, return_indices=False)
python adaptive_max_pool3d: _adaptive_max_pool3d(input, output_size, return_indices=False)
python fractional_max_pool2d: _fractional_max_pool2d(input, kernel_size, output_size=None,
    output_ratio=None, return_indices=False, _random_samples=None)
python fractional_max_pool3d: _fractional_max_pool3d(input, kernel_size, output_size=None,
    output_ratio=None, return_indices=False, _random_samples=None)
"""
