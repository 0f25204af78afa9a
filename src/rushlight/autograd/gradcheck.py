"""Checks of gradients against finite differences.

Note [The two modes]
Slow mode compares whole Jacobians, column by column. Fast mode compares one number, uᵀ J v for
random u and v of length one: a fault shows with probability one, and no Jacobian is built. Where
fast mode finds a fault the message shows both Jacobians.

Note [Complex numbers]
A complex input is moved along the real and along the imaginary axis. With J₁ and J₂ the derivatives
along them, the vector-Jacobian product of a real output u is uᵀ(J₁ + i J₂): what backward gives
under PyTorch's convention. Complex outputs are checked as two real functions, their real and their
imaginary part.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .. import dtypes as D
from .._array import types as T
from .._core.storage import TensorBase, new_tensor
from ..ops import PUBLIC
from .backward import grad
from .grad_mode import enable_grad, no_grad
from .jacobians import (
    GradcheckError,
    analytical_jacobians,
    checked_gradient,
    forward_jacobian,
    live_inputs,
    numerical_jacobian,
    plain,
    pulled,
    pushed,
)

NONDETERMINISTIC = """

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""
FAST_NOTE = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
    "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
    "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
    "Numerical:\n {}\nAnalytical:\n{}\n\n"
    "The max per-element difference (slow mode) is: {}.\n"
)


class _Settings:
    """The tolerances and switches of one check."""

    def __init__(self, **options: Any) -> None:
        self.eps: float = options["eps"]
        self.atol: float = options["atol"]
        self.rtol: float = options["rtol"]
        self.nondet_tol: float = options["nondet_tol"]
        self.check_undefined_grad: bool = options["check_undefined_grad"]
        self.check_grad_dtypes: bool = options["check_grad_dtypes"]
        self.check_batched_grad: bool = options["check_batched_grad"]
        self.check_forward_ad: bool = options["check_forward_ad"]
        self.check_backward_ad: bool = options["check_backward_ad"]
        self.fast_mode: bool = options["fast_mode"]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """True if the gradients of `func` agree with central differences at `inputs`.

    Raises:
        GradcheckError: where they don't (False is returned instead without `raise_exception`).
        ValueError: where no input requires grad.
    """
    assert check_forward_ad or check_backward_ad, (
        "Expected at least one of check_forward_ad or check_backward_ad to be True"
    )
    assert not (check_batched_grad and not check_backward_ad), (
        "Setting check_batched_grad=True requires check_backward_ad to be True"
    )
    assert not (check_batched_forward_grad and not check_forward_ad), (
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
    )
    settings = _Settings(
        eps=eps, atol=atol, rtol=rtol, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_forward_ad,
        check_backward_ad=check_backward_ad, fast_mode=fast_mode,
    )  # fmt: skip
    group = (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)
    if raise_exception:
        return _check(func, group, settings)
    try:
        return _check(func, group, settings)
    except GradcheckError:
        return False


def _check(func: Callable[..., Any], inputs: tuple[Any, ...], settings: _Settings) -> bool:
    _check_inputs(inputs)
    with enable_grad():
        outputs = _outputs(func, inputs)
    if not outputs:
        _check_no_differentiable_outputs(func, inputs, settings)
        return True
    for i, o in enumerate(outputs):
        if o._raw.dtype.kind == "c":
            _check_output(_part(func, i, "imag"), inputs, i, settings, "imaginary")
            _check_output(_part(func, i, "real"), inputs, i, settings, "real")
        else:
            _check_output(_part(func, i, ""), inputs, i, settings, "")
    if settings.check_backward_ad:
        if settings.check_batched_grad:
            _check_batched(func, inputs)
        _check_multiplied_by_zero(func, inputs)
        if settings.check_undefined_grad:
            _check_undefined(func, inputs)
    return True


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    some = False
    for i, x in enumerate(inputs):
        if not isinstance(x, TensorBase) or not x._requires_grad:
            continue
        if x._raw.dtype.kind not in "fc" or x._raw.dtype.itemsize < (
            8 if x._raw.dtype.kind == "f" else 16
        ):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. "
                "This check will likely fail if all the inputs are not of double precision "
                "floating "
                "point or complex. ",
                UserWarning,
                stacklevel=4,
            )
        if any(s == 0 and n > 1 for s, n in zip(x._raw.strides, x._raw.shape)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You "
                "should "
                "call .contiguous on the input before passing it to gradcheck."
            )
        some = True
        x.retain_grad()  # type: ignore[attr-defined]
    if not some:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have "
            "requires_grad=True."
        )


def _outputs(func: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Any]:
    """The outputs that can have a gradient."""
    result = func(*inputs)
    group = list(result) if isinstance(result, (tuple, list)) else [result]
    return [o for o in group if o.requires_grad]


def _all_outputs(func: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Any]:
    result = func(*inputs)
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _part(func: Callable[..., Any], i: int, part: str) -> Callable[..., Any]:
    """The i-th differentiable output of `func`, or its real or imaginary part, as a function."""
    chosen: list[int] = []

    def one(*inputs: Any) -> Any:
        found = _all_outputs(func, inputs)
        if not chosen:
            chosen.extend(k for k, o in enumerate(found) if o.requires_grad)
        o = found[chosen[i]]
        return getattr(o, part) if part else o

    return one


def _check_output(one: Callable[..., Any], inputs: tuple[Any, ...], i: int, settings: _Settings,
                  part: str) -> None:  # fmt: skip
    with enable_grad():
        output = one(*inputs)
    prefix = f"While considering the {part} part of complex outputs only, " if part else ""
    if settings.fast_mode:
        _check_fast(one, inputs, output, i, settings, prefix)
        return
    numerical = [numerical_jacobian(one, inputs, k, settings.eps) for k in live_inputs(inputs)]
    if settings.check_backward_ad:
        analytical = analytical_jacobians(output, inputs, settings.check_grad_dtypes)
        again = analytical_jacobians(output, inputs, settings.check_grad_dtypes)
        for a, b in zip(analytical, again):
            if a.size and float(abs(a - b).max()) > settings.nondet_tol:
                raise GradcheckError(_nondeterministic(settings.nondet_tol))
        for j, (a, n) in enumerate(zip(analytical, numerical)):
            if not _close(a, n, settings):
                raise GradcheckError(_mismatch(a, n, i, j, prefix))
    if settings.check_forward_ad:
        for j, (k, n) in enumerate(zip(live_inputs(inputs), numerical)):
            f = forward_jacobian(one, inputs, k, output)
            if not _close(f, n, settings):
                raise GradcheckError(
                    _mismatch(f, n, i, j, prefix + "While checking the forward mode: ")
                )


def _nondeterministic(tolerance: float) -> str:
    return (
        "Backward is not reentrant, i.e., running backward with same input and grad_output "
        "multiple times "
        "gives different values, although analytical gradient matches numerical gradient."
        f"The tolerance for nondeterminism was {tolerance}.{NONDETERMINISTIC}"
    )


def _mismatch(a: Any, n: Any, i: int, j: int, prefix: str) -> str:
    return (
        f"{prefix}Jacobian mismatch for output {i} with respect to input {j},\n"
        f"numerical:{new_tensor(n)!r}\nanalytical:{new_tensor(a)!r}\n"
    )


def _close(a: Any, n: Any, settings: _Settings) -> bool:
    if a.shape != n.shape:
        return False
    return bool((abs(a - n) <= settings.atol + settings.rtol * abs(n)).all())


# ---- fast mode
# ------------------------------------------------------------------------------------


def _random_unit(x: Any) -> Any:
    """A random direction of length one, shaped like an array."""
    draw = PUBLIC[("", "rand")]
    wide = D.complex128 if x._raw.dtype.kind == "c" else D.float64
    made = draw(tuple(x._raw.shape), dtype=D.float64)._raw
    if wide is D.complex128:
        made = made + 1j * draw(tuple(x._raw.shape), dtype=D.float64)._raw
    length = float((abs(made) ** 2).sum()) ** 0.5
    return (made / length if length else made).astype(x._raw.dtype)


def _check_fast(one: Callable[..., Any], inputs: tuple[Any, ...], output: Any, i: int,
                settings: _Settings, prefix: str) -> None:  # fmt: skip
    u = _random_unit(output)
    live = live_inputs(inputs)
    directions = {k: _random_unit(inputs[k]) for k in live}
    numerical = {}
    for k in live:
        v = directions[k]
        real, imaginary = (v.real, v.imag) if v.dtype.kind == "c" else (v, None)
        found = float((_along(one, inputs, k, real, settings.eps) * u).sum())
        if imaginary is not None:
            found += float((_along(one, inputs, k, imaginary * 1j, settings.eps) * u).sum())
        numerical[k] = found
    if settings.check_backward_ad:
        wanted = [inputs[k] for k in live]
        first = pulled(output, wanted, new_tensor(u))
        second = pulled(output, wanted, new_tensor(u))
        for j, k in enumerate(live):
            a = _dot(
                checked_gradient(first[j], inputs[k], settings.check_grad_dtypes), directions[k]
            )
            b = _dot(
                checked_gradient(second[j], inputs[k], settings.check_grad_dtypes), directions[k]
            )
            _compare_fast(one, inputs, output, i, j, a, numerical[k], settings, prefix)
            if abs(a - b) > settings.nondet_tol:
                raise GradcheckError(_nondeterministic(settings.nondet_tol))
    if settings.check_forward_ad:
        for j, k in enumerate(live):
            f = float((pushed(one, inputs, {k: directions[k]}, output) * u).sum())
            _compare_fast(one, inputs, output, i, j, f, numerical[k], settings, prefix)


def _dot(g: Any, v: Any) -> float:
    """The real inner product of a gradient and a direction."""
    return float(
        (g.real * v.real + g.imag * v.imag).sum() if g.dtype.kind == "c" else (g * v).sum()
    )


def _along(
    one: Callable[..., Any], inputs: tuple[Any, ...], k: int, direction: Any, eps: float
) -> Any:
    x = inputs[k]
    results = []
    for sign in (1, -1):
        moved = new_tensor((x._raw + sign * eps * direction).astype(x._raw.dtype))
        with no_grad():
            result = one(*[moved if m == k else plain(v) for m, v in enumerate(inputs)])
        results.append(result._raw)
    return (results[0] - results[1]) / (2 * eps)


def _compare_fast(one: Callable[..., Any], inputs: tuple[Any, ...], output: Any, i: int, j: int,
                  a: float, n: float, settings: _Settings, prefix: str) -> None:  # fmt: skip
    # A product of two random unit vectors with J: the elements' tolerance, scaled like a sum.
    elements = inputs[live_inputs(inputs)[j]]._raw.size * max(output._raw.size, 1)
    scale = max(1.0, float(elements) ** 0.5)
    if abs(a - n) <= settings.atol * scale + settings.rtol * abs(n):
        return
    numerical = numerical_jacobian(one, inputs, live_inputs(inputs)[j], settings.eps)
    analytical = analytical_jacobians(output, inputs, settings.check_grad_dtypes)[j]
    worst = float(abs(numerical - analytical).max()) if numerical.size else 0.0
    shown = FAST_NOTE.format(new_tensor(numerical), new_tensor(analytical), worst)
    raise GradcheckError(
        f"{prefix}Jacobian mismatch for output {i} with respect to input {j},\n"
        f"numerical:{n}\nanalytical:{a}\n{shown}"
    )


# ---- what else can be wrong
# -----------------------------------------------------------------------


def _check_no_differentiable_outputs(func: Callable[..., Any], inputs: tuple[Any, ...],
                                     settings: _Settings) -> None:  # fmt: skip
    """Without a differentiable output the function must not depend on its inputs."""
    count = len(_all_outputs(func, inputs))
    for i in range(count):

        def one(*values: Any, i: int = i) -> Any:
            return _all_outputs(func, values)[i]

        if T.is_discrete(one(*inputs)._raw.dtype):
            continue
        for k in live_inputs(inputs):
            jacobian = numerical_jacobian(one, inputs, k, settings.eps)
            if bool((abs(jacobian) > settings.atol).any()):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_multiplied_by_zero(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Backward is linear: zeros in, zeros out."""
    with enable_grad():
        outputs = _outputs(func, inputs)
    wanted = [inputs[k] for k in live_inputs(inputs)]
    zeros = [new_tensor(T.zeros_like(o._raw)) for o in outputs]
    found = grad(outputs, wanted, zeros, allow_unused=True)
    for g, x in zip(found, wanted):
        if g is None:
            continue
        if bool((g._raw != 0).any()):
            raise GradcheckError("backward not multiplied by grad_output")
        if g.dtype != x.dtype:
            raise GradcheckError("grad is incorrect type")
        if g._raw.shape != x._raw.shape:
            raise GradcheckError("grad is incorrect size")


def _check_undefined(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Backward must take undefined output gradients for zeros."""
    with enable_grad():
        outputs = _outputs(func, inputs)
    wanted = [inputs[k] for k in live_inputs(inputs)]
    undefined = _undefined_gradients(outputs)
    found = grad(undefined, wanted, [new_tensor(T.zeros_like(o._raw)) for o in undefined],
                 retain_graph=True, allow_unused=True)  # fmt: skip
    for g in found:
        if g is not None and bool((g._raw != 0).any()):
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are "
                "undefined or "
                "zero. Please look at 'Notes about undefined output gradients' in "
                "'tools/autograd/derivatives.yaml'"
            )


def _undefined_gradients(outputs: Iterable[Any]) -> list[Any]:
    from .function import Function

    class Undefined(Function):
        @staticmethod
        def forward(ctx: Any, *values: Any) -> Any:
            ctx.set_materialize_grads(False)
            return tuple(v.clone() for v in values)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return tuple(None for _ in grads)

    return list(Undefined.apply(*outputs))


def _check_batched(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """A batch of output gradients at once must give what one after the other gives."""
    with enable_grad():
        outputs = _outputs(func, inputs)
    wanted = [inputs[k] for k in live_inputs(inputs)]
    stack = PUBLIC[("", "stack")]
    for o in outputs:
        seeds = [new_tensor(_random_unit(o)) for _ in range(2)]
        each = [grad(o, wanted, s, retain_graph=True, allow_unused=True) for s in seeds]
        batch = grad(
            o, wanted, stack(seeds), retain_graph=True, allow_unused=True, is_grads_batched=True
        )
        for j, g in enumerate(batch):
            if g is None:
                continue
            for k in range(2):
                if bool((abs(g._raw[k] - each[k][j]._raw) > 1e-8).any()):
                    raise GradcheckError(
                        f"For output and input {j}, a batched gradient differs from the gradients "
                        "computed one after the other"
                    )


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """True if the gradients of the gradients of `func` agree with central differences.

    Without `grad_outputs` they are random.

    Raises:
        GradcheckError: where they don't (False is returned instead without `raise_exception`).
    """
    assert check_fwd_over_rev or check_rev_over_rev, (
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    )
    group = (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)
    if grad_outputs is None:
        seeds = tuple(_seed_like(o, gen_non_contig_grad_outputs) for o in _outputs(func, group))
    else:
        seeds = (grad_outputs,) if isinstance(grad_outputs, TensorBase) else tuple(grad_outputs)
    count = len(seeds)
    wanted = [k for k, x in enumerate(group) if isinstance(x, TensorBase) and x._requires_grad]

    def first(*arguments: Any) -> tuple[Any, ...]:
        values, given = arguments[: len(arguments) - count], arguments[len(arguments) - count :]
        with enable_grad():
            values = tuple(
                v if not isinstance(v, TensorBase) or v._requires_grad or k not in wanted
                else v.requires_grad_()  # type: ignore[attr-defined]
                for k, v in enumerate(values)
            )  # fmt: skip
            outputs = _outputs(func, values)
            found = grad(outputs, [values[k] for k in wanted], list(given), create_graph=True,
                         allow_unused=True)  # fmt: skip
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first, (*group, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode, masked=masked,
    )  # fmt: skip


def _seed_like(o: Any, apart: bool) -> Any:
    """A random gradient for an output, of double precision; with gaps in memory where `apart`."""
    array = _random_unit(o)
    if apart and array.ndim:
        wide = T.empty((*array.shape, 2), array.dtype)
        wide[..., 0] = array
        array = wide[..., 0]
    seed = new_tensor(array)
    seed._requires_grad = True
    return seed


__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
