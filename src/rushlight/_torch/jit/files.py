"""`torch.jit.save` and `load`: whole modules, by way of Python's pickles.

The files hold the parameters and the names of the program's classes, not their code: who loads one
must be able to import them. Files in TorchScript's own format need its interpreter.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any, Final, NoReturn

from ... import serialization
from ..._base.error_notes import advise

__all__ = ["jit_module_from_flatbuffer", "load", "save", "save_jit_module_to_flatbuffer"]

_MARK: Final = "rushlight.jit"


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Writes a scripted or traced module or function to a file.

    The file holds parameters and the names of the program's classes, not their code.

    Parameters:
        m: what `script` or `trace` gave.
        f: a path, or a file that is open for writing bytes.
    Raises: TypeError: for a module that is neither. OSError: where the file can't be written.
    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.jit.save(torch.jit.script(nn.ReLU()), file)
        >>> place = file.seek(0)
        >>> torch.jit.load(file)(torch.tensor([-1.0]))
        tensor([0.])
    """
    if not getattr(type(m), "_is_scripted", False):
        raise TypeError("expected a module or function of torch.jit.script or torch.jit.trace, "
                        f"not {type(m).__name__}")  # fmt: skip
    extra = {
        key: value.encode() if isinstance(value, str) else value
        for key, value in (_extra_files or {}).items()
    }
    serialization.save({_MARK: 1, "object": m, "extra": extra}, f)


def load(
    f: str, map_location: Any = None, _extra_files: dict[str, Any] | None = None,
    _restore_shapes: bool = False,
) -> Any:  # fmt: skip
    """The module or function that `save` has written; the file's classes are imported.

    Like `torch.load(..., weights_only=False)` this runs what the file names: load only files that
    you trust.

    Parameters:
        f: a path, or a file that is open for reading bytes.
        map_location: where its tensors go, as for `torch.load`.
    Returns: a `ScriptModule` or a `ScriptFunction`.
    Raises:
        ValueError: where there is no such file.
        RuntimeError: for a file in TorchScript's own format, and for one that `save` hasn't
            written.
    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.jit.save(torch.jit.script(nn.Linear(2, 1)), file)
        >>> place = file.seek(0)
        >>> torch.jit.load(file)
        RecursiveScriptModule(original_name=Linear)
    """
    if isinstance(f, str | os.PathLike):
        if not Path(f).exists():
            raise ValueError(f"The provided filename {f} does not exist")
        if Path(f).is_dir():
            raise ValueError(f"The provided filename {f} is a directory")
    _check_format(f)
    found = serialization.load(f, map_location=map_location, weights_only=False)
    if not isinstance(found, dict) or _MARK not in found:
        raise RuntimeError("this file was not written by torch.jit.save")
    for key in _extra_files or {}:
        if key in found["extra"] and _extra_files is not None:
            _extra_files[key] = found["extra"][key]
    return found["object"]


def _check_format(f: str) -> None:
    start = None if isinstance(f, str | os.PathLike) else f.tell()
    try:
        with zipfile.ZipFile(f) as archive:
            scripted = any("/code/" in name for name in archive.namelist())
    except zipfile.BadZipFile:
        raise RuntimeError(
            "PytorchStreamReader failed reading zip archive: not a ZIP archive"
        ) from None
    finally:
        if start is not None:
            f.seek(start)
    if scripted:
        raise advise(
            RuntimeError(
                "this file holds a TorchScript program, which needs TorchScript's interpreter; "
                "Rushlight runs Python only"
            ),
            "make the module in Python and load its state_dict() instead",
        )


def _flatbuffer() -> NoReturn:
    raise RuntimeError("Rushlight reads and writes no flatbuffer files of TorchScript modules")


def jit_module_from_flatbuffer(f: Any) -> Any:
    """Refuses: there are no such files here.

    Parameters:
        f: the file.
    Returns: nothing; it raises.
    Raises: RuntimeError: always.
    Example:
        >>> torch.jit.jit_module_from_flatbuffer("model.ff")
        Traceback (most recent call last):
        RuntimeError: Rushlight reads and writes no flatbuffer files of TorchScript modules
    """
    _flatbuffer()


def save_jit_module_to_flatbuffer(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Refuses: there are no such files here.

    Parameters:
        m: the module.
        f: the file.
    Raises: RuntimeError: always.
    Example:
        >>> torch.jit.save_jit_module_to_flatbuffer(torch.jit.script(nn.ReLU()), "model.ff")
        Traceback (most recent call last):
        RuntimeError: Rushlight reads and writes no flatbuffer files of TorchScript modules
    """
    _flatbuffer()
