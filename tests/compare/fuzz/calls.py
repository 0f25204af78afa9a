"""Calls of every function and method of the table, with arguments good and bad."""

from __future__ import annotations

import functools
import inspect
import random
from typing import Any

import rushlight
from rushlight._base.schema import REQUIRED, Parameter, public_name
from rushlight._table import PUBLIC, ROWS, TENSOR_METHODS
from rushlight._table.calls.overload_texts import signatures
from tests.compare.fuzz.arguments import COMPLEX, DTYPES, FLOATS, INTEGERS, Writer

PREFIX = {"": "torch", "nn.functional": "torch.nn.functional", "special": "torch.special",
          "linalg": "torch.linalg", "fft": "torch.fft"}  # fmt: skip
KIND = {"": "torch", "nn.functional": "nn", "special": "special", "linalg": "linalg", "fft": "fft"}
# What has no values of its own, reads files, or gives vectors whose signs are free.
LEFT_OUT = {
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
    "resize_", "resize_as_", "from_file", "lobpcg", "svd_lowrank", "pca_lowrank", "apply_", "map_",
    "map2_", "set_", "data_ptr", "new", "untyped_storage", "storage", "dropout_",
    "from_dlpack", "poisson", "rrelu", "rrelu_", "share_memory_",
}  # fmt: skip
GUESSES = {
    "int": ("dim", "dim0", "dim1", "dims", "k", "n", "num_classes", "groups", "offset", "sections"),
    "bool": ("keepdim", "inplace", "training", "ceil_mode", "return_indices", "log_target", "full"),
    "float": ("p", "eps", "alpha", "beta", "margin", "momentum", "delta", "threshold", "value"),
    "ScalarType": ("dtype",),
}
SIZES = ("size", "kernel_size", "stride", "padding", "dilation", "output_size", "shape", "pad",
         "normalized_shape", "scale_factor")  # fmt: skip


@functools.cache
def functions() -> list[tuple[str, str]]:
    """(namespace, name) of every function, ("method", name) of every method."""
    found = [key for key in PUBLIC if key[0] in PREFIX]
    found += [("method", name) for name in TENSOR_METHODS]
    found += [("method", name) for name in vars(rushlight.Tensor)
              if name[0] != "_" and callable(getattr(rushlight.Tensor, name))]  # fmt: skip
    return sorted({key for key in found if key[1][0] != "_" and key[1] not in LEFT_OUT})


@functools.cache
def known_parameters(where: str, name: str) -> list[list[Parameter]]:
    """The parameters of each signature that is known, without the tensor of a method."""
    kind = "method" if where == "method" else KIND[where]
    shown = f"{kind}_{name}" if kind in ("fft", "linalg", "special") else name
    found = [s.params for s in signatures(kind, shown)] or [
        s.params for s in signatures(kind, name)
    ]
    if not found:
        rows = ROWS.get(shown) or ROWS.get(name) or []
        found = [list(r.schema.params[1 if where == "method" else 0 :]) for r in rows]
    return found or [guessed(where, name)]


def guessed(where: str, name: str) -> list[Parameter]:
    """The parameters of a function in Python, with types guessed from names and defaults."""
    function = getattr(rushlight.Tensor, name) if where == "method" else PUBLIC[where, name]
    found: list[Parameter] = []
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return found
    for p in parameters[1:] if where == "method" else parameters:
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            continue
        default: Any = REQUIRED if p.default is p.empty else p.default
        kind = next((k for k, names in GUESSES.items() if p.name in names), "Tensor")
        for one, type_name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "str")):
            if type(default) is one:
                kind = type_name
        if p.name in SIZES:
            kind = "int"
        is_list = p.name in SIZES
        kw_only = p.kind is p.KEYWORD_ONLY
        size = 2 if is_list else None
        found.append(Parameter(p.name, kind, default is None, is_list, size, default, kw_only, ""))
    return found


class Sampled:
    """`mk` for the samples of rows: makes statements instead of tensors."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def __call__(self, *shape: Any, low: Any = None, high: Any = None, dtype: Any = None,
                 integer: bool = False) -> Any:  # fmt: skip
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        wanted = str(dtype).removeprefix("torch.") if dtype is not None else ""
        if wanted not in DTYPES:
            own = self.writer.dtype
            wanted = ("int64" if own not in INTEGERS else own) if integer else own
        return Source(self.writer.tensor(shape, wanted, low, high))


class Source(str):
    """The text of an argument."""


def text_of(value: Any) -> str:
    """The source of a sample's value."""
    if isinstance(value, Source):
        return value
    if isinstance(value, (list, tuple)):
        inside = ", ".join(text_of(item) for item in value)
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{comma})"
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return f"float('{value}')"
    if isinstance(value, rushlight.dtype):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return repr(value)
    raise TypeError(value)


def sampled(
    writer: Writer, name: str
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]] | None:
    """Positional and keyword arguments of a sample of the row of that name, None without one."""
    rows = [r for r in ROWS.get(name, ()) if r.samples is not None]
    if not rows:
        return None
    row = writer.rng.choice(rows)
    before = list(writer.lines), writer.tensors
    try:
        samples = row.samples(Sampled(writer))
        sample = writer.rng.choice(list(samples))
        given = [text_of(value) for value in sample]
    except Exception:
        writer.lines, writer.tensors = before
        return None
    # The statements of the other samples of the row are not needed.
    inside = " ".join(given)
    writer.lines = before[0] + [
        line for line in writer.lines[len(before[0]) :] if f"{line.split(' ')[0]}" in
        inside.replace(",", " ").replace("(", " ").replace(")", " ").replace("[", " ")
        .replace("]", " ").split()
    ]  # fmt: skip
    args: list[tuple[str, str]] = []
    named: list[tuple[str, str]] = []
    for p, text in zip(row.schema.params, given):
        (named if p.kw_only else args).append((public_name(p.name), text))
    return args, named


def drawn(writer: Writer, params: list[Parameter]) -> tuple[list[Any], list[Any]]:
    """Positional and keyword arguments for a signature, the optional ones now and then."""
    rng = writer.rng
    args: list[tuple[str, str]] = []
    named: list[tuple[str, str]] = []
    for p in params:
        if p.name == "out" or (p.default is not REQUIRED and rng.random() < 0.6):
            continue
        if p.optional and rng.random() < 0.15:
            text = "None"
        else:
            text = writer.good(p)
        whole = len(args) == sum(not q.kw_only for q in params[: params.index(p)])
        if p.kw_only or not whole or rng.random() < 0.15:
            named.append((public_name(p.name), text))
        else:
            args.append((public_name(p.name), text))
    return args, named


def spoil(writer: Writer, args: list[Any], named: list[Any]) -> None:
    """Makes one thing about the arguments other than it was."""
    rng = writer.rng
    kind = rng.randrange(12)
    every = [(args, i) for i in range(len(args))] + [(named, i) for i in range(len(named))]
    if kind <= 4 and every:
        which, i = rng.choice(every)
        which[i] = (which[i][0], writer.strange())
    elif kind == 5 and every:
        which, i = rng.choice(every)
        del which[i]
    elif kind == 6:
        args.append(("", writer.strange()))
    elif kind == 7:
        named.append((rng.choice(("foo", "dim", "axis", "keepdim", "input", "self", "dtype", "out",
                                  "other", "x", "bias")), writer.strange()))  # fmt: skip
    elif kind == 8 and len(args) > 1:
        i, j = rng.sample(range(len(args)), 2)
        args[i], args[j] = (args[i][0], args[j][1]), (args[j][0], args[i][1])
    elif kind == 9 and args:
        named.append(args.pop())
    elif kind == 10 and every:
        which, i = rng.choice(every)
        which[i] = (which[i][0], writer.tensor(dtype=rng.choice(DTYPES)))
    elif every:
        which, i = rng.choice(every)
        which[i] = (which[i][0], writer.tensor(writer.near_shape()))


def give_out(writer: Writer, named: list[Any]) -> None:
    """An `out=`, more or less right."""
    rng = writer.rng
    if rng.random() < 0.15:
        named.append(("out", writer.strange()))
    elif rng.random() < 0.15:
        named.append(("out", f"({writer.tensor()}, {writer.tensor()})"))
    else:
        dtype = rng.choice((*FLOATS, *COMPLEX, "int64", "bool", writer.dtype, writer.dtype))
        named.append(("out", writer.tensor(dtype=dtype)))


def write_program(rng: random.Random) -> list[str]:
    """A call or two, and a gradient where something has one."""
    writer = Writer(rng)
    for number in range(rng.choice((1, 1, 2))):
        where, name = rng.choice(functions())
        write_call(writer, where, name, f"r{number}")
    return writer.program()


def write_call(writer: Writer, where: str, name: str, result: str) -> None:
    """Adds a statement that calls the function or method."""
    rng = writer.rng
    found = sampled(writer, name.removesuffix("_")) if rng.random() < 0.5 else None
    if found is None and where in ("linalg", "fft", "special") and rng.random() < 0.5:
        found = sampled(writer, f"{where}_{name}")
    if found is not None:
        args, named = found
        if where == "method" and args:
            receiver = args.pop(0)[1]
        else:
            receiver = writer.tensor()
        if rng.random() < 0.15 and args:
            cut = rng.randrange(len(args))
            named, args = args[cut:] + named, args[:cut]
    else:
        receiver = writer.tensor() if where == "method" else ""
        args, named = drawn(writer, rng.choice(known_parameters(where, name)))
    if rng.random() < 0.55:
        spoil(writer, args, named)
    if rng.random() < 0.08 and where != "method":
        give_out(writer, named)
    texts = [text for _, text in args]
    seen: set[str] = set()
    for key, text in named:
        if key and key.isidentifier() and key not in seen:
            seen.add(key)
            texts.append(f"{key}={text}")
    if where == "method" and not receiver.isidentifier():
        receiver = f"({receiver})"
    target = f"{receiver}.{name}" if where == "method" else f"{PREFIX[where]}.{name}"
    writer.lines.append(f"{result} = {target}({', '.join(texts)})")
