"""The MPI world of this process: how it is formed, who is in it, and how it is left.

Under a launcher of MPI (`mpiexec`, `srun`) `MPI_Init` finds its peers by itself. Processes that
were started one by one find each other through a service that rank 0 starts (`pmi_server`), and
whose address it puts into the store. mpi4py is imported when the first group of several processes
is made.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import os
import socket
import subprocess
import sys
import time
from datetime import timedelta
from multiprocessing import util
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from .._base.error_notes import advise
from .._base.fork_locks import long_lock
from .errors import DistBackendError, DistError, DistStoreError
from .lookout import watch
from .pmi_server import PULSE, unlink_shared_memory
from .stores import PrefixStore, deadline_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .annotations import MPI, Comm
    from .progress import Progress
    from .stores import Store

__all__ = [
    "World", "form_world", "import_mpi", "find_launched_world", "launcher_place", "this_node",
]  # fmt: skip

_SERVER: Final = Path(__file__).with_name("pmi_server.py")
_SERVED: Final = 3.0  # seconds in which the service answers
_ADDRESS: Final = "mpi/address"
_LONGEST_WHY: Final = 600  # characters of a reason that others are told
#: What launchers of MPI tell a process: the variables of its rank and of the number of processes.
_LAUNCHERS: Final = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "PMIX_SIZE"),
    ("PMIX_RANK", "SLURM_NTASKS"),
)


class World:
    """All processes, as MPI sees them; `gone` tells of those that have ended, and how."""

    comm: Comm  # of all ranks

    def __init__(
        self, mpi: MPI, rank: int, size: int, one_node: bool, watch: socket.socket | None = None,
        received: bytes = b"",
    ) -> None:  # fmt: skip
        self.mpi = mpi
        self.rank = rank
        self.size = size
        self.one_node = one_node
        self.lock = long_lock()  # of MPI, which one thread at a time may call
        self.lost: Exception | None = None  # why MPI can't be used any more
        self.owner = os.getpid()
        self.gone: dict[int, str] = {}
        self.waits: dict[int, tuple[float, str]] = {}  # what a rank said it waits for, and when
        self.asked = 0  # how often another rank has asked what this one waits for
        self.progress: Progress | None = None  # what drives the messages, once a group is made
        self._watch = watch
        self._received = received
        self._left = False

    def look_for_the_gone(self) -> None:
        """Reads what the watching service has said since."""
        if self._watch is None:
            return
        try:
            while data := self._watch.recv(1 << 16, socket.MSG_DONTWAIT):
                self._received += data
        except BlockingIOError:
            pass
        except OSError:
            self._watch = None
        while b"\n" in self._received:
            text, _, self._received = self._received.partition(b"\n")
            words = dict(word.split("=", 1) for word in text.decode().split())
            if "waits" in words:
                self.waits[int(words["waits"])] = (time.monotonic(), words["for"])
                self.asked += int(words["asks"])
            gone = _end_of(words)
            if gone is not None:
                self.gone[gone[0]] = gone[1]

    def say_waiting(self, what: str, asks: bool) -> None:
        """Tells the others what this rank waits for; `asks`: and asks them the same."""
        if self._watch is not None:
            with contextlib.suppress(OSError):
                self._watch.sendall(f"waits={self.rank} for={what} asks={asks:d}\n".encode())

    def give_up(self, error: BaseException) -> None:
        """Tells the others why this rank is about to end; they pass it on when it has."""
        if self._watch is not None:
            _say_why(self._watch, error)

    def watches(self) -> bool:
        """Whether ranks hear of each other outside of their messages."""
        return self._watch is not None

    def leave(self) -> None:
        """Says goodbye, so that the others don't take this process for one that has failed."""
        if self.owner != os.getpid() or self._left:
            return
        self._left = True
        failed = sys.exc_info()[1] is not None or hasattr(sys, "last_value")
        if self._watch is not None:
            if not failed:
                with contextlib.suppress(OSError):
                    self._watch.sendall(b"bye=1\n")
            self._watch.close()
            self._watch = None
        elif failed:
            self.comm.Abort(1)
        elif not self.mpi.Is_finalized():
            self.mpi.Finalize()


def _say_why(watch: socket.socket, error: BaseException) -> None:
    with contextlib.suppress(OSError):
        watch.sendall(f"why={quote(str(error)[:_LONGEST_WHY])}\n".encode())


def _end_of(words: dict[str, str]) -> tuple[int, str] | None:
    """Which rank has ended by a line of the service, and how; None where the line isn't of that."""
    for how, said in (("dead", "has ended unexpectedly"), ("left", "has left the group")):
        if how in words:
            why = f": {unquote(words['why'])}" if "why" in words else ""
            return int(words[how]), f"rank {words[how]} ({words['who']}) {said}{why}"
    return None


class _Formed:
    world: World | None = None
    failed: Exception | None = None


def import_mpi() -> MPI:
    """mpi4py's module, without `MPI_Init`.

    Raises:
        DistBackendError: where it isn't installed, or finds no MPI.
    """
    try:
        import mpi4py

        if "mpi4py.MPI" not in sys.modules:
            mpi4py.rc.initialize = False
            mpi4py.rc.finalize = False
        module: MPI = importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise advise(
            DistBackendError(f"a group of several processes needs MPI, which isn't here: {error}"),
            "install the extra: pip install 'rushlight[mpi]'; on a cluster, mpi4py for its own MPI",
        ) from None
    return module


def launcher_place() -> tuple[int, int] | None:
    """Rank and number of processes that a launcher of MPI tells; None where there is none."""
    for rank, size in _LAUNCHERS:
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return None


def _initialize(mpi: MPI) -> None:
    """`MPI_Init`, while which other threads run: mpi4py's own keeps the interpreter's lock.

    Raises:
        DistBackendError: where MPI doesn't start.
    """
    if mpi.Is_initialized():
        return
    library, level = ctypes.CDLL(mpi.__file__), ctypes.c_int()
    code = library.MPI_Init_thread(None, None, mpi.THREAD_SERIALIZED, ctypes.byref(level))
    if code != 0:
        raise DistBackendError(f"MPI_Init_thread has failed with code {code}")


def _of_all(mpi: MPI) -> Comm:
    mpi.COMM_WORLD.Set_errhandler(mpi.ERRORS_RETURN)
    return mpi.COMM_WORLD


def _keep(world: World) -> World:
    _Formed.world = world
    atexit.register(world.leave)
    # Processes of multiprocessing end without atexit.
    util.Finalize(None, world.leave, exitpriority=0)
    return world


def find_launched_world() -> World:
    """The world that this process is in; without one that of a launcher of MPI."""
    if _Formed.world is None:
        mpi = import_mpi()
        if not mpi.Is_initialized():
            mpi.Init_thread(mpi.THREAD_SERIALIZED)
        comm = _of_all(mpi)
        local = comm.Split_type(mpi.COMM_TYPE_SHARED)
        one_node = local.Get_size() == comm.Get_size()
        local.Free()
        world = World(mpi, comm.Get_rank(), comm.Get_size(), one_node)
        world.comm = comm
        _keep(world)
    assert _Formed.world is not None
    return _Formed.world


def form_world(
    store: Store, rank: int, size: int, host: str | None, timeout: timedelta
) -> World:  # fmt: skip
    """The world of `size` processes that all call this with the same store.

    Raises:
        DistBackendError: without MPI, and where this process is in another world already.
        DistError: where the others don't come within the timeout.
    """
    place = launcher_place()
    if place is not None and place[1] == size and _Formed.world is None:
        return _in_order(find_launched_world(), rank)
    world = _Formed.world
    if world is not None:
        if (world.rank, world.size) == (rank, size):
            return world
        raise advise(
            DistBackendError(
                f"this process is rank {world.rank} of {world.size} in MPI's world for as long as "
                f"it lives, and can't become rank {rank} of {size}"
            ),
            "start new processes for a group of another size",
        )
    if _Formed.failed is not None:
        raise _Formed.failed
    mpi = import_mpi()
    if rank == 0:
        store.set(_ADDRESS, _start_service(size, _own_address(store, host), timeout))
    try:
        store.wait([_ADDRESS], timeout)
        node, _, address = store.get(_ADDRESS).decode().partition(" ")
    except DistError as error:
        raise type(error)(
            f"rank {rank}: rank 0 hasn't said where the ranks meet: {error}"
        ) from None
    address, _, port = address.rpartition(":")
    if node == this_node():
        address = "127.0.0.1"
    watch, words, received = _announce(address, int(port), rank, size, timeout)
    world = World(mpi, rank, size, words["nodes"] == "1", watch, received)
    variables = {
        "PMI_PORT": f"{address}:{port}",
        "PMI_ID": rank,
        "PMI_RANK": rank,
        "PMI_SIZE": size,
    }
    with _environment({key: str(value) for key, value in variables.items()}):
        try:
            _fill(world, timeout)
        except Exception as error:
            _Formed.failed = error
            raise
        finally:  # all that will open the files have
            unlink_shared_memory(words["name"])
    return _keep(world)


def _fill(world: World, timeout: timedelta) -> None:
    """Has MPI find all ranks.

    Raises:
        DistBackendError: where one of them has gone, and where MPI finds others.
        RuntimeError: where they don't come within the timeout.
    """
    mpi, ranks = world.mpi, range(world.size)
    if not world.one_node:
        _check_network()
    watch(world, lambda: _initialize(mpi), "init_process_group", ranks, timeout)
    world.comm = _of_all(mpi)
    if world.comm.Get_size() != world.size:
        raise advise(
            DistBackendError(
                f"MPI made a world of {world.comm.Get_size()} where {world.size} ranks met"
            ),
            "only MPICH finds ranks that were started one by one: start them with the mpiexec or "
            "srun of this MPI",
        )
    watch(world, world.comm.Barrier, "init_process_group", ranks, timeout)


def _check_network() -> None:
    """Looks at the networks that the environment leaves to MPICH, which aborts where it finds none.

    Raises:
        DistBackendError: where none of them leads to another host.
    """
    names = [name for name in os.environ.get("UCX_NET_DEVICES", "").split(",") if name]
    if not names or not all(map(_leads_nowhere, names)):
        return
    others = [name for _, name in socket.if_nameindex() if not _leads_nowhere(name)]
    raise advise(
        DistBackendError(
            f"UCX_NET_DEVICES={','.join(names)} leaves MPI no network to the other hosts"
        ),
        f"unset it, or name what leads there; networks here: {', '.join(others) or 'none is up'}",
    )


def _leads_nowhere(name: str) -> bool:
    """Whether a network device is this host's own, or has no link."""
    if name == "lo":
        return True
    with contextlib.suppress(OSError):
        return Path(f"/sys/class/net/{name}/operstate").read_text().strip() == "down"
    return False  # not one of the kernel's networks: InfiniBand


def _in_order(world: World, rank: int) -> World:
    """The launcher's world, with the ranks that the program has given."""
    if world.comm.allreduce(world.rank != rank):
        world.comm = world.comm.Split(0, rank)
        world.rank = world.comm.Get_rank()
    return world


def _own_address(store: Store, host: str | None) -> str | None:
    """The address at which other hosts reach this one: the one by which it reaches the store."""
    while isinstance(store, PrefixStore):
        store = store.underlying_store
    address = getattr(store, "own_address", "")
    return host if not address or address.startswith("127.") or address == "::1" else address


def _start_service(size: int, host: str | None, timeout: timedelta) -> str:
    seconds = str(timeout.total_seconds())
    service = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_SERVER), str(size), seconds],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True, text=True,
    )  # fmt: skip
    assert service.stdout is not None
    with service.stdout as said:
        port = said.readline().strip()
    service.returncode = 0  # it outlives this process, which doesn't wait for it
    return f"{this_node()} {host or socket.gethostname()}:{port}"


def this_node() -> str:
    """What tells this node from others: processes with the same one share memory."""
    parts = [socket.gethostname()]
    for path in ("/proc/sys/kernel/random/boot_id",):
        with contextlib.suppress(OSError):
            parts.append(Path(path).read_text().strip())
    with contextlib.suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/net"))
    with contextlib.suppress(OSError):
        parts.append(str(os.stat("/dev/shm").st_dev))
    return "/".join(parts).replace(" ", "")


def _announce(
    address: str, port: int, rank: int, size: int, timeout: timedelta
) -> tuple[socket.socket, dict[str, str], bytes]:
    """Tells the service of this rank, and waits until all are there.

    Gives the line to the service, its words about the world, and what has come on the line besides.

    Raises:
        DistError: where another rank has gone, or the service has.
        DistStoreError: where ranks don't come within the timeout; it names them.
    """
    end = deadline_of(timeout)
    try:
        watch = socket.create_connection((address, port), timeout=timeout.total_seconds())
    except OSError as error:
        raise DistError(
            f"rank {rank}: no service at {address}, port {port}, where rank 0 has started it: "
            f"{error}"
        ) from None
    who = f"process_{os.getpid()}_on_{socket.gethostname()}"
    with contextlib.ExitStack() as opened:
        opened.callback(watch.close)
        watch.sendall(f"watch={rank} who={who} node={this_node()}\n".encode())
        words, received = _first_word(watch, address, rank, end)
        if "missing" in words:
            away = words["missing"].split(",")
            silent = [f"rank {one} has come, and was stopped or hangs"
                      for one in words["silent"].split(",") if one]  # fmt: skip
            late = DistStoreError(
                f"Timed out after {max(1, round(timeout.total_seconds()))} seconds waiting for "
                f"clients. {size - len(away)}/{size} clients joined. "
                + "; ".join([*(f"rank {one} hasn't come" for one in away), *silent])
            )
            _say_why(watch, late)
            raise late
        gone = _end_of(words)
        if gone is not None:
            raise DistError(f"rank {rank}: {gone[1]}")
        opened.pop_all()
    watch.settimeout(None)
    return watch, words, received


def _first_word(
    watch: socket.socket, address: str, rank: int, end: float
) -> tuple[dict[str, str], bytes]:
    """What the service says first, and what has come after it; until then this rank says it waits.

    Raises:
        DistError: where the service has gone, or doesn't answer.
    """
    received = b""
    asked_at = 0.0
    while b"\n" not in received:
        now = time.monotonic()
        watch.settimeout(PULSE if asked_at else max(0.01, min(PULSE, end - now)))
        try:
            data = watch.recv(4096)
        except TimeoutError:
            if asked_at and now > asked_at + _SERVED:
                raise DistError(f"rank {rank}: the service at {address} doesn't answer") from None
            late = now > end and not asked_at
            asked_at = now if late else asked_at
            with contextlib.suppress(OSError):
                watch.sendall(b"missing=1\n" if late else b"here=1\n")
            continue
        if not data:
            raise DistError(f"rank {rank}: the service at {address} has ended")
        received += data
    line, _, received = received.partition(b"\n")
    return dict(word.split("=", 1) for word in line.decode().split()), received


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
