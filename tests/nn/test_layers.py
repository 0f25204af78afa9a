"""The layers: their values from a seed, their options, their refusals."""

import pytest

import rushlight as rl
from rushlight import nn


def test_a_linear_layer_draws_the_numbers_of_its_seed() -> None:
    rl.manual_seed(0)
    weight = [
        [-0.004322517663240433, 0.3097158372402191, -0.4751853346824646],
        [-0.4248946011066437, -0.2223689705133438, 0.15482072532176971],
    ]
    assert nn.Linear(3, 2).weight.tolist() == weight


def test_an_embedding_starts_with_a_zero_padding_row() -> None:
    rl.manual_seed(0)
    table = nn.Embedding(2, 2, 0)
    assert table.weight.tolist()[0] == [0.0, 0.0]
    assert table.weight.tolist()[1] == pytest.approx([-2.1787893772125244, 0.5684312582015991])
    table(rl.tensor([0, 1, 1])).sum().backward()
    assert table.weight.grad.tolist() == [[0.0, 0.0], [2.0, 2.0]]


def test_a_parametrized_linear_layer_uses_the_attribute() -> None:
    layer = nn.Linear(1, 1, bias=False)
    del layer.weight
    layer.weight = rl.tensor([[3.0]])
    assert layer(rl.ones(1, 1)).item() == 3.0


def test_batch_norm_normalises_and_keeps_running_statistics() -> None:
    norm = nn.BatchNorm1d(1)
    out = norm(rl.tensor([[1.0], [3.0]]))
    assert out.flatten().tolist() == pytest.approx([-1.0, 1.0], abs=1e-4)
    assert norm.running_mean.item() == pytest.approx(0.2)
    assert norm.running_var.item() == pytest.approx(0.9 + 0.1 * 2.0)
    assert norm.num_batches_tracked.item() == 1
    assert norm.eval()(rl.tensor([[0.2]])).item() == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(ValueError, match=r"expected 2D or 3D input \(got 4D input\)"):
        norm(rl.ones(1, 1, 1, 1))


def test_an_older_batch_norm_state_lacks_the_count() -> None:
    norm = nn.BatchNorm1d(1)
    state = {k: v for k, v in norm.state_dict().items() if k != "num_batches_tracked"}
    assert repr(norm.load_state_dict(state)) == "<All keys matched successfully>"


def test_layer_norm_without_bias_has_none() -> None:
    norm = nn.LayerNorm(4, bias=False)
    assert norm.bias is None
    out = norm(rl.tensor([1.0, 2.0, 3.0, 4.0]))
    assert out.sum().item() == pytest.approx(0.0, abs=1e-5)


def test_dropout_is_the_identity_in_evaluation() -> None:
    x = rl.ones(10)
    assert nn.Dropout(0.5).eval()(x).tolist() == x.tolist()
    kept = nn.Dropout(0.5)(rl.ones(1000))
    assert set(kept.tolist()) == {0.0, 2.0}
    with pytest.raises(ValueError, match="between 0 and 1, but got 2"):
        nn.Dropout(2)


def test_flatten_and_unflatten_undo_each_other() -> None:
    x = rl.arange(12.0).reshape(2, 2, 3)
    flat = nn.Flatten()(x)
    assert flat.shape == (2, 6)
    assert nn.Unflatten(1, (2, 3))(flat).tolist() == x.tolist()


def test_activations_print_their_options() -> None:
    assert repr(nn.LeakyReLU(0.2, True)) == "LeakyReLU(negative_slope=0.2, inplace=True)"
    assert repr(nn.ReLU6()) == "ReLU6()"
    assert repr(nn.GELU("tanh")) == "GELU(approximate='tanh')"
    with pytest.raises(AssertionError, match=r"max_val \(1\) must be greater than min_val \(1\)"):
        nn.Hardtanh(1, 1)


def test_losses_reduce_as_asked() -> None:
    x, y = rl.tensor([1.0, 2.0]), rl.tensor([3.0, 3.0])
    assert nn.MSELoss()(x, y).item() == 2.5
    assert nn.MSELoss(reduction="sum")(x, y).item() == 5.0
    assert nn.MSELoss(reduction="none")(x, y).tolist() == [4.0, 1.0]
    with pytest.warns(UserWarning, match="reduction='sum' instead"):
        assert nn.L1Loss(size_average=False).reduction == "sum"


def test_cross_entropy_of_even_logits_is_the_log_of_the_classes() -> None:
    loss = nn.CrossEntropyLoss()(rl.zeros(2, 4), rl.tensor([1, 3]))
    assert loss.item() == pytest.approx(1.3862943611)


def test_a_linear_layer_asks_a_class_that_finds_attributes_its_own_way() -> None:
    class Doubled(nn.Linear):
        def __getattr__(self, name: str) -> object:
            found = super().__getattr__(name)
            return found * 0 + 2 if name in ("weight", "bias") else found

    class Recurrent(nn.RNN):
        def __getattr__(self, name: str) -> object:
            found = super().__getattr__(name)
            return found * 0 if name.startswith(("weight", "bias")) else found

    assert Doubled(3, 1)(rl.ones(1, 3)).tolist() == [[8.0]]
    assert not Recurrent(2, 2)(rl.ones(1, 2))[0].any()
    assert nn.Linear(1, 1)._finds_attributes is False


def test_a_linear_bias_of_several_dimensions_is_added_as_the_product_takes_it() -> None:
    x, weight = rl.ones(2, 2, 3), rl.ones(4, 3)
    linear = nn.functional.linear
    assert linear(x[0, 0], weight, rl.ones(1, 4)).tolist() == [4.0] * 4
    assert linear(x, weight, rl.ones(2, 4)).shape == (2, 2, 4)
    bias = rl.ones(1, 4, requires_grad=True)
    linear(x, weight, bias).sum().backward()
    assert bias.grad.tolist() == [[4.0] * 4]
    with pytest.raises(RuntimeError, match=r"The expanded size of the tensor \(4\) must match"):
        linear(x, weight, rl.ones(2, 1))  # four rows in one product
    with pytest.raises(RuntimeError, match="mat2 must be a matrix, got 1-D tensor"):
        linear(x[0, 0], rl.ones(3), rl.ones(4))
    assert linear(rl.ones(3), rl.ones(3), rl.tensor(2.0)).item() == 5.0
