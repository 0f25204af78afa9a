"""Pooling of every kind, and its inverses."""

from .table import layer, refused, refuses

SHAPES = {
    1: ["D(2, 3, 9)", "D(3, 9)", "D(9, 2, 3).permute(1, 2, 0)"],
    2: ["D(2, 3, 9, 8)", "D(3, 8, 9)", "D(2, 9, 8, 3).permute(0, 3, 1, 2)"],
    3: ["D(2, 3, 6, 7, 6)", "D(3, 7, 6, 6)"],
}
NONE = {1: "R(0, 3, 9)", 2: "R(0, 3, 9, 9)", 3: "R(0, 3, 9, 9, 9)"}
for n in (1, 2, 3):
    shape = ", ".join(["9"] * n)
    layer(
        f"MaxPool{n}d",
        [
            "2",
            "3, 2",
            "3, 2, 1",
            "3, stride=1, padding=1, dilation=2",
            "2, ceil_mode=True",
            "3, 2, return_indices=True",
            "2, 3, ceil_mode=True, return_indices=True",
        ],
        [*SHAPES[n], NONE[n]],
    )
    layer(
        f"AvgPool{n}d",
        [
            "2",
            "3, 2",
            "3, 2, 1",
            "3, 2, 1, count_include_pad=False",
            "2, 3, ceil_mode=True",
            "3, 2, 1, True, False",
        ]
        + ([] if n == 1 else ["2, divisor_override=3", "3, 2, 1, True, True, 5"]),
        [*SHAPES[n], NONE[n]],
    )
    layer(
        f"LPPool{n}d",
        ["2, 3", "1, 2", "2, 3, 1", "3, 2, stride=3, ceil_mode=True", "2.5, 2"],
        SHAPES[n],
    )
    layer(
        f"AdaptiveAvgPool{n}d",
        ["1", "4", "12"]
        + (
            []
            if n == 1
            else [
                f"({', '.join(['3', '5', '2'][:n])})",
                f"({', '.join(['None', '3', 'None'][:n])})",
            ]
        ),
        [*SHAPES[n], NONE[n]],
    )
    layer(
        f"AdaptiveMaxPool{n}d",
        ["1", "4", "5, return_indices=True"]
        + (
            []
            if n == 1
            else [
                f"({', '.join(['3', '5', '2'][:n])})",
                f"({', '.join(['None', '3', 'None'][:n])}), True",
            ]
        ),
        [*SHAPES[n], NONE[n]],
    )
    refused(
        f"MaxPool{n}d",
        "",
        "'a'",
        "0",
        "-1",
        "2, 0",
        "3, padding=2",
        "3, dilation=0",
        "(1, 2, 3, 4)",
        "3, what=1",
    )
    refused(f"AvgPool{n}d", "", "'a'", "0", "3, 0", "3, padding=2", "(1, 2, 3, 4)")
    refused(f"LPPool{n}d", "", "2", "2, 'a'")
    refused(f"AdaptiveAvgPool{n}d", "", "'a'", "-1", "None", "(1, 2, 3, 4)")
    refused(f"AdaptiveMaxPool{n}d", "", "-1", "3, 4, 5")
    for kind in ("MaxPool", "AvgPool"):
        for option in (
            "2, stride=0",
            "3, padding=2",
            "12",
            "0",
            "-1",
            "(1, 2, 3, 4)",
            "3, 2, -1",
            "'a'",
        ):
            refuses(f"{kind}{n}d", option, f"R(2, 3, {shape})")
        refuses(
            f"{kind}{n}d",
            "2",
            "R(3)",
            "R()",
            f"R(2, 2, 3, {shape})",
            f"K(5, 2, 3, {shape})",
            f"R(2, 0, {shape})",
            f"R(2, 3, {', '.join(['0'] * n)})",
            "",
            "None",
        )
    refuses(f"MaxPool{n}d", "3, dilation=0", f"R(2, 3, {shape})")
    refuses(f"LPPool{n}d", "2, 12", f"R(2, 3, {shape})")
    refuses(f"LPPool{n}d", "0, 2", f"R(2, 3, {shape})")
    for kind in ("AdaptiveAvgPool", "AdaptiveMaxPool"):
        for option in ("-1", "(1, 2, 3, 4)", "0", "'a'"):
            refuses(f"{kind}{n}d", option, f"R(2, 3, {shape})")
        refuses(
            f"{kind}{n}d",
            "2",
            "R(3)",
            f"R(2, 2, 3, {shape})",
            f"K(5, 2, 3, {shape})",
            f"R(2, 3, {', '.join(['0'] * n)})",
            "",
        )
    even = ", ".join(["4"] * n)
    pooled = f"*nn.MaxPool{n}d(2, return_indices=True)(D(2, 3, {even}))"
    layer(
        f"MaxUnpool{n}d",
        ["2", "2, 2", "(" + "2, " * n + ")"],
        [pooled, pooled.replace("2, 3,", "3,")],
    )
    layer(
        f"MaxUnpool{n}d",
        ["2"],
        [
            f"{pooled}, output_size=[{', '.join(['5'] * n)}]",
            f"{pooled}, output_size=[2, 3, {', '.join(['5'] * n)}]",
        ],
    )
    refuses(
        f"MaxUnpool{n}d",
        "2",
        f"{pooled}, [9{', 9' * (n - 1)}]",
        f"{pooled}, [5, 5, 5, 5, 5, 5]",
        "R(3), K(3, 3)",
        f"R(2, 3, {even}), K(3, 2, 3, {', '.join(['3'] * n)})",
        f"R(2, 3, {even}), F(2, 3, {even})",
        f"R(2, 3, {even}), K(3, 2, 3, {even}) + 9999",
        f"R(2, 3, {even})",
    )
layer("MaxPool2d", ["(3, 2), (2, 1), (1, 0)", "(2, 3), padding=(0, 1), dilation=(2, 1)"], SHAPES[2])
layer("AvgPool2d", ["(3, 2), (2, 1), (1, 0)", "(2, 3), padding=(1, 1)"], SHAPES[2])
for n, sizes, smaller in (
    (2, "D(2, 3, 9, 8)", "D(3, 9, 8)"),
    (3, "D(2, 3, 6, 7, 6)", "D(3, 6, 7, 6)"),
):
    layer(
        f"FractionalMaxPool{n}d",
        [
            "2, 3",
            "2, output_ratio=0.5",
            "3, output_size=2, return_indices=True",
            "2, output_ratio=(" + "0.5, " * n + ")",
        ],
        [sizes, smaller],
    )
    layer(f"FractionalMaxPool{n}d", [f"2, 3, _random_samples=T.full((2, 3, {n}), 0.4)"], [sizes])
    refused(
        f"FractionalMaxPool{n}d",
        "2",
        "2, 3, 0.5",
        "2, output_ratio=1.5",
        "2, output_ratio=0",
        "",
        "2, (1, 2, 3, 4)",
    )
    refuses(f"FractionalMaxPool{n}d", "2, 30", sizes)
    refuses(
        f"FractionalMaxPool{n}d",
        "2, 3",
        "R(3)",
        "",
        "K(5, 2, 3, 9, 9, 9)",
        "R(2, 0, 5, 5, 5)"[: -4 if n == 2 else None] + (")" if n == 2 else ""),
    )
