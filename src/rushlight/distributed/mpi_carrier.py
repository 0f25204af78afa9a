"""Messages of a group of several processes, carried by MPI.

MPI moves bytes; what becomes of the tensors of all ranks is computed here, in the order of the
ranks, so that the same world gives the same bits whatever MPI it is. A tensor of some size is cut
into one part for each rank: every rank receives its part from all others, makes one of them, and
sends it to all. A small one goes to all ranks whole.
"""

from __future__ import annotations

import math
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from .._array.memory import messages as M
from .._core.mode import ready
from .debug_levels import DebugLevel, get_debug_level
from .errors import DistBackendError, DistStoreError
from .lookout import watch
from .profiled import profile
from .progress import Progress, RunningWork, Steps
from .world import find_launched_world

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._tensor.tensor import Tensor
    from .annotations import Comm, Pending, Status
    from .reduce_op import RedOpType
    from .stores import Store
    from .work import Work
    from .world import World

__all__ = ["MPICarrier", "carrier_of_some", "carrier_over"]

#: Up to how many bytes, all ranks' together, a tensor goes to every rank whole.
_WHOLE: Final = 1 << 16

#: With TORCH_DISTRIBUTED_DEBUG=DETAIL: what a rank tells the others of a collective, in bytes.
_REPORT: Final = 256
_SHAPED: Final = ", of shape "

#: Tensors that are more than one array, by their layout: how errors name them.
_OTHER_KINDS: Final = {
    "torch.sparse_coo": "SparseCPU", "torch.sparse_csr": "SparseCsrCPU",
    "torch.sparse_csc": "SparseCsrCPU", "torch.sparse_bsr": "SparseCsrCPU",
    "torch.sparse_bsc": "SparseCsrCPU",
}  # fmt: skip
#: Numbers that say which form a sparse tensor has: kinds of dimensions, count, dtype, shape.
_FORM: Final = 68


def _raw(tensor: Tensor, what: str) -> Array:
    """A tensor's array, for the message of this name.

    Raises:
        NotImplementedError: for a tensor without memory of its own kind, such as a sparse one.
    """
    kind = _OTHER_KINDS.get(str(tensor.layout)) if tensor.device.type == "cpu" else "Meta"
    if kind is not None:
        raise NotImplementedError(
            f"Could not run 'c10d::{what}' with arguments from the '{kind}' backend. Only "
            "all_reduce takes sparse tensors in coordinates, and sums them; for all else take the "
            "dense tensor: `x.to_dense()`."
        )
    return tensor._raw


def _row_of(form: Sequence[int], length: int) -> Array:
    """Whole numbers as a row of one length, to be compared with those of other ranks."""
    return M.numbers([*form, *(-1,) * (length - len(form))])


def _parts(length: int, count: int) -> list[slice]:
    """`count` slices of nearly one length."""
    cuts = [length * i // count for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(cuts)]


def _describe(tensor: Tensor | None) -> str:
    """What a rank tells another of a tensor that it sends to it, or expects from it."""
    if tensor is None:
        return "nothing"
    described = f"{tensor.numel()} elements of {tensor.dtype}{_SHAPED}{tuple(tensor.shape)}"
    return described[: _REPORT // 2 - 40]


class MPICarrier:
    """A group's communicators, and its collectives in the order in which they were asked for."""

    def __init__(
        self, progress: Progress, comm: Comm, direct: Comm, ranks: list[int], timeout: timedelta
    ) -> None:
        self._progress = progress
        self._comm = comm
        self._direct = direct
        self._mpi = progress.world.mpi
        self._line: deque[RunningWork] = deque()
        self._ranks = ranks
        self.timeout = timeout
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()
        self._compares = get_debug_level() is DebugLevel.DETAIL
        self._asked = 0
        self._others = [(self.rank + i) % self.size for i in range(1, self.size)]

    def close(self) -> None:
        """Keeps the communicators: freeing one waits for all ranks."""

    # ---- starting a work ----------------------------------------------------------------------
    def _start(
        self,
        steps: Steps,
        what: str,
        tensors: Sequence[Tensor],
        waits: bool,
        peers: Iterable[int] | None = None,
        alike: Sequence[Tensor] | None = None,
        pairs: tuple[Mapping[int, Tensor], Mapping[int, Tensor]] | None = None,
    ) -> RunningWork:
        mode = ready()
        if mode.recorder is not None:
            mode.recorder.refuse("processes exchange messages")
        everyone = peers is None
        if everyone and self._compares:
            if pairs is not None:
                steps = self._match(steps, what, *pairs)
            steps = self._compare(steps, what, tensors if alike is None else alike)
        among = self._ranks if peers is None else [self._ranks[i] for i in peers]
        line = self._line if everyone else None
        if mode.profiler is None:
            work = RunningWork(self._progress, steps, what, among, self.timeout, tensors)
            return self._progress.start(work, line, waits)
        with profile(mode.profiler, what, steps) as steps:
            work = RunningWork(self._progress, steps, what, among, self.timeout, tensors)
            return self._progress.start(work, line, waits)

    def _compare(self, steps: Steps, what: str, tensors: Sequence[Tensor]) -> Steps:
        """A collective after all ranks have told each other which one it is.

        Raises:
            RuntimeError: where they differ; it says which rank does what.
        """
        self._asked += 1
        described = f"{what} (number {self._asked} of the group)"
        if what == "all_to_all":  # the shapes are each rank's own
            described += "".join(f" of {t}" for t in sorted({str(t.dtype) for t in tensors}))
        else:
            described += "".join(f" of a {t.dtype} of shape {tuple(t.shape)}" for t in tensors)
        own = described.encode()
        if len(own) > _REPORT:
            own = own[: _REPORT - 16] + f" ... {zlib.crc32(own):08x}".encode()
        own = own.ljust(_REPORT)
        everything = bytearray(_REPORT * self.size)
        byte = self._mpi.BYTE
        yield [self._comm.Iallgather([own, byte], [everything, byte])]
        rows = [bytes(everything[i * _REPORT : (i + 1) * _REPORT]) for i in range(self.size)]
        other = next((i for i, row in enumerate(rows) if row != own), None)
        if other is not None:
            differs = "\n".join(
                f"rank {rank}: {row.decode().rstrip()}" for rank, row in zip(self._ranks, rows)
            )
            raise RuntimeError(
                "Detected mismatch between collectives on ranks. Rank "
                f"{self._ranks[self.rank]} is running collective: {described}, but Rank "
                f"{self._ranks[other]} is running collective: {rows[other].decode().rstrip()}.\n"
                f"{differs}"
            )
        yield from steps

    def _match(
        self, steps: Steps, what: str, sends: Mapping[int, Tensor], receives: Mapping[int, Tensor]
    ) -> Steps:
        """An exchange after each rank has told each other what it sends to it.

        Raises:
            RuntimeError: where another rank expects something else; all ranks say which.
        """
        byte = self._mpi.BYTE
        expected = [_describe(receives.get(i)) for i in range(self.size)]
        sent = "".join(_describe(sends.get(i)).ljust(_REPORT) for i in range(self.size)).encode()
        come, wrong = bytearray(len(sent)), bytearray(_REPORT * self.size)
        yield [self._comm.Ialltoall([sent, byte], [come, byte])]
        complaint = ""
        for i, expects in enumerate(expected):
            said = bytes(come[i * _REPORT : (i + 1) * _REPORT]).decode().rstrip()
            if said.partition(_SHAPED)[0] != expects.partition(_SHAPED)[0]:
                complaint = (
                    f"rank {self._ranks[i]} sends {said} to rank {self._ranks[self.rank]}, "
                    f"which expects {expects}"
                )
                break
        yield [
            self._comm.Iallgather(
                [complaint[:_REPORT].ljust(_REPORT).encode(), byte], [wrong, byte]
            )
        ]
        rows = [bytes(wrong[i * _REPORT : (i + 1) * _REPORT]).decode().rstrip()
                for i in range(self.size)]  # fmt: skip
        if any(rows):
            raise RuntimeError(
                f"Detected mismatch between collectives on ranks. {what} (number {self._asked} of "
                "the group):\n" + "\n".join(filter(None, rows))
            )
        yield from steps

    def _bytes(self, row: Array) -> list[object]:
        return [M.bytes_in(row), self._mpi.BYTE]

    def _post(self, sends: Mapping[int, Array], receives: Mapping[int, Array]) -> Pending:
        """Posts rows to and from other ranks; the row to this rank itself is copied."""
        comm = self._comm
        requests = [comm.Irecv(self._bytes(receives[i]), i) for i in self._others if i in receives]
        requests += [comm.Isend(self._bytes(sends[i]), i) for i in self._others if i in sends]
        if self.rank in receives:
            M.copy(receives[self.rank], sends[self.rank])
        return requests

    # ---- collectives --------------------------------------------------------------------------
    def broadcast(self, tensor: Tensor, root: int, waits: bool) -> Work:
        """Gives every rank what `root` has."""
        return self._start(
            self._broadcast(_raw(tensor, "broadcast_"), root), "broadcast", [tensor], waits
        )

    def _broadcast(self, array: Array, root: int) -> Steps:
        row = M.flat(array)
        yield [self._comm.Ibcast(self._bytes(row), root)]
        if self.rank != root and not M.is_own(row, array):
            M.copy(array, row)

    def reduce(self, tensor: Tensor, root: int | None, op: RedOpType, waits: bool) -> Work:
        """Makes one of all ranks' tensors, on one rank or (None) on all."""
        if root is None and tensor.is_sparse:
            return self._start(self._sum_sparse(tensor), "all_reduce", [tensor], waits)
        what = "allreduce_" if root is None else "reduce_"
        steps = self._reduce(_raw(tensor, what), root, op.name)
        return self._start(steps, "all_reduce" if root is None else "reduce", [tensor], waits)

    def _sum_sparse(self, tensor: Tensor) -> Steps:
        """The sum of sparse tensors, each of which may hold other elements than the others.

        Raises:
            RuntimeError: where their shapes differ, or their types.
        """
        from ..sparse.parts import parts_of, put_parts, sum_of

        places, held = parts_of(tensor)
        code = zlib.crc32(str(tensor.dtype).encode())
        own = _row_of([places.shape[1], places.shape[0], code, *tensor.shape], _FORM)
        forms = M.scratch(_FORM * self.size, own)
        yield [self._comm.Iallgather(self._bytes(own), self._bytes(forms))]
        rows = forms.reshape(self.size, _FORM)
        if (rows[:, 1:] != own[1:]).any():
            raise RuntimeError("Sparse dimensions do not match")
        counts = rows[:, 0].tolist()
        each = math.prod(held.shape[1:])
        all_places = {i: M.scratch(places.shape[0] * counts[i], places) for i in self._others}
        all_held = {i: M.scratch(each * counts[i], held) for i in self._others}
        mine = M.flat(places), M.flat(held)
        yield [
            *self._post(dict.fromkeys(self._others, mine[0]), all_places),
            *self._post(dict.fromkeys(self._others, mine[1]), all_held),
        ]
        all_places[self.rank], all_held[self.rank] = mine
        parts = [
            (
                all_places[i].reshape(len(places), counts[i]),
                all_held[i].reshape(counts[i], *held.shape[1:]),
            )
            for i in range(self.size)
        ]
        put_parts(tensor, *sum_of(parts, tuple(tensor.shape)))

    def _reduce(self, array: Array, root: int | None, op: str) -> Steps:
        row = M.flat(array)
        if row.nbytes * self.size <= _WHOLE:
            yield from self._reduce_whole(row, root, op)
        else:
            yield from self._reduce_in_parts(row, root, op)
        if root in (None, self.rank) and not M.is_own(row, array):
            M.copy(array, row)

    def _reduce_whole(self, row: Array, root: int | None, op: str) -> Steps:
        if root is not None and root != self.rank:
            yield self._post({root: row}, {})
            return
        length = len(row)
        all_rows = M.scratch(length * self.size, row)
        rows = [all_rows[i * length : (i + 1) * length] for i in range(self.size)]
        if root is None:
            yield [self._comm.Iallgather(self._bytes(row), self._bytes(all_rows))]
        else:
            yield self._post({root: row}, dict(enumerate(rows)))
        M.fold(rows, row, op)

    def _reduce_in_parts(self, row: Array, root: int | None, op: str) -> Steps:
        parts = _parts(len(row), self.size)
        mine = row[parts[self.rank]]
        rows = {i: M.scratch(len(mine), row) for i in self._others}
        yield self._post({i: row[parts[i]] for i in self._others}, rows)
        rows[self.rank] = mine
        into = mine if root in (None, self.rank) else M.scratch(len(mine), row)
        M.fold([rows[i] for i in range(self.size)], into, op)
        receivers = self._others if root is None else [root] if root != self.rank else []
        places = {i: row[parts[i]] for i in self._others} if root in (None, self.rank) else {}
        yield self._post(dict.fromkeys(receivers, into), places)

    def reduce_scatter(
        self, output: Tensor, parts: Sequence[Tensor], op: RedOpType, waits: bool
    ) -> Work:
        """Makes one of all ranks' tensors of number `rank`."""
        steps = self._reduce_scatter(
            _raw(output, "reduce_scatter_"),
            [_raw(part, "reduce_scatter_") for part in parts],
            op.name,
        )
        return self._start(steps, "reduce_scatter", [output], waits)

    def _reduce_scatter(self, output: Array, parts: list[Array], op: str) -> Steps:
        into = M.flat(output)
        sent = {i: M.flat(parts[i]) for i in self._others}
        rows = {i: M.scratch(len(into), into) for i in self._others}
        yield self._post(sent, rows)
        rows[self.rank] = M.flat(parts[self.rank])
        M.fold([rows[i] for i in range(self.size)], into, op)
        if not M.is_own(into, output):
            M.copy(output, into)

    def exchange(
        self, what: str, sends: Mapping[int, Tensor], receives: Mapping[int, Tensor],
        tensors: Sequence[Tensor], waits: bool,
    ) -> Work:  # fmt: skip
        """Sends a tensor to each of some ranks, and receives one from each of some."""
        called = what.replace("all_", "all")
        steps = self._exchange(
            {i: _raw(tensor, f"{called}_") for i, tensor in sends.items()},
            {i: _raw(tensor, f"{called}_") for i, tensor in receives.items()},
        )
        # The places of what is gathered are the root's alone.
        alike = list(sends.values()) if what == "gather" else None
        pairs = (sends, receives) if what == "all_to_all" else None
        return self._start(steps, what, tensors, waits, alike=alike, pairs=pairs)

    def _exchange(self, sends: dict[int, Array], receives: dict[int, Array]) -> Steps:
        rows: dict[int, Array] = {}  # one tensor that goes to many is put in a row once
        for array in sends.values():
            if id(array) not in rows:
                rows[id(array)] = M.flat(array)
        sent = {i: rows[id(array)] for i, array in sends.items()}
        places = {i: M.flat(array) for i, array in receives.items()}
        yield self._post(sent, places)
        for i, array in receives.items():
            if not M.is_own(places[i], array):
                M.copy(array, places[i])

    def all_gather(self, output: Tensor, tensor: Tensor, waits: bool) -> Work:
        """Puts the tensors of all ranks one after the other."""
        steps = self._all_gather(_raw(output, "_allgather_base_"), _raw(tensor, "_allgather_base_"))
        return self._start(steps, "all_gather", [output], waits)

    def _all_gather(self, output: Array, array: Array) -> Steps:
        row, places = M.flat(array), M.flat(output)
        own = places[self.rank * len(row) : (self.rank + 1) * len(row)]
        M.copy(own, row)
        yield [self._comm.Iallgather(self._mpi.IN_PLACE, self._bytes(places))]
        if not M.is_own(places, output):
            M.copy(output, places)

    def barrier(self, waits: bool) -> Work:
        """Arrives when all ranks have asked for it."""
        return self._start(self._barrier(), "barrier", [], waits)

    def _barrier(self) -> Steps:
        yield [self._comm.Ibarrier()]

    # ---- from one rank to another -------------------------------------------------------------
    def send(self, tensor: Tensor, to: int, tag: int, waits: bool) -> Work:
        """Sends a tensor to a rank."""
        return self._start(self._send(_raw(tensor, "send"), to, tag), "send", [tensor], waits, [to])

    def _send(self, array: Array, to: int, tag: int) -> Steps:
        yield [self._direct.Isend(self._bytes(M.flat(array)), to, tag)]

    def receive(self, tensor: Tensor, source: int | None, tag: int, waits: bool) -> Work:
        """Receives a tensor from a rank, or (None) from whichever sends one."""
        status = self._mpi.Status()
        steps = self._receive(_raw(tensor, "recv_"), source, tag, status)
        peers = self._others if source is None else [source]
        work = self._start(steps, "recv", [tensor], waits, peers)
        work.source_rank = lambda: self._ranks[status.Get_source()] if source is None else source  # type: ignore[method-assign]
        return work

    def _receive(self, array: Array, source: int | None, tag: int, status: Status) -> Steps:
        if source is None:
            yield lambda: self._direct.Iprobe(self._mpi.ANY_SOURCE, tag, status)
            source = status.Get_source()
        row = M.flat(array)
        request = self._direct.Irecv(self._bytes(row), source, tag)
        arrived = self._mpi.Status()
        yield lambda: request.Test(arrived)
        if arrived.Get_count(self._mpi.BYTE) != row.nbytes:
            raise DistBackendError(
                f"recv: {arrived.Get_count(self._mpi.BYTE)} bytes have come from rank {source} for "
                f"a tensor of {row.nbytes} bytes"
            )
        if not M.is_own(row, array):
            M.copy(array, row)


def carrier_over(
    world: World, what: str, made: Callable[[], Comm], ranks: list[int], timeout: timedelta
) -> MPICarrier:
    """What carries the messages of some ranks, all of which make its communicators."""

    def duplicate() -> tuple[Comm, Comm]:
        comm = made()
        return comm, comm.Dup()

    comm, direct = watch(world, duplicate, what, ranks, timeout)
    if world.progress is None:
        world.progress = Progress(world)
    return MPICarrier(world.progress, comm, direct, ranks, timeout)


def carrier_of_some(wanted: list[int], number: str, store: Store, limit: timedelta) -> MPICarrier:
    """A communicator of some ranks, made when all of them are there.

    Raises:
        DistStoreError: where they don't come within the timeout; it names them.
    """
    world = find_launched_world()
    place = f"new_group/{number}"
    store.set(f"{place}/{world.rank}", b"here")
    try:
        store.wait([f"{place}/{rank}" for rank in wanted], limit)
    except RuntimeError as error:
        away = [rank for rank in wanted if not store.check([f"{place}/{rank}"])]
        raise DistStoreError(f"new_group({wanted}): ranks {away} haven't come: {error}") from None
    some = world.mpi.Group.Incl(world.comm.Get_group(), wanted)
    tag = int.from_bytes(number.encode()[-2:]) % 32000
    made = lambda: world.comm.Create_group(some, tag)  # noqa: E731
    return carrier_over(world, "new_group", made, wanted, limit)
