"""The step from bytes of files to objects."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..columns import length_of
from ..datapipe import IterDataPipe
from ..utils.decoder import Decoder, Handler, basichandlers, extension_extract_fn, imagehandler

__all__ = ["RoutedDecoderIterDataPipe"]


@functional_datapipe("routed_decode")
class RoutedDecoderIterDataPipe(IterDataPipe[tuple[str, Item]]):
    """Pairs of a path and what a handler makes of its bytes. PyTorch says that it will go.

    Args:
        datapipe: gives pairs of a path and bytes, or a stream of them.
        handlers: the first before the others; none: `basichandlers`, then pictures as tensors.
        key_fn: makes of a path what handlers are asked by.
    """

    def __init__(
        self,
        datapipe: Source,
        *handlers: Handler,
        key_fn: Callable[[str], str] = extension_extract_fn,
    ) -> None:
        self.datapipe = datapipe
        chosen = handlers or (basichandlers, imagehandler("torch"))
        self.decoder = Decoder(*chosen, key_fn=key_fn)
        warnings.warn(
            f"`{type(self).__name__}()` and its functional API `.routed_decode()` are deprecated "
            "since 1.12 and will be removed in 1.13."
            "\nSee https://github.com/pytorch/data/issues/163 for details.",
            FutureWarning,
            stacklevel=2,
        )

    def add_handler(self, *handler: Handler) -> None:
        """Puts handlers before those that are there."""
        self.decoder.add_handler(*handler)

    def __iter__(self) -> Iterator[tuple[str, Item]]:
        for data in self.datapipe:
            yield data[0], self.decoder(data)[data[0]]

    def __len__(self) -> int:
        return length_of(self, self.datapipe)
