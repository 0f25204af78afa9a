"""Recurrent layers, cells and packed sequences: values, gradients, texts, refusals."""

import warnings

import torch
from observation import near, outcome

nn = torch.nn
rnn = torch.nn.utils.rnn


def _grads(module) -> None:
    for name, parameter in module.named_parameters():
        print(name, near(parameter.grad.sum(), 3), near(parameter.grad.abs().max(), 3))


def _run(kind, **options) -> None:
    torch.manual_seed(0)
    layer = kind(3, 4, **options)
    x = torch.randn(5, 2, 3, requires_grad=True)
    print(layer, list(layer.state_dict()))
    out, state = layer(x)
    last = state if isinstance(state, tuple) else (state,)
    print(tuple(out.shape), near(out.flatten()[:4], 4), [tuple(s.shape) for s in last])
    (out.pow(2).sum() + sum(s.sum() for s in last)).backward()
    print(near(x.grad.sum(), 3))
    _grads(layer)


def a_plain_network_in_all_its_forms() -> None:
    _run(nn.RNN)
    _run(nn.RNN, nonlinearity="relu", num_layers=2, bidirectional=True)
    _run(nn.RNN, bias=False, batch_first=True)


def an_lstm_in_all_its_forms() -> None:
    _run(nn.LSTM)
    _run(nn.LSTM, num_layers=2, bidirectional=True, batch_first=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says once which kernel it takes
        _run(nn.LSTM, proj_size=2, num_layers=2)
    _run(nn.LSTM, num_layers=2, dropout=0.5)


def a_gated_network_in_all_its_forms() -> None:
    _run(nn.GRU)
    _run(nn.GRU, num_layers=2, bidirectional=True, bias=False)


def packed_sequences_keep_their_order() -> None:
    torch.manual_seed(1)
    parts = [torch.randn(n, 3) for n in (2, 4, 3)]
    packed = rnn.pack_sequence(parts, enforce_sorted=False)
    print(packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
    for layer in (nn.LSTM(3, 2, bidirectional=True), nn.GRU(3, 2), nn.RNN(3, 2)):
        out, state = layer(packed)
        padded, lengths = rnn.pad_packed_sequence(out, batch_first=True, padding_value=-1.0)
        print(tuple(padded.shape), lengths, near(padded[:, -1].flatten(), 3))
        state = state[0] if isinstance(state, tuple) else state
        print(near(state.flatten(), 3))
        print([tuple(one.shape) for one in rnn.unpack_sequence(out)])


def sequences_are_padded_at_either_side() -> None:
    parts = [torch.ones(2), torch.zeros(3)]
    print(rnn.pad_sequence(parts), rnn.pad_sequence(parts, True, 5.0, padding_side="left"))
    print(rnn.unpad_sequence(rnn.pad_sequence(parts), torch.tensor([2, 3])))


def cells_do_one_step() -> None:
    for kind in (nn.RNNCell, nn.LSTMCell, nn.GRUCell):
        torch.manual_seed(2)
        cell = kind(3, 2)
        print(cell, list(cell.state_dict()))
        state = None
        for x in torch.randn(3, 4, 3):
            state = cell(x, state)
        h = state[0] if isinstance(state, tuple) else state
        h.sum().backward()
        print(near(h.flatten(), 4))
        _grads(cell)


def recurrent_layers_refuse_what_does_not_fit() -> None:
    lstm, x = nn.LSTM(2, 3), torch.ones(2, 2, 2)
    h = torch.ones(1, 2, 3)
    for action in (
        lambda: lstm(torch.ones(1, 1, 1, 1)),
        lambda: lstm(torch.ones(2, 2, 5)),
        lambda: lstm(x.double()),
        lambda: lstm(x, (h, h[0])),
        lambda: lstm(x, (h, torch.ones(1, 1, 3))),
        lambda: nn.GRU(2, 3)(x, torch.ones(2, 3)),
        lambda: nn.GRU(2, 3, proj_size=1),
        lambda: nn.RNN(2, 3, nonlinearity="gelu"),
        lambda: nn.LSTM(2, 0),
        lambda: nn.LSTM(2, 3, dropout=2),
        lambda: nn.LSTMCell(2, 3)(torch.ones(1, 5)),
        lambda: nn.GRUCell(2, 3)(torch.ones(1, 2), torch.ones(2, 3)),
        lambda: rnn.pack_padded_sequence(x, [1, 2]),
        lambda: rnn.pack_padded_sequence(x, [2, 0]),
    ):
        outcome(action)


def second_derivatives_go_through_a_layer() -> None:
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        torch.manual_seed(3)
        layer = kind(2, 3).double()
        x = torch.randn(3, 2, 2, dtype=torch.float64, requires_grad=True)
        (first,) = torch.autograd.grad(layer(x)[0].pow(2).sum(), x, create_graph=True)
        first.pow(2).sum().backward()
        print(near(x.grad.flatten()[:4], 6))
        _grads(layer)


def an_lstm_learns_as_it_does_in_pytorch() -> None:
    torch.manual_seed(4)
    layer, head = nn.LSTM(3, 8, num_layers=2), nn.Linear(8, 1)
    optimiser = torch.optim.Adam([*layer.parameters(), *head.parameters()], lr=0.02)
    x, y = torch.randn(6, 5, 3), torch.randn(5, 1)
    for step in range(20):
        optimiser.zero_grad()
        loss = (head(layer(x)[0][-1]) - y).pow(2).mean()
        loss.backward()
        optimiser.step()
        if step % 5 == 4:
            print(near(loss, 4))
