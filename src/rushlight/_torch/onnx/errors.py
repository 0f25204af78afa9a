"""The errors of an export."""

from __future__ import annotations

__all__ = [
    "OnnxExporterError",
    "OnnxExporterWarning",
    "SymbolicValueError",
    "UnsupportedOperatorError",
]


class OnnxExporterWarning(UserWarning):
    """A warning of an export."""


class OnnxExporterError(RuntimeError):
    """An error of an export."""


class UnsupportedOperatorError(OnnxExporterError):
    """An operator that ONNX lacks."""


class SymbolicValueError(OnnxExporterError):
    """A value that an exported graph can't hold."""
