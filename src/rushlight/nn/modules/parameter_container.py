"""Containers of parameters: a list and a dictionary whose tensors count as the owner's."""

import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping
from typing import Any, Self, overload

from .._ground import Tensor, typename
from ..parameter import Parameter
from .module import Module


def _as_parameter(value: object) -> object:
    """Plain tensors become parameters; parameters and everything else stay as they are."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _line(name: str, value: Any, kind: Callable[[Any], str]) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    size = "x".join(str(extent) for extent in value.size())
    word = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({name}): {word} containing: [{kind(value)} of size {size}]"


class ParameterList(Module):
    """A list whose tensors are parameters of the owner; other values are kept as they are."""

    def __init__(self, values: Iterable[object] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _get_abs_string_index(self, index: int) -> str:
        place = operator.index(index)
        if not -self._size <= place < self._size:
            raise IndexError(f"index {place} is out of range")
        return str(place % self._size)

    @overload
    def __getitem__(self, idx: int) -> Any: ...
    @overload
    def __getitem__(self, idx: slice) -> "ParameterList": ...
    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(self[place] for place in range(*idx.indices(self._size)))
        return getattr(self, self._get_abs_string_index(idx))

    def __setitem__(self, idx: int, param: object) -> None:
        setattr(self, self._get_abs_string_index(idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[place] for place in range(self._size)])

    def __iadd__(self, parameters: Iterable[object]) -> Self:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: object) -> Self:
        """Adds a value at the end; returns the list."""
        name = str(self._size)
        self._size += 1
        setattr(self, name, _as_parameter(value))
        return self

    def extend(self, values: Iterable[object]) -> Self:
        """Adds every value of an iterable (but not of one tensor) at the end; returns the list."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                + type(values).__name__
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        lines = [_line(str(i), value, lambda t: str(t.dtype)) for i, value in enumerate(self)]
        return "\n".join(lines)

    def __call__(self, *args: object, **kwargs: object) -> object:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary whose tensors are parameters of the owner; other values are kept as they are.

    Names keep the order of insertion, except that a plain `dict` or other mapping is read sorted.
    """

    def __init__(self, parameters: object = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key: str) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is "
                f"not a string (type is '{type(key).__name__}'). Open an issue on "
                "github if you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._attribute(key))

    def __setitem__(self, key: str, value: object) -> None:
        name = self._attribute(key)
        value = _as_parameter(value)
        if isinstance(value, Parameter):
            self.register_parameter(name, value)
        else:
            setattr(self, name, value)
        self._keys[name] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> "ParameterDict":
        """A new dictionary of the same values."""
        return ParameterDict(OrderedDict((key, self[key]) for key in self._keys))

    def setdefault(self, key: str, default: object = None) -> Any:
        """The value of `key`, after storing `default` there if nothing was."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Removes every value."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Takes the value of `key` out of the dictionary, and returns it."""
        taken = self[key]
        del self[key]
        return taken

    def popitem(self) -> tuple[str, Any]:
        """Takes the last name and its value out of the dictionary, and returns them."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key: str, default: object = None) -> Any:
        """The value of `key`, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401  (this is `get`)

    def fromkeys(self, keys: Iterable[str], default: object = None) -> "ParameterDict":
        """A new dictionary of these names, each with the same value."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> KeysView[str]:
        """The names, as a view."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names with their values."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: object) -> None:
        """Adds the values of a mapping, or of an iterable of pairs."""
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, "
                "but got " + type(parameters).__name__
            )
        pairs: Iterable[Any]
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = list(parameters.items())
        elif isinstance(parameters, Mapping):
            pairs = sorted(parameters.items())
        else:
            pairs = parameters
        for place, pair in enumerate(pairs):
            if not isinstance(pair, Iterable):
                raise TypeError(
                    f"ParameterDict update sequence element #{place} should be Iterable; "
                    f"is{type(pair).__name__}"
                )
            parts = list(pair)
            if len(parts) != 2:
                raise ValueError(
                    f"ParameterDict update sequence element #{place} has length "
                    f"{len(parts)}; 2 is required"
                )
            self[parts[0]] = parts[1]

    def __or__(self, other: object) -> "ParameterDict":
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: Any) -> Self:
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other: object) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value, typename) for key, value in self.items())

    def __call__(self, input: object) -> object:
        raise RuntimeError("ParameterDict should not be called.")
