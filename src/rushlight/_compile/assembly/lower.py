"""Lowering: which instructions run natively, in which order, in which memory.

Instructions become commands of the driver (see `driver`): kernels of fused instructions, products
of matrices, sweeps of optimizers. Views cost nothing: they are addresses. What has no native form
is called from Python, and ends a segment; a segment is one native call.

Note [Where values lie]
A result that only the program sees lies in the arena, at an offset that is settled when the program
is compiled: two values share memory if one is dead before the other is made. What is returned, or
becomes a gradient, is allocated in each call. An array that differs from call to call (these, and
all inputs) has a slot for its id; the driver looks up where its elements are.
"""

from __future__ import annotations

import weakref
from copy import copy
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory import aliasing as A, arena
from ..._array.memory.parallel import get_num_threads
from ..._base.fork_locks import in_child, long_lock
from ..._formula.ir import GroupError
from ..._native.cpython.builtin_call import starter
from ..._native.fusion.row_loops import REGISTERS, Frame
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..._native.llvm.loader import UnforeseenError
from ..._native.threads import thread_pool as pool
from ..ir.iteration_space import Layout
from ..ir.iteration_values import DTYPES, in_order, size_of
from ..ir.messages import alike_on_all_ranks
from ..ir.program import Instruction, Program, Value
from ..lowering.commands import Command
from ..lowering.fusion import Kernel
from ..lowering.gemm import Matrix, Product
from ..lowering.optimizer_sweeps import Sweep
from ..passes.apart import LARGE, apart
from ..passes.layout import copy_unordered
from ..passes.memory import place_items
from ..passes.pools import pool_before_relu
from ..passes.rows_last import put_rows_last
from ..passes.scalar_inputs import bind_scalars
from ..passes.split_reductions import in_pieces
from ..report import lines_of
from . import driver
from .call_frames import CHUNK, ONE, THREADED, Frames, float_word, kernel_address
from .kernel_parts import KernelParts
from .plan import Plan, reads_of, results_of, rows_of

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable
    from ..._formula.ir import Group
    from ..lowering.optimizer_sweeps import Part

#: Calls for an instruction at most, in kernels in parts over large arrays.
_PASSES: Final = 3
#: Elements of a piece of a flat array.
FLAT = 4096
#: Rows at least that are summed up by a chunk.
_LEAST: Final = 4


#: Why programs have no native form, the last few.
PROBLEMS: list[Exception] = []
MACHINES: weakref.WeakSet[Any] = weakref.WeakSet()


def _after_fork() -> None:
    # Another thread may have been at work with the frames; in the child nobody is.
    for machine in list(MACHINES):
        if not machine.lock._is_owned():
            machine.gate[0] = 0


in_child(_after_fork)


class Refused(Exception):
    """Instructions that turn out to have no native form."""

    def __init__(self, instructions: list[Instruction], why: Exception) -> None:
        super().__init__(str(why))
        self.instructions = instructions


class ExecutablePlan(Frames):
    """A plan in memory: the arena, the words of all frames, and a call per segment."""

    def __init__(self, plan: Plan, kept: set[int]) -> None:
        super().__init__()
        self.plan = plan
        self.kept = kept  # roots that outlive the call
        self.groups: dict[int, Any] = {}
        for place, wanted in plan.find_wanted().items():
            item = plan.items[place]
            try:
                self.groups[place] = item.finish(wanted)
            except GroupError as error:
                raise Refused(plan.instructions_of(item), error) from None
        self._lay_out()
        self.size = max(self.top, 64)
        self.memory = arena.block(self.size)
        self.base = arena.address(self.memory)
        self.segments: list[tuple[int, int]] = []
        self.lock = long_lock()
        self.gate = arena.table(
            arena.words(1), 0, 1
        )  # other than 0: somebody works with the frames
        MACHINES.add(self)
        self.scalars: dict[int, list[tuple[str, int]]] = {}  # of each part of a sweep
        self.rates: dict[int, int] = {}  # of each part the word where what they need begins
        self.equal: list[tuple[int, int]] = []

    def __str__(self) -> str:
        return "\n".join(lines_of(self))

    def reachable(self, names: dict[int, str]) -> bool:
        """Whether every array that is told in each call has a name, or is made by the program."""
        made = {o.root for i in self.plan.items if isinstance(i, Instruction) for o in i.outputs
                if o is not None}  # fmt: skip
        return all(root in names or root in made or root in self.kept for root in self.slots)

    def prepare(self) -> None:
        """Tells the driver which threads there are."""
        state = pool.state(get_num_threads())
        for word in self.pools:
            self.all[word] = state

    def starter(self, segment: int) -> AnyCallable:
        """Runs a segment: None, or NotImplemented where a check refuses."""
        return starter("run", driver.addresses()["run"], self.states[segment])

    def fresh(self, segment: int) -> list[Value]:
        """The values that a segment makes and that outlive the call."""
        return [v for item in self._items(segment) for v in results_of(item)
                if v.root in self.kept and v.kind != "write"]  # fmt: skip

    def used(self, segment: int) -> list[int]:
        """The roots whose arrays a segment is told in each call."""
        slots = {slot for slot, _, _ in self.patches[segment]}
        return [root for root, slot in self.slots.items() if slot in slots]

    def _items(self, segment: int) -> list[Any]:
        found: list[Any] = []
        if self.starts[segment] < 0:
            return found
        for item in self.plan.items[self.starts[segment] :]:
            if isinstance(item, Instruction):
                if item.kind != "grad":
                    break
            else:
                found.append(item)
        return found

    # ---- memory --------------------------------------------------------------------------------
    def _lay_out(self) -> None:
        """Offsets in the arena."""
        self.offsets, self.top, self.reused = place_items(
            self.plan.items, self.kept, reads_of, results_of, self.groups
        )

    def array(self, v: Value) -> Array:
        """A value in the arena as an array, for calls from Python."""
        start = self.offsets[v.root] + v.offset
        return arena.array_at(self.memory, start, v.shape, v.dtype, v.strides)

    def in_arena(self, v: Value) -> bool:
        """Whether a value lies in the arena."""
        return v.root in self.offsets

    # ---- words ---------------------------------------------------------------------------------
    def build(self, scalars: int = 0) -> None:
        """Writes all frames, and the tables of each segment."""
        for v in self.plan.program.values:
            if v.kind == "number":
                self.numbers_at[v.number] = len(self.plain)
                self.plain.append(0)
        tables: list[tuple[list[Any], int]] = []
        left: list[Instruction] = []  # what has commands, but no code
        here: list[Any] = []
        start = 0
        for place, item in enumerate([*self.plan.items, None]):
            native = item is not None and not isinstance(item, Instruction)
            if native:
                if not here:
                    start = place
                    self.patches.append([])
                try:
                    here.extend(self._commands(place, item))
                except UnforeseenError as error:
                    left += self.plan.instructions_of(item)
                    why = error
            elif here and (item is None or item.kind != "grad"):
                tables.append((here, start))
                here = []
        if left:
            raise Refused(left, why)
        checks: list[tuple[int, int]] = []
        self.first = 0  # the segment that isn't just checks
        if tables and (self.plan.checks or self.equal) and tables[0][1]:
            # Something else comes first, which mustn't happen if a check refuses.
            tables.insert(0, ([], -1))
            self.patches.insert(0, [])
            self.first = 1
        if tables and self.plan.checks:
            where = self.patches[0]
            for v, limit in self.plan.checks:
                frame = len(self.plain)
                self.plain += [0, limit, *rows_of(v)]  # type: ignore[misc]
                where.append((self._slot(v.root), v.offset, frame))
                checks.append((driver.addresses()["check_index"], frame))
        self._tables(tables, checks + self.equal)

    def _commands(
        self, place: int, item: Command | Kernel | Product | Sweep
    ) -> list[tuple[int, int, int]]:
        if isinstance(item, Product):
            return self._product(item)
        if isinstance(item, Sweep):
            return self._sweep(item)
        if isinstance(item, Command):
            return item.write(self)
        return self._kernel(self.groups[place], item)

    def _product(self, item: Product) -> list[tuple[int, int, int]]:
        if item.emitted:
            found = []
            for a, b, c in item.parts:
                if item.room is not None:
                    call, b = self.turn(item.room, b)
                    found.append(call)
                there = Matrix(item.out, c.rows, c.columns, c.down, c.right, c.offset)
                found.append(self.gemm(a, b, there, bias=item.bias, relu=item.relu,
                                       several=item.several, steps=item.steps))  # fmt: skip
            return found
        single = item.out.dtype.name == "float32"
        a, b, _ = item.parts[0]
        (turned, lead), (other, second) = a.for_blas(), b.for_blas()
        frame = len(self.plain)
        turn = (driver.AS_IT_IS, driver.TRANSPOSED)
        self.plain += [
            arena.product_routine("sgemm" if single else "dgemm"), turn[turned], turn[other],
            a.rows, b.columns, a.columns, 0, lead, 0, second, 0, b.columns, ONE, 0,
        ]  # fmt: skip
        for word, v in ((6, a.value), (8, b.value), (10, item.out)):
            self.point(frame + word, v)
        name = "gemm_f32" if single else "gemm_f64"
        return [(driver.addresses()[name], frame, 1)]

    def _kernel(self, group: Group, item: Kernel) -> list[tuple[int, int, int]]:
        rows, columns = item.rows, item.columns
        flat = group.elementwise and item.flat
        lanes = target.lanes(F64 if "f64" in {o.dtype for o in group.operands} else F32)
        vectors: int | None = None
        total = rows * columns
        ragged = False
        if flat:
            ragged = total >= THREADED
            rows, columns = (-(-total // FLAT), FLAT) if ragged else (1, total)
        else:
            count = -(-columns // lanes)
            vectors = count if count <= REGISTERS else None
        try:
            address = kernel_address(group, vectors, ragged)
        except UnforeseenError:
            return self._parts(group, item, flat)
        grain = max(1, min(rows, CHUNK // columns)) if total >= THREADED else rows
        if any(group.kind(o.value) == "c" for o in group.outputs):
            grain = max(grain, min(rows, _LEAST))  # each chunk leaves a row of sums
        grain = item.block or grain
        chunks = -(-rows // grain)
        apart = chunks > 1 and total >= THREADED  # else chunks run one after the other
        self.threaded = self.threaded or apart
        frame_of = Frame(len(group.operands), len(group.outputs))
        frame = len(self.plain)
        self.plain += [0] * frame_of.words
        self.plain[frame : frame + 4] = [rows, columns, total, grain]
        for n, v in enumerate(item.operands):
            self.point(frame + frame_of.operand(n), v)
            one = item.layout(v)
            step = columns if one.kind == "f" and flat else one.step
            self.plain[frame + frame_of.operand_stride(n)] = step
            if not one.plain:
                self.plain += [one.each, one.period or rows]
        commands = []
        finishing = []
        for n, v in enumerate(item.outputs):
            word = frame + frame_of.output(n)
            kind = group.kind(group.outputs[n].value)
            self.plain[frame + frame_of.output_stride(n)] = {"f": columns, "r": 1}.get(kind, 0)
            suffix = "f32" if v.dtype.name == "float32" else "f64"
            if kind == "s" or (kind == "c" and chunks > 1 and not item.block):
                cell = len(self.plain)
                size = chunks if kind == "s" else -(-chunks * columns * v.dtype.itemsize // 8)
                self.plain += [0] * size
                done = len(self.plain)
                factor = item.shared.factors.get(v.number, 1.0)
                last = float_word(factor) if kind == "s" else columns
                self.plain += [0, 0, last, chunks]
                self.fixups += [(word, cell), (done, cell)]
                self.point(done + 1, v)
                which = f"finish_{suffix}" if kind == "s" else f"columns_{suffix}"
                finishing.append((driver.addresses()[which], done, 1))
            else:
                self.point(word, v)
        if chunks > 1 and not apart:
            commands.append(self.in_turn(address, frame, chunks))
        else:
            commands.append((address, frame, chunks))
        return commands + finishing

    def _parts(self, group: Group, item: Kernel, flat: bool) -> list[tuple[int, int, int]]:
        """A kernel that nothing can compile here."""
        rows, columns = (item.rows * item.columns, 1) if flat else (item.rows, item.columns)
        operands = [(v, item.layout(v)) for v in item.operands]
        if flat:
            operands = [(v, Layout(x.kind, 1 if x.kind == "f" else 0)) for v, x in operands]
        parts = KernelParts(self, group, rows, columns, operands, item.outputs, item.block,
                            item.shared.factors, item.formulas)  # fmt: skip
        if rows * columns >= LARGE and len(parts.steps) > _PASSES * len(item.members):
            raise UnforeseenError("its rows' own kernels take fewer passes over large arrays")
        self.parts += 1
        threaded = rows * columns >= THREADED and parts.blocks > 1
        self.threaded = self.threaded or threaded
        return parts.calls(threaded)

    def _sweep(self, item: Sweep) -> list[tuple[int, int, int]]:
        commands = []
        for part in item.groups:
            numbers: dict[str, int] = {}
            for dtype in {p.dtype.name for p in part.params}:
                numbers[dtype] = len(self.plain)
                self.plain += [0] * len(part.scalars)
                self.scalars.setdefault(id(part), []).append((dtype, numbers[dtype]))
            if part.counts:
                frame = len(self.plain)
                places = [arena.address(t._raw) for t in part.counts]
                self.plain += [len(places), *places]
                self.equal.append((driver.addresses()["check_equal"], frame))
                commands.append((driver.addresses()["count"], frame, 1))
            if part.rates:
                commands.append(self._rates(part, numbers))
            for k, p in enumerate(part.params):
                group = part.update.kernel.group(DTYPES[p.dtype.name])
                n = size_of(p.shape)
                address, frame_of = self._function(group, True)
                frame = len(self.plain)
                self.plain += [0] * frame_of.words
                chunks = 1
                self.plain[frame : frame + 4] = [1, n, n, 1]
                if n >= THREADED:
                    rows = -(-n // FLAT)
                    grain = CHUNK // FLAT
                    chunks = -(-rows // grain)
                    self.plain[frame : frame + 4] = [rows, FLAT, n, grain]
                    self.threaded = self.threaded or chunks > 1
                    for j in range(2 + len(part.state[k])):
                        self.plain[frame + frame_of.operand_stride(j)] = FLAT
                    for j in range(len(group.outputs)):
                        self.plain[frame + frame_of.output_stride(j)] = FLAT
                words = [frame + frame_of.operand(j) for j in range(len(group.operands))]
                self.point(words[0], p)
                self.point(words[1], part.grads[k])
                outs = [frame + frame_of.output(j) for j in range(len(group.outputs))]
                self.point(outs[0], p)
                for j, t in enumerate(part.state[k]):
                    self.plain[words[2 + j]] = self.plain[outs[1 + j]] = arena.address(t._raw)
                read = zip(words[2 + len(part.state[k]) :], part.update.read, strict=True)
                self.fixups += [(word, numbers[p.dtype.name] + j) for word, j in read]
                commands.append((address, frame, chunks))
        return commands

    def _rates(self, part: Part, numbers: dict[str, int]) -> tuple[int, int, int]:
        """The call that computes what differs in each step, where the scalars are."""
        frame = len(self.plain)
        count = arena.address(part.counts[0]._raw)
        self.plain += [arena.routine_of_c("pow"), count, *[0] * 9]
        places = [k for k, text in enumerate(part.scalars) if text == ""]
        for dtype, first in (("float32", 5), ("float64", 7)):
            for k in range(2):  # a rule may want the first alone
                start = numbers.get(dtype)
                if start is None or k >= len(places):
                    word = frame + 9 + k  # nobody reads it
                else:
                    word = start + places[k]
                self.fixups.append((frame + first + k, word))
        self.rates[id(part)] = frame + 2
        return driver.addresses()["rates"], frame, 1

    def _function(self, group: Group, ragged: bool) -> tuple[int, Frame]:
        """An elementwise kernel: its address, and how its frame is laid out."""
        frame_of = Frame(len(group.operands), len(group.outputs))
        return kernel_address(group, None, ragged), frame_of

    def sweeps(self, segment: int | None = None) -> list[Sweep]:
        """The sweeps of a segment, or all."""
        items = self.plan.items if segment is None else self._items(segment)
        return [item for item in items if isinstance(item, Sweep)]

    def _tables(self, tables: list[Any], checks: list[tuple[int, int]]) -> None:
        states = []
        for n, (commands, _) in enumerate(tables):
            patches = self.patches[n]
            patch_at = len(self.plain)
            for slot, offset, word in patches:
                spot = len(self.plain)
                self.plain += [0, offset, 0]
                self.fixups += [(spot, -1 - slot), (spot + 2, word)]
            check_at = len(self.plain)
            for function, frame in checks if n == 0 else []:
                spot = len(self.plain)
                self.plain += [function, 0]
                self.fixups.append((spot + 1, frame))
            command_at = len(self.plain)
            for function, frame, chunks in commands:
                spot = len(self.plain)
                self.plain += [function, 0, chunks]
                self.fixups.append((spot + 1, frame))
            state = len(self.plain)
            self.plain += [len(patches), 0, len(checks) if n == 0 else 0, 0, len(commands), 0, 0,
                           pool.runner()]  # fmt: skip
            self.pools.append(state + 6)
            self.fixups += [(state + 1, patch_at), (state + 3, check_at), (state + 5, command_at)]
            states.append(state)
        slots_at = len(self.plain)
        self.plain += [0] * max(len(self.slots), 1)
        self.words = arena.words(len(self.plain))
        self.words[:] = self.plain
        base = arena.address(self.words)
        if self.roomy:
            self.shared_room = arena.block(self.rooms)
            for word, offset in self.roomy:
                self.words[word] = arena.address(self.shared_room) + offset
        for word, other in self.fixups:
            there = slots_at - 1 - other if other < 0 else other
            self.words[word] = base + 8 * there
        self.all = arena.table(self.words, 0, len(self.plain))
        self.table = arena.table(self.words, slots_at, max(len(self.slots), 1))
        self.singles, self.doubles = arena.number_tables(self.words)
        self.states = [base + 8 * s for s in states]
        self.starts = [start for _, start in tables]


def native_form(program: Program) -> Program:
    """The program as only its native form needs it: sums in pieces, copies into order."""
    found = copy(program)
    found.instructions = list(program.instructions)
    bind_scalars(found)
    apart(found)
    pool_before_relu(found)
    in_pieces(found)
    put_rows_last(found)
    copy_unordered(found)
    return found


def _odd(v: Value) -> bool:
    """Whether a result doesn't lie in memory as a new array would, though its order be the same.

    It repeats elements, say, or has other strides where there is one element.
    """
    made = A.empty(v.shape, v.dtype)
    if not in_order(v):
        made = A.empty_like(A.pattern(v.shape, v.strides, v.dtype))
    return bool(made.size and made.strides != v.strides)


def _without_owner(program: Program) -> bool:
    """Whether a view shows memory that nothing makes: the memory plan couldn't keep it alive."""
    owners = {v.root for v in program.inputs}
    owners.update(o.number for i in program.instructions for o in i.outputs if o is not None)
    return any(v.view and v.root not in owners for i in program.instructions for v in i.reads())


def plan_native(program: Program, found: list[str] | None = None) -> ExecutablePlan | None:
    """The native form of a program; None where it isn't worth it, or not possible here.

    `found` gets the reasons why not, or which calls stay with Python.
    """
    notes = [] if found is None else found
    if not target.available():
        notes.append("no native code: llvmlite isn't installed, or not for this machine")
        return None
    wrong = arena.unreadable()
    if wrong is not None:
        notes.append(f"no native code: {wrong}")
        return None
    if any(i.rule == "as_strided" for i in program.instructions):  # the arena has no such memory
        notes.append("no native code: it looks at the memory behind a tensor, whole")
        return None
    program = native_form(program)
    if _without_owner(program):
        notes.append("no native code: it reads memory that no instruction makes")
        return None
    kept = {v.root for v in program.outputs_values()}
    for i in program.instructions:
        if i.kind == "grad":
            kept.update(v.root for v in i.reads())
    refused = {
        id(i) for i in program.instructions
        if any(o is not None and o.root in kept and not o.view and _odd(o) for o in i.outputs)
    }  # fmt: skip
    refused |= alike_on_all_ranks(program)
    for _ in range(16):
        count = len(program.values)
        try:
            plan = Plan(program, kept, refused)
            if plan.commands < 1:
                notes.append("no native code: none of its calls has a native form")
                return None
            machine = ExecutablePlan(plan, kept)
            machine.build()
        except Refused as problem:  # without these
            refused.update(id(i) for i in problem.instructions)
            notes.append(f"not fused: {problem}")
            del program.values[count:]
            continue
        except Exception as error:  # a program is never worse off for code that fails to be made
            PROBLEMS.append(error.with_traceback(None))
            del PROBLEMS[:-8]
            notes.append(f"no native code: {error!r}")
            return None
        if machine.parts:
            notes.append(
                f"kernels in parts: {machine.parts} that didn't come with the package; llvmlite "
                "would compile them"
            )
        return machine
    notes.append("no native code: too many of its calls have no native form")
    return None
