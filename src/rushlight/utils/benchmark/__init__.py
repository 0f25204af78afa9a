"""`torch.utils.benchmark`: times of statements, and tables of them."""

from __future__ import annotations

from .compare import Colorize, Compare
from .measurement import (
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)
from .timer import Language, Timer, timer

__all__ = [
    "Colorize", "Compare", "Language", "Measurement", "TaskSpec", "Timer", "ordered_unique",
    "select_unit", "timer", "trim_sigfig", "unit_to_english",
]  # fmt: skip
