"""The shortest functions look at their arguments late, and say the same as the others."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

import pytest

import rushlight as torch

FORMATS = ["contiguous", "is_contiguous", "cpu", "cuda", "byte", "half", "double"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("wrong", [1, [1], torch.int64, torch.zeros(2)])
def test_what_is_no_memory_format_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'memory_format' must be torch.mem"):
        getattr(torch.zeros(2, 3), name)(memory_format=wrong)


def test_a_refused_format_is_refused_before_the_conversion() -> None:
    x = torch.zeros(2, dtype=torch.complex64)
    with warnings.catch_warnings(), pytest.raises(TypeError, match="memory_format"):
        warnings.simplefilter("error")
        x.float(memory_format=3)


def test_a_tensor_in_order_is_contiguous_in_the_format_it_has() -> None:
    x = torch.zeros(2, 3)
    assert x.contiguous(memory_format=torch.preserve_format) is x
    with pytest.raises(RuntimeError, match="preserve memory format is unsupported"):
        x.t().contiguous(memory_format=torch.preserve_format)
    with pytest.raises(RuntimeError, match="required rank 4"):
        x.cpu(memory_format=torch.channels_last)
    assert not torch.zeros(2, 2, 2, 2).is_contiguous(memory_format=torch.channels_last_3d)


@pytest.mark.parametrize("name", ["expand_as", "view_as", "reshape_as", "type_as", "copy_"])
@pytest.mark.parametrize("wrong", ["a", None, torch.int64])
def test_what_is_no_other_tensor_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'other' \(position 1\) must be Te"):
        getattr(torch.zeros(2), name)(wrong)


def test_copy_takes_its_source_by_pytorch_s_name() -> None:
    x = torch.zeros(2)
    assert x.copy_(other=torch.ones(2)).tolist() == [1, 1]


def test_functions_that_fill_name_both_of_their_tensors() -> None:
    with pytest.raises(TypeError, match=r"got \(range, Tensor\)"):
        torch.fill_(range(2), torch.zeros(2))
    with pytest.raises(TypeError, match=r"Tensor input, Tensor value"):
        torch.fill_(torch.zeros(2), [])


@pytest.mark.parametrize("name", ["coalesce", "indices", "values", "crow_indices"])
def test_questions_to_sparse_tensors_take_no_arguments(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) takes no arguments \(1 given\)"):
        getattr(torch.zeros(2), name)(1)
    with pytest.raises(TypeError, match=rf"{name}\(\) takes no keyword arguments"):
        getattr(torch.zeros(2), name)(self=1)


def test_a_device_is_looked_at_before_cuda_is_missed() -> None:
    x = torch.zeros(2)
    with pytest.raises(TypeError, match="argument 'device'"):
        x.cuda([1])
    with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
        x.cuda("cpu")
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        x.cuda()
    with pytest.raises(TypeError, match="argument 'device'"):
        x.is_pinned(x)
    with pytest.warns(DeprecationWarning, match="is_pinned"):
        assert not x.is_pinned("cpu")


def test_empty_tensors_are_set_to_the_same_only_in_the_same_memory() -> None:
    x = torch.zeros(0, 3)
    assert x.is_set_to(x.detach())
    assert not x.is_set_to(torch.zeros(0, 3))


def test_empty_vectors_are_joined_along_any_dimension() -> None:
    for join in (torch.cat, torch.concat, torch.concatenate):
        assert join([torch.zeros(0), torch.zeros(0)], 5).shape == (0,)


@pytest.mark.parametrize("name", ["cat", "concat", "concatenate"])
def test_the_names_of_cat_say_their_own_name(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\): argument 'tensors' \(position 1\)"):
        getattr(torch, name)(torch.zeros(2))


def test_a_subclass_is_a_class_of_tensors() -> None:
    with pytest.raises(TypeError, match=r"cls must be a type \(got Tensor\)"):
        torch.zeros(2).as_subclass(torch.zeros(2))
    with pytest.raises(TypeError, match="does not inherit from Tensor"):
        torch.zeros(2).as_subclass(int)


def test_questions_about_a_tensor_take_nothing_else() -> None:
    for name in ("get_device", "is_complex", "is_signed", "numel"):
        with pytest.raises(TypeError, match=r"'input' \(position 1\) must be Tensor, not torch"):
            getattr(torch, name)(torch.int64)


def test_dimensions_changed_in_place_are_no_bools() -> None:
    x = torch.zeros(2, 1)
    for change in (x.unsqueeze_, x.squeeze_, lambda d: x.transpose_(d, 1)):
        with pytest.raises(TypeError, match=r"must be int, not bool|invalid combination"):
            change(False)
    assert x.shape == (2, 1)
    assert x.squeeze_(torch.tensor(1)).shape == (2,)


@pytest.mark.parametrize("asked", [False, True])
def test_long_integers_are_refused_after_calls_of_the_same_types(asked: bool) -> None:
    x = torch.ones(3, 3, 1)
    with torch.overrides.BaseTorchFunctionMode() if asked else nullcontext():
        for function in (torch.transpose, torch.swapdims):
            function(x, 0, 1)
            with pytest.raises(ValueError, match="Overflow when unpacking long long"):
                function(x, 3, -(2**63) - 1)
