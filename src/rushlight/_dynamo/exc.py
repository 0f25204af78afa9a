"""The errors of a capture, for programs that catch them."""

from __future__ import annotations

__all__ = [
    "BackendCompilerFailed", "InternalTorchDynamoError", "TorchDynamoException",
    "TorchRuntimeError", "Unsupported", "UserError",
]  # fmt: skip


class TorchDynamoException(RuntimeError):
    """An error of a capture."""


class InternalTorchDynamoError(TorchDynamoException):
    """An error within the capture itself."""


class Unsupported(TorchDynamoException):
    """Code that a capture can't take."""


class TorchRuntimeError(TorchDynamoException):
    """An error of the program, met during a capture."""


class BackendCompilerFailed(TorchDynamoException):
    """An error of what compiles a graph."""


class UserError(Unsupported):
    """Code that a capture can't take, with advice."""
