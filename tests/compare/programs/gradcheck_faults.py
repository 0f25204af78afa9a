"""gradcheck: what it finds, and how it says so."""

import re
import warnings

import torch
from observation import outcome, told

Function = torch.autograd.Function
gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck


def _some(*shape: int, dtype: torch.dtype = torch.double) -> torch.Tensor:
    count = int(torch.tensor(shape).prod()) if shape else 1
    return (torch.arange(1.0, 1.0 + count, dtype=dtype).reshape(shape) * 0.3).requires_grad_()


def _complex() -> torch.Tensor:
    return torch.tensor([0.1 + 1j, 2.0], requires_grad=True, dtype=torch.cdouble)


def _made(forward, backward, **further) -> type:
    methods = {"forward": forward, "backward": backward, **further}
    return type("Made", (Function,), {k: staticmethod(v) for k, v in methods.items()})


def _checked(func, inputs, **options) -> None:
    """Prints True, or the fault without the digits, which are random in fast mode."""
    check = gradgradcheck if options.pop("twice", False) else gradcheck
    try:
        print(check(func, inputs, **options))
    except Exception as error:
        text = re.sub(r"[-+ ]?\d+\.\d*(e[-+]?\d+)?j?|\s(?=#)", "#", told(error))
        print(isinstance(error, gradcheck.__globals__["GradcheckError"]))
        print(re.sub(r"[#\s,]*#[#\s,]*", "#", re.sub(r",\s*grad_fn=<\w+>", "", text)))


class _Half(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return t * x


def right_functions() -> None:
    for fast in (False, True):
        for func, inputs in (
            (torch.sin, _some(3)),
            (torch.mm, (_some(2, 3), _some(3, 2))),
            (torch.exp, _complex()),
            (torch.abs, _complex()),
            (lambda x: x * 1j, _some(2)),
            (lambda x: x.view(-1)[0], _some(2, 2)),
            (lambda x, k: x * k, (_some(2), 3)),
            (lambda x: [x * 2, x.exp()], [_some(2)]),
            (lambda a, b: a * 2, (_some(2), _some(2))),
            (torch.sin, _some()),
        ):
            _checked(func, inputs, fast_mode=fast, check_forward_ad=True)


def batched_checks() -> None:
    for fast in (False, True):
        _checked(torch.mul, (_some(3), _some(3)), fast_mode=fast, check_forward_ad=True,
                 check_batched_grad=True, check_batched_forward_grad=True)  # fmt: skip


def a_wrong_backward() -> None:
    for fast in (False, True):
        _checked(_Half.apply, _some(2), fast_mode=fast)
        _checked(_Half.apply, _some(2), fast_mode=fast, raise_exception=False)
        _checked(lambda a, b: (a * b, _Half.apply(b)), (_some(2), _some(2)), fast_mode=fast)


def a_wrong_backward_of_complex_numbers() -> None:
    _checked(_Half.apply, _complex())


def a_wrong_jvp() -> None:
    for fast in (False, True):
        _checked(_Half.apply, _some(2), fast_mode=fast, check_forward_ad=True,
                 check_backward_ad=False)  # fmt: skip


def without_a_jvp() -> None:
    func = _made(lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply
    _checked(func, _some(2), check_forward_ad=True)
    _checked(func, _some(2), check_forward_ad=True, raise_exception=False)


def a_backward_that_does_not_repeat() -> None:
    count = []

    def backward(ctx, g):
        count.append(0)
        return g * (1 + 1e-6 * (len(count) % 2))

    func = _made(lambda ctx, x: x * 1, backward).apply
    for fast in (False, True):
        _checked(func, _some(2), fast_mode=fast)
        _checked(func, _some(2), fast_mode=fast, nondet_tol=1e-4)


def a_backward_that_ignores_its_gradient() -> None:
    func = _made(lambda ctx, x: x * 1, lambda ctx, g: torch.ones_like(g)).apply
    _checked(func, _some(1))


def a_backward_that_refuses_none() -> None:
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, g, h):
        if g is None or h is None:
            raise RuntimeError("undefined")
        return g * 2 + h * 3

    func = _made(forward, backward).apply
    _checked(func, _some(2), check_undefined_grad=False)


def a_gradient_of_another_type() -> None:
    func = _made(lambda ctx, x: x * 2, lambda ctx, g: (g * 2).float()).apply
    _checked(func, _some(2), check_grad_dtypes=True)


def tolerances() -> None:
    for fast in (False, True):
        _checked(_Half.apply, _some(2), fast_mode=fast, atol=10.0)
        _checked(_Half.apply, _some(2), fast_mode=fast, rtol=10.0)
        _checked(torch.sin, _some(2), fast_mode=fast, eps=10.0, raise_exception=False)


def inputs_that_can_not_be_checked() -> None:
    _checked(torch.sin, torch.ones(2, dtype=torch.double))
    _checked(torch.sin, 3)
    _checked(torch.sin, torch.ones(1, dtype=torch.double).expand(3).requires_grad_())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _checked(torch.sin, _some(2, dtype=torch.float32), raise_exception=False)
    print([str(w.message) for w in caught])


def functions_without_a_gradient() -> None:
    for fast in (False, True):
        _checked(lambda x: x.long(), _some(2), fast_mode=fast)
        _checked(lambda x: x.detach() * 2, _some(2), fast_mode=fast)
        _checked(lambda x: torch.ones(2, dtype=torch.double), _some(2), fast_mode=fast)


def inputs_that_share_memory() -> None:
    x = _some(2)
    _checked(lambda a, b: a * b, (x, x))


def options_that_exclude_each_other() -> None:
    x = _some(2)
    outcome(gradcheck, torch.sin, x, check_backward_ad=False)
    outcome(gradcheck, torch.sin, x, check_batched_forward_grad=True)
    outcome(gradcheck, torch.sin, x, check_backward_ad=False, check_forward_ad=True,
            check_batched_grad=True)  # fmt: skip
    outcome(gradgradcheck, torch.sin, x, check_rev_over_rev=False)
    outcome(gradgradcheck, torch.sin, x, check_fwd_over_rev=True, check_rev_over_rev=False)
    outcome(gradgradcheck, torch.sin, x, check_fwd_over_rev=True, check_rev_over_rev=False,
            check_undefined_grad=False, check_batched_grad=True)  # fmt: skip


def errors_pass_through() -> None:
    def boo(ctx, g):
        raise ValueError("boo")

    func = _made(lambda ctx, x: x * 2, boo).apply
    _checked(func, _some(2))
    _checked(func, _some(2), raise_exception=False)


def second_derivatives() -> None:
    for fast in (False, True):
        _checked(torch.sin, _some(3), twice=True, fast_mode=fast, check_fwd_over_rev=True)
        _checked(lambda x: x**3, _some(2, 3), twice=True, fast_mode=fast,
                 gen_non_contig_grad_outputs=True)  # fmt: skip
        _checked(torch.exp, _complex(), twice=True, fast_mode=fast)
        _checked(torch.sin, _some(3), grad_outputs=_some(3), twice=True, fast_mode=fast)


def wrong_second_derivatives() -> None:
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x.detach() ** 2

    func = _made(forward, backward).apply
    _checked(func, _some(2), twice=True, raise_exception=False)
    once = torch.autograd.function.once_differentiable(backward)
    _checked(_made(forward, once).apply, _some(2), twice=True)
