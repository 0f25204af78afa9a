"""Checks of gradients against finite differences.

Note [The two modes]
Slow mode compares whole Jacobians, column by column. Fast mode compares one number, uᵀ J v for
random u and v of length one (forward mode: the vector J v): a fault shows with probability one, and
no Jacobian is built. Where fast mode finds a fault the message shows both Jacobians.

Note [Complex numbers]
A complex input is moved along the real and along the imaginary axis. With J₁ and J₂ the derivatives
along them, the vector-Jacobian product of a real output u is uᵀ(J₁ + i J₂): what backward gives
under PyTorch's convention. Complex outputs are checked as two real functions, their imaginary and
their real part. In forward mode it is the inputs that are taken apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._array import types as T
from .._base.memory_format import strided
from .._core.storage import TensorBase, new_tensor
from .._table.random.generator import Generator
from .backward import grad, is_sparse
from .grad_mode import enable_grad
from .gradcheck_former import get_analytical_jacobian, get_numerical_jacobian
from .gradcheck_laws import (
    check_batched,
    check_batched_forward,
    check_batched_sparse,
    check_multiplied_by_zero,
    check_undefined,
    check_undefined_forward,
)
from .gradcheck_messages import FAST_BUT_CLOSE, FAST_NOTE, NONDETERMINISTIC
from .jacobians import (
    GradcheckError,
    analytical_jacobians,
    check_gradient,
    close,
    complex_unit,
    differences,
    forward_jacobians,
    live_inputs,
    numerical_jacobians,
    plain,
    pull,
    push,
    random_unit,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._array.annotations import Array
    from .._tensor.tensor import Tensor

Func = Callable[..., Any]


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
        self.check_batched_forward_grad: bool = options["check_batched_forward_grad"]
        self.check_forward_ad: bool = options["check_forward_ad"]
        self.check_backward_ad: bool = options["check_backward_ad"]
        self.fast_mode: bool = options["fast_mode"]


class _Part:
    """What is compared in one pass: everything, or one part of the complex in- or outputs."""

    def __init__(self, name: str, complex_at: list[int], forward: bool) -> None:
        self.name = name  # "", "real" or "imaginary"
        self.complex_at = complex_at
        self.forward = forward

    def mismatch(self, a: Array | float, n: Array | float, i: int, j: int) -> str:
        """The message for output `i` and input `j`."""
        side = j if self.forward else i
        what = "inputs" if self.forward else "outputs"
        prefix = ""
        if self.name and side in self.complex_at:
            prefix = f"While considering the {self.name} part of complex {what} only, "
        mode = "computed with forward mode " if self.forward else ""
        return (
            f"{prefix}Jacobian {mode}mismatch for output {i} with respect to input {j},\n"
            f"numerical:{_format(n)}\nanalytical:{_format(a)}\n"
        )


def _format(value: Array | float) -> str:
    return repr(new_tensor(value)) if isinstance(value, T.ndarray) else str(value)


def gradcheck(
    func: Callable[..., object],
    inputs: Tensor | Sequence[Tensor],
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

    Parameters:
        func: a function of tensors that gives a tensor, or a tuple of them.
        inputs: the arguments; float64, as float32 is too coarse for differences.
        eps: how far inputs are moved.
        atol, rtol: how far the two may differ: atol + rtol · |difference|.
        raise_exception: whether a disagreement raises.
        nondet_tol: how far two backwards of the same thing may differ.
        check_undefined_grad: whether gradients that are missing must count as zeros.
        check_grad_dtypes: whether gradients must have the inputs' types.
        check_batched_grad: whether backward must give the same under `vmap`.
        check_batched_forward_grad: the same for forward mode.
        check_forward_ad: whether forward mode is checked.
        check_backward_ad: whether reverse mode is checked.
        fast_mode: whether one random direction is compared in place of all entries.
        masked: accepted: of sparse inputs the stored values are checked.
    Shapes: any.
    Returns: bool.
    Example:
        >>> x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(torch.sin, x)
        True
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
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad, check_forward_ad=check_forward_ad,
        check_backward_ad=check_backward_ad, fast_mode=fast_mode,
    )  # fmt: skip
    if raise_exception:
        return _check(func, sequence(inputs), settings)
    try:
        return _check(func, sequence(inputs), settings)
    except GradcheckError:
        return False


def _of_values(func: Func, inputs: tuple[Any, ...]) -> tuple[Func, tuple[Any, ...]]:
    """The function of the values of sparse inputs, and these: what is stored is what is checked."""
    if all(getattr(x, "layout", strided) is strided for x in inputs):
        return func, inputs
    made = {
        k: x for k, x in enumerate(inputs)
        if getattr(x, "layout", strided) is not strided and x.requires_grad
    }  # fmt: skip

    def of_values(*values: Tensor) -> tuple[Tensor, ...]:
        whole = [made[k]._with(v) if k in made else v for k, v in enumerate(values)]
        found = sequence(func(*whole))
        if any(is_sparse(o) for o in found):
            raise ValueError(
                "Sparse output is not supported at gradcheck yet. Please call "
                "to_dense(masked_grad=...) on the output of fn for gradcheck."
            )
        return found

    values = [x.held.detach().requires_grad_() if k in made else x for k, x in enumerate(inputs)]
    return of_values, tuple(values)


def _check(func: Func, inputs: tuple[Tensor, ...], settings: _Settings) -> bool:
    sparse = any(is_sparse(x) and x.requires_grad for x in inputs)
    given = inputs
    func, inputs = _of_values(func, inputs)
    _check_inputs(inputs)
    everything = sequence(func(*inputs))
    outputs = [o for o in everything if o.requires_grad]
    _check_parts(func, everything, inputs, settings)
    if settings.check_batched_forward_grad:
        check_batched_forward(func, inputs)
    if not settings.check_backward_ad:
        return True
    if settings.check_batched_grad:
        if sparse:
            check_batched_sparse()
        for i, o in enumerate(outputs):
            check_batched(inputs, o, i)
    if outputs:
        check_multiplied_by_zero(outputs, inputs, given)
        if settings.check_undefined_grad:
            check_undefined(func, len(outputs), inputs)
    return True


def _check_inputs(inputs: tuple[Tensor, ...]) -> None:
    some = False
    for i, x in enumerate(inputs):
        if not isinstance(x, TensorBase) or not x.requires_grad:
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
        steps: Any = x.stride()
        if any(s == 0 and n > 1 for s, n in zip(steps, x._raw.shape)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You "
                "should "
                "call .contiguous on the input before passing it to gradcheck."
            )
        some = True
        x.retain_grad()
    if not some:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have "
            "requires_grad=True."
        )


def _check_parts(
    func: Func, everything: tuple[Tensor, ...], inputs: tuple[Tensor, ...], settings: _Settings
) -> None:
    """Compares the Jacobians, of the parts of complex outputs and inputs apart."""
    compare = _compare_fast if settings.fast_mode else _compare_slow
    if settings.check_backward_ad:
        outputs = [o for o in everything if o.requires_grad]
        at = [i for i, o in enumerate(outputs) if o.is_complex()]
        if any(o.is_complex() for o in everything):
            for name, attribute in (("imaginary", "imag"), ("real", "real")):
                part = _of_outputs(func, attribute)
                compare(part, inputs, part(*inputs), _Part(name, at, False), settings)
        else:
            compare(func, inputs, everything, _Part("", [], False), settings)
    if settings.check_forward_ad:
        at = [k for k, x in enumerate(inputs) if isinstance(x, TensorBase) and x.is_complex()]
        if at:
            for name, attribute in (("imaginary", "imag"), ("real", "real")):
                part = _of_inputs(func, inputs, attribute)
                own = tuple(
                    getattr(x, attribute) if k in at else x for k, x in enumerate(inputs)
                )  # fmt: skip
                compare(part, own, sequence(part(*own)), _Part(name, at, True), settings)
        else:
            compare(func, inputs, everything, _Part("", [], True), settings)
        if settings.check_undefined_grad:
            check_undefined_forward(func, inputs)


def _of_outputs(func: Func, attribute: str) -> Func:
    """`func` with the real or the imaginary part of its complex outputs."""

    def part(*inputs: object) -> tuple[object, ...]:
        found = sequence(func(*inputs))
        return tuple(getattr(o, attribute) if o.is_complex() else o for o in found)

    return part


def _of_inputs(func: Func, originals: tuple[object, ...], attribute: str) -> Func:
    """`func` of the real or the imaginary parts of its complex inputs, the other part fixed."""

    def part(*values: Any) -> tuple[object, ...]:
        whole = list(values)
        for k, x in enumerate(originals):
            if isinstance(x, TensorBase) and x.is_complex():  # type: ignore[attr-defined]
                fixed: Any = plain(x)
                whole[k] = (
                    fixed.real + values[k] * 1j
                    if attribute == "imag"
                    else values[k] + fixed.imag * 1j
                )
        return sequence(func(*whole))

    return part


# ---- slow mode


def _compare_slow(
    func: Func,
    inputs: tuple[Tensor, ...],
    everything: tuple[Tensor, ...],
    part: _Part,
    settings: _Settings,
) -> None:
    live = live_inputs(inputs)
    places = [i for i, o in enumerate(everything) if o.requires_grad]
    found = [numerical_jacobians(func, inputs, k, settings.eps) for k in live]
    if not places:
        for per_output in found:
            if any(n is not None and bool((n != 0).any()) for n in per_output):
                raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    if part.forward:
        pushed_ = [forward_jacobians(func, inputs, k) for k in live]
        for i, place in enumerate(places):
            for j in range(len(live)):
                a, n = pushed_[j][place], found[j][place]
                if not close(a, n, settings.rtol, settings.atol):
                    raise GradcheckError(part.mismatch(a, n, i, j))
        return
    for i, place in enumerate(places):
        o = everything[place]
        analytical = analytical_jacobians(o, inputs, settings.check_grad_dtypes)
        again = analytical_jacobians(o, inputs, settings.check_grad_dtypes)
        for a, b in zip(analytical, again):
            if a.size and float(abs(a - b).max()) > settings.nondet_tol:
                raise GradcheckError(_nondeterministic(settings.nondet_tol))
        for j, a in enumerate(analytical):
            if not close(a, found[j][place], settings.rtol, settings.atol):
                raise GradcheckError(part.mismatch(a, found[j][place], i, j))


def _nondeterministic(tolerance: float) -> str:
    return (
        "Backward is not reentrant, i.e., running backward with same input and grad_output "
        "multiple times gives different values, although analytical gradient matches numerical "
        f"gradient.The tolerance for nondeterminism was {tolerance}.{NONDETERMINISTIC}"
    )


# ---- fast mode


def _along(func: Func, inputs: tuple[Tensor, ...], k: int, u: Array, eps: float) -> list[Array]:
    """J u for all outputs; for a complex input and a pair u: J₁ u₁ + i J₂ u₂."""
    if not isinstance(u, tuple):
        return differences(func, inputs, k, ..., u * eps, eps)
    real = differences(func, inputs, k, ..., u[0] * eps, eps)
    turned = differences(func, inputs, k, ..., u[1] * (eps * 1j), eps)
    return [None if a is None else a + 1j * b for a, b in zip(real, turned)]


def _compare_fast(
    func: Func,
    inputs: tuple[Tensor, ...],
    everything: tuple[Tensor, ...],
    part: _Part,
    settings: _Settings,
) -> None:
    live = live_inputs(inputs)
    places = [i for i, o in enumerate(everything) if o.requires_grad]
    draws = Generator()  # the user's numbers aren't used up, and each check takes the same ones
    directions = [random_unit(inputs[k]._raw, draws) for k in live]
    found = [_along(func, inputs, k, u, settings.eps) for k, u in zip(live, directions)]
    if not places:
        for per_output in found:
            for n in per_output:
                if n is not None and n.size and float(abs(n).max()) > settings.eps:
                    raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    seeds = [random_unit(everything[place].real._raw, draws) for place in places]
    if part.forward:
        pushed_ = [push(func, inputs, k, u) for k, u in zip(live, directions)]
    else:
        pulled_ = [_dots(everything[p], inputs, live, directions, v, settings)
                   for p, v in zip(places, seeds)]  # fmt: skip
    for j, u in enumerate(directions):
        for i, place in enumerate(places):
            n = found[j][place]
            sum_u = float(sum(half.sum() for half in u) if isinstance(u, tuple) else u.sum())
            if part.forward:
                a, scale = pushed_[j][place].reshape(-1), sum_u
                n = n.reshape(-1)
            else:
                a, scale = pulled_[i][j], sum_u * float(seeds[i].sum())
                n = (n * seeds[i]).sum()
            if not close(a, n, settings.rtol, settings.atol * scale):
                note = _slow_note(func, inputs, everything, place, live[j], j, part, settings)
                raise GradcheckError(_fast_mismatch(part, a, n, i, j) + note)


def _fast_mismatch(part: _Part, a: Array, n: Array, i: int, j: int) -> str:
    if part.forward:
        return part.mismatch(a, n, i, j)
    return part.mismatch(a.item() if hasattr(a, "item") else a, n.item(), i, j)


def _dots(o: Tensor, inputs: tuple[Tensor, ...], live: list[int], directions: list[Array], v: Array,
          settings: _Settings) -> list[object]:  # fmt: skip
    """vᵀ J u for each input, by one backward; checked against a second run."""
    wanted = [inputs[k] for k in live]
    seed = new_tensor(v.astype(o._raw.dtype))
    runs = [
        [check_gradient(g, x, settings.check_grad_dtypes)
         for g, x in zip(pull(o, wanted, seed), wanted)]
        for _ in range(2)
    ]  # fmt: skip
    for a, b in zip(*runs):
        if a.size and float(abs(a - b).max()) > settings.nondet_tol:
            raise GradcheckError(_nondeterministic(settings.nondet_tol))
    return [
        (g.real * u[0]).sum() + 1j * (g.imag * u[1]).sum()
        if isinstance(u, tuple)
        else (g * u).sum()
        for g, u in zip(runs[0], directions)
    ]


def _slow_note(
    func: Func,
    inputs: tuple[Tensor, ...],
    everything: tuple[Tensor, ...],
    place: int,
    k: int,
    j: int,
    part: _Part,
    settings: _Settings,
) -> str:
    """Both Jacobians, after fast mode has found them different."""
    numerical = numerical_jacobians(func, inputs, k, settings.eps)[place]
    if part.forward:
        analytical = forward_jacobians(func, inputs, k)[place]
    else:
        analytical = analytical_jacobians(everything[place], inputs, False)[j]
    worst = float(abs(numerical - analytical).max()) if numerical.size else 0.0
    note = FAST_NOTE.format(new_tensor(numerical), new_tensor(analytical), worst)
    if close(analytical, numerical, settings.rtol, settings.atol):
        note += FAST_BUT_CLOSE
    return note


def gradgradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[Tensor],
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

    Parameters:
        func: a function of tensors that gives a tensor, or a tuple of them.
        inputs: the arguments, float64.
        grad_outputs: the gradients of the outputs with which the first backward begins.
        gen_non_contig_grad_outputs: whether random ones have gaps in memory.
        eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes: as
            `gradcheck` takes them.
        check_batched_grad, fast_mode, masked: as `gradcheck` takes them, too.
        check_fwd_over_rev: whether the gradient is differentiated in forward mode.
        check_rev_over_rev: whether it is differentiated in reverse mode.
    Shapes: any.
    Returns: bool.
    Example:
        >>> x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradgradcheck(torch.sin, x)
        True
    """
    assert check_fwd_over_rev or check_rev_over_rev, (
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    )
    assert not (check_undefined_grad and not check_rev_over_rev), (
        "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
    )
    assert not (check_batched_grad and not check_rev_over_rev), (
        "Setting check_batched_grad=True requires check_rev_over_rev to be True"
    )
    group = sequence(inputs)
    if grad_outputs is None:
        outputs = [o for o in sequence(func(*group)) if o.requires_grad]
        seeds: tuple[Any, ...] = tuple(_seed_like(o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        seeds = sequence(grad_outputs)
    count = len(seeds)
    wanted = [k for k, x in enumerate(group) if isinstance(x, TensorBase) and x.requires_grad]

    def first(*arguments: Any) -> tuple[Tensor, ...]:
        values: tuple[Any, ...] = arguments[: len(arguments) - count]
        given = arguments[len(arguments) - count :]
        with enable_grad():
            values = tuple(
                v.requires_grad_() if k in wanted and not v.requires_grad else v
                for k, v in enumerate(values)
            )  # fmt: skip
            outputs = [o for o in sequence(func(*values)) if o.requires_grad]
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


def _seed_like(o: Tensor, apart: bool) -> TensorBase:
    """A random gradient for an output, of double precision; with gaps in memory where `apart`."""
    array = T.copy(complex_unit(o._raw))
    if apart and array.ndim:
        wide = T.empty((*array.shape, 2), array.dtype)
        wide[..., 0] = array
        array = wide[..., 0]
    seed = new_tensor(array)
    seed._requires_grad = True
    return seed


__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "gradcheck",
    "gradgradcheck",
]
