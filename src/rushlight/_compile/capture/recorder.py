"""The recorder: turns what a step does to arrays into a program while the step runs for real.

Note [Which tensors a program reads]
An array that no recorded call has made is an input. Where it belongs to an argument, or to a leaf's
gradient from before the step, it is looked up there at each call. Else the program keeps the tensor
object and reads its array at each call, so that `p.data = ...` and `load_state_dict` work. So
would a tensor be kept that something unrecorded has made during the step; but a step is compiled
only when two recordings agree (see `difference`), and in the other one it is another object.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.memory import aliasing as A
from ..._array.memory.dense_layout import order_like
from ..._core.engine import WORLDS
from ..._core.mode import CURRENT, current, derive
from ..._core.storage import TensorBase, bump, new_tensor, version_cell, version_of
from ..._tensor import settings
from ..guards.memory_overlap import separate
from ..ir.expressions import Expr
from ..ir.program import Instruction, Program, Value, cells
from ..refusal import Refusal, is_rushlight, user_line
from .array_proxies import Names, Proxy, World
from .element_reads import holds_read
from .factories import Factory, Keywords, Like
from .message_recorder import MessageRecorder
from .number_recorder import NumberRecorder, settle_reads
from .symbolic_numbers import NUMBERS, plain_number
from .weak_tables import ById, loosely, refers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Arguments, Positional
    from ..._core.op import Op
    from ..._tensor.tensor import Tensor
    from ...optim.optimizer import Optimizer
    from .array_proxies import Attribute

PURE_KINDS = frozenset({"elementwise", "linear", "multilinear", "selection"})  # only compute


class Recorder(NumberRecorder, MessageRecorder):
    """Notes the calls of one step. It is the `recorder` of the mode in which the step runs."""

    def __init__(self, arguments: list[Tensor], leaves: list[Tensor],
                 known: dict[int, Any]) -> None:  # fmt: skip
        self.program = Program()
        self.values = ById()  # by the array
        self.roots = ById()  # by what holds the memory
        self.starts: dict[int, int] = {}  # where roots begin in their memory, if not at its start
        self.kept: list[Any] = []  # cells, whose ids may not be used again
        self.world: Any = World(self)
        self.names: Any = Names(self)
        self.known = dict(known)  # tensors that were there before, by id of their array
        self.problem: tuple[str, Any] | None = None
        NumberRecorder.__init__(self)
        self.leaves = {id(leaf): leaf for leaf in leaves}
        self.entry = {id(leaf): loosely(leaf._grad) for leaf in leaves}
        self.state = dict(self.entry)  # what the program has left in each leaf's `.grad`
        self.versions = {id(t): version_of(t) for t in known.values()}
        self.writes: dict[int, int] = {}  # of tensors that were there before
        self.muted = 0
        self.draws = 0  # of random numbers, that aren't recorded yet
        self.drawn = 0  # the same before the row that runs
        self.part = 0  # of the program that instructions belong to
        self.joint: Any = None
        #: Tensors that the step was given or has made: references, and their versions.
        self.watched = ById()
        for t in (*arguments, *(g for leaf in leaves if (g := leaf._grad) is not None)):
            self._watch(t)
        self.arguments = frozenset(map(id, arguments))
        self.described: dict[int, Any] = {}  # tensors of the result, see `outputs.py`
        self.cells: dict[int, Any] = {}  # those among them that have a count of writes, by that
        self.unset: dict[int, Any] = {}
        for position, t in enumerate(arguments):
            if id(t._raw) not in self.values:
                self._input("argument", t._raw, position)

    # ---- values --------------------------------------------------------------------------------
    def refuse(self, why: str, where: tuple[None, int] | None = None) -> None:
        """Notes the first reason for which the step can't be compiled."""
        if self.problem is None:
            self.problem = (why, where or user_line())

    def _value(self, kind: str, raw: Array, holder: object = None) -> Value:
        program = self.program
        number = len(program.values)
        memory = A.memory_of(raw)
        root = self.roots.get(id(memory))
        if root is None:
            root = number
            self.roots.put(memory, number)
            if memory is not raw and isinstance(memory, A.ndarray):
                self.starts[number] = A.distance(memory, raw)
            elif memory is not raw:
                self.starts[number] = A.address(raw)
        value = Value(number, kind, raw, root, holder)
        if root != number:
            whole = memory if isinstance(memory, A.ndarray) else None
            place = A.address(raw) if whole is None else A.distance(whole, raw)
            value.offset = place - self.starts.get(root, 0)
        program.values.append(value)
        self.values.put(raw, value)
        return value

    def _watch(self, t: Any) -> None:
        self.watched.put(t, (loosely(t), version_of(t), id(t._raw)))

    def _check(self, t: Any) -> None:
        """Looks for writes to a tensor of the step's that weren't seen, before it is read."""
        base = t if t._view is None else t._view.base
        known = self.watched.get(id(base))
        if known is not None and base._cell is not None:
            moved = base._cell.n - known[1]
            if moved and moved != self.writes.get(id(base._cell), 0):
                self.refuse("a tensor was written by something that can't be recorded")

    def _input(self, kind: str, raw: Array, holder: Tensor | int | None = None) -> Value:
        value = self._value(kind, raw, holder)
        self.program.inputs.append(value)
        return value

    def constant(self, raw: Array) -> Value:
        """An array that the library has made and that is the same in each call."""
        return self.values.get(id(raw)) or self._input("constant", raw)

    def value_of(self, t: TensorBase) -> Value:
        """The value that a tensor's array is, as it is read."""
        self._check(t)
        return self.value_under(t)

    def value_under(self, t: TensorBase) -> Value:
        """The value that a tensor's array is."""
        raw = t._raw
        found: Value | None = self.values.get(id(raw))
        if found is not None:
            return found
        for leaf in self.leaves.values():
            if refers(self.entry[id(leaf)], t):
                return self._input("gradient", raw, leaf)
        holder = self.known.get(id(raw), t)
        if not holder._plain:
            self.refuse("it works on a tensor of a subclass, or under a transform")
        if holder._cell is not None and id(holder) not in self.versions:
            self.versions[id(holder)] = version_of(holder)
        return self._input("tensor", raw, holder)

    def array(self, raw: Array) -> Value:
        """The value of an array that is nobody's tensor: known, or a constant."""
        return self.values.get(id(raw)) or self.constant(raw)

    def has_made(self, t: Tensor) -> bool:
        """Whether the step has made a tensor, and the memory that it shows."""
        found = self.values.get(id(t._raw))
        return found is not None and self.program.values[found.root].kind == "result"

    def define(self, raw: Array) -> Value | None:
        """A new value; None where the array is one already."""
        if id(raw) in self.values:
            return None
        return self._value("result", raw)

    def renew(self, raw: Array) -> None:
        """An array of a value that nothing asks for any more becomes that of another value."""
        for table in (self.values, self.roots):
            table.pop(id(raw), None)

    def operand(self, arg: Tensor, raw: Array) -> Value:
        """An argument of a call: a value, a list with values, or as it is."""
        if isinstance(arg, TensorBase):
            value = self.value_of(arg)
            if raw is arg._raw:
                return value
            made = self.define(raw)
            if made is not None:
                self.add("call", A.astype, "astype", (value, raw.dtype), (made,), pure=True)
            return self.values[id(raw)]
        if type(arg) in NUMBERS:
            return self.number(arg, raw)
        if isinstance(arg, (list, tuple)) and any(isinstance(x, TensorBase) for x in arg):
            return [self.operand(x, r) for x, r in zip(arg, raw)]
        if type(raw) is A.ndarray and id(raw) in self.values:
            return self.values[id(raw)]
        return raw

    def add(self, kind: str, function: object, name: str, inputs: tuple[object, ...],
            outputs: tuple[Value | None, ...], **more: Any) -> Instruction:  # fmt: skip
        """Appends an instruction."""
        made = Instruction(kind, function, name, inputs, outputs, where=user_line(), **more)
        made.part = self.part
        self.program.instructions.append(made)
        return made

    # ---- what the slow path tells --------------------------------------------------------------
    def note_call(self, op: Op, args: list[Tensor], raws: list[Array], outs: list[Tensor],
               plain: Array | None = None) -> None:  # fmt: skip
        """A row has run; `plain` is its result where that has been laid out anew."""
        self.attempt = []
        if self.muted:
            return
        self.draws = self.drawn  # what the row has drawn the program draws
        if op.row is not None and op.row.shaped_by_values(args):
            self.refuse(f"the shape of what `{op.name}` gives depends on values")
        inputs = self.operands(op, args, raws)
        made = tuple(self.define(out._raw) for out in outs)
        for out in outs:
            self._watch(out)
        first = made if plain is None else (self.define(plain),)
        self.add("call", op.raw, op.name, inputs, first, op=op, pure=op.kind in PURE_KINDS,
                 several=op.n_out != 1)  # fmt: skip
        if plain is not None:
            listed = list(inputs)[:: op.ordered]
            self.add("call", order_like, "ordered_like", (*first, listed), made, pure=True)

    def wrote(self, op: Op, args: Arguments, raws: Arguments, me: Any, writer: object) -> None:
        """A row has written its first operand."""
        self.attempt = []
        if self.muted:
            return
        if op.expanded is not None and 0 in me._raw.strides:
            self.refuse(f"`{op.name}_` writes elements that share memory, and warns of it")
        raws = [me._raw, *raws[1:]]
        self.note_write(me)
        inputs = self.operands(op, args, raws)
        self.add("write", writer or op.raw, op.name, inputs, (), op=op, holder=writer is not None)

    def note_write(self, me: Any) -> None:
        """Counts a write, to be compared with the versions when the step is over."""
        value = self.value_under(me)
        written = self.program.written
        written[value.root] = written.get(value.root, 0) + 1
        cell = version_cell(me)  # tensors that `detach` gives share it
        self.kept.append(cell)
        self.writes[id(cell)] = self.writes.get(id(cell), 0) + 1

    def note_copy(self, copy: Any, t: Tensor) -> None:
        """The core has copied a tensor that is about to be written."""
        value = self.value_of(t)
        made = self.define(copy._raw)
        self.add("call", T.copy_like, "copy", (value, value), (made,), pure=True)

    def note_refill(self, t: Tensor, fill: Any, operands: Positional = (), draws: int = 1) -> None:
        """A tensor has been written by a function of its array and those of the operands."""
        self.draws -= draws
        if any(A.is_array(x) for x in cells(fill)):
            self.refuse("random numbers are drawn in a way that follows a tensor")
        inputs = (self.value_under(t), *[self.value_of(x) for x in operands])
        self.note_write(t)
        self.add("write", fill, "fill", inputs, (), holder=True, draws=draws > 0)

    def note_fill(self, t: Tensor) -> None:
        """The library has made a tensor from numbers and a shape: a copy of a constant."""
        source = A.copy_alike(t._raw)
        value = self.constant(source)
        made = self.define(t._raw)
        self._watch(t)
        self.add("call", A.copy_alike, "filled", (value,), (made,))

    def drew(self, function: AnyCallable, args: tuple[object, ...], made: list[Any]) -> None:
        """Random arrays have been made by a function of arrays."""
        args = self.constants(args, "random numbers")
        inputs = tuple(self.value_of(a) if isinstance(a, TensorBase) else a for a in args)
        outs = tuple(self.define(t._raw) for t in made)
        self.add("call", function, "random", inputs, outs, several=True, draws=True)

    def factory(
        self, function: AnyCallable, name: str, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> Any:
        """A function that makes a tensor from numbers and shapes is asked for one."""
        stem = name.partition(".")[0]
        if stem == "_local_scalar_dense":
            return self.item(args[0], self.quietly(function, args, kwargs))
        if holds_read((args, kwargs)):
            self.refuse("a number that the step reads by `item()` goes back into a tensor")
        args, kwargs = self.constants(args, f"`{stem}`"), self.constants(kwargs, f"`{stem}`")
        result = self.quietly(function, args, kwargs)
        if stem == "detach" or not isinstance(result, TensorBase) or "out" in kwargs:
            if "out" in kwargs:
                self.refuse(f"`{stem}` writes a tensor given as out=")
            return result
        if stem == "lift_fresh" and args and isinstance(args[0], TensorBase):
            self.refuse("`tensor` copies a tensor; use clone().detach()")
        kept = {k: v for k, v in kwargs.items() if k != "requires_grad"}
        shown = [Like.of(a) if isinstance(a, TensorBase) else a for a in args]
        make = Factory(function, shown, kept)
        if _holds_tensor((args, list(kwargs.values()))) and not stem.endswith("_like"):
            self.refuse(f"`{stem}` takes its numbers from a tensor")
        made = self.define(result._raw)
        self._watch(result)
        if made is not None:
            draws = stem.startswith("rand")
            self.add("call", make, stem, (), (made,), pure=not draws, draws=draws)
        return result

    def quietly(self, function: Any, args: Sequence[object], kwargs: Mapping[str, object]) -> Any:
        """A call of which nothing is noted."""
        before = CURRENT.get()
        try:
            CURRENT.set(derive(current(), recorder=None))
            return function(*args, **kwargs)
        finally:
            CURRENT.set(before)

    def read(self, t: Tensor, how: str, value: object) -> Any:
        """Python has read the elements of a tensor."""
        if type(value) is bool and how in ("bool()", "is_nonzero()") and t._plain:
            self.note_decision(Expr(bool, self.leaf(t)), value)
            return value
        if type(value) is int and how in ("int()", "index()") and t._plain:
            self.note_decision(Expr(operator.eq, Expr(int, self.leaf(t)), value), True)
            return value
        self.refuse(f"the step reads the value of a tensor by `{how}`")
        return value

    def note_question(self, t: Tensor, name: str, file: str) -> None:
        """Code of a file asks a tensor about its memory or history, by this name."""
        # `torch.is_inference(x)`, in `settings`, asks for who calls it.
        if (file == settings.__file__ or not is_rushlight(file)) and not self.has_made(t):
            self.refuse(f"the step asks a tensor that it didn't make for `{name}`")

    # ---- backward ------------------------------------------------------------------------------
    def to_proxy(self, x: object) -> Any:
        """An operand of a formula: a Tensor becomes a proxy."""
        if isinstance(x, TensorBase):
            self.value_of(x)
            return Proxy(x._raw, self)
        if type(x) is list or type(x) is tuple:
            return type(x)(self.to_proxy(y) for y in x)
        if x is WORLDS.traced:
            return self.names
        return x

    def from_proxy(self, x: object) -> Any:
        """A result of a formula: a proxy becomes a Tensor."""
        if type(x) is Proxy:
            return new_tensor(x.raw)
        if type(x) is list or type(x) is tuple:
            return type(x)(self.from_proxy(y) for y in x)
        if type(x) is A.ndarray:
            self.array(x)
            return new_tensor(x)
        return x

    def run(
        self,
        function: AnyCallable | Attribute,
        name: str,
        args: Sequence[object],
        kwargs: Any = None,
        over: Proxy | None = None,
    ) -> Any:
        """Calls a function on the arrays of proxies, and notes the call.

        Its result is written over the array of `over`, a temporary among them.
        """
        raws = [_bare(x) for x in args]
        if kwargs:
            bare = {k: _bare(v) for k, v in kwargs.items()}
            if any(bare[k] is not kwargs[k] for k in kwargs):
                raise TypeError("an array given by keyword")
            result = function(*raws, **kwargs)
            function = Keywords(function, kwargs)
        elif over is not None:
            result = A.UFUNC_OF[function](*raws, out=over.raw)
        else:
            result = function(*raws)
        computes = type(function) is A.ufunc or function in A.UFUNC_OF or function is operator.pow
        inputs = tuple(self._proxy_operand(x, computes) for x in args)
        several = isinstance(result, (list, tuple)) and any(A.is_array(r) for r in result)
        if several:
            arrays = [A.as_array(r) if A.is_array(r) else r for r in result]
            made = tuple(self.define(r) if A.is_array(r) else None for r in arrays)
            self.add("call", function, name, inputs, made, several=True, pure=True)
            return type(result)([Proxy(r, self) if A.is_array(r) else r for r in arrays])
        if not A.is_array(result):
            return result
        if hasattr(result, "held"):
            self.refuse("a gradient has only some rows: it is a sparse tensor")
            return Proxy(result, self)
        array = A.as_array(result)
        if over is not None:
            self.renew(array)
        made = (self.define(array),)
        if made[0] is not None:
            self.add("call", function, name, inputs, made, pure=True)
        return Proxy(array, self)

    def _proxy_operand(self, x: Any, computes: bool = False) -> Any:
        if type(x) is Proxy:
            return self.array(x.raw)
        if type(x) in NUMBERS:
            return self.number(x, plain_number(x), computes or type(plain_number(x)) is float)
        if type(x) is list or type(x) is tuple:
            return type(x)(self._proxy_operand(y, computes) for y in x)
        return x

    def formula(self, formula: AnyCallable, arguments: Arguments) -> Any:
        """The result of a formula on Tensors, by the calls that it makes on arrays."""
        given = [self.to_proxy(x) for x in arguments]
        program = self.program
        marks = len(program.instructions), len(program.values), len(program.inputs)
        try:
            return self.from_proxy(formula(*given))
        except (TypeError, AttributeError, ValueError, IndexError):
            del program.instructions[marks[0] :]
            for table in (self.values, self.roots):
                for key, x in list(table.items()):
                    if (x if type(x) is int else x.number) >= marks[1]:
                        del table[key]
            del program.values[marks[1] :], program.inputs[marks[2] :]
        raws = [_bare(WORLDS.raw if x is self.names else x) for x in given]
        result = formula(*raws)
        several = isinstance(result, (list, tuple))
        arrays = [None if r is None else A.as_array(r) for r in (result if several else [result])]
        inputs = tuple(WORLDS.raw if x is self.names else self._proxy_operand(x) for x in given)
        made = tuple(None if r is None else self.define(r) for r in arrays)
        name = getattr(formula, "__name__", "formula")
        self.add("call", formula, name, inputs, made, several=several, pure=True)
        tensors = [None if r is None else new_tensor(r) for r in arrays]
        return tensors if several else tensors[0]

    def receive(self, leaf: Any, g: Any, owned: bool) -> None:
        """A gradient has reached a leaf: does what `receive` does, and notes it."""
        value = self.array(g)
        old = leaf._grad
        self._meet(leaf)
        if old is None:
            if self.state[id(leaf)] is None and self.entry[id(leaf)] is None:
                self.unset[id(leaf)] = leaf
            target = self.value_of(leaf)
            if owned and value.kind == "result" and not value.view and T.owns(g, leaf._raw):
                fresh = g  # the program copies it, unless it sees that it needn't
                self.renew(g)
            else:
                fresh = T.copy_like(g, leaf._raw)
            made = self.define(fresh)
            self.add("call", T.copy_like, "in_layout", (value, target), (made,), pure=True)
            leaf._grad = new_tensor(fresh)
            return
        target = self.value_of_gradient(leaf, old)
        T.add_into(old._raw, g)
        bump(old)
        self.note_write(old)
        self.add("write", T.add_into, "add_into", (target, value), (), holder=True)

    def value_of_gradient(self, leaf: Any, grad: Tensor) -> Value:
        """The value that a leaf's gradient is, by that name alone.

        One that is an argument as well, or another leaf's, would go on being read and written by
        the other name when the leaf has another gradient. `grad` was read once: another thread may
        have taken it away since.
        """
        value = self.value_of(grad)
        before = value.kind != "result" and refers(self.entry.get(id(leaf)), grad)
        if before and not (value.kind == "gradient" and value.holder is leaf):
            self.refuse("a gradient is an argument or another tensor of the step, too")
        return value

    def tell_gradients_apart(self) -> None:
        """Refuses a step that may read gradients where one has two names."""
        gradients = [g._raw for leaf in self.leaves.values() if (g := leaf._grad) is not None]
        raws = {id(raw) for raw in gradients} - set(self.values)
        raws -= {id(leaf._raw) for leaf in self.leaves.values()}
        if len(raws) < len(gradients):
            self.refuse("a gradient is an argument or another tensor of the step, too")

    def _meet(self, leaf: Tensor) -> None:
        if id(leaf) not in self.leaves:
            self.leaves[id(leaf)] = leaf
            self.entry[id(leaf)] = self.state[id(leaf)] = loosely(leaf._grad)

    # ---- optimizers ----------------------------------------------------------------------------
    def _is_own_leaf(self, leaf: Tensor) -> bool:
        """Whether a leaf is a tensor that the step itself has made."""
        value = self.values.get(id(leaf._raw))
        return value is not None and value.kind == "result"

    def sync(self, leaf: Tensor) -> None:
        """Notes what has become of a leaf's `.grad` since the program last touched it."""
        self._meet(leaf)
        now = leaf._grad
        if refers(self.state[id(leaf)], now):
            return
        if self._is_own_leaf(leaf):
            return  # nobody asks for its gradient afterwards
        self.state[id(leaf)] = loosely(now)
        if now is None:
            self.add("grad", None, "clear_grad", (), (), holder=leaf)
        elif refers(self.entry[id(leaf)], now):
            self.refuse("a gradient was taken away and given back")
        else:
            value = self.value_of(now)
            if value.kind == "argument":
                self.refuse("an argument becomes a gradient")
            self.add("grad", None, "set_grad", (value,), (), holder=leaf)

    def optimizer_step(
        self, optimizer: Optimizer, step: object, args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> Any:  # fmt: skip
        """Runs an optimizer, which stays one instruction: its state and options are its own."""
        closure = args[0] if args else kwargs.get("closure")
        if closure is not None:
            self.refuse(f"{type(optimizer).__name__}.step takes a closure")
            return self.quietly(step, (optimizer, *args), kwargs)
        leaves = [p for group in optimizer.param_groups for p in group["params"]]
        for leaf in leaves:
            self.sync(leaf)
        before = [(p, p._raw, p._grad, version_of(p)) for p in leaves]
        reads = [None if g is None else self.value_of_gradient(p, g) for p, _, g, _ in before]
        targets = [self.value_of(p) for p in leaves]
        with self.plain_options(optimizer):
            result = self.quietly(step, (optimizer,), {})
        for p, raw, grad, version in before:
            if p._raw is not raw or p._grad is not grad:
                self.refuse(f"{type(optimizer).__name__} replaced a parameter's memory")
            cell = id(version_cell(p))
            self.writes[cell] = self.writes.get(cell, 0) + version_of(p) - version
        for value in (*reads, *targets):
            if value is None:
                continue
            written = self.program.written
            written[value.root] = written.get(value.root, 0) + 1
        self.add("step", step, f"{type(optimizer).__name__}.step", (targets, reads), (),
                 holder=optimizer)  # fmt: skip
        if result is not None:
            self.refuse(f"{type(optimizer).__name__}.step returned something")
        return result

    # ---- the end -------------------------------------------------------------------------------
    def finish(self) -> None:
        """Notes the gradients as the step leaves them, and looks for writes that weren't seen.

        Raises:
            Refusal: where the step can't be compiled.
        """
        self.settle_attempt()
        if self.draws:
            self.refuse("random numbers are drawn in a way that can't be recorded", (None, 0))
        for leaf in list(self.leaves.values()):
            self.sync(leaf)
        settle_reads(self)
        for t in self.known.values():
            moved = version_of(t) - self.versions[id(t)]
            if t._view is None and moved and moved != self.writes.get(id(version_cell(t)), 0):
                self.refuse("a tensor was written by something that can't be recorded", (None, 0))
        for held, before, raw_id in list(self.watched.values()):
            if (t := held()) is None:
                continue
            moved = version_of(t) - before
            if t._view is None and moved and moved != self.writes.get(id(version_cell(t)), 0):
                self.refuse("a tensor was written by something that can't be recorded", (None, 0))
            if id(t._raw) != raw_id and any(refers(x, t) for x in self.entry.values()):
                self.refuse("the memory of a gradient was replaced; write it in place", (None, 0))
        self.watched.clear()
        if any(id(t._raw) != raw_id for raw_id, t in self.known.items()):
            why = "the memory of a tensor was replaced (`p.data = ...`); write it in place"
            self.refuse(why, (None, 0))
        self.program.leaves = [x for x in self.leaves.values() if not self._is_own_leaf(x)]
        self.program.without = [x for x in self.unset.values() if not self._is_own_leaf(x)]
        self.program.entry = [(x, self.entry[id(x)] is None) for x in self.program.leaves]
        if self.problem is not None:
            raise Refusal(*self.problem)
        separate(self.program)

    def close(self) -> None:
        """Lets go of everything: the recording is over."""
        super().close()
        self.world = self.names = None
        for table in (self.values, self.roots, self.watched, self.known, self.leaves, self.entry,
                      self.state, self.described, self.cells, self.unset):  # fmt: skip
            table.clear()
        self.kept.clear()


def _bare(x: object) -> Any:
    """An operand with arrays in place of proxies, and ordinary numbers."""
    if type(x) is Proxy:
        return x.raw
    if type(x) in NUMBERS:
        return plain_number(x)
    if type(x) is list or type(x) is tuple:
        return type(x)(_bare(y) for y in x)
    return x


def _holds_tensor(x: object) -> bool:
    if isinstance(x, TensorBase):
        return True
    return isinstance(x, (list, tuple)) and any(_holds_tensor(y) for y in x)
