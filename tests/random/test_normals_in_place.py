"""Small tensors that are filled with normals in place: the stream and the digits of PyTorch."""

import numpy as np
import pytest

import rushlight


@pytest.mark.parametrize("shape", [(16,), (4, 4), (2, 3, 8), (1, 16), (17,), (15,), (0, 4)])
def test_normals_in_place_are_those_of_a_fresh_tensor(shape):
    rushlight.manual_seed(3)
    fresh = [rushlight.randn(*shape) for _ in range(60)]
    rushlight.manual_seed(3)
    for expected in fresh:
        np.testing.assert_array_equal(rushlight.empty(shape).normal_().numpy(), expected.numpy())


@pytest.mark.parametrize("dtype", [rushlight.float16, rushlight.bfloat16, rushlight.float64])
def test_other_types_keep_theirs_and_differ_from_constants(dtype):
    x = rushlight.zeros(32, dtype=dtype).normal_()
    assert x.dtype is dtype
    assert x.unique().numel() > 20


def test_elements_between_those_of_a_view_stay():
    x = rushlight.zeros(16, 2)
    x[:, 0].normal_()
    assert x[:, 1].abs().sum() == 0
    assert (x[:, 0] != 0).all()


def test_a_refused_filling_draws_nothing():
    array = np.zeros(16, np.float32)
    x = rushlight.from_numpy(array)
    array.flags.writeable = False
    before = rushlight.get_rng_state()
    with pytest.raises(ValueError, match="read-only"):
        x.normal_()
    assert rushlight.equal(rushlight.get_rng_state(), before)


def test_a_leaf_that_needs_gradients_is_refused():
    with pytest.raises(RuntimeError, match="leaf Variable"):
        rushlight.zeros(16, requires_grad=True).normal_()
