"""What turns an order (a key, or a list of them) into a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from .rows import rows_of

__all__ = ["Fetch", "fetch_of"]

Fetcher = Callable[[Any], Any]


class Fetch:
    """How a loader reads its dataset; called with the dataset (of this process) it gives a fetcher.

    `iterable`: the dataset has no keys, orders only say how many; `batched`: orders are lists.
    """

    def __init__(self, iterable: bool, batched: bool, collate: Fetcher, drop_last: bool) -> None:
        self.iterable = iterable
        self.batched = batched
        self.collate = collate
        self.drop_last = drop_last

    def __call__(self, dataset: Any) -> Fetcher:
        if self.iterable:
            return _FromIterable(iter(dataset), self)
        return _FromKeys(dataset, self)


def fetch_of(loader: Any) -> Fetch:
    """How a loader, or what a package has put in the place of one, reads its dataset."""
    return Fetch(
        loader._dataset_kind == 1, loader._auto_collation, loader.collate_fn, loader.drop_last
    )


class _FromKeys:
    def __init__(self, dataset: Any, how: Fetch) -> None:
        self.dataset = dataset
        self.how = how

    def __call__(self, keys: Any) -> object:
        if not self.how.batched:
            return self.how.collate(self.dataset[keys])
        rows = rows_of(self.dataset, keys, self.how.collate)
        if rows is not None:
            return rows
        several = getattr(self.dataset, "__getitems__", None)
        if several:
            return self.how.collate(several(keys))
        return self.how.collate([self.dataset[key] for key in keys])


class _FromIterable:
    def __init__(self, items: Iterator[Any], how: Fetch) -> None:
        self.items = items
        self.how = how
        self.ended = False

    def __call__(self, keys: Any) -> object:
        if self.ended:
            raise StopIteration
        if not self.how.batched:
            return self.how.collate(next(self.items))
        batch = list(islice(self.items, len(keys)))
        self.ended = len(batch) < len(keys)
        if not batch or (self.ended and self.how.drop_last):
            raise StopIteration
        return self.how.collate(batch)
