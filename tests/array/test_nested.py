"""Arrays from nested sequences: what each item may be, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rushlight as torch


def test_mixed_numbers_stay_exact() -> None:
    made = torch.tensor([2**62 + 1, 1.5], dtype=torch.int64)
    assert made.tolist() == [2**62 + 1, 1]


def test_items_are_read_as_numbers_of_the_category() -> None:
    with pytest.raises(TypeError, match="'list' object cannot be interpreted as an integer"):
        torch.tensor([1, [2]])
    with pytest.raises(TypeError, match="must be real number, not list"):
        torch.tensor([1.5, [2]])
    with pytest.raises(TypeError, match="must be real number, not NoneType"):
        torch.tensor(None, dtype=torch.complex64)
    with pytest.raises(TypeError, match="'dict' object cannot be interpreted as an integer"):
        torch.tensor({}, dtype=torch.bool)
    with pytest.raises(TypeError, match=r"'numpy.bool' object cannot be interpreted"):
        torch.tensor(np.bool_(True), dtype=torch.int32)
    with pytest.raises(ValueError, match="only one element tensors"):
        torch.tensor([torch.tensor([1, 2])], dtype=torch.float32)


@pytest.mark.parametrize("text", ["a", b"ab"])
def test_texts_are_no_data(text: object) -> None:
    for dtype in (None, torch.bool, torch.int8, torch.complex64):
        with pytest.raises(TypeError, match="new\\(\\): invalid data type"):
            torch.tensor(text, dtype=dtype)


def test_bytes_and_ranges_are_sequences() -> None:
    assert torch.LongTensor(bytearray(b"ab")).tolist() == [97, 98]
    assert torch.LongTensor(range(3)).tolist() == [0, 1, 2]
    assert torch.tensor([b"ab"], dtype=torch.uint8).tolist() == [[97, 98]]


def test_what_is_empty_is_not_read() -> None:
    made = torch.tensor([[], [1]])
    assert made.shape == (2, 0) and made.dtype is torch.float32


def test_arrays_among_the_items() -> None:
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = torch.ones(1).new_tensor([np.array([1, 2]), [3, 4], np.array([5, 6])])
    finally:
        torch.set_warn_always(False)
    assert len(caught) == 2 and made.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert torch.tensor([[3, 4], np.array([1.5, 2.0])]).tolist() == [[3, 4], [1.5, 2]]


def test_integers_of_64_bits_without_a_sign() -> None:
    assert torch.tensor(2**64 - 1, dtype=torch.uint64).item() == 2**64 - 1
    with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
        torch.tensor(-1, dtype=torch.uint64)
    with pytest.raises(TypeError, match="an integer is required"):
        torch.tensor([1, 2.0], dtype=torch.uint64)


def test_sizes() -> None:
    class Two:
        def __index__(self) -> int:
            return 2

    assert torch.zeros(np.array(3), Two()).shape == (3, 2)
    assert torch.LongTensor(np.array(3)).shape == (3,)
    assert torch.ones(2, True).shape == (2, 1)
    with pytest.raises(TypeError, match='at pos 2 with error "Overflow when unpacking'):
        torch.zeros(2, 2**63)
    with pytest.raises(RuntimeError, match=r"negative dimension -3: \[2, -3\]"):
        torch.ones(2, np.int8(-3))
    with pytest.raises(TypeError, match="must be tuple of ints, not Tensor"):
        torch.randn(torch.tensor([2, 3]))
