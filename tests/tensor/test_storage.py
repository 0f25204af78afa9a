"""The memory behind tensors, and operations on lists of tensors."""

import warnings

import pytest

import rushlight as torch


def test_bytes_written_to_a_storage_are_seen_in_the_tensor() -> None:
    x = torch.arange(3, dtype=torch.uint8)
    x.untyped_storage()[1] = 9
    assert x.tolist() == [0, 9, 2]


def test_views_share_one_storage_and_copies_do_not() -> None:
    x = torch.arange(6.0)
    own = x.untyped_storage()
    assert x.view(2, 3).t()[1].untyped_storage() == own
    assert x.clone().untyped_storage() != own
    assert own.nbytes() == 24


def test_memory_that_a_tensor_looks_at_keeps_its_size() -> None:
    with pytest.raises(NotImplementedError, match="a tensor looks at this memory"):
        torch.ones(2).untyped_storage().resize_(0)


def test_a_tensor_is_set_to_a_storage() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # once in a process: TypedStorage will go
        s = torch.FloatStorage([1.0, 2.0, 3.0])
    x = torch.tensor([]).set_(s, 1, (2,), (1,))
    s[1] = 7.0
    assert x.tolist() == [7.0, 3.0]


def test_lists_are_operated_on_together_and_recorded() -> None:
    a = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    out = torch._foreach_mul(a, [2.0, 3.0])
    sum(t.sum() for t in out).backward()
    assert [t.grad.tolist() for t in a] == [[2.0, 2.0], [3.0, 3.0, 3.0]]
    with pytest.raises(RuntimeError, match="same number of tensors, got 2 and 1"):
        torch._foreach_add(a, a[:1])


def test_nested_tensors_say_what_to_do_instead() -> None:
    with pytest.raises(NotImplementedError, match="pad_sequence"):
        torch.nested.nested_tensor([torch.ones(1)])


def test_quantisation_says_what_to_do_instead() -> None:
    with pytest.raises(NotImplementedError, match="doesn't quantise"):
        torch.ao.quantization.quantize_dynamic(None)
