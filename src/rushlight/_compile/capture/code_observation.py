"""Watching Python while a step is recorded: which code ran, and what of it can't be repeated.

A profile function sees every call. Code of the user's that the walk over the step's state hasn't
found can't be guarded; a builtin that acts on the world outside (printing, reading the clock) would
be left out of the compiled step without a word. Both are refused.
"""

from __future__ import annotations

import gc
import os
import sys
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

from ..._base.own_packages import is_own
from ..._core.storage import CLASSES
from ..._native.cpython.unbound import function_of
from ..refusal import is_library, is_rushlight, is_standard

#: Builtin functions without effects outside of their arguments.
HARMLESS: Final = frozenset({
    "abs", "all", "any", "ascii", "bin", "bool", "bytes", "callable", "chr", "complex", "dict",
    "dir", "divmod", "enumerate", "filter", "float", "format", "frozenset", "getattr", "hasattr",
    "hash", "hex", "int", "isinstance", "issubclass", "iter", "len", "list", "locals", "map",
    "max", "min", "object", "oct", "ord", "pow", "property", "range", "repr", "reversed", "round",
    "set", "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple", "type", "vars",
    "zip", "setattr", "delattr", "__build_class__", "next",
})  # fmt: skip
#: Modules whose builtin functions only compute.
PURE_MODULES: Final = frozenset({
    "math", "_operator", "operator", "cmath", "_functools", "itertools", "_collections", "_struct",
    "_bisect", "_heapq", "_string", "_abc", "_weakref", "_sre", "_contextvars",
    "_typing", "binascii", "_json",
})  # fmt: skip
#: Functions of the library that change its settings, or where a generator stands.
LASTING: Final = frozenset({
    "manual_seed", "seed", "set_rng_state", "set_state", "set_default_dtype", "set_default_device",
    "set_default_tensor_type", "set_num_threads", "set_num_interop_threads", "set_printoptions",
    "use_deterministic_algorithms", "set_deterministic_debug_mode", "set_warn_always",
    "set_flush_denormal", "set_float32_matmul_precision", "set_detect_anomaly", "fork_rng",
    "set_fill_uninitialized_memory", "set_autocast_enabled", "set_autocast_dtype",
})  # fmt: skip
#: How tensors are told apart in dictionaries and sets.
HASH: Final = getattr(CLASSES.tensor.__hash__, "__code__", None)
#: Functions of the library, and of NumPy, that tell settings which a program may outlive.
TELLING: Final = frozenset({
    "initial_seed", "get_rng_state", "get_num_threads", "get_num_interop_threads",
    "get_float32_matmul_precision", "get_deterministic_debug_mode", "get_printoptions",
    "get_default_device", "is_warn_always_enabled", "is_anomaly_enabled", "get_state", "seed",
    "is_anomaly_check_nan_enabled", "is_autocast_enabled", "get_autocast_dtype",
    "is_inference_mode_enabled", "is_available", "thread_safe_generator", "geterr", "geterrcall",
    "getbufsize",
})  # fmt: skip
_SYSTEM: Final = os.getenv.__code__.co_filename
#: The code of the import system: modules are loaded once, compiled or not.
_IMPORTING: Final = "<frozen importlib._bootstrap>"
#: What mutable things may be changed by their own methods: the walk sees what is reachable.
OWN_METHODS: Final = (
    str, bytes, bytearray, int, float, complex, bool, tuple, list, dict, set, frozenset, range,
    type, slice,
)  # fmt: skip


class Observation:
    """What ran while it was in force: a context manager around one recording."""

    def __init__(self) -> None:
        self.codes: dict[CodeType, Any] = {}
        self.spaces: dict[CodeType, dict[str, Any]] = {}  # where the library's code looks names up
        self.problem: tuple[str, Any] | None = None
        self.outer: Any = None
        self.recorder: Any = None
        self.collecting = False
        self.below: Any = None

    def __enter__(self) -> Observation:
        self.below = sys._getframe(1)
        self.outer = sys.getprofile()
        self.collecting = gc.isenabled()
        gc.disable()  # a collection may run code of anybody's
        if self.outer is not None and not callable(self.outer):
            self.outer.disable()  # cProfile: `sys.setprofile` can't bring it back
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        if self.outer is None or callable(self.outer):
            sys.setprofile(self.outer)
        else:
            sys.setprofile(None)
            self.outer.enable()
        self.below = None
        if self.collecting:
            gc.enable()

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code is HASH and self.problem is None:
                self._note_hash(frame)
            if code.co_name in TELLING and is_library(code.co_filename):
                asking = frame.f_back
                if asking is not None and not is_library(asking.f_code.co_filename):
                    text = f"the step asks `{code.co_name}`, which may change between calls"
                    self.problem = self.problem or (
                        text,
                        (asking.f_code.co_filename, asking.f_lineno),
                    )
            if code.co_filename == _SYSTEM and self.problem is None and (
                code.co_name == "getenv" or frame.f_locals.get("self") is os.environ
            ):  # fmt: skip
                self._blame("the step reads the environment's variables", frame)
            if code not in self.codes:
                user = not is_library(code.co_filename)
                if user and (self._imports(frame) or _is_generated(frame)):
                    return  # runs once in any case, or belongs to who calls it
                self.codes[code] = user
                if not user and is_rushlight(code.co_filename):
                    self.spaces[code] = frame.f_globals
                if user and code.co_flags & 0x2A0:  # generators and coroutines
                    return
        elif event == "c_call" and self.problem is None:
            if is_rushlight(frame.f_code.co_filename):
                return
            why = why_refused(arg)
            if why is None and self.recorder.reads and _of_numbers(arg):
                why = f"the step reads a number by `item()` and calls `{arg.__name__}`"
            if why is not None:
                self._blame(why, frame)

    def _note_hash(self, frame: FrameType) -> None:
        """A tensor's hash tells which one it is: an argument is another one in each call."""
        asking, t = frame.f_back, next(iter(frame.f_locals.values()), None)
        mine = asking is not None and not is_library(asking.f_code.co_filename)
        if mine and id(t) in self.recorder.arguments:
            self._blame("the step looks an argument up by its identity", asking)

    def _imports(self, frame: Any) -> bool:
        """Whether the frame runs for an import that the step makes."""
        while frame is not None and frame is not self.below:
            if frame.f_code.co_filename == _IMPORTING:
                return True
            frame = frame.f_back
        return False

    def _blame(self, why: str, frame: Any) -> None:
        if self._imports(frame):
            return
        through = None
        while frame is not None and is_standard(frame.f_code.co_filename):
            through = frame
            frame = frame.f_back
        if through is not None:  # what the user called: `random.choice`, not what that calls
            module = through.f_globals.get("__name__", "?")
            why = f"the step calls `{module}.{through.f_code.co_name}`"
        if frame is not None and not is_library(frame.f_code.co_filename):
            self.problem = (why, (frame.f_code.co_filename, frame.f_lineno))

    def find_setter(self) -> str | None:
        """The function of the library's, if one ran, that changes what outlives the step."""
        for code, user in self.codes.items():
            if not user and code.co_name in LASTING and is_rushlight(code.co_filename):
                return code.co_name
        return None

    def standard(self) -> list[CodeType]:
        """The code of Python's own library that ran."""
        return [code for code in self.codes if is_standard(code.co_filename)]

    def own(self) -> list[CodeType]:
        """The code of the user's that ran, the step's own first."""
        return [code for code, user in self.codes.items() if user]

    def unseen(self, walked: set[CodeType]) -> CodeType | None:
        """Code of the user's that ran and that the walk hasn't found."""
        for code, user in self.codes.items():
            if user and code not in walked:
                return code
        return None


def _is_generated(frame: FrameType) -> bool:
    """Whether the library runs code that was made for one of its own classes: a dataclass's."""
    caller = frame.f_back
    if frame.f_code.co_filename != "<string>" or caller is None:
        return False
    space = frame.f_globals  # that of the library's module; a program may be a text, too
    named = str(space.get("__name__", "")).startswith("namedtuple_")
    mine = named or is_library(str(space.get("__file__") or ""))
    return mine and is_library(caller.f_code.co_filename)


def _of_numbers(function: object) -> bool:
    """Whether a builtin looks at numbers without asking them."""
    owner = getattr(function, "__self__", None)
    return isinstance(owner, ModuleType) and owner.__name__ in ("math", "cmath", "_struct")


def why_refused(function: object) -> str | None:
    """Why a builtin may not be called in a compiled step; None where it may."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "?")
    if owner is None or isinstance(owner, ModuleType):
        module = getattr(owner, "__name__", None) or getattr(function, "__module__", None)
        if module == "builtins":
            return None if name in HARMLESS else f"the step calls `{name}`"
        stem = (module or "").partition(".")[0]
        if module in PURE_MODULES or stem == "numpy" or is_own(stem):
            return None
        if module is None:  # a method of a builtin class, called through the class
            return None
        return f"the step calls `{module}.{name}`"
    # For the second see Note [Functions that don't bind].
    if isinstance(owner, OWN_METHODS):
        return None
    if callable(function) and function_of(function) is not function:
        return None
    kind = type(owner)
    if kind.__module__ in ("collections", "_contextvars", "functools", "types", "weakref"):
        return None
    if is_own(kind.__module__) or name.startswith("__"):
        return None
    return f"the step calls `{kind.__name__}.{name}`"
