"""Number limits, process-wide settings, and small questions about tensors."""

from typing import Any

import pytest

import rushlight as torch


def test_finfo_gives_the_limits_of_floating_types() -> None:
    single = torch.finfo(torch.float32)
    assert single.eps == 2.0**-23
    assert single.max == 3.4028234663852886e38
    assert single.tiny == 1.1754943508222875e-38
    assert torch.finfo(torch.complex128).max == 1.7976931348623157e308
    assert torch.finfo() == single
    assert repr(torch.finfo(torch.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
        "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)"
    )


def test_iinfo_gives_the_limits_of_integer_types() -> None:
    assert (torch.iinfo(torch.uint8).min, torch.iinfo(torch.uint8).max) == (0, 255)
    assert torch.iinfo(torch.int64).min == -(2**63)
    assert repr(torch.iinfo(torch.int16)) == "iinfo(min=-32768, max=32767, dtype=int16)"


@pytest.mark.parametrize(
    ("call", "argument"),
    [(torch.finfo, torch.int32), (torch.iinfo, torch.float32), (torch.iinfo, torch.bool)],
)
def test_limits_refuse_types_of_the_other_kind(call: Any, argument: Any) -> None:
    with pytest.raises(TypeError):
        call(argument)


def test_the_number_of_threads_can_be_set() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert torch.get_num_threads() == 1
        for wrong in (0, -2, 1.5, True):
            with pytest.raises(RuntimeError, match="set_num_threads expects"):
                torch.set_num_threads(wrong)
    finally:
        torch.set_num_threads(before)


def test_is_nonzero_asks_for_one_element() -> None:
    assert torch.is_nonzero(torch.tensor([[2.0]]))
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        torch.is_nonzero(torch.ones(2))


def test_questions_refuse_what_is_no_tensor() -> None:
    with pytest.raises(TypeError, match=r"must be Tensor, not int"):
        torch.is_floating_point(3)


def test_a_number_comes_out_of_one_element_only() -> None:
    with pytest.raises(ValueError, match="only one element tensors"):
        float(torch.ones(2))
    with pytest.raises(RuntimeError, match="without overflow"):
        int(torch.tensor(1 + 2j))
    assert float(torch.tensor(2 + 0j)) == 2.0


def test_tensors_inside_a_sequence_stand_for_their_only_element() -> None:
    assert torch.tensor([torch.ones(1), torch.tensor(2.0)]).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="only one element tensors"):
        torch.tensor([torch.ones(2), torch.ones(2)])


def test_requires_grad_takes_bools_and_leaves_only() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="must be a bool"):
        x.requires_grad = 1
    with pytest.raises(RuntimeError, match="leaf variables"):
        (x * 2).requires_grad = True


def test_out_may_not_share_part_of_an_operand() -> None:
    x = torch.arange(4.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.add(x[:-1], 1, out=x[1:])
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_scatter_with_a_reduction_of_a_tensor_warns_that_it_is_deprecated() -> None:
    index = torch.tensor([[0, 1, 0]])
    torch.set_warn_always(True)  # it is said once
    try:
        with pytest.warns(UserWarning, match="Use torch.scatter_reduce instead"):
            y = torch.ones(1, 2).scatter(1, index, torch.ones(1, 3), reduce="add")
    finally:
        torch.set_warn_always(False)
    assert y.tolist() == [[3.0, 2.0]]


def test_hardswish_is_flat_at_its_lower_corner_and_one_at_the_upper() -> None:
    x = torch.tensor([-3.0, 0.0, 3.0], requires_grad=True)
    torch.nn.functional.hardswish(x).sum().backward()
    assert x.grad.tolist() == [0.0, 0.5, 1.0]


def test_vmap_refuses_random_numbers_unless_told_otherwise() -> None:
    def noisy(x: Any) -> Any:
        return x + torch.rand(())

    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.vmap(noisy)(torch.ones(3))
    same = torch.vmap(noisy, randomness="same")(torch.ones(3))
    assert same[0] == same[1] == same[2]


def test_an_unpacked_value_of_another_shape_is_refused() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: torch.ones(3, 3)):
        y = (x * x).sum()
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        y.backward()


def test_counts_of_threads_beyond_the_types_of_c_are_refused() -> None:
    for count, kind in ((2**65, "long long"), (2**40, "long")):
        with pytest.raises(ValueError, match=f"^Overflow when unpacking {kind}$"):
            torch.set_num_threads(count)


def test_overlap_is_told_where_it_is_easily_seen() -> None:
    look = torch._debug_has_internal_overlap
    assert look(torch.ones(3, 4).t()) == look(torch.ones(1).expand(1, 1)) == 0
    assert look(torch.ones(1, 3).expand(4, 3)) == 1
    assert look(torch.ones(20)[::2]) == 2


def test_old_constructors_refuse_what_they_dont_take() -> None:
    assert torch.ones(1).new(size=(2, 3)).shape == (2, 3)
    for call in (lambda: torch.LongTensor((6, 0), 1, 1), lambda: torch.ones(1).new([1], 2)):
        with pytest.raises(
            TypeError, match=r"new\(\) received an invalid combination of arguments"
        ):
            call()
    with pytest.raises(TypeError, match=r"type 'torch\.FloatTensor' is not an acceptable base"):
        type("Mine", (torch.FloatTensor,), {})
    assert torch.FloatTensor in torch._tensor_classes
    assert not (torch.FloatTensor.is_cuda or torch.FloatTensor.is_sparse)
    assert torch.FloatTensor.layout is torch.strided


def test_a_size_leaves_additions_to_other_classes() -> None:
    class Other:
        def __radd__(self, size: object) -> str:
            return "theirs"

    assert torch.Size([1]) + Other() == "theirs"
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not int\)"):
        torch.Size([1]) + 3


def test_rare_operators_say_what_they_miss() -> None:
    with pytest.raises(RuntimeError, match="single nonzero value, but got zero"):
        torch._assert_async(torch.tensor(0))
    with pytest.raises(RuntimeError, match="_local_scalar_dense: Empty tensor not supported"):
        torch.ops.aten._local_scalar_dense(torch.ones(0))
    with pytest.raises(RuntimeError, match="memory format option is only supported by strided"):
        torch.empty_like(torch.eye(2).to_sparse(), memory_format=torch.preserve_format)


def test_the_parts_of_gradient_scaling() -> None:
    scale, good, bad = torch.tensor([4.0]), torch.tensor([0.0]), torch.tensor([0.0])
    tracker = torch.zeros(1, dtype=torch.int32)
    grads = [torch.full((2,), 4.0), torch.tensor([1.0, float("inf")])]
    torch._amp_foreach_non_finite_check_and_unscale_(grads, bad, torch.tensor([0.25]))
    assert grads[0].tolist() == [1.0, 1.0] and bad.item() == 1.0
    for expected in (4.0, 8.0):
        torch._amp_update_scale_(scale, tracker, good, 2.0, 0.25, 2)
        assert scale.item() == expected
    torch._amp_update_scale_(scale, tracker, bad, 2.0, 0.25, 2)
    assert scale.item() == 2.0 and tracker.item() == 0
