"""What instructions mean to a fusion group: over which space they run, and as which formula.

A `Meaning` says over which shape an instruction works, and where rows end and columns begin:
elementwise work doesn't mind, a softmax runs along the last dimension. It computes results from
symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._array.kernels import formulas
from .._codegen import group as G
from .program import Instruction, Value
from .symbols import FLOATS, function_of, in_order, kind_in, size_of

#: Losses of class numbers, which are checked before anything runs.
ENTROPY: Final = ("_cross_entropy", "cross_entropy_backward")
Body = Callable[[list[Any], "Shared"], tuple[Any, ...]]


class Shared:
    """What several instructions of a kernel compute alike, and factors of sums over everything."""

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}
        self.factors: dict[int, float] = {}


class Meaning:
    """An instruction as a formula over a space."""

    def __init__(self, i: Instruction, shape: tuple[int, ...], body: Body, *,
                 split: int | None = None, ended: bool | tuple[bool, ...] = False,
                 read: tuple[Value, ...] | None = None) -> None:  # fmt: skip
        self.instruction = i
        self.shape = shape
        self.body = body
        self.split = split  # None: any
        self.reads = list(dict.fromkeys(i.reads())) if read is None else list(read)
        self.outputs = [o for o in i.outputs if o is not None]
        flags = (ended,) * len(self.outputs) if isinstance(ended, bool) else ended
        self.ended = {o.number for o, flag in zip(self.outputs, flags) if flag}
        self.fixed: set[int] = set()  # operands that must lie in memory
        self.whole: set[int] = set()  # operands that are class numbers

    def splits(self) -> list[int]:
        """Where the columns may begin, the likeliest first."""
        if self.split is not None:
            return [self.split]
        return list(range(len(self.shape) - 1, -1, -1)) or [0]

    def spaces(self) -> list[tuple[int, int]]:
        """The spaces over which it may run, as rows by columns."""
        return [(size_of(self.shape[:k]), size_of(self.shape[k:])) for k in self.splits()]

    def kinds(self, rows: int, columns: int) -> dict[int, str] | None:
        """How operands and results vary over a space; None where it isn't one of its own."""
        if size_of(self.shape) == 1 and self.split is None and not self.ended:
            single = all(size_of(v.shape) == 1 and v.dtype.name != "int64" for v in self.reads)
            if rows * columns != 1 or not single:
                return None
            return {v.number: "f" for v in (*self.reads, *self.outputs)}
        for k in self.splits():
            if size_of(self.shape[:k]) == rows and size_of(self.shape[k:]) == columns:
                found = self._kinds(k)
                if found is not None:
                    return found
        if self.split is None:
            size = size_of(self.shape)
            flat = self._kinds(0) if size in (rows * columns, rows) else None
            if flat is not None and size == rows * columns:
                return flat
            if flat is not None and columns > 1:
                return {n: "r" if kind == "f" else kind for n, kind in flat.items()}
        return None

    def _kinds(self, k: int) -> dict[int, str] | None:
        found: dict[int, str] = {}
        for v in self.reads:
            kind = "r" if v.number in self.whole else kind_in(self.shape, k, v)
            if kind is None or (v.dtype.name == "bool" and kind != "f"):
                return None
            found[v.number] = kind
        if (
            self.split is None
            and not self.ended
            and "f" not in found.values()
            and not ({"r", "c"} <= set(found.values()))
        ):
            return None
        for v in self.outputs:
            if v.number not in self.ended:
                kind = kind_in(self.shape, k, v)
                if kind is None or (self.split is None and kind != "f"):
                    return None
                found[v.number] = kind
        return found


def meaning_of(i: Instruction) -> Meaning | None:
    """The meaning of an instruction to fusion groups; None where it has none."""
    if i.kind != "call" or not i.outputs or i.outputs[0] is None:
        return None
    if any(o is not None and (o.view or 0 in o.shape or not in_order(o)) for o in i.outputs):
        return None
    make = _MAKERS.get(i.name)
    if make is not None:
        return make(i)
    return _elementwise(i)


def _elementwise(i: Instruction) -> Meaning | None:
    function = function_of(i)
    out = i.outputs[0]
    if function is None or out is None:
        return None
    floats = {v.dtype.name for v in (*i.reads(), out) if v.dtype.name != "bool"}
    if len(floats) != 1 or not floats <= set(FLOATS):
        return None

    def body(args: list[Any], _: Shared) -> tuple[Any, ...]:
        if not isinstance(args[0], G.Symbol):  # Python's operators need a symbol first
            symbol = next(a for a in args if isinstance(a, G.Symbol) and a.dtype != "b1")
            args = [symbol.like(float(args[0])), *args[1:]]
        return (function(*args),)

    return Meaning(i, out.shape, body)


# ---- reductions ----------------------------------------------------------------------------------


def _float(*values: Any) -> bool:
    return all(type(v) is Value and v.dtype.name in FLOATS for v in values)


def _sum_to(i: Instruction) -> Meaning | None:
    x, out = i.inputs[0], i.outputs[0]
    if (
        out is None
        or not _float(x, out)
        or x.dtype != out.dtype
        or size_of(x.shape) == size_of(out.shape)
    ):
        return None
    rest = len(x.shape) - len(out.shape)
    if out.shape == x.shape[rest:] and rest and out.shape:
        return Meaning(i, x.shape, lambda a, _: (G.column_sum(a[0]),), split=rest, ended=True)
    if out.shape == (*x.shape[:-1], 1) and len(x.shape) > 1:
        return Meaning(i, x.shape, lambda a, _: (G.row_sum(a[0]),), split=len(x.shape) - 1)
    return None


def _sum(i: Instruction) -> Meaning | None:
    x, out = i.inputs[0], i.outputs[0]
    if out is None or not _float(x, out) or x.dtype != out.dtype or not x.shape:
        return None
    mean = i.name == "mean"
    if all(y is None or y is False for y in i.inputs[1:]) and not out.shape:
        size = size_of(x.shape)

        def total(a: list[Any], shared: Shared) -> tuple[Any, ...]:
            shared.factors[out.number] = 1.0 / size if mean else 1.0
            return (G.total(a[0]),)

        return Meaning(i, x.shape, total, ended=True)
    last = len(x.shape) - 1
    if len(i.inputs) < 2 or i.inputs[1] not in ((-1,), (last,), [-1], [last]) or last < 1:
        return None
    if any(y not in (None, True, False) for y in i.inputs[2:]):
        return None
    part = 1.0 / x.shape[-1]
    if mean:
        return _along(i, x, lambda a, _: (G.row_sum(a[0]) * part,))
    return _along(i, x, lambda a, _: (G.row_sum(a[0]),))


def _along(i: Instruction, x: Value, body: Body) -> Meaning | None:
    """Something along the rows of x, whose results may lack the last dimension."""
    for o in i.outputs:
        if o is not None and o.shape == x.shape[:-1]:
            # Seen with a last dimension of one, for which it varies by row.
            return _Reduced(i, x.shape, body, split=len(x.shape) - 1)
    return Meaning(i, x.shape, body, split=len(x.shape) - 1)


class _Reduced(Meaning):
    """A reduction along rows, without the dimension that is gone."""

    def _kinds(self, k: int) -> dict[int, str] | None:
        kept, self.outputs = self.outputs, []
        try:
            found = super()._kinds(k)
        finally:
            self.outputs = kept
        if found is not None:
            found.update((o.number, "r") for o in kept)
        return found


# ---- rows ----------------------------------------------------------------------------------------


def _rows(formula: Callable[..., Any], count: int) -> Callable[[Instruction], Meaning | None]:
    """A formula on rows of the last dimension, of so many operands."""

    def make(i: Instruction) -> Meaning | None:
        x = i.inputs[0]
        values = i.inputs[:count]
        if not _float(*values, i.outputs[0]) or len(x.shape) < 1:
            return None
        if len({v.dtype.name for v in (*values, i.outputs[0])}) != 1:
            return None
        if any(v.shape != x.shape for v in values):
            return None
        axis = i.inputs[count]
        if axis not in (-1, len(x.shape) - 1) or any(y is not None for y in i.inputs[count + 1 :]):
            return None
        return Meaning(i, x.shape, lambda a, _: (formula(*a[:count]),), split=len(x.shape) - 1)

    return make


def _gelu(i: Instruction) -> Meaning | None:
    form = i.inputs[-1] if isinstance(i.inputs[-1], str) else "none"
    back = i.name == "gelu_backward"
    values = [x for x in i.inputs if type(x) is Value]
    if not _float(*values) or len(values) != 1 + back or form not in ("none", "tanh"):
        return None
    if any(v.shape != i.outputs[0].shape for v in values):  # type: ignore[union-attr]
        return None
    found: Any = {
        ("none", False): formulas.gelu, ("tanh", False): formulas.gelu_tanh,
        ("none", True): formulas.gelu_backward, ("tanh", True): formulas.gelu_tanh_backward,
    }[form, back]  # fmt: skip
    return Meaning(i, values[0].shape, lambda a, _: (found(*a[: 1 + back]),))


def _layer_norm(i: Instruction) -> Meaning | None:
    x, shape, weight, bias, eps = i.inputs
    if not _float(x) or len(shape) != 1 or len(i.outputs) != 3 or None in i.outputs:
        return None
    given = [v for v in (weight, bias) if v is not None]
    if not _float(*given) or any(v.dtype != x.dtype for v in given) or x.shape[-1] < 2:
        return None
    part = 1.0 / x.shape[-1]

    def body(a: list[Any], _: Shared) -> tuple[Any, ...]:
        hat, mean, inverse = formulas.layer_norm(a[0], part, float(eps))  # type: ignore[arg-type]
        if weight is not None:
            hat = hat * a[2]
        if bias is not None:
            hat = hat + a[3]
        return hat, mean, inverse

    return Meaning(i, x.shape, body, split=len(x.shape) - 1)


def _layer_norm_back(i: Instruction) -> Meaning | None:
    g, x, shape, mean, inverse, weight = i.inputs[:6]
    if not _float(g, x, mean, inverse) or len(shape) != 1 or g.shape != x.shape:
        return None
    if weight is not None and not _float(weight):
        return None
    outs = list(i.outputs)
    if len(outs) != 3 or outs[0] is None:
        return None
    part = 1.0 / x.shape[-1]

    def body(a: list[Any], _: Shared) -> tuple[Any, ...]:
        hat = (a[1] - a[3]) * a[4]
        scaled = a[0] if weight is None else a[0] * a[5]
        along, level = G.row_sum(scaled * hat) * part, G.row_sum(scaled) * part
        found = [a[4] * (scaled - level - hat * along)]
        if outs[1] is not None:
            found.append(G.column_sum(a[0] * hat))
        if outs[2] is not None:
            found.append(G.column_sum(a[0]))
        return tuple(found)

    ended = (False, *(True for o in outs[1:] if o is not None))
    return Meaning(i, x.shape, body, split=len(x.shape) - 1, ended=ended)


# ---- losses --------------------------------------------------------------------------------------


def _entropy(i: Instruction) -> Meaning | None:
    logits, target, reduction, ignored = i.inputs[-4:]
    back = i.name == "cross_entropy_backward"
    if (
        type(logits) is not Value or type(target) is not Value or len(logits.shape) != 2
        or target.dtype.name != "int64" or logits.dtype.name not in FLOATS or ignored >= 0
        or reduction not in (1, 2) or target.shape != logits.shape[:1] or not in_order(target)
        or not in_order(logits)
    ):  # fmt: skip
        return None
    if back and (type(i.inputs[0]) is not Value or i.inputs[0].shape):
        return None
    rows = logits.shape[0]
    out = i.outputs[0]
    assert out is not None

    def body(a: list[Any], shared: Shared) -> tuple[Any, ...]:
        x, classes = a[-4], a[-3]
        if x not in shared.known:
            top = G.row_top(x)
            e = G.exp(x - top)
            shared.known[x] = top, e, G.row_sum(e)
        top, e, s = shared.known[x]
        if not back:
            shared.factors[out.number] = 1.0 / rows if reduction == 1 else 1.0
            return (G.total(G.log(s) + top - G.pick(x, classes)),)
        scale = a[0] * (1.0 / rows) if reduction == 1 else a[0]
        p = e * (1.0 / s)
        return (G.where(G.one_hot(classes), p - 1.0, p) * scale,)

    found = Meaning(i, logits.shape, body, split=1, ended=not back)
    found.whole.add(target.number)
    if not back:
        found.fixed.add(logits.number)
    return found


_MAKERS: Final[dict[str, Callable[[Instruction], Meaning | None]]] = {
    "_cross_entropy": _entropy, "cross_entropy_backward": _entropy,
    "sum_to": _sum_to, "sum": _sum, "mean": _sum,
    "softmax": _rows(formulas.softmax, 1), "_softmax": _rows(formulas.softmax, 1),
    "log_softmax": _rows(formulas.log_softmax, 1),
    "_softmax_backward": _rows(formulas.softmax_backward, 2),
    "_log_softmax_backward": _rows(formulas.log_softmax_backward, 2),
    "gelu": _gelu, "gelu_backward": _gelu,
    "native_layer_norm": _layer_norm, "_layer_kernel": _layer_norm_back,
}  # fmt: skip
