"""What makes tensors without being an operation of a row, for those who watch operations."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from .._core.interposers import MAKE, NOT_HANDLED, Interposer, interpose
from .._core.mode import ALERTED, Mode, current, is_interposed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._base.annotations import AnyCallable, Keywords, Positional
    from .._core.storage import TensorBase


#: Functions and methods of no row: their overload.
FACTORIES: Final = {
    "zeros": "zeros.default", "ones": "ones.default", "empty": "empty.memory_format",
    "full": "full.default", "arange": "arange.default", "randn": "randn.default",
    "rand": "rand.default", "eye": "eye.default", "linspace": "linspace.default",
    "randint": "randint.default", "randperm": "randperm.default",
    "zeros_like": "zeros_like.default", "ones_like": "ones_like.default",
    "empty_like": "empty_like.default", "full_like": "full_like.default",
    "tensor": "lift_fresh.default", "rand_like": "rand_like.default",
    "randn_like": "randn_like.default",
}  # fmt: skip
#: The same of methods.
FACTORY_METHODS: Final = {"detach": "detach.default", "item": "_local_scalar_dense.default"}


def show_calls(function: Callable[..., object], name: str) -> Any:
    """A function that makes tensors, which shows those who watch operations its calls.

    `name` is the overload that they see.
    """

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        if ALERTED and is_interposed():
            mode = current()
            for interposer in MAKE:
                handled = interposer.make(function, name, args, kwargs, mode)
                if handled is not NOT_HANDLED:
                    return handled
        return function(*args, **kwargs)

    return call


class _Recording(Interposer):
    """The recording of a compiled step."""

    def make(
        self,
        function: Callable[..., object],
        name: str,
        args: Sequence[object],
        kwargs: dict[str, object],
        mode: Mode,
    ) -> object:
        """A tensor that is made of nothing: a step makes it anew each time."""
        if mode.recorder is None:
            return NOT_HANDLED
        return mode.recorder.factory(function, name, args, kwargs)

    def take(
        self, method: AnyCallable, t: TensorBase, how: str, args: Positional, kwargs: Keywords
    ) -> object:
        """The elements, of which the recorder takes note: a program can't hold them."""
        recorder = current().recorder
        return recorder.read(t, how, recorder.quietly(method, (t, *args), kwargs))

    def ask(self, t: TensorBase, name: str, file: str) -> object:
        """What no guard answers, but for what the step has made."""
        current().recorder.note_question(t, name, file)
        return NOT_HANDLED


interpose("recording", _Recording())
