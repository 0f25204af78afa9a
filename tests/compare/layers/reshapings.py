"""Layers that move entries: flattening, folding, shuffling, upsampling."""

from .table import layer, refused, refuses

layer(
    "Flatten",
    ["", "0", "0, 1", "start_dim=2, end_dim=3", "-2", "1, -2"],
    ["R(2, 3, 4, 5)", "R(0, 3, 2, 2)", "R(5, 4, 3, 2).permute(3, 2, 1, 0)", "R(2, 3, 1, 1)"],
)
refuses("Flatten", "", "R()", "R(3)", "K(4, 2, 3)", "3", "")
refuses("Flatten", "5", "R(2, 3)")
refuses("Flatten", "2, 1", "R(2, 3, 4)")
refuses("Flatten", "0, -1", "R()")
layer(
    "Unflatten",
    ["1, (2, 3)", "1, [2, -1]", "dim=-1, unflattened_size=(3, 2)", "1, T.Size([6, 1])"],
    ["R(4, 6)", "R(0, 6)", "R(6, 4).t()"],
)
refused(
    "Unflatten",
    "1",
    "1, 3",
    "1, 'ab'",
    "'a', (2, 3)",
    "1, (2, 'a')",
    "1, (2.0, 3)",
    "1.5, (2, 3)",
    "1, ()",
    "None, (2, 3)",
    "'a', (('b', 2), ('c', 3))",
    "1, (('b', 2),)",
    "'a', ((2, 3),)",
)
refuses("Unflatten", "1, (2, 4)", "R(4, 6)", "R(6)")
refuses("Unflatten", "1, (-1, -1)", "R(4, 6)")
refuses("Unflatten", "3, (2, 3)", "R(4, 6)")
refuses("Unflatten", "1, ()", "R(4, 6)")
layer(
    "Unfold",
    ["2", "(2, 3)", "2, dilation=2", "2, padding=1", "2, stride=2", "(2, 3), 1, (1, 0), (2, 1)"],
    ["R(2, 3, 5, 6)", "R(3, 5, 6)", "R(0, 3, 5, 6)", "R(2, 5, 6, 3).permute(0, 3, 1, 2)"],
)
refused("Unfold", "", "'a'", "2, 3, 4, 5, 6")
refuses(
    "Unfold",
    "2",
    "R(3)",
    "R(2, 3)",
    "R(2, 2, 3, 5, 6)",
    "K(4, 2, 3, 5, 6)",
    "R(2, 3, 1, 1)",
    "R(2, 0, 3, 3)",
    "",
)
for option in ("0", "-1", "(1, 2, 3)", "2, stride=0", "2, dilation=0", "2, padding=-1", "9"):
    refuses("Unfold", option, "R(2, 3, 5, 6)")
layer(
    "Fold",
    ["(4, 5), (2, 3)", "[4, 5], (2, 3)"],
    ["R(2, 18, 9)", "R(18, 9)", "R(0, 18, 9)", "R(2, 9, 18).transpose(1, 2)"],
)
layer("Fold", ["5, 2, 2, 1", "(5, 5), 2, dilation=2, padding=1"], ["R(2, 8, 25)", "R(8, 25)"])
layer("Fold", ["4, 2, stride=2"], ["R(2, 8, 4)", "R(4, 4)"])
refused("Fold", "", "4", "'a', 2")
refuses(
    "Fold",
    "(4, 5), (2, 3)",
    "R(2, 18, 8)",
    "R(2, 17, 9)",
    "R(9)",
    "R(2, 2, 18, 9)",
    "K(3, 2, 18, 9)",
    "",
)
for option in (
    "(1, 1), 2",
    "4, 0",
    "4, 2, stride=0",
    "4, (1, 2, 3)",
    "(4, 5, 6), 2",
    "-1, 2",
    "4, 2, padding=-1",
):
    refuses("Fold", option, "R(2, 8, 4)")
layer(
    "PixelShuffle",
    ["2", "1", "upscale_factor=3"],
    [
        "R(2, 36, 2, 3)",
        "R(36, 2, 3)",
        "R(0, 36, 2, 2)",
        "R(2, 2, 3, 36).permute(0, 3, 1, 2)",
        "R(2, 2, 36, 1, 2)",
    ],
)
layer(
    "PixelUnshuffle",
    ["2", "1", "downscale_factor=3"],
    [
        "R(2, 3, 6, 6)",
        "R(3, 6, 12)",
        "R(0, 2, 6, 6)",
        "R(2, 6, 6, 3).permute(0, 3, 1, 2)",
        "R(2, 2, 2, 6, 6)",
    ],
)
layer(
    "ChannelShuffle",
    ["2", "3", "1"],
    [
        "R(2, 6, 3, 2)",
        "R(6, 3, 2)",
        "R(0, 6, 2, 2)",
        "R(2, 6, 4)",
        "R(2, 3, 2, 6).permute(0, 3, 1, 2)",
    ],
)
for name in ("PixelShuffle", "PixelUnshuffle", "ChannelShuffle"):
    refused(name, "", "'a'", "0", "-1", "2, 3", "1.5")
    refuses(name, "2", "R(3)", "R()", "R(2, 3)", "R(2, 5, 5, 5)", "K(5, 2, 4, 4, 4)", "")
    for option in ("0", "-1", "1.5", "'a'"):
        refuses(name, option, "R(2, 4, 4, 4)")
MODES = {
    1: ["'nearest'", "'linear'", "'linear', True", "'nearest-exact'", "'area'"],
    2: [
        "'nearest'",
        "'bilinear'",
        "'bilinear', True",
        "'bicubic'",
        "'bicubic', align_corners=True",
        "'nearest-exact'",
        "'area'",
    ],
    3: ["'nearest'", "'trilinear'", "'trilinear', True", "'nearest-exact'", "'area'"],
}
INPUTS = {
    1: ["R(2, 3, 5)", "R(5, 2, 3).permute(1, 2, 0)"],
    2: ["R(2, 3, 5, 4)", "R(2, 5, 4, 3).permute(0, 3, 1, 2)"],
    3: ["R(2, 3, 4, 3, 4)"],
}
for n in (1, 2, 3):
    options = [
        f"{'(7, 9, 6)' if n == 3 else ('(7, 9)' if n == 2 else '7')}, None, {mode}"
        for mode in MODES[n]
    ]
    options += [f"None, 2, {mode}" for mode in MODES[n]]
    options += [f"scale_factor=1.7, mode={mode}" for mode in MODES[n] if "exact" not in mode]
    options += [
        f"scale_factor={(1.5, 2.0, 0.5)[:n]}, mode={MODES[n][1]}",
        f"scale_factor=1.7, mode={MODES[n][1]}, recompute_scale_factor=True",
        f"size=3, mode={MODES[n][1]}",
    ]
    layer("Upsample", options, INPUTS[n])
layer("Upsample", ["scale_factor=2", "size=4"], ["R(2, 3, 5)", "R(0, 3, 5)"])
layer("UpsamplingNearest2d", ["7", "(7, 9)", "scale_factor=2", "None, (1.5, 2)"], INPUTS[2])
layer("UpsamplingBilinear2d", ["7", "(7, 9)", "scale_factor=2", "None, (1.5, 2)"], INPUTS[2])
for option in (
    "",
    "2, 2",
    "mode='what'",
    "size=3, mode='what'",
    "size=3, mode='linear'",
    "size=3, align_corners=True",
    "scale_factor=0",
    "scale_factor=-1",
    "size=0",
    "size=(2, 2, 2)",
    "scale_factor=(2, 2, 2, 2)",
    "size=3, recompute_scale_factor=True",
    "size=3, mode='trilinear'",
    "size='a'",
    "scale_factor='a'",
    "size=3.5",
):
    refuses("Upsample", option, "R(2, 3, 5, 4)")
refuses(
    "Upsample",
    "scale_factor=2",
    "R(3)",
    "R()",
    "R(2, 3)",
    "R(2, 2, 3, 3, 3, 3)",
    "K(5, 2, 3, 4)",
    "",
    "R(2, 0, 4)",
    "R(2, 3, 0)",
)
refuses("Upsample", "scale_factor=2, mode='bilinear'", "R(2, 3, 4)", "R(2, 3, 4, 4, 4)")
refused("Upsample", "", "'a'", "scale_factor='a'", "2, 3, 4, 5, 6, 7", "scale_factor=(1, 'a')")
