"""`torch.nn._reduction`: how losses were told to sum up, before `reduction=`."""

import warnings
from typing import Literal, TypeAlias

#: How a loss puts the losses of elements together.
Reduction: TypeAlias = Literal["none", "mean", "sum"]

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]


def get_enum(reduction: str) -> int:
    """The number of a reduction: 0 none, 1 mean, 2 sum.

    Raises:
        ValueError: for any other word.
    """
    numbers = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}
    if reduction not in numbers:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return numbers[reduction]


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """The reduction that two old arguments mean."""
    average = True if size_average is None else size_average
    kept = True if reduce is None else reduce
    found = ("mean" if average else "sum") if kept else "none"
    if emit_warning:
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{found}' instead.",
            stacklevel=2,
        )
    return found


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """The number of the reduction that two old arguments mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
