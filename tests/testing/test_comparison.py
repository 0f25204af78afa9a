"""`assert_close`: what passes, and what the message of a failure says."""

from typing import Any

import pytest

import rushlight as torch
from rushlight.testing import _comparison, assert_allclose, assert_close, make_tensor


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


def test_every_failure_of_nested_containers_is_told_with_its_place() -> None:
    metas = _comparison.not_close_error_metas(
        {"a": [1, torch.ones(1)], "b": 2.0},
        {"a": [2, torch.zeros(1)], "b": 2.0},
        pair_types=(_comparison.NumberPair, _comparison.TensorLikePair),
    )
    assert [meta.id for meta in metas] == [("a", 0), ("a", 1)]
    assert str(metas[0].to_error()).endswith("\n\nThe failure occurred for item ['a'][0]")
    assert str(metas[0].to_error("mine")) == "mine"


def test_a_pair_of_ones_own_is_asked_in_turn_and_shown() -> None:
    class Even(_comparison.Pair):
        def __init__(self, actual: int, expected: int, *, mod: int = 2, **other: Any) -> None:
            self._check_inputs_isinstance(actual, expected, cls=int)
            super().__init__(actual, expected, **other)
            self.mod = mod

        def compare(self) -> None:
            if self.actual % self.mod != self.expected % self.mod:
                self._fail(AssertionError, "odd")

        def extra_repr(self) -> list[str]:
            return ["mod"]

    kinds = (Even, _comparison.ObjectPair)
    assert not _comparison.not_close_error_metas([1, "x"], [3, "x"], pair_types=kinds)
    failed = _comparison.not_close_error_metas([1, "x"], [3, "y"], pair_types=kinds, mod=3)
    assert [meta.msg for meta in failed] == ["odd", "x != y"]
    pair = _comparison.originate_pairs(1, 2, pair_types=kinds)[0]
    assert repr(pair) == "Even(\n    id=(),\n    actual=1,\n    expected=2,\n    mod=2,\n)"


def test_what_a_pair_raises_unexpectedly_is_told_with_the_pair() -> None:
    class Broken(_comparison.ObjectPair):
        def compare(self) -> None:
            raise KeyError("x")

    with pytest.raises(RuntimeError, match=r"Comparing\n\nBroken\(\n    id=\(\),"):
        _comparison.not_close_error_metas(1, 2, pair_types=(Broken,))
    with pytest.raises(RuntimeError, match=r"Originating a NumberPair\(\) at item \[0\] with"):
        assert_close([1], [True])


def test_sparse_tensors_differ_in_count_indices_or_values() -> None:
    eye, full = torch.eye(2).to_sparse(), torch.ones(2, 2).to_sparse()
    assert_close(eye, torch.eye(2).to_sparse())
    with pytest.raises(AssertionError, match="values in sparse COO tensors does not match: 2 != 4"):
        assert_close(eye, full)
    with pytest.raises(AssertionError, match="Sparse COO indices are not equal!"):
        assert_close(eye, torch.eye(2).flip(0).to_sparse())
    with pytest.raises(AssertionError, match="Sparse COO values are not close!"):
        assert_close(eye, (torch.eye(2) * 2).to_sparse())
    with pytest.raises(AssertionError, match="'layout'"):
        assert_close(eye, torch.eye(2))
    assert_close(eye, torch.eye(2), check_layout=False)


def test_tensors_without_data_agree_where_their_attributes_do() -> None:
    assert_close(torch.ones(2, device="meta"), torch.zeros(2, device="meta"))
    with pytest.raises(AssertionError, match="'device' do not match: meta != cpu"):
        assert_close(torch.ones(2, device="meta"), torch.ones(2))


def test_tolerances_are_the_loosest_of_the_inputs() -> None:
    assert _comparison.default_tolerances(torch.float32, torch.ones(1).half()) == (1e-3, 1e-5)
    assert _comparison.default_tolerances(torch.int32) == (0.0, 0.0)
    assert _comparison.get_tolerances(torch.float32, rtol=1.0, atol=2.0) == (1.0, 2.0)
    with pytest.raises(_comparison.ErrorMeta):
        _comparison.get_tolerances(torch.float32, rtol=1.0, atol=None)
    with pytest.raises(TypeError, match=r"Expected a torch.Tensor or a torch.dtype, but got"):
        _comparison.default_tolerances(3)  # type: ignore[arg-type]
