"""Embeddings and bags of them."""

from .table import layer, refused, refuses

layer(
    "Embedding",
    [
        "6, 3",
        "6, 3, padding_idx=2",
        "6, 3, -1",
        "6, 3, max_norm=0.5",
        "6, 3, max_norm=1.0, norm_type=1",
        "6, 3, scale_grad_by_freq=True",
        "6, 3, _weight=T.arange(18.0).reshape(6, 3)",
        "6, 3, _freeze=True",
        "6, 3, dtype=T.float64",
        "6, 3, 2, 1.0, 3.0, True",
        "6, 0",
    ],
    [
        "K(6, 4)",
        "K(6, 2, 3)",
        "K(6, 0)",
        "I(2, 2, 5, 2, 5)",
        "K(6, 4).int()",
        "K(6, 4, 2).t()",
        "K(6, 2, 3, 2)",
        "K(6, )",
    ],
)
layer(
    "Embedding",
    ["6, 3, sparse=True", "6, 3, sparse=True, padding_idx=1"],
    ["K(6, 4)", "K(6, 2, 3)"],
)
refused(
    "Embedding",
    "",
    "6",
    "6, 3, 6",
    "6, 3, -7",
    "-1, 3",
    "'a', 3",
    "6, 3, _weight=T.ones(2, 2)",
    "6, 3, 'a'",
    "6, 3, dtype=T.int64",
    "0, 3",
    "6, 3, what=1",
)
refuses(
    "Embedding",
    "6, 3",
    "F(3)",
    "K(6, 3) + 6",
    "K(6, 3) - 9",
    "B(3)",
    "3",
    "",
    "K(6, 3).short()",
    "[1, 2]",
    "None",
)
BAG = [
    "6, 3",
    "6, 3, mode='sum'",
    "6, 3, mode='max'",
    "6, 3, padding_idx=2",
    "6, 3, mode='sum', padding_idx=-1",
    "6, 3, max_norm=0.5",
    "6, 3, _weight=T.arange(18.0).reshape(6, 3)",
    "6, 3, max_norm=1.0, norm_type=1, mode='max', padding_idx=1",
]
layer(
    "EmbeddingBag",
    [*BAG, "6, 3, scale_grad_by_freq=True", "6, 3, dtype=T.float64"],
    [
        "K(6, 2, 4)",
        "I(1, 2, 2, 5, 0), I(0, 2)",
        "I(1, 2, 2, 5, 0), I(0, 2, 2, 5)",
        "K(6, 3, 4).int()",
        "K(6, 5), I(0)",
        "K(6, 4, 3).t()",
        "I(2, 2, 2), I(0)",
    ],
)
layer(
    "EmbeddingBag",
    ["6, 3, mode='sum'", "6, 3, mode='sum', padding_idx=2"],
    ["K(6, 5), I(0, 2), V(5)", "K(6, 2, 4), None, V(2, 4)", "K(6, 5), I(0, 2), U(5)"],
)
layer(
    "EmbeddingBag",
    [
        "6, 3, include_last_offset=True",
        "6, 3, mode='sum', include_last_offset=True",
        "6, 3, mode='max', include_last_offset=True",
    ],
    ["K(6, 5), I(0, 2, 5)", "K(6, 5), I(0, 5)", "K(6, 5), I(0, 0, 3, 5)"],
)
layer("EmbeddingBag", ["6, 3, sparse=True", "6, 3, mode='sum', sparse=True"], ["K(6, 2, 4)"])
refused(
    "EmbeddingBag",
    "",
    "6",
    "6, 3, padding_idx=6",
    "6, 3, padding_idx=-7",
    "6, 3, mode='what'",
    "6, 3, _weight=T.ones(2, 2)",
    "6, 3, mode='max', sparse=True",
    "6, 3, mode='max', scale_grad_by_freq=True",
    "6, 3, what=1",
)
refuses(
    "EmbeddingBag",
    "6, 3",
    "K(6, 4)",
    "K(6, 2, 4), I(0)",
    "K(6, 2, 3, 4)",
    "F(2, 3)",
    "K(6, 4), I(1, 2)",
    "K(6, 4), I(0, 7)",
    "K(6, 4), K(1, 2, 2)",
    "K(6, 4), F(1)",
    "K(6, 4) + 6, I(0)",
    "K(6, 4), I(0), V(4)",
    "K(6, 4), I(0).int()",
    "",
    "K(6, 4) - 9, I(0)",
    "K(6, 4), I(0, 3, 2)",
)
for option in (
    "6, 3, mode='what'",
    "6, 3, mode='max', sparse=True",
    "6, 3, mode='max', scale_grad_by_freq=True",
    "6, 3, mode='sum', scale_grad_by_freq=True",
):
    refuses("EmbeddingBag", option, "K(6, 2, 4)")
refuses(
    "EmbeddingBag",
    "6, 3, mode='sum'",
    "K(6, 4), I(0), V(3)",
    "K(6, 2, 4), None, V(4)",
    "K(6, 4), I(0), K(3, 4)",
)
refuses("EmbeddingBag", "6, 3, mode='max'", "K(6, 4), I(0), V(4)")
refuses(
    "EmbeddingBag",
    "6, 3, include_last_offset=True",
    "K(6, 4), I(0, 7)",
    "K(6, 4), I()",
    "K(6, 4), I(0, 2)",
)
