"""Whether the program asks for results that are the same in each run, and what that changes.

Most operations give the same results anyway. Those that write several elements to one place refuse
(or warn), and memory that nobody has written is filled, so that reading it shows up.
"""

from __future__ import annotations

import warnings

__all__ = ["Determinism", "alert", "choose", "choose_filling"]


class Determinism:
    """What `use_deterministic_algorithms` and `utils.deterministic` have set."""

    on = False
    warns_only = False
    fills = True  # fresh memory, where it is on
    filling = False  # whether fresh memory is filled now


def choose(on: bool, warns_only: bool) -> None:
    """Turns determinism on or off."""
    Determinism.on, Determinism.warns_only = on, warns_only
    Determinism.filling = on and Determinism.fills


def choose_filling(fills: bool) -> None:
    """Has fresh memory filled where determinism is on, or left as it is."""
    Determinism.fills = fills
    Determinism.filling = fills and Determinism.on


def alert(name: str) -> None:
    """Refuses an operation whose result may differ from run to run, or warns of it.

    Raises:
        RuntimeError: where determinism is on, and not for warnings only.
    """
    if not Determinism.on:
        return
    if Determinism.warns_only:
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
