"""`torch._logging`: what programs set of PyTorch's logs; kept, and nothing is logged."""

from __future__ import annotations

from typing import Any

__all__ = ["getArtifactLogger", "set_logs", "warning_once"]

_asked: dict[str, Any] = {}


def set_logs(**levels: Any) -> None:
    """Notes which logs a program wants."""
    _asked.update(levels)


def getArtifactLogger(module_qname: str, artifact_name: str) -> Any:
    """The logger of a module."""
    import logging

    return logging.getLogger(f"{module_qname}.__{artifact_name}")


_said: set[tuple[str, str]] = set()


def warning_once(logger_obj: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a warning the first time that it is given."""
    key = (getattr(logger_obj, "name", ""), str(args))
    if key not in _said:
        _said.add(key)
        logger_obj.warning(*args, **kwargs)
