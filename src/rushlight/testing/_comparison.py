"""`assert_close`: whether two things hold the same numbers, and a message that says where not.

Nested containers are taken apart into pairs (`originate_pairs`), each of the first class that takes
its two things; `not_close_error_metas` compares them all.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .._base import dtypes
from .._tensor.tensor import Tensor
from ..nn._ground import f
from ._mismatch import (
    _DTYPE_PRECISIONS,
    UNEXPECTED,
    ErrorMeta,
    Message,
    Place,
    UnsupportedInputs,
    _make_bitwise_mismatch_msg,
    _make_mismatch_msg,
    default_tolerances,
    get_tolerances,
    make_scalar_mismatch_msg,
    make_tensor_mismatch_msg,
    place_text,
)
from ._pairs import BooleanPair, NonePair, NumberPair, ObjectPair, Pair, TensorLikePair

if TYPE_CHECKING:
    from .._base.annotations import Keywords

__all__ = [
    "_DTYPE_PRECISIONS",
    "BooleanPair",
    "ErrorMeta",
    "NonePair",
    "NumberPair",
    "ObjectPair",
    "Pair",
    "TensorLikePair",
    "UnsupportedInputs",
    "_make_bitwise_mismatch_msg",
    "_make_mismatch_msg",
    "assert_allclose",
    "assert_close",
    "default_tolerances",
    "get_tolerances",
    "make_scalar_mismatch_msg",
    "make_tensor_mismatch_msg",
    "not_close_error_metas",
    "originate_pairs",
]

#: What `assert_allclose` took for (rtol, atol).
_OLD_PRECISIONS: Final = {
    dtypes.float16: (1e-3, 1e-3),
    dtypes.float32: (1e-4, 1e-5),
    dtypes.float64: (1e-5, 1e-8),
}
_CLOSE: Final = (NonePair, BooleanPair, NumberPair, TensorLikePair)


def originate_pairs(
    actual: object,
    expected: object,
    *,
    pair_types: Sequence[type[Pair]],
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    id: Place = (),
    **options: Any,
) -> list[Pair]:
    """The pairs that two nested containers consist of, in order.

    Raises:
        ErrorMeta: where the containers differ, or no class takes two of their things.
    """
    parts = _parts(actual, expected, sequence_types, mapping_types, id)
    if parts is None:
        return [_pair(actual, expected, pair_types, id, options)]
    found: list[Pair] = []
    for key, own, other in parts:
        found += originate_pairs(
            own,
            other,
            pair_types=pair_types,
            sequence_types=sequence_types,
            mapping_types=mapping_types,
            id=(*id, key),
            **options,
        )
    return found


def _parts(
    actual: Any, expected: Any, sequences: tuple[type, ...], mappings: tuple[type, ...], id: Place
) -> list[tuple[object, object, object]] | None:
    """What two containers hold, as (key, actual, expected); None for what is no container."""
    both = actual, expected
    if all(isinstance(x, sequences) and not isinstance(x, str) for x in both):
        if len(actual) != len(expected):
            raise ErrorMeta(
                AssertionError,
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}",
                id=id,
            )
        return [(i, actual[i], expected[i]) for i in range(len(actual))]
    if not all(isinstance(x, mappings) for x in both):
        return None
    missing, more = expected.keys() - actual.keys(), actual.keys() - expected.keys()
    if missing or more:
        raise ErrorMeta(
            AssertionError,
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(missing)}\n"
            f"Additional keys in the actual mapping: {sorted(more)}",
            id=id,
        )
    try:
        keys = sorted(actual)
    except TypeError:
        keys = list(actual)
    return [(key, actual[key], expected[key]) for key in keys]


def _pair(
    actual: object,
    expected: object,
    pair_types: Sequence[type[Pair]],
    id: Place,
    options: Keywords,
) -> Pair:
    for kind in pair_types:
        try:
            return kind(actual, expected, id=id, **options)
        except UnsupportedInputs:
            continue
        except ErrorMeta:
            raise
        except Exception as error:
            raise RuntimeError(
                f"Originating a {kind.__name__}() at item {place_text(id)} with\n\n"
                f"{type(actual).__name__}(): {actual}\n\nand\n\n"
                f"{type(expected).__name__}(): {expected}\n\n{UNEXPECTED}"
            ) from error
    raise ErrorMeta(
        TypeError,
        "No comparison pair was able to handle inputs of type "
        f"{type(actual)} and {type(expected)}.",
        id=id,
    )


def not_close_error_metas(
    actual: object,
    expected: object,
    *,
    pair_types: Sequence[type[Pair]] = (ObjectPair,),
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    **options: Any,
) -> list[ErrorMeta]:
    """Every failed comparison between two nested containers; none where all agree.

    Raises:
        Exception: at once, where the containers differ or hold what can't be compared.
    """
    __tracebackhide__ = True
    try:
        pairs = originate_pairs(
            actual,
            expected,
            pair_types=pair_types,
            sequence_types=sequence_types,
            mapping_types=mapping_types,
            **options,
        )
    except ErrorMeta as error:
        raise error.to_error() from None
    failed: list[ErrorMeta] = []
    for pair in pairs:
        try:
            pair.compare()
        except ErrorMeta as error:
            failed.append(error)
        except Exception as error:
            raise RuntimeError(f"Comparing\n\n{pair}\n\n{UNEXPECTED}") from error
    return failed


def assert_close(
    actual: object,
    expected: object,
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
    """Raises an error unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Tensors, arrays, numbers, None, and sequences and mappings of them are compared; the tolerances
    follow from the dtypes unless both are given.

    Parameters:
        actual: what was found.
        expected: what it should be.
        allow_subclasses: whether two things of different classes may be compared, one of which is
            the other's.
        rtol: relative tolerance; with `atol` or not at all.
        atol: absolute tolerance; with `rtol` or not at all.
        equal_nan: whether NaN equals NaN.
        check_device, check_dtype, check_layout, check_stride: whether those have to be the same.
        msg: another text of the error, or a function that makes it of the usual one.
    Raises:
        AssertionError: where values, shapes, dtypes or structures differ; the message says where.
        ValueError: where only one tolerance is given.
        TypeError: for things that can't be compared.
    Example:
        >>> torch.testing.assert_close(torch.tensor([0.1 + 0.2]), torch.tensor([0.3]))
        >>> torch.testing.assert_close(1.0, 1.1, rtol=0, atol=0.2)
    """
    __tracebackhide__ = True
    failed = not_close_error_metas(
        actual,
        expected,
        pair_types=_CLOSE,
        allow_subclasses=allow_subclasses,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=check_device,
        check_dtype=check_dtype,
        check_layout=check_layout,
        check_stride=check_stride,
    )
    if failed:
        raise failed[0].to_error(msg)


def assert_allclose(
    actual: object,
    expected: object,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` as it once was: looser tolerances, no check of dtypes. Deprecated.

    Parameters:
        actual: what was found: a tensor, or what makes one.
        expected: what it should be, likewise.
        rtol: relative tolerance; without both they follow from the dtypes.
        atol: absolute tolerance.
        equal_nan: whether NaN equals NaN.
        msg: another text of the error.
    Raises:
        AssertionError: where values or shapes differ; the message says where.
        ValueError: where only one tolerance is given, and for what makes no tensor.
    Example:
        >>> torch.testing.assert_allclose([0.1 + 0.2], [0.3])
    """
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
        rtol, atol = default_tolerances(actual, expected, dtype_precisions=_OLD_PRECISIONS)
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True,
        check_dtype=False, check_stride=False, msg=msg or None,
    )  # fmt: skip
