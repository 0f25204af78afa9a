"""Dictionaries of functions that are made when somebody asks for them.

Note [Functions are made late]
The table has some 1 700 public functions and methods; a program uses a few dozen. `PUBLIC` and
`TENSOR_METHODS` know all names from the start and make a function at the first look at its value
(which settles the rows behind it, see Note [Rows settle late]). The modules in which users find
functions are filled the same way: their `__getattr__` runs for a name that isn't there yet, and
leaves the function in the module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from ..._base.lazy import listed
from .row import LOCK

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable

K = TypeVar("K")


def _by_key() -> None:
    """Stands for the maker of those whose maker is asked with the key."""


class Pending(dict[K, Any]):
    """A dictionary with values that are made at the first look; going over keys makes none.

    A value that is there is found as in any dictionary, at the same cost.
    """

    def __init__(self) -> None:
        super().__init__()
        self._makers: dict[K, Callable[[], Any] | None] = {}  # of every key; None: it is there
        self._make: Callable[[K], Any] = self._makers.__getitem__  # see `all_later`

    def later(self, key: K, maker: Callable[[], Any]) -> None:
        """Has the value of `key` made by `maker()` when it is needed."""
        self._makers[key] = maker
        dict.pop(self, key, None)

    def all_later(self, keys: Iterable[K], make: Callable[[K], Any]) -> None:
        """Has the values of many new keys made by `make(key)` when they are needed."""
        self._make = make
        self._makers.update(dict.fromkeys(keys, _by_key))

    def ready(self) -> dict[K, Any]:
        """The values that are there, as a plain dictionary."""
        return dict(super().items())

    def __missing__(self, key: K) -> Any:
        with LOCK:
            maker = self._makers[key]
            if maker is not None:
                value = self._make(key) if maker is _by_key else maker()
                super().__setitem__(key, value)
                self._makers[key] = None
        return self[key]

    def __setitem__(self, key: K, value: AnyCallable) -> None:
        super().__setitem__(key, value)
        self._makers[key] = None

    def get(self, key: K, default: object = None) -> Any:
        """The value of `key`, made if need be; `default` where there is none."""
        return self[key] if key in self._makers else default

    def update(self, other: dict[K, Any]) -> None:  # type: ignore[override]
        """Takes the items of another dictionary."""
        super().update(other)
        self._makers.update(dict.fromkeys(other))

    def __contains__(self, key: object) -> bool:
        return key in self._makers

    def __iter__(self) -> Iterator[K]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def keys(self) -> Any:
        """All keys, in the order in which they came."""
        return self._makers.keys()

    def values(self) -> Any:
        """All values; those that weren't there are made."""
        return [self[key] for key in self._makers]

    def items(self) -> Any:
        """All keys with their values; those that weren't there are made."""
        return [(key, self[key]) for key in self._makers]


class Space:
    """The public names of one namespace, and how a module comes to have them."""

    __slots__ = ("public", "namespace", "names")

    def __init__(self, public: Pending[tuple[str, str]], namespace: str) -> None:
        self.public = public
        self.namespace = namespace
        self.names = [name for space, name in public if space == namespace]

    def fill(self, module: dict[str, object]) -> None:
        """Puts the functions that are there into a module's globals.

        What the module has under the name of a function gives way to it.
        """
        for (space, name), function in self.public.ready().items():
            if space == self.namespace:
                module[name] = function
        for name in module.keys() & set(self.names):
            module[name] = self.public[(self.namespace, name)]

    def find(self, name: str, module: dict[str, object]) -> AnyCallable:
        """The function called `name`, which the module then has in its globals.

        Raises:
            KeyError: where there is none.
        """
        found = module[name] = self.public[(self.namespace, name)]
        return found

    def module(self, name: str) -> ModuleType:
        """A module called `name` of these functions, and nothing else."""
        made = ModuleType(name)
        own = made.__dict__
        self.fill(own)

        def find(asked: str) -> AnyCallable:
            try:
                return self.find(asked, own)
            except KeyError:
                raise AttributeError(f"{name} has no {asked!r}") from None

        own["__getattr__"] = find
        return made

    def serve(self, module: dict[str, Any], *more: str) -> Callable[[str], AnyCallable]:
        """Makes a module whose globals are given that of these functions, and of `more` names.

        What finds a function that is asked for the first time is the module's, and the answer.
        """
        self.fill(module)
        name = module["__name__"]

        def __getattr__(asked: str) -> AnyCallable:
            try:
                return self.find(asked, module)
            except KeyError:
                raise AttributeError(
                    f"module '{name}' has no attribute '{asked}' (Rushlight doesn't have it)"
                ) from None

        module["__all__"] = sorted([*self.names, *more])
        module["__getattr__"] = __getattr__
        module["__dir__"] = listed(module)
        return __getattr__
