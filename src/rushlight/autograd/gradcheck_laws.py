"""What gradients must obey beside finite differences: zeros, missing gradients, batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._array import types as T
from .._core.storage import TensorBase, new_tensor
from .._table import PUBLIC
from .._table.random.generator import Generator
from .._tensor.batching import Batching, unwrap, wrap
from .._tensor.of_values import OTHER_FORMS
from . import forward_ad
from .backward import grad, is_sparse
from .function import Function
from .grad_mode import no_grad
from .gradcheck_messages import BATCHED, BATCHED_FORWARD, UNDEFINED
from .jacobians import GradcheckError, close, complex_unit, live_inputs, plain, pull, sequence

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._tensor.tensor import Tensor

Func = Callable[..., Any]


def check_multiplied_by_zero(
    outputs: list[Tensor], inputs: tuple[Tensor, ...], given: tuple[Tensor, ...]
) -> None:
    """Backward is linear: zeros in, zeros out. `given` has sparse inputs where these are values."""
    wanted = [inputs[k] for k in live_inputs(inputs)]
    zeros = [new_tensor(T.zeros_like(o._raw)) for o in outputs]
    forms: list[tuple[int, int]] = []
    token = OTHER_FORMS.set(forms)
    try:
        found = grad(outputs, wanted, zeros, allow_unused=True)
    finally:
        OTHER_FORMS.reset(token)
    for g, x, k in zip(found, wanted, live_inputs(inputs)):
        if g is None:
            continue
        shown = given[k]
        if is_sparse(g) and not is_sparse(x):
            raise GradcheckError(f"grad is incorrect layout ({g.layout} is not {x.layout})")
        if is_sparse(shown):
            _check_form(shown, forms)
        if bool((g._raw != 0).any()):
            raise GradcheckError("backward not multiplied by grad_output")
        if g.dtype != x.dtype:
            raise GradcheckError("grad is incorrect type")
        if g._raw.shape != x._raw.shape:
            raise GradcheckError("grad is incorrect size")


def _check_form(x: Any, forms: list[tuple[int, int]]) -> None:
    """Refuses gradients that hooks have given with other sparse or dense dimensions."""
    for sparse, dense in forms:
        if sparse != x.sparse_dim():
            raise GradcheckError("grad is sparse tensor, but has incorrect sparse_dim")
        if dense != x.dense_dim():
            raise GradcheckError("grad is sparse tensor, but has incorrect dense_dim")


class _Undefined(Function):
    """The identity, whose backward gives no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> object:
        ctx.set_materialize_grads(False)
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> object:
        return None


def check_undefined(func: Func, count: int, inputs: tuple[Tensor, ...]) -> None:
    """Backward must take undefined output gradients for zeros: all of them, and each alone."""
    wanted = [inputs[k] for k in live_inputs(inputs)]
    for missing in [-1, *(range(count) if count > 1 else ())]:
        outputs = [o for o in sequence(func(*inputs)) if o.requires_grad]
        outputs = [_Undefined.apply(o) if missing in (-1, i) else o for i, o in enumerate(outputs)]
        zeros = [new_tensor(T.zeros_like(o._raw)) for o in outputs]
        try:
            found = grad(outputs, wanted, zeros, allow_unused=True)
        except RuntimeError as error:
            _warn_of_undefined()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at "
                '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            ) from error
        if any(g is not None and bool((g._raw != 0).any()) for g in found):
            _warn_of_undefined()
            raise GradcheckError(UNDEFINED)


def _warn_of_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by "
        "default, but it may break existing callers of this function. If this is true for you, you "
        'can call this function with "check_undefined_grad=False" to disable the feature',
        UserWarning,
        stacklevel=2,
    )


def check_undefined_forward(func: Func, inputs: tuple[Tensor, ...]) -> None:
    """A missing tangent must mean the same as zeros."""
    live = live_inputs(inputs)
    draws = Generator()
    units = {k: new_tensor(T.copy(complex_unit(inputs[k]._raw, draws))) for k in live}
    for k in live:
        results: list[list[Any]] = []
        for zeros in (True, False):
            with forward_ad.dual_level():
                values = [
                    plain(x) if m not in live or (m == k and not zeros)
                    else forward_ad.make_dual(
                        plain(x), new_tensor(T.zeros_like(x._raw)) if m == k else units[m]
                    )
                    for m, x in enumerate(inputs)
                ]  # fmt: skip
                outputs = [
                    o for o in sequence(func(*values))
                    if isinstance(o, TensorBase) and not T.is_discrete(o._raw.dtype)
                ]  # fmt: skip
                results.append([forward_ad.unpack_dual(o).tangent for o in outputs])
        for i, (a, b) in enumerate(zip(*results)):
            if a is not None and b is not None and not close(a._raw, b._raw, 1e-5, 1e-8):
                raise GradcheckError(
                    "Mismatch in tangent values for output with index: ", i, " when input: ",
                    inputs[k], " has an undefined tangent value. ", " Got: ", a, " but expected: ",
                    b,
                )  # fmt: skip


def _batch_of_two(x: Tensor) -> Tensor:
    return PUBLIC[("", "randn")]((2, *x._raw.shape), dtype=x.dtype)


def check_batched_sparse() -> None:
    """Raises GradcheckError: gradients of sparse inputs have no batches."""
    raise GradcheckError(
        "While computing batched gradients, got: Could not run 'aten::view' with arguments from "
        f"the 'SparseCPU' backend.\n\n{BATCHED}"
    )


def check_batched(inputs: tuple[Tensor, ...], output: Tensor, i: int) -> None:
    """A batch of output gradients at once must give what one after the other gives."""
    wanted = [inputs[k] for k in live_inputs(inputs)]
    seeds = _batch_of_two(output)
    each = [pull(output, wanted, s) for s in (seeds[0], seeds[1])]
    try:
        batch = grad(output, wanted, seeds, retain_graph=True, allow_unused=True,
                     is_grads_batched=True)  # fmt: skip
    except RuntimeError as error:
        raise GradcheckError(
            f"While computing batched gradients, got: {error}\n\n{BATCHED}"
        ) from error
    for j, x in enumerate(wanted):
        expected = [T.zeros_like(x._raw) if e[j] is None else e[j]._raw for e in each]
        found = batch[j]
        _compare_batches(found, expected, i, j, BATCHED)


def _compare_batches(found: Tensor, expected: list[Array], i: int, j: int, text: str) -> None:
    wanted = PUBLIC[("", "stack")]([new_tensor(e) for e in expected])
    if found is None:
        found = new_tensor(T.zeros_like(wanted._raw))
    if not close(found._raw, wanted._raw, 1e-5, 1e-8):
        raise GradcheckError(
            f"For output {i} and input {j}:\n\n{text}\n\nGot:\n{found}\n\nExpected:\n{wanted}"
        )


def check_batched_forward(func: Func, inputs: tuple[Tensor, ...]) -> None:
    """A batch of tangents at once must give what one after the other gives."""
    for k in live_inputs(inputs):
        tangents = _batch_of_two(inputs[k])
        each = [_push(func, inputs, k, t) for t in (tangents[0], tangents[1])]
        try:
            with Batching(2, "unsupported") as layer:
                found = [unwrap(t, layer) for t in _push(func, inputs, k, wrap(tangents, 0, layer))]
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\n{BATCHED_FORWARD}"
            ) from error
        for j, t in enumerate(found):
            _compare_batches(t, [e[j]._raw for e in each], j, j, BATCHED_FORWARD)


def _push(func: Func, inputs: tuple[Tensor, ...], k: int, tangent: Tensor) -> list[Any]:
    """The tangents of the outputs, zeros for missing ones."""
    with forward_ad.dual_level(), no_grad():
        values = [
            forward_ad.make_dual(plain(x), tangent) if m == k else plain(x)
            for m, x in enumerate(inputs)
        ]
        parts = [forward_ad.unpack_dual(o) for o in sequence(func(*values)) if o is not None]
        return [
            new_tensor(T.zeros_like(p.primal._raw)) if p.tangent is None else p.tangent
            for p in parts
        ]
