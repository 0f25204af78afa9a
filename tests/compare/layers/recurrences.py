"""Recurrent layers and cells."""

from .table import layer, refused, refuses

OPTIONS = [
    "3, 4",
    "3, 4, 2",
    "3, 4, bias=False",
    "3, 4, batch_first=True",
    "3, 4, bidirectional=True",
    "3, 4, 2, bidirectional=True, batch_first=True",
    "3, 4, 2, dropout=0.3",
    "3, 4, 2, dropout=1.0",
    "3, 4, num_layers=3, bias=False, dropout=0.3, bidirectional=True",
    "3, 4, dtype=T.float64",
]
# The sizes of both the sequence and the batch are 5 where batch_first may be either.
INPUTS = ["R(5, 5, 3)", "R(5, 3)", "R(5, 5, 6)[..., ::2]", "R(1, 5, 3)"]
PACKED = [
    "pack(R(5, 3, 3), [5, 4, 2])",
    "pack(R(5, 3, 3), [2, 5, 3], enforce_sorted=False)",
    "pack(R(3, 5, 3), T.tensor([5, 5, 1]), batch_first=True)",
]
for name in ("RNN", "LSTM", "GRU"):
    layer(name, OPTIONS, INPUTS + PACKED)
    state = "({0}, {1})" if name == "LSTM" else "{0}"
    for option, layers in (
        ("3, 4", 1),
        ("3, 4, 2", 2),
        ("3, 4, 2, bidirectional=True", 4),
        ("3, 4, bidirectional=True, batch_first=True", 2),
    ):
        one = f"R({layers}, 5, 4)"
        layer(
            name,
            option,
            [
                f"R(5, 5, 3), {state.format(one, one)}",
                f"R(5, 3), {state.format(f'R({layers}, 4)', f'R({layers}, 4)')}",
            ],
        )
        one = f"R({layers}, 3, 4)"
        layer(name, option, [f"{PACKED[1]}, {state.format(one, one)}"])
    refused(
        name,
        "",
        "3",
        "3, 4, 0",
        "3, 4, -1",
        "3, -4",
        "3, 0",
        "0, 4",
        "3, 4, dropout=1.5",
        "3, 4, dropout=-0.1",
        "3, 4, dropout='a'",
        "3, 4, dropout=True",
        "3, 4, dropout=0.5",
        "3, 4, proj_size=-1",
        "3, 4, proj_size=4",
        "3, 4, proj_size=5",
        "3, 4.5",
        "3, 4, 1.5",
        "'a', 4",
        "3, 4, what=1",
        "3, 4, dtype=T.int64",
        "3, 4, nonlinearity='what'",
        "3, 4, mode='LSTM'",
        "3, 4, 1, True, False, 0.0, False, 0, None, None, 5",
        "3, 4, 2, dropout=1",
    )
    hidden = state.format("R(1, 4, 4)", "R(1, 5, 4)")
    refuses(
        name,
        "3, 4",
        "R(5, 5, 4)",
        "R(5, 2)",
        "R(3)",
        "R()",
        "R(2, 2, 2, 3)",
        "K(5, 5, 5, 3)",
        "R(5, 5, 3).double()",
        f"R(5, 5, 3), {hidden}",
        f"R(5, 3), {state.format('R(1, 5, 4)', 'R(1, 5, 4)')}",
        f"R(5, 5, 3), {state.format('R(1, 4)', 'R(1, 4)')}",
        f"R(5, 5, 3), {state.format('R(2, 5, 4)', 'R(2, 5, 4)')}",
        "R(5, 5, 3), R(1, 5, 4), 3",
        "",
        "R(0, 5, 3)",
        "pack(R(5, 3, 2), [5, 4, 2])",
        f"R(5, 5, 3), {state.format('R(1, 5, 4)', 'R(1, 5, 3)')}",
        f"pack(R(5, 3, 3), [5, 4, 2]), {state.format('R(1, 2, 4)', 'R(1, 2, 4)')}",
        "R(5, 0, 3)",
    )
layer(
    "RNN",
    [
        "3, 4, nonlinearity='relu'",
        "3, 4, 2, nonlinearity='relu', bidirectional=True",
        "3, 4, 1, 'relu'",
    ],
    INPUTS[:2] + PACKED[:2],
)
layer(
    "LSTM",
    [
        "3, 4, proj_size=2",
        "3, 4, 2, proj_size=2, bidirectional=True",
        "3, 4, 2, proj_size=3, bias=False, batch_first=True",
        "3, 4, 2, dropout=0.3, proj_size=2",
    ],
    INPUTS + PACKED,
)
layer(
    "LSTM",
    "3, 4, proj_size=2",
    ["R(5, 5, 3), (R(1, 5, 2), R(1, 5, 4))", "R(5, 3), (R(1, 2), R(1, 4))"],
)
refuses(
    "LSTM",
    "3, 4, proj_size=2",
    "R(5, 5, 3), (R(1, 5, 4), R(1, 5, 4))",
    "R(5, 5, 3), (R(1, 5, 2), R(1, 5, 2))",
)
refuses(
    "LSTM",
    "3, 4",
    "R(5, 5, 3), R(1, 5, 4)",
    "R(5, 5, 3), (R(1, 5, 4),)",
    "R(5, 3), (R(1, 4), R(1, 5, 4))",
)
refused(
    "RNNBase",
    "'LSTM', 3, 4",
    "'what', 3, 4",
    "'GRU', 3, 4, 2, dropout=0.5",
    "'RNN_RELU', 3, 4",
    "'GRU', 3, 4, proj_size=2",
    "3, 4",
)
refused("RNNCellBase", "3, 4, True, 2", "3, 4", "3, 4, False, 3")
for name in ("RNNCell", "LSTMCell", "GRUCell"):
    state = "({0}, {0})" if name == "LSTMCell" else "{0}"
    layer(
        name,
        ["3, 4", "3, 4, bias=False", "3, 4, dtype=T.float64"],
        [
            "R(2, 3)",
            "R(3)",
            f"R(2, 3), {state.format('R(2, 4)')}",
            f"R(3), {state.format('R(4)')}",
            "R(3, 2).t()",
            f"R(2, 3), {state.format('R(4, 2).t()')}",
        ],
    )
    refused(name, "", "3", "3, -4", "'a', 4", "3, 4, what=1", "3, 4, dtype=T.int64", "3, 0")
    refuses(
        name,
        "3, 4",
        "R(2, 4)",
        "R(2)",
        "R()",
        "R(2, 2, 3)",
        f"R(2, 3), {state.format('R(3, 4)')}",
        f"R(2, 3), {state.format('R(2, 3)')}",
        f"R(2, 3), {state.format('R(4)')}",
        f"R(3), {state.format('R(2, 4)')}",
        f"R(2, 3), {state.format('R(1, 2, 4)')}",
        "K(5, 2, 3)",
        "",
        "R(0, 3)",
        f"R(3), {state.format('R(3)')}",
    )
layer("RNNCell", ["3, 4, nonlinearity='relu'", "3, 4, False, 'relu'"], ["R(2, 3)", "R(3), R(4)"])
refused("RNNCell", "3, 4, nonlinearity='what'")
refuses("RNNCell", "3, 4, nonlinearity='what'", "R(2, 3)")
