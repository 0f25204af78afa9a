"""The overloads of PyTorch's functions, as its messages list them; read only to explain misuse.

One line an overload, in the order in which messages list them. `@in`, `@out` and `@new` stand for
the three parts that come again and again. A `!` marks a function whose other overloads are hidden.
"""

from __future__ import annotations

import functools
from typing import Final

_SHORT: Final = {
    "@in": "Tensor input",
    " @out": ", *, Tensor out = None",
    " @new": ", torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, "
    "bool pin_memory = False, bool requires_grad = False",
}


@functools.cache
def overloads() -> dict[str, tuple[bool, list[str]]]:
    """By name: whether only one overload is shown of several, and the signatures that are shown."""
    found: dict[str, tuple[bool, list[str]]] = {}
    for line in _TEXT.replace("\n    ", " ").strip().splitlines():
        name, _, text = line.partition(": ")
        for short, long in _SHORT.items():
            text = text.replace(short, long)
        found.setdefault(name.rstrip("!"), (name.endswith("!"), []))[1].append(f"({text})")
    return found


_TEXT: Final = """
add!: @in, Tensor other, *, Number alpha = 1, Tensor out = None
addbmm!: @in, Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1, Tensor out =
    None
addcdiv!: @in, Tensor tensor1, Tensor tensor2, *, Number value = 1, Tensor out = None
addcmul!: @in, Tensor tensor1, Tensor tensor2, *, Number value = 1, Tensor out = None
addmm: @in, Tensor mat1, Tensor mat2, *, Number beta = 1, Number alpha = 1, Tensor out = None
addmm: @in, Tensor mat1, Tensor mat2, torch.dtype out_dtype, *, Number beta = 1, Number alpha =
    1, Tensor out = None
addmv!: @in, Tensor mat, Tensor vec, *, Number beta = 1, Number alpha = 1, Tensor out = None
addmv_!: @in, Tensor mat, Tensor vec, *, Number beta = 1, Number alpha = 1
addr!: @in, Tensor vec1, Tensor vec2, *, Number beta = 1, Number alpha = 1, Tensor out = None
all: @in @out
all: @in, tuple of ints dim = None, bool keepdim = False @out
all: @in, int dim, bool keepdim = False @out
any: @in @out
any: @in, tuple of ints dim = None, bool keepdim = False @out
any: @in, int dim, bool keepdim = False @out
arange: Number end @out @new
arange: Number start, Number end, * @new
arange: Number start, Number end, Number step = 1 @out @new
argsort: @in, *, bool stable, int dim = -1, bool descending = False, Tensor out = None
argsort: @in, int dim = -1, bool descending = False
baddbmm: @in, Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1, Tensor out =
    None
baddbmm: @in, Tensor batch1, Tensor batch2, torch.dtype out_dtype, *, Number beta = 1, Number
    alpha = 1, Tensor out = None
bartlett_window: int window_length, * @new
bartlett_window: int window_length, bool periodic, * @new
bernoulli: @in, *, torch.Generator generator = None, Tensor out = None
bernoulli: @in, float p, *, torch.Generator generator = None
bitwise_and: @in, Tensor other @out
bitwise_and: Number self, Tensor other
bitwise_and: @in, Number other @out
bitwise_left_shift: @in, Tensor other @out
bitwise_left_shift: Number self, Tensor other
bitwise_left_shift: @in, Number other @out
bitwise_or: @in, Tensor other @out
bitwise_or: Number self, Tensor other
bitwise_or: @in, Number other @out
bitwise_right_shift: @in, Tensor other @out
bitwise_right_shift: Number self, Tensor other
bitwise_right_shift: @in, Number other @out
bitwise_xor: @in, Tensor other @out
bitwise_xor: Number self, Tensor other
bitwise_xor: @in, Number other @out
blackman_window: int window_length, * @new
blackman_window: int window_length, bool periodic, * @new
bmm: @in, Tensor mat2 @out
bmm: @in, Tensor mat2, torch.dtype out_dtype @out
bucketize: @in, Tensor boundaries, *, bool out_int32 = False, bool right = False, Tensor out =
    None
bucketize: Number self, Tensor boundaries, *, bool out_int32 = False, bool right = False
clamp: @in, Tensor min = None, Tensor max = None @out
clamp: @in, Number min = None, Number max = None @out
clamp_: @in, Tensor min = None, Tensor max = None
clamp_: @in, Number min = None, Number max = None
clamp_max: @in, Tensor max @out
clamp_max: @in, Number max @out
clamp_max_: @in, Tensor max
clamp_max_: @in, Number max
clamp_min: @in, Tensor min @out
clamp_min: @in, Number min @out
clamp_min_: @in, Tensor min
clamp_min_: @in, Number min
clip: @in, Tensor min = None, Tensor max = None @out
clip: @in, Number min = None, Number max = None @out
clip_: @in, Tensor min = None, Tensor max = None
clip_: @in, Number min = None, Number max = None
conv1d: @in, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple of ints padding =
    0, tuple of ints dilation = 1, int groups = 1
conv1d: @in, Tensor weight, Tensor bias = None, tuple of ints stride = 1, str padding = "valid",
    tuple of ints dilation = 1, int groups = 1
conv2d: @in, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple of ints padding =
    0, tuple of ints dilation = 1, int groups = 1
conv2d: @in, Tensor weight, Tensor bias = None, tuple of ints stride = 1, str padding = "valid",
    tuple of ints dilation = 1, int groups = 1
conv3d: @in, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple of ints padding =
    0, tuple of ints dilation = 1, int groups = 1
conv3d: @in, Tensor weight, Tensor bias = None, tuple of ints stride = 1, str padding = "valid",
    tuple of ints dilation = 1, int groups = 1
copysign: @in, Tensor other @out
copysign: @in, Number other @out
count_nonzero: @in, int dim = None
count_nonzero: @in, tuple of ints dim
ctc_loss: Tensor log_probs, Tensor targets, tuple of ints input_lengths, tuple of ints
    target_lengths, int blank = 0, int reduction = at::Reduction::Mean, bool zero_infinity = False
ctc_loss: Tensor log_probs, Tensor targets, @in_lengths, Tensor target_lengths, int blank = 0,
    int reduction = at::Reduction::Mean, bool zero_infinity = False
cumulative_trapezoid: Tensor y, Tensor x, *, int dim = -1
cumulative_trapezoid: Tensor y, *, Number dx = 1, int dim = -1
div: @in, Tensor other @out
div: @in, Tensor other, *, str rounding_mode, Tensor out = None
div: @in, Number other, *, str rounding_mode
divide: @in, Tensor other @out
divide: @in, Tensor other, *, str rounding_mode, Tensor out = None
divide: @in, Number other
divide: @in, Number other, *, str rounding_mode
dsplit: @in, int sections
dsplit: @in, tuple of ints indices
embedding_bag: Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode,
    bool sparse, Tensor per_sample_weights, bool include_last_offset, int padding_idx
embedding_bag: Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq = False,
    int mode = 0, bool sparse = False, Tensor per_sample_weights = None, bool include_last_offset
    = False
eq: @in, Tensor other @out
eq: @in, Number other @out
eye: int n @out @new
eye: int n, int m @out @new
fill: @in, Tensor value
fill: @in, Number value
fill_: @in, Tensor value
fill_: @in, Number value
float_power: @in, Tensor exponent @out
float_power: Number self, Tensor exponent @out
float_power: @in, Number exponent @out
floor_divide: @in, Tensor other @out
floor_divide: @in, Number other
fmod: @in, Tensor other @out
fmod: @in, Number other @out
ge: @in, Tensor other @out
ge: @in, Number other @out
gradient: @in, *, tuple of ints dim, int edge_order = 1
gradient: @in, *, Number spacing, tuple of ints dim, int edge_order = 1
gradient: @in, *, Number spacing = None, int dim = None, int edge_order = 1
gradient: @in, *, tuple of Scalars spacing, int dim = None, int edge_order = 1
gradient: @in, *, tuple of Scalars spacing, tuple of ints dim, int edge_order = 1
gradient: @in, *, tuple of Tensors spacing, int dim = None, int edge_order = 1
gradient: @in, *, tuple of Tensors spacing, tuple of ints dim, int edge_order = 1
greater: @in, Tensor other @out
greater: @in, Number other @out
greater_equal: @in, Tensor other @out
greater_equal: @in, Number other @out
gru: Tensor data, Tensor batch_sizes, Tensor hx, tuple of Tensors params, bool has_biases, int
    num_layers, float dropout, bool train, bool bidirectional
gru: @in, Tensor hx, tuple of Tensors params, bool has_biases, int num_layers, float dropout,
    bool train, bool bidirectional, bool batch_first
gt: @in, Tensor other @out
gt: @in, Number other @out
hamming_window: int window_length, * @new
hamming_window: int window_length, bool periodic, * @new
hamming_window: int window_length, bool periodic, float alpha, * @new
hamming_window: int window_length, bool periodic, float alpha, float beta, * @new
hann_window: int window_length, * @new
hann_window: int window_length, bool periodic, * @new
histogram: @in, Tensor bins, *, Tensor weight = None, bool density = False, tuple of Tensors out
    = None
histogram: @in, int bins = 100, *, tuple of floats range = None, Tensor weight = None, bool
    density = False, tuple of Tensors out = None
histogramdd: @in, int bins, tuple of floats range = None, Tensor weight = None, bool density =
    False
histogramdd: @in, tuple of ints bins, tuple of floats range = None, Tensor weight = None, bool
    density = False
histogramdd: @in, tuple of Tensors bins, tuple of floats range = None, Tensor weight = None, bool
    density = False
hsplit: @in, int sections
hsplit: @in, tuple of ints indices
index_fill: @in, int dim, Tensor index, Tensor value
index_fill: @in, int dim, Tensor index, Number value
isin: Tensor elements, Tensor test_elements, *, bool assume_unique = False, bool invert = False,
    Tensor out = None
isin: Number element, Tensor test_elements, *, bool assume_unique = False, bool invert = False,
    Tensor out = None
isin: Tensor elements, Number test_element, *, bool assume_unique = False, bool invert = False,
    Tensor out = None
kaiser_window: int window_length, * @new
kaiser_window: int window_length, bool periodic, * @new
kaiser_window: int window_length, bool periodic, float beta, * @new
le: @in, Tensor other @out
le: @in, Number other @out
lerp: @in, Tensor end, Tensor weight @out
lerp: @in, Tensor end, Number weight @out
less: @in, Tensor other @out
less: @in, Number other @out
less_equal: @in, Tensor other @out
less_equal: @in, Number other @out
linalg_cond: @in, Number p = None @out
linalg_cond: @in, str p @out
linalg_matrix_norm: @in, Number ord, tuple of ints dim = {-2,-1}, bool keepdim = False, *,
    torch.dtype dtype = None, Tensor out = None
linalg_matrix_norm: @in, str ord = "fro", tuple of ints dim = {-2,-1}, bool keepdim = False, *,
    torch.dtype dtype = None, Tensor out = None
linalg_matrix_rank: @in, *, Tensor atol = None, Tensor rtol = None, bool hermitian = False,
    Tensor out = None
linalg_matrix_rank: @in, *, float atol = None, float rtol = None, bool hermitian = False, Tensor
    out = None
linalg_matrix_rank: @in, Tensor tol, bool hermitian = False @out
linalg_matrix_rank: @in, float tol, bool hermitian = False @out
linalg_norm: @in, Number ord = None, tuple of ints dim = None, bool keepdim = False, *,
    torch.dtype dtype = None, Tensor out = None
linalg_norm: @in, str ord, tuple of ints dim = None, bool keepdim = False, *, torch.dtype dtype =
    None, Tensor out = None
linalg_pinv: @in, *, Tensor atol = None, Tensor rtol = None, bool hermitian = False, Tensor out =
    None
linalg_pinv: @in, *, float atol = None, float rtol = None, bool hermitian = False, Tensor out =
    None
linalg_pinv: @in, Tensor rcond, bool hermitian = False @out
linalg_pinv: @in, float rcond, bool hermitian = False @out
linspace: Tensor start, Tensor end, int steps @out @new
linspace: Number start, Tensor end, int steps @out @new
linspace: Tensor start, Number end, int steps @out @new
linspace: Number start, Number end, int steps @out @new
logspace: Tensor start, Tensor end, int steps, float base = 10.0 @out @new
logspace: Number start, Tensor end, int steps, float base = 10.0 @out @new
logspace: Tensor start, Number end, int steps, float base = 10.0 @out @new
logspace: Number start, Number end, int steps, float base = 10.0 @out @new
lstm: Tensor data, Tensor batch_sizes, tuple of Tensors hx, tuple of Tensors params, bool
    has_biases, int num_layers, float dropout, bool train, bool bidirectional
lstm: @in, tuple of Tensors hx, tuple of Tensors params, bool has_biases, int num_layers, float
    dropout, bool train, bool bidirectional, bool batch_first
lt: @in, Tensor other @out
lt: @in, Number other @out
masked_fill: @in, Tensor mask, Tensor value
masked_fill: @in, Tensor mask, Number value
max: @in @out
max: @in, Tensor other @out
max: @in, int dim, bool keepdim = False, *, tuple of Tensors out = None
mean: @in, *, torch.dtype dtype = None, Tensor out = None
mean: @in, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None
median: @in
median: @in, int dim, bool keepdim = False, *, tuple of Tensors out = None
min: @in @out
min: @in, Tensor other @out
min: @in, int dim, bool keepdim = False, *, tuple of Tensors out = None
mm: @in, Tensor mat2 @out
mm: @in, Tensor mat2, torch.dtype out_dtype @out
moveaxis: @in, int source, int destination
moveaxis: @in, tuple of ints source, tuple of ints destination
movedim: @in, int source, int destination
movedim: @in, tuple of ints source, tuple of ints destination
multiply: @in, Tensor other @out
multiply: @in, Number other
nanmedian: @in
nanmedian: @in, int dim, bool keepdim = False, *, tuple of Tensors out = None
narrow: @in, int dim, Tensor start, int length
narrow: @in, int dim, int start, int length
ne: @in, Tensor other @out
ne: @in, Number other @out
normal: Tensor mean, Tensor std, *, torch.Generator generator = None, Tensor out = None
normal: Tensor mean, float std = 1, *, torch.Generator generator = None, Tensor out = None
normal: float mean, Tensor std, *, torch.Generator generator = None, Tensor out = None
normal: float mean, float std, tuple of ints size, *, torch.Generator generator = None, Tensor
    out = None @new
not_equal: @in, Tensor other @out
not_equal: @in, Number other @out
nuclear_norm: @in, tuple of ints dim, bool keepdim = False @out
nuclear_norm: @in, bool keepdim = False @out
pow: @in, Tensor exponent @out
pow: Number self, Tensor exponent @out
pow: @in, Number exponent @out
prod: @in, *, torch.dtype dtype = None
prod: @in, int dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None
rand: tuple of ints size, *, torch.Generator generator, Tensor out = None @new
rand: tuple of ints size @out @new
rand_like: @in, *, torch.Generator generator, torch.memory_format memory_format = None @new
rand_like: @in, *, torch.memory_format memory_format = None @new
randint: int high, tuple of ints size, *, torch.Generator generator, Tensor out = None @new
randint: int high, tuple of ints size @out @new
randint: int low, int high, tuple of ints size, *, torch.Generator generator, Tensor out = None
    @new
randint: int low, int high, tuple of ints size @out @new
randint_like: @in, int low, int high, *, torch.Generator generator, torch.memory_format
    memory_format = None @new
randint_like: @in, int low, int high, *, torch.memory_format memory_format = None @new
randint_like: @in, Tensor high, *, torch.Generator generator, torch.memory_format memory_format =
    None @new
randint_like: @in, Tensor high, *, torch.memory_format memory_format = None @new
randint_like: @in, int high, *, torch.Generator generator, torch.memory_format memory_format =
    None @new
randint_like: @in, int high, *, torch.memory_format memory_format = None @new
randn: tuple of ints size, *, torch.Generator generator, Tensor out = None @new
randn: tuple of ints size @out @new
randn_like: @in, *, torch.Generator generator, torch.memory_format memory_format = None @new
randn_like: @in, *, torch.memory_format memory_format = None @new
randperm: int n, *, torch.Generator generator, Tensor out = None @new
randperm: int n @out @new
remainder: @in, Tensor other @out
remainder: Number self, Tensor other
remainder: @in, Number other @out
repeat_interleave: @in, Tensor repeats, int dim = None, *, int output_size = None
repeat_interleave: Tensor repeats, *, int output_size = None
repeat_interleave: @in, int repeats, int dim = None, *, int output_size = None
result_type: Tensor tensor, Tensor other
result_type: Number scalar, Tensor tensor
result_type: Tensor tensor, Number other
result_type: Number scalar1, Number scalar2
rnn_relu: Tensor data, Tensor batch_sizes, Tensor hx, tuple of Tensors params, bool has_biases,
    int num_layers, float dropout, bool train, bool bidirectional
rnn_relu: @in, Tensor hx, tuple of Tensors params, bool has_biases, int num_layers, float
    dropout, bool train, bool bidirectional, bool batch_first
rnn_tanh: Tensor data, Tensor batch_sizes, Tensor hx, tuple of Tensors params, bool has_biases,
    int num_layers, float dropout, bool train, bool bidirectional
rnn_tanh: @in, Tensor hx, tuple of Tensors params, bool has_biases, int num_layers, float
    dropout, bool train, bool bidirectional, bool batch_first
round: @in @out
round: @in, *, int decimals, Tensor out = None
round_: @in
round_: @in, *, int decimals
rsub: @in, Tensor other, *, Number alpha = 1
rsub: @in, Number other, Number alpha = 1
scatter: @in, int dim, Tensor index, Tensor src @out
scatter: @in, int dim, Tensor index, Tensor src, *, str reduce, Tensor out = None
scatter: @in, int dim, Tensor index, Number value @out
scatter: @in, int dim, Tensor index, Number value, *, str reduce, Tensor out = None
searchsorted: Tensor sorted_sequence, @in, *, bool out_int32 = False, bool right = False, str
    side = None, Tensor sorter = None, Tensor out = None
searchsorted: Tensor sorted_sequence, Number self, *, bool out_int32 = False, bool right = False,
    str side = None, Tensor sorter = None, Tensor out = None
sort: @in, *, bool stable, int dim = -1, bool descending = False, tuple of Tensors out = None
sort: @in, int dim = -1, bool descending = False, *, tuple of Tensors out = None
special_chebyshev_polynomial_t: Tensor x, Tensor n @out
special_chebyshev_polynomial_t: Number x, Tensor n @out
special_chebyshev_polynomial_t: Tensor x, Number n @out
special_chebyshev_polynomial_u: Tensor x, Tensor n @out
special_chebyshev_polynomial_u: Number x, Tensor n @out
special_chebyshev_polynomial_u: Tensor x, Number n @out
special_chebyshev_polynomial_v: Tensor x, Tensor n @out
special_chebyshev_polynomial_v: Number x, Tensor n @out
special_chebyshev_polynomial_v: Tensor x, Number n @out
special_chebyshev_polynomial_w: Tensor x, Tensor n @out
special_chebyshev_polynomial_w: Number x, Tensor n @out
special_chebyshev_polynomial_w: Tensor x, Number n @out
special_hermite_polynomial_h: Tensor x, Tensor n @out
special_hermite_polynomial_h: Number x, Tensor n @out
special_hermite_polynomial_h: Tensor x, Number n @out
special_hermite_polynomial_he: Tensor x, Tensor n @out
special_hermite_polynomial_he: Number x, Tensor n @out
special_hermite_polynomial_he: Tensor x, Number n @out
special_laguerre_polynomial_l: Tensor x, Tensor n @out
special_laguerre_polynomial_l: Number x, Tensor n @out
special_laguerre_polynomial_l: Tensor x, Number n @out
special_legendre_polynomial_p: Tensor x, Tensor n @out
special_legendre_polynomial_p: Number x, Tensor n @out
special_legendre_polynomial_p: Tensor x, Number n @out
special_shifted_chebyshev_polynomial_t: Tensor x, Tensor n @out
special_shifted_chebyshev_polynomial_t: Number x, Tensor n @out
special_shifted_chebyshev_polynomial_t: Tensor x, Number n @out
special_shifted_chebyshev_polynomial_u: Tensor x, Tensor n @out
special_shifted_chebyshev_polynomial_u: Number x, Tensor n @out
special_shifted_chebyshev_polynomial_u: Tensor x, Number n @out
special_shifted_chebyshev_polynomial_v: Tensor x, Tensor n @out
special_shifted_chebyshev_polynomial_v: Number x, Tensor n @out
special_shifted_chebyshev_polynomial_v: Tensor x, Number n @out
special_shifted_chebyshev_polynomial_w: Tensor x, Tensor n @out
special_shifted_chebyshev_polynomial_w: Number x, Tensor n @out
special_shifted_chebyshev_polynomial_w: Tensor x, Number n @out
special_xlog1py: @in, Tensor other @out
special_xlog1py: Number self, Tensor other @out
special_xlog1py: @in, Number other @out
special_xlogy: @in, Tensor other @out
special_xlogy: Number self, Tensor other @out
special_xlogy: @in, Number other @out
special_zeta: @in, Tensor other @out
special_zeta: Number self, Tensor other @out
special_zeta: @in, Number other @out
squeeze: @in
squeeze: @in, int dim
squeeze: @in, tuple of ints dim
squeeze_copy: @in @out
squeeze_copy: @in, int dim @out
squeeze_copy: @in, tuple of ints dim @out
std: @in, tuple of ints dim, bool unbiased = True, bool keepdim = False @out
std: @in, tuple of ints dim = None, *, Number correction = None, bool keepdim = False, Tensor out
    = None
std: @in, bool unbiased = True
std_mean: @in, tuple of ints dim, bool unbiased = True, bool keepdim = False
std_mean: @in, tuple of ints dim = None, *, Number correction = None, bool keepdim = False
std_mean: @in, bool unbiased = True
sub!: @in, Tensor other, *, Number alpha = 1, Tensor out = None
subtract: @in, Tensor other, *, Number alpha = 1, Tensor out = None
subtract: @in, Number other, Number alpha = 1
sum: @in, *, torch.dtype dtype = None
sum: @in, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None
tensor_split: @in, tuple of ints indices, int dim = 0
tensor_split: @in, Tensor tensor_indices_or_sections, int dim = 0
tensor_split: @in, int sections, int dim = 0
trapezoid: Tensor y, Tensor x, *, int dim = -1
trapezoid: Tensor y, *, Number dx = 1, int dim = -1
trapz: Tensor y, *, float dx = 1, int dim = -1
trapz: Tensor y, Tensor x, *, int dim = -1
true_divide: @in, Tensor other @out
true_divide: @in, Number other
var: @in, tuple of ints dim, bool unbiased = True, bool keepdim = False @out
var: @in, tuple of ints dim = None, *, Number correction = None, bool keepdim = False, Tensor out
    = None
var: @in, bool unbiased = True
var_mean: @in, tuple of ints dim, bool unbiased = True, bool keepdim = False
var_mean: @in, tuple of ints dim = None, *, Number correction = None, bool keepdim = False
var_mean: @in, bool unbiased = True
view_copy: @in, torch.dtype dtype @out
view_copy: @in, tuple of ints size @out
vsplit: @in, int sections
vsplit: @in, tuple of ints indices
where: Tensor condition
where: Tensor condition, @in, Tensor other @out
where: Tensor condition, Number self, Tensor other
where: Tensor condition, @in, Number other
where: Tensor condition, Number self, Number other
xlogy: @in, Tensor other @out
xlogy: Number self, Tensor other @out
xlogy: @in, Number other @out
xlogy_: @in, Tensor other
xlogy_: @in, Number other
"""
