"""Steps that leave items out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..columns import apply_to, check_function, validate_input_col
from ..datapipe import IterDataPipe

__all__ = ["FilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[Item]):
    """The items of which a function says True."""

    def __init__(
        self, datapipe: Source, filter_fn: Callable[..., bool], input_col: Item = None
    ) -> None:
        check_function(filter_fn)
        self.datapipe = datapipe
        self.filter_fn = filter_fn
        self.input_col = input_col
        validate_input_col(filter_fn, input_col)

    def __iter__(self) -> Iterator[Item]:
        for data in self.datapipe:
            wanted = apply_to(self.filter_fn, data, self.input_col)
            if not isinstance(wanted, bool):
                raise ValueError(
                    "Boolean output is required for `filter_fn` of FilterIterDataPipe, got",
                    type(wanted),
                )
            if wanted:
                yield data
