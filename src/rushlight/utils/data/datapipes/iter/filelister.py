"""The first step over files: their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._decorator import functional_datapipe
from ..annotations import Source
from ..columns import require_length
from ..datapipe import IterDataPipe
from ..utils.common import get_file_pathnames_from_root
from .utils import IterableWrapperIterDataPipe

__all__ = ["FileListerIterDataPipe"]


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
            yield from get_file_pathnames_from_root(
                root, self.masks, self.recursive, self.abspath, self.non_deterministic
            )

    def __len__(self) -> int:
        return require_length(self, self.length)
