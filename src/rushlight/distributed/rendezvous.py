"""How processes meet: `env://`, `tcp://` and `file://` give a store, a rank, a number of ranks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import ParseResult, parse_qs, urlparse

from .errors import DistNetworkError
from .stores import DEFAULT_TIMEOUT, HashStore, PrefixStore, Store

__all__ = ["register_rendezvous_handler", "rendezvous"]


#: Meets the other processes at an address.
Handler: TypeAlias = Callable[..., Iterator[tuple[Store, int, int]]]


class Place(NamedTuple):
    """Where this process stands among all, and the host of rank 0 where that is known."""

    store: Store
    rank: int
    size: int
    host: str | None = None


def _error(scheme: str, why: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {scheme} rendezvous: {why}")


def _from_environment(name: str, scheme: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise _error(scheme, f"environment variable {name} expected, but not set")
    return value


def _serve(host: str, port: int, rank: int, size: int, timeout: timedelta) -> Store:
    """A TCPStore; under torchrun its agent serves it.

    Rank 0 doesn't wait here: where others don't come, what forms their world says which.
    """
    from .tcp_store import TCPStore

    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        store = TCPStore(host, port, None, False, timeout)
        return PrefixStore(f"/worker/attempt_{attempt}", store)
    try:
        return TCPStore(host, port, size, rank == 0, timeout, False, multi_tenant=True)
    except DistNetworkError as error:
        if rank == 0:
            raise
        raise DistNetworkError(f"{error} There rank 0 serves the store.") from None


def _meet_env(url: ParseResult, rank: int, size: int, timeout: timedelta) -> Place:
    scheme = "env://"
    rank = int(_from_environment("RANK", scheme)) if rank < 0 else rank
    size = int(_from_environment("WORLD_SIZE", scheme)) if size < 0 else size
    host = _from_environment("MASTER_ADDR", scheme)
    port = int(_from_environment("MASTER_PORT", scheme))
    if size == 1 and rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return Place(HashStore(), 0, 1)  # nobody else to meet
    return Place(_serve(host, port, rank, size, timeout), rank, size, host)


def _read_address(url: ParseResult, scheme: str, rank: int, size: int) -> tuple[int, int]:
    """Rank and number of ranks, which the address may tell."""
    query = parse_qs(url.query)
    rank = int(query["rank"][0]) if "rank" in query and rank < 0 else rank
    size = int(query["world_size"][0]) if "world_size" in query and size < 0 else size
    if rank < 0 or size < 0:
        missing = "rank parameter missing" if rank < 0 else "world size parameter missing"
        raise _error(scheme, missing)
    return rank, size


def _meet_tcp(url: ParseResult, rank: int, size: int, timeout: timedelta) -> Place:
    scheme = "tcp://"
    if not url.port or url.hostname is None:
        raise _error(scheme, "port number missing")
    rank, size = _read_address(url, scheme, rank, size)
    if size == 1:
        return Place(HashStore(), rank, 1)
    return Place(_serve(url.hostname, url.port, rank, size, timeout), rank, size, url.hostname)


def _meet_file(url: ParseResult, rank: int, size: int, timeout: timedelta) -> Place:
    scheme = "file://"
    path = url.path or url.netloc
    if sys.platform == "win32":
        path = url.netloc + url.path
    if not path:
        raise _error(scheme, "path missing")
    rank, size = _read_address(url, scheme, rank, size)
    if size == 1:
        return Place(HashStore(), rank, 1)
    from .file_store import FileStore

    return Place(FileStore(path, size), rank, size)


_SCHEMES: Final[dict[str, Callable[..., Place]]] = {
    "env": _meet_env, "tcp": _meet_tcp, "file": _meet_file,
}  # fmt: skip
_others: dict[str, Handler] = {}


def register_rendezvous_handler(scheme: str, handler: Handler) -> None:
    """Has addresses with another scheme met by a generator of (store, rank, world size).

    Parameters:
        scheme: what stands before "://" in the addresses.
        handler: a function of an address and `timeout`, which yields where this process stands.
    Raises: RuntimeError: for a scheme that has one.
    Example:
        >>> def alone(url, timeout):
        ...     yield dist.HashStore(), 0, 1
        >>> dist.register_rendezvous_handler("alone", alone)
        >>> store, rank, size = next(dist.rendezvous("alone://"))
        >>> rank, size
        (0, 1)
    """
    if scheme in _SCHEMES or scheme in _others:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _others[scheme] = handler


def meet(url: str, rank: int, world_size: int, timeout: timedelta) -> Place:
    """Meets the other processes at an address.

    Raises:
        RuntimeError: for a scheme that nobody handles.
        ValueError: where something isn't told.
    """
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    parsed = urlparse(url)
    handler = _SCHEMES.get(parsed.scheme)
    if handler is not None:
        place: Place = handler(parsed, rank, world_size, timeout)
        return place
    if parsed.scheme in _others:
        store, rank, world_size = next(iter(_others[parsed.scheme](url, timeout=timeout)))
        return Place(store, rank, world_size)
    raise RuntimeError(f"No rendezvous handler for {parsed.scheme}://")


def rendezvous(
    url: str, rank: int = -1, world_size: int = -1, timeout: timedelta = DEFAULT_TIMEOUT
) -> Iterator[tuple[Store, int, int]]:
    """Yields the store, the rank and the number of ranks that an address leads to.

    Parameters:
        url: an address: "env://", "tcp://host:port?rank=0&world_size=2", "file:///path", or one of
            a scheme that has been registered.
        rank: the number of this process; -1 means that the address tells it.
        world_size: how many processes there are; -1 means that the address tells it.
        timeout: how long the store may take, a `timedelta`; 5 minutes by default.
    Returns: an iterator of one triple.
    Raises:
        RuntimeError: for a scheme that nobody handles, and an address that isn't text.
        ValueError: where something isn't told.
        DistNetworkError: where no store answers within the timeout.
    Example:
        >>> store, rank, size = next(dist.rendezvous("tcp://localhost:29500", rank=0, world_size=1))
        >>> rank, size
        (0, 1)
    """
    store, rank, world_size, _ = meet(url, rank, world_size, timeout)
    yield store, rank, world_size
