"""Tensors from Python and NumPy, and back; element types and devices; factories."""

from __future__ import annotations

import random

from tests.compare.fuzz.arguments import DTYPES, Writer

DATA = (
    "1", "1.5", "True", "1j", "2**62", "2**63", "2**64", "-2**63", "-2**63-1", "None", "'a'", "[]",
    "[1, 2]", "[1, 2.5]", "[True, 1]", "[True, 1.5]", "[1, 1j]", "[[1, 2], [3, 4]]",
    "[[1], [2, 3]]",
    "[1, [2]]", "[[1], 2]", "[[]]", "[[], []]", "(1, 2)", "([1], (2,))", "[None]", "[1, None]",
    "['a']", "[1, 'a']", "range(3)", "np.array([1, 2])", "np.array([1.5])", "np.array(3)",
    "np.array([True])", "np.array([1j])", "np.array(['a'])", "np.array([1], dtype=np.uint16)",
    "np.array([1], dtype=object)", "np.array([[1, 2], [3, 4]])[::-1]", "np.float32(1.5)",
    "np.int8(3)", "np.bool_(True)", "np.float16(1.5)", "np.arange(6).reshape(2, 3).T",
    "[np.float32(1.5), 2]", "[np.array([1, 2]), np.array([3, 4])]", "[torch.tensor(1), 2]",
    "[torch.tensor([1, 2])]", "torch.tensor([1, 2])", "torch.tensor(1.5)", "torch.ones(2, 3)",
    "[torch.tensor(1.5, requires_grad=True)]", "{}", "{1: 2}", "set()", "object", "b'ab'",
    "bytearray(b'abcd')", "float('nan')", "[float('inf'), 1]", "[2**63, 1]", "[2**62, 1.5]", "300",
    "-1", "1e300", "1e-50", "[300, -300]", "slice(1)", "torch.Size([2, 3])", "torch.float32",
    "[[1, 2], [3, 4.5]]", "[[True], [2]]", "np.array([], dtype=np.float32)", "1 + 0j",
)  # fmt: skip
SIZES = (
    "2, 3", "(2, 3)", "[2, 3]", "0", "()", "[]", "(0, 3)", "-1", "(2, -1)", "2, -3", "1.5", "'a'",
    "(2, 'a')", "True", "None", "torch.tensor(2)", "torch.tensor([2, 3])", "np.int64(2)", "(2.0,)",
    "2, 2.0", "torch.Size([2])", "torch.tensor(2.0)", "(np.int64(2), 3)", "(torch.tensor(2), 3)",
    "2, None", "[[2]]", "2**63", "", "3", "3", "(2, 3)", "size=(2, 3)", "size=2", "(2, True)",
)  # fmt: skip
NUMBERS = ("0", "1", "2", "3", "5", "-1", "0.5", "1.5", "2.5", "-2", "1j", "True", "None", "'a'",
           "float('nan')", "float('inf')", "torch.tensor(2)", "torch.tensor(1.5)", "np.int64(3)",
           "np.float32(0.5)", "2**63", "1e10", "[1]", "10", "torch.tensor([1])", "0.1")  # fmt: skip


def keywords(w: Writer, names: tuple[str, ...]) -> str:
    """Some of the keywords of factories, as the end of a list of arguments."""
    rng = w.rng
    values = {
        "dtype": ("None", "float", "int", "bool", "complex", "'float32'", "np.float32", "str",
                  *(f"torch.{d}" for d in DTYPES * 3)),
        "device": ("'cpu'", "None", "torch.device('cpu')", "0", "'cuda'", "'a'", "1.5", "'cpu:0'"),
        "requires_grad": ("True", "False", "True", "None", "1", "'a'"),
        "layout": ("torch.strided", "None", "1"),
        "memory_format": ("torch.contiguous_format", "torch.preserve_format", "None", "1",
                          "torch.channels_last"),
        "copy": ("True", "False", "None", "1"),
        "non_blocking": ("True", "False", "1", "None"),
        "out": (),
        "pin_memory": ("False", "None"),
        "foo": ("1",),
        "generator": ("None", "torch.Generator().manual_seed(1)", "1"),
        "force": ("True", "False", "1"),
    }  # fmt: skip
    found = ""
    for name in names:
        if rng.random() < (0.45 if name == "dtype" else 0.12):
            value = w.tensor() if name == "out" else rng.choice(values[name])
            w.uses_numpy = w.uses_numpy or "np." in value
            found += f", {name}={value}"
    return found


def creation(w: Writer) -> str:
    rng = w.rng
    form = rng.randrange(9)
    usual = ("dtype", "device", "requires_grad", "foo")
    whole = ("dtype", "device", "requires_grad", "layout", "out", "pin_memory", "foo")
    if form < 3:
        data = rng.choice(DATA)
        w.uses_numpy = w.uses_numpy or "np." in data
        name = rng.choice(("tensor", "tensor", "as_tensor", "asarray", "scalar_tensor",
                           "from_numpy", "Tensor", "FloatTensor", "LongTensor"))  # fmt: skip
        more = {"tensor": usual, "as_tensor": ("dtype", "device", "foo"),
                "asarray": (*usual, "copy"), "scalar_tensor": usual}.get(name, ())  # fmt: skip
        if name.endswith("Tensor"):  # of a size, its elements would be whatever lay there
            return f"torch.{name}({data}).shape"
        return f"torch.{name}({data}{keywords(w, more)})"
    size = rng.choice(SIZES)
    w.uses_numpy = w.uses_numpy or "np." in size
    if form == 3:
        name = rng.choice(("zeros", "ones", "rand", "randn"))
        return f"torch.{name}({(size + keywords(w, (*whole, 'generator'))).removeprefix(', ')})"
    if form == 4:
        fill = rng.choice(NUMBERS)
        w.uses_numpy = w.uses_numpy or "np." in fill
        return f"torch.full({size}, {fill}{keywords(w, whole)})".replace("(, ", "(")
    if form == 5:
        count = rng.choice((1, 2, 3, 3, 4))
        given = [rng.choice(NUMBERS[:10] if rng.random() < 0.75 else NUMBERS) for _ in range(count)]
        w.uses_numpy = w.uses_numpy or any("np." in g for g in given)
        name = rng.choice(("arange", "arange", "linspace", "logspace", "range", "randint", "eye",
                           "randperm", "tril_indices", "triu_indices", "normal", "complex", "polar",
                           "hann_window", "full"))  # fmt: skip
        return f"torch.{name}({', '.join(given)}{keywords(w, whole)})"
    x = w.tensor()
    if form == 6:
        name = rng.choice(("zeros_like", "ones_like", "rand_like", "randn_like", "full_like",
                           "randint_like"))  # fmt: skip
        more = ("dtype", "device", "requires_grad", "memory_format", "layout", "foo")
        first = "" if name[:4] in ("zero", "ones", "rand") and name != "randint_like" else ", 3"
        return f"torch.{name}({x}{first}{keywords(w, more)})"
    name = rng.choice(("new_zeros", "new_ones", "new_full", "new_tensor"))
    if name == "new_tensor":
        data = rng.choice(DATA)
        w.uses_numpy = w.uses_numpy or "np." in data
        return f"{x}.new_tensor({data}{keywords(w, usual)})"
    if name == "new_full":
        return f"{x}.new_full({size}, {rng.choice(NUMBERS[:8])}{keywords(w, usual)})".replace(
            "(, ", "("
        )
    return (
        f"{x}.{name}({(size + keywords(w, usual[:3] if name != 'new' else ())).removeprefix(', ')})"
    )


def reading(w: Writer) -> str:
    rng = w.rng
    x = w.tensor(rng.choice(((), (1,), (2,), (0,), (2, 3), (1, 1))))
    if rng.random() < 0.4:
        return rng.choice(
            (f"float({x})", f"int({x})", f"bool({x})", f"complex({x})", f"{x}.item()",
             f"{x}.tolist()", f"{x}.numpy()", f"np.asarray({x})", f"np.array({x})",
             f"list({x})", f"len({x})", f"round({x})", f"round({x}, 1)", f"abs({x})", "hash(1)",
             f"[1, 2, 3][{x}]", f"range({x})", f"str({x})", f"repr({x})", f"'{{:.2f}}'.format({x})",
             f"f'{{{x}}}'", f"1 in {x}", f"'a' in {x}", f"{x} in {x}", f"divmod({x}, 2)",
             f"{x}.__index__()", f"math.floor({x})", f"math.sqrt({x})", f"math.trunc({x})",
             f"np.asarray({x}, dtype=np.float32)", f"np.add({x}, 1)", f"np.ones(2) * {x}",
             f"{x} * np.ones(2)", f"np.float32(2) * {x}", f"{x} / np.float64(2)", f"reversed({x})",
             f"{x} if {x} else 0", f"not {x}", f"{x} and 1", f"'%d' % {x}", f"'%.2f' % {x}",
             f"sum({x})", f"max({x})", f"sorted({x})", f"any({x})", f"iter({x})",
             f"{x}.numpy(force=True)", f"{x}.__array__()", f"{x}.dtype", f"{x}.T", f"{x}.mT",
             f"{x}.H", f"{x}.real", f"{x}.imag", f"{x}.data", f"{x}.nbytes", f"{x}.itemsize",
             f"{x}.is_leaf", f"{x}.stride()", f"{x}.size()", f"{x}.shape[0]", f"{x}.size(5)",
             f"{x}.type()", f"{x}.is_floating_point()", f"{x}.element_size()", f"{x}.dim()",
             f"isinstance({x}, torch.FloatTensor)", f"torch.is_tensor({x})", f"torch.numel({x})")
        )  # fmt: skip
    kind = rng.randrange(4)
    dtype = rng.choice(
        ("float", "int", "bool", "str", "None", "'float32'", "1", "'torch.FloatTensor'", "'cpu'",
         "'torch.LongTensor'", "torch.FloatTensor", "'cuda'", "'meta'", "x0", "torch.Tensor", "'a'",
         "'torch.cuda.FloatTensor'", "torch.device('cpu')", *(f"torch.{d}" for d in DTYPES * 3))
    )  # fmt: skip
    if kind == 0:
        more = keywords(w, ("copy", "non_blocking", "memory_format", "foo"))
        return f"{x}.to({dtype}{more})"
    if kind == 1:
        return f"{x}.type({dtype}{keywords(w, ('non_blocking', 'foo'))})"
    if kind == 2:
        name = rng.choice(("float", "double", "half", "bfloat16", "int", "long", "short", "char",
                           "byte", "bool", "cfloat", "cdouble", "cpu", "clone",
                           "contiguous"))  # fmt: skip
        return f"{x}.{name}({keywords(w, ('memory_format', 'foo')).removeprefix(', ')})"
    other = w.tensor()
    return rng.choice(
        (f"{x}.type_as({other})", f"{x}.to({other})", f"{x}.copy_({other})", f"{x}.fill_({other})",
         f"{x}.view({dtype})", f"torch.result_type({x}, {other})", f"torch.result_type({x}, 1.5)",
         f"torch.can_cast({x}.dtype, {other}.dtype)", f"{x}.fill_({rng.choice(NUMBERS[:16])})",
         f"torch.promote_types({x}.dtype, {other}.dtype)", f"{x}.new_tensor({other})",
         f"torch.tensor([{x}, {other}])", f"torch.equal({x}, {other})",
         f"{x}.masked_fill({other}, 1)")
    )  # fmt: skip


def write_program(rng: random.Random) -> list[str]:
    """A tensor made of something, or something made of a tensor."""
    w = Writer(rng)
    made = creation(w) if rng.random() < 0.5 else reading(w)
    w.lines.append(f"r = {made}")
    w.uses_numpy = w.uses_numpy or "np." in made
    return (["import math"] if "math." in made else []) + w.program()
