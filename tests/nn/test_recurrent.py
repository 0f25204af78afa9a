"""Recurrent layers: one fused pass, step by step in operations, cells, packed sequences."""

from typing import Any

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.nn.utils import rnn


def _layer(kind: Any, **options: Any) -> Any:
    rl.manual_seed(0)
    return kind(3, 4, **options).double()


KINDS = [(nn.RNN, nn.RNNCell), (nn.LSTM, nn.LSTMCell), (nn.GRU, nn.GRUCell)]


@pytest.mark.parametrize(("kind", "cell"), KINDS)
def test_a_layer_does_what_its_cell_does_step_by_step(kind: Any, cell: Any) -> None:
    layer, one = _layer(kind), cell(3, 4).double()
    for name, parameter in one.named_parameters():
        parameter.data = getattr(layer, name + "_l0").data
    x = rl.randn(5, 2, 3, dtype=rl.float64)
    state, rows = None, []
    for step in x:
        state = one(step, state)
        rows.append(state[0] if isinstance(state, tuple) else state)
    out, last = layer(x)
    assert rl.allclose(out, rl.stack(rows))
    last = last[0] if isinstance(last, tuple) else last
    assert rl.allclose(last[0], rows[-1])


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}])
def test_first_and_second_derivatives_agree_with_differences(kind: Any, options: Any) -> None:
    layer = _layer(kind, **options)
    x = rl.randn(3, 2, 3, dtype=rl.float64, requires_grad=True)
    assert rl.autograd.gradcheck(lambda x: layer(x)[0], x)
    assert rl.autograd.gradgradcheck(lambda x: layer(x)[0], x)


def test_an_lstm_with_a_projection_has_smaller_outputs() -> None:
    layer = _layer(nn.LSTM, proj_size=2)
    x = rl.randn(3, 2, 3, dtype=rl.float64, requires_grad=True)
    out, (h, c) = layer(x)
    assert (out.shape, h.shape, c.shape) == ((3, 2, 2), (1, 2, 2), (1, 2, 4))
    assert rl.autograd.gradcheck(lambda x: layer(x)[0], x)


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_packed_batch_gives_what_its_sequences_give_alone(kind: Any, bidirectional: bool) -> None:
    layer = _layer(kind, bidirectional=bidirectional)
    parts = [rl.randn(n, 3, dtype=rl.float64) for n in (2, 4, 3)]
    out, _ = layer(rnn.pack_sequence(parts, enforce_sorted=False))
    for part, found in zip(parts, rnn.unpack_sequence(out)):
        assert rl.allclose(layer(part)[0], found)


def test_the_two_bias_gradients_do_not_share_memory() -> None:
    layer = _layer(nn.LSTM)
    layer(rl.ones(2, 1, 3, dtype=rl.float64))[0].sum().backward()
    before = layer.bias_hh_l0.grad.clone()
    layer.bias_ih_l0.grad.zero_()
    assert rl.equal(layer.bias_hh_l0.grad, before)


def test_a_layer_runs_under_vmap_and_in_forward_mode() -> None:
    layer = _layer(nn.GRU)
    x = rl.randn(2, 4, 1, 3, dtype=rl.float64)
    many = rl.vmap(lambda x: layer(x)[0])(x)
    assert rl.allclose(many[1], layer(x[1])[0])
    _, tangent = rl.func.jvp(lambda x: layer(x)[0], (x[0],), (rl.ones_like(x[0]),))
    step = 1e-6
    moved = layer(x[0] + step)[0] - layer(x[0] - step)[0]
    assert rl.allclose(tangent, moved / (2 * step), atol=1e-7)


def test_sixteen_bit_layers_keep_their_dtype() -> None:
    layer = nn.LSTM(3, 4).bfloat16()
    out, _ = layer(rl.ones(2, 1, 3, dtype=rl.bfloat16))
    assert out.dtype is rl.bfloat16


def test_an_input_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"Expected 3, got 2"):
        nn.RNN(3, 4)(rl.ones(2, 2, 2))


def test_a_linear_layer_of_one_feature_refuses_three() -> None:
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(3x3 and 1x1\)"):
        nn.Linear(1, 1)(rl.ones(3, 3))


@pytest.mark.parametrize(("cell", "gates"), [(rl.gru_cell, 3), (rl.rnn_tanh_cell, 1)])
def test_a_cell_needs_weights_for_all_of_its_gates(cell, gates):
    x, h = rl.ones(2, 3), rl.ones(2, 2)
    with pytest.raises(RuntimeError, match=f"weight_hh first dim must be {gates} . hidden_size"):
        cell(x, h, rl.ones(2 * gates, 3), rl.ones(2 * gates - 1, 2))
    with pytest.raises(RuntimeError, match=f"weight_ih first dim must be {gates} . hidden_size"):
        cell(x, h, rl.ones(2 * gates + 1, 3), rl.ones(2 * gates, 2))
    with pytest.raises(IndexError, match="Dimension out of range"):
        cell(x, h, rl.ones(2 * gates, 3), rl.ones(2 * gates))


@pytest.mark.parametrize("own", [rl.float32, rl.float64])
@pytest.mark.parametrize("other", [rl.int64, rl.bfloat16, rl.complex64])
def test_weights_and_states_of_another_type_than_the_input_are_refused(
    own: rl.dtype, other: rl.dtype
) -> None:
    for gates, run in ((3, rl.gru), (1, rl.rnn_tanh), (4, rl.lstm)):
        for odd in range(5):
            values = [rl.ones(gates * 3, 3, dtype=own) for _ in range(2)]
            values += [rl.ones(gates * 3, dtype=own) for _ in range(2)]
            values.append(rl.zeros(1, 3, 3, dtype=own))
            values[odd] = values[odd].to(other)
            h = values.pop()
            x = rl.zeros(1, 3, 3, dtype=own)
            with pytest.raises(RuntimeError, match=r"have the same dtype"):
                run(x, (h, h) if gates == 4 else h, values, True, 1, 0.0, False, False, False)


def test_sizes_of_packed_sequences_are_whole_numbers() -> None:
    x = rl.zeros(1, 3)
    with pytest.raises(RuntimeError, match="expected scalar type Long but found Float"):
        rl.gru(x, rl.ones(1), x[None], [x, x], False, 1, 0.0, False, False)
