"""The first step over files: their names."""

from __future__ import annotations

import fnmatch
import os
import warnings
from collections.abc import Iterator, Sequence

from .._decorator import functional_datapipe
from ..annotations import Source
from ..datapipe import IterDataPipe
from .utils import IterableWrapperIterDataPipe

__all__ = ["FileListerIterDataPipe"]


def _refuse(error: OSError) -> None:
    warnings.warn(f"{error.filename} : {error.strerror}", stacklevel=2)
    raise error


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe[str]):
    """The paths of the files in folders whose names fit one of the masks; "" fits each.

    Raises: OSError, for a folder that can't be read.
    """

    def __init__(
        self,
        root: str | Sequence[str] | Source = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        roots = [root] if isinstance(root, str) else root
        if not isinstance(roots, IterDataPipe):
            roots = IterableWrapperIterDataPipe(roots)
        self.datapipe: Source = roots
        self.masks = masks
        self.recursive = recursive
        self.abspath = abspath
        self.non_deterministic = non_deterministic
        self.length = length

    def __iter__(self) -> Iterator[str]:
        for root in self.datapipe:
            if os.path.isfile(root):
                if self._fits(os.path.basename(root)):
                    yield os.path.abspath(root) if self.abspath else root
                continue
            for folder, inner, names in os.walk(root, onerror=_refuse):
                if not self.non_deterministic:
                    inner.sort()
                    names.sort()
                here = os.path.abspath(folder) if self.abspath else folder
                yield from (os.path.join(here, name) for name in names if self._fits(name))
                if not self.recursive:
                    break

    def _fits(self, name: str) -> bool:
        masks = [self.masks] if isinstance(self.masks, str) else self.masks
        return any(not mask or fnmatch.fnmatch(name, mask) for mask in masks)

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length
