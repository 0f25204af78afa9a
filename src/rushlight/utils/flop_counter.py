"""`FlopCounterMode`: the floating-point operations of the matrix products inside a context.

Counted by operator and by module, forward and backward. A multiplication and an addition are two.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .. import _table as ops
from .._core.storage import TensorBase
from ..autograd.graph import register_multi_grad_hook
from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from ._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.annotations import Shape
    from .._tensor.tensor import Tensor
    from ..nn.modules.module import Module

F = TypeVar("F", bound=Callable[..., Any])
aten: Final = ops.aten()

#: What is counted: operator -> function of the shapes of its arguments and of `out_shape`.
flop_registry: Final[dict[Any, Callable[..., Any]]] = {}


def shapes_of(value: object) -> Any:
    """A tensor's shape, in lists and tuples too; anything else as it is."""
    if isinstance(value, TensorBase):
        return tuple(value._raw.shape)
    if isinstance(value, (list, tuple)):
        return type(value)(shapes_of(v) for v in value)
    return value


def register_flop_formula(targets: object, get_raw: bool = False) -> Callable[[F], F]:
    """A decorator: the function counts for these operators (packets such as `torch.ops.aten.mm`).

    It gets the shapes of the arguments and `out_shape`; the arguments themselves with `get_raw`.
    """

    def register(formula: F) -> F:
        counted = formula if get_raw else _of_shapes(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if type(target).__name__ != "OpOverloadPacket":
                raise ValueError(
                    f"register_flop_formula(targets): expected each target to be OpOverloadPacket "
                    f"(i.e. torch.ops.mylib.foo), got {target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = counted
        return formula

    return register


def _of_shapes(formula: Callable[..., int]) -> Callable[..., object]:
    def count(*args: object, out_val: object = None, **kwargs: object) -> int:
        return formula(
            *[shapes_of(a) for a in args],
            out_shape=shapes_of(out_val),
            **{name: shapes_of(value) for name, value in kwargs.items()},
        )

    return count


@register_flop_formula(aten.mm)
def mm_flop(a: Shape, b: Shape, *_: object, out_shape: Shape | None = None, **__: object) -> int:
    """A matrix product."""
    return int(a[0] * b[1] * 2 * a[1])


@register_flop_formula(aten.addmm)
def addmm_flop(
    bias: object, a: Shape, b: Shape, out_shape: Shape | None = None, **_: object
) -> int:
    """A matrix product; the addition to it isn't counted."""
    return mm_flop(a, b)


@register_flop_formula(aten.bmm)
def bmm_flop(a: Any, b: Any, out_shape: object = None, **_: object) -> int:
    """Matrix products of a batch."""
    return int(a[0] * a[1] * b[2] * 2 * a[2])


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(bias: object, a: object, b: object, out_shape: object = None, **_: object) -> int:
    """Matrix products of a batch; the addition to them isn't counted."""
    return bmm_flop(a, b)


@register_flop_formula([aten.convolution])
def conv_flop(
    x: Sequence[int],
    weight: Sequence[int],
    bias: object,
    stride: object,
    padding: object,
    dilation: object,
    transposed: bool,
    *_: object,
    out_shape: Any = None,
    **__: object,
) -> int:
    """A convolution: each element of the output (of the input, where transposed) by the window."""
    positions = x if transposed else out_shape
    c_out, c_in, *window = weight
    return int(x[0] * math.prod(positions[2:]) * math.prod(window) * c_out * c_in * 2)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(
    grad: object,
    x: Shape,
    weight: Shape,
    bias: object,
    stride: object,
    padding: object,
    dilation: object,
    transposed: bool,
    output_padding: object,
    groups: int,
    output_mask: Sequence[bool],
    out_shape: object = None,
    **_: object,
) -> int:
    """The gradients of a convolution: as much for each of input and weights as forward.

    PyTorch counts those of the weights as if there were one group.
    """
    each = conv_flop(x, weight, bias, stride, padding, dilation, transposed, out_shape=grad)
    return each * (bool(output_mask[0]) + bool(output_mask[1]) * groups)


#: The parts of `convolution_backward` that run by themselves: where the smaller side is.
_PARTS: Final = {"conv_input": 0, "conv_weight": 1, "conv_output": None}


def _part_flop(name: str, args: Any, out: Tensor) -> int:
    """One gradient of a convolution: each element of the smaller side by the window."""
    side = _PARTS[name]
    less = shapes_of(out if side is None else args[side])
    weight = shapes_of(out if name == "conv_weight" else args[1])
    groups = args[6] if name == "conv_weight" else 1
    return int(2 * less[0] * math.prod(less[2:]) * math.prod(weight) * groups)


class FlopCounterMode(TorchDispatchMode):
    """A context that counts; `get_total_flops()` and `get_flop_counts()` tell.

    `custom_mapping` adds operators, as `register_flop_formula` does. With `display` the table is
    printed at the end.
    """

    def __init__(
        self,
        mods: object = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[object, Callable[..., int]] | None = None,
    ) -> None:
        super().__init__()
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it",
                          stacklevel=2)  # fmt: skip
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth = depth
        self.display = display
        mapping = {} if custom_mapping is None else custom_mapping
        self.flop_registry = {**flop_registry, **{k: _of_shapes(v) for k, v in mapping.items()}}
        self._within: list[str] = ["Global"]
        self._names: dict[int, str] = {}
        self._handles: list[Any] = []

    # ---- which module runs ----------------------------------------------------------------------
    def _name_of(self, module: Module) -> str:
        if id(module) not in self._names:
            name = type(module).__name__
            self._names[id(module)] = name
            for inner, child in module.named_modules():
                if inner:
                    self._names.setdefault(id(child), f"{name}.{inner}")
        return self._names[id(module)]

    def _enter(self, module: Module, args: tuple[Tensor, ...]) -> None:
        name = self._name_of(module)
        self._within.append(name)
        inputs = [a for a in args if isinstance(a, TensorBase) and a._requires_grad]
        if inputs:
            self._handles.append(register_multi_grad_hook(inputs, lambda _: self._leave(name)))

    def _exit(self, module: Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        name = self._name_of(module)
        self._leave(name)
        group = output if isinstance(output, (tuple, list)) else (output,)
        outputs = [o for o in group if isinstance(o, TensorBase) and o._requires_grad]
        if outputs:
            self._handles.append(
                register_multi_grad_hook(outputs, lambda _: self._within.append(name))
            )

    def _leave(self, name: str) -> None:
        if name in self._within:
            self._within.remove(name)

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self._within = ["Global"]
        self._handles = [register_module_forward_pre_hook(self._enter),
                         register_module_forward_hook(self._exit)]  # fmt: skip
        super().__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._names.clear()
        if self.display:
            print(self.get_table(self.depth))

    # ---- counting -------------------------------------------------------------------------------
    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = {} if kwargs is None else kwargs
        out = func(*args, **kwargs)
        packet = func.overloadpacket
        name = func.name().partition("::")[2]
        if name in _PARTS:
            packet = aten.convolution_backward
            count = _part_flop(name, args, out)
        elif (formula := self.flop_registry.get(packet)) is not None:
            count = formula(*args, **kwargs, out_val=out)
        else:
            return out
        for name in dict.fromkeys(self._within):
            self.flop_counts[name][packet] += count
        return out

    def get_total_flops(self) -> int:
        """The whole count."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[object, int]]:
        """The counts by module and operator; the whole under "Global"."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as a table of text, down to some depth of modules."""
        if depth is None:
            depth = 999999 if self.depth is None else self.depth
        total = self.get_total_flops()
        rows: list[tuple[str, str, str]] = []
        unit = self._unit(total)
        for name in ["Global", *sorted(n for n in self.flop_counts if n != "Global")]:
            level = 0 if name == "Global" else name.count(".") + 1
            if level > depth:
                continue
            counts = self.flop_counts[name]
            whole = sum(counts.values())
            rows.append((" " * level + name, self._format(whole, unit), _share(whole, total)))
            for packet, count in counts.items():
                rows.append((" " * level + f" - {packet}", self._format(count, unit),
                             _share(count, total)))  # fmt: skip
        titles = ("Module", "FLOP", "% Total")
        widths = [max(len(r[k]) for r in [titles, *rows]) for k in range(3)]
        lines = ["  ".join(t.ljust(w) for t, w in zip(titles, widths)),
                 "  ".join("-" * w for w in widths)]  # fmt: skip
        for first, second, third in rows:
            lines.append(f"{first.ljust(widths[0])}  {second.rjust(widths[1])}  "
                         f"{third.rjust(widths[2])}")  # fmt: skip
        return "\n".join(line.rstrip() for line in lines)

    @staticmethod
    def _unit(number: int) -> int:
        return max(0, min(4, (len(str(number)) - 1) // 3))

    @staticmethod
    def _format(number: int, unit: int) -> str:
        suffix = ["", "K", "M", "B", "T"][unit]
        return f"{number / 1000**unit:.3f}{suffix}" if unit else str(number)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "0%"


__all__ = ["FlopCounterMode", "register_flop_formula"]
