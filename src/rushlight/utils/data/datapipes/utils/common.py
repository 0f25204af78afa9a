"""Files of steps over data: which fit, opened as streams that close themselves."""

from __future__ import annotations

import fnmatch
import os
import warnings
from collections.abc import Iterable, Iterator
from io import IOBase
from typing import ClassVar

from ..annotations import Item
from ..columns import check_function as _check_unpickable_fn, validate_input_col

__all__ = [
    "StreamWrapper", "_check_unpickable_fn", "get_file_binaries_from_pathnames",
    "get_file_pathnames_from_root", "match_masks", "validate_input_col",
    "validate_pathname_binary_tuple",
]  # fmt: skip


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Whether a name fits one of the masks; no mask at all fits each.

    Example:
        >>> from rushlight.utils.data.datapipes.utils.common import match_masks
        >>> match_masks("a.txt", ["*.py", "*.txt"]), match_masks("a.txt", "")
        (True, True)
    """
    if not masks:
        return True
    wanted = [masks] if isinstance(masks, str) else masks
    return any(fnmatch.fnmatch(name, mask) for mask in wanted)


def _refuse(error: OSError) -> None:
    warnings.warn(f"{error.filename} : {error.strerror}", stacklevel=2)
    raise error


def get_file_pathnames_from_root(
    root: str,
    masks: str | list[str],
    recursive: bool = False,
    abspath: bool = False,
    non_deterministic: bool = False,
) -> Iterator[str]:
    """The paths of the files of a folder whose names fit; a file stands for itself.

    Raises:
        OSError: for a folder that can't be read, after a warning that names it.
    """
    if os.path.isfile(root):
        if match_masks(os.path.basename(root), masks):
            yield os.path.abspath(root) if abspath else root
        return
    for folder, inner, names in os.walk(root, onerror=_refuse):
        if not non_deterministic:
            inner.sort()
            names.sort()
        here = os.path.abspath(folder) if abspath else folder
        yield from (os.path.join(here, name) for name in names if match_masks(name, masks))
        if not recursive:
            break


def get_file_binaries_from_pathnames(
    pathnames: Item, mode: str, encoding: str | None = None
) -> Iterator[tuple[str, StreamWrapper]]:
    """Opens files one after the other, each given with its path.

    Args:
        pathnames: the paths, or one thing that isn't iterable.
        mode: what `open` takes; "b" and "t" are for reading.
        encoding: of text.

    Raises:
        TypeError: for a path that isn't a str.
    """
    if not isinstance(pathnames, Iterable):
        pathnames = [pathnames]
    if mode in ("b", "t"):
        mode = f"r{mode}"
    for path in pathnames:
        if not isinstance(path, str):
            raise TypeError(f"Expected string type for pathname, but got {type(path)}")
        yield path, StreamWrapper(open(path, mode, encoding=encoding))  # noqa: SIM115


def validate_pathname_binary_tuple(data: Item) -> None:
    """Checks that something is a pair of a path and a stream.

    Raises:
        TypeError: where it isn't.
    """
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    path, stream = data
    if not isinstance(path, str):
        raise TypeError(
            "pathname within the tuple should have string type pathname, "
            f"but it is type {type(path)}"
        )
    if not isinstance(stream, (IOBase, StreamWrapper)):
        raise TypeError(
            "binary stream within the tuple should have IOBase orits subclasses as type, "
            f"but it is type {type(stream)}"
        )


class StreamWrapper:
    """A stream that is closed when nothing holds it any more, and knows those opened from it.

    Args:
        file_obj: the stream; what isn't found here is asked of it.
        parent_stream: the wrapped stream that this one is read from (a member of an archive).
        name: for `repr`.

    Raises:
        RuntimeError: for a parent that isn't wrapped.
    """

    session_streams: ClassVar[dict[StreamWrapper, int]] = {}
    debug_unclosed_streams: ClassVar[bool] = False
    # What is being made or unpickled may be dropped before it has a state of its own.
    closed = False
    parent_stream: StreamWrapper | None = None
    name: str | None = None

    def __init__(
        self, file_obj: Item, parent_stream: StreamWrapper | None = None, name: str | None = None
    ) -> None:
        self.file_obj = file_obj
        self.name = name
        self.closed = False
        self.child_counter = 0
        self.close_on_last_child = False
        if parent_stream is not None:
            if not isinstance(parent_stream, StreamWrapper):
                raise RuntimeError(
                    f"Parent stream should be StreamWrapper, {type(parent_stream)} was given"
                )
            parent_stream.child_counter += 1
        self.parent_stream = parent_stream
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams[self] = 1

    @classmethod
    def close_streams(cls, v: Item, depth: int = 0) -> None:
        """Closes the wrapped streams in dicts, lists and tuples, ten deep."""
        if depth > 10:
            return
        if isinstance(v, StreamWrapper):
            v.close()
        elif isinstance(v, (dict, list, tuple)):
            for inner in v.values() if isinstance(v, dict) else v:
                cls.close_streams(inner, depth + 1)

    def close(self, *args: Item, **kwargs: Item) -> None:
        """Closes the stream, once; a parent that waits for its last child closes too."""
        if self.closed:
            return
        StreamWrapper.session_streams.pop(self, None)
        parent = self.parent_stream
        if parent is not None:
            parent.child_counter -= 1
            if parent.child_counter == 0 and parent.close_on_last_child:
                parent.close()
        shut = getattr(self.__dict__.get("file_obj"), "close", None)
        if shut is not None:
            shut(*args, **kwargs)
        self.closed = True

    def autoclose(self) -> None:
        """Closes when the last stream opened from this one closes: now, if there is none."""
        self.close_on_last_child = True
        if self.child_counter == 0:
            self.close()

    def __getattr__(self, name: str) -> Item:
        if "file_obj" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.file_obj, name)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *vars(StreamWrapper), *dir(self.file_obj)})

    def __del__(self) -> None:
        self.close()

    def __iter__(self) -> Iterator[Item]:
        yield from self.file_obj

    def __next__(self) -> Item:
        return next(self.file_obj)

    def __repr__(self) -> str:
        named = "" if self.name is None else f"{self.name},"
        return f"StreamWrapper<{named}{self.file_obj!r}>"

    def __getstate__(self) -> Item:
        return self.file_obj

    def __setstate__(self, state: Item) -> None:
        self.file_obj = state
        self.child_counter = 0
        self.close_on_last_child = False
