"""`torch.onnx`: names that programs import. There is no graph to write: an export is an error."""

from __future__ import annotations

import enum
from typing import Any, NoReturn

from ..._base.error_notes import advise
from . import errors
from .errors import OnnxExporterError

__all__ = [
    "ONNXProgram", "OnnxExporterError", "OperatorExportTypes", "TensorProtoDataType",
    "TrainingMode", "errors", "export", "is_in_onnx_export", "register_custom_op_symbolic",
    "unregister_custom_op_symbolic",
]  # fmt: skip


class TrainingMode(enum.Enum):
    """In which mode a module is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.Enum):
    """Which operators an exported graph may hold."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TensorProtoDataType(enum.Enum):
    """The numbers of element types in ONNX files."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16


class ONNXProgram:
    """What `export` gives in PyTorch: here for annotations and `isinstance`."""


def _refuse(what: str) -> NoReturn:
    raise advise(
        OnnxExporterError(f"{what} needs a graph of the model, and Rushlight captures none"),
        "save the model's state_dict(), load it in PyTorch and export it there",
    )


def is_in_onnx_export() -> bool:
    """False: nothing is being exported."""
    return False


def export(model: Any, args: Any = (), f: Any = None, *more: Any, **options: Any) -> ONNXProgram:
    """Raises OnnxExporterError: there is no graph."""
    _refuse("torch.onnx.export")


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Does nothing: nothing will be exported."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Does nothing: nothing will be exported."""
