"""Padding of every kind."""

from .table import layer, refused, refuses

SHAPES = {
    1: ["R(2, 3, 6)", "R(3, 6)", "R(6, 2, 3).permute(1, 2, 0)"],
    2: ["R(2, 3, 6, 5)", "R(3, 6, 5)", "R(2, 5, 5, 3).permute(0, 3, 1, 2)"],
    3: ["R(2, 3, 4, 5, 4)", "R(3, 4, 5, 4)"],
}
NONE = {1: "R(0, 3, 6)", 2: "R(0, 3, 6, 6)", 3: "R(0, 3, 6, 6, 6)"}
for n in (1, 2, 3):
    pairs = [1, 2, 3, 0, 1, 2][: 2 * n]
    uneven = str(tuple(pairs))
    cut = str(tuple([-1, 2, 1, -2, 0, -1][: 2 * n]))
    shape = ", ".join(["6"] * n)
    for kind in ("ReflectionPad", "ReplicationPad", "CircularPad", "ZeroPad"):
        layer(f"{kind}{n}d", ["1", "3", "0", uneven, cut], [*SHAPES[n], NONE[n]])
        refused(f"{kind}{n}d", "", "'a'", "(1, 2, 3)", "1.5", "None", "1, 2")
        refuses(
            f"{kind}{n}d",
            "2",
            "R(6)",
            "R()",
            f"R(2, 2, 3, {shape})",
            f"K(4, 2, 3, {shape})",
            f"R(2, 0, {shape})",
            f"R(2, 3, {', '.join(['0'] * n)})",
            "",
            "3",
        )
        for option in ("7", "-4", "(1, 2, 3)", "1.5"):
            refuses(f"{kind}{n}d", option, f"R(2, 3, {shape})")
    layer(
        f"ConstantPad{n}d",
        ["1, 3.5", "2, 0", uneven + ", -1", cut + ", 2.0"],
        [*SHAPES[n], NONE[n]],
    )
    refused(f"ConstantPad{n}d", "1", "", "(1, 2, 3), 0", "1, 'a'")
    refuses(f"ConstantPad{n}d", "1, 0.5", "R(6)", "R()", f"K(4, 2, 3, {shape})", "")
    refuses(f"ConstantPad{n}d", "-4, 0.5", f"R(2, 3, {shape})")
    refuses(f"ConstantPad{n}d", "1, 'a'", f"R(2, 3, {shape})")
