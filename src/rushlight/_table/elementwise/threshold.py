"""The threshold, and its gradient, which is an operation of its own."""

from __future__ import annotations

from ..._base.lazy import later
from ..._formula.words import formula, where
from ..calls import dtype_checks as _checks
from ..rows.gradient_kernels import calling
from ..rows.row import Row, elementwise

logistic = later("_array.elementwise.activations")

threshold_row = elementwise(
    "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    logistic.threshold,
    self=calling(lambda: threshold_backward),
    promote="none",
    method=False,
    inplace=False,
    samples=lambda mk: [(mk(3, 4), 0.1, 2.0)],
    check=_checks.takes("threshold_cpu", "fi"),
    doc="x where it is above `threshold`, else `value`.",
)
threshold_backward: Row = elementwise(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    formula(lambda grad_output, self, threshold: where(self <= threshold, 0.0, grad_output)),
    grad_output=formula(lambda g, self, threshold: where(self <= threshold, 0.0, g)),
    promote_at=("grad_output", "self"),
    inplace=False,
    public=False,
    out=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4), 0.1)],
    check=_checks.takes("threshold_cpu", "fi"),
    doc="The gradient of `threshold`: `grad_output` where `self` is above, else 0.",
)
