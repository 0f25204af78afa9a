"""The randomised leaky rectifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.inplace import apply_inplace
from ..._core.storage import TensorBase, new_tensor
from ..calls import dtype_checks as _checks
from ..calls.argument_parser import complaint_of_c
from ..random.generator import stream_of
from ..rows.composite import composite
from ..rows.row import general

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from ..random.generator import Generator

draw = later("_array.random.discrete")


def _row(node: str, public: bool) -> Any:
    return general(
        "rrelu_with_noise(Tensor self, Tensor noise, Scalar lower=0.125, "
        "Scalar upper=0.3333333333333333, bool training=False) -> Tensor",
        lambda x, noise, lower, upper, training: draw.leaky(
            x, noise if training else (lower + upper) / 2
        ),
        self=lambda xp, g, self, noise, lower, upper, training: (
            g * noise if training else xp.where(self > 0, g, g * ((lower + upper) / 2))
        ),
        namespace="private",
        public=public,
        out=False,
        dtypes="float",
        node=node,
        check=_checks.takes("leaky_relu_cpu", "f"),
        samples=lambda mk: [(mk(3, 4), mk(3, 4), 0.1, 0.3, False)],
        doc="Each element where it is positive, else its own slope times it.",
    )


rrelu_row = _row("RreluWithNoiseBackward0", True)
_written = _row("RreluWithNoiseBackward1", False)  # in place


def refuse_backward(out: Tensor, name: str) -> Tensor:
    """`out`, which was written with a negative slope: its values don't say which side they had."""
    node = out.grad_fn

    def refuse(grads: object) -> None:
        raise RuntimeError(
            f"In-place {name} backward calculation is triggered with a negative slope which is not "
            "supported. This is caused by calling in-place forward function with a negative slope, "
            "please call out-of-place version instead."
        )

    if node is not None:
        node.register_prehook(refuse)
    return out


def _run(
    input: Tensor,
    lower: float,
    upper: float,
    training: bool,
    inplace: bool,
    generator: Generator | None,
) -> Tensor:
    if (
        type(training) is not bool
        or type(lower) is not float
        or type(upper) is not float
        or not isinstance(input, TensorBase)
    ):
        name = "rrelu_" if inplace else "rrelu"
        problem = complaint_of_c("torch", name, (input, lower, upper, training), {})
        if problem is not None:
            raise problem
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    x = input._raw
    if training:
        if x.dtype.kind not in "fV" or x.dtype.name == "float16":
            kind = D.scalar_name(T.from_raw(x.dtype))
            raise NotImplementedError(errors.not_implemented("rrelu_with_noise_out_cpu", kind))
        stream = stream_of(generator)
        noise = new_tensor(draw.slopes(stream, x, float(lower), float(upper)))
    else:
        noise = new_tensor(T.empty((0,), x.dtype))
    args = [input, noise, lower, upper, training]
    if not inplace:
        return apply_n(rrelu_row.op, args)
    out = apply_inplace(_written.op, args)
    if training or lower + upper >= 0:
        return out
    return refuse_backward(out, "leakyReLu")


@composite("", method=False)
def rrelu(
    input: Tensor, lower: float = 0.125, upper: float = 1.0 / 3.0, training: bool = False,
    generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Each element where it is positive, else a slope times it that is drawn in training."""
    return _run(input, lower, upper, training, False, generator)


@composite("")
def rrelu_(
    input: Tensor, lower: float = 0.125, upper: float = 1.0 / 3.0, training: bool = False,
    generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """In-place version of `rrelu`."""
    return _run(input, lower, upper, training, True, generator)


@composite("nn.functional", name="rrelu")
def rrelu_function(
    input: Tensor, lower: float = 0.125, upper: float = 1.0 / 3.0, training: bool = False,
    inplace: bool = False,
) -> Tensor:  # fmt: skip
    """Each element where it is positive, else a slope times it.

    In training every slope is drawn between `lower` and `upper`; else it is their mean.
    Source: B. Xu et al., Empirical evaluation of rectified activations (2015).
    """
    return _run(input, lower, upper, training, inplace, None)


@composite("nn.functional", name="rrelu_")
def rrelu_function_(
    input: Tensor, lower: float = 0.125, upper: float = 1.0 / 3.0, training: bool = False
) -> Tensor:
    """In-place version of `rrelu`."""
    return _run(input, lower, upper, training, True, None)
