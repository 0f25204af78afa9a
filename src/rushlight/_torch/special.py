"""Special functions of mathematics, elementwise.

Every name is an operation of the table under its PyTorch name and signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._tensor import public_functions as _functions

_TABLE: Final = _functions.namespace("special")
_TABLE.fill(globals())

__all__ = sorted(_TABLE.names)  # noqa: PLE0605  (the table says what there is)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:

    def __getattr__(name: str) -> Any:
        """A function that is asked for the first time; says in whose name one is missing."""
        try:
            return _TABLE.find(name, globals())
        except KeyError:
            raise AttributeError(
                f"module '{__name__}' has no attribute '{name}' (Rushlight doesn't have it)"
            ) from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
