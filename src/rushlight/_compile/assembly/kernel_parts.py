"""A kernel in parts: each instruction of a group by a kernel that comes with the package.

Where nothing can compile a group (no llvmlite, and it wasn't foreseen), what it computes is put
together from kernels for one operation each, of which `primitives` has all. The space is cut into
blocks of rows whose values stay in the caches from one part to the next, and share memory where one
is dead before the other is made. Elements are computed as the whole group computes them, to the
bit; sums are added up in another order.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import cache, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..._array.memory import arena
from ..._array.memory.parallel import get_num_threads
from ..._formula import gelu
from ..._formula.ir import (
    BINARY,
    COMPARISONS,
    FLOATS,
    LAST_REDUCTIONS,
    LOGICAL,
    ROW_REDUCTIONS,
    UNARY,
    Group,
    Instruction,
    Operand,
    Output,
    trace,
)
from ..._native.llvm.loader import UnforeseenError
from . import driver
from .call_frames import float_word, kernel_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..ir.iteration_space import Layout
    from ..ir.program import Value
    from .call_frames import Frames

Call = tuple[int, int, int]
#: Elements of a block, about.
BLOCK: Final = 4096
#: Blocks, calls for all of them, elements that are copied as a whole, and bytes of rooms, at most.
_MOST_BLOCKS: Final = 256
_MOST_CALLS: Final = 1 << 14
_MOST_COPIED: Final = 1 << 18
_MOST_BYTES: Final = 1 << 23
SIZES: Final = {"f32": 4, "f64": 8, "i32": 4, "i64": 8, "b1": 1}
_WHOLE: Final = ("add", "sub", "mul", "max", "min")
#: Terms of a polynomial that one call adds, at most: p x + c, and that again for p.
TERMS: Final = 4
#: Operations that a formula with a part of its own has, at least.
_LEAST: Final = 8
_BY_ELEMENT: Final = {*UNARY, *BINARY, *COMPARISONS, *LOGICAL, "not", "where", "cast", "const"}
_TWO: Final = ("ff", "fs", "sf")
#: Of operations on rows by columns the kinds of operands; others have theirs broadcast before.
_ROWS: Final = dict.fromkeys(("add", "sub", "mul", "div"), ("fr", "rf", "fc", "cf"))


def _flat_forms(op: str) -> tuple[str, ...]:
    """The kinds of operands that an operation on flat arrays may have."""
    if op in COMPARISONS or (op in BINARY and op not in ("copysign", "nextafter")):
        return _TWO
    if op == "where":
        return ("fff", "ffs", "fsf", "fss")
    return ("ff",) if op in BINARY or op in LOGICAL else ("f",)


@cache
def primitive(op: str, kinds: tuple[str, ...] | str, dtypes: tuple[str, ...], kind: str,
              dtype: str) -> Group:  # fmt: skip
    """The group of one operation on operands of such kinds; `copy` gives its operand."""
    names = [f"x{k}" for k in range(len(dtypes))]
    operands = tuple(map(Operand, names, kinds, dtypes))
    if op == "copy":
        return Group("part", operands, (), (Output(0),))
    if op == "terms":
        body: list[Instruction] = []
        for k in range(2, len(kinds)):
            at = len(kinds) + len(body)
            body.append(Instruction("mul", (at - 1 if body else 0, 1), "f", dtype))
            body.append(Instruction("add", (at, k), "f", dtype))
        return Group("part", operands, tuple(body), (Output(at + 1),))
    one = Instruction(op, tuple(range(len(dtypes))), kind, dtype)
    return Group("part", operands, (one,), (Output(len(dtypes)),))


def formula_part(group: Group, given: Sequence[int], value: int) -> Group | None:
    """What computes a value of a group from others, by element; None where it is little, or else.

    The order of its instructions depends on nothing but the formula.
    """
    numbers = {g: k for k, g in enumerate(given)}
    body: list[Instruction] = []

    def number_of(v: int) -> int:
        one = group.instruction(v)
        if v not in numbers:
            if one is None or one.op not in _BY_ELEMENT or one.kind not in (kind, "s"):
                raise ValueError
            args = tuple(map(number_of, one.args))
            numbers[v] = len(given) + len(body)
            one_kind = "s" if one.kind == "s" != kind else "f"
            body.append(Instruction(one.op, args, one_kind, one.dtype, one.payload))
        return numbers[v]

    kind = group.kind(value)
    if kind == "s" or value in given or any(group.kind(g) != kind for g in given):
        return None
    try:
        last = number_of(value)
    except ValueError:
        return None
    if sum(one.op != "const" for one in body) < _LEAST:
        return None
    operands = [Operand(f"x{k}", "f", group.dtype(g)) for k, g in enumerate(given)]
    return Group("part", tuple(operands), tuple(body), (Output(last),))


def formulas() -> Iterator[Group]:
    """Formulas that have parts of their own."""
    for dtype, form, back in product(FLOATS, gelu.FORMULAS, (False, True)):
        names = {f"x{k}": ("f", dtype) for k in range(1 + back)}
        group = trace("part", gelu.FORMULAS[form][back], names)
        part = formula_part(group, range(1 + back), group.outputs[0].value)
        if part is not None:
            yield part


def primitives() -> Iterator[Group]:
    """All kernels that parts are made of."""
    types = ("f32", "f64", "i64", "i32", "b1")
    for dtype in types:
        number, real = dtype != "b1", dtype in FLOATS
        for op in _flat(dtype):
            made = "b1" if op in COMPARISONS else dtype
            for form in _flat_forms(op):
                yield primitive(op, form, (dtype,) * len(form), "f", made)
        for form in _flat_forms("where"):
            yield primitive("where", form, ("b1", dtype, dtype), "f", dtype)
        for to in types:
            if to != dtype:
                yield primitive("cast", "f", (dtype,), "f", to)
        for kind in "src":
            yield primitive("broadcast_f", kind, (dtype,), "f", dtype)
        for kind in ("f", "r", "f%", "r%"):
            yield primitive("copy", (kind,), (dtype,), kind[0], dtype)
        if number:
            for op in ROW_REDUCTIONS:
                yield primitive(op, "f", (dtype,), "r", dtype)
            yield primitive("column_sum", "f", (dtype,), "c", dtype)
        if real:
            for op in _ROWS:
                for form in _ROWS[op]:
                    yield primitive(op, form, (dtype, dtype), "f", dtype)
            for first in "fs":
                for count in range(1, TERMS + 1):
                    yield primitive("terms", f"{first}f{'s' * count}", (dtype,) * (2 + count), "f",
                                    dtype)  # fmt: skip
            yield primitive("total", "f", (dtype,), "s", dtype)
            yield primitive("pick", "fr", (dtype, "i64"), "r", dtype)
    yield primitive("one_hot", "r", ("i64",), "f", "b1")


def _flat(dtype: str) -> tuple[str, ...]:
    """The operations on flat arrays of a type. Numbers of columns are i32, which are compared."""
    if dtype in FLOATS:
        return (*UNARY, *BINARY, *COMPARISONS)
    if dtype == "b1":
        return ("eq", "ne", "not", *LOGICAL)
    return (*_WHOLE, "neg", "abs", *COMPARISONS) if dtype == "i64" else COMPARISONS


class _Place(NamedTuple):
    """Where a value lies: a value of the program, room of the block or of all blocks, a word, or a
    table; and how far a row is from the next, in elements.
    """

    where: str
    at: Any
    kind: str
    dtype: str
    step: int


class _Step(NamedTuple):
    """A call: a group over rows by columns, which may depend on the block."""

    group: Group
    space: str  # f: all elements; F: rows by columns; r: rows; c: columns; s: one
    operands: tuple[_Place, ...]
    out: _Place
    turns: tuple[int, int] | None = None


class KernelParts:
    """The calls for a group that has no kernel."""

    def __init__(self, frames: Frames, group: Group, rows: int, columns: int,
                 operands: list[tuple[Value, Layout]], outputs: list[Value], block: int,
                 factors: Mapping[int, float],
                 members: Sequence[tuple[list[int], int]] = ()) -> None:  # fmt: skip
        self.frames = frames
        self.group = group
        self.rows = rows
        self.columns = columns
        self.count = len(group.operands)
        self.outputs = outputs
        height = max(-(-BLOCK // columns), -(-rows // _MOST_BLOCKS))
        self.height = block or min(rows, height)
        self.blocks = -(-rows // self.height)
        self.block = block
        self.factors = factors  # of totals, by their values' numbers
        self.top = {"block": 0, "all": 0}  # bytes of rooms
        self.free: dict[int, list[int]] = {}
        self.before: list[_Step] = []
        self.steps: list[_Step] = []
        self.sums: list[tuple[Value, bool, _Place]] = []  # of blocks: whose, totals or not, where
        self.places: dict[int, _Place] = {}
        self.widened: dict[tuple[int, str], _Place] = {}
        self.given = operands
        self.own: dict[int, Group] = {}
        self.body = self._with_terms(self._with_formulas(members))
        self.last = self._last_uses()
        for number, (v, layout) in enumerate(operands):
            if number in self.last:
                self.places[number] = self._operand(number, v, layout)
        self.direct = self._writable()
        for number, one in self.body.items():
            if number in self.last:
                self._lower(number, one)
                for arg in {number, *one.args}:
                    self._release(arg, number)
        self._give()

    # ---- what there is ---------------------------------------------------------------------------
    def _last_uses(self) -> dict[int, int]:
        """Of each value that is needed the last instruction that reads it."""
        end = self.count + len(self.group.body)
        last = {out.value: end for out in self.group.outputs}
        for number in reversed(self.body):
            if number in last:
                for arg in self.body[number].args:
                    last.setdefault(arg, number)
        return last

    def _with_formulas(self, members: Sequence[tuple[list[int], int]]) -> dict[int, Instruction]:
        """The instructions by number, those of a formula with a part of its own being one."""
        group = self.group
        body = dict(enumerate(group.body, self.count))
        for given, value in members:
            args = tuple(dict.fromkeys(given))
            part = formula_part(group, args, value)
            if part is not None:
                with suppress(UnforeseenError):
                    kernel_address(part, None, False)
                    self.own[value] = part
                    body[value] = Instruction("formula", args, group.kind(value),
                                              group.dtype(value))  # fmt: skip
        needed = {out.value for out in group.outputs}
        for number in reversed(body):
            if number in needed:
                needed.update(body[number].args)
        return {number: one for number, one in body.items() if number in needed}

    def _with_terms(self, body: dict[int, Instruction]) -> dict[int, Instruction]:
        """The same, products to which a number is added being one, too."""
        group = self.group
        uses = Counter(a for one in body.values() for a in one.args)
        uses.update(out.value for out in group.outputs)
        for number, one in list(body.items()):
            if one.op != "add" or one.dtype not in FLOATS or one.kind == "s":
                continue
            m, c = one.args if group.kind(one.args[1]) == "s" else one.args[::-1]
            two = body.get(m)
            if group.kind(c) != "s" or two is None or two.op != "mul" or uses[m] > 1:
                continue
            p, x = two.args
            if group.kind(x) == "s" or (p != x and x in body and body[x].op == "terms"):
                p, x = x, p
            if group.kind(x) != one.kind or group.kind(p) not in (one.kind, "s"):
                continue
            before = body.get(p)
            args: tuple[int, ...] = (p, x)
            known = before.args if before is not None and before.op == "terms" else ()
            if uses[p] == 1 and x in known[:2] and len(known) < 2 + TERMS:
                q, y = known[:2]
                if y == x or (len(known) == 3 and group.kind(q) == one.kind):
                    args = (q if y == x else y, x, *known[2:])
                    del body[p]
            del body[m]
            body[number] = Instruction("terms", (*args, c), one.kind, one.dtype)
        return body

    def _operand(self, number: int, v: Value, layout: Layout) -> _Place:
        operand = self.group.operands[number]
        kind = operand.kind[0]
        step = layout.step if kind in "fr" else 0
        place = _Place("value", v, kind, operand.dtype, step)
        if not operand.kind[1:]:
            return place
        # Which row comes when is counted from the first: all of it is copied at once.
        _limit(self.rows * (self.columns if kind == "f" else 1), _MOST_COPIED)
        out = self._room(kind, operand.dtype, whole=True)
        turns = (layout.each, layout.period or self.rows)
        group = primitive("copy", (operand.kind,), (operand.dtype,), kind, operand.dtype)
        self.before.append(_Step(group, "F", (place,), out, turns))
        return out

    def _writable(self) -> dict[int, int]:
        """Values that may be computed where an output lies, and which."""
        found: dict[int, int] = {}
        for o, out in enumerate(self.group.outputs):
            kind = self.group.kind(out.value)
            if out.value < self.count or kind not in "fr" or out.value in found:
                continue
            v = self.outputs[o]
            if all(
                self.last.get(n, -1) < out.value
                or (self.last[n] == out.value and self._in_place(n, v, out.value))
                for n, (x, _) in enumerate(self.given)
                if n in self.last and self._overlap(x, v)
            ):
                found[out.value] = o
        return found

    def _in_place(self, number: int, v: Value, made: int) -> bool:
        """Whether an operand is read element by element as its memory is written."""
        group, kind = self.group, self.group.kind(made)
        x, layout = self.given[number]
        return (
            self._start(x) == self._start(v) and layout.plain
            and group.kind(number) == kind and group.dtype(number) == group.dtype(made)
            and layout.step == (self.columns if kind == "f" else 1)
            and group.body[made - self.count].op not in (*ROW_REDUCTIONS, "pick")
        )  # fmt: skip

    def _start(self, v: Value) -> tuple[int, int]:
        offset = self.frames.offsets.get(v.root)
        return (v.root, v.offset) if offset is None else (-1, offset + v.offset)

    def _overlap(self, x: Value, v: Value) -> bool:
        (where, first), (other, second) = self._start(x), self._start(v)
        if where != other:
            return False
        return where >= 0 or (first < second + _extent(v) and second < first + _extent(x))

    def _room(self, kind: str, dtype: str, whole: bool = False) -> _Place:
        """Room for a value: of a block, or of all."""
        rows = self.rows if whole else self.height
        count = {"f": rows * self.columns, "r": rows, "c": self.columns, "s": 1}[kind]
        size = -(-count * SIZES[dtype] // 64) * 64
        step = {"f": self.columns, "r": 1}.get(kind, 0)
        if whole or kind in "cs":
            at = self.top["all"]
            self.top["all"] += size
            return _Place("all", at, kind, dtype, step)
        known = self.free.get(size)
        if known:
            return _Place("block", known.pop(), kind, dtype, step)
        at = self.top["block"]
        self.top["block"] += size
        return _Place("block", at, kind, dtype, step)

    def _release(self, number: int, now: int) -> None:
        if self.last.get(number, -1) > now or number not in self.places:
            return
        own = [self.widened.pop((number, kind), None) for kind in "fr"]
        for place in (self.places.pop(number), *own):
            if place is not None and place.where == "block":
                count = self.height * (self.columns if place.kind == "f" else 1)
                self.free.setdefault(-(-count * SIZES[place.dtype] // 64) * 64, []).append(place.at)

    # ---- instructions ----------------------------------------------------------------------------
    def _lower(self, number: int, one: Instruction) -> None:
        op, kind, dtype = one.op, one.kind, one.dtype
        if op == "const":
            self.places[number] = self._word(one.payload, dtype)
        elif op == "row_count":
            self.places[number] = self._word(self.rows, dtype)
        elif op == "row":
            _limit(self.rows, _MOST_COPIED)
            self.places[number] = _Place("table", _counting(self.rows, "int64"), "r", dtype, 1)
        elif op == "column":
            _limit(self.columns, _MOST_COPIED)
            self.places[number] = _Place("table", _counting(self.columns, "int32"), "c", dtype, 0)
        elif op in ROW_REDUCTIONS:
            self._add(number, op, "F", (self._wide(one.args[0], strided=True),), "f", kind, dtype)
        elif op in LAST_REDUCTIONS:
            self._sum(number, one)
        elif op == "pick":
            table, index = self.places[one.args[0]], self._dense(one.args[1])
            self._add(number, op, "F", (table, index), "fr", kind, dtype)
        elif op == "one_hot":
            self._add(number, op, "F", (self._dense(one.args[0]),), "r", kind, dtype)
        elif op in ("broadcast_f", "broadcast_r"):
            arg = self._dense(one.args[0])
            space = kind if arg.kind == "s" else "F"
            self._add(number, "broadcast_f", space, (arg,), arg.kind, kind, dtype)
        else:
            self._elementwise(number, one)

    def _word(self, x: Any, dtype: str) -> _Place:
        return _Place("word", self.frames.number(x, dtype), "s", dtype, 0)

    def _elementwise(self, number: int, one: Instruction) -> None:
        kind = one.kind
        kinds = "".join(self.group.kind(a) for a in one.args)
        if kind == "f" and kinds in _ROWS.get(one.op, ()) and one.dtype in FLOATS:
            args = tuple(map(self._dense, one.args))
            self._add(number, one.op, "F", args, kinds, kind, one.dtype)
            return
        form = "".join("s" if k == "s" != kind else "f" for k in kinds)
        if one.op != "terms" and form not in _flat_forms(one.op):
            form = "f" * len(form)
        args = tuple(
            self.places[a] if k == "s" else self._wide(a, kind) for a, k in zip(one.args, form)
        )
        self._add(number, one.op, kind, args, form, kind, one.dtype)

    def _sum(self, number: int, one: Instruction) -> None:
        kind = self.group.kind(one.args[0])
        space = "F" if one.op == "column_sum" else kind
        arg = self._wide(one.args[0], "f" if one.op == "column_sum" else kind)
        for o, out in enumerate(self.group.outputs):
            if out.value == number:
                group = primitive(one.op, "f", (arg.dtype,), one.kind, one.dtype)
                self.steps.append(_Step(group, space, (arg,), self._sums(self.outputs[o], one)))

    def _sums(self, v: Value, one: Instruction) -> _Place:
        """Where blocks leave their sums."""
        size = 8 if one.kind == "s" else self.columns * SIZES[one.dtype]
        if one.kind == "c" and (self.block or self.blocks == 1):
            return _Place("value", v, "by block", one.dtype, size)
        _limit(self.blocks, 1 if one.dtype not in FLOATS else self.blocks)
        place = _Place("all", self.top["all"], "by block", one.dtype, size)
        self.top["all"] += -(-self.blocks * size // 64) * 64
        self.sums.append((v, one.op == "total", place))
        return place

    def _add(self, number: int, op: str, space: str, args: tuple[_Place, ...], kinds: str,
             kind: str, dtype: str) -> None:  # fmt: skip
        o = self.direct.get(number)
        if o is None:
            out = self._room(kind, dtype)
        else:
            out = _Place("value", self.outputs[o], kind, dtype, self.columns if kind == "f" else 1)
        made = kind if space == "F" else "f"
        group = self.own.get(number)
        if group is None:
            group = primitive(op, kinds, tuple(x.dtype for x in args), made, dtype)
        steps = self.before if kind in "cs" else self.steps
        steps.append(_Step(group, space, args, out))
        self.places[number] = out

    def _dense(self, number: int) -> _Place:
        """A value whose rows, or numbers of rows, come one after the other."""
        place = self.places[number]
        wanted = {"f": self.columns, "r": 1}.get(place.kind, 0)
        if place.step == wanted:
            return place
        known = self.widened.get((number, place.kind))
        if known is None:
            known = self.widened[number, place.kind] = self._room(place.kind, place.dtype)
            group = primitive("copy", place.kind, (place.dtype,), "f", place.dtype)
            self.steps.append(_Step(group, "F", (place,), known))
        return known

    def _wide(self, number: int, kind: str = "f", strided: bool = False) -> _Place:
        """A value as one of another kind: the same number in all places."""
        place = self.places[number]
        if place.kind == kind:
            return place if strided else self._dense(number)
        known = self.widened.get((number, kind))
        if known is None:
            known = self.widened[number, kind] = self._room(kind, place.dtype)
            place = self._dense(number)
            group = primitive("broadcast_f", place.kind, (place.dtype,), "f", place.dtype)
            space = kind if place.kind == "s" else "F"
            steps = self.before if kind in "cs" else self.steps
            steps.append(_Step(group, space, (place,), known))
        return known

    def _give(self) -> None:
        """Copies what couldn't be computed in its place."""
        clashes = [v for n, (v, _) in enumerate(self.given) if n in self.last]
        # Operands first: what is computed may be written over them.
        for o, out in sorted(enumerate(self.group.outputs), key=lambda x: x[1].value >= self.count):
            v, kind = self.outputs[o], self.group.kind(out.value)
            if kind not in "fr" or self.direct.get(out.value) == o:
                continue
            if out.value < self.count and any(self._overlap(x, v) for x in clashes):
                raise UnforeseenError("an operand is given out over another")
            to = _Place("value", v, kind, self.group.dtype(out.value),
                        self.columns if kind == "f" else 1)  # fmt: skip
            group = primitive("copy", "f", (to.dtype,), "f", to.dtype)
            self.steps.append(_Step(group, kind, (self._dense(out.value),), to))

    # ---- calls -----------------------------------------------------------------------------------
    def calls(self, threaded: bool) -> list[Call]:
        """The calls, those of all blocks in turn or beside each other."""
        _limit(len(self.steps) * self.blocks, _MOST_CALLS)
        addresses = {
            s.group: kernel_address(s.group, None, False) for s in (*self.before, *self.steps)
        }
        lists: list[list[Call]] = []
        parts = max(1, min(get_num_threads(), self.blocks)) if threaded else 1
        each = -(-self.blocks // parts)
        room = -(-self.top["block"] // 64) * 64
        base = -(-self.top["all"] // 64) * 64
        for k, first in enumerate(range(0, self.blocks, each)):
            lists.append([
                self._call(addresses[step.group], step, block, base + k * room)
                for block in range(first, min(first + each, self.blocks)) for step in self.steps
            ])  # fmt: skip
        _limit(base + len(lists) * room, _MOST_BYTES * len(lists))
        self.frames.rooms = max(self.frames.rooms, base + len(lists) * room)
        calls = [self._call(addresses[s.group], s, -1, base) for s in self.before]
        calls += lists[0] if len(lists) == 1 else [self.frames.chain(lists)]
        return calls + [self._end(*one) for one in self.sums]

    def _end(self, v: Value, total: bool, place: _Place) -> Call:
        """The call that adds up the sums of blocks."""
        last = float_word(self.factors.get(v.number, 1.0)) if total else self.columns
        frame = len(self.frames.plain)
        self.frames.plain += [0, 0, last, self.blocks]
        self.frames.roomy.append((frame, place.at))
        self.frames.point(frame + 1, v)
        name = f"{'finish' if total else 'columns'}_{place.dtype}"
        return driver.addresses()[name], frame, 1

    def _call(self, address: int, step: _Step, block: int, room: int) -> Call:
        """A step over a block, or over everything where that is -1."""
        start, height = (0, self.rows) if block < 0 else (block * self.height, self.height)
        height = min(height, self.rows - start)
        rows = height if step.space == "F" else 1
        columns = {"f": height * self.columns, "r": height, "s": 1}.get(step.space, self.columns)
        frames = self.frames
        count = len(step.operands)
        frame = len(frames.plain)
        frames.plain += [0] * (4 + 2 * (count + 1))
        frames.plain[frame : frame + 4] = [rows, columns, rows * columns, rows]
        for k, place in enumerate((*step.operands, step.out)):
            moved = start * place.step * SIZES[place.dtype]
            if place.kind == "by block":
                moved = block * place.step
            self._point(frame + 4 + k, place, moved, room)
            if step.space == "F":
                frames.plain[frame + 5 + count + k] = place.step
        if step.turns is not None:
            frames.plain += step.turns
        return address, frame, 1

    def _point(self, word: int, place: _Place, moved: int, room: int) -> None:
        frames = self.frames
        if place.where == "value":
            frames.point(word, place.at, moved)
        elif place.where == "word":
            frames.fixups.append((word, place.at))
        elif place.where == "table":
            frames.tables.append(place.at)
            frames.plain[word] = arena.address(place.at) + moved
        else:
            frames.roomy.append((word, place.at + (room if place.where == "block" else moved)))


def _extent(v: Value) -> int:
    """Bytes from the first element of a value to behind the last."""
    return sum((n - 1) * abs(s) for n, s in zip(v.shape, v.strides)) + int(v.dtype.itemsize)


def _limit(count: int, most: int) -> None:
    """Leaves to NumPy what takes too many calls, or too much memory."""
    if count > most:
        raise UnforeseenError(f"a kernel in parts takes too much ({count}, the most is {most})")


@lru_cache(64)
def _counting(count: int, dtype: str) -> Any:
    """The numbers from 0 on."""
    return arena.counting(count, dtype)
