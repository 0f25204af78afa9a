"""Discrete Fourier transforms: three primitive operations, and the public functions over them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.device import on_meta
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.mode import CURRENT, derive, ready
from ..._core.storage import TensorBase, new_tensor
from ..rows import meta as _meta, tensor_namespace as _traced
from ..rows.composite import composite
from ..rows.out_argument import place
from ..rows.row import Row, linear
from ..shape.create import deliver, dtype_or_default, type_for
from ..shape.rearrange import constant_pad_nd, roll as roll_row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._base.annotations import AnyCallable, DeviceLike, Shape, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.linalg.fft")

_COMPLEX_SAMPLES = lambda mk: [  # noqa: E731
    (mk(4, dtype="complex128"), (0,), 0, True),
    (mk(3, 5, dtype="complex128"), (0, 1), 1, False),
]

c2c = linear(
    "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
    raw.c2c,
    # The matrix of the transform is symmetric.
    self=lambda xp, g, dim, normalization, forward: xp._fft_c2c(g, dim, normalization, forward),
    node="FftC2CBackward0",
    samples=_COMPLEX_SAMPLES,
    dtypes="complex",
    doc="The transform of a complex tensor over `dim`, in either direction.",
)


def _r2c_gradient(
    xp: ModuleType,
    g: TensorLike,
    self_shape: Shape,
    self_dtype: D.dtype,
    dim: Shape,
    normalization: int,
    onesided: bool,
) -> TensorLike:
    """The real part of the transform back, where what was left out has no gradient.

    The transform to reals adds the mirror image of each element: half of it, twice.
    """
    if not onesided:
        return xp._fft_c2c(g, dim, normalization, False)
    last = dim[-1]
    full = self_shape[last]
    half = [n // 2 + 1 if d == last else n for d, n in enumerate(self_shape)]
    weights = xp.constant(raw.weigh_inside(half, last, full, self_dtype, 0.5))
    return xp._fft_c2r(g * weights, dim, normalization, full)


r2c = linear(
    "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    raw.r2c,
    self=_r2c_gradient,
    jvp=lambda xp, self_t, dim, normalization, onesided: xp._fft_r2c(
        self_t, dim, normalization, onesided
    ),
    holomorphic=False,
    node="FftR2CBackward0",
    dtypes="float",
    samples=lambda mk: [
        (mk(4), (0,), 0, True),
        (mk(3, 5), (0, 1), 1, True),
        (mk(2, 3), (1, 0), 2, False),
    ],
    doc="The transform of a real tensor over `dim`: all of it, or what symmetry doesn't give.",
)
c2r = linear(
    "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
    raw.c2r,
    # Elements whose mirror images are left out count twice.
    self=lambda xp, g, self_shape, self_dtype, dim, normalization, last_dim_size: (
        xp._fft_r2c(g, dim, normalization, True)
        * xp.constant(raw.weigh_inside(self_shape, dim[-1], last_dim_size, self_dtype, 2.0))
    ),
    holomorphic=False,
    node="FftC2RBackward0",
    dtypes="complex",
    samples=lambda mk: [
        (mk(3, dtype="complex128"), (0,), 2, 4),
        (mk(3, 3, dtype="complex128"), (0, 1), 1, 5),
    ],
    doc="The real inverse transform of the half of a symmetric complex tensor.",
)


# ---- what the public functions share ------------------------------------------------------------
def _wrap(dim: int, ndim: int) -> int:
    if ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -ndim <= dim < ndim:
        raise IndexError(errors.dimension(dim, ndim))
    return dim % ndim


def _normalization(norm: str | None, forward: bool) -> int:
    if norm is None or norm == "backward":
        return 0 if forward else 2
    if norm == "forward":
        return 2 if forward else 0
    if norm == "ortho":
        return 1
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _promote(x: Tensor, needs_complex: bool) -> Tensor:
    """`x` in a type that transforms take: integers become the default type."""
    have = T.from_raw(x._raw.dtype)
    if have.category < D.FLOAT:
        want = D.get_default_dtype()
    elif have in (D.float16, D.bfloat16):
        raise RuntimeError(f"Unsupported dtype {D.scalar_name(have)}")
    else:
        want = have
    if needs_complex and want.category != D.COMPLEX:
        want = raw.complex_type(want)
    return x if have is want else _traced.table("to")(x, want)


def _require_real(x: Tensor, text: str) -> None:
    if x._raw.dtype.kind == "c":
        raise RuntimeError(f"{text}{raw.raw_name(x._raw.dtype)}")


def _resize(x: Tensor, dims: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """`x` cut off or padded with zeros to `sizes` along `dims`."""
    padding = [0] * (2 * x._raw.ndim)
    pads = False
    for d, n in zip(dims, sizes):
        if n == -1:
            continue
        have = x._raw.shape[d]
        if n > have:
            padding[2 * (x._raw.ndim - 1 - d) + 1] = n - have
            pads = True
        elif n < have:
            x = _traced.table("slice")(x, d, 0, n)
    if not pads:
        return x
    full = list(x._raw.shape)
    for d, n in zip(dims, sizes):
        full[d] = n if n != -1 else full[d]
    if math.prod(full) * x._raw.dtype.itemsize >= 1 << 63:
        raise RuntimeError(errors.storage_overflow(full))
    return apply_n(constant_pad_nd.op, [x, tuple(padding), 0])


def _check(n: int) -> None:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _one(row: Row, x: Tensor, dims: tuple[int, ...], norm: int, last: int) -> Tensor:
    return apply_n(row.op, [x, dims, norm, last])


def _of_size(x: Tensor, n: int | None, dim: int) -> tuple[Tensor, int]:
    """A floating input, cut or padded to `n` along a dimension; and which that is."""
    x = _promote(x, False)
    d = _wrap(dim, x._raw.ndim)
    size = x._raw.shape[d] if n is None else int(n)
    _check(size)
    return (x if n is None else _resize(x, (d,), (size,))), d


def _c2c(x: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    """`fft` and `ifft`."""
    is_complex = x._raw.dtype.kind == "c"
    x, d = _of_size(x, n, dim)
    mode = _normalization(norm, forward)
    if is_complex:
        return _one(c2c, x, (d,), mode, forward)
    found = _one(r2c, x, (d,), mode, False)
    return found if forward else found.conj()


def _r2c(name: str, x: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    """`rfft` and `ihfft`."""
    _require_real(x, f"{name} expects a real input tensor, but got ")
    x, d = _of_size(x, n, dim)
    found: Tensor = apply_n(r2c.op, [x, (d,), _normalization(norm, forward), True])
    return found if forward else found.conj()


def _c2r(x: Tensor, n: int, dim: int, norm: str | None, forward: bool) -> Tensor:
    """`irfft` and `hfft`."""
    x = _promote(x, True)
    d = _wrap(dim, x._raw.ndim)
    size = 2 * (x._raw.shape[d] - 1) if n is None else int(n)
    _check(size)
    if n is not None:
        x = _resize(x, (d,), (size // 2 + 1,))
    mode = _normalization(norm, forward)
    return _one(c2r, x.conj() if forward else x, (d,), mode, size)


def _shape_and_dims(
    x: Tensor, s: Any, dim: Shape | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes and the dimensions of a transform over several."""
    shape = x._raw.shape
    ndim = len(shape)
    sizes = None if s is None else _ints(s)
    if dim is not None:
        given = _ints(dim)
        dims = tuple([_wrap(d, ndim) for d in given])
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    if sizes is not None:
        if dim is not None and len(dims) != len(sizes):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(sizes) > ndim:
            raise RuntimeError(
                f"Got shape with {len(sizes)} values but input tensor only has {ndim} dimensions."
            )
        if dim is None:
            dims = tuple(range(ndim - len(sizes), ndim))
        sizes = tuple([shape[d] if n == -1 else n for n, d in zip(sizes, dims)])
    else:
        if dim is None:
            dims = tuple(range(ndim))
        sizes = tuple([shape[d] for d in dims])
    for n in sizes:
        _check(n)
    return sizes, dims


def _ints(values: Shape) -> tuple[int, ...]:
    if isinstance(values, (tuple, list)):
        return tuple([int(v) for v in values])
    return (int(values),)


def _c2c_n(x: Tensor, s: object, dim: Shape | None, norm: str | None, forward: bool) -> Tensor:
    """`fftn` and `ifftn`."""
    sizes, dims = _shape_and_dims(x, s, dim)
    x = _resize(_promote(x, True), dims, sizes)
    return _one(c2c, x, dims, _normalization(norm, forward), forward)


def _rfftn(x: Any, s: object, dim: Any, norm: Any) -> Tensor:
    _require_real(x, "rfftn expects a real-valued input tensor, but got ")
    sizes, dims = _shape_and_dims(x, s, dim)
    x = _promote(x, False)
    if not dims:
        raise RuntimeError("rfftn must transform at least one axis")
    return _one(r2c, _resize(x, dims, sizes), dims, _normalization(norm, True), True)


def _half_sizes(
    name: str, x: Any, s: Any, dim: Any
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """For transforms to reals: the sizes of the operand, the dimensions, the last result size."""
    sizes, dims = _shape_and_dims(x, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    last = sizes[-1] if s is not None and _ints(s)[-1] != -1 else 2 * (sizes[-1] - 1)
    _check(last)
    return (*sizes[:-1], last // 2 + 1), dims, last


def _irfftn(x: Any, s: object, dim: int | Sequence[int] | None, norm: Any) -> Tensor:
    sizes, dims, last = _half_sizes("irfftn", x, s, dim)
    x = _resize(_promote(x, True), dims, sizes)
    return _one(c2r, x, dims, _normalization(norm, False), last)


def _hfftn(x: Any, s: object, dim: int | Sequence[int] | None, norm: Any) -> Tensor:
    sizes, dims, last = _half_sizes("hfftn", x, s, dim)
    x = _resize(_promote(x, True), dims, sizes)
    mode = _normalization(norm, True)
    if len(dims) > 1:
        x = _one(c2c, x, dims[:-1], mode, True)
    return _one(c2r, x.conj(), dims[-1:], mode, last)


def _ihfftn(x: Any, s: Any, dim: Any, norm: Any) -> Tensor:
    sizes, dims = _shape_and_dims(x, s, dim)
    if not dims:
        raise RuntimeError("ihfftn must transform at least one axis")
    _require_real(x, "Only supports floating-point dtypes, but found: ")
    x = _resize(_promote(x, False), dims, sizes)
    mode = _normalization(norm, False)
    found = _one(r2c, x, dims[-1:], mode, True)
    if len(dims) == 1:
        return found.conj()
    return _one(c2c, found.conj_physical(), dims[:-1], mode, False)


def _into(
    name: str,
    out: Any,
    to_real: bool,
    x: Tensor,
    compute: AnyCallable,
    sizes: tuple[Shape | None, Shape | None] | None = None,
) -> Any:
    """The result of `compute()`, in `out` where that is given.

    The `sizes` and dimensions of a transform over several are looked at before the type of `out`.
    """
    if not isinstance(x, TensorBase):
        raise TypeError(
            f"fft_{name}(): argument 'input' (position 1) must be Tensor, not {errors.type_name(x)}"
        )
    if out is None:
        return compute()
    if sizes is not None and name[0] != "h":
        if name[0] == "r":
            _require_real(x, "rfftn expects a real-valued input tensor, but got ")
        _shape_and_dims(x, *sizes)
    have = T.from_raw(out._raw.dtype)
    name = f"{name[:-1]}n" if name[-1] == "2" else name
    if to_real and have.category != D.FLOAT:
        raise RuntimeError(
            f"{name} expects a floating point output tensor, but got {D.scalar_name(have)}"
        )
    if not to_real and have.category != D.COMPLEX:
        raise RuntimeError(f"{name} expects a complex output tensor, but got {D.scalar_name(have)}")
    mode = ready()
    before = CURRENT.get()
    try:
        CURRENT.set(derive(mode, grad=False))
        found = compute()
    finally:
        CURRENT.set(before)
    if mode.grad and (out._requires_grad or x._requires_grad):
        kernel = "c2r" if to_real else ("c2c" if x.is_complex() else "r2c")
        raise RuntimeError(errors.out_requires_grad(f"_fft_{kernel}"))
    place(out, found._raw)
    return out


# ---- the public functions -----------------------------------------------------------------------
_ONE_DIMENSION: Final[dict[str, tuple[Any, bool, str]]] = {
    "fft": (lambda x, n, dim, norm: _c2c(x, n, dim, norm, True), False,
            "The discrete Fourier transform along `dim`."),
    "ifft": (lambda x, n, dim, norm: _c2c(x, n, dim, norm, False), False,
             "The inverse discrete Fourier transform along `dim`."),
    "rfft": (lambda x, n, dim, norm: _r2c("rfft", x, n, dim, norm, True), False,
             "The Fourier transform of a real tensor: its frequencies from zero on."),
    "irfft": (lambda x, n, dim, norm: _c2r(x, n, dim, norm, False), True,
              "The inverse of `rfft`: a real signal of `n` samples."),
    "hfft": (lambda x, n, dim, norm: _c2r(x, n, dim, norm, True), True,
             "The real Fourier transform of the half of a Hermitian signal."),
    "ihfft": (lambda x, n, dim, norm: _r2c("ihfft", x, n, dim, norm, False), False,
              "The inverse of `hfft`."),
}  # fmt: skip
_SEVERAL: Final[dict[str, tuple[Any, bool, str]]] = {
    "fftn": (lambda x, s, dim, norm: _c2c_n(x, s, dim, norm, True), False,
             "The discrete Fourier transform over several dimensions."),
    "ifftn": (lambda x, s, dim, norm: _c2c_n(x, s, dim, norm, False), False,
              "The inverse discrete Fourier transform over several dimensions."),
    "rfftn": (_rfftn, False, "The Fourier transform of a real tensor over several dimensions."),
    "irfftn": (_irfftn, True, "The inverse of `rfftn`."),
    "hfftn": (_hfftn, True, "The real transform of the half of a Hermitian tensor."),
    "ihfftn": (_ihfftn, False, "The inverse of `hfftn`."),
}  # fmt: skip


def _declare_one(name: str, compute: AnyCallable, to_real: bool, doc: str) -> None:
    def transform(
        input: Tensor,
        n: int | None = None,
        dim: int = -1,
        norm: str | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        if out is None and isinstance(input, TensorBase):
            return compute(input, n, dim, norm)
        return _into(name, out, to_real, input, lambda: compute(input, n, dim, norm))

    transform.__name__ = transform.__qualname__ = "fft_" + name
    transform.__doc__ = doc + (
        '\n\n`n`: cut off or padded with zeros to this length first. `norm`: "forward", '
        '"backward" or "ortho".'
    )
    composite("fft", name=name, numpy_words=True)(transform)


def _declare_several(
    name: str, compute: AnyCallable, to_real: bool, doc: str, dims: Shape | None
) -> None:
    def transform(
        input: Tensor, s: Any = None, dim: Any = dims, norm: str | None = None, *, out: Any = None
    ) -> Any:
        return _into(name, out, to_real, input, lambda: compute(input, s, dim, norm), (s, dim))

    transform.__name__ = transform.__qualname__ = "fft_" + name
    transform.__doc__ = doc + (
        "\n\n`s`: the sizes to which dimensions are cut off or padded with zeros first (-1: as "
        'they are). `norm`: "forward", "backward" or "ortho".'
    )
    composite("fft", name=name, numpy_words=True)(transform)


for _name, (_compute, _to_real, _doc) in _ONE_DIMENSION.items():
    _declare_one(_name, _compute, _to_real, _doc)
for _name, (_compute, _to_real, _doc) in _SEVERAL.items():
    _declare_several(_name, _compute, _to_real, _doc, None)
    _declare_several(_name[:-1] + "2", _compute, _to_real, _doc, (-2, -1))


def _shift(input: Tensor, dim: Any, sign: int) -> Tensor:
    shape = input._raw.shape
    dims = tuple(range(len(shape))) if dim is None else _ints(dim)
    sizes = [shape[_wrap(d, len(shape))] for d in dims]
    shifts = tuple([n // 2 if sign > 0 else (n + 1) // 2 for n in sizes])
    return apply_n(roll_row.op, [input, shifts, dims])


@composite("fft", numpy_words=True)
def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The tensor with frequency zero in the middle of each of `dim` (all by default)."""
    return _shift(input, dim, 1)


@composite("fft", numpy_words=True)
def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _shift(input, dim, -1)


def _frequencies(
    name: str,
    n: int,
    d: float,
    half: bool,
    dtype: D.dtype | None,
    device: DeviceLike | None,
    grad: bool,
    out: Tensor | None,
) -> Tensor:
    nowhere = on_meta(device)
    want = dtype_or_default(type_for(out, dtype))
    if want.category < D.FLOAT:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if want.category == D.COMPLEX:
        raise NotImplementedError(errors.not_implemented("arange_cpu", D.scalar_name(want)))
    count = int(n / 2) + 1 if half else n
    if count < 0:
        raise RuntimeError(errors.negative_dimension([count]))
    found = raw.frequencies(n, d, half, T.to_raw(want))
    if out is not None:
        return deliver(found, out, grad, by_count=True, warns=True)
    made: Any = new_tensor(found)
    if nowhere:
        made = _meta.strip_data(made)
    if grad:
        made.requires_grad_(True)
    return made


@composite("fft")
def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: object = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the results of `fft` of `n` samples that are `d` apart."""
    return _frequencies("fftfreq", n, d, False, dtype, device, requires_grad, out)


@composite("fft")
def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: object = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the results of `rfft` of `n` samples that are `d` apart."""
    return _frequencies("rfftfreq", n, d, True, dtype, device, requires_grad, out)
