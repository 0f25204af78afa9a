"""The step from names of files to open files."""

from __future__ import annotations

from collections.abc import Iterator

from .._decorator import functional_datapipe
from ..annotations import Source
from ..columns import require_length
from ..datapipe import IterDataPipe
from ..utils.common import StreamWrapper, get_file_binaries_from_pathnames

__all__ = ["FileOpenerIterDataPipe"]


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe[tuple[str, StreamWrapper]]):
    """Pairs of a path and the open file.

    Args:
        datapipe: gives paths.
        mode: "r", "rt" and "t" for text, "rb" and "b" for bytes.
        encoding: of text.
        length: what `len` says; -1: none.

    Raises:
        ValueError: for another mode, or an encoding of bytes.
    """

    def __init__(
        self, datapipe: Source, mode: str = "r", encoding: str | None = None, length: int = -1
    ) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe = datapipe
        self.mode = mode
        self.encoding = encoding
        self.length = length

    def __iter__(self) -> Iterator[tuple[str, StreamWrapper]]:
        yield from get_file_binaries_from_pathnames(self.datapipe, self.mode, self.encoding)

    def __len__(self) -> int:
        return require_length(self, self.length)
