"""Operators on all pairs of element types, with numbers and tensors of all kinds of shapes."""

from __future__ import annotations

import random

from tests.compare.fuzz.arguments import DTYPES, SHAPES, Writer

BINARY = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "==", "!=", "<",
          "<=", ">", ">=")  # fmt: skip
FUNCTIONS = ("add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "maximum",
             "minimum", "atan2", "bitwise_and", "bitwise_or", "logical_and", "logical_xor", "eq",
             "lt", "ge", "where", "lerp", "copysign", "hypot", "xlogy", "gcd", "clamp", "isclose",
             "heaviside", "nextafter", "ldexp", "logaddexp", "rsub", "true_divide", "dot", "matmul",
             "bmm", "mm", "outer", "cross", "fmax", "addcmul", "dist", "cdist", "kron",
             "inner")  # fmt: skip
UNARY = ("sum", "mean", "prod", "std", "var", "max", "min", "argmax", "all", "any", "cumsum",
         "cumprod", "median", "mode", "norm", "logsumexp", "softmax", "log_softmax", "amax",
         "sort", "argsort", "topk", "unique", "flip", "cummax", "nansum", "count_nonzero", "diff",
         "quantile", "aminmax", "var_mean", "renorm", "logcumsumexp", "squeeze", "unsqueeze",
         "flatten", "exp", "sqrt", "abs", "neg", "round", "floor", "sigmoid", "sign", "nan_to_num",
         "nonzero", "bitwise_not", "logical_not", "tril", "trace", "diag", "rot90", "roll",
         "unbind", "chunk", "split", "stack", "cat", "select", "narrow", "transpose", "permute",
         "unfold", "expand", "repeat", "tile", "movedim", "reshape", "view", "index_select",
         "gather", "take", "kthvalue", "nanmedian", "std_mean", "softplus", "histc",
         "bincount")  # fmt: skip
SCALARS = ("2", "0", "-1", "1.5", "-0.5", "True", "False", "1j", "2**40", "2**62", "2**63",
           "-2**63",
           "300", "float('inf')", "float('nan')", "np.float32(1.5)", "np.int64(2)",
           "np.bool_(True)",
           "torch.tensor(2)", "torch.tensor(1.5)", "torch.tensor(True)", "torch.tensor(1j)", "None",
           "'a'", "[1, 2]", "(1,)", "np.array([1, 2])", "np.array(2)", "1e40", "0.0")  # fmt: skip


def operand(w: Writer) -> str:
    rng = w.rng
    if rng.random() < 0.4:
        found = rng.choice(SCALARS)
        w.uses_numpy = w.uses_numpy or "np." in found
        return found
    return w.tensor(dtype=rng.choice(DTYPES), shape=None if rng.random() < 0.8 else ())


def reduction(w: Writer, x: str) -> str:
    rng = w.rng
    name = rng.choice(UNARY)
    args = []
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        args.append(rng.choice(
            ("0", "1", "-1", "2", "-3", "(0, 1)", "[0]", "[0, 0]", "()", "[]", "(0, -2)", "5",
            "1.5",
             "True", "None", "dim=0", "dim=1", "dim=-1", "dim=(0, 1)", "dim=None", "keepdim=True",
             "dtype=torch.float64", "dtype=torch.int32", "dtype=torch.bool", "dim=()", "dim=[0]",
             "dim=7", "axis=0", "dim='a'", "correction=0", "unbiased=False", "descending=True",
             "keepdim=1", "axis=(0, 1)", "keepdims=True", "stable=True")
        ))  # fmt: skip
    seen: dict[str, str] = {}
    for arg in args:
        seen[arg.partition("=")[0] if "=" in arg else f"{len(seen)}"] = arg
    ordered = [a for a in seen.values() if "=" not in a] + [a for a in seen.values() if "=" in a]
    if rng.random() < 0.5 or name in ("view", "expand", "repeat", "unfold", "softplus"):
        return f"{x}.{name}({', '.join(ordered)})"
    return f"torch.{name}({', '.join([x, *ordered])})"


def write_program(rng: random.Random) -> list[str]:
    """An operation or two on tensors of any type, and a gradient now and then."""
    w = Writer(rng)
    w.shape = rng.choice(SHAPES)
    w.dtype = rng.choice(DTYPES)
    for n in range(rng.choice((1, 2))):
        x = w.tensor()
        kind = rng.randrange(10)
        if kind < 3:
            y = operand(w)
            if rng.random() < 0.25:
                x, y = y, x
            w.lines.append(f"r{n} = {x} {rng.choice(BINARY)} {y}")
        elif kind < 4:
            w.lines.append(f"{x} {rng.choice(BINARY[:13])}= {operand(w)}")
        elif kind < 7:
            name = rng.choice(FUNCTIONS)
            given = [operand(w) for _ in range(rng.choice((1, 1, 1, 1, 2, 0)))]
            form = rng.randrange(3)
            if form == 0:
                w.lines.append(f"r{n} = torch.{name}({', '.join([x, *given])})")
            elif form == 1:
                w.lines.append(f"r{n} = {x}.{name}({', '.join(given)})")
            elif name in ("where", "isclose", "dot", "matmul", "bmm", "mm", "outer"):
                out = w.tensor(dtype=rng.choice(DTYPES))
                w.lines.append(f"r{n} = torch.{name}({', '.join([x, *given])}, out={out})")
            else:
                w.lines.append(f"r{n} = {x}.{name}_({', '.join(given)})")
        else:
            w.lines.append(f"r{n} = {reduction(w, x)}")
    return w.program()
