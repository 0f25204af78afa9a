"""Operations on each tensor of a list."""

import torch


def _told(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, str(error).split("\n")[0])


def _lists():
    a = [torch.tensor([0.5, 0.25]), torch.tensor([[0.125, 0.75]])]
    b = [torch.tensor([2.0, 3.0]), torch.tensor([[4.0, 5.0]])]
    return a, b


UNARY = [
    "abs",
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]
BINARY = ["add", "sub", "mul", "div", "pow", "maximum", "minimum", "clamp_max", "clamp_min"]


def functions_of_one_list():
    for name in UNARY:
        a, _ = _lists()
        print(name, getattr(torch, f"_foreach_{name}")(a))
        print(getattr(torch, f"_foreach_{name}_")(a), a)


def functions_of_two():
    for name in BINARY:
        for other in (_lists()[1], 2.0, [2.0, 3.0]):
            a, _ = _lists()
            print(name, getattr(torch, f"_foreach_{name}")(a, other))
            print(getattr(torch, f"_foreach_{name}_")(a, other), a)


def functions_with_options():
    a, b = _lists()
    print(torch._foreach_add(a, b, alpha=2))
    print(torch._foreach_sub(a, b, alpha=0.5))
    print(torch._foreach_mul(a, torch.tensor(3.0)))
    print(torch._foreach_pow(2.0, a))
    for name in ("addcmul", "addcdiv"):
        print(getattr(torch, f"_foreach_{name}")(a, b, b, value=0.5))
        print(getattr(torch, f"_foreach_{name}")(a, b, b, [0.5, 2.0]))
        print(getattr(torch, f"_foreach_{name}")(a, b, b, torch.tensor([0.5, 2.0])))
        c, _ = _lists()
        print(getattr(torch, f"_foreach_{name}_")(c, b, b, value=0.5), c)
    print(torch._foreach_lerp(a, b, 0.5))
    print(torch._foreach_lerp(a, b, b))
    print(torch._foreach_norm(a), torch._foreach_norm(a, 1), torch._foreach_max(a))
    print(torch._foreach_norm(a, float("inf"), dtype=torch.float64))


def copies_and_zeros():
    a, b = _lists()
    torch._foreach_copy_(a, b)
    print(a)
    torch._foreach_zero_(a)
    print(a, torch._foreach_clone(b))


def gradients_flow():
    a, b = _lists()
    for t in (*a, *b):
        t.requires_grad_()
    sum(t.sum() for t in torch._foreach_mul(torch._foreach_exp(a), b)).backward()
    print([t.grad for t in (*a, *b)])
    _told(lambda: torch._foreach_add_(a, 1.0))
    with torch.no_grad():
        torch._foreach_add_(a, 1.0)
    print(a)


def lists_must_fit():
    a, b = _lists()
    _told(lambda: torch._foreach_add([], []))
    _told(lambda: torch._foreach_abs([]))
    _told(lambda: torch._foreach_add(a, b[:1]))
    _told(lambda: torch._foreach_add(a, [1.0]))
    _told(lambda: torch._foreach_mul_(a, b[:1]))
