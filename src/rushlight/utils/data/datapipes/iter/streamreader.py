"""The step from open files to what is in them."""

from __future__ import annotations

from collections.abc import Iterator

from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..datapipe import IterDataPipe

__all__ = ["StreamReaderIterDataPipe"]


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe[tuple[str, Item]]):
    """Pairs of a label and what its stream gives, until it gives no more; then it is closed.

    Args:
        datapipe: gives pairs of a label and a stream.
        chunk: how much is read at a time; None: all.
    """

    def __init__(self, datapipe: Source, chunk: int | None = None) -> None:
        self.datapipe = datapipe
        self.chunk = chunk

    def __iter__(self) -> Iterator[tuple[str, Item]]:
        for label, stream in self.datapipe:
            while content := stream.read(self.chunk):
                yield label, content
            stream.close()
