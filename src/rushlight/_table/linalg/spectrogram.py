"""Short-time Fourier transforms and their inverse."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.slow import holds
from ..calls.python_argument_errors import take_as_c
from ..rows.composite import composite
from ..rows.tensor_namespace import table
from ..rows.warn_once import say_once
from ..shape.pad import pad
from ..shape.rearrange import constant_pad_nd
from ..shape.slices import unfold_backward
from .fft import c2c, c2r, r2c

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base.annotations import Shape
    from ..._tensor.tensor import Tensor

raw = later("_array.linalg.fft")


def _call_text(head: str, window: Any, **rest: Any) -> str:
    """The call, as PyTorch's messages write it."""
    shown = "None"
    if window is not None:
        sizes = ", ".join(map(str, window._raw.shape))
        shown = f"{T.internal_type_name(window._raw.dtype)}{{[{sizes}]}}"
    words: list[str] = []
    for name, value in rest.items():
        words.append(f"{name}={value if value is None else int(value)}")
        if name == "win_length":
            words.append(f"window={shown}")
    return f"{head}, {', '.join(words)}) : "


def _sizes_text(x: Any) -> str:
    return "[" + ", ".join(map(str, x._raw.shape)) + "]"


def _center(window: Any, n_fft: int) -> Tensor:
    """The window with zeros around it, `n_fft` long."""
    missing = n_fft - window._raw.shape[0]
    left = missing // 2
    return apply_n(constant_pad_nd.op, [window, (left, missing - left), 0])


def _is_real_frame(n_fft: int, size: int) -> bool:
    return size == n_fft // 2 + 1


@composite("", method=True)
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms of windows of a signal, `hop_length` (n_fft / 4) apart.

    Shapes: input (L) or (B, L); the result (frequencies, windows), after B if there is one.
    Raises: RuntimeError for lengths that don't fit, in PyTorch's words.
    """
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        ndim = input._raw.ndim
        wide = input.view((1,) * (3 - ndim) + tuple(input._raw.shape)) if ndim < 3 else input
        half = int(n_fft // 2)
        padded = pad(wide, (half, half), pad_mode)
        input = padded.view(padded._raw.shape[3 - ndim :]) if ndim < 3 else padded
    given: Any = (input, n_fft, hop_length, win_length, window, normalized, onesided,
                  return_complex, align_to_window)  # fmt: skip
    given = (*take_as_c("torch", "stft", given), center)
    return _padded_stft(*given)


def _padded_stft(
    input: Any,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
    center: bool,
) -> Any:
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if window is None:
        say_once(
            "stft",
            "A window was not provided. A rectangular window will be applied,which is known to "
            "cause spectral leakage. Other windows such as torch.hann_window or "
            "torch.hamming_window are recommended to reduce spectral leakage.To suppress this "
            "warning and use a rectangular window, explicitly set "
            "`window=torch.ones(n_fft, device=<device>)`.",
        )
    kind = input._raw.dtype.kind
    complex_ = kind == "c" or (window is not None and window._raw.dtype.kind == "c")
    if return_complex is None:
        if not complex_:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will "
                "further require that return_complex=True in a future PyTorch release."
            )
        as_complex = True
    else:
        as_complex = return_complex
        if not as_complex:
            say_once(
                "stft return_complex",
                "stft with return_complex=False is deprecated. In a future pytorch release, stft "
                "will return complex tensors for all inputs, and return_complex=False will raise "
                "an error.\nNote: you can still call torch.view_as_real on the complex output to "
                "recover the old return format.",
            )

    def refusal(words: str) -> RuntimeError:
        head = f"stft({T.internal_type_name(input._raw.dtype)}{_sizes_text(input)}, n_fft={n_fft}"
        return RuntimeError(
            _call_text(
                head, window, hop_length=hop, win_length=width, normalized=normalized,
                onesided=onesided, return_complex=return_complex, align_to_window=align_to_window,
            ) + words
        )  # fmt: skip

    if kind in "biu":
        raise refusal("expected a tensor of floating point or complex values")
    if not 1 <= input._raw.ndim <= 2:
        raise refusal("expected a 1D or 2D tensor")
    single = input._raw.ndim == 1
    x = input.unsqueeze(0) if single else input
    batch, length = x._raw.shape
    align = center or bool(align_to_window)
    if (not 0 < n_fft <= length and not align) or n_fft <= 0 or n_fft > length:
        raise refusal(f"expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    if hop <= 0:
        raise refusal(f"expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        raise refusal(f"expected 0 < win_length <= n_fft, but got win_length={width}")
    if window is not None and window._raw.shape != (width,):
        raise refusal(
            f"expected a 1D window tensor of size equal to win_length={width}, but got window "
            f"with size {_sizes_text(window)}"
        )
    if width < n_fft:
        if window is None:
            window = table("ones")(width, dtype=T.from_raw(x._raw.dtype))
        window = _center(window, n_fft)
    if align_to_window and not center:
        left = (n_fft - width) // 2
        x = pad(x, (left, left), "constant")
        length = x._raw.shape[1]
    count = 1 + (length - n_fft) // hop
    step, along = x.stride()
    frames = x.as_strided((batch, count, n_fft), (step, hop * along, along))
    if window is not None:
        frames = frames * window
    complex_ = frames._raw.dtype.kind == "c"
    half = not complex_ if onesided is None else onesided
    if half and complex_:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if frames._raw.dtype.itemsize == 2:
        name = raw.raw_name(frames._raw.dtype)
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {name}")
    row, last = (c2c, True) if complex_ else (r2c, half)
    out = apply_n(row.op, [frames, (2,), int(normalized), last])
    if out._tangent is None:  # in place, as PyTorch's node names show; tangents can't follow that
        out = out.transpose_(1, 2)
        out = out.squeeze_(0) if single else out
    else:
        out = out.transpose(1, 2)
        out = out.squeeze(0) if single else out
    return out if as_complex else table("view_as_real")(out)


def _check_spectrum(shape: Shape, refusal: Callable[[str], RuntimeError]) -> Shape:
    """The numbers of frequencies and windows."""
    if 0 in shape:
        raise refusal("input tensor cannot be empty.")
    if len(shape) not in (2, 3):
        if len(shape) < 2:
            raise IndexError(errors.dimension(-3, 2))
        raise refusal(f"expected a tensor with 3 or 4 dimensions, but got {len(shape) + 1}")
    return shape[-2:]


def _check_lengths(
    size: int, half: bool, n_fft: int, hop: int, width: int, refusal: Callable[[str], RuntimeError]
) -> None:
    if half and not _is_real_frame(n_fft, size):
        raise refusal(
            "expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"n_fft / 2 + 1 when onesided=True, but got {size}"
        )
    if not half and size != n_fft:
        raise refusal(
            "expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"n_fft when onesided=False, but got {size}"
        )
    if not 0 < hop <= width:
        raise refusal("expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise refusal("expected 0 < win_length <= n_fft")


def _invert(x: Tensor, n_fft: int, norm: int, half: bool, as_complex: bool) -> Tensor:
    """The signal of each window."""
    if as_complex:
        return apply_n(c2c.op, [x, (2,), norm, False])
    if not half:
        x = x.narrow(-1, 0, n_fft // 2 + 1)
    return apply_n(c2r.op, [x, (2,), norm, n_fft])


@composite("", method=True)
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose short-time Fourier transform the input is, by overlapping and adding.

    Shapes: input (frequencies, windows), or with a batch before; the result (L) or (B, L).
    Raises: RuntimeError for lengths that don't fit, and where windows add up to zero.
    """
    given = (input, n_fft, hop_length, win_length, window, center, normalized, onesided, length)
    given = take_as_c("torch", "istft", given, {"return_complex": return_complex})
    _, n_fft, hop_length, win_length, *_, length = given
    if window is None:
        say_once(
            "istft",
            "A window was not provided. A rectangular window will be applied.Please provide the "
            "same window used by stft to make the inversion lossless.To suppress this warning and "
            "use a rectangular window, explicitly set "
            "`window=torch.ones(n_fft, device=<device>)`.",
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if input._raw.dtype.kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    shape = input._raw.shape

    def refusal(words: str, spaced: str = " : ") -> RuntimeError:
        name = raw.raw_name(input._raw.dtype)
        text = _call_text(
            f"istft(CPU{name}Type{_sizes_text(input)}, n_fft={n_fft}", window, hop_length=hop,
            win_length=width, center=center, normalized=normalized, onesided=onesided,
            length=length, return_complex=return_complex,
        )  # fmt: skip
        return RuntimeError(text.removesuffix(" : ") + spaced + words)

    size, count = _check_spectrum(shape, refusal)
    half = size != n_fft if onesided is None else onesided
    _check_lengths(size, half, n_fft, hop, width, refusal)
    if window is None:
        dtype = D.float32 if input._raw.dtype.itemsize == 8 else D.float64
        weights = table("ones")(width, dtype=dtype)
    else:
        if window._raw.shape != (width,):
            raise refusal("Invalid window shape. window has to be 1D and length of `win_length`")
        weights = window
    if width != n_fft:
        weights = _center(weights, n_fft)
    if return_complex:
        if half:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
    elif weights._raw.dtype.kind == "c":
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    single = len(shape) == 2
    parts = table("view_as_real")(input)
    if single:
        parts = parts.unsqueeze(0)
    x = table("view_as_complex")(parts.transpose(1, 2))
    x = _invert(x, n_fft, 1 if normalized else 2, half, return_complex)
    total = n_fft + hop * (count - 1)
    x = x * weights.view(1, 1, n_fft)
    added = apply_n(unfold_backward.op, [x, (x._raw.shape[0], total), 1, n_fft, hop])
    squares = weights.pow(2).expand(1, count, n_fft)
    weight = apply_n(unfold_backward.op, [squares, (1, total), 1, n_fft, hop])
    start = n_fft // 2 if center else 0
    if length is not None:
        end = start + length
    else:
        end = total - n_fft // 2 if center else total
    slice_ = table("slice")
    added, weight = slice_(added, 1, start, end), slice_(weight, 1, start, end)
    if weight._raw.size and not holds(lambda x: abs(x).min() > 1e-11, weight):
        raise refusal("window overlap add min: 1\n[ CPUBoolType{} ]", " ")
    result = added / weight
    if single:
        result = result.squeeze(0)
    if end > total:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings.",
            UserWarning,
            stacklevel=2,
        )
        result = apply_n(constant_pad_nd.op, [result, (0, end - total), 0])
    return result
