"""`assert_close`: whether two things hold the same numbers, and a message that says where not."""

from __future__ import annotations

import cmath
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from .._base import dtypes
from .._tensor.tensor import Tensor
from ..autograd.grad_mode import no_grad
from ..nn._ground import f

if TYPE_CHECKING:
    from .._base.annotations import Keywords

Message = str | Callable[[str], str] | None

#: (rtol, atol) where none are given; exact for every dtype that isn't listed.
_TOLERANCES: Final = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.bfloat16: (1.6e-2, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex32: (1e-3, 1e-5),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}
_KINDS: Final = {int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}
_REPORT: Final = (
    "resulted in the unexpected exception above. If you are a user and see this message during "
    "normal operation please file an issue at https://github.com/pytorch/pytorch/issues. If you are"
    " a developer and working on the comparison functions, please except the previous error and "
    "raise an expressive `ErrorMeta` instead."
)


class _Options:
    """What a call of `assert_close` asked for."""

    def __init__(self, given: Keywords) -> None:
        self.rtol: float | None = given["rtol"]
        self.atol: float | None = given["atol"]
        self.equal_nan: bool = given["equal_nan"]
        self.allow_subclasses: bool = given["allow_subclasses"]
        self.check_dtype: bool = given["check_dtype"]
        self.check_device: bool = given["check_device"]
        self.check_layout: bool = given["check_layout"]
        self.check_stride: bool = given["check_stride"]
        self.msg: Message = given["msg"]

    def tolerances(self, *found: Any) -> tuple[float, float]:
        """(rtol, atol): the ones given, or the loosest of these dtypes' own."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        own = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in found]
        return max(rtol for rtol, _ in own), max(atol for _, atol in own)


def _where(path: tuple[object, ...]) -> str:
    return "".join(f"[{key!r}]" for key in path)


def _fail(
    text: str, path: tuple[object, ...], msg: Message, kind: type = AssertionError
) -> NoReturn:
    if path:
        text += f"\n\nThe failure occurred for item {_where(path)}"
    if callable(msg):
        text = msg(text)
    elif msg is not None:
        text = msg
    raise kind(text)


def _is_numpy(value: Tensor | int) -> bool:
    return type(value).__module__ == "numpy"


def _is_boolean(value: Tensor | int) -> bool:
    return isinstance(value, bool) or (
        _is_numpy(value) and type(value).__name__ in ("bool", "bool_")
    )


def _is_number(value: Tensor | int) -> bool:
    return isinstance(value, (int, float, complex)) or (
        _is_numpy(value) and type(value).__name__ != "ndarray" and hasattr(value, "item")
        and not _is_boolean(value)
    )  # fmt: skip


def _pairs(actual: Any, expected: Any, path: tuple[object, ...], options: _Options) -> list[Any]:
    """The comparable parts of two nested containers as (comparison, actual, expected, path)."""
    if (
        isinstance(actual, Sequence)
        and isinstance(expected, Sequence)
        and not isinstance(actual, str)
        and not isinstance(expected, str)
    ):
        if len(actual) != len(expected):
            _fail(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}",
                path,
                options.msg,
            )
        found: list[Any] = []
        for index in range(len(actual)):
            found += _pairs(actual[index], expected[index], (*path, index), options)
        return found
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing, more = expected.keys() - actual.keys(), actual.keys() - expected.keys()
        if missing or more:
            _fail(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing)}\n"
                f"Additional keys in the actual mapping: {sorted(more)}",
                path,
                options.msg,
            )
        try:
            keys = sorted(actual)
        except TypeError:
            keys = list(actual)
        found = []
        for key in keys:
            found += _pairs(actual[key], expected[key], (*path, key), options)
        return found
    return [(_comparison(actual, expected, path, options), actual, expected, path)]


def _comparison(
    actual: Tensor | int, expected: Tensor | int, path: tuple[object, ...], options: _Options
) -> Callable[..., object]:
    if actual is None or expected is None:
        return _compare_none
    if _is_boolean(actual) and _is_boolean(expected):
        return _compare_booleans
    if _is_number(actual) and _is_number(expected):
        for value in (actual, expected):
            if isinstance(value, bool):
                place = f" {_where(path)}" if path else " "
                raise RuntimeError(
                    f"Originating a NumberPair() at item{place} with\n\n"
                    f"{type(actual).__name__}(): {actual}\n\nand\n\n"
                    f"{type(expected).__name__}(): {expected}\n\n{_REPORT}"
                )
        return _compare_numbers
    if _alike(actual, expected, options):
        return _compare_tensors
    kinds = f"{type(actual)} and {type(expected)}"
    _fail(f"No comparison pair was able to handle inputs of type {kinds}.", path, None, TypeError)


def _alike(actual: object, expected: object, options: _Options) -> bool:
    arrays = [isinstance(v, Tensor) or type(v).__name__ == "ndarray" for v in (actual, expected)]
    if not all(arrays):
        return False
    if type(actual) is type(expected):
        return True
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    return related and options.allow_subclasses


def _compare_none(
    actual: object, expected: object, path: tuple[object, ...], options: _Options
) -> None:
    if not (actual is None and expected is None):
        _fail(f"None mismatch: {actual} is not {expected}", path, options.msg)


def _compare_booleans(
    actual: object, expected: object, path: tuple[object, ...], options: _Options
) -> None:
    if bool(actual) is not bool(expected):
        _fail(f"Booleans mismatch: {bool(actual)} is not {bool(expected)}", path, options.msg)


def _compare_numbers(actual: Any, expected: Any, path: tuple[Any, ...], options: _Options) -> None:
    actual = actual.item() if _is_numpy(actual) else actual
    expected = expected.item() if _is_numpy(expected) else expected
    rtol, atol = options.tolerances(_KINDS[type(actual)], _KINDS[type(expected)])
    if options.check_dtype and type(actual) is not type(expected):
        _fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", path, options.msg)
    if actual == expected:
        return
    if options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
        return
    difference = abs(actual - expected)
    if cmath.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return
    _fail(_scalars(actual, expected, rtol, atol), path, options.msg)


def _scalars(actual: int, expected: int, rtol: float, atol: float) -> str:
    difference = abs(actual - expected)
    relative = float("inf") if expected == 0 else difference / abs(expected)
    exact = rtol == 0 and atol == 0
    lines = [
        f"Scalars are not {'equal' if exact else 'close'}!",
        "",
        f"Expected {expected} but got {actual}.",
        f"Absolute difference: {difference}" + ("" if exact else f" (up to {atol} allowed)"),
        f"Relative difference: {relative}" + ("" if exact else f" (up to {rtol} allowed)"),
    ]
    return "\n".join(lines)


def _compare_tensors(
    actual: Any, expected: Any, path: tuple[object, ...], options: _Options
) -> None:
    if not isinstance(actual, Tensor):
        actual, expected = f.as_tensor(actual), f.as_tensor(expected)
    rtol, atol = options.tolerances(actual.dtype, expected.dtype)
    checks = [("shape", actual.shape, expected.shape, True)]
    checks.append(("device", actual.device, expected.device, options.check_device))
    checks.append(("layout", actual.layout, expected.layout, options.check_layout))
    checks.append(("stride()", actual.stride(), expected.stride(), options.check_stride))
    checks.append(("dtype", actual.dtype, expected.dtype, options.check_dtype))
    for name, own, other, asked in checks:
        if asked and own != other:
            _fail(
                f"The values for attribute '{name}' do not match: {own} != {other}.",
                path,
                options.msg,
            )
    wide = f.promote_types(actual.dtype, expected.dtype)
    try:
        a, b = actual.detach().to(wide), expected.detach().to(wide)
        matches = f.isclose(a, b, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
        if bool(matches.all()):
            return
    except Exception as error:
        raise RuntimeError(
            f"Comparing\n\n{_format(actual, expected, path, rtol, atol, options)}\n\n{_REPORT}"
        ) from error
    if a.dim() == 0:
        _fail(_scalars(a.item(), b.item(), rtol, atol), path, options.msg)
    _fail(_described(a, b, matches, rtol, atol), path, options.msg)


def _format(
    actual: object,
    expected: object,
    path: tuple[object, ...],
    rtol: float,
    atol: float,
    options: _Options,
) -> str:
    parts = {
        "id": path,
        "actual": actual,
        "expected": expected,
        "rtol": rtol,
        "atol": atol,
        "equal_nan": options.equal_nan,
        "check_device": options.check_device,
        "check_dtype": options.check_dtype,
        "check_layout": options.check_layout,
        "check_stride": options.check_stride,
    }
    return "\n".join(
        ["TensorLikePair(", *(f"    {name}={value!r}," for name, value in parts.items()), ")"]
    )


def _described(a: Tensor, b: Tensor, matches: Tensor, rtol: float, atol: float) -> str:
    total = matches.numel()
    wrong = total - int(matches.sum().item())
    if not (a.is_floating_point() or a.is_complex()):
        a, b = a.to(dtypes.int64), b.to(dtypes.int64)
    difference = (a - b).abs()
    difference[matches] = 0
    relative = difference / b.abs()
    relative[matches] = 0
    exact = rtol == 0 and atol == 0
    lines = [
        f"Tensor-likes are not {'equal' if exact else 'close'}!",
        "",
        f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})",
    ]
    for name, values, bound in (("absolute", difference, atol), ("relative", relative, rtol)):
        index = int(values.argmax().item())
        at: list[int] = []
        rest = index
        for length in reversed(values.shape):
            rest, place = divmod(rest, length)
            at.insert(0, place)
        lines.append(
            f"Greatest {name} difference: {values.reshape(-1)[index].item()} at index {tuple(at)}"
            + ("" if exact else f" (up to {bound} allowed)")
        )
    return "\n".join(lines)


def assert_close(
    actual: object,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Nothing where |actual - expected| <= atol + rtol * |expected| everywhere, else an error.

    Tensors, arrays, numbers, None, and sequences and mappings of them are compared; the tolerances
    follow from the dtypes unless both are given.

    Raises:
        AssertionError: where values, shapes, dtypes or structures differ; the message says where.
        ValueError: where only one tolerance is given.
        TypeError: for things that can't be compared.
    """
    if (rtol is None) is not (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}."
        )
    options = _Options({**locals()})
    with no_grad():
        for compare, own, other, path in _pairs(actual, expected, (), options):
            compare(own, other, path, options)


def assert_allclose(
    actual: object,
    expected: object,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` as it once was: looser tolerances, no check of dtypes. Deprecated."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future"
        " release. Please use `torch.testing.assert_close()` instead. You can find detailed upgrade"
        " instructions in https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    actual = actual if isinstance(actual, Tensor) else f.tensor(actual)
    expected = expected if isinstance(expected, Tensor) else f.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        old = {dtypes.float16: (1e-3, 1e-3), dtypes.float32: (1e-4, 1e-5)}
        old[dtypes.float64] = (1e-5, 1e-8)
        own = [old.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max(r for r, _ in own), max(a for _, a in own)
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True,
        check_dtype=False, check_stride=False, msg=msg or None,
    )  # fmt: skip
