"""`assert_close`: what passes, and what the message of a failure says."""

import pytest

import rushlight as torch
from rushlight.testing import assert_allclose, assert_close, make_tensor


def test_equal_tensors_and_nested_containers_pass() -> None:
    a = torch.tensor([1.0, 2.0])
    assert_close(a, a.clone())
    assert_close({"a": [a, 1]}, {"a": [a + 1e-7, 1]})
    assert_close(torch.tensor(float("nan")), torch.tensor(float("nan")), equal_nan=True)


def test_the_message_counts_mismatches_and_names_the_greatest_differences() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    assert str(caught.value) == (
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\n"
        "Greatest absolute difference: 2.0 at index (1,) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 0.5 at index (1,) (up to 1.3e-06 allowed)"
    )


def test_the_place_in_a_container_is_named() -> None:
    with pytest.raises(AssertionError, match=r"for item \['a'\]\[1\]"):
        assert_close({"a": [1, 2]}, {"a": [1, 3]})


def test_dtypes_shapes_and_strides_are_checked() -> None:
    one = torch.ones(2, 3)
    with pytest.raises(AssertionError, match="dtype"):
        assert_close(one, one.double())
    assert_close(one, one.double(), check_dtype=False)
    with pytest.raises(AssertionError, match="shape"):
        assert_close(one, one.T)
    with pytest.raises(AssertionError, match="stride"):
        assert_close(one, torch.ones(3, 2).T, check_stride=True)


def test_one_tolerance_without_the_other_is_refused() -> None:
    with pytest.raises(ValueError, match="must be either specified or omitted"):
        assert_close(1.0, 1.0, rtol=0.1)


def test_a_message_can_be_replaced_or_wrapped() -> None:
    with pytest.raises(AssertionError, match=r"^mine$"):
        assert_close(1, 2, msg="mine")
    with pytest.raises(AssertionError, match=r"^Note: Scalars"):
        assert_close(1, 2, msg=lambda text: f"Note: {text}")


def test_assert_allclose_warns_that_it_is_old() -> None:
    with pytest.warns(FutureWarning, match="deprecated"):
        assert_allclose(torch.ones(2), torch.ones(2))


def test_made_tensors_stay_within_their_bounds_and_follow_the_seed() -> None:
    for dtype in (torch.float32, torch.int64, torch.uint8, torch.bool, torch.complex64):
        torch.manual_seed(1)
        made = make_tensor(4, 5, dtype=dtype, device="cpu")
        torch.manual_seed(1)
        assert torch.equal(made, make_tensor((4, 5), dtype=dtype, device="cpu"))
        assert made.dtype is dtype and made.abs().max() < 13 if dtype is not torch.bool else True
    spread = make_tensor(3, 2, dtype=torch.float32, device="cpu", noncontiguous=True)
    assert not spread.is_contiguous()
    assert not (make_tensor(50, dtype=torch.int8, device="cpu", exclude_zero=True) == 0).any()
