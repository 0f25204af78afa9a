"""Multi-head attention and transformers: values, weights, masks, gradients, texts."""

import warnings

import torch
from observation import near, outcome

nn = torch.nn


def attention_in_all_its_forms() -> None:
    for options in (
        {},
        {"bias": False},
        {"add_bias_kv": True, "add_zero_attn": True},
        {"kdim": 3, "vdim": 5},
        {"batch_first": True},
    ):
        torch.manual_seed(0)
        layer = nn.MultiheadAttention(8, 2, **options)
        print(layer, list(layer.state_dict()))
        q = torch.randn(4, 3, 8)
        k = torch.randn(4, 3, options.get("kdim", 8))
        v = torch.randn(4, 3, options.get("vdim", 8))
        out, weights = layer(q, k, v)
        print(near(out.flatten()[:4], 4), near(weights.flatten()[:4], 4), tuple(weights.shape))
        out.pow(2).sum().backward()
        print([None if p.grad is None else near(p.grad.sum(), 2) for p in layer.parameters()])
        print(tuple(layer(q, k, v, average_attn_weights=False)[1].shape))
        print(layer(q, k, v, need_weights=False)[1])


def attention_looks_where_masks_let_it() -> None:
    torch.manual_seed(1)
    layer = nn.MultiheadAttention(4, 2)
    x = torch.randn(3, 2, 4)
    hidden = torch.tensor([[False, False, True], [False, False, False]])
    later = torch.ones(3, 3, dtype=torch.bool).triu(1)
    print(near(layer(x, x, x, key_padding_mask=hidden)[1], 4))
    print(near(layer(x, x, x, attn_mask=later)[1], 4))
    out = layer(x, x, x, attn_mask=later, is_causal=True, need_weights=False)[0]
    print(near(out[0], 4))
    for action in (
        lambda: layer(x, x, x, attn_mask=later[:2]),
        lambda: layer(x, x, x, is_causal=True),
        lambda: layer(x, x, x, attn_mask=later.int()),
        lambda: nn.MultiheadAttention(5, 2),
        lambda: nn.MultiheadAttention(0, 2),
    ):
        outcome(action)


def encoder_and_decoder_layers_in_all_their_forms() -> None:
    for options in (
        {},
        {"norm_first": True},
        {"batch_first": True, "activation": "gelu"},
        {"bias": False, "dropout": 0.0},
    ):
        torch.manual_seed(2)
        encoder = nn.TransformerEncoderLayer(8, 2, 16, **options)
        decoder = nn.TransformerDecoderLayer(8, 2, 16, **options)
        print(encoder, decoder)
        x, y = torch.randn(4, 3, 8), torch.randn(4, 3, 8)
        out = decoder(y, encoder(x))
        out.pow(3).sum().backward()
        print(near(out.flatten()[:5], 3))
        print([name for name, p in encoder.named_parameters() if p.grad is None])
        print(near(decoder.eval()(y, encoder.eval()(x)).flatten()[:5], 3))


def an_encoder_leaves_zeros_at_padded_places() -> None:
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    x = torch.randn(2, 3, 4)
    hidden = torch.tensor([[False, False, True], [False, False, False]])
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(near(encoder(x, src_key_padding_mask=hidden), 3))
    print(near(encoder(x, src_key_padding_mask=hidden)[:, :2], 3))


def a_transformer_finds_the_causal_mask() -> None:
    torch.manual_seed(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nn.Transformer(8, 2, 1, 1, 16).eval()
    mask = model.generate_square_subsequent_mask(4)
    print(mask, len(model.state_dict()))
    src, tgt = torch.randn(3, 2, 8), torch.randn(4, 2, 8)
    print(near(model(src, tgt, tgt_mask=mask).flatten()[:6], 4))
    outcome(model, src, tgt[:, :1])
    outcome(model, src[..., :7], tgt)
    outcome(lambda: nn.TransformerEncoderLayer(8, 2, activation="swish"))


def a_transformer_learns_as_it_does_in_pytorch() -> None:
    torch.manual_seed(5)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2), nn.Linear(8, 1))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = torch.randn(4, 5, 8), torch.randn(4, 5, 1)
    for step in range(20):
        optimiser.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimiser.step()
        if step % 5 == 4:
            print(near(loss, 4))
