"""`torch.package`: names that programs import. Code isn't packed into archives here."""

from __future__ import annotations

from typing import Any, NoReturn

from .._base.error_notes import advise

__all__ = ["PackageExporter", "PackageImporter", "PackagingError", "is_from_package"]


class PackagingError(Exception):
    """An error of packing."""


def _refuse(what: str) -> NoReturn:
    raise advise(
        RuntimeError(f"{what}: Rushlight neither writes nor reads archives of torch.package"),
        "install the code as a Python package, and save the model's state_dict()",
    )


def is_from_package(obj: Any) -> bool:
    """False: nothing comes from such an archive."""
    return False


class PackageExporter:
    """Raises RuntimeError: there are no such archives here."""

    def __init__(self, f: Any, importer: Any = None, debug: bool = False) -> None:
        _refuse("PackageExporter")


class PackageImporter:
    """Raises RuntimeError: there are no such archives here."""

    def __init__(self, file_or_buffer: Any, module_allowed: Any = None) -> None:
        _refuse("PackageImporter")
