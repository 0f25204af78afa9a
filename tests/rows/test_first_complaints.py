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


def test_a_table_of_bags_is_looked_at_after_indices_and_offsets() -> None:
    rows, starts = torch.tensor([0, 1]), torch.tensor([0])
    with pytest.raises(RuntimeError, match="padding_idx must be within the number of embeddings"):
        torch.embedding_bag(ZEROS(2), rows, starts, False, 0, False, None, False, 5)
    with pytest.raises(RuntimeError, match="offsets has to be a 1D Tensor, but got Tensor of dim"):
        torch.embedding_bag(ZEROS(2), rows, starts[None])
    with pytest.raises(RuntimeError, match="weight has to be a 2D Tensor"):
        torch.embedding_bag(ZEROS(2), rows.float(), starts)
    with pytest.raises(RuntimeError, match=r"'indices' to have one of .*torch.FloatTensor"):
        torch.embedding_bag(ZEROS(2, 2).int(), rows.float(), starts, mode=7)
    with pytest.raises(RuntimeError, match="`mode` must be sum, mean, or max"):
        torch.embedding_bag(ZEROS(2, 2), rows, starts, mode=7)


def test_batch_norm_looks_at_sizes_before_gradients_and_at_eps_before_both() -> None:
    x, wrong = ZEROS(2, 3), ZEROS(4, requires_grad=True)
    norm = torch.nn.functional.batch_norm
    with pytest.raises(RuntimeError, match="running_mean should contain 3 elements not 4"):
        norm(x, wrong, ZEROS(3))
    with pytest.raises(ValueError, match="eps must be non-negative, but got -1"):
        norm(x, wrong, ZEROS(3), eps=-1.0)
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'running"):
        norm(x, ZEROS(3, requires_grad=True), ZEROS(3))
    with pytest.raises(RuntimeError, match="expected scalar type Half but found Float"):
        norm(x.half(), ZEROS(3), ZEROS(3), ZEROS(3).half())


def test_a_grid_is_looked_at_before_what_is_rounded_to_it() -> None:
    whole, steps = ZEROS(2, 2).int(), torch.ones(2)
    with pytest.raises(RuntimeError, match="`quant_min` should be less than"):
        torch.fake_quantize_per_tensor_affine(whole, 1.0, 0, 2, 1)
    with pytest.raises(RuntimeError, match="Scale must be Float or BFloat16, found Double"):
        torch.fake_quantize_per_channel_affine(whole, steps.double(), steps.long(), 7, 2, 1)
    with pytest.raises(RuntimeError, match="Zero-point must be Int32, Float or Half, found Long"):
        torch.fake_quantize_per_channel_affine(whole, steps, steps.long(), 7, 2, 1)
    with pytest.raises(NotImplementedError, match="fake_quantize_channel_cachemask_cpu_type_hand"):
        torch.fake_quantize_per_channel_affine(whole, steps, steps, 0, 1, 2)


def test_less_than_no_smoothing_is_none() -> None:
    x, classes = torch.tensor([[1.0, 3.0]]), torch.tensor([0])
    loss = torch.nn.functional.cross_entropy
    assert loss(x, classes, label_smoothing=-1.0) == loss(x, classes)
    with pytest.raises(RuntimeError, match="label_smoothing must be between"):
        loss(x, classes, label_smoothing=2.0)


def test_recurrent_layers_count_parameters_then_states_then_weights() -> None:
    x, h = ZEROS(3, 2, 3), ZEROS(1, 2, 4)
    pair = [ZEROS(12, 3), ZEROS(12, 4)]
    rest = (0.0, False)
    with pytest.raises(RuntimeError, match="got an incorrect number of RNN parameters"):
        torch.gru(x, h, pair, True, 2, *rest, True, False)
    with pytest.raises(RuntimeError, match="Odd number of params or hiddens"):
        torch.gru(x, h, pair, False, 2, *rest, True, False)
    with pytest.raises(RuntimeError, match="Expected more hidden states in stacked_rnn"):
        torch.gru(x, h, pair, False, 2, *rest, False, False)
    with pytest.raises(RuntimeError, match="Expected more weights in stacked_rnn"):
        torch.gru(x, ZEROS(2, 2, 4), pair, False, 2, *rest, False, False)
    with pytest.raises(RuntimeError, match="input has inconsistent input_size: got 3 expected 4"):
        torch.gru_cell(ZEROS(2, 3), h[0], ZEROS(1, 4), ZEROS(1, 4))


def test_a_packed_sequence_may_give_its_states_by_name() -> None:
    sizes, h = torch.tensor([2, 2]), ZEROS(1, 2, 4)
    params = [ZEROS(4, 3), ZEROS(4, 4)]
    options = {"has_biases": False, "num_layers": 1, "dropout": 0.0, "train": False}
    out, _ = torch.rnn_tanh(ZEROS(4, 3), sizes, hx=h, params=params, bidirectional=False, **options)
    assert out.shape == (4, 4)


def test_an_order_of_a_matrix_norm_is_looked_at_before_the_matrix() -> None:
    norm = torch.linalg.matrix_norm
    with pytest.raises(RuntimeError, match="Expected a non-complex scalar as the order"):
        norm(ZEROS(3).int(), 1j)
    with pytest.raises(RuntimeError, match="Order 3 not supported"):
        norm(ZEROS(3).int(), 3)
    with pytest.raises(IndexError, match="but got 5"):
        norm(ZEROS(2, 3), 1, (0, 5))
    for function in (norm, torch.linalg.vector_norm):
        with pytest.raises(RuntimeError, match=r"without narrowing to the specified dtype \(Half"):
            function(ZEROS(2, 3), dtype=torch.float16)
    with pytest.raises(RuntimeError, match="it must be of length 1 or 2"):
        torch.linalg.norm(ZEROS(2, 3), dim=())
    with pytest.raises(RuntimeError, match="must be a 2-tuple"):
        torch.norm(ZEROS(2, 3, 4), "nuc")


def test_systems_look_at_element_types_before_shapes() -> None:
    with pytest.raises(RuntimeError, match="Expected A and B to have the same dtype"):
        torch.linalg.solve(ZEROS(2, 3), ZEROS(2).double())
    with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor"):
        torch.linalg.solve(ZEROS(2).int(), ZEROS(2))
    pivots = ZEROS(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'pivots'"):
        torch.linalg.lu_solve(ZEROS(2, 3), pivots, ZEROS(2))
    with pytest.raises(RuntimeError, match="Expected b and A to have the same dtype"):
        torch.linalg.ldl_solve(ZEROS(2, 2), ZEROS(2), ZEROS(2).double())


def test_comparisons_written_in_place_look_at_operands_before_the_result() -> None:
    with pytest.raises(NotImplementedError, match="\"lt_cpu\" not implemented for 'ComplexFloat'"):
        ZEROS(2).lt_(1j)
    with pytest.warns(UserWarning, match="Casting complex values to real"):
        ZEROS(2).eq_(1j)


def test_nothing_is_pinned_whatever_else_is_wrong() -> None:
    for call in (
        lambda: torch.ones((-1,), pin_memory=True),
        lambda: torch.ones_like(ZEROS(1).int(), requires_grad=True, pin_memory=True),
        lambda: torch.arange(3, dtype=torch.complex64, pin_memory=True),
    ):
        with pytest.raises(RuntimeError, match="pin_memory=True requires a CUDA"):
            call()
    out = ZEROS(2)
    assert torch.ones(2, out=out, pin_memory=True) is out


def test_products_of_another_type_are_for_accelerators() -> None:
    with pytest.raises(NotImplementedError, match=r"Could not run .aten::mm.dtype. with arguments"):
        torch.mm(ZEROS(2, 2), ZEROS(2, 2), torch.float64)
    with pytest.raises(NotImplementedError, match=r"aten::bmm.dtype_out"):
        torch.bmm(ZEROS(2), ZEROS(2), out_dtype=torch.bool, out=ZEROS(2))


def test_a_variance_is_looked_at_before_its_size() -> None:
    loss = torch.nn.functional.gaussian_nll_loss
    with pytest.raises(ValueError, match="var has negative"):
        loss(ZEROS(2), ZEROS(2), -torch.ones(5, 5), reduction="q")
    with pytest.raises(ValueError, match="var is of incorrect size"):
        loss(ZEROS(2), ZEROS(2), ZEROS(5, 5), reduction="q")


def test_pieces_are_counted_by_whatever_stands_for_a_number() -> None:
    x = ZEROS(2, 4)
    assert [p.shape for p in x.hsplit(torch.tensor(2))] == [(2, 2), (2, 2)]
    with pytest.raises(RuntimeError, match="number of sections must be larger than 0, got -2"):
        x.hsplit(-2)
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        ZEROS(2, 0).hsplit(2**63)
    with pytest.raises(RuntimeError, match="to have dtype of long, but got Float"):
        x.tensor_split(torch.ones(2), 5)
    with pytest.raises(RuntimeError, match="sizes must be non-empty"):
        x.unflatten(5, ())


def test_polynomials_of_huge_degrees_come_to_an_end() -> None:
    x = torch.tensor([-2.0, 0.5, 1.0], dtype=torch.float64)
    found = torch.special.chebyshev_polynomial_t(x, 3 * 2**30)
    assert found.isnan().tolist() == [True, False, False]
    assert found[1:].tolist() == pytest.approx([1.0, 1.0], abs=1e-6)
    w = torch.special.chebyshev_polynomial_w(x[2:], 5000)
    assert w.tolist() == [10001.0]


def test_gradient_counts_its_spacings_first() -> None:
    x = torch.rand(3, 4)
    with pytest.raises(RuntimeError, match="since dim argument was not given, but got a list of"):
        torch.gradient(x, spacing=[1.0], edge_order=7)
    with pytest.raises(RuntimeError, match="only supports edge_order=1 and edge_order=2"):
        torch.gradient(x, dim=9, edge_order=7)
    (found,) = torch.gradient(x, spacing=torch.tensor(2.0), dim=0)
    assert found.equal(torch.gradient(x, spacing=2.0, dim=0)[0])


def test_whole_numbers_are_never_scaled_in_place() -> None:
    with pytest.raises(RuntimeError, match="ldexp can't be cast to the desired output type Char"):
        ZEROS(2).to(torch.int8).ldexp_(ZEROS(3))


def test_running_sums_in_place_keep_the_type() -> None:
    with pytest.raises(RuntimeError, match="input tensor dtype float and output tensor dtype long"):
        ZEROS(3).cumsum_(0, dtype=torch.int64)
    with pytest.raises(NotImplementedError, match="cumprod_out_cpu"):
        ZEROS(3).bool().cumprod_(0)
    assert torch.ones(3).cumsum_(0, dtype=torch.float32).tolist() == [1, 2, 3]
