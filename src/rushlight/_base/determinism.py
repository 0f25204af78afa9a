"""Whether the program asks for results that are the same in each run, and what that changes.

Most operations give the same results anyway. Those that write several elements to one place refuse
(or warn), and memory that nobody has written is filled, so that reading it shows up.
"""

from __future__ import annotations

import warnings
from typing import Final


class Choices:
    """What `use_deterministic_algorithms` and `utils.deterministic` have set."""

    __slots__ = ("on", "warns_only", "fills", "filling")

    def __init__(self) -> None:
        self.on = False
        self.warns_only = False
        self.fills = True  # fresh memory, where it is on
        self.filling = False  # whether fresh memory is filled now


DETERMINISM: Final = Choices()


def choose(on: bool, warns_only: bool) -> None:
    """Turns determinism on or off."""
    DETERMINISM.on, DETERMINISM.warns_only = on, warns_only
    DETERMINISM.filling = on and DETERMINISM.fills


def choose_filling(fills: bool) -> None:
    """Has fresh memory filled where determinism is on, or left as it is."""
    DETERMINISM.fills = fills
    DETERMINISM.filling = fills and DETERMINISM.on


def alert(name: str) -> None:
    """Refuses an operation whose result may differ from run to run, or warns of it.

    Raises:
        RuntimeError: where determinism is on, and not for warnings only.
    """
    if not DETERMINISM.on:
        return
    if DETERMINISM.warns_only:
        warnings.warn(
            f"{name} does not have a deterministic implementation, but you set "
            "'torch.use_deterministic_algorithms(True, warn_only=True)'. You can file an issue at "
            "https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic "
            "support for this operation.",
            UserWarning,
            stacklevel=2,
        )
        return
    raise RuntimeError(
        f"{name} does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this "
        "operation, or you can use the 'warn_only=True' option, if that's acceptable for your "
        "application. You can also file an issue at https://github.com/pytorch/pytorch/issues to "
        "help us prioritize adding deterministic support for this operation."
    )
