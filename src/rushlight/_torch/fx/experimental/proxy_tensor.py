"""`torch.fx.experimental.proxy_tensor`: whether a trace by dispatch is going on; none ever is."""

from __future__ import annotations

__all__ = ["get_proxy_mode"]


def get_proxy_mode() -> None:
    """The tracing mode that is on: None."""
    return None
