"""Biases, masks and weights that are spread over something: how far they may, and what is said."""

import pytest

import rushlight as torch

F = torch.nn.functional


def test_the_bias_of_a_linear_layer_may_have_rows():
    x, w = torch.ones(5, 2, 3), torch.ones(4, 3)
    rows = torch.arange(8.0).reshape(2, 4)
    assert torch.equal(F.linear(x, w, rows), x @ w.t() + rows)
    assert torch.equal(F.linear(x[0], w, rows), x[0] @ w.t() + rows)
    assert torch.equal(F.linear(x[0], w, rows[:, :1]), x[0] @ w.t() + rows[:, :1])
    assert F.linear(x, w, rows.double()).dtype is torch.float32


@pytest.mark.parametrize(
    ("x", "bias", "text"),
    [
        (torch.ones(2, 3), torch.ones(3, 4), "Target sizes: [2, 4].  Tensor sizes: [3, 4]"),
        (torch.ones(2, 3), torch.ones(5, 2, 4), "the number of sizes provided (2) must be gr"),
        (torch.ones(2, 3), torch.ones(4).double(), "self and mat2 must have the same dtype"),
        (torch.ones(2, 3).half(), torch.ones(4), "but got Float and Half"),
        (torch.ones(5, 2, 3), torch.ones(7, 5, 2, 4), "doesn't match the broadcast shape [7, 5"),
        (torch.ones(5, 2, 3).int(), torch.ones(2, 4), "result type Float can't be cast to the"),
    ],
)
def test_a_bias_that_does_not_spread_is_refused(x, bias, text):
    with pytest.raises(RuntimeError) as error:
        F.linear(x, torch.ones(4, 3, dtype=x.dtype), bias)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x, m: x.masked_fill(m, 0), "a (5) must match the size of tensor b (3)"),
        (lambda x, m: x.masked_fill(m.float(), 0), "a (5) must match the size of tensor b (3)"),
        (lambda x, m: x.masked_fill_(m, 0), "a (3) must match the size of tensor b (5)"),
        (lambda x, m: x.masked_fill_(m.float(), 0), "only supports boolean masks"),
        (lambda x, m: x.masked_fill_(x, torch.ones(2)), "only supports a 0-dimensional value"),
        (lambda x, m: x.masked_scatter(m, x), "a (5) must match the size of tensor b (3)"),
        (lambda x, m: x.masked_scatter_(m, x), "Target sizes: [2, 3].  Tensor sizes: [4, 5]"),
        (lambda x, m: torch.rsub(x, torch.ones(4)), "a (4) must match the size of tensor b (3)"),
    ],
)
def test_shapes_are_looked_at_in_pytorchs_order(call, text):
    with pytest.raises(RuntimeError) as error:
        call(torch.zeros(2, 3), torch.ones(4, 5) > 0)
    assert text in str(error.value)


def test_the_weight_of_a_cross_entropy_may_not_have_more_dimensions():
    p = torch.full((2, 3), 0.5)
    with pytest.raises(RuntimeError, match="output with shape"):
        F.binary_cross_entropy(p, p, torch.ones(4, 2, 3))


def test_powers_that_the_type_cannot_hold_are_refused():
    x = torch.tensor([1, 2], dtype=torch.int8)
    with pytest.raises(RuntimeError, match="converted to type int8_t without overflow"):
        x**200
    assert (x**127).tolist() == [1, 0]


def test_softmax_of_nothing_takes_any_type():
    assert torch.softmax(torch.empty(3, 0), 0, dtype=torch.int16).dtype is torch.int16
    assert torch.log_softmax(torch.empty(0, dtype=torch.complex64), 0).shape == (0,)


def test_range_takes_what_other_factories_take():
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        x = torch.range(0.5, 3, dtype=torch.int64, layout=torch.strided, device="cpu")
    assert x.tolist() == [0, 1, 2, 3]
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="inconsistent with step"):
        torch.range(3, 1)


def test_dimensions_to_move_may_be_tensors():
    x = torch.zeros(2, 3, 4)
    assert x.moveaxis(torch.tensor(1), 2).shape == (2, 4, 3)


def test_nothing_is_drawn_where_in_place_is_no_bool():
    torch.manual_seed(0)
    first = torch.rand(1)
    torch.manual_seed(0)
    with pytest.raises(RuntimeError, match="ambiguous"):
        F.dropout1d(torch.ones(1, 3, 3), inplace=torch.ones(2))
    assert torch.equal(torch.rand(1), first)


def test_indices_along_a_dimension_go_round():
    x = torch.arange(6).reshape(2, 3)
    assert torch.take_along_dim(x, torch.tensor([[-7, 2, 0]]), 0).tolist() == [[3, 1, 2]]
    assert torch.take_along_dim(x, torch.tensor([1, 5], dtype=torch.int32)).tolist() == [1, 5]
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.take_along_dim(x, torch.tensor([7]))
    with pytest.raises(RuntimeError, match="dtype of indices should be Long but got Int"):
        torch.take_along_dim(x, torch.tensor([[0]], dtype=torch.int32), 0)


def test_the_order_of_renorm_is_real():
    with pytest.raises(RuntimeError, match="renorm: p must be real-valued"):
        torch.renorm(torch.ones(2, 3), 1j, 0, 1.0)


def test_normalize_asks_its_input_for_a_norm():
    with pytest.raises(AttributeError, match="'bytes' object has no attribute 'norm'"):
        F.normalize(b"a")
