"""Operators that programs register, without PyTorch beside it."""

import pytest

import rushlight as torch
from rushlight import Tensor, library


def test_an_operator_is_called_by_its_names_and_gets_the_registered_gradient() -> None:
    @library.custom_op("own_a::cube", mutates_args=())
    def cube(x: Tensor) -> Tensor:
        return x**3

    def keep(ctx, inputs, output):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(*inputs)

    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2

    cube.register_autograd(backward, setup_context=keep)
    x = torch.tensor([2.0], requires_grad=True)
    out = torch.ops.own_a.cube(x)
    assert out.grad_fn.name() == "GeneratedBackwardFor_own_a_cube_defaultBackward"
    out.backward()
    assert out.item() == 8.0 and x.grad.item() == 12.0


def test_an_operator_without_a_gradient_says_so_in_backward() -> None:
    @library.custom_op("own_b::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x.clone()

    out = same(torch.ones(1, requires_grad=True))
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        out.backward()


def test_a_result_that_shares_memory_with_an_argument_is_refused() -> None:
    @library.custom_op("own_c::part", mutates_args=())
    def part(x: Tensor) -> Tensor:
        return x[:1]

    with pytest.raises(RuntimeError, match="may not alias any inputs"):
        part(torch.ones(3))


def test_opcheck_finds_an_argument_that_is_written_without_saying_so() -> None:
    @library.custom_op("own_d::bad", mutates_args=())
    def bad(x: Tensor) -> Tensor:
        x.add_(1)
        return x.clone()

    with pytest.raises(library.OpCheckError, match="was mutated"):
        library.opcheck(bad, (torch.ones(2),))


def test_a_library_takes_back_what_it_registered() -> None:
    lib = library.Library("own_e", "DEF")
    lib.define("two(Tensor x) -> Tensor")
    lib.impl("two", lambda x: x * 2, "CPU")
    assert torch.ops.own_e.two(torch.ones(1)).item() == 2.0
    lib._destroy()
    with pytest.raises(AttributeError, match="no attribute 'two'"):
        _ = torch.ops.own_e.two


def test_arguments_that_do_not_fit_are_named() -> None:
    library.define("own_f::plus", "(Tensor x, int k=1, *, float f=2.0) -> Tensor")
    library.impl("own_f::plus", "cpu", lambda x, k, f: x + k + f)
    assert torch.ops.own_f.plus(torch.zeros(1), 3, f=0.5).item() == 3.5
    with pytest.raises(RuntimeError, match="missing value for argument 'x'"):
        torch.ops.own_f.plus()
    with pytest.raises(RuntimeError, match="Expected a value of type 'int' for argument 'k'"):
        torch.ops.own_f.plus(torch.zeros(1), "a")


def test_a_scoped_library_takes_back_what_it_has_registered() -> None:
    with torch.library._scoped_library("scoped", "FRAGMENT") as made:
        made.define("twice(Tensor x) -> Tensor")
        made.impl("twice", lambda x: x * 2)
        assert torch.ops.scoped.twice(torch.ones(1)).item() == 2.0
    with pytest.raises(AttributeError):
        torch.ops.scoped.twice  # noqa: B018
