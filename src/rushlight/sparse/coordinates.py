"""Sparse tensors in coordinates: the places of the elements that are there, and their values.

Note [Sparse tensors]
A sparse tensor is a subclass of Tensor that holds two dense ones: `places` (int64, one row for each
sparse dimension) and `held` (the values, one for each place, with the dense dimensions of a hybrid
tensor after it). Its own array is a placeholder: a zero broadcast to the full shape, so that shape,
dtype and strides answer as PyTorch's do and nothing is stored. Functions of tensors come here
through `__torch_function__`; what they compute they compute with dense functions of the values, so
gradients flow through the values and no derivative is written twice.
"""

from __future__ import annotations

import functools
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from .. import _table as ops
from .._array import types as T
from .._array.printing import assemble_text, contents_text
from .._array.shape import sparse as raw
from .._base import dtypes as D, errors
from .._base.lazy import load
from .._base.memory_format import sparse_coo
from .._core.hooks import SPARSE, check_hook_result
from .._core.storage import TensorBase, init_tensor, new_tensor
from .._tensor.methods import OPERATIONS, REFLECTED
from .._tensor.of_values import OTHER_FORMS, TensorOfValues
from .._tensor.tensor import Tensor, check_grad
from .._tensor.torch_function import DisableTorchFunctionSubclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._array.annotations import Array
    from .._base.annotations import AnyCallable, DTypeLike
    from .._base.dtypes import dtype
    from .._base.handles import RemovableHandle
    from .._base.memory_format import memory_format

functions: Any = ops.namespace("").module("rushlight's functions")


class SparseTensor(TensorOfValues):
    """A tensor of which only some elements are stored; see Note [Sparse tensors].

    Parameters:
        args, device: what `Tensor` takes; programs call `sparse_coo_tensor`.
    Raises: AttributeError: on the first use of one that is made by its name.
    Example:
        >>> isinstance(torch.eye(2).to_sparse(), torch.sparse.SparseTensor)
        True
    """

    layout = sparse_coo
    is_sparse = True

    #: What functions of tensors do with sparse ones, by name; filled by the other modules here.
    RULES: ClassVar[dict[str, Any]] = {}

    places: Any  # a Tensor
    coalesced: bool
    assigned: SparseTensor | None = None  # the gradient that a program gave it

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Any:
        return cls.rule_of(func)(*args, **(kwargs or {}))

    @classmethod
    def rule_of(cls, func: Callable[..., object]) -> Callable[..., object]:
        """What is done in place of a function of tensors.

        Raises:
            NotImplementedError: for a function that sparse tensors don't have.
        """
        name = getattr(func, "__name__", str(func))
        rule = cls.RULES.get(name)
        if rule is None and name.startswith("__") and name.endswith("__"):
            short = name.strip("_")
            name = OPERATIONS.get(short, name)
            rule = cls.RULES.get(short)
            if rule is None and short not in REFLECTED:
                rule = cls.RULES.get(name)
        if rule is None:
            raise lacking(name)
        return rule

    # ---- parts --------------------------------------------------------------------------------
    def _indices(self) -> Tensor:
        """The places as they are stored, [sparse dimensions, stored elements]."""
        return self.places

    def _values(self) -> Tensor:
        """The values as they are stored, without history."""
        return self.held.detach()

    def indices(self) -> Tensor:
        """The places in order.

        Raises:
            RuntimeError: where places may be given twice.
        """
        return self._check("indices").places

    def values(self) -> Any:
        """The values in the order of the places.

        Raises:
            RuntimeError: where places may be given twice.
        """
        return self._check("values").held

    def _check(self, what: str) -> SparseTensor:
        if not self.coalesced:
            raise RuntimeError(
                f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first"
            )
        return self

    def _nnz(self) -> int:
        """How many elements are stored."""
        return int(self.places.size(1))

    def sparse_dim(self) -> int:
        """How many dimensions are sparse: the first ones."""
        return int(self.places.size(0))

    def dense_dim(self) -> int:
        """How many dimensions each value has."""
        return int(self.held.dim()) - 1

    def _coalesced_(self, coalesced: bool) -> SparseTensor:
        """Says whether the places are in order and none is given twice; nothing is looked at."""
        self.coalesced = coalesced
        return self

    def is_coalesced(self) -> bool:
        """Whether the places are in order and none is given twice."""
        return self.coalesced

    def coalesce(self) -> SparseTensor:
        """The same tensor with its places in order, values of equal ones added."""
        if self.coalesced:
            return self
        shape = tuple(self.shape[: self.sparse_dim()])
        places, member = raw.merge_places(self.places._raw, shape)
        sums = functions.zeros((places.shape[1], *self.held.shape[1:]), dtype=self.dtype).index_add(
            0, new_tensor(member), self.held
        )
        return sparse(new_tensor(places), sums, self.shape, coalesced=True)

    def to_dense(
        self, dtype: DTypeLike | None = None, *, masked_grad: bool | None = None
    ) -> Tensor:
        """The tensor with all its elements."""
        full = functions.zeros(tuple(self.shape), dtype=self.dtype)
        if self.sparse_dim():
            full = full.index_put(tuple(self.places), self.held, accumulate=True)
        else:
            full = full + self.held.sum(0)
        return full if dtype is None else full.to(dtype)

    def to_sparse(self, *args: object, **kwargs: object) -> SparseTensor:
        """This tensor, or it in another layout."""
        if not args and kwargs.get("layout") is None:
            return self
        # By its name: what makes sparse tensors imports this file.
        return load("sparse.make:to_sparse")(self, *args, **kwargs)

    # ---- what tensors have, of the values -----------------------------------------------------
    @property
    def grad(self) -> Any:
        """The gradient: sparse, at the places of this tensor."""
        found = self.held.grad
        if found is None:
            return self.assigned
        added = self._gradient(found)
        return added if self.assigned is None else self.assigned + added

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None and check_grad(self, value).layout is not self.layout:
            raise RuntimeError(errors.ASSIGNED_GRAD_LAYOUT)
        self.held.grad, self.assigned = None, value

    def _gradient(self, found: Tensor) -> SparseTensor:
        """The gradient of this tensor, from that of its values."""
        # Every copy of a place has the gradient of the element.
        places, member = raw.merge_places(self.places._raw, tuple(self.shape[: self.sparse_dim()]))
        first = functions.zeros((places.shape[1], *found.shape[1:]), dtype=found.dtype)
        with DisableTorchFunctionSubclass():
            first = first.index_copy(0, new_tensor(member), found)
        return sparse(new_tensor(places), first, self.shape, coalesced=True)

    def _gradient_of_values(self, given: Any) -> Tensor:
        """The gradient of the values, from one of this tensor.

        Raises:
            RuntimeError: where it is of another size.
        """
        if given._raw.shape != self._raw.shape:
            raise RuntimeError(errors.mismatch_in_shape(0, given._raw.shape, self._raw.shape))
        found: Tensor = given.to_dense()[tuple(self.places)]
        return found

    def register_hook(self, hook: AnyCallable) -> RemovableHandle:
        """Has `hook(grad)` called with each gradient of this tensor; what it returns replaces it.

        Raises:
            RuntimeError: where the tensor doesn't require grad.
        """
        like = self.detach()

        @functools.wraps(hook)
        def of_values(found: Tensor | None) -> Tensor | None:
            before = None if found is None else like._gradient(found)
            after = hook(before)
            if after is None:
                return None
            after = check_hook_result(hook, after, before)
            form, noted = (after.sparse_dim(), after.dense_dim()), OTHER_FORMS.get()
            if noted is not None and form != (like.sparse_dim(), like.dense_dim()):
                noted.append(form)
            return after.to_dense()[tuple(like.places)] if like.sparse_dim() else after.held.sum(0)

        handle: RemovableHandle = self.held.register_hook(of_values)
        return handle

    @property
    def data(self) -> SparseTensor:
        """The same elements without history."""
        return self.detach()

    @data.setter
    def data(self, value: object) -> None:
        if not isinstance(value, SparseTensor):
            raise RuntimeError(errors.DATA_LAYOUT)
        self._raw = value._raw
        self.places, self.held, self.coalesced = value.places, value.held, value.coalesced

    def clone(self, *, memory_format: memory_format | None = None) -> SparseTensor:
        """A copy."""
        return self._with(self.held.clone()).with_own_places()

    def to(self, *args: object, **kwargs: object) -> SparseTensor:
        """The tensor with values of another type."""
        held = self.held.to(*args, **kwargs)
        return self if held is self.held else self._with(held).with_own_places()

    def is_contiguous(self, memory_format: memory_format | None = None) -> bool:
        """False: there is no row of elements."""
        return False

    def _blank(self, dtype: dtype, fill: object) -> SparseTensor:
        """A tensor of this size without stored elements: zeros, or nothing in particular.

        Raises:
            NotImplementedError: for any other value.
        """
        if fill is not None and fill != 0:
            raise lacking("fill_")
        places = functions.empty((self.sparse_dim(), 0), dtype=self.places.dtype)
        held = functions.empty((0, *self.held.shape[1:]), dtype=dtype)
        return sparse(places, held, self.shape, True)

    def with_own_places(self) -> SparseTensor:
        """This new tensor, its places copied, so that no other sees them written."""
        self.places = self.places.clone()
        return self

    def _with(self, held: Tensor) -> SparseTensor:
        """A tensor with these values at the same places."""
        return sparse(self.places, held, self.shape, self.coalesced)

    # ---- what it hasn't -----------------------------------------------------------------------
    def numpy(self, *, force: bool = False) -> Array:
        """Not for sparse tensors.

        Raises:
            TypeError: always.
        """
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def __array__(self, *args: object, **kwargs: object) -> Array:
        return self.numpy()

    def tolist(self) -> Any:
        """Not for sparse tensors.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def data_ptr(self) -> int:
        """Not for sparse tensors.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def storage(self) -> NoReturn:
        """Not for sparse tensors.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")

    untyped_storage = storage

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
    def __deepcopy__(self, memo: dict[int, Any]) -> SparseTensor:
        if id(self) not in memo:
            if not self.is_leaf:
                raise RuntimeError(errors.DEEPCOPY_NON_LEAF)
            memo[id(self)] = made = self.detach().clone().requires_grad_(self.requires_grad)
            made.grad = deepcopy(self.grad, memo)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        # By its name: what makes sparse tensors again imports this file.
        return load("sparse.pickles:reduce_tensor")(self)

    def _text(self) -> str:
        return self._text_of(
            {"indices": self.places, "values": self.held}, "SparseCooTensorWithDimsAndTensors", True
        )

    def _text_of(self, parts: dict[str, Tensor], node: str, own_line: bool) -> str:
        """The printed form: the dense parts, then what else there is to say."""
        notes = [f"size={tuple(self.shape)}", f"nnz={self._nnz()}"]
        if not is_default(self.dtype):
            notes.append(f"dtype={self.dtype}")
        notes.append(f"layout={self.layout}")
        if self.held.grad_fn is not None:
            notes.append(f"grad_fn=<{node}Backward0>")
        elif self.held.requires_grad:
            notes.append("requires_grad=True")
        shown = ",\n       ".join([text_of_part(name, part) for name, part in parts.items()])
        return assemble_text(shown, notes, first_on_a_line=own_line)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return self._text()

    def __str__(self) -> str:
        return self._text()


SPARSE.kind = SparseTensor


def sparse(
    places: TensorBase,
    held: TensorBase,
    size: Sequence[int],
    coalesced: bool = False,
    cls: type | None = None,
) -> SparseTensor:
    """A sparse tensor of these parts, which are not checked."""
    made: Any = TensorBase.__new__(cls or SparseTensor)
    init_tensor(made, raw.placeholder(tuple(size), held._raw.dtype))
    made._plain, made._layered = False, True
    made.places, made.held, made.coalesced = places, held, coalesced
    return made


def lacking(name: str) -> NotImplementedError:
    """The error of a function that sparse tensors don't have."""
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend. This could be "
        "because the operator doesn't exist for this backend. Rushlight computes sums, products, "
        "elementwise functions that keep zeros, selections and joins of sparse tensors; for all "
        f"else take the dense tensor: `x.to_dense().{name}(...)`."
    )


def is_default(dtype: D.dtype) -> bool:
    """Whether printed tensors of a type don't name it."""
    default = D.get_default_dtype()
    return dtype in (default, default.to_complex(), D.int64, D.bool_)


def text_of_part(name: str, part: Tensor) -> str:
    """The printed form of a dense part, without its type."""
    size = "" if part._raw.size else f", size={tuple(part.shape)}"
    start = f"{name}=tensor("
    return f"{start}{contents_text(part._raw, indent=len('tensor(') + len(start))}{size})"


def check_type(held: object, dtype: dtype | None) -> Tensor:
    """Values as a dense tensor of the wanted type."""
    made: Any = held if isinstance(held, TensorBase) else functions.tensor(held)
    return made if dtype is None or T.from_raw(made._raw.dtype) is dtype else made.to(dtype)
