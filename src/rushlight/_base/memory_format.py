"""Memory formats and layouts: how elements are laid out, as arguments name them."""

from __future__ import annotations

from typing import Final


class memory_format:
    """A memory format such as `contiguous_format`. Instances are singletons.

    Parameters:
        name: as it is written after `torch.`.
    Raises: TypeError: for other parameters; programs take the formats that there are.
    Example:
        >>> x = torch.ones(1, 2, 3, 3).contiguous(memory_format=torch.channels_last)
        >>> x.stride()
        (18, 1, 6, 2)
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _by_name, (self.name,)


class layout(memory_format):
    """A layout such as `strided`.

    Parameters:
        name: as it is written after `torch.`.
    Raises: TypeError: for other parameters; programs take the layouts that there are.
    Example:
        >>> torch.ones(2).layout, torch.eye(2).to_sparse().layout
        (torch.strided, torch.sparse_coo)
    """

    __slots__ = ()


contiguous_format: Final = memory_format("contiguous_format")
preserve_format: Final = memory_format("preserve_format")
channels_last: Final = memory_format("channels_last")
channels_last_3d: Final = memory_format("channels_last_3d")
strided: Final = layout("strided")
sparse_coo: Final = layout("sparse_coo")
sparse_csr: Final = layout("sparse_csr")
sparse_csc: Final = layout("sparse_csc")
sparse_bsr: Final = layout("sparse_bsr")
sparse_bsc: Final = layout("sparse_bsc")
jagged: Final = layout("jagged")

_ALL: Final = {f.name: f for f in (contiguous_format, preserve_format, channels_last,
                                   channels_last_3d, strided, sparse_coo, sparse_csr,
                                   sparse_csc, sparse_bsr, sparse_bsc, jagged)}  # fmt: skip


def _by_name(name: str) -> memory_format:
    return _ALL[name]
