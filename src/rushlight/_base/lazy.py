"""What is loaded or made when somebody first asks for it: the package's one way to be lazy.

    load("_array.nn.pooling:planes")                                     something, loaded now
    __getattr__ = lazy(__name__, {"gradcheck": ".gradcheck:gradcheck"})  names of a module
    raw = later("_array.nn.pooling")                                     what a module has
    functions = Pending()                                                values of a dictionary

A place is that of a module below `rushlight`, or, with a dot at its front, below the module that
asks; after a colon comes the name of something that the module has.

Note [Raw modules load late]
A program uses a few dozen operations, and most of the arithmetic behind the others lies in modules
that nothing else needs. So the table names them by `later`. While rows are being declared (by
`load_declaring`), what is asked of such a module is a `Function`, which knows where it will be
found; from then on it is what the module has. A row that settles gets the function itself, so calls
are what they would be.

Note [Functions are made late]
The table has some 1 700 public functions and methods; a program uses a few dozen. `PUBLIC` and
`TENSOR_METHODS` know all names from the start and make a function at the first look at its value
(which settles the rows behind it, see Note [Rows settle late]). The modules in which users find
functions are filled the same way, by a `Space`.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .fork_locks import lock

if TYPE_CHECKING:
    from collections.abc import KeysView

    from .annotations import AnyCallable

K = TypeVar("K")

_ROOT: Final = __name__.partition(".")[0]
_NONE: Final[Mapping[str, str]] = MappingProxyType({})

#: Held while something is made. It may be taken again by the thread that has it.
LOCK: Final = lock()


def load(place: str, package: str = _ROOT) -> Any:
    """What is at a place, loaded now; see the top of this file for places."""
    name, _, attribute = place.partition(":")
    found: Any = import_module(name if name[0] == "." else f"{_ROOT}.{name}", package)
    return getattr(found, attribute) if attribute else found


# ---- names of a module ---------------------------------------------------------------------------
class _Package(ModuleType):
    """A package with functions that are called as their submodules.

    Importing a submodule binds it in its package, over a function of its name. PyTorch loads all at
    once and binds the function last; here the package sets it in the submodule's place.
    """

    def __setattr__(self, name: str, value: object) -> None:
        submodule = f"{self.__name__}.{name}"
        if value is sys.modules.get(submodule) and name in getattr(value, "__dict__", ()):
            value = getattr(value, name)
        super().__setattr__(name, value)


def list_names(module: Mapping[str, Any]) -> Callable[[], list[str]]:
    """The `__dir__` of a module: what is in its `__all__`, and what Python gives every module."""
    return lambda: sorted({*module["__all__"], *(name for name in module if name[:2] == "__")})


def lazy(
    module: str,
    homes: Mapping[str, str] = _NONE,
    find: Callable[[str], object] | None = None,
    why: str = "",
) -> Callable[[str], Any]:
    """The `__getattr__` of a module.

    Args:
        module: the module's name.
        homes: the places of names; what is found there the module keeps.
        find: gives what has another name, and a KeyError where nothing has. It is asked each time.
        why: what the error for a name that nothing has says at its end.
    """
    if any(home == f".{name}:{name}" for name, home in homes.items()):
        sys.modules[module].__class__ = _Package

    def __getattr__(name: str) -> object:
        if name in homes:
            found = load(homes[name], module)
            setattr(sys.modules[module], name, found)
            return found
        if find is not None:
            try:
                return find(name)
            except KeyError:
                pass
        known_as = getattr(sys.modules.get(module), "__name__", module)
        raise AttributeError(f"module '{known_as}' has no attribute '{name}'{why}")

    return __getattr__


def submodules(package: str) -> Callable[[str], ModuleType]:
    """What finds the submodules of a package, for `lazy`."""

    def find(name: str) -> ModuleType:
        if name[:2] == "__":
            raise KeyError(name)
        try:
            return import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise  # something that the submodule needs is missing
            raise KeyError(name) from None

    return find


# ---- what a module has ---------------------------------------------------------------------------
class _State:
    __slots__ = ("declaring",)

    def __init__(self) -> None:
        self.declaring = 0  # the thread that loads rows


_STATE: Final = _State()


def load_declaring(place: str) -> None:
    """Loads a module that declares rows; what it asks of a module by `later` isn't loaded."""
    with LOCK:
        before, _STATE.declaring = _STATE.declaring, get_ident()
        try:
            load(place)
        finally:
            _STATE.declaring = before


class Function:
    """A function of a module that may not be loaded yet; a call loads it."""

    __slots__ = ("place", "_found")

    def __init__(self, place: str) -> None:
        self.place = place
        self._found: Any = None

    def find(self) -> Any:
        """The function itself."""
        found = self._found
        if found is None:
            found = self._found = load(self.place)
        return found

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return (self._found or self.find())(*args, **kwargs)


def attribute(place: str) -> AnyCallable:
    """What is at a place; a `Function` while rows are being declared."""
    return Function(place) if _STATE.declaring == get_ident() else load(place)


class _Loaded:
    """What stood in for a module, with all that the module has."""


class _Module(_Loaded):
    """Stands in for a module.

    Once that is loaded it has no `__getattr__` any more, which costs every look at an attribute.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(f"module {self._name!r} has no attribute {name!r}")
        if _STATE.declaring == get_ident():
            return Function(f"{self._name}:{name}")
        module = load(self._name)
        self.__dict__.update(vars(module))
        self.__class__ = _Loaded  # type: ignore[assignment]
        return getattr(module, name)


def later(place: str) -> _Module:
    """What stands in for a module; see Note [Raw modules load late]."""
    return _Module(place)


# ---- values of a dictionary ----------------------------------------------------------------------
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
        if key not in self._makers:
            raise KeyError(key)
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

    def keys(self) -> KeysView[K]:  # type: ignore[override]
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
            module[name] = self[name]

    def __getitem__(self, name: str) -> AnyCallable:
        function: AnyCallable = self.public[(self.namespace, name)]
        return function

    def find(self, name: str, module: dict[str, object]) -> AnyCallable:
        """The function called `name`, which the module then has in its globals.

        Raises:
            KeyError: where there is none.
        """
        found = module[name] = self[name]
        return found

    def module(self, name: str) -> ModuleType:
        """A module called `name` of these functions, and nothing else."""
        made = ModuleType(name)
        own = made.__dict__
        self.fill(own)

        own["__getattr__"] = lazy(name, find=partial(self.find, module=own))
        return made

    def serve(self, module: dict[str, Any], *more: str, homes: Mapping[str, str] = _NONE) -> None:
        """Makes a module whose globals are given that of these functions, and of `more` names.

        It has the names in `homes` too, which it doesn't list; see `lazy`.
        """
        self.fill(module)
        module["__all__"] = sorted([*self.names, *more])
        module["__getattr__"] = lazy(
            module["__name__"],
            homes,
            partial(self.find, module=module),
            " (Rushlight doesn't have it)",
        )
        module["__dir__"] = list_names(module)
