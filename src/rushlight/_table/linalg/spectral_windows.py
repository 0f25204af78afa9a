"""Tapering windows for spectra: Hann, Hamming, Blackman, Kaiser and their kin."""

from __future__ import annotations

import functools
from math import pi, sqrt
from typing import TYPE_CHECKING, Any

from ..._base import dtypes as D, errors
from ..._base.device import on_meta
from ..._core.storage import count_writes
from ..calls import dtype_checks as _checks
from ..rows import meta as _meta
from ..rows.composite import composite
from ..rows.tensor_namespace import table
from ..shape.create import dtype_or_default

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, DeviceLike
    from ..._base.memory_format import layout
    from ..._tensor.tensor import Tensor


def _check(name: str, size: int, dtype: D.dtype, layout: object) -> D.dtype:
    """The element type of a window of `torch.signal.windows`."""
    want: D.dtype = D.get_default_dtype() if dtype is None else dtype
    if size < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={size}")
    if layout is not None and str(layout).rpartition(".")[2] != "strided":
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if want not in (D.float32, D.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {want}")
    return want


def _space(start: float, end: float, size: int, dtype: D.dtype) -> Tensor:
    return table("linspace")(start, end, size, dtype=dtype)


def _short(size: int, dtype: D.dtype, device: object, grad: bool) -> Tensor:
    """The window of no place, or of one."""
    return table("ones")(size, dtype=dtype, device=device, requires_grad=grad)


def _finish(window: Tensor, requires_grad: bool) -> Tensor:
    return window.requires_grad_(True) if requires_grad else window


def _place(function: AnyCallable) -> AnyCallable:
    """The function of a window, which takes the device "meta" for a window without data."""

    @functools.wraps(function)
    def make(*args: object, **kwargs: Any) -> Any:
        window = function(*args, **kwargs)
        device = kwargs.get("device")
        if device is None or not on_meta(device) or _meta.is_meta(window):
            return window
        return _meta.strip_data(window)

    return make


@composite("signal.windows")
@_place
def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True,
                dtype: Any = None, layout: object = None, device: Any = None,
                requires_grad: bool = False) -> Tensor:  # fmt: skip
    """exp(-|n - center| / tau).

    Raises: ValueError for a center of a symmetric window, and for a tau that isn't positive.

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.exponential(3)
        tensor([0.3679, 1.0000, 0.3679])
    """
    want = _check("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M < 2 and (M == 0 or center is None):
        return _short(M, want, device, requires_grad)
    middle = (M if not sym and M > 1 else M - 1) / 2.0 if center is None else center
    n = _space(-middle / tau, (-middle + (M - 1)) / tau, M, want)
    return _finish(table("exp")(-table("abs")(n)), requires_grad)


@composite("signal.windows")
@_place
def cosine(M: int, *, sym: bool = True, dtype: Any = None, layout: layout | None = None,
           device: DeviceLike | None = None,
           requires_grad: bool = False) -> Tensor:  # fmt: skip
    """sin(π (n + 1/2) / M).

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.cosine(3)
        tensor([0.5000, 1.0000, 0.5000])
    """
    want = _check("cosine", M, dtype, layout)
    if M < 2:
        return _short(M, want, device, requires_grad)
    step = pi / (M + 1 if not sym else M)
    return _finish(table("sin")(_space(0.5 * step, (0.5 + (M - 1)) * step, M, want)), requires_grad)


@composite("signal.windows")
@_place
def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None,
             layout: layout | None = None,
             device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """exp(-n² / (2 std²)), with n counted from the middle.

    Raises: ValueError for a deviation that isn't positive.

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.gaussian(3)
        tensor([0.6065, 1.0000, 0.6065])
    """
    want = _check("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M < 2:
        return _short(M, want, device, requires_grad)
    start = -(M if not sym else M - 1) / 2.0
    scale = 1 / (std * sqrt(2))
    n = _space(start * scale, (start + (M - 1)) * scale, M, want)
    return _finish(table("exp")(-(n**2)), requires_grad)


@composite("signal.windows")
@_place
def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = None,
           device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """i0(beta sqrt(1 - x²)) / i0(beta), with x from -1 to 1.

    Raises: ValueError for a negative beta.

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.kaiser(3)
        tensor([5.2773e-05, 1.0000e+00, 5.2773e-05])
    """
    want = _check("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return _short(M, want, device, requires_grad)
    step = 2.0 * beta / (M if not sym else M - 1)
    n = _space(-beta, min(-beta + (M - 1) * step, beta), M, want)
    i0, full = table("i0"), table("tensor")(float(beta), dtype=want)
    return _finish(i0(table("sqrt")(beta * beta - table("pow")(n, 2))) / i0(full), requires_grad)


def _cosines(size: int, terms: tuple[float, ...], sym: bool, want: D.dtype,
             device: DeviceLike | None,
             grad: bool) -> Tensor:  # fmt: skip
    """Σ (-1)^k a_k cos(2π k n / N)."""
    if size < 2:
        return _short(size, want, device, grad)
    step = 2 * pi / (size if not sym else size - 1)
    n = _space(0, (size - 1) * step, size, want)
    signed = table("tensor")([(-1) ** k * a for k, a in enumerate(terms)], dtype=want)
    k = table("arange")(len(terms), dtype=want)
    waves = signed.unsqueeze(-1) * table("cos")(k.unsqueeze(-1) * n)
    return _finish(waves.sum(0), grad)


@composite("signal.windows")
@_place
def general_cosine(M: int, *, a: Any, sym: bool = True, dtype: Any = None, layout: object = None,
                   device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """The sum of cosines of 0, 1, 2, … periods with the weights `a`, of alternating signs.

    Raises: ValueError, TypeError for weights that are none.

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
        tensor([0., 1., 0.])
    """
    want = _check("general_cosine", M, dtype, layout)
    if M < 2:
        return _short(M, want, device, requires_grad)
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return _cosines(M, tuple(a), sym, want, device, requires_grad)


@composite("signal.windows")
@_place
def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None,
                    layout: object = None, device: Any = None,
                    requires_grad: bool = False) -> Tensor:  # fmt: skip
    """alpha - (1 - alpha) cos(2π n / N).

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.general_hamming(3)
        tensor([0.0800, 1.0000, 0.0800])
    """
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout,
                          device=device, requires_grad=requires_grad)  # fmt: skip


@composite("signal.windows")
@_place
def hamming(M: int, *, sym: bool = True, dtype: D.dtype | None = None,
            layout: layout | None = None, device: DeviceLike | None = None,
            requires_grad: bool = False) -> Tensor:  # fmt: skip
    """0.54 - 0.46 cos(2π n / N).

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.hamming(3)
        tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device,
                           requires_grad=requires_grad)  # fmt: skip


@composite("signal.windows")
@_place
def hann(M: int, *, sym: bool = True, dtype: Any = None, layout: object = None, device: Any = None,
         requires_grad: bool = False) -> Tensor:  # fmt: skip
    """1/2 - 1/2 cos(2π n / N).

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.hann(3)
        tensor([0., 1., 0.])
    """
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device,
                           requires_grad=requires_grad)  # fmt: skip


@composite("signal.windows")
@_place
def blackman(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None,
             device: DeviceLike | None = None,
             requires_grad: bool = False) -> Tensor:  # fmt: skip
    """0.42 - 0.5 cos(2π n / N) + 0.08 cos(4π n / N).

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.blackman(3)
        tensor([-1.4901e-08,  1.0000e+00, -1.4901e-08])
    """
    want = _check("blackman", M, dtype, layout)
    return _cosines(M, (0.42, 0.5, 0.08), sym, want, device, requires_grad)


@composite("signal.windows")
@_place
def nuttall(M: int, *, sym: bool = True, dtype: D.dtype | None = None,
            layout: layout | None = None, device: DeviceLike | None = None,
            requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A sum of four cosines with low side lobes.

    Source: A. H. Nuttall, Some windows with very good sidelobe behavior (1981).

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.nuttall(3)
        tensor([3.6280e-04, 1.0000e+00, 3.6280e-04])
    """
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype,
                          layout=layout, device=device, requires_grad=requires_grad)  # fmt: skip


@composite("signal.windows")
@_place
def bartlett(M: int, *, sym: bool = True, dtype: Any = None, layout: layout | None = None,
             device: DeviceLike | None = None,
             requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A triangle from zero to one and back.

    Shapes: (M,).
    Returns: the window, a tensor.
    Example:
        >>> torch.signal.windows.bartlett(3)
        tensor([0., 1., 0.])
    """
    want = _check("bartlett", M, dtype, layout)
    if M < 2:
        return _short(M, want, device, requires_grad)
    step = 2 / (M if not sym else M - 1)
    n = _space(-1, -1 + (M - 1) * step, M, want)
    return _finish(1 - table("abs")(n), requires_grad)


# ---- the older functions ------------------------------------------------------------------------
def _old(
    name: str,
    window_length: int,
    periodic: bool,
    shape: AnyCallable,
    dtype: D.dtype,
    layout: object,
    device: DeviceLike | None,
    requires_grad: bool,
) -> Any:
    on_meta(device)  # refuses what is none
    n = int(window_length)
    want = dtype_or_default(dtype, name)
    shown = _checks._word(want)
    if dtype is None and name == "hann_window":
        shown = "float (default)"
    lay = "Strided (default)" if layout is None else "Strided"
    options = "device=cpu, layout={}, requires_grad=false (default), pinned_memory=false, "
    if layout is not None and str(layout).rpartition(".")[2] != "strided":
        lay = "Sparse"
        raise RuntimeError(
            f"{name} is not implemented for sparse types, got: TensorOptions(dtype={shown}, "
            f"{options.format(lay)}memory_format=(nullopt))"
        )
    if want.category < D.FLOAT:
        raise RuntimeError(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype={shown}, "
            f"{options.format(lay)}memory_format=(nullopt))"
        )
    if n < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={n}")
    if n < 2:
        return _short(n, want, device, requires_grad)
    if want.category == D.COMPLEX:
        raise NotImplementedError(errors.not_implemented("arange_cpu", D.scalar_name(want)))
    full = n + 1 if periodic else n
    window = shape(table("arange")(full, dtype=want), full)
    if periodic:
        window = count_writes(window.narrow(0, 0, n), 0)
    return _finish(window, requires_grad)


@composite("")
@_place
def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None,
                layout: object = None, device: Any = None, pin_memory: bool = False,
                requires_grad: bool = False) -> Any:  # fmt: skip
    """1/2 - 1/2 cos(2π n / N)."""
    return _old(
        "hann_window", window_length, periodic,
        lambda n, size: table("cos")(n * (pi * 2.0 / (size - 1))) * -0.5 + 0.5,
        dtype, layout, device, requires_grad,
    )  # fmt: skip


@composite("")
@_place
def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54,
                   beta: float = 0.46, *, dtype: Any = None, layout: object = None,
                   device: Any = None, pin_memory: bool = False,
                   requires_grad: bool = False) -> Any:  # fmt: skip
    """alpha - beta cos(2π n / N)."""
    return _old(
        "hamming_window", window_length, periodic,
        lambda n, size: table("cos")(n * (pi * 2.0 / (size - 1))) * -beta + alpha,
        dtype, layout, device, requires_grad,
    )  # fmt: skip


def _blackman(n: Any, size: int) -> Tensor:
    n = n * (pi / (size - 1))
    return table("cos")(n * 4) * 0.08 - table("cos")(n * 2) * 0.5 + 0.42


@composite("")
@_place
def blackman_window(window_length: int, periodic: bool = True, *, dtype: Any = None,
                    layout: object = None, device: Any = None, pin_memory: bool = False,
                    requires_grad: bool = False) -> Any:  # fmt: skip
    """0.42 - 0.5 cos(2π n / N) + 0.08 cos(4π n / N)."""
    return _old("blackman_window", window_length, periodic, _blackman, dtype, layout, device,
                requires_grad)  # fmt: skip


def _bartlett(n: Any, size: int) -> Tensor:
    n = n * (2.0 / (size - 1))
    turn = ((size - 1) >> 1) + 1
    return table("cat")([n[:turn], 2 - n[turn:]])


@composite("")
@_place
def bartlett_window(window_length: int, periodic: bool = True, *, dtype: Any = None,
                    layout: object = None, device: Any = None, pin_memory: bool = False,
                    requires_grad: bool = False) -> Any:  # fmt: skip
    """A triangle from zero to one and back."""
    return _old("bartlett_window", window_length, periodic, _bartlett, dtype, layout, device,
                requires_grad)  # fmt: skip


@composite("")
@_place
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *,
                  dtype: Any = None, layout: object = None, device: Any = None,
                  pin_memory: bool = False, requires_grad: bool = False) -> Any:  # fmt: skip
    """i0(beta sqrt(1 - x²)) / i0(beta), with x from -1 to 1."""

    def shape(n: Any, size: int) -> Tensor:
        i0, wide = table("i0"), D.float32 if n._raw.dtype.itemsize == 2 else n.dtype
        x = n.to(wide) * (2.0 / (size - 1)) - 1
        y = i0(beta * table("sqrt")((1 - x * x).clamp(min=0)))
        return (y / i0(table("tensor")(float(beta), dtype=wide))).to(n.dtype)

    return _old("kaiser_window", window_length, periodic, shape, dtype, layout, device,
                requires_grad)  # fmt: skip
