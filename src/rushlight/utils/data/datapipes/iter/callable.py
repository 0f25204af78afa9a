"""Steps that apply a function."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from ..._utils.collate import default_collate
from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..columns import apply_to, check_function, length_of, validate_input_col
from ..datapipe import IterDataPipe

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[Item]):
    """A function of each item, or of some of its columns, whose result may go to another."""

    def __init__(
        self,
        datapipe: Source,
        fn: Callable[..., Item],
        input_col: Item = None,
        output_col: Item = None,
    ) -> None:
        check_function(fn)
        self.datapipe = datapipe
        self.fn = fn
        self.input_col = input_col
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.output_col = output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, data: Item) -> Item:
        result = apply_to(self.fn, data, self.input_col)
        columns, place = self.input_col, self.output_col
        if columns is None:
            return result
        whole = list(data) if isinstance(data, tuple) else copy.copy(data)
        if place is None:
            if isinstance(columns, (list, tuple)):
                whole[columns[0]] = result
                for column in sorted(columns[1:], reverse=True):
                    del whole[column]
            else:
                whole[columns] = result
        elif place == -1:
            whole.append(result)
        else:
            whole[place] = result
        return tuple(whole) if isinstance(data, tuple) else whole

    def __iter__(self) -> Iterator[Item]:
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self) -> int:
        return length_of(self, self.datapipe)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """A tensor of each batch."""

    def __init__(
        self,
        datapipe: Source,
        conversion: Callable[..., Item] | None = default_collate,
        collate_fn: Callable[..., Item] | None = None,
    ) -> None:
        function = conversion if collate_fn is None else collate_fn
        super().__init__(datapipe, fn=function or default_collate)
