"""`DataLoader`: batches of a dataset, read here or by worker processes."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.context import BaseContext
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .datapipes.datapipe import IterDataPipe
from .dataset import Dataset, IterableDataset
from .graph_settings import apply_shuffle_settings
from .loading import Loading, SingleProcess, Workers
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

if TYPE_CHECKING:
    from ..._table.random.generator import Generator


__all__ = [
    "DataLoader",
    "default_collate",
    "default_convert",
    "get_worker_info",
]

Item = TypeVar("Item", covariant=True)


class _DatasetKind:
    """The two kinds of datasets, as numbers."""

    Map = 0
    Iterable = 1


class _InfiniteConstantSampler(Sampler[None]):
    """The orders of a dataset without keys: None, forever."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


# What makes a batch of a list of items, as annotations in packages call it.
_collate_fn_t = Callable[[list[Any]], Any]
# The names that annotations and `isinstance` in packages use.
_BaseDataLoaderIter = Loading
_SingleProcessDataLoaderIter = SingleProcess
_MultiProcessingDataLoaderIter = Workers


class DataLoader(Generic[Item]):
    """An iterable of batches of `dataset`, in the order of a sampler.

    `batch_size=None` gives single items, `sampler` or `batch_sampler` another order, `collate_fn`
    another way of making batches. With `num_workers` that many processes read ahead, each
    `prefetch_factor` batches; the order of the batches doesn't depend on them unless `in_order` is
    off. The random numbers of order and workers come from `generator`, or the default one. `len`
    tells how many batches there are; of an `IterableDataset` with a length it is a guess, since
    each process goes over the whole of it, unless it takes its part (`get_worker_info`).
    """

    dataset: Dataset[Item]
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Sampler[Any] | Iterable[Any]
    _iterator: Workers | None = None
    _fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset",
              "persistent_workers")  # fmt: skip

    def __init__(
        self,
        dataset: Dataset[Item],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[object] | Iterable[object] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[object]], object] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.__multiprocessing_context: Any = None
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if isinstance(dataset, IterDataPipe):
            self.dataset = apply_shuffle_settings(dataset, shuffle=shuffle)
            shuffle = None
        if iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        else:
            shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive "
                    "with batch_size, shuffle, sampler, and "
                    "drop_last"
                )
            batch_size = None
            drop_last = False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        order: Any = sampler
        if order is None:
            if iterable:
                order = _InfiniteConstantSampler()
            elif shuffle:
                order = RandomSampler(dataset, generator=generator)  # type: ignore[arg-type]
            else:
                order = SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(order, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = order
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator = None
        _warn_of_many(num_workers)

    @property
    def multiprocessing_context(self) -> Any:
        """How processes are started: a context, or None for the system's way."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers <= 0:
                raise ValueError(
                    "multiprocessing_context can only be used with "
                    "multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError(
                        "multiprocessing_context option "
                        f"should specify a valid start method in {methods!r}, but got "
                        f"multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context "
                    "object or a string specifying the start method, but got "
                    f"multiprocessing_context={context}"
                )
        self.__multiprocessing_context = context

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._fixed and getattr(self, "_DataLoader__initialized", False):
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _get_iterator(self) -> Loading:
        if self.num_workers == 0:
            return SingleProcess(self)
        _warn_of_many(self.num_workers)
        return Workers(self)

    def __iter__(self) -> Iterator[Any]:
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = Workers(self)
        else:
            self._iterator.restart(self)
        return self._iterator

    def __len__(self) -> int:
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        # As far as the dataset knows: several workers may each give all of it.
        length = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warns where there are more workers than processors."""
        _warn_of_many(self.num_workers)


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; "
            "use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle: object, sampler: object, batch_sampler: object) -> None:
    what = "DataLoader with IterableDataset: expected unspecified"
    if shuffle not in (False, None):
        raise ValueError(f"{what} shuffle option, but got shuffle={shuffle}")
    if sampler is not None:
        raise ValueError(f"{what} sampler option, but got sampler={sampler}")
    if batch_sampler is not None:
        raise ValueError(f"{what} batch_sampler option, but got batch_sampler={batch_sampler}")


def _warn_of_many(num_workers: int) -> None:
    if not num_workers:
        return
    most: int | None = None
    with contextlib.suppress(AttributeError, OSError):
        most = len(os.sched_getaffinity(0))
    most = most or os.cpu_count()
    if most is None or num_workers > most:
        suggested = (
            "DataLoader is not able to compute a suggested max number of worker in current system."
            if most is None
            else f"Our suggested max number of worker in current system is {most}, which is "
            "smaller than what this DataLoader is going to create."
        )
        warnings.warn(
            f"This DataLoader will create {num_workers} worker processes in total. {suggested} "
            "Please be aware that excessive worker creation might get DataLoader running slow or "
            "even freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
            stacklevel=3,
        )
