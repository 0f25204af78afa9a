"""Fixtures that kornia's tests ask a file for that its archive lacks: where, and in which type."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def device() -> Any:
    """The processor."""
    import torch

    return torch.device("cpu")


@pytest.fixture
def dtype() -> Any:
    """Single precision."""
    import torch

    return torch.float32
