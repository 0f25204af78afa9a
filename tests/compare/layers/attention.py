"""Attention and transformers."""

from .table import layer, refused, refuses

OPTIONS = [
    "4, 2",
    "4, 1",
    "4, 2, dropout=0.3",
    "4, 2, bias=False",
    "4, 2, add_bias_kv=True",
    "4, 2, add_zero_attn=True",
    "4, 2, 0.3, True, True, True",
    "4, 2, batch_first=True",
    "4, 2, dtype=T.float64",
]
MASK = "T.triu(T.ones(3, 3, dtype=T.bool), 1)"
INPUTS = [
    "*[R(3, 3, 4)] * 3",
    "R(3, 3, 4), R(3, 3, 4), R(3, 3, 4)",
    "*[R(3, 4)] * 3",
    "*[R(3, 3, 4)] * 3, need_weights=False",
    "*[R(3, 3, 4)] * 3, average_attn_weights=False",
    "*[R(3, 3, 4)] * 3, attn_mask=" + MASK,
    "*[R(3, 3, 4)] * 3, attn_mask=F(3, 3)",
    "*[R(3, 3, 4)] * 3, key_padding_mask=T.tensor([[False, False, True]] * 3)",
    "*[R(3, 3, 4)] * 3, key_padding_mask=T.tensor([[False, False, True]] * 3), attn_mask=" + MASK,
    "*[R(3, 3, 4)] * 3, need_weights=False, is_causal=True, attn_mask=" + MASK,
]
layer("MultiheadAttention", OPTIONS, INPUTS)
layer(
    "MultiheadAttention",
    ["4, 2", "4, 2, 0.3"],
    [
        "*[R(3, 3, 4)] * 3, attn_mask=F(6, 3, 3)",
        "*[R(3, 4)] * 3, attn_mask=F(2, 3, 3)",
        "*[R(3, 4)] * 3, key_padding_mask=T.tensor([False, True, False])",
    ],
)
layer(
    "MultiheadAttention",
    [
        "4, 2, kdim=3, vdim=5",
        "4, 2, kdim=3, vdim=5, bias=False, batch_first=True",
        "4, 2, kdim=3, vdim=5, add_bias_kv=True",
    ],
    ["R(3, 3, 4), R(3, 3, 3), R(3, 3, 5)", "R(3, 4), R(5, 3), R(5, 5)"],
)
layer(
    "MultiheadAttention",
    "4, 2",
    ["R(2, 3, 4), R(6, 3, 4), R(6, 3, 4)", "R(2, 4), R(6, 4), R(6, 4)"],
)
refused(
    "MultiheadAttention",
    "",
    "4",
    "4, 3",
    "0, 1",
    "4, 0",
    "-4, 2",
    "4, -2",
    "'a', 2",
    "4, 2, what=1",
    "4, 2, dropout=2.0",
)
refuses(
    "MultiheadAttention",
    "4, 2",
    "R(3, 3, 4)",
    "*[R(3, 3, 5)] * 3",
    "*[R(2, 3, 3, 4)] * 3",
    "R(3, 3, 4), R(3, 4), R(3, 4)",
    "R(3, 4), R(3, 3, 4), R(3, 3, 4)",
    "R(3, 3, 4), R(2, 3, 4), R(3, 3, 4)",
    "*[R(3, 3, 4)] * 3, attn_mask=F(2, 2)",
    "*[R(3, 3, 4)] * 3, attn_mask=F(2, 3, 3)",
    "*[R(3, 3, 4)] * 3, attn_mask=K(2, 3, 3)",
    "*[R(3, 3, 4)] * 3, key_padding_mask=B(2, 3)",
    "*[R(3, 3, 4)] * 3, key_padding_mask=K(2, 3, 3)",
    "*[R(3, 3, 4)] * 3, is_causal=True",
    "*[R(3, 3, 4)] * 3, attn_mask=F(3)",
    "*[R(3, 4)] * 3, attn_mask=F(3, 3, 3)",
    "*[R(3, 4)] * 3, key_padding_mask=B(3, 3)",
    "*[R(4)] * 3",
    "*[R(3, 3, 4)] * 3, key_padding_mask=B(3)",
    "*[K(4, 3, 3, 4)] * 3",
)
refuses("MultiheadAttention", "4, 2, dropout=2.0", "*[R(3, 3, 4)] * 3")
refuses("MultiheadAttention", "4, 2, kdim=3", "*[R(3, 3, 4)] * 3")

ENCODER = [
    "4, 2, 6",
    "4, 2, 6, 0.3",
    "4, 2, 6, 0",
    "4, 2, 6, 0, 'gelu'",
    "4, 2, 6, 0, nn.functional.silu",
    "4, 2, 6, 0.3, norm_first=True",
    "4, 2, 6, 0, batch_first=True",
    "4, 2, 6, 0, batch_first=True, norm_first=True",
    "4, 2, 6, 0, layer_norm_eps=0.1, bias=False",
    "4, 2, 6, 0, 'gelu', batch_first=True",
]
layer(
    "TransformerEncoderLayer",
    ENCODER,
    [
        "R(3, 3, 4)",
        "R(3, 4)",
        "R(3, 3, 4), " + MASK,
        "R(3, 3, 4), src_key_padding_mask=T.tensor([[False, False, True]] * 3)",
        "R(3, 3, 4), src_mask=T.triu(T.full((3, 3), float('-inf')), 1), is_causal=True",
        "F(3, 3, 4)",
    ],
)
layer(
    "TransformerDecoderLayer",
    [o for o in ENCODER if "nn." not in o],
    [
        "R(3, 3, 4), R(3, 3, 4)",
        "R(3, 4), R(5, 4)",
        "R(3, 3, 4), R(3, 3, 4), " + MASK,
        "R(3, 3, 4), R(3, 3, 4), memory_key_padding_mask=T.tensor([[False, False, True]] * 3)",
        "R(3, 3, 4), R(3, 3, 4), memory_mask=F(3, 3), tgt_is_causal=True, tgt_mask=" + MASK,
    ],
)
refused(
    "TransformerEncoderLayer",
    "",
    "4",
    "4, 3",
    "4, 2, activation='what'",
    "4, 2, dropout=2.0",
    "4, 2, -1",
    "4, 2, what=1",
)
refused("TransformerDecoderLayer", "", "4", "4, 3", "4, 2, activation='what'", "4, 2, dropout=2.0")
refuses(
    "TransformerEncoderLayer",
    "4, 2, 6, 0",
    "R(3, 3, 5)",
    "R(3)",
    "R(2, 2, 3, 4)",
    "R(3, 3, 4), F(2, 2)",
    "R(3, 3, 4), src_key_padding_mask=B(2, 2)",
    "R(3, 3, 4), is_causal=True",
    "",
    "R(3, 3, 4), K(2, 3, 3)",
)
refuses(
    "TransformerDecoderLayer",
    "4, 2, 6, 0",
    "R(3, 3, 4)",
    "R(3, 3, 5), R(3, 3, 4)",
    "R(3, 3, 4), R(3, 3, 5)",
    "R(3, 3, 4), R(3, 2, 4)",
    "R(3, 3, 4), R(3, 3, 4), F(2, 2)",
)
for kind, arguments in (("Encoder", "R(3, 3, 4)"), ("Decoder", "R(3, 3, 4), R(3, 3, 4)")):
    one = f"nn.Transformer{kind}Layer(4, 2, 6, 0.3, batch_first=True)"
    inputs = [arguments, f"{arguments}, " + MASK, arguments.replace("3, 3, 4", "3, 4")]
    if kind == "Encoder":
        inputs += [
            "R(3, 3, 4), src_key_padding_mask=T.tensor([[False, False, True]] * 3)",
            "R(3, 3, 4), mask=" + MASK + ", is_causal=True",
            "F(3, 3, 4), src_key_padding_mask=T.tensor([[False, False, True]] * 3)",
        ]
    layer(
        f"Transformer{kind}",
        [
            f"{one}, 2",
            f"{one}, 1, nn.LayerNorm(4)",
            f"{one}, 0",
            f"{one.replace(', batch_first=True', '')}, 2",
            f"{one.replace('batch', 'norm_first=True, batch')}, 2",
        ],
        inputs,
    )
    refused(f"Transformer{kind}", "", one, "3, 2", f"{one}, 'a'", f"{one}, -1")
layer(
    "Transformer",
    [
        "4, 2, 1, 1, 6, 0.3",
        "4, 2, 2, 1, 6, 0, batch_first=True",
        "4, 2, 1, 2, 6, 0, 'gelu', norm_first=True",
        "4, 2, 1, 1, 6, 0, bias=False",
        "4, 2, 0, 0, 6",
        "4, 2, 1, 1, 6, 0, custom_encoder=nn.Identity()",
    ],
    [
        "R(3, 3, 4), R(3, 3, 4)",
        "R(5, 4), R(3, 4)",
        "R(3, 3, 4), R(3, 3, 4), tgt_mask=nn.Transformer.generate_square_subsequent_mask(3)",
        "R(3, 3, 4), R(3, 3, 4), src_key_padding_mask=T.tensor([[False, False, True]] * 3), "
        "memory_key_padding_mask=T.tensor([[False, False, True]] * 3)",
    ],
)
refused(
    "Transformer",
    "4, 3, 1, 1, 6",
    "4, 2, 1, 1, 6, activation='what'",
    "4, 2, -1, 1, 6",
    "'a'",
    "4, 2, 1, 1, 6, what=3",
)
refuses(
    "Transformer",
    "4, 2, 1, 1, 6",
    "R(3, 3, 4)",
    "R(3, 3, 4), R(3, 4)",
    "R(3, 2, 4), R(3, 3, 4)",
    "R(3, 3, 5), R(3, 3, 4)",
    "R(3, 3, 4), R(3, 3, 5)",
    "R(4), R(4)",
    "R(3, 3, 4), R(3, 3, 4), F(2, 2)",
)
refuses("Transformer", "4, 2, 1, 1, 6, batch_first=True", "R(3, 2, 4), R(2, 3, 4)")
