"""Nested tensors: several tensors of different sizes in one.

Note [Nested tensors]
A nested tensor holds the elements of its parts one after the other: `held` is a row of all elements
(`strided`), or the parts joined along their first dimension (`jagged`, where only that may differ).
`parts` says what sizes they have. Its own array is a placeholder of the padded size. Functions come
here through `__torch_function__`: those that go element by element are given `held`, so that their
gradients and writes are those of a plain tensor; others are given one part after the other, and
gradients flow through the parts.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from ... import _table as ops
from ..._array.shape import sparse as raw
from ..._base import errors
from ..._base.memory_format import jagged, layout as Layout, strided
from ..._base.size import Size
from ..._core.storage import TensorBase, init_tensor
from ..._tensor.methods import OPERATIONS, REFLECTED
from ..._tensor.of_values import TensorOfValues
from ..._tensor.tensor import Tensor, check_grad
from ...autograd.output_metadata import NESTED
from ..symbols import SymInt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Shape
    from ..._base.handles import RemovableHandle

functions: Any = ops.namespace("").module("rushlight's functions")

_NO_SIZES: Final = "Internal error: NestedTensorImpl doesn't support {}. Please file an issue."


class RaggedSize(SymInt):
    """The size of the dimension in which the parts of a jagged tensor differ: equal to itself."""

    _count: ClassVar[Iterator[int]] = itertools.count(1)

    def __init__(self) -> None:
        self._name = f"j{next(self._count)}"

    def __repr__(self) -> str:
        return self._name


class Parts:
    """The sizes of a nested tensor's parts, shared by all that was computed element by element."""

    __slots__ = ("ragged", "shapes")

    def __init__(self, shapes: Sequence[Shape], ragged: RaggedSize | None = None) -> None:
        self.shapes: list[tuple[int, ...]] = [tuple(shape) for shape in shapes]
        self.ragged = RaggedSize() if ragged is None else ragged


class NestedTensor(TensorOfValues):
    """A tensor of tensors; see Note [Nested tensors]."""

    __module__ = "torch.nested._internal.nested_tensor"
    is_nested = True

    #: What functions of tensors do with nested ones, by name; `rules` fills it.
    RULES: ClassVar[dict[str, Any]] = {}

    parts: Parts
    layout: Layout

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Any:
        name = getattr(func, "__name__", str(func))
        rule = cls.RULES.get(name)
        if rule is None and name.startswith("__") and name.endswith("__"):
            short = name.strip("_")
            name = OPERATIONS.get(short, name)
            if short in REFLECTED:
                raise lacking(short)
            rule = cls.RULES.get(name)
        if rule is None:
            raise lacking(name)
        return rule(*args, **(kwargs or {}))

    # ---- parts and sizes ----------------------------------------------------------------------
    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """The parts, as views.

        Raises:
            RuntimeError: along another dimension than the first.
        """
        if dim not in (0, -self.dim()):
            raise RuntimeError("NestedTensor can only be unbound along dimension 0, got dimension "
                               f"{dim} instead.")  # fmt: skip
        found, start = [], 0
        for shape in self.parts.shapes:
            count = shape[0] if self.layout is jagged else math.prod(shape)
            part = self.held[start : start + count]
            found.append(part if self.layout is jagged else part.view(shape))
            start += count
        return tuple(found)

    def dim(self) -> int:
        """The dimensions of a part, and one more."""
        return 1 + (len(self.parts.shapes[0]) if self.parts.shapes else 0)

    ndimension = dim

    @property
    def ndim(self) -> int:
        """The dimensions of a part, and one more."""
        return self.dim()

    def numel(self) -> int:
        """The elements of all parts."""
        return int(self.held.numel())

    nelement = numel

    @property
    def shape(self) -> Size:
        """The size, of a jagged tensor, with a symbol where the parts differ.

        Raises:
            RuntimeError: for a strided one.
        """
        if self.layout is not jagged:
            raise RuntimeError(_NO_SIZES.format("sizes"))
        rest = self.parts.shapes[0][1:]
        return tuple.__new__(Size, (len(self.parts.shapes), self.parts.ragged, *rest))

    def size(self, dim: int | None = None) -> Any:
        """The size, or that of one dimension.

        Raises:
            RuntimeError: where the parts differ in it.
        """
        if dim is None:
            return self.shape
        place = range(self.dim())[dim]
        if place == 0:
            return len(self.parts.shapes)
        sizes = {shape[place - 1] for shape in self.parts.shapes}
        if self.layout is jagged and place == 1:
            return self.parts.ragged
        if len(sizes) != 1:
            raise RuntimeError(f"Given dimension {place} is irregular and does not have a size.")
        return sizes.pop()

    def __len__(self) -> int:
        return len(self.parts.shapes)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.unbind())

    def _nested_tensor_size(self) -> Tensor:
        """The sizes of the parts, a row for each."""
        found: Tensor = functions.tensor([list(shape) for shape in self.parts.shapes])
        return found

    def offsets(self) -> Tensor:
        """Where the parts begin in the values, and the end."""
        ends = itertools.accumulate(shape[0] for shape in self.parts.shapes)
        found: Tensor = functions.tensor([0, *ends])
        return found

    def values(self) -> Any:
        """The elements of all parts, one part after the other, as a view."""
        return self.held.view(self.held.shape)

    def to_padded_tensor(
        self, padding: float, output_size: Any = None, out: object = None
    ) -> Tensor:
        """The parts in one dense tensor, with `padding` behind those that are smaller.

        Raises:
            RuntimeError: where a part is larger than `output_size`.
        """
        most = [max(sizes) for sizes in zip(*self.parts.shapes)]
        if output_size is not None:
            wanted = [int(n) for n in output_size][1:]
            if len(wanted) != len(most) or any(n < m for n, m in zip(wanted, most)):
                raise RuntimeError(
                    "Value in output_size is less than NestedTensor padded size. Truncation is not "
                    "supported."
                )
            most = wanted
        rows = []
        for part in self.unbind():
            gaps = [n for m, k in zip(reversed(most), reversed(part.shape)) for n in (0, m - k)]
            rows.append(functions.constant_pad_nd(part, gaps, padding))
        found: Tensor = functions.stack(rows) if rows else self.held
        return found

    def is_contiguous(self, memory_format: object = None) -> bool:
        """True: the parts lie one after the other."""
        return True

    def contiguous(self, memory_format: object = None) -> NestedTensor:
        """This tensor."""
        return self

    def is_same_size(self, other: Tensor) -> bool:
        """Whether two nested tensors have parts of the same sizes.

        Raises:
            RuntimeError: where one of them isn't nested.
        """
        if not (isinstance(self, NestedTensor) and isinstance(other, NestedTensor)):
            raise RuntimeError("Expected both self and other to be nested tensors.")
        return self.parts.shapes == other.parts.shapes

    # ---- gradients ----------------------------------------------------------------------------
    def _with(self, held: Tensor) -> NestedTensor:
        return make_nested(held, self.parts, self.layout)

    @property
    def grad_fn(self) -> Any:
        """The node that made its values, which knows that it made a nested tensor."""
        node = self.held.grad_fn
        if node is not None and hasattr(node, "meta"):
            shape = self.shape if self.layout is jagged else None
            node.meta = {**(node.meta or {}), NESTED: (shape, self.held._raw.dtype)}
        return node

    @property
    def grad(self) -> Any:
        """The gradient: nested as this tensor is."""
        found = self.held.grad
        return None if found is None else self._gradient(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            value = self._gradient_of_values(check_grad(self, value))
        self.held.grad = value

    def _gradient(self, found: Tensor) -> NestedTensor:
        return self._with(found)

    def _gradient_of_values(self, given: Any) -> Tensor:
        if not isinstance(given, NestedTensor) or given.parts.shapes != self.parts.shapes:
            shape = "a nested tensor" if isinstance(given, NestedTensor) else list(given.shape)
            raise RuntimeError(
                f"Mismatch in shape: grad_output[0] has a shape of {shape} and output[0] is a "
                "nested tensor with parts of other sizes."
            )
        found: Tensor = given.held
        return found.reshape(self.held.shape)

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Adds gradients to the leaves that this tensor was computed from.

        Raises:
            RuntimeError: where no gradient is given, or one of other sizes.
        """
        given = None if gradient is None else self._gradient_of_values(gradient)
        if given is None and self.numel() != 1:
            raise RuntimeError(errors.SCALAR_ONLY)
        self.held.backward(given, retain_graph, create_graph, inputs)

    def register_hook(self, hook: AnyCallable) -> RemovableHandle:
        """Has `hook(grad)` called with each gradient of this tensor; what it returns replaces it.

        Raises:
            RuntimeError: where the tensor doesn't require grad.
        """
        like = self.detach()

        def of_values(found: Tensor) -> Tensor | None:
            after = hook(like._gradient(found))
            return None if after is None else like._gradient_of_values(after)

        handle: RemovableHandle = self.held.register_hook(of_values)
        return handle

    @property
    def data(self) -> NestedTensor:
        """The same elements without history."""
        return self.detach()

    @data.setter
    def data(self, value: object) -> None:
        if not isinstance(value, NestedTensor):
            raise RuntimeError(errors.DATA_LAYOUT)
        self._raw, self.held = value._raw, value.held
        self.parts, self.layout = value.parts, value.layout

    def to(self, *args: object, **kwargs: object) -> NestedTensor:
        """The tensor with values of another type."""
        held = self.held.to(*args, **kwargs)
        return self if held is self.held else self._with(held)

    # ---- what it hasn't -----------------------------------------------------------------------
    def stride(self, dim: int | None = None) -> NoReturn:
        """Not for nested tensors.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NO_SIZES.format("strides"))

    def tolist(self) -> Any:
        """The elements of the parts, as nested lists of Python numbers."""
        return [part.tolist() for part in self.unbind()]

    def numpy(self, *, force: bool = False) -> Array:
        """Not for nested tensors.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NO_SIZES.format("sizes"))

    def __array__(self, *args: object, **kwargs: object) -> Array:
        return self.numpy()

    def item(self) -> Any:
        """The only element.

        Raises:
            RuntimeError: where there are several.
        """
        if self.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar"
            )
        return self.held.sum().item()

    # ---- copies and texts ---------------------------------------------------------------------
    def __deepcopy__(self, memo: dict[int, Any]) -> NestedTensor:
        if id(self) not in memo:
            if not self.is_leaf:
                raise RuntimeError(errors.DEEPCOPY_NON_LEAF)
            made = self._with(self.held.detach().clone().requires_grad_(self.requires_grad))
            if self.held.grad is not None:
                made.held.grad = self.held.grad.clone()
            memo[id(self)] = made
        return memo[id(self)]

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        return again, (self.held, self.parts.shapes, self.layout is jagged)

    def _ending(self) -> str:
        node = self.grad_fn
        if node is None:
            return ", requires_grad=True" if self.requires_grad else ""
        return f", grad_fn={node!r}" if self.layout is jagged else f", grad_fn=<{node.name()}>"

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        if self.layout is jagged:
            size = ", ".join(map(str, self.shape))
            return (
                f"NestedTensor(size=({size}), offsets={self.offsets()}{self._ending()}, "
                "contiguous=True)"
            )
        shown = []
        for part in self.unbind():
            text = repr(part.detach().requires_grad_(self.requires_grad))
            shown.append("  " + text.replace("\n", "\n  "))
        body = ",\n".join(shown)
        return f"nested_tensor([\n{body}\n]{self._ending()})"

    __str__ = __repr__


def make_nested(held: TensorBase, parts: Parts, how: Layout) -> NestedTensor:
    """A nested tensor of these values, which are not checked."""
    made: Any = TensorBase.__new__(NestedTensor)
    shapes = parts.shapes
    most = [max(sizes) for sizes in zip(*shapes)] if shapes else []
    init_tensor(made, raw.placeholder((len(shapes), *most), held._raw.dtype))
    made._plain, made._layered = False, True
    made.held, made.parts, made.layout = held, parts, how
    return made


def of_parts(
    found: Sequence[Tensor], how: Layout, ragged: RaggedSize | None = None
) -> NestedTensor:
    """A nested tensor of these parts, through which gradients flow to them."""
    parts = Parts([part.shape for part in found], ragged)
    pieces = found if how is jagged else [part.reshape(-1) for part in found]
    return make_nested(functions.cat(list(pieces)) if pieces else functions.empty(0), parts, how)


def again(held: Tensor, shapes: Sequence[Shape], is_jagged: bool) -> NestedTensor:
    """A nested tensor that was pickled."""
    return make_nested(held, Parts(shapes), jagged if is_jagged else strided)


def lacking(name: str) -> NotImplementedError:
    """The error of a function that nested tensors don't have."""
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'NestedTensorCPU' backend. This "
        "could be because the operator doesn't exist for this backend. Take the parts, "
        f"`[part.{name}(...) for part in x.unbind()]`, or pad them, `x.to_padded_tensor(0)`."
    )
