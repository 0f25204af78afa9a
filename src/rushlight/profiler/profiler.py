"""`torch.profiler.profiler`: the names of `torch.profiler` under the module that defines them."""

from __future__ import annotations

from .session import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "ProfilerAction", "ProfilerActivity", "profile", "schedule", "supported_activities",
    "tensorboard_trace_handler",
]  # fmt: skip
