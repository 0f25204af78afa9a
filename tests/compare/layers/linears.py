"""Linear and bilinear maps, identities, containers, dropout, distances."""

from .table import layer, refused, refuses

layer("Identity", ["", "3, a=4"], ["R(2, 3)", "R()", "K(5, 2)"])
layer(
    "Linear",
    [
        "3, 4",
        "3, 4, bias=False",
        "3, 0",
        "3, 1",
        "in_features=3, out_features=2",
        "3, 4, dtype=T.float64",
    ],
    [
        "R(3)",
        "R(2, 3)",
        "R(0, 3)",
        "R(5, 2, 3)",
        "R(3, 2).t()",
        "R(6, 6)[::2, ::2]",
        "R(2, 1, 3).expand(2, 4, 3)",
    ],
)
layer("Linear", ["0, 4"], ["R(2, 0)", "R(0)"])
refused(
    "Linear",
    "",
    "3",
    "'a', 3",
    "3, -1",
    "-3, 1",
    "3, 4, 5, 6, 7, 8",
    "3.0, 4",
    "3, 4, what=1",
    "3, 4, device='cuda:99x'",
    "3, 4, dtype=T.int64",
    "None, 3",
)
refuses(
    "Linear",
    "3, 4",
    "R(2, 4)",
    "R()",
    "K(5, 2, 3)",
    "3",
    "",
    "R(2, 3), R(2)",
    "None",
    "R(2, 3).double()",
    "[1., 2., 3.]",
)
layer(
    "Bilinear",
    ["3, 4, 5", "3, 4, 5, bias=False", "3, 4, 1"],
    [
        "R(2, 3), R(2, 4)",
        "R(3), R(4)",
        "R(0, 3), R(0, 4)",
        "R(2, 5, 3), R(2, 5, 4)",
        "R(3, 2).t(), R(4, 2).t()",
    ],
)
refused("Bilinear", "0, 3, 4", "-1, 3, 4", "3, 4", "3, 0, 4")
refuses(
    "Bilinear",
    "3, 4, 5",
    "R(2, 3), R(3, 4)",
    "R(2, 4), R(2, 4)",
    "R(2, 3), R(2, 3)",
    "R(2, 3)",
    "R(2, 2, 3), R(2, 4)",
)

for kind, inputs in {
    "Dropout": ["R(3)", "R(40, 5)", "R(0, 2)", "R(5, 6).t()", "R()"],
    "AlphaDropout": ["R(40)", "R(4, 5)", "R(0, 2)", "R(5, 6).t()"],
    "Dropout1d": ["R(4, 5, 6)", "R(4, 6)", "R(0, 3, 4)", "R(2, 3)"],
    "Dropout2d": ["R(4, 5, 3, 2)", "R(5, 3, 2)", "R(0, 2, 3, 3)", "R(4, 5)", "R(2, 3, 2, 2, 2)"],
    "Dropout3d": ["R(4, 5, 3, 2, 2)", "R(5, 3, 2, 2)", "R(4, 5)"],
    "FeatureAlphaDropout": ["R(4, 5, 3, 2, 2)", "R(5, 3, 2, 2)", "R(4, 5)"],
}.items():
    layer(kind, ["", "0.3", "p=0", "p=1", "0.0", "1.0", "p=0.5, inplace=False"], inputs)
    layer(kind, ["0.3, inplace=True", "inplace=True"], [f"{one} * 1" for one in inputs[:2]])
    refused(kind, "-0.1", "1.1", "p=2", "'a'", "0.1, True, 3", "None")
    refuses(kind, "0.3, inplace=True", "R(4, 5, 3, 2)", "R(4, 5)")
    refuses(kind, "0.5", "R()", "K(4, 3, 3)", "3")

layer(
    "CosineSimilarity",
    ["", "dim=0", "-1, eps=1e-3", "1, 10.0"],
    [
        "R(3, 4), R(3, 4)",
        "R(3, 4, 5), R(3, 4, 5)",
        "R(1, 4), R(3, 4)",
        "R(0, 3), R(0, 3)",
        "R(4, 3).t(), R(4, 3).t()",
    ],
)
layer("CosineSimilarity", ["0"], ["R(5), R(5)", "F(3) * 0, R(3)"])
refuses("CosineSimilarity", "", "R(3), R(3)", "R(2, 3), R(2, 4)", "R(2, 3)", "K(3, 2, 2), R(2, 2)")
layer(
    "PairwiseDistance",
    ["", "p=1", "p=2.5", "2, 1e-3", "p=2, keepdim=True", "p=float('inf')", "p=0.5, eps=0"],
    [
        "R(3, 4), R(3, 4)",
        "R(4), R(4)",
        "R(2, 3, 4), R(2, 3, 4)",
        "R(3, 4), R(4)",
        "R(0, 3), R(0, 3)",
        "R(4, 3).t(), R(4, 3).t()",
    ],
)
refuses("PairwiseDistance", "", "R(2, 3), R(2, 4)", "R(2, 3)")

layer(
    "Sequential",
    [
        "",
        "nn.Linear(3, 3), nn.ReLU()",
        "nn.Linear(3, 3), nn.Dropout(0.3), nn.Linear(3, 2)",
        "nn.Sequential(nn.Linear(3, 2)), nn.Tanh()",
    ],
    ["R(2, 3)", "R(3)"],
)
refused("Sequential", "3", "nn.ReLU", "nn.ReLU(), None", "[nn.ReLU()]", "{'a': nn.ReLU()}")
refused(
    "ModuleList",
    "3",
    "[3]",
    "[nn.ReLU]",
    "[nn.ReLU(), None]",
    "nn.ReLU()",
    "[nn.Linear(2, 3)] * 3",
    "(nn.Tanh() for _ in range(2))",
)
refused(
    "ModuleDict",
    "3",
    "{'a': 3}",
    "{3: nn.ReLU()}",
    "[('a', nn.ReLU())]",
    "[('a', nn.ReLU(), 3)]",
    "[nn.ReLU()]",
    "{'a.b': nn.ReLU()}",
    "{'': nn.ReLU()}",
    "{'keys': nn.ReLU()}",
)
refused(
    "ParameterList",
    "3",
    "[3, T.ones(2)]",
    "[nn.Parameter(T.ones(2)), 'a', None]",
    "T.ones(2, 3)",
    "[nn.Parameter(T.ones(1))] * 2",
)
refused(
    "ParameterDict",
    "3",
    "{'a': 3, 'b': T.ones(2)}",
    "{3: T.ones(1)}",
    "[('a', T.ones(1))]",
    "[('a',)]",
    "[3]",
    "{'a': nn.Parameter(T.ones(2)), 'b': None}",
)
refused("Module", "3", "a=3", "")
refused("Container", "", "a=nn.ReLU()", "a=3", "3")
layer("DataParallel", ["nn.Linear(3, 2)", "nn.Linear(3, 2), None, None, 0"], ["R(4, 3)", "R(0, 3)"])
