"""The rules of optimizers: each is one formula, for arrays, kernels, Tensors and compiled steps.

    def descend(p, g, momentum_buffer, lr, momentum, *, maximize): ...
    SGD = Rule(descend, ("momentum_buffer",))

A formula takes a parameter, its gradient, tensors of its state and numbers, and gives the new
values of the parameter and of each state, in this order: see `_formula.words` for its vocabulary.
A state that an option turns off is None, before and after. Flags, which follow by keyword, choose
between formulas: for each choice there is an `Update` with code of its own.

On arrays an update works in place, by straight lines of ufuncs: small arrays let NumPy allocate
(cheaper there than looking for a view of the right shape), large ones go to a native kernel or
through in blocks, so that ten passes cost one trip to memory.

Note [One rounding]
PyTorch's `add(…, alpha=…)` rounds product and sum once. A product of two float32 numbers is exact
in float64, so computing there and rounding at the end gives the same digits, at two to seven times
the price. It pays where it can be seen: in programs so small that everything else (see Note [Tiny
products] in `tiny`) is equal to the digit too. So a rule may do it for parameters of up to `tiny`
elements.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._formula.ir import Group, into, trace
from ..._native import ufunc_loops
from .. import kernels
from ..elementwise.generated import _UFUNCS, SPACE, Code, constants_of, define_here
from ..types import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._formula.ir import Symbol
    from ..annotations import Array, RawType
    from ..kernels.launch import Kernel

# Up to here NumPy allocates temporaries; from here on arrays go through in blocks.
SMALL: Final = 8192
# Elements per block: six float32 arrays of this length fit a 1 MB second-level cache.
BLOCK: Final = 32768


def constants(dtype: Any, numbers: Sequence[object]) -> list[Array]:
    """Numbers as 0-d arrays: a ufunc takes them at half the price of a Python number."""
    return [np.array(x, dtype) for x in numbers]


class Rule:
    """How an optimizer updates: for the states that there are and flags it gives the `Update`.

    `tiny`: up to how many elements sums are rounded once. See Note [One rounding].
    """

    def __init__(self, formula: AnyCallable, states: tuple[str, ...], tiny: int = 0) -> None:
        code = formula.__code__
        self.formula = formula
        self.states = states
        self.numbers = code.co_varnames[2 + len(states) : code.co_argcount]
        flags = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
        assert code.co_varnames[2 : 2 + len(states)] == states, f"{formula.__name__}: other states"
        self.flags = flags
        self.tiny = tiny
        self.known: dict[Any, Update] = {}

    def __call__(self, states: tuple[str, ...], *flags: int) -> Update:
        key = states, flags
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Update(
                self, states, dict(zip(self.flags, flags, strict=True))
            )
        return found


class Update:
    """A rule with its options settled; `states` are those that there are."""

    def __init__(self, rule: Rule, states: tuple[str, ...], flags: dict[str, int]) -> None:
        self.rule = rule
        self.name = rule.formula.__name__
        self.states = states
        self.numbers = rule.numbers
        self.flags = flags
        self.fixed: dict[Any, list[Any]] = {}
        self.last: tuple[list[Any], list[float]] | None = None

    def __call__(self, p: Any, g: Any, *rest: object) -> list[Any]:
        """The new values of the parameter and of the states; nothing is written."""
        count = len(self.states)
        states = dict(zip(self.states, rest[:count], strict=True))
        given = [states.get(name) for name in self.rule.states]
        found = self.rule.formula(p, g, *given, *rest[count:], **self.flags)
        names = (None, *self.rule.states)
        return [x for x, name in zip(found, names, strict=True) if name in (None, *states)]

    def write(self, p: object, g: object, *rest: Any) -> tuple[Symbol, ...]:
        """The update of symbols: each new value is written over the old one."""
        olds = (p, *rest[: len(self.states)])
        return tuple(into(old, x) for old, x in zip(olds, self(p, g, *rest), strict=True))

    def settle(self, dtype: RawType, numbers: tuple[object, ...]) -> list[Array]:
        """`constants` of numbers that stay the same from step to step, kept."""
        found = self.fixed.get((dtype, numbers))
        if found is None:
            if len(self.fixed) > 99:
                self.fixed.clear()
            found = self.fixed[dtype, numbers] = constants(dtype, numbers)
        return found

    @cached_property
    def _group(self) -> Group:
        arrays = dict.fromkeys(("p", "g", *self.states), ("f", "f32"))
        numbers = dict.fromkeys(self.numbers, ("s", "f32"))
        return trace(self.name, self.write, arrays | numbers)

    @cached_property
    def read(self) -> list[int]:
        """Which numbers anybody reads, by their places among them."""
        used = {arg for one in self._group.body for arg in one.args}
        first = 2 + len(self.states)
        return [k for k in range(len(self.numbers)) if first + k in used]

    @cached_property
    def run(self) -> Callable[..., None]:
        """Updates many arrays of one dtype: `run(params, grads, *states, numbers)`, with lists of
        arrays, and the numbers as `constants`."""
        arrays = ("p", "g", *self.states)
        group, space = self._group, dict(SPACE)
        lists = [f"{name}_all" for name in arrays]
        small = Code(group)
        lines = [f"{', '.join(self.numbers)}, = numbers"]
        if small.constants:
            lines += ["d = p_all[0].dtype", *constants_of(small, space, "a")]
        loop = [f"for {', '.join(arrays)} in zip({', '.join(lists)}, strict=True):",
                "    n = p.size"]  # fmt: skip
        test, codes = "if", [small]
        if self.rule.tiny:
            tiny = Code(group, once=True)
            assert tiny.constants == small.constants
            codes.append(tiny)
            text = "\n".join(tiny.lines)
            wide = [name for name in self.numbers if f" {name}_wide" in text]
            lines.append("wide = False")
            loop += [f"    if n <= {self.rule.tiny}:"]
            loop += ["        if not wide:", "            wide = True"]
            loop += [f"            {name}_wide = {name}.astype(F64)" for name in wide]
            loop += [f"        {line}" for line in _free(tiny)]
            test = "elif"
        loop.append(f"    {test} n <= {SMALL}{' and p.ndim' if small.reuses else ''}:")
        loop += [f"        {line}" for line in _free(small)]
        loop += ["    else:", f"        large(({', '.join(arrays)}), numbers)"]
        space["large"] = self._large
        plain = self._define([*lists, "numbers"], lines + loop, space)
        return self._with_loops(plain, arrays, codes)

    def _with_loops(
        self, plain: AnyCallable, arrays: tuple[str, ...], codes: list[Code]
    ) -> AnyCallable:
        """`plain`, with small arrays taken by ufuncs' loops; itself where they can't be."""
        if ufunc_loops.SWEEPS is None:
            return plain
        constants = codes[0].constants
        names = (*arrays, *self.numbers, *constants)
        slots = {name: k for k, name in enumerate(names)}
        try:
            programs = [_program(code, slots) for code in codes]
            return ufunc_loops.SWEEPS.Sweep(
                plain, len(arrays), len(self.numbers), tuple(constants.values()),
                len(slots) - len(names), programs[0], programs[-1], self.rule.tiny, SMALL,
            )  # fmt: skip
        except (KeyError, ValueError):  # steps that no loop does, or too many
            return plain

    def _define(
        self, parameters: list[str], lines: list[str], space: dict[str, object]
    ) -> AnyCallable:
        source = f"def {self.name}({', '.join(parameters)}):\n"
        source += "".join(f"    {line}\n" for line in lines)
        chosen = [f"{key}={x!r}" for key, x in self.flags.items()]
        text = f"{self.name} of {', '.join([parameters[0], 'g', *self.states, *chosen])}"
        return define_here(self.name, source, text, space)

    @cached_property
    def _block(self) -> tuple[Callable[..., None], list[float], int]:
        """The update of one block, the constants that it takes, and how many scratch buffers."""
        code = Code(self._group, scratch=True)
        scratch = code.scratch or []
        given = ["p", "g", *self.states, *self.numbers, *code.constants, *scratch]
        body = self._define(given, code.lines, dict(SPACE))
        return body, list(code.constants.values()), len(scratch)

    @cached_property
    def kernel(self) -> Kernel:
        """The update as a native kernel, of arrays and the numbers in `read`."""
        count, read = 2 + len(self.states), self.read

        def formula(*symbols: object) -> tuple[Symbol, ...]:
            known = dict(zip(read, symbols[count:], strict=True))
            return self.write(*symbols[:count], *map(known.get, range(len(self.numbers))))

        # The name is part of the kernel's text, which says what code is found by: see `prebuilt`.
        words = [self.name, *self.states, *(str(int(flag)) for flag in self.flags.values())]
        formula.__name__ = "_".join(words)
        return kernels.launch.Kernel(formula, *["f"] * count, *["s"] * len(read))

    def _floats(self, numbers: list[Array]) -> list[float]:
        """What the kernel takes for numbers; kept, as many parameters have the same ones."""
        kept = self.last
        if kept is None or kept[0] is not numbers:
            self.last = kept = numbers, [float(numbers[k]) for k in self.read]
        return kept[1]

    def _large(self, arrays: tuple[Array, ...], numbers: list[Array]) -> None:
        """Updates one large array, or one without dimensions: ufuncs give no arrays for these."""
        p = arrays[0]
        if p.size >= kernels.LEAST and self._native(arrays, numbers):
            return
        body, own, count = self._block
        dtype = p.dtype
        numbers = [*numbers, *constants(dtype, own)]
        for array in arrays:
            if not array.flags.c_contiguous:
                body(*arrays, *numbers, *[np.empty(p.shape, dtype) for _ in range(count)])
                return
        flat = [array.reshape(-1) for array in arrays]
        scratch = _scratch(dtype, count)
        size = p.size
        for start in range(0, size, BLOCK):
            stop = min(start + BLOCK, size)
            parts = [array[start:stop] for array in flat]
            body(*parts, *numbers, *[s[: stop - start] for s in scratch])

    def _native(self, arrays: tuple[Array, ...], numbers: list[Array]) -> bool:
        """Has a native kernel do the update, and says whether it did."""
        p = arrays[0]
        size = p.size
        for array in arrays:
            if array.size != size:
                return False
        if not kernels.launch.floating(p.dtype) or not kernels.launch.ready():
            return False
        given = (*arrays, *self._floats(numbers))
        return self.kernel.flat(p.dtype, given, (p, *arrays[2:]), size)


def _program(code: Code, slots: dict[str, int]) -> tuple[tuple[object, ...], ...]:
    """The steps of some code as `sweeps.c` reads them; names get slots as they are written to.

    Raises:
        KeyError: for a step that it doesn't know.
    """
    found = []
    for op, words, target in code.program:
        kind = _APART.get(op) or "u"
        ufunc = _UFUNCS[op] if kind == "u" else None
        places = [slots[word] for word in words]
        places.append(slots.setdefault(target, len(slots)))
        found.append((kind, ufunc, bytes(places)))
    return tuple(found)


#: Steps that aren't a ufunc's, and what `sweeps.c` calls them.
_APART: Final = {"copy": "c", "wide": "w", "add once": "+", "sub once": "-"}


def _free(code: Code) -> list[str]:
    """The lines, and that the next parameter's temporaries take the place of this one's."""
    made = [line.partition(" = ")[0] for line in code.lines if " = " in line]
    return [*code.lines, f"del {', '.join(made)}"] if made else code.lines


def add_scaled_(y: Array, x: Array, alpha: float) -> None:
    """y ← y + alpha·x for float32, rounded once. See Note [One rounding]."""
    wide = np.multiply(x, np.array(np.float32(alpha), FLOAT64))
    np.add(y, wide, y, casting="unsafe")


class _Scratch(threading.local):
    """Blocks per dtype and thread, kept: fresh ones would cost page faults at every step."""

    def __init__(self) -> None:
        self.blocks: dict[Any, list[Any]] = {FLOAT32: [], FLOAT64: []}


_kept: Final = _Scratch()


def _scratch(dtype: RawType, count: int) -> list[Array]:
    blocks = _kept.blocks.setdefault(dtype, [])
    while len(blocks) < count:
        blocks.append(np.empty(BLOCK, dtype))
    return blocks[:count]
