"""Losses."""

from .table import layer, refused, refuses

WORDS = ["", "reduction='sum'", "reduction='none'"]
OLD = ["size_average=False", "reduce=False", "size_average=True, reduce=True", "False, False"]


def each(*options: str) -> list[str]:
    """Each of the options with each of the reductions."""
    return [
        ", ".join(part for part in (option, word) if part) for option in options for word in WORDS
    ]


PAIRS = [
    "R(3, 4), R(3, 4)",
    "R(3, 4), F(3, 4)",
    "R(), F()",
    "R(0, 3), F(0, 3)",
    "R(4, 3).t(), F(3, 4)",
]
layer("L1Loss", each("") + OLD, PAIRS)
layer("MSELoss", each("") + OLD, PAIRS)
layer("SmoothL1Loss", each("", "beta=0.3", "beta=0.0", "beta=2") + OLD, PAIRS)
layer("HuberLoss", each("", "delta=0.3", "delta=2"), PAIRS)
for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss"):
    layer(name, "", ["R(3, 4), F(4)"])
    refuses(name, "", "R(3, 4), F(3, 3)", "R(3)", "R(3), 2", "", "R(3), None", "K(3, 2), K(3, 2)")
    refuses(name, "reduction='what'", "R(3), F(3)")
    refused(name, "reduction='what'", "1, 2, 3, 4, 5, 6, 7", "what=1", "reduction=3")
refuses("SmoothL1Loss", "beta=-1", "R(3), F(3)")
refuses("HuberLoss", "delta=-1", "R(3), F(3)")
refuses("HuberLoss", "delta=0", "R(3), F(3)")
PROBABLE = [
    "U(3, 4), V(3, 4)",
    "U(3, 4), U(3, 4)",
    "U(), V()",
    "U(0, 3), V(0, 3)",
    "U(4, 3).t(), V(3, 4)",
]
WEIGHT = "weight=T.tensor([0.5, 1.0, 2.0, 0.3])"
layer("BCELoss", each("") + OLD, PROBABLE)
layer("BCELoss", each(WEIGHT), PROBABLE[:2] + PROBABLE[4:])
layer(
    "BCEWithLogitsLoss",
    each("") + OLD,
    [
        "R(3, 4), V(3, 4)",
        "R(3, 4), U(3, 4)",
        "R(), V()",
        "R(0, 3), V(0, 3)",
        "R(4, 3).t(), V(3, 4)",
        "90 * R(3), V(3)",
    ],
)
layer(
    "BCEWithLogitsLoss",
    each(WEIGHT, "pos_" + WEIGHT, WEIGHT + ", pos_" + WEIGHT),
    ["R(3, 4), V(3, 4)", "R(4, 3).t(), U(3, 4)", "R(4), V(4)"],
)
refuses(
    "BCELoss",
    "",
    "U(3, 4), V(4)",
    "R(3) + 2, V(3)",
    "U(3), K(2, 3)",
    "U(3)",
    "K(2, 3), V(3)",
    "U(3), 1",
    "-U(3), V(3)",
    "U(3), 3 * V(3)",
    "U(3), B(3)",
)
refuses("BCEWithLogitsLoss", "", "R(3, 4), V(4)", "R(3), K(2, 3)", "R(3)", "R(3), 1", "R(3), B(3)")
refuses("BCELoss", WEIGHT, "U(3, 3), V(3, 3)")
refuses("BCEWithLogitsLoss", "pos_" + WEIGHT, "R(3, 3), V(3, 3)")
refused("BCELoss", "weight='a'", "3", "weight=[1.0]")
refused("BCEWithLogitsLoss", "weight='a'", "pos_weight=3")
layer(
    "KLDivLoss",
    [
        *each("", "log_target=True"),
        "reduction='batchmean'",
        "reduction='batchmean', log_target=True",
        *OLD,
    ],
    ["R(3, 4), V(3, 4)", "R(3, 4), U(3, 4)", "R(0, 3), V(0, 3)", "R(4, 3).t(), V(3, 4)"],
)
refuses("KLDivLoss", "", "R(3, 4), V(3, 3)", "R(3)", "K(3, 3), V(3)")
refuses("KLDivLoss", "reduction='what'", "R(3), V(3)")
layer(
    "PoissonNLLLoss",
    each("", "log_input=False", "full=True", "False, True, None, 0.1", "eps=0.5, log_input=False")
    + ["size_average=False", "reduce=False"],
    ["R(3, 4), 3 * V(3, 4)", "P(3, 4), 3 * U(3, 4)", "P(4, 3).t(), V(3, 4)", "P(), V()"],
)
refuses("PoissonNLLLoss", "", "R(3), V(4)", "R(3)")
refuses("PoissonNLLLoss", "reduction='what'", "R(3), V(3)")
layer(
    "GaussianNLLLoss",
    each("", "full=True", "eps=1.0"),
    [
        "R(3, 4), F(3, 4), P(3, 4)",
        "R(3, 4), R(3, 4), P(3, 1)",
        "R(3, 4), F(3, 4), P(3)",
        "R(3, 4), F(3, 4), 0.7",
        "R(4, 3).t(), F(3, 4), V(3, 4)",
        "R(5), F(5), T.zeros(5)",
    ],
)
refuses(
    "GaussianNLLLoss",
    "",
    "R(3, 4), F(3, 4), -P(3, 4)",
    "R(3, 4), F(3, 4), P(4)",
    "R(3, 4), F(3, 4), -1.0",
    "R(3), F(3)",
    "R(3, 4), F(3, 4), P(3, 4, 1)",
    "R(3), F(4), P(3)",
    "R(3), F(3), 'a'",
)
refuses("GaussianNLLLoss", "reduction='what'", "R(3), V(3), P(3)")
refused("GaussianNLLLoss", "True", "full=True, eps=0")
layer(
    "SoftMarginLoss",
    each("") + OLD,
    ["R(3, 4), S(3, 4)", "R(), S()", "R(0, 3), S(0, 3)", "R(4, 3).t(), S(3, 4)"],
)
layer(
    "HingeEmbeddingLoss",
    each("", "0.3", "margin=2") + OLD,
    ["R(3, 4), S(3, 4)", "R(), S()", "R(4, 3).t(), S(3, 4)", "R(3, 4), S(4)"],
)
layer(
    "MarginRankingLoss",
    each("", "0.3") + ["size_average=False"],
    ["R(4), R(4), S(4)", "R(3, 4), R(3, 4), S(3, 4)", "R(), R(), S()", "R(0), R(0), S(0)"],
)
layer(
    "CosineEmbeddingLoss",
    each("", "0.3", "margin=-0.5") + ["size_average=False"],
    ["R(3, 4), R(3, 4), S(3)", "R(4), R(4), S()", "R(4, 3).t(), R(3, 4), S(3)"],
)
refuses("SoftMarginLoss", "", "R(3), S(4)", "R(3)", "R(3), 1")
refuses("HingeEmbeddingLoss", "", "R(3), S(4)", "R(3)")
refuses(
    "MarginRankingLoss",
    "",
    "R(3), R(4), S(3)",
    "R(3), R(3), S(3, 1)",
    "R(3), R(3)",
    "R(3), R(3, 1), S(3)",
)
refuses(
    "CosineEmbeddingLoss",
    "",
    "R(3, 4), R(3, 4), S(4)",
    "R(3, 4), R(3, 4), S(3, 1)",
    "R(3, 4), R(4), S(3)",
    "R(3, 4, 5), R(3, 4, 5), S(3)",
    "R(4), R(4), S(1)",
    "R(3, 4), R(2, 4), S(3)",
)
for name, arguments in (
    ("SoftMarginLoss", "R(3), S(3)"),
    ("HingeEmbeddingLoss", "R(3), S(3)"),
    ("MarginRankingLoss", "R(3), R(3), S(3)"),
    ("CosineEmbeddingLoss", "R(3, 2), R(3, 2), S(3)"),
):
    refuses(name, "reduction='what'", arguments)
layer(
    "MultiLabelMarginLoss",
    each("") + OLD,
    [
        "R(2, 4), T.tensor([[3, 0, -1, 1], [1, -1, 0, 0]])",
        "R(4), I(1, 2, -1, 0)",
        "R(4, 2).t(), T.tensor([[3, 0, -1, 1], [1, -1, 0, 0]])",
    ],
)
refuses(
    "MultiLabelMarginLoss",
    "",
    "R(2, 4), K(4, 2, 3)",
    "R(2, 4), F(2, 4)",
    "R(2, 4), K(4, 2, 4) + 4",
    "R(2, 2, 2), K(2, 2, 2, 2)",
    "R(3), K(3, 4)",
    "R(0, 3), K(3, 0, 3)",
)
layer(
    "MultiLabelSoftMarginLoss",
    each("", WEIGHT) + ["size_average=False", "reduce=False"],
    ["R(3, 4), V(3, 4)", "R(4), V(4)", "R(4, 3).t(), V(3, 4)", "R(2, 3, 4), V(2, 3, 4)"],
)
refuses("MultiLabelSoftMarginLoss", "", "R(3), V(4)", "R(3)")
layer(
    "MultiMarginLoss",
    each("", "p=2", "margin=0.3", WEIGHT, "2, 0.5, " + WEIGHT[7:])
    + ["size_average=False", "reduce=False"],
    ["R(3, 4), K(4, 3)", "R(4), K(4, )", "R(4, 3).t(), K(4, 3)"],
)
refused("MultiMarginLoss", "p=3", "p=0", "weight=T.ones(2, 2)", "weight='a'", "p='a'")
refuses(
    "MultiMarginLoss",
    "",
    "R(3, 4), K(4, 2)",
    "R(3, 4), F(3)",
    "R(3, 4), K(4, 3) + 4",
    "R(2, 2, 2), K(2, 2)",
    "R(4), K(4, 2)",
    "R(0, 4), K(4, 0)",
)
refuses("MultiMarginLoss", "weight=T.ones(3)", "R(3, 4), K(4, 3)")
refuses("MultiMarginLoss", "reduction='what'", "R(3, 4), K(4, 3)")
layer(
    "TripletMarginLoss",
    each("", "0.3", "p=1", "swap=True", "2.0, 3, 1e-3, True") + ["size_average=False"],
    ["R(3, 4), R(3, 4), R(3, 4)", "R(4), R(4), R(4)", "R(4, 3).t(), R(3, 4), R(1, 4)"],
)
refused("TripletMarginLoss", "margin=0", "margin=-1", "-1.0")
refuses(
    "TripletMarginLoss",
    "",
    "R(3, 4), R(3, 4), R(4)",
    "R(3, 4), R(3, 4)",
    "R(3, 4), R(3, 5), R(3, 4)",
    "R(3, 4), R(2, 4), R(3, 4)",
)
refuses("TripletMarginLoss", "reduction='what'", "R(3, 4), R(3, 4), R(3, 4)")
layer(
    "TripletMarginWithDistanceLoss",
    each(
        "",
        "margin=0.3",
        "swap=True",
        "distance_function=nn.PairwiseDistance(1)",
        "distance_function=nn.CosineSimilarity()",
    ),
    ["R(3, 4), R(3, 4), R(3, 4)", "R(3, 4), R(3, 4), R(1, 4)"],
)
refused("TripletMarginWithDistanceLoss", "margin=0", "margin=-1", "1", "reduction='what'")
refuses("TripletMarginWithDistanceLoss", "", "R(3, 4), R(3, 4), R(4)", "R(3, 4), R(3, 4)")
refuses("TripletMarginWithDistanceLoss", "reduction='what'", "R(3, 4), R(3, 4), R(3, 4)")
CLASSES = [
    "R(3, 4), K(4, 3)",
    "R(4), K(4, )",
    "R(2, 4, 3), K(4, 2, 3)",
    "R(2, 4, 2, 3), K(4, 2, 2, 3)",
    "R(4, 3).t(), K(4, 3)",
]
layer(
    "NLLLoss",
    each("", WEIGHT, "ignore_index=1", WEIGHT + ", ignore_index=2") + OLD[:3],
    [*CLASSES, "R(0, 4), K(4, 0)", "R(2, 4, 0), K(4, 2, 0)"],
)
layer("NLLLoss2d", each(""), ["R(2, 4, 2, 3), K(4, 2, 2, 3)"])
layer(
    "CrossEntropyLoss",
    each(
        "",
        WEIGHT,
        "ignore_index=1",
        "label_smoothing=0.2",
        WEIGHT + ", ignore_index=2, label_smoothing=0.1",
    )
    + OLD[:3],
    [*CLASSES, "R(0, 4), K(4, 0)"],
)
layer(
    "CrossEntropyLoss",
    each("", WEIGHT, "label_smoothing=0.2", WEIGHT + ", label_smoothing=0.1"),
    ["R(3, 4), V(3, 4)", "R(4), V(4)", "R(2, 4, 3), U(2, 4, 3)"],
)
refused("NLLLoss", "weight='a'", "weight=[1.0]", "reduction=3", "ignore_index='a'")
refused(
    "CrossEntropyLoss", "weight='a'", "label_smoothing=2.0", "label_smoothing='a'", "reduction=3"
)
for name in ("NLLLoss", "CrossEntropyLoss"):
    refuses(
        name,
        "",
        "R(3, 4), K(4, 2)",
        "R(3, 4), K(4, 3) + 4",
        "R(3, 4), K(4, 3) - 9",
        "R(3, 4), K(4, 3).int()",
        "R(3, 4), K(4, 3, 1)",
        "R(), K(4, )",
        "R(2, 4, 3), K(4, 2, 2)",
        "R(3, 4), F(3)",
        "R(3, 4)",
        "R(3, 4), 2",
        "K(3, 3, 4), K(4, 3)",
        "R(4), K(4, 3)",
        "R(2, 3, 2, 2), K(3, 2, 2)",
        "R(3, 4), B(3)",
    )
    refuses(name, "weight=T.ones(3)", "R(3, 4), K(4, 3)", "R(2, 4, 3), K(4, 2, 3)")
    refuses(name, "reduction='what'", "R(3, 4), K(4, 3)")
    refuses(name, "weight=T.ones(4).double()", "R(3, 4), K(4, 3)")
refuses("CrossEntropyLoss", "", "R(3, 4), V(3, 3)", "R(3, 4), V(4, 4)")
for option in ("label_smoothing=2.0", "label_smoothing=-0.1"):
    refuses("CrossEntropyLoss", option, "R(3, 4), K(4, 3)", "R(3, 4), V(3, 4)")
refuses("CrossEntropyLoss", "ignore_index=1", "R(3, 4), V(3, 4)")
layer(
    "CTCLoss",
    each("", "blank=2", "zero_infinity=True", "1, zero_infinity=True"),
    [
        "R(6, 2, 4).log_softmax(2), K(3, 2, 3) * 0 + 3, (6, 5), (3, 2)",
        "R(6, 2, 4).log_softmax(2), I(3, 3, 3, 3), I(6, 4), I(2, 2)",
        "R(6, 4).log_softmax(1), I(3, 0, 3), I(6), I(3)",
        "R(3, 2, 4).log_softmax(2), K(3, 2, 3) * 0 + 3, (3, 3), (3, 1)",
        "R(6, 2, 4).log_softmax(2), K(3, 2, 3), (6, 6), (0, 2)",
    ],
)
refuses(
    "CTCLoss",
    "",
    "R(6, 2, 4), K(3, 2, 3), (6, 7), (3, 2)",
    "R(6, 2, 4), K(3, 2, 3), (6, 5), (3, 4)",
    "R(6, 2, 4), K(3, 2, 3), (6,), (3, 2)",
    "R(6, 2, 4), K(3, 2, 3), (6, 5), (3,)",
    "R(6, 2, 4), F(2, 3), (6, 5), (3, 2)",
    "R(6, 2, 4), K(3, 4), (6, 5), (3, 2)",
    "R(6, 2, 4), K(3, 2, 3), F(2), I(3, 2)",
    "R(6), K(3, 3), (6,), (3,)",
    "R(6, 2, 4), K(3, 2, 3), (6, 5), (3, -2)",
)
refuses("CTCLoss", "blank=5", "R(6, 2, 4), K(3, 2, 3), (6, 5), (3, 2)")
refuses("CTCLoss", "reduction='what'", "R(6, 2, 4), K(3, 2, 3), (6, 5), (3, 2)")
layer(
    "LinearCrossEntropyLoss",
    each(
        "5, 4",
        "5, 4, bias=True",
        "5, 4, " + WEIGHT,
        "5, 4, label_smoothing=0.1, ignore_index=1",
        "5, 4, options=nn.LinearCrossEntropyOptions()",
        "5, 4, dtype=T.float64",
    ),
    ["R(3, 5), K(4, 3)", "R(5), K(4, )"],
)
layer(
    "LinearCrossEntropyLoss",
    each("5, 4", "5, 4, bias=True, label_smoothing=0.2"),
    ["R(3, 5), V(3, 4)"],
)
layer(
    "LinearCrossEntropyLoss",
    each("5, 4, out_features=(2, 3)", "5, 4, out_features=(2, 3), bias=True"),
    ["R(3, 5), K(4, 3, 2, 3)", "R(3, 5), V(3, 4, 2, 3)"],
)
refused(
    "LinearCrossEntropyLoss",
    "",
    "5",
    "5, 4, 3",
    "5, 4, out_features=3",
    "5, 4, weight='a'",
    "5, 4, reduction='what'",
    "5, 4, label_smoothing=2.0",
    "-1, 4",
    "5, 4, options=3",
    "5, 4, out_features=[2]",
    "0, 4",
    "5, 0",
)
refuses(
    "LinearCrossEntropyLoss",
    "5, 4",
    "R(3, 4), K(4, 3)",
    "R(3, 5), K(4, 2)",
    "R(3, 5)",
    "R(2, 3, 5), K(4, 2, 3)",
    "R(3, 5), K(4, 3) + 4",
    "R(), K(4, )",
    "R(3, 5), F(3)",
)
refuses(
    "LinearCrossEntropyLoss",
    "5, 4, out_features=(2, 3)",
    "R(5), K(4, 2, 3)",
    "R(3, 5), K(4, 3)",
    "R(3, 5), K(4, 3, 3, 2)",
)
refuses("LinearCrossEntropyLoss", "5, 4, reduction='what'", "R(3, 5), K(4, 3)")
