"""Activations and softmaxes."""

from .table import layer, refused, refuses

INPUTS = [
    "R(3, 4)",
    "R()",
    "R(0, 3)",
    "R(5, 4).t()",
    "R(2, 3, 4, 2)",
    "R(40)[::3]",
    "T.tensor([float('nan'), float('inf'), -float('inf'), 0.0, -0.0])",
]
PLAIN = {
    "CELU": ["", "0.5", "alpha=2.0"],
    "ELU": ["", "0.5", "alpha=2.0"],
    "GELU": ["", "'none'", "approximate='tanh'"],
    "Hardshrink": ["", "0.1", "lambd=1.0"],
    "Hardsigmoid": [""],
    "Hardswish": [""],
    "Hardtanh": ["", "-0.5, 0.7", "min_val=0, max_val=6"],
    "LeakyReLU": ["", "0.2", "negative_slope=-0.1"],
    "LogSigmoid": [""],
    "Mish": [""],
    "PReLU": ["", "init=0.1"],
    "RReLU": ["", "0.1, 0.4", "0.2, 0.2"],
    "ReLU": [""],
    "ReLU6": [""],
    "SELU": [""],
    "SiLU": [""],
    "Sigmoid": [""],
    "Softplus": ["", "2", "beta=0.5, threshold=0.3"],
    "Softshrink": ["", "0.1", "lambd=1.0"],
    "Softsign": [""],
    "Tanh": [""],
    "Tanhshrink": [""],
    "Threshold": ["0.1, 20", "threshold=-0.3, value=0"],
}
for name, options in PLAIN.items():
    layer(name, options, INPUTS)
    refuses(name, options[0], "K(5, 3, 2)", "B(3)", "", "3", "R(2).to(T.complex64)", "None")
    refused(name, "1, 2, 3, 4, 5, 6", "what=2", "'a'")
for name in (
    "CELU",
    "ELU",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "Mish",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Threshold",
):
    option = "0.1, 20, inplace=True" if name == "Threshold" else "inplace=True"
    layer(name, option, ["R(3, 4) * 1", "F(3, 4)", "(R(5, 4) * 1).t()"])
    refuses(name, option, "R(3, 4)", "F(3, 1).expand(3, 4)", "K(5, 3)")
layer(
    "PReLU",
    ["3", "3, 0.1"],
    ["R(3)", "R(2, 3)", "R(2, 3, 4)", "R(2, 3, 2, 2)", "R(0, 3)", "R(2, 4, 3).transpose(1, 2)"],
)
refuses("PReLU", "3", "R(2, 4)", "R()", "R(4)", "R(2, 4, 3)")
refused("PReLU", "-1", "0", "dtype=T.int64")
refused("Hardtanh", "1, -1", "1, 1", "min_value=-2.0", "max_value=3.0", "min_value=-2, max_value=3")
refused("RReLU", "0.5, 0.1", "-1, 2", "0.1, 'a'")
refused("CELU", "0", "alpha=0.0", "alpha='a'")
refuses("CELU", "0.0", "R(3)")
refuses("RReLU", "0.5, 0.1", "R(3)")
refuses("GELU", "'what'", "R(3)")
refuses("Softshrink", "-1", "R(3)")
refuses("Softplus", "0", "R(3)")
refuses("ELU", "'a'", "R(3)")
refused("Threshold", "", "1", "'a', 'b'")
refuses("Threshold", "'a', 3", "R(3)")
for name in ("Softmax", "LogSoftmax", "Softmin"):
    layer(
        name,
        ["", "0", "dim=-1", "1", "None"],
        ["R(3, 4)", "R(2, 3, 4)", "R(4, 3).t()", "R(2, 3, 4, 2)", "R(0, 3)"],
    )
    layer(name, ["0", "-1", ""], ["R()", "R(5)", "R(0)", "30 * R(6)"])
    refuses(name, "5", "R(3, 4)", "R()")
    refuses(name, "'a'", "R(3, 4)")
    refuses(name, "1", "R(3)", "K(5, 2, 3)", "B(2, 3)", "", "3", "None")
layer(
    "Softmax2d",
    "",
    ["R(2, 3, 4, 5)", "R(3, 4, 5)", "R(2, 4, 5, 3).permute(0, 3, 1, 2)", "R(0, 3, 4, 5)"],
)
refuses("Softmax2d", "", "R(3, 4)", "R(2, 2, 2, 2, 2)", "K(5, 2, 3, 4)", "R()")
layer("GLU", ["", "0", "dim=1", "-2"], ["R(4, 6)", "R(4, 6, 2)", "R(6, 4).t()", "R(0, 4)"])
refuses("GLU", "", "R(3)", "R()", "K(5, 2, 4)", "R(2, 3)")
refuses("GLU", "3", "R(2, 2)")
layer("LogSigmoid", "", ["100 * R(5)", "-100 * P(5)"])
layer(
    "AdaptiveLogSoftmaxWithLoss",
    [
        "6, 20, [5, 10]",
        "6, 20, [4]",
        "6, 20, [5, 10, 15], div_value=2.0",
        "6, 20, [5, 10], head_bias=True",
        "6, 20, [1, 2], 4.0, True",
    ],
    ["R(7, 6), K(20, 7)", "R(6), K(20, )", "R(7, 6), K(4, 7)", "R(6, 7).t(), K(20, 7)"],
)
refused(
    "AdaptiveLogSoftmaxWithLoss",
    "6, 20, []",
    "6, 20, [10, 5]",
    "6, 20, [5, 5]",
    "6, 20, [0]",
    "6, 20, [20]",
    "6, 20, [5, 20]",
    "6, 20, [5.5]",
    "6, 20, [-1, 4]",
    "6, 20",
    "6, 20, 5",
)
refuses(
    "AdaptiveLogSoftmaxWithLoss",
    "6, 20, [5, 10]",
    "R(7, 6), K(20, 6)",
    "R(7, 5), K(20, 7)",
    "R(7, 6), K(20, 7) + 20",
    "R(7, 6), F(7)",
    "R(2, 7, 6), K(20, 2, 7)",
    "R(7, 6), K(20, 7, 1)",
    "R(7, 6)",
    "R(6), K(20, 1)",
    "R(7, 6), K(3, 7) - 5",
)
