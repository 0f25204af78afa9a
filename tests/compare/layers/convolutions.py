"""Convolutions and transposed ones, eager and lazy."""

from .table import layer, refused, refuses

OPTIONS = [
    "4, 6, 3",
    "4, 6, 3, bias=False",
    "4, 6, 1",
    "4, 6, 3, 2",
    "4, 6, 3, padding=1",
    "4, 6, 3, padding='same'",
    "4, 6, 2, padding='same', dilation=3",
    "4, 6, 3, padding='valid'",
    "4, 6, 3, dilation=2",
    "4, 6, 3, groups=2",
    "4, 4, 3, groups=4, bias=False",
    "4, 8, 3, stride=2, padding=1, groups=4",
    "4, 6, 3, padding=1, padding_mode='reflect'",
    "4, 6, 3, padding=2, padding_mode='replicate'",
    "4, 6, 3, padding=1, padding_mode='circular', stride=2",
    "4, 6, 3, padding='same', padding_mode='circular'",
    "4, 6, 2, padding='same', padding_mode='reflect'",
    "4, 6, 3, dtype=T.float64",
]
INPUTS = {
    1: ["R(2, 4, 9)", "R(4, 9)", "R(0, 4, 9)", "R(9, 2, 4).permute(1, 2, 0)"],
    2: ["R(2, 4, 9, 8)", "R(4, 8, 9)", "R(0, 4, 9, 9)", "R(2, 9, 8, 4).permute(0, 3, 1, 2)"],
    3: ["R(2, 4, 7, 8, 7)", "R(4, 7, 7, 7)"],
}
UNEVEN = {
    2: [
        "4, 6, (3, 2)",
        "4, 6, (3, 2), (2, 1), (1, 0), (1, 2)",
        "4, 2, (1, 3), padding=(0, 2), padding_mode='circular'",
        "4, 6, (2, 4), padding='same'",
    ],
    3: [
        "4, 6, (3, 2, 1)",
        "4, 6, (3, 2, 1), (2, 1, 2), (1, 0, 1), (1, 2, 1)",
        "4, 2, (1, 3, 2), padding=(0, 2, 1), padding_mode='replicate'",
    ],
}
TRANSPOSED = [
    "4, 6, 3",
    "4, 6, 3, bias=False",
    "4, 6, 3, 2",
    "4, 6, 3, stride=2, padding=1",
    "4, 6, 3, stride=2, padding=1, output_padding=1",
    "4, 6, 3, dilation=2",
    "4, 6, 3, dilation=2, output_padding=1",
    "4, 6, 3, groups=2",
    "4, 4, 2, 2, groups=4",
]
SMALL = {
    1: ["R(2, 4, 5)", "R(4, 5)", "R(0, 4, 5)", "R(5, 2, 4).permute(1, 2, 0)"],
    2: ["R(2, 4, 5, 4)", "R(4, 4, 5)", "R(0, 4, 3, 3)", "R(2, 5, 4, 4).permute(0, 3, 1, 2)"],
    3: ["R(2, 4, 3, 4, 3)", "R(4, 3, 3, 3)"],
}
for n in (1, 2, 3):
    name = f"Conv{n}d"
    layer(name, OPTIONS + UNEVEN.get(n, []), INPUTS[n])
    refused(
        name,
        "",
        "3, 4",
        "3, 4, 3, groups=2",
        "4, 3, 3, groups=2",
        "4, 4, 3, groups=0",
        "4, 4, 3, groups=-1",
        "3, 4, 3, padding='what'",
        "3, 4, 3, 2, padding='same'",
        "3, 4, 3, padding_mode='what'",
        "3, 4, (1, 2, 3, 4)",
        "3, 4, 'a'",
        "3, 4, 3, stride='a'",
        "0, 4, 3",
        "3, 0, 3",
        "-1, 4, 3",
        "3, 4, 0",
        "3, 4, -1",
        "3, 4, 3, padding=None",
        "3, 4, 3, dtype=T.int64",
        "3, 4, 3, what=2",
        "3, 4, 3, (2, 2)",
        "3, 4, 3, padding=(1, 2)",
    )
    shape = ", ".join(["9"] * n)
    refuses(
        name,
        "4, 6, 3",
        "R(9)",
        "R()",
        f"R(2, 3, {shape})",
        f"R(2, 2, 4, {shape})",
        f"R(3, {shape})",
        f"R(2, 4, {', '.join(['2'] * n)})",
        f"K(4, 2, 4, {shape})",
        f"R(2, 4, {shape}).double()",
        f"R(2, 4, {', '.join(['0'] * n)})",
        "None",
        "",
    )
    refuses(name, "4, 6, 3, stride=0", f"R(2, 4, {shape})")
    refuses(name, "4, 6, 3, padding=-1", f"R(2, 4, {shape})")
    refuses(name, "4, 6, 3, dilation=0", f"R(2, 4, {shape})")
    refuses(name, "4, 6, 3, padding=7, padding_mode='reflect'", f"R(2, 4, {', '.join(['4'] * n)})")
    refuses(name, "4, 6, 3, padding=7, padding_mode='circular'", f"R(2, 4, {', '.join(['4'] * n)})")
    name = f"ConvTranspose{n}d"
    layer(name, TRANSPOSED, SMALL[n])
    size = [7, 10, 9][:n]
    layer(
        name,
        "4, 6, 3, 2, 1",
        [
            f"R(2, 4, {', '.join(['4', '5', '5'][:n])}), output_size={size}",
            f"R(2, 4, {', '.join(['4', '5', '5'][:n])}), [2, 6, {', '.join(map(str, size))}]",
        ],
    )
    refused(
        name,
        "",
        "3, 4",
        "3, 4, 3, groups=2",
        "4, 3, 3, groups=2",
        "3, 4, 3, padding_mode='reflect'",
        "3, 4, 3, padding='same'",
        "4, 4, 3, groups=0",
        "3, 4, 0",
        "3, 4, 3, output_padding='a'",
    )
    refuses(
        name,
        "4, 6, 3, 2",
        "R(9)",
        f"R(2, 3, {shape})",
        f"R(2, 2, 4, {shape})",
        f"R(2, 4, {shape}), [3]",
        f"R(2, 4, {shape}), {[3] * n}",
        f"R(2, 4, {shape}), {[30] * n}",
        f"K(4, 2, 4, {shape})",
        "",
    )
    refuses(name, "4, 6, 3, output_padding=1", f"R(2, 4, {shape})")
    refuses(name, "4, 6, 3, 2, output_padding=2", f"R(2, 4, {shape})")
    refuses(name, "4, 6, 3, stride=0", f"R(2, 4, {shape})")
    lazy = INPUTS[n][:2]
    layer(
        f"LazyConv{n}d",
        [
            "6, 3",
            "6, 3, bias=False",
            "6, 3, 2, 1, groups=2",
            "6, 3, padding=1, padding_mode='circular'",
            "6, 3, padding='same'",
        ],
        lazy,
    )
    layer(
        f"LazyConvTranspose{n}d",
        ["6, 3", "6, 3, bias=False", "6, 3, 2, 1, 1, groups=2", "6, 3, dilation=2"],
        SMALL[n][:2],
    )
    refused(
        f"LazyConv{n}d",
        "",
        "3",
        "6, 3, groups=4",
        "6, 3, padding_mode='what'",
        "6, 3, dtype=T.int64",
    )
    refused(f"LazyConvTranspose{n}d", "", "3", "6, 3, groups=4", "6, 3, padding_mode='reflect'")
    refuses(f"LazyConv{n}d", "6, 3", "R(3)", "R(2, 3)" if n > 1 else "R(2, 2, 3, 4)", "", "3")
    refuses(f"LazyConv{n}d", "6, 3, groups=3", f"R(2, 4, {shape})")
layer(
    "LazyLinear",
    ["4", "4, bias=False", "4, dtype=T.float64"],
    ["R(2, 3)", "R(3)", "R(2, 5, 3)", "R(0, 3)"],
)
refused("LazyLinear", "", "'a'", "3, 4, 5, 6, 7")
refuses("LazyLinear", "4", "R()", "K(3, 2, 2)", "", "3")
