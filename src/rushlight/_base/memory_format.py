"""Memory formats and layouts: how elements are laid out, as arguments name them."""

from __future__ import annotations

from typing import Any, Final, TypeVar


class memory_format:
    """A memory format such as `contiguous_format`. Instances are singletons.

    Parameters:
        args: none are taken, by name neither.
    Raises: TypeError: always: programs take the formats that there are.
    Example:
        >>> x = torch.ones(1, 2, 3, 3).contiguous(memory_format=torch.channels_last)
        >>> x.stride()
        (18, 1, 6, 2)
    """

    __slots__ = ("name",)

    name: str

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        raise TypeError(f"cannot create 'torch.{cls.__name__}' instances")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _by_name, (self.name,)


class layout(memory_format):
    """A layout such as `strided`.

    Parameters:
        args: none are taken, by name neither.
    Raises: TypeError: always: programs take the layouts that there are.
    Example:
        >>> torch.ones(2).layout, torch.eye(2).to_sparse().layout
        (torch.strided, torch.sparse_coo)
    """

    __slots__ = ()


_F = TypeVar("_F", bound=memory_format)


def _make(cls: type[_F], name: str) -> _F:
    made = object.__new__(cls)
    made.name = name
    return made


contiguous_format: Final = _make(memory_format, "contiguous_format")
preserve_format: Final = _make(memory_format, "preserve_format")
channels_last: Final = _make(memory_format, "channels_last")
channels_last_3d: Final = _make(memory_format, "channels_last_3d")
strided: Final = _make(layout, "strided")
sparse_coo: Final = _make(layout, "sparse_coo")
sparse_csr: Final = _make(layout, "sparse_csr")
sparse_csc: Final = _make(layout, "sparse_csc")
sparse_bsr: Final = _make(layout, "sparse_bsr")
sparse_bsc: Final = _make(layout, "sparse_bsc")
jagged: Final = _make(layout, "jagged")

_ALL: Final = {f.name: f for f in (contiguous_format, preserve_format, channels_last,
                                   channels_last_3d, strided, sparse_coo, sparse_csr,
                                   sparse_csc, sparse_bsr, sparse_bsc, jagged)}  # fmt: skip


def _by_name(name: str) -> memory_format:
    return _ALL[name]
