"""`IterDataPipe` and `MapDataPipe`: steps over data, which call each other by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import ClassVar, Generic, TypeVar

from ..dataset import Dataset, IterableDataset
from ._hook_iterator import _SnapshotState, begin_unless_restored, watch
from .annotations import Item

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class _Steps:
    """What both kinds have: functions by name, hooks of pickling, a short text."""

    functions: ClassVar[dict[str, Callable[..., object]]]
    reduce_ex_hook: ClassVar[Callable[..., object] | None] = None
    getstate_hook: ClassVar[Callable[..., object] | None] = None
    str_hook: ClassVar[Callable[..., str] | None] = None
    repr_hook: ClassVar[Callable[..., str] | None] = None

    def __getattr__(self, name: str) -> Item:
        found = type(self).functions.get(name)
        if found is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}")
        made = functools.partial(found, self)
        functools.update_wrapper(made, found, assigned=("__doc__",))
        return made

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., object]) -> None:
        """Lets pipes call a function by this name."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: type, enable_df_api_tracing: bool = False
    ) -> None:
        """Lets pipes make one of a class over themselves by this name.

        Raises:
            Exception: where another has the name.
        """
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )

        def make(source: object, *args: object, **options: object) -> object:
            return cls_to_register(source, *args, **options)

        functools.update_wrapper(make, cls_to_register, assigned=("__doc__",), updated=())
        cls.functions[function_name] = make

    @classmethod
    def set_getstate_hook(cls, hook_fn: Callable[..., object] | None) -> None:
        """Has a function say what pickles keep; None ends that.

        Raises:
            RuntimeError: where there is another.
        """
        if cls.getstate_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempted to override existing getstate_hook")
        cls.getstate_hook = hook_fn

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Callable[..., object] | None) -> None:
        """Has a function say how pickles hold a pipe; None ends that.

        Raises:
            RuntimeError: where there is another.
        """
        if cls.reduce_ex_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempted to override existing reduce_ex_hook")
        cls.reduce_ex_hook = hook_fn

    def __getstate__(self) -> Item:
        hook = type(self).getstate_hook
        return self.__dict__ if hook is None else hook(self.__dict__)

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def __reduce_ex__(self, *args: Item, **kwargs: Item) -> Item:
        hook = type(self).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass
        return super().__reduce_ex__(*args, **kwargs)

    def __str__(self) -> str:
        hook = type(self).str_hook
        return type(self).__qualname__ if hook is None else hook(self)

    def __repr__(self) -> str:
        hook = type(self).repr_hook
        return type(self).__qualname__ if hook is None else hook(self)


class MapDataPipe(_Steps, Dataset[_T_co]):
    """Items by key or index."""

    functions = {}

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]


class IterDataPipe(_Steps, IterableDataset[_T_co]):
    """Items one after the other; a new iterator ends the one before it."""

    functions = {}
    _valid_iterator_id = 0
    _number_of_samples_yielded = 0
    _snapshot_state = _SnapshotState.NotStarted
    _fast_forward_iterator: Iterator[Item] | None = None

    def __init_subclass__(cls, **kwargs: Item) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__
        if "__iter__" in own and not own.get("_is_child_datapipe"):
            cls.__iter__ = watch(own["__iter__"])  # type: ignore[method-assign]
        if "reset" in own:
            cls.reset = begin_unless_restored(own["reset"])  # type: ignore[method-assign]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]

    def __iter__(self) -> Iterator[_T_co]:
        made: Item = self
        return made  # what gives items says otherwise

    @begin_unless_restored
    def reset(self) -> None:
        """Begins again: called before each iterator is made, but for one that goes on."""


# ---- what pipes carry ----------------------------------------------------------------------------
class DFIterDataPipe(IterDataPipe[_T_co]):
    """A pipe of data frames.

    Example:
        >>> issubclass(torch.utils.data.DFIterDataPipe, torch.utils.data.IterDataPipe)
        True
    """

    def _is_dfpipe(self) -> bool:
        return True


class DataChunk(list[_T], Generic[_T]):
    """A batch of items."""

    def __init__(self, items: Item) -> None:
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        """The items as text."""
        return indent + "[" + ", ".join(str(i) for i in iter(self)) + "]"

    def raw_iterator(self) -> Iterator[_T]:
        """The items as they are."""
        yield from self.items
