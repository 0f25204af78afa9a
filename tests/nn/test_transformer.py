"""Attention and transformers as layers."""

import warnings

import pytest

import rushlight as rl
from rushlight import nn


def test_attention_weights_add_up_to_one_and_skip_hidden_keys() -> None:
    rl.manual_seed(0)
    layer = nn.MultiheadAttention(4, 2)
    x = rl.randn(3, 2, 4)
    hidden = rl.tensor([[False, False, True], [False, False, False]])
    _, weights = layer(x, x, x, key_padding_mask=hidden)
    assert rl.allclose(weights.sum(-1), rl.ones(2, 3))
    assert not weights[0, :, 2].any()


def test_heads_must_divide_the_size() -> None:
    with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
        nn.MultiheadAttention(5, 2)


def test_batch_first_only_exchanges_dimensions() -> None:
    rl.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    other = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    other.load_state_dict(layer.state_dict())
    x = rl.randn(4, 3, 8)
    assert rl.allclose(layer(x), other(x.transpose(0, 1)).transpose(0, 1), atol=1e-6)


def test_a_causal_mask_hides_the_future() -> None:
    rl.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = nn.TransformerEncoder(layer, 2)
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    x = rl.randn(4, 1, 8, requires_grad=True)
    # The sum of what a layer norm gives is always the same: only rounding would be seen.
    (encoder(x, mask=mask)[1] * rl.arange(8.0)).sum().backward()
    assert not x.grad[2:].any()
    assert (x.grad[:2].abs() > 1e-3).all()


def test_padded_places_are_zero_where_pytorch_uses_nested_tensors() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 1).eval()
    hidden = rl.tensor([[False, True], [False, False]])
    with rl.no_grad():
        out = encoder(rl.randn(2, 2, 8), src_key_padding_mask=hidden)
    assert not out[0, 1].any()
    assert out[1].all()


def test_source_and_target_need_the_same_batch() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nn.Transformer(8, 2, 1, 1, 16)
    with pytest.raises(RuntimeError, match="batch number of src and tgt must be equal"):
        model(rl.ones(3, 2, 8), rl.ones(4, 3, 8))


@pytest.mark.parametrize("need_weights, kind", [(True, ValueError), (False, RuntimeError)])
def test_attention_refuses_a_probability_of_two_when_it_drops(
    need_weights: bool, kind: type[Exception]
) -> None:
    layer = nn.MultiheadAttention(4, 2, dropout=2)
    x = rl.ones(1, 1, 4)
    with pytest.raises(kind) as caught:
        layer(x, x, x, need_weights=need_weights)
    assert type(caught.value) is kind
    assert str(caught.value) == "dropout probability has to be between 0 and 1, but got 2"
    assert layer.eval()(x, x, x)[0].shape == (1, 1, 4)
