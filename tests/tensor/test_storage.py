"""The memory behind tensors, and operations on lists of tensors."""

import pathlib
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


def test_a_file_is_looked_at_in_place_and_stays_as_it_is(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(16)))
    s = torch.UntypedStorage.from_file(str(path), False, 8)
    assert s.tolist() == list(range(8)) and s.is_shared() and not s.resizable()
    s[0] = 99
    assert path.read_bytes()[0] == 0


def test_a_shared_file_is_written_to_and_grows(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "numbers")
    x = torch.from_file(path, shared=True, size=3, dtype=torch.int32)
    x[2] = 7
    assert torch.from_file(path, size=3, dtype=torch.int32).tolist() == [0, 0, 7]


def test_a_file_that_is_missing_or_too_short_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"in read-only mode: No such file or directory \(2\)"):
        torch.from_file(str(tmp_path / "none"), size=1)
    (tmp_path / "short").write_bytes(b"abcd")
    with pytest.raises(RuntimeError, match="size <4> is smaller than the required mapping size <8"):
        torch.UntypedStorage.from_file(str(tmp_path / "short"), False, 8)


def test_asarray_reads_bytes_as_elements_and_shares_them() -> None:
    data = bytearray(range(8))
    assert torch.asarray(data, dtype=torch.int16).tolist() == [256, 770, 1284, 1798]
    x = torch.asarray(data, dtype=torch.uint8)
    s = torch.UntypedStorage([1, 0, 2, 0])
    y = torch.asarray(s[:], dtype=torch.int16)
    data[0], s[0] = 9, 5
    assert x[0] == 9 and y.tolist() == [5, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # once in a process: TypedStorage will go
        floats = torch.FloatStorage([1.0])
    assert torch.asarray(floats).tolist() == [1.0]
    with pytest.raises(RuntimeError, match="Storage of type Double or an UntypedStorage, but got"):
        torch.asarray(floats, dtype=torch.float64)


def test_asarray_keeps_the_history_of_a_tensor_unless_told() -> None:
    x = torch.ones(2, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="unspecified requires_grad now defaults"):
        assert torch.asarray(x) is x
    assert not torch.asarray(x, requires_grad=False).requires_grad
    copy = torch.asarray(x, copy=True, requires_grad=True)
    assert copy.grad_fn is not None and copy.data_ptr() != x.data_ptr()


def test_no_two_living_tensors_have_the_same_number() -> None:
    a, b = torch.ones(1), torch.ones(1)
    assert a._cdata == a._cdata != b._cdata
