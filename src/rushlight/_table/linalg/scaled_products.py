"""Products of matrices of 8-bit floats, which are scaled on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base import dtypes as D, errors
from ..._core.mode import current
from ..rows.composite import composite
from ..rows.out_argument import place
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor


@composite("", name="_scaled_mm")
def multiply_scaled(
    input: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: D.dtype | None = None,
    use_fast_accum: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """(input · scale_a) (mat2 · scale_b) + bias of 8-bit floats, computed in float32.

    Args:
        scale_a, scale_b: float32: one number each, or one for each row of `input` (n, 1) and one
            for each column of `mat2` (1, m).
        scale_result, use_fast_accum: change nothing on the CPU, as in PyTorch.
        out_dtype: of the result; that of `input`.

    Shapes: (n, k), (k, m) -> (n, m); bias (m).
    Raises: RuntimeError for other shapes, ValueError for other types and scales.
    """
    if input.dim() != 2 or mat2.dim() != 2:
        raise RuntimeError(f"mat{1 if input.dim() != 2 else 2} must be a matrix")
    (n, k), (rows, m) = input.shape, mat2.shape
    if k != rows:
        raise RuntimeError(f"mat_a and mat_b shapes cannot be multiplied ({n}x{k} and {rows}x{m})")
    left, right = _scales_of(input, mat2, scale_a, scale_b)
    if bias is not None and bias.numel() != m:
        raise RuntimeError(f"Bias must be size {m} but got {bias.numel()}")
    kind = (input.dtype if out is None else out.dtype) if out_dtype is None else out_dtype
    if out is not None and out.dtype is not kind:
        raise ValueError("out_dtype must match output matrix type")
    multiply = table("mul")
    made: Tensor = table("mm")(
        multiply(input.to(D.float32), left), multiply(mat2.to(D.float32), right)
    )
    if bias is not None:
        made = table("add")(made, bias.reshape(m).to(D.float32))
    made = made.to(kind)
    if out is None:
        return made
    if current().grad and (made.requires_grad or out.requires_grad):
        raise RuntimeError(errors.out_requires_grad("_scaled_mm"))
    place(out, made._raw)
    return out


# The name that Python says where arguments are missing.
multiply_scaled.__name__ = multiply_scaled.__qualname__ = "_scaled_mm"


def _scales_of(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor) -> tuple[Any, Any]:
    """The scales, to be multiplied with `a` and `b`: a number each, or a column and a row.

    Raises:
        ValueError: for others, in PyTorch's words.
    """
    scales: tuple[Any, Any] = (scale_a, scale_b)
    if all(x.dtype in D.FLOATS_OF_8_BITS for x in (a, b)) and all(
        s.dtype is D.float32 for s in scales
    ):
        if all(s.numel() == 1 for s in scales):
            return scale_a.reshape(()), scale_b.reshape(())
        fits = [tuple(s.shape) for s in scales] == [(a.shape[0], 1), (1, b.shape[1])]
        if fits and scale_a.stride(1) != 1:
            raise ValueError(f"expected scale_a.stride(1) to be 1, but got {scale_a.stride(1)}")
        if fits and all(s.is_contiguous() for s in scales):
            return scales
    given = [
        f"mat_{letter}.dtype()={D.scalar_name(x.dtype)}, scale_{letter}.dtype()="
        f"{D.scalar_name(s.dtype)}, scale_{letter}.size()={list(s.shape)}"
        for letter, x, s in (("a", a, scale_a), ("b", b, scale_b))
    ]
    steps = [list(s.stride()) for s in scales]
    raise ValueError(
        "Invalid scaling configuration.\n- For TensorWise scaling, a and b should be float8, "
        "scales should be float and singletons.\n- For RowWise scaling, a and b should be float8, "
        f"scales should be float, scale_a should be ({a.shape[0]}, 1) and scale_b should be "
        f"(1, {b.shape[1]}), and both should be contiguous.\nGot {given[0]}, scale_a.stride()="
        f"{steps[0]}, {given[1]} and scale_b.stride()={steps[1]}"
    )
