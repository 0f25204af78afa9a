"""The errors of a capture, for programs that catch them."""

from __future__ import annotations

from ..._compile.refusal import InvalidBackend, TorchDynamoException

__all__ = [
    "BackendCompilerFailed", "InternalTorchDynamoError", "InvalidBackend", "TorchDynamoException",
    "TorchRuntimeError", "Unsupported", "UserError",
]  # fmt: skip


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
