"""Operators that programs register."""

import importlib

import torch

library = importlib.import_module(f"{torch.__name__}.library")
Tensor = torch.Tensor


def _told(f):
    try:
        print(f())
    except Exception as error:
        print(
            type(error).__name__,
            str(error).split("Declaration")[0].split("(with impl")[0].split(" Got")[0],
        )


def a_python_function_becomes_an_operator():
    @library.custom_op("lib_a::twice", mutates_args=())
    def twice(x: Tensor, k: float = 2.0) -> Tensor:
        return torch.from_numpy(x.detach().numpy() * k)

    x = torch.tensor([1.0, 2.0])
    print(twice(x), torch.ops.lib_a.twice(x, 3.0), torch.ops.lib_a.twice.default(x, k=4.0))
    print(repr(torch.ops.lib_a.twice), repr(torch.ops.lib_a.twice.default), twice)
    print(torch.ops.lib_a.twice.default._schema, torch.ops.lib_a.twice.default.name())
    _told(lambda: twice("a"))
    _told(lambda: twice(x, k="a"))
    _told(lambda: twice())
    _told(lambda: twice(x, 1.0, 2.0))
    _told(lambda: torch.ops.lib_a.nothing)
    _told(lambda: torch.ops.lib_nothing.nothing)
    y = x.clone().requires_grad_()
    z = twice(y)
    print(z.requires_grad, z.grad_fn.name())
    _told(lambda: z.sum().backward())


def an_operator_gets_a_backward():
    @library.custom_op("lib_b::sine", mutates_args=())
    def sine(x: Tensor, k: float) -> Tensor:
        return torch.sin(x) * k

    def setup(ctx, inputs, output):
        x, k = inputs
        ctx.save_for_backward(x)
        ctx.k = k

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        print(ctx.needs_input_grad, grad)
        return grad * x.cos() * ctx.k, None

    sine.register_autograd(backward, setup_context=setup)

    @sine.register_fake
    def _(x, k):
        return torch.empty_like(x)

    x = torch.tensor([0.5, 1.0], requires_grad=True)
    y = sine(x, 2.0)
    print(y)
    y.sum().backward()
    print(x.grad)
    with torch.no_grad():
        print(sine(x, 3.0))

    @sine.register_vmap
    def _(info, in_dims, x, k):
        print(info.batch_size, in_dims)
        return sine(x, k), in_dims[0]

    print(torch.vmap(sine, in_dims=(0, None))(torch.ones(3, 2), 2.0))
    print(library.opcheck(sine, (torch.ones(2), 2.0)))


def lists_and_several_results():
    @library.custom_op("lib_c::scaled", mutates_args=())
    def scaled(xs: list[Tensor], k: int) -> list[Tensor]:
        return [x * k for x in xs]

    def setup(ctx, inputs, output):
        ctx.k = inputs[1]

    scaled.register_autograd(lambda ctx, g: ([i * ctx.k for i in g], None), setup_context=setup)
    a, c = torch.ones(2, requires_grad=True), torch.ones(2)
    out = scaled([a, c], 3)
    print(type(out), out)
    (out[0].sum() + out[1].sum()).backward()
    print(a.grad)

    @library.custom_op("lib_c::two", mutates_args=())
    def two(x: Tensor) -> tuple[Tensor, Tensor]:
        return x * 2, x * 3

    two.register_autograd(lambda ctx, g, h: g * 2 + h * 3)
    out = two(a)
    print(out)
    out[0].sum().backward()
    print(a.grad)


def an_operator_may_write():
    @library.custom_op("lib_d::plus_", mutates_args={"x"})
    def plus_(x: Tensor, y: Tensor, *, k: int = 1) -> None:
        x.add_(y, alpha=k)

    x = torch.ones(2)
    before = x._version
    print(plus_(x, torch.ones(2), k=3), x, x._version > before)
    print(torch.ops.lib_d.plus_.default._schema)
    _told(lambda: plus_.register_autograd(lambda ctx, g: g))

    @library.custom_op("lib_d::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x

    _told(lambda: same(x))


def schemas_are_inferred():
    def f(x: Tensor, y: int, z: Tensor | None, w: list[int], a: float = 1.5, b: bool = True,
          s: str = "a", *, n: int | None = None) -> tuple[Tensor, Tensor]: ...  # fmt: skip

    print(library.infer_schema(f, mutates_args=()))
    print(library.infer_schema(f, mutates_args={"x"}, op_name="lib::f"))

    def no_types(x): ...

    def no_result(x: Tensor): ...

    def nothing(x: Tensor) -> None: ...

    def some(x: Tensor, *rest) -> Tensor: ...

    for g in (no_types, no_result, nothing, some):
        _told(lambda: library.infer_schema(g, mutates_args=()))  # noqa: B023


def libraries_define_and_implement():
    lib = library.Library("lib_e", "DEF")
    print(lib, lib.define("times(Tensor x, int k) -> Tensor"))
    x = torch.ones(2)
    lib.impl("times", lambda x, k: x * k, "CPU")
    print(torch.ops.lib_e.times(x, 2), torch.ops.lib_e.times(x=x, k=3))
    _told(lambda: torch.ops.lib_e.times(x))
    _told(lambda: lib.impl("times", 3))
    _told(lambda: lib.impl("times", lambda x, k: x, "NOTHING"))
    _told(lambda: library.Library("lib_e", "NOTHING"))
    part = library.Library("lib_e", "FRAGMENT")
    print(part.define("pair.a(Tensor x) -> (Tensor, Tensor)"))

    @library.impl(part, "pair.a", "CompositeExplicitAutograd")
    def pair(x):
        return x + 1, x + 2

    print(torch.ops.lib_e.pair(x), torch.ops.lib_e.pair.overloads())
    _told(lambda: torch.ops.lib_e.pair.default)


def functions_define_and_implement():
    library.define("lib_f::ten", "(Tensor x) -> Tensor")

    @library.impl("lib_f::ten", "cpu")
    def ten(x):
        return x * 10

    w = torch.ones(2, requires_grad=True)
    print(torch.ops.lib_f.ten(w))
    library.register_autograd("lib_f::ten", lambda ctx, g: g * 10)
    y = torch.ops.lib_f.ten(w)
    print(y)
    y.sum().backward()
    print(w.grad)
    library.define("lib_f::sine", "(Tensor x) -> Tensor")

    @library.impl("lib_f::sine", "CompositeImplicitAutograd")
    def sine(x):
        return x.sin()

    print(torch.ops.lib_f.sine(w))
    _told(lambda: library.define("lib_f", "(Tensor x) -> Tensor"))
    _told(lambda: library.define("lib_f::g", "g(Tensor x) -> Tensor"))
    _told(lambda: torch.ops.load_library("/no/such/library.so"))
    _told(lambda: library.fallthrough_kernel())


def kernels_for_devices():
    @library.custom_op("lib_g::plus", mutates_args=(), device_types="cuda")
    def plus(x: Tensor) -> Tensor:
        return x + 2

    @plus.register_kernel("cpu")
    def _(x):
        return x + 1

    print(plus(torch.ones(2)))
