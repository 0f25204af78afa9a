"""Profiles with a schedule: which steps of a training loop are measured, and what is done then."""

from __future__ import annotations

from .._base.lazy import list_names as _listed
from ..autograd.profiler import kineto_available, record_function
from ..autograd.profiler_util import DeviceType
from .session import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "DeviceType", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile",
    "record_function", "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip

__dir__ = _listed(globals())
