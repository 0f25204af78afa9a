"""Functions written as LLVM's text, one typed value at a time.

    module = Module("example")
    f = module.function("scale", [("x", PTR), ("n", I64), ("k", F32)])
    x, n, k = f.params
    wide = F32.vector(16)
    whole = n - n % 16
    with f.loop(0, whole, 16) as loop:
        place = f.at(x, loop.index, F32)
        f.store(place, f.load(place, wide) * k)
    with f.loop(whole, n) as loop:
        place = f.at(x, loop.index, F32)
        f.store(place, f.load(place, F32) * k)
    f.ret()

A `Value` is in single assignment form: each operation makes a new one. Python numbers are constants
of the other operand's type, and a scalar beside a vector is splat over its lanes.

Note [No passes over the code]
What is emitted goes to code generation as it stands: explicit vectors of the machine's width run as
fast as scalar loops that were optimised and vectorised, and compile three times faster. So there
is no common subexpression elimination: keep a value and use it again.

Note [Contraction]
The only freedom that floating-point code gets is `contract`: a product and a sum may become one
fused operation. Where results must equal NumPy's to the bit, set `f.contract = False`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .types import F32, F64, I1, I8, I16, I32, I64, PTR, VOID, Type, literal
from .values import Loop, Number, Operand, Value

__all__ = [
    "F32", "F64", "I1", "I8", "I16", "I32", "I64", "PTR", "VOID", "Function", "Loop", "Module",
    "Number", "Operand", "Type", "Value",
]  # fmt: skip


class Module:
    """A set of functions that are compiled together."""

    def __init__(self, name: str = "module") -> None:
        self.name = name
        self.functions: list[Function] = []
        self._declared: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self.imports: dict[str, int] = {}  # functions of other modules: name, address

    def function(
        self, name: str, params: Sequence[tuple[str, Type]], returns: Type = VOID
    ) -> Function:
        """A new function; `f.params` are its arguments as values."""
        made = Function(self, name, params, returns)
        self.functions.append(made)
        return made

    def declare(self, name: str, returns: Type, params: Sequence[Type]) -> str:
        """Declares an intrinsic, once, and returns its name."""
        if name not in self._declared:
            types = ", ".join(map(str, params))
            self._declared[name] = f"declare {returns} @{name}({types})"
        return name

    def external(self, name: str, address: int, params: Sequence[Type]) -> str:
        """Declares a function of another module, which has been loaded, and gives its name.

        The text doesn't hold the address, so the object can be kept on disk.
        """
        self.imports[name] = address
        return f"@{self.declare(name, VOID, params)}"

    def constants(self, type: Type, numbers: Sequence[Number]) -> str:
        """A read-only array in the module; its name goes to `Function.address_of`."""
        body = ", ".join(f"{type} {literal(type, n)}" for n in numbers)
        text = f"private unnamed_addr constant [{len(numbers)} x {type}] [{body}], align 64"
        return self._constants.setdefault(text, f"@table.{len(self._constants)}")

    def __str__(self) -> str:
        constants = [f"{name} = {text}" for text, name in self._constants.items()]
        bodies = [str(f) for f in self.functions]
        wide = '"prefer-vector-width"="512" "min-legal-vector-width"="512"'
        attributes = f"attributes #0 = {{ nounwind {wide} }}"
        return "\n".join([*constants, *self._declared.values(), *bodies, attributes, ""])


_FLOAT_OPS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "rem": "frem"}
_INT_OPS = {"div": "sdiv", "rem": "srem"}
_FLOAT_TESTS = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_INT_TESTS = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}


class Function:
    """A function under construction: a cursor at the end of its last block."""

    def __init__(
        self, module: Module, name: str, params: Sequence[tuple[str, Type]], returns: Type
    ) -> None:
        self.module = module
        self.name = name
        self.returns = returns
        self.internal = False
        self.contract = True
        self.params = [Value(self, type, f"%{name}") for name, type in params]
        self._entry: list[str] = []
        self._lines: list[str] = []
        self._block = "entry"
        self._count = 0

    def __str__(self) -> str:
        params = ", ".join(map(repr, self.params))
        linkage = "internal " if self.internal else ""
        head = f"define {linkage}{self.returns} @{self.name}({params}) #0 {{"
        return "\n".join([head, "entry:", *self._entry, *self._lines, "}"])

    # -- the text ---------------------------------------------------------------------------

    def emit(self, type: Type, text: str) -> Value:
        """A value computed by one instruction, given as text."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {text}")
        return Value(self, type, name)

    def do(self, text: str) -> None:
        """An instruction without a value."""
        self._lines.append(f"  {text}")

    def constant(self, type: Type, number: Number) -> Value:
        return Value(self, type, literal(type, number))

    def iota(self, type: Type) -> Value:
        """0, 1, 2, ... in the lanes of an integer or float vector."""
        lanes = ", ".join(f"{type.scalar} {literal(type.element, i)}" for i in range(type.lanes))
        return Value(self, type, f"<{lanes}>")

    def call_external(self, name: str, address: int, args: Sequence[Value]) -> None:
        """A call of a function of another module: see `Module.external`."""
        name = self.module.external(name, address, [a.type for a in args])
        self.call(Value(self, PTR, name), args)

    def address_of(self, table: str) -> Value:
        """The address of an array made by `Module.constants`."""
        return Value(self, PTR, table)

    def value(self, operand: Operand, like: Type) -> Value:
        """A number as a constant of the type, a scalar splat over its lanes."""
        if not isinstance(operand, Value):
            return self.constant(like, operand)
        if like.lanes and not operand.type.lanes:
            return self.splat(operand, like.lanes)
        return operand

    def pair(self, a: Operand, b: Operand) -> tuple[Value, Value]:
        """Two operands brought to one type."""
        if isinstance(a, Value):
            wide = b.type if isinstance(b, Value) and b.type.lanes else a.type
        elif isinstance(b, Value):
            wide = b.type
        else:
            raise TypeError("one of two operands must be a value")
        a, b = self.value(a, wide), self.value(b, wide)
        if a.type != b.type:
            raise TypeError(f"operands of different types: {a.type} and {b.type}")
        return a, b

    # -- arithmetic -------------------------------------------------------------------------

    def binary(self, op: str, a: Operand, b: Operand) -> Value:
        a, b = self.pair(a, b)
        if a.type.is_float:
            op = _FLOAT_OPS[op] + (" contract" if self.contract else "")
        else:
            op = _INT_OPS.get(op, op)
        return self.emit(a.type, f"{op} {a!r}, {b.name}")

    def shift_right(self, a: Value, b: Operand) -> Value:
        """Shifted right, zeros coming in."""
        return self.binary("lshr", a, b)

    def compare(self, test: str, a: Operand, b: Operand) -> Value:
        """A mask; false where a float operand is nan, but for `ne`."""
        a, b = self.pair(a, b)
        if a.type.is_float:
            return self.emit(a.type.like(I1), f"fcmp {_FLOAT_TESTS[test]} {a!r}, {b.name}")
        return self.emit(a.type.like(I1), f"icmp {_INT_TESTS[test]} {a!r}, {b.name}")

    def is_nan(self, x: Value) -> Value:
        return self.emit(x.type.like(I1), f"fcmp uno {x!r}, {x.name}")

    def select(self, mask: Value, a: Operand, b: Operand) -> Value:
        """`a` where the mask is set, else `b`; a scalar mask chooses whole vectors."""
        if not isinstance(a, Value) and not isinstance(b, Value):
            raise TypeError("one of two operands must be a value")
        if mask.type.lanes:
            known = a.type if isinstance(a, Value) else b.type  # type: ignore[union-attr]
            like = known.vector(mask.type.lanes)
            a, b = self.value(a, like), self.value(b, like)
        else:
            a, b = self.pair(a, b)
        return self.emit(a.type, f"select {mask!r}, {a!r}, {b!r}")

    def intrinsic(self, name: str, *args: Value, returns: Type | None = None) -> Value:
        """A call of `llvm.<name>`, overloaded for the type of its first argument."""
        type = args[0].type if returns is None else returns
        full = f"llvm.{name}.{args[0].type.suffix}"
        self.module.declare(full, type, [a.type for a in args])
        return self.emit(type, f"call {type} @{full}({', '.join(map(repr, args))})")

    def fma(self, a: Operand, b: Operand, c: Operand) -> Value:
        """a * b + c rounded once (every supported machine has the instruction)."""
        known = [x for x in (a, b, c) if isinstance(x, Value)]
        wide = next((x.type for x in known if x.type.lanes), known[0].type)
        return self.intrinsic("fma", *(self.value(x, wide) for x in (a, b, c)))

    def polynomial(self, x: Value, coefficients: Sequence[Number]) -> Value:
        """Horner's rule, the coefficient of the highest power first."""
        total = self.constant(x.type, coefficients[0])
        for coefficient in coefficients[1:]:
            total = self.fma(total, x, coefficient)
        return total

    def sqrt(self, x: Value) -> Value:
        return self.intrinsic("sqrt", x)

    def abs(self, x: Value) -> Value:
        if x.type.is_float:
            return self.intrinsic("fabs", x)
        return self.intrinsic_flagged("abs", x)

    def intrinsic_flagged(self, name: str, x: Value) -> Value:
        """An integer intrinsic whose second argument says what is poison: here nothing."""
        full = f"llvm.{name}.{x.type.suffix}"
        self.module.declare(full, x.type, [x.type, I1])
        return self.emit(x.type, f"call {x.type} @{full}({x!r}, i1 false)")

    def copysign(self, x: Value, sign: Value) -> Value:
        return self.intrinsic("copysign", x, sign)

    def round_even(self, x: Value) -> Value:
        """The nearest integer as a float, halves to even."""
        return self.intrinsic("rint", x)

    def floor(self, x: Value) -> Value:
        return self.intrinsic("floor", x)

    def maximum(self, a: Operand, b: Operand) -> Value:
        """The larger; nan where either is (float), signed (integer)."""
        a, b = self.pair(a, b)
        if not a.type.is_float:
            return self.intrinsic("smax", a, b)
        # `maxps` gives its second operand where one is nan: then only nan in `a` needs care.
        larger = self.select(a > b, a, b)
        return self.select(self.is_nan(a), a, larger)

    def minimum(self, a: Operand, b: Operand) -> Value:
        """The smaller; nan where either is (float), signed (integer)."""
        a, b = self.pair(a, b)
        if not a.type.is_float:
            return self.intrinsic("smin", a, b)
        smaller = self.select(a < b, a, b)
        return self.select(self.is_nan(a), a, smaller)

    # -- types and lanes --------------------------------------------------------------------

    def cast(self, x: Value, to: Type) -> Value:
        """The value as another scalar type, in as many lanes; i1 counts as 0 and 1.

        A float becomes an integer towards zero; one out of range becomes the nearest bound.
        """
        to = x.type.like(to)
        source = x.type
        if source == to:
            return x
        if to.scalar == "i1":
            return x.ne(0)
        if source.is_float and to.is_float:
            op = "fpext" if to.size > source.size else "fptrunc"
        elif source.is_float:
            full = f"llvm.fptosi.sat.{to.suffix}.{source.suffix}"
            self.module.declare(full, to, [source])
            return self.emit(to, f"call {to} @{full}({x!r})")
        elif to.is_float:
            op = "uitofp" if source.scalar == "i1" else "sitofp"
        elif source.scalar == "i1":
            op = "zext"
        else:
            op = "sext" if to.size > source.size else "trunc"
        return self.emit(to, f"{op} {x!r} to {to}")

    def to_int(self, x: Value, to: Type) -> Value:
        """A float that is known to be in range as an integer, towards zero: one instruction."""
        to = x.type.like(to)
        return self.emit(to, f"fptosi {x!r} to {to}")

    def bits(self, x: Value, to: Type) -> Value:
        """The same bits as another type of the same width."""
        to = x.type.like(to)
        return x if to == x.type else self.emit(to, f"bitcast {x!r} to {to}")

    def splat(self, x: Value, lanes: int) -> Value:
        """A scalar in each lane."""
        if not lanes:
            return x
        if not x.name.startswith("%"):
            return Value(self, x.type.vector(lanes), f"splat ({x.type} {x.name})")
        wide = x.type.vector(lanes)
        first = self.emit(wide, f"insertelement {wide} poison, {x!r}, i64 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.emit(wide, f"shufflevector {first!r}, {wide} poison, {zeros}")

    def shuffle(self, a: Value, b: Value | None, indices: Sequence[int]) -> Value:
        """Lanes picked from `a` followed by `b`."""
        wide = a.type.vector(len(indices))
        picked = ", ".join(f"i32 {i}" for i in indices)
        second = repr(b) if b is not None else f"{a.type} poison"
        return self.emit(wide, f"shufflevector {a!r}, {second}, <{len(indices)} x i32> <{picked}>")

    def extract(self, x: Value, lane: int | Value) -> Value:
        index = f"i64 {lane}" if isinstance(lane, int) else repr(lane)
        return self.emit(x.type.element, f"extractelement {x!r}, {index}")

    def insert(self, x: Value, scalar: Value, lane: int | Value) -> Value:
        index = f"i64 {lane}" if isinstance(lane, int) else repr(lane)
        return self.emit(x.type, f"insertelement {x!r}, {scalar!r}, {index}")

    def halves(self, x: Value) -> tuple[Value, Value]:
        """The lower and the upper lanes of a vector; scalars where there were two."""
        half = x.type.lanes // 2
        if half == 1:
            return self.extract(x, 0), self.extract(x, 1)
        return self.shuffle(x, None, range(half)), self.shuffle(x, None, range(half, 2 * half))

    def fold(self, x: Value, join: Callable[[Value, Value], Value]) -> Value:
        """All lanes joined to a scalar: pairwise, halves first."""
        while x.type.lanes:
            x = join(*self.halves(x))
        return x

    def any(self, mask: Value) -> Value:
        """Whether a lane of the mask is set."""
        if not mask.type.lanes:
            return mask
        return self.intrinsic("vector.reduce.or", mask, returns=I1)

    # -- memory -----------------------------------------------------------------------------

    def at(self, base: Value, index: Operand, type: Type) -> Value:
        """The address of an element; a vector `index` gives a vector of addresses."""
        index = index if isinstance(index, Value) else self.constant(I64, index)
        to = PTR.vector(index.type.lanes)
        return self.emit(to, f"getelementptr {type.element}, {base!r}, {index!r}")

    def at_bytes(self, base: Value, offset: Operand) -> Value:
        """The address so many bytes further."""
        return self.at(base, offset, I8)

    def load(self, place: Value, type: Type, align: int | None = None) -> Value:
        """What lies there; aligned for its scalar, unless told. i1 is kept as a byte."""
        if type.scalar == "i1":
            return self.load(place, type.like(I8)).ne(0)
        return self.emit(type, f"load {type}, {place!r}, align {align or type.size}")

    def store(self, place: Value, value: Value, align: int | None = None) -> None:
        if value.type.scalar == "i1":
            value = self.cast(value, I8)
        self.do(f"store {value!r}, {place!r}, align {align or value.type.size}")

    def mask(self, count: Value, lanes: int) -> Value:
        """Set in the first `count` lanes (an i64)."""
        wide = I64.vector(lanes) if lanes <= 8 else I32.vector(lanes)
        return self.iota(wide) < self.splat(self.cast(count, wide.element), lanes)

    def load_masked(self, place: Value, type: Type, mask: Value, fill: Number = 0) -> Value:
        """The lanes of the mask; the others are `fill`, their memory is not touched."""
        if type.scalar == "i1":
            return self.load_masked(place, type.like(I8), mask, fill).ne(0)
        name = f"llvm.masked.load.{type.suffix}.p0"
        self.module.declare(name, type, [PTR, mask.type, type])
        args = f"ptr align {type.size} {place.name}, {mask!r}, {self.constant(type, fill)!r}"
        return self.emit(type, f"call {type} @{name}({args})")

    def store_masked(self, place: Value, value: Value, mask: Value) -> None:
        """Writes the lanes of the mask, and nothing else."""
        if value.type.scalar == "i1":
            value = self.cast(value, I8)
        name = f"llvm.masked.store.{value.type.suffix}.p0"
        self.module.declare(name, VOID, [value.type, PTR, mask.type])
        place_text = f"ptr align {value.type.size} {place.name}"
        self.do(f"call void @{name}({value!r}, {place_text}, {mask!r})")

    def gather(self, places: Value, type: Type, mask: Value | None = None) -> Value:
        """One element from each of a vector of addresses; 0 where the mask isn't set."""
        mask = self.constant(I1.vector(places.type.lanes), True) if mask is None else mask
        type = type.vector(places.type.lanes)
        name = f"llvm.masked.gather.{type.suffix}.{places.type.suffix}"
        self.module.declare(name, type, [places.type, mask.type, type])
        args = f"{places.type} align {type.size} {places.name}, {mask!r}, {type} zeroinitializer"
        return self.emit(type, f"call {type} @{name}({args})")

    def scratch(self, type: Type, count: int = 1, align: int = 64) -> Value:
        """Memory that lives as long as the call: `count` elements, not set. Keep it small."""
        self._count += 1
        name = f"%v{self._count}"
        self._entry.append(f"  {name} = alloca {type}, i64 {count}, align {align}")
        return Value(self, PTR, name)

    def copy(self, target: Value, source: Value, size: Operand) -> None:
        """Copies bytes that don't overlap."""
        size = size if isinstance(size, Value) else self.constant(I64, size)
        self.module.declare("llvm.memcpy.p0.p0.i64", VOID, [PTR, PTR, I64, I1])
        self.do(f"call void @llvm.memcpy.p0.p0.i64({target!r}, {source!r}, {size!r}, i1 false)")

    def fill(self, target: Value, byte: int, size: Operand) -> None:
        """Sets bytes."""
        size = size if isinstance(size, Value) else self.constant(I64, size)
        self.module.declare("llvm.memset.p0.i64", VOID, [PTR, I8, I64, I1])
        self.do(f"call void @llvm.memset.p0.i64({target!r}, i8 {byte}, {size!r}, i1 false)")

    # -- atomics (i32 and i64) ---------------------------------------------------------------

    def atomic_load(self, place: Value, type: Type) -> Value:
        return self.emit(type, f"load atomic {type}, {place!r} acquire, align {type.size}")

    def atomic_store(self, place: Value, value: Value) -> None:
        self.do(f"store atomic {value!r}, {place!r} release, align {value.type.size}")

    def atomic_add(self, place: Value, value: Value) -> Value:
        """Adds in place; returns what was there."""
        return self.emit(value.type, f"atomicrmw add {place!r}, {value!r} seq_cst")

    def atomic_swap(self, place: Value, expected: Value, wanted: Value) -> tuple[Value, Value]:
        """Replaces `expected` by `wanted`: what was there, and whether it was replaced."""
        type = expected.type
        both = self.emit(type, f"cmpxchg {place!r}, {expected!r}, {wanted!r} seq_cst seq_cst")
        pair = f"{{ {type}, i1 }} {both.name}"
        seen = self.emit(type, f"extractvalue {pair}, 0")
        return seen, self.emit(I1, f"extractvalue {pair}, 1")

    # -- calls and flow -----------------------------------------------------------------------

    def call(self, target: Function | Value, args: Sequence[Value], returns: Type = VOID) -> Value:
        """A call of a function of the module, or of the function at an address."""
        if isinstance(target, Function):
            name, returns = f"@{target.name}", target.returns
        else:
            name = target.name
        text = f"call {returns} {name}({', '.join(map(repr, args))})"
        if returns == VOID:
            self.do(text)
            return Value(self, VOID, "")
        return self.emit(returns, text)

    def ret(self, value: Operand | None = None) -> None:
        """Returns; nothing may follow in this block."""
        if value is None:
            self.do("ret void")
        else:
            self.do(f"ret {self.value(value, self.returns)!r}")
        self._block = ""

    def _label(self, name: str) -> str:
        self._count += 1
        return f"{name}{self._count}"

    def _start(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._block = label

    def _jump(self, label: str) -> None:
        if self._block:
            self.do(f"br label %{label}")

    @contextmanager
    def loop(
        self,
        start: Operand,
        stop: Operand,
        step: Operand = 1,
        carried: Sequence[Value] = (),
        at_least_once: bool = False,
    ) -> Iterator[Loop]:
        """Counts an i64 from `start` while it is below `stop`, carrying values from turn to turn.

        with f.loop(0, n, carried=[total]) as loop:
            loop.next(loop.carried[0] + x)
        (total,) = loop.results
        """
        first, last = self.value(start, I64), self.value(stop, I64)
        before, body, after = self._block, self._label("body"), self._label("after")
        if at_least_once:
            self.do(f"br label %{body}")
        else:
            enter = first < last
            self.do(f"br {enter!r}, label %{body}, label %{after}")
        self._start(body)
        place = len(self._lines)
        inits = [first, *carried]
        phis = []
        for init in inits:
            self._lines.append("")
            self._count += 1
            phis.append(Value(self, init.type, f"%v{self._count}"))
        loop = Loop(phis[0], phis[1:])
        yield loop
        index = phis[0] + step
        again = index < last
        latch = self._block
        self.do(f"br {again!r}, label %{body}, label %{after}")
        for offset, (phi, init, then) in enumerate(
            zip(phis, inits, [index, *loop.successors], strict=True)
        ):
            if then.type != phi.type:
                raise TypeError(f"a carried {phi.type} becomes {then.type}")
            self._lines[place + offset] = (
                f"  {phi.name} = phi {phi.type} [{init.name}, %{before}], [{then.name}, %{latch}]"
            )
        self._start(after)
        if at_least_once:
            loop.results = loop.successors
        else:
            loop.results = [
                self.emit(
                    init.type,
                    f"phi {init.type} [{init.name}, %{before}], [{then.name}, %{latch}]",
                )
                for init, then in zip(carried, loop.successors, strict=True)
            ]

    def repeat(
        self,
        carried: Sequence[Value],
        body: Callable[[list[Value]], tuple[Value, Sequence[Value]]],
    ) -> list[Value]:
        """Runs `body` until it says no; what it carried last.

        It gets the carried values, and gives whether to go on and their successors.
        """
        before, top, after = self._block, self._label("again"), self._label("after")
        self.do(f"br label %{top}")
        self._start(top)
        place = len(self._lines)
        phis = []
        for init in carried:
            self._lines.append("")
            self._count += 1
            phis.append(Value(self, init.type, f"%v{self._count}"))
        again, successors = body(phis)
        latch = self._block
        self.do(f"br {again!r}, label %{top}, label %{after}")
        for offset, (phi, init, then) in enumerate(zip(phis, carried, successors, strict=True)):
            self._lines[place + offset] = (
                f"  {phi.name} = phi {phi.type} [{init.name}, %{before}], [{then.name}, %{latch}]"
            )
        self._start(after)
        return list(successors)

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Code that runs only if the condition (an i1) holds; it may end with `ret`."""
        then, after = self._label("then"), self._label("after")
        self.do(f"br {condition!r}, label %{then}, label %{after}")
        self._start(then)
        yield
        self._jump(after)
        self._start(after)

    def choose(
        self,
        condition: Value,
        then: Callable[[], Sequence[Value]],
        otherwise: Callable[[], Sequence[Value]],
    ) -> list[Value]:
        """Runs one of two pieces of code; the values are those of the one that ran."""
        yes, no, after = self._label("then"), self._label("else"), self._label("after")
        self.do(f"br {condition!r}, label %{yes}, label %{no}")
        self._start(yes)
        left = list(then())
        left_end = self._block
        self._jump(after)
        self._start(no)
        right = list(otherwise())
        right_end = self._block
        self._jump(after)
        self._start(after)
        if not left_end or not right_end:
            return left if left_end else right
        return [
            self.emit(a.type, f"phi {a.type} [{a.name}, %{left_end}], [{b.name}, %{right_end}]")
            for a, b in zip(left, right, strict=True)
        ]
