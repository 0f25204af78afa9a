"""What the products and Jacobians of `autograd.functional` ask of functions, inputs and vectors."""

from __future__ import annotations

from typing import Any, Final

from .._core.storage import TensorBase
from .._tensor.tensor import zeros_of

Tensors = tuple[Any, ...]


def tuple_of(values: Any, what: str, caller: str) -> tuple[bool, Tensors]:
    """`values` as a tuple, and whether it was one.

    Raises:
        TypeError: where it is, or contains, something that isn't a tensor.
    """
    is_tuple = isinstance(values, tuple)
    group: Tensors = values if is_tuple else (values,)
    for i, x in enumerate(group):
        if not isinstance(x, TensorBase):
            where = f"the value at index {i} has type" if is_tuple else f"the given {what} has type"
            raise TypeError(
                f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but "
                f"{where} {type(x)}."
            )
    return is_tuple, group


def need_history(outputs: Tensors, strict: bool) -> None:
    """Refuses, in strict mode, outputs that nothing was recorded of.

    Raises:
        RuntimeError: where there is one.
    """
    if strict:
        for i, o in enumerate(outputs):
            if not o.requires_grad:
                raise RuntimeError(
                    f"Output {i} of the user-provided function does not require gradients. The "
                    "outputs "
                    "must be computed in a differentiable manner from the input when running in "
                    "strict "
                    "mode."
                )


def check_v(v: Tensors, others: Tensors, is_tuple: bool) -> None:
    """Refuses a vector that differs from what it belongs to in number or shapes.

    Raises:
        RuntimeError: where it does.
    """
    if len(others) != len(v):
        if is_tuple:
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(others)} but got {len(v)}."
            )
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (a, b) in enumerate(zip(v, others)):
        if a._raw.shape != b._raw.shape:
            entry = f"Entry {i} in " if is_tuple else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {b.size()} but got {a.size()}."
            )


def fill(grads: Tensors, like: Tensors, strict: bool, create_graph: bool, stage: str) -> Tensors:
    """Gradients with zeros for the missing ones; in strict mode a missing one is an error."""
    filled: list[Any] = []
    for i, (g, x) in enumerate(zip(grads, like)):
        if g is None and strict:
            raise RuntimeError(MISSING[stage].format(i=i))
        if strict and create_graph and g is not None and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(CONSTANT.format(what=what, i=i))
        filled.append(zeros_of(x) if g is None else g)
    return tuple(filled)


# By the stage of the computation: "back" is one backward, "double_back" two; a "trick" is forward
# mode by another backward.
MISSING: Final = {
    "back": "The output of the user-provided function is independent of input {i}. This is not "
    "allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the "
    "grad_outputs when using the double backward trick to compute forward mode gradients. This is "
    "not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This "
    "is not allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in "
    "the grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
    "backward trick to replace forward mode AD.",
}
CONSTANT: Final = (
    "The {what} of the user-provided function is independent of input {i}. This is not allowed in "
    "strict mode when create_graph=True."
)
# By what was computed: it must have a history of its own.
UNRECORDED: Final = {
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the "
    "user-provided function. This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {i} is independent of the input. This is not allowed in strict "
    "mode. You should ensure that your function is twice differentiable and that the jacobian "
    "depends on the inputs (this would be violated by a linear function for example).",
    "hessian": "The hessian of the user-provided function with respect to input {i} is independent "
    "of the input. This is not allowed in strict mode. You should ensure that your function is "
    "thrice differentiable and the hessian depends on the inputs.",
}


def require_recorded(values: Tensors, what: str, strict: bool) -> None:
    """Refuses, in strict mode, gradients that are missing or have no history."""
    if strict:
        for i, g in enumerate(values):
            if g is None:
                raise RuntimeError(MISSING["back"].format(i=i))
            if not g.requires_grad:
                raise RuntimeError(UNRECORDED[what].format(i=i))


def single(outputs: Tensors, is_tuple: bool, caller: str) -> None:
    """Refuses outputs of another number of elements than one.

    Raises:
        RuntimeError: for a tuple, or more elements.
    """
    if is_tuple:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if outputs[0]._raw.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {caller} should contain a single element"
        )


def only_without_v(group: Tensors, what: str) -> None:
    """Refuses to go without a vector where there is more than one element.

    Raises:
        RuntimeError: where there is.
    """
    if len(group) != 1 or group[0]._raw.size != 1:
        raise RuntimeError(
            "The vector v can only be None if "
            + (
                "the user-provided function returns a single Tensor with a single element."
                if what == "output"
                else "the input to the user-provided function is a single Tensor with a single "
                "element."
            )
        )
