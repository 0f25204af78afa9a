"""Of several things that are wrong with a call, the one that PyTorch sees first is named."""

from __future__ import annotations

import pytest

import rushlight as torch

ZEROS = torch.zeros


def test_layer_norm_looks_at_its_parameters_before_its_input() -> None:
    x = ZEROS(2, 3)
    with pytest.raises(RuntimeError, match="Expected weight to be of same shape as normalized"):
        torch.layer_norm(x, (7,), ZEROS(3))
    with pytest.raises(RuntimeError, match="expect parameter to have scalar type of Float"):
        torch.layer_norm(x, (7,), ZEROS(3).double())
    with pytest.raises(RuntimeError, match="Given normalized_shape"):
        torch.layer_norm(x, (7,), ZEROS(7))


def test_norms_by_channels_need_two_dimensions() -> None:
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        torch.group_norm(ZEROS(()), -1)
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.group_norm(ZEROS(3), 1)
    with pytest.raises(RuntimeError, match="got bias of shape"):
        torch.group_norm(ZEROS(2, 3), 3, bias=ZEROS(2))


def test_bilinear_looks_at_element_types_first() -> None:
    x = ZEROS(2, 3)
    with pytest.raises(RuntimeError, match="got input1: float, input2: bool, weight: float"):
        torch.bilinear(x, ZEROS(2, 4).bool(), ZEROS(2))
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.bilinear(ZEROS(3), ZEROS(3), ZEROS(1))


def test_rows_are_scaled_only_in_a_matrix() -> None:
    rows = torch.tensor([0])
    with pytest.raises(RuntimeError, match="Expected 2-dimensional tensor, but got 1-dimensional"):
        torch.embedding_renorm_(ZEROS(3), rows, 1.0, 2.0)
    with pytest.raises(RuntimeError, match="argument #2 'indices' to have one of the following"):
        torch.embedding_renorm_(ZEROS(3, 3), ZEROS(1), 1.0, 2.0)
    with pytest.raises(IndexError, match="index 5 out of range for tensor of size"):
        torch.embedding_renorm_(ZEROS(3, 3), torch.tensor([5]), 1.0, 2.0)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        torch.embedding_renorm_(ZEROS(3, 3, requires_grad=True), rows, 1.0, 2.0)


def test_det_takes_its_matrix_as_pytorch_names_it() -> None:
    assert torch.det(input=torch.eye(2)).item() == 1
    assert torch.linalg.det(A=torch.eye(2)).item() == 1
    with pytest.raises(TypeError, match=r"^det\(\): argument 'input' \(position 1\)"):
        torch.det([])


def test_from_numpy_takes_one_array() -> None:
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        torch.from_numpy(ndarray=1)
    with pytest.raises(TypeError, match=r"takes exactly one argument \(0 given\)"):
        torch.from_numpy()


@pytest.mark.filterwarnings("ignore:at..frobenius_norm")
def test_a_frobenius_norm_is_of_two_dimensions_at_most() -> None:
    with pytest.raises(RuntimeError, match="Expected at most 2 dimensions, but got 3"):
        torch.frobenius_norm(ZEROS(2, 2), (0, 1, 1))
    with pytest.raises(
        RuntimeError, match="input dtype should be either floating point or complex"
    ):
        torch.frobenius_norm(ZEROS(2, 2).long(), 1)


def test_an_index_to_fill_is_a_vector_of_int64() -> None:
    x = ZEROS(3, 2)
    with pytest.raises(IndexError, match="Expected dtype int64 for index"):
        x.index_fill(0, torch.tensor([0], dtype=torch.int32), 1)
    with pytest.raises(RuntimeError, match="Index has to be a vector/scalar"):
        x.index_fill(0, torch.tensor([[0]]), 1)
    with pytest.raises(RuntimeError, match="only supports a 0-dimensional value tensor"):
        x.index_fill(5, torch.tensor([0]), ZEROS(1))


def test_histograms_have_edges_of_their_own() -> None:
    edges = torch.tensor([0.0, 1.0, 2.0])
    found = torch.tensor([0.5, 1.5]).histogram(edges)
    assert found.bin_edges.data_ptr() != edges.data_ptr()
    assert ZEROS(3).histogram().hist.shape == (100,)
    weights = torch.ones(3, 2)
    assert ZEROS(2, 3).histogram(1, weight=weights).hist.item() == 6


def test_edges_and_weights_of_histograms_are_looked_at() -> None:
    x = ZEROS(3)
    with pytest.raises(RuntimeError, match="should have the same dtype, but got input with dtype"):
        x.histogram(torch.tensor([0, 1]))
    with pytest.raises(RuntimeError, match="bins tensor should have one dimension, but got 2"):
        x.histogram(ZEROS(2, 2))
    with pytest.raises(RuntimeError, match="bins must be > 0, but got 0 for dimension 0"):
        x.histogram(ZEROS(1))
    with pytest.raises(RuntimeError, match="input tensor and weight tensor should have the same"):
        x.histogram(2, weight=torch.tensor([1, 1, 1]))
    with pytest.raises(RuntimeError, match="range should have 2 elements, but got 1"):
        x.histogram(2, range=(1.0,))


def test_complex_steps_are_refused_before_different_types() -> None:
    with pytest.raises(RuntimeError, match="not yet implemented for complex tensors"):
        torch.heaviside(ZEROS(2, dtype=torch.complex64), ZEROS(2))


def test_only_ends_that_are_tensors_are_counted() -> None:
    with pytest.raises(RuntimeError, match="but got end with 1 dimension"):
        torch.linspace(0, ZEROS(2), 3)


def test_grids_of_affine_maps_have_two_or_three_dimensions() -> None:
    with pytest.raises(RuntimeError, match="AffineGridGenerator needs 4d"):
        torch.affine_grid_generator(ZEROS(1, 2, 3), [1, -1, 1], False)
