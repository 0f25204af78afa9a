"""Initial values: the numbers that PyTorch 2.13 draws from the seed 0."""

import pytest

import rushlight as rl
from rushlight.nn import init

DRAWN = {
    "xavier_uniform_": [
        -0.008201400749385357, 0.5876445174217224, -0.9016007781028748,
        -0.8061808347702026, -0.4219154715538025, 0.29375168681144714,
    ],
    "kaiming_normal_": [
        1.2582180500030518, -0.23958370089530945, -1.7789740562438965,
        0.4641222059726715, -0.8855087757110596, -1.1419483423233032,
    ],
    "orthogonal_": [
        0.5739809274673462, -0.10929460823535919, -0.8115421533584595,
        -0.3454151153564453, -0.9308826923370361, -0.11893554031848907,
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_a_matrix_gets_the_numbers_of_the_seed(name: str) -> None:
    rl.manual_seed(0)
    drawn = getattr(init, name)(rl.empty(2, 3))
    assert drawn.flatten().tolist() == pytest.approx(DRAWN[name], rel=1e-5)


def test_truncated_normals_reject_in_both_regimes() -> None:
    rl.manual_seed(0)
    inside = init.trunc_normal_(rl.empty(3), a=-0.5, b=0.5).tolist()
    assert inside == pytest.approx([0.40334683656692505, -0.293428897857666, 0.18203648924827576])
    rl.manual_seed(0)
    tail = init.trunc_normal_(rl.empty(3), 0, 1, 2.0, 3.0).tolist()
    assert tail == pytest.approx([2.4962565898895264, 2.1688590049743652, 2.088477373123169])


def test_sparse_columns_have_their_zeros() -> None:
    rl.manual_seed(0)
    drawn = init.sparse_(rl.empty(3, 2), 0.5).flatten().tolist()
    expected = [0.0, 0.0, -0.021787893027067184, 0.0, 0.0, -0.013985954225063324]
    assert drawn == pytest.approx(expected)


def test_dirac_passes_the_input_through() -> None:
    weight = init.dirac_(rl.empty(2, 2, 3))
    assert weight.tolist() == [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]]


def test_gains_and_refusals() -> None:
    assert init.calculate_gain("tanh") == pytest.approx(5 / 3)
    with pytest.raises(ValueError, match="Unsupported nonlinearity foo"):
        init.calculate_gain("foo")
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_uniform_(rl.ones(2))


def test_nothing_is_recorded() -> None:
    parameter = rl.nn.Parameter(rl.empty(2))
    assert init.ones_(parameter) is parameter
    assert parameter.grad_fn is None and parameter.tolist() == [1.0, 1.0]
