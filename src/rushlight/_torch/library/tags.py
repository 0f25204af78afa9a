"""`Tag`: what may be said of an operator."""

from __future__ import annotations

import enum

__all__ = ["Tag"]


class Tag(enum.Enum):
    """What is said of an operator; Rushlight remembers it.

    Example:
        >>> torch.Tag.pointwise.name
        'pointwise'
    """

    core = 0
    cudagraph_unsafe = 1
    data_dependent_output = 2
    dynamic_output_shape = 3
    flexible_layout = 4
    generated = 5
    inplace_view = 6
    maybe_aliasing_or_mutating = 7
    needs_contiguous_strides = 8
    needs_exact_strides = 9
    needs_fixed_stride_order = 10
    nondeterministic_bitwise = 11
    nondeterministic_seeded = 12
    pointwise = 13
    pt2_compliant_tag = 17
    reduction = 18
    view_copy = 19
