"""Normalisation layers, eager and lazy."""

from .table import layer, refused, refuses

SHAPES = {
    1: ["R(5, 4)", "R(5, 4, 3)", "R(3, 5, 4).permute(1, 2, 0)"],
    2: ["R(3, 4, 5, 2)", "R(3, 5, 2, 4).permute(0, 3, 1, 2)"],
    3: ["R(3, 4, 2, 2, 3)"],
}
ONE = {1: "R(1, 4)", 2: "R(1, 4, 1, 1)", 3: "R(1, 4, 1, 1, 1)"}
OPTIONS = [
    "4",
    "4, affine=False",
    "4, bias=False",
    "4, track_running_stats=False",
    "4, momentum=None",
    "4, momentum=0.5, eps=0.1",
    "4, momentum=0",
    "4, 1e-3, 0.2, False, False",
    "4, affine=False, momentum=None",
]
for n in (1, 2, 3):
    name = f"BatchNorm{n}d"
    layer(name, OPTIONS, SHAPES[n])
    layer(name, ["4", "4, track_running_stats=False"], [ONE[n], ONE[n].replace("(1,", "(0,")])
    refused(
        name, "", "-1", "'a'", "4, 'a'", "4, dtype=T.int64", "0", "4, what=3", "4, momentum='a'"
    )
    refuses(
        name,
        "4",
        "R(4)",
        "R()",
        "R(2, 3, 5)",
        "R(5, 3)",
        "R(2, 3, 5, 5)",
        "R(2, 3, 5, 5, 5)",
        "R(2, 2, 2, 2, 2, 2)",
        "K(5, 3, 4)",
        "",
        ONE[n],
    )
    spread = ", ".join(["3", "2", "2"][:n])
    inputs = [f"R(5, 4, {spread})", f"R(4, {spread})"]
    if n < 3:
        inputs.append(
            f"R(5, {spread}, 4).permute(0, {n + 1}, {', '.join(map(str, range(1, n + 1)))})"
        )
    name = f"InstanceNorm{n}d"
    layer(
        name,
        [
            "4",
            "4, affine=True",
            "4, affine=True, bias=False",
            "4, track_running_stats=True",
            "4, momentum=0.5, eps=0.1, affine=True, track_running_stats=True",
            "4, 1e-3, 0.0, True, True",
        ],
        inputs,
    )
    layer(name, ["4"], [f"R(0, 4, {spread})", f"R(2, 3, {spread})"])
    refused(name, "", "-1", "'a'", "4, dtype=T.int64")
    refuses(
        name,
        "4",
        "R(4)",
        "R(2, 4)",
        "R()",
        f"R(2, 4, {', '.join(['1'] * n)})",
        f"R(2, 2, 2, 4, {spread})",
        f"K(5, 2, 4, {spread})",
        "",
    )
    refuses(name, "4, affine=True", f"R(2, 3, {spread})", f"R(3, {spread})")
    refuses(name, "4, track_running_stats=True", f"R(2, 3, {spread})")
    layer(
        f"LazyBatchNorm{n}d",
        ["", "affine=False", "bias=False", "track_running_stats=False", "1e-3, None"],
        SHAPES[n][:2],
    )
    layer(
        f"LazyInstanceNorm{n}d",
        [
            "",
            "affine=False",
            "bias=False",
            "affine=True, track_running_stats=True",
            "1e-3, 0.3, True, True",
        ],
        inputs[:2],
    )
    refuses(f"LazyBatchNorm{n}d", "", "R()", "R(3)", "R(2, 2, 2, 2, 2, 2)", "")
    refuses(f"LazyInstanceNorm{n}d", "", "R()", "R(3)", "R(2, 2, 2, 2, 2, 2)", "")
    refused(f"LazyBatchNorm{n}d", "4, 5, 6, 7, 8, 9, 10", "what=3")
layer("SyncBatchNorm", OPTIONS[:7], ["R(5, 4)", "R(3, 4, 2, 2)", "R(3, 4, 5)"])
refuses("SyncBatchNorm", "4", "R(4)", "R()", "R(1, 4)", "R(2, 3)")
layer(
    "LayerNorm",
    [
        "4",
        "(4,)",
        "[3, 4]",
        "4, 1e-2",
        "4, elementwise_affine=False",
        "4, bias=False",
        "(3, 4), bias=False",
        "T.Size([3, 4]), 0.1, False",
        "4, dtype=T.float64",
    ],
    [
        "R(2, 3, 4)",
        "R(3, 4)",
        "R(0, 3, 4)",
        "R(4, 3, 2).transpose(0, 2)",
        "R(5, 2, 3, 4)",
        "R(4, 3).t()",
    ],
)
refused("LayerNorm", "", "-1", "'a'", "()", "3.0", "4, dtype=T.int64", "None", "4, what=1", "0")
refuses("LayerNorm", "4", "R(3)", "R()", "R(2, 5)", "K(5, 2, 4)", "", "R(4, 2)", "R(2, 4).double()")
refuses("LayerNorm", "(3, 4)", "R(4)", "R(4, 3)")
layer(
    "RMSNorm",
    [
        "4",
        "(4,)",
        "[3, 4]",
        "4, 1e-2",
        "4, elementwise_affine=False",
        "(3, 4), None, False",
        "4, eps=None, dtype=T.float64",
    ],
    ["R(2, 3, 4)", "R(3, 4)", "R(0, 3, 4)", "R(4, 3, 2).transpose(0, 2)", "R(4, 3).t()"],
)
refused("RMSNorm", "", "-1", "'a'", "()", "4, bias=False")
refuses("RMSNorm", "4", "R(3)", "R()", "R(2, 5)", "K(5, 2, 4)", "")
layer(
    "GroupNorm",
    [
        "2, 4",
        "1, 4",
        "4, 4",
        "2, 4, affine=False",
        "2, 4, bias=False",
        "2, 4, 0.1",
        "2, 4, dtype=T.float64",
    ],
    [
        "R(3, 4)",
        "R(3, 4, 5)",
        "R(3, 4, 2, 3)",
        "R(0, 4, 3)",
        "R(3, 5, 4).transpose(1, 2)",
        "R(2, 3, 2, 4).permute(0, 3, 1, 2)",
        "R(2, 4, 2, 2, 2)",
    ],
)
refused("GroupNorm", "", "3, 4", "0, 4", "-1, 4", "2", "'a', 4", "8, 4", "2, 4, dtype=T.int64")
refuses(
    "GroupNorm",
    "2, 4",
    "R(4)",
    "R()",
    "R(2, 3)",
    "R(1, 4)",
    "K(5, 2, 4, 3)",
    "",
    "R(2, 8, 3)",
    "R(2, 4, 3).double()",
)
layer(
    "LocalResponseNorm",
    ["2", "3", "3, alpha=0.1, beta=0.5, k=2.0", "1", "7, 1.0"],
    ["R(2, 4, 3)", "R(2, 4, 3, 3)", "R(2, 4, 2, 2, 2)", "R(0, 4, 3)", "R(2, 3, 4).transpose(1, 2)"],
)
refused("LocalResponseNorm", "", "'a'", "0", "-2")
refuses("LocalResponseNorm", "2", "R(3)", "R(2, 3)", "R()", "K(4, 2, 3, 3)", "")
refuses("LocalResponseNorm", "0", "R(2, 4, 3)")
refuses("LocalResponseNorm", "-2", "R(2, 4, 3)")
layer("CrossMapLRN2d", ["3", "3, 0.1, 0.5, 2", "1"], ["R(2, 4, 3, 3)", "R(1, 2, 3, 3)"])
refuses("CrossMapLRN2d", "3", "R(3)", "R(4, 3, 3)", "R(2, 4, 3, 3, 2)", "")
