"""Two things to be compared, one class for each kind of thing."""

from __future__ import annotations

import cmath
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from .._array import types as T
from .._base import dtypes
from .._base.memory_format import sparse_coo, strided
from .._tensor.tensor import Tensor
from ..autograd.grad_mode import no_grad
from ..nn._ground import f
from ._mismatch import (
    ErrorMeta,
    Identifier,
    Place,
    UnsupportedInputs,
    get_tolerances,
    make_scalar_mismatch_msg,
    make_tensor_mismatch_msg,
)

__all__ = ["BooleanPair", "NonePair", "NumberPair", "ObjectPair", "Pair", "TensorLikePair"]


class Pair(ABC):
    """An actual and an expected thing; `id` is their place in nested containers."""

    actual: Any
    expected: Any

    def __init__(
        self, actual: object, expected: object, *, id: Place = (), **unknown_parameters: object
    ) -> None:
        self.actual = actual
        self.expected = expected
        self.id = id
        self._unknown_parameters = unknown_parameters

    @staticmethod
    def _inputs_not_supported() -> NoReturn:
        raise UnsupportedInputs

    @staticmethod
    def _check_inputs_isinstance(*inputs: object, cls: type | tuple[type, ...]) -> None:
        if not all(isinstance(value, cls) for value in inputs):
            Pair._inputs_not_supported()

    def _fail(self, type: type[Exception], msg: str, *, id: Place = ()) -> NoReturn:
        # While `__init__` runs there may be no place yet.
        raise ErrorMeta(type, msg, id=id or self.__dict__.get("id", ()))

    @abstractmethod
    def compare(self) -> None:
        """Nothing where the two agree.

        Raises:
            ErrorMeta: where they don't.
        """

    def extra_repr(self) -> Sequence[str | tuple[str, Any]]:
        """Further attributes to be shown: their names, or names and values."""
        return []

    def __repr__(self) -> str:
        shown: list[tuple[str, Any]] = [(n, getattr(self, n)) for n in ("id", "actual", "expected")]
        for item in self.extra_repr():
            shown.append((item, getattr(self, item)) if isinstance(item, str) else item)
        lines = [f"    {name}={value!s}," for name, value in shown]
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])


class ObjectPair(Pair):
    """Two things of any kind, compared by `==`."""

    def compare(self) -> None:
        """Whether they are equal."""
        try:
            equal = self.actual == self.expected
        except Exception as error:
            raise ErrorMeta(
                ValueError, f"{self.actual} == {self.expected} failed with:\n{error}.", id=self.id
            ) from error
        if not equal:
            self._fail(AssertionError, f"{self.actual} != {self.expected}")


class NonePair(Pair):
    """Two things of which one is None."""

    def __init__(
        self, actual: object, expected: object, *, id: Place = (), **other_parameters: object
    ) -> None:
        if actual is not None and expected is not None:
            self._inputs_not_supported()
        super().__init__(actual, expected, id=id, **other_parameters)

    def compare(self) -> None:
        """Whether both are."""
        if not (self.actual is None and self.expected is None):
            self._fail(AssertionError, f"None mismatch: {self.actual} is not {self.expected}")


class BooleanPair(Pair):
    """Two truth values, Python's or NumPy's."""

    def __init__(
        self, actual: object, expected: object, *, id: Place, **other_parameters: object
    ) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        # PyTorch forgets the place here, and its messages don't tell it.
        super().__init__(actual, expected, id=(), **other_parameters)

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return bool, T.boolean

    def _process_inputs(self, actual: object, expected: object, *, id: Place) -> tuple[bool, bool]:
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return self._to_bool(actual, id=id), self._to_bool(expected, id=id)

    def _to_bool(self, bool_like: object, *, id: Place) -> bool:
        return bool(bool_like)

    def compare(self) -> None:
        """Whether they are the same."""
        if self.actual is not self.expected:
            self._fail(AssertionError, f"Booleans mismatch: {self.actual} is not {self.expected}")


class NumberPair(Pair):
    """Two numbers, Python's or NumPy's."""

    _TYPE_TO_DTYPE: Final = {
        int: dtypes.int64,
        float: dtypes.float64,
        complex: dtypes.complex128,
    }
    _NUMBER_TYPES: Final = tuple(_TYPE_TO_DTYPE)

    def __init__(
        self,
        actual: object,
        expected: object,
        *,
        id: Place = (),
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_dtype: bool = False,
        **other_parameters: object,
    ) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)
        kinds = [self._TYPE_TO_DTYPE[type(value)] for value in (actual, expected)]
        self.rtol, self.atol = get_tolerances(*kinds, rtol=rtol, atol=atol, id=id)
        self.equal_nan = equal_nan
        self.check_dtype = check_dtype

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return (*self._NUMBER_TYPES, T.number)

    def _process_inputs(self, actual: object, expected: object, *, id: Place) -> tuple[Any, Any]:
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return self._to_number(actual, id=id), self._to_number(expected, id=id)

    def _to_number(self, number_like: object, *, id: Place) -> Any:
        return number_like.item() if isinstance(number_like, T.number) else number_like

    def compare(self) -> None:
        """Whether they are close."""
        a, b = self.actual, self.expected
        if self.check_dtype and type(a) is not type(b):
            self._fail(AssertionError, f"The (d)types do not match: {type(a)} != {type(b)}.")
        if a == b or (self.equal_nan and cmath.isnan(a) and cmath.isnan(b)):
            return
        difference = abs(a - b)
        if cmath.isfinite(difference) and difference <= self.atol + self.rtol * abs(b):
            return
        self._fail(AssertionError, make_scalar_mismatch_msg(a, b, rtol=self.rtol, atol=self.atol))

    def extra_repr(self) -> Sequence[str]:
        """Tolerances and what is checked."""
        return "rtol", "atol", "equal_nan", "check_dtype"


_COMPRESSED: Final = {
    "torch.sparse_csr": ("CSR", "crow_indices", "col_indices"),
    "torch.sparse_csc": ("CSC", "ccol_indices", "row_indices"),
    "torch.sparse_bsr": ("BSR", "crow_indices", "col_indices"),
    "torch.sparse_bsc": ("BSC", "ccol_indices", "row_indices"),
}


class TensorLikePair(Pair):
    """Two tensors, or two things of one type that tensors can be made of."""

    def __init__(
        self,
        actual: object,
        expected: object,
        *,
        id: Place = (),
        allow_subclasses: bool = True,
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_device: bool = True,
        check_dtype: bool = True,
        check_layout: bool = True,
        check_stride: bool = False,
        **other_parameters: object,
    ) -> None:
        actual, expected = self._process_inputs(
            actual, expected, id=id, allow_subclasses=allow_subclasses
        )
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(actual, expected, rtol=rtol, atol=atol, id=id)
        self.equal_nan = equal_nan
        self.check_device = check_device
        self.check_dtype = check_dtype
        self.check_layout = check_layout
        self.check_stride = check_stride

    def _process_inputs(
        self, actual: object, expected: object, *, id: Place, allow_subclasses: bool
    ) -> tuple[Tensor, Tensor]:
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if not related or (not allow_subclasses and type(actual) is not type(expected)):
            self._inputs_not_supported()
        actual, expected = self._to_tensor(actual), self._to_tensor(expected)
        for tensor in (actual, expected):
            self._check_supported(tensor, id=id)
        return actual, expected

    def _to_tensor(self, tensor_like: object) -> Tensor:
        if isinstance(tensor_like, Tensor):
            return tensor_like
        try:
            made: Tensor = f.as_tensor(tensor_like)
        except Exception:
            self._inputs_not_supported()
        return made

    def _check_supported(self, tensor: Tensor, *, id: Place) -> None:
        known = ("torch.strided", "torch.sparse_coo", *_COMPRESSED)
        if str(tensor.layout) not in known:
            raise ErrorMeta(ValueError, f"Unsupported tensor layout {tensor.layout}", id=id)

    def compare(self) -> None:
        """Whether attributes and values agree."""
        with no_grad():
            self._compare_attributes(self.actual, self.expected)
            if self.actual.device.type == "meta" or self.expected.device.type == "meta":
                return
            self._compare_values(*self._equalize_attributes(self.actual, self.expected))

    def _compare_attributes(self, actual: Tensor, expected: Tensor) -> None:
        dense = actual.layout == expected.layout == strided
        for name, asked in (
            ("shape", True),
            ("layout", self.check_layout),
            ("device", self.check_device),
            ("dtype", self.check_dtype),
            ("stride()", self.check_stride and dense),
        ):
            if not asked:
                continue
            attribute = name.removesuffix("()")
            own, other = getattr(actual, attribute), getattr(expected, attribute)
            if attribute != name:
                own, other = own(), other()
            if own != other:
                self._fail(
                    AssertionError,
                    f"The values for attribute '{name}' do not match: {own} != {other}.",
                )

    def _equalize_attributes(self, actual: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
        if actual.dtype != expected.dtype:
            common = f.promote_types(actual.dtype, expected.dtype)
            actual, expected = actual.to(common), expected.to(common)
        if actual.layout != expected.layout:
            actual = actual if actual.layout == strided else actual.to_dense()
            expected = expected if expected.layout == strided else expected.to_dense()
        return actual, expected

    def _compare_values(self, actual: Tensor, expected: Tensor) -> None:
        if actual.layout == sparse_coo:
            compare: Callable[..., None] = self._compare_sparse_coo_values
        elif str(actual.layout) in _COMPRESSED:
            compare = self._compare_sparse_compressed_values
        else:
            compare = self._compare_regular_values_close
        compare(actual, expected, rtol=self.rtol, atol=self.atol, equal_nan=self.equal_nan)

    def _compare_sparse_coo_values(
        self, actual: Tensor, expected: Tensor, *, rtol: float, atol: float, equal_nan: bool
    ) -> None:
        self._compare_stored("COO", ("_indices",), "_values", actual, expected,
                             rtol=rtol, atol=atol, equal_nan=equal_nan)  # fmt: skip

    def _compare_sparse_compressed_values(
        self, actual: Tensor, expected: Tensor, *, rtol: float, atol: float, equal_nan: bool
    ) -> None:
        name, *indices = _COMPRESSED[str(actual.layout)]
        self._compare_stored(name, indices, "values", actual, expected,
                             rtol=rtol, atol=atol, equal_nan=equal_nan)  # fmt: skip

    def _compare_stored(
        self,
        layout: str,
        indices: Sequence[str],
        values: str,
        actual: Any,
        expected: Any,
        rtol: float,
        atol: float,
        equal_nan: bool,
    ) -> None:
        if actual._nnz() != expected._nnz():
            self._fail(
                AssertionError,
                f"The number of specified values in sparse {layout} tensors does not match: "
                f"{actual._nnz()} != {expected._nnz()}",
            )
        for name in indices:
            self._compare_regular_values_equal(
                getattr(actual, name)(),
                getattr(expected, name)(),
                identifier=f"Sparse {layout} {name.removeprefix('_')}",
            )
        self._compare_regular_values_close(
            getattr(actual, values)(),
            getattr(expected, values)(),
            identifier=f"Sparse {layout} values",
            rtol=rtol,
            atol=atol,
            equal_nan=equal_nan,
        )

    def _compare_regular_values_equal(
        self,
        actual: Tensor,
        expected: Tensor,
        *,
        equal_nan: bool = False,
        identifier: Identifier = None,
    ) -> None:
        self._compare_regular_values_close(
            actual, expected, rtol=0, atol=0, equal_nan=equal_nan, identifier=identifier
        )

    def _compare_regular_values_close(
        self,
        actual: Tensor,
        expected: Tensor,
        *,
        rtol: float,
        atol: float,
        equal_nan: bool,
        identifier: Identifier = None,
    ) -> None:
        if actual.is_floating_point() and actual.element_size() == 1:
            # Numbers of eight bits are the same or they aren't.
            if rtol != 0 or atol != 0:
                self._fail(
                    AssertionError,
                    f"Rtol={rtol} and atol={atol} are not supported for bitwise comparison of low"
                    " dimensional floats. Please use rtol=0.0 and atol=0.0.",
                )
            matches = actual.view(dtypes.uint8) == expected.view(dtypes.uint8)
        else:
            matches = f.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if bool(matches.all()):
            return
        if actual.dim() == 0:
            text = make_scalar_mismatch_msg(
                actual.item(), expected.item(), rtol=rtol, atol=atol, identifier=identifier
            )
        else:
            text = make_tensor_mismatch_msg(
                actual, expected, matches, rtol=rtol, atol=atol, identifier=identifier
            )
        self._fail(AssertionError, text)

    def extra_repr(self) -> Sequence[str]:
        """Tolerances and what is checked."""
        return (
            "rtol", "atol", "equal_nan", "check_device", "check_dtype", "check_layout",
            "check_stride",
        )  # fmt: skip
