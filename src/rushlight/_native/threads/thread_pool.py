"""Threads that share the chunks of a native function: a fork and a join take about a microsecond.

    address = pool.runner()                  # void (state, function, frame, chunks)
    state = pool.state(threads)              # 0 where there is no pool: all runs on the caller
    pool.run(function, frame, chunks, threads)  # the same from Python
    pool.run_repeatedly(kinds, count, times, threads)   # a few such calls, again and again

`function` is the address of a native `void (ptr frame, i64 chunk)`, called once for each chunk.
The workers are Python's daemon threads, each in one foreign call that lasts: a loop that waits for
work, first spinning, then asleep in the kernel. Where that isn't Linux's there is no pool.

Note [How long a worker spins]
To wake a worker takes some 40 µs, and Python's time between two products is of that order. So it
spins for 200 µs before it sleeps, and offers its core to others all the while but for the first
20: who needs the core, has it. A layer's step of 2.6 ms with seven phases takes 2.3 by that.

Note [A phase ends when its chunks are done]
One 64-bit word holds the phase's number and the next chunk; to take a chunk is to add 1 to the
word by compare-and-swap. The caller takes chunks like any worker, and waits for chunks that were
taken, never for a thread that has not woken up. Between two phases the word is closed (its chunk
number is larger than any count), so that a worker that read the last phase's word can't take a
chunk of the next one by it.

Note [One phase at a time]
A call while another one is running, beside it or within one of its chunks, does its chunks itself.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import threading
import time
from functools import cache

from ..._base.fork_locks import in_child, lock as make_lock
from ..llvm import loader as engine
from ..llvm.emit import I32, I64, PTR, VOID, Function, Module, Value
from ..references import keep_forever

# Where things lie in a state, each on a cache line of its own.
_WORD, _DONE, _TASK, _SIGNAL, SLEEPERS, _BUSY, _STOP, _CALLS, _SIZE = (64 * i for i in range(9))
_CLOSED = 0x7FFFFFFF
_SPIN = 20e-6  # seconds that a thread waits before it offers its core to others
_LONG = 10  # times that a worker waits before it sleeps
MOST_WORDS = 64
_FUTEX = {"x86_64": 202, "aarch64": 98}  # the number of the kernel's call
_WAIT, _WAKE = 128, 129  # of this process only


def is_supported() -> bool:
    """Whether threads can wait in the kernel here."""
    return sys.platform == "linux" and platform.machine() in _FUTEX


@cache
def _addresses() -> dict[str, int]:
    return engine.load_made(_module)


def runner() -> int:
    """The address of `void (ptr state, ptr function, ptr frame, i64 chunks)`, for emitted code."""
    return _addresses()["run_chunks"]


class _Pool:
    """A state and the threads that serve it."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.memory = ctypes.create_string_buffer(_SIZE + 64)
        # Never freed: emitted code and threads may hold the address.
        keep_forever(self.memory)
        self.state = -(-ctypes.addressof(self.memory) // 64) * 64
        if is_supported():
            library = ctypes.CDLL(None)
            start = self.state + _CALLS - ctypes.addressof(self.memory)
            calls = (ctypes.c_int64 * 3).from_buffer(self.memory, start)
            for place, name in enumerate(("syscall", "sched_yield")):
                calls[place] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
            calls[2] = _spins()
            for number in range(threads - 1):
                threading.Thread(
                    target=_serve,
                    args=(self.state,),
                    name=f"rushlight-native-{number}",
                    daemon=True,
                ).start()

    def stop(self) -> None:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_addresses()["stop"])(self.state)


def _serve(state: int) -> None:
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_addresses()["serve"])(state)


@cache
def _spins() -> int:
    """How many turns of the waiting loop take as long as a thread should spin."""
    pauses = ctypes.CFUNCTYPE(None, ctypes.c_int64)(_addresses()["pauses"])
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        pauses(200)
        best = min(best, time.perf_counter() - start)
    return max(20, int(_SPIN / (best / 200)))


_pool: _Pool | None = None
_lock = make_lock()
# The address of the last state asked for, where emitted code finds it; never freed.
_cell = ctypes.c_int64(0)
keep_forever(_cell)


def cell() -> int:
    """The address of the word that holds the present state, or 0."""
    return ctypes.addressof(_cell)


def _after_fork() -> None:
    # Threads don't survive a fork.
    global _pool
    _pool = None
    _cell.value = 0


in_child(_after_fork)


def state(threads: int) -> int:
    """The address of the pool of so many threads, the caller's included; 0 for one thread."""
    pool = _pool
    if pool is not None and pool.threads == threads:
        return pool.state
    return _start(threads) if is_supported() else 0


def _start(threads: int) -> int:
    global _pool
    with _lock:
        if _pool is None or _pool.threads != threads:
            if _pool is not None:
                _pool.stop()
                _pool = None
                _cell.value = 0
            if threads < 2:
                return 0
            try:
                _pool = _Pool(threads)
                _cell.value = _pool.state
            except RuntimeError:  # no thread can be started, as while the interpreter shuts down
                return 0
        return _pool.state


@cache
def _run() -> ctypes._CFunctionType:
    pointer = ctypes.c_void_p
    return ctypes.CFUNCTYPE(None, pointer, pointer, pointer, ctypes.c_int64)(runner())


def run(function: int, frame: int | bytes, chunks: int, threads: int) -> None:
    """Calls the native function once for each chunk, on several threads, without the lock."""
    # One thread needs no pool, and leaves the one that there is alone.
    _run()(state(threads) if threads > 1 else 0, function, frame, chunks)


@cache
def _run_repeatedly() -> ctypes._CFunctionType:
    pointer, word = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(None, pointer, ctypes.c_char_p, word, word, word, word)
    return kind(_addresses()["run_repeatedly"])


def run_repeatedly(kinds: bytes, count: int, times: range, threads: int) -> None:
    """Makes `count` kinds of calls, one after the other, for each of `times`.

    A kind is so many words: function, chunks, whether on several threads, words of its frame; then
    the frame at time 0, what each word grows by in a time, and what it is at first where that isn't
    0. Frames have `MOST_WORDS` at most.
    """
    pool = state(threads) if threads > 1 else 0
    _run_repeatedly()(pool, kinds, count, times.start, times.step, len(times))


# -- the native part ------------------------------------------------------------------------------


def _module() -> Module:
    module = Module("pool")
    take = _take(module)
    _emit_repeater(module, _runner(module, take))
    if is_supported():
        _server(module, take)
        stop = module.function("stop", [("state", PTR)])
        (state,) = stop.params
        stop.atomic_store(stop.at_bytes(state, _STOP), stop.constant(I32, 1))
        stop.atomic_add(stop.at_bytes(state, _SIGNAL), stop.constant(I32, 1))
        _wake(stop, state)
        stop.ret()
    pauses = module.function("pauses", [("n", I64)])
    with pauses.loop(0, pauses.params[0]):
        _pause(pauses)
    pauses.ret()
    return module


def _pause(f: Function) -> None:
    """Tells the processor that this is a loop that waits."""
    if platform.machine().lower() in ("arm64", "aarch64"):
        name, params, args = "llvm.aarch64.hint", [I32], "i32 1"
    else:
        name, params, args = "llvm.x86.sse2.pause", [], ""
    f.do(f"call void @{f.module.declare(name, VOID, params)}({args})")


def _call_kernel(f: Function, state: Value, place: Value, operation: int, value: Value) -> None:
    system = f.load(f.at_bytes(state, _CALLS), PTR)
    number = _FUTEX[platform.machine()]
    f.emit(
        I64,
        f"call i64 (i64, ...) {system.name}(i64 {number}, {place!r}, i32 {operation}, {value!r}, "
        "ptr null, ptr null, i32 0)",
    )


def _wake(f: Function, state: Value) -> None:
    _call_kernel(f, state, f.at_bytes(state, _SIGNAL), _WAKE, f.constant(I32, 2**30))


def _give_way(f: Function, state: Value) -> None:
    """Lets another thread have the core, if one waits for it."""
    f.call(f.load(f.at(f.at_bytes(state, _CALLS), 1, I64), PTR), [], I32)


def _take(module: Module) -> Function:
    """Takes chunks and does them until none is left."""
    f = module.function("take", [("state", PTR)])
    f.internal = True
    (state,) = f.params
    word = f.at_bytes(state, _WORD)
    task = f.at_bytes(state, _TASK)

    def turn(carried: list[Value]) -> tuple[Value, list[Value]]:
        seen = f.atomic_load(word, I64)
        chunk = seen & 0xFFFFFFFF
        left = chunk < f.atomic_load(f.at(task, 2, I64), I64)
        with f.when(left):
            _, taken = f.atomic_swap(word, seen, seen + 1)
            with f.when(taken):
                # The phase can't end before this chunk is done: what is read now belongs to it.
                function = f.load(task, PTR)
                f.call(function, [f.load(f.at(task, 1, I64), PTR), chunk])
                f.atomic_add(f.at_bytes(state, _DONE), f.constant(I64, 1))
        return left, []

    f.repeat([], turn)
    f.ret()
    return f


def _emit_repeater(module: Module, runner: Function) -> None:
    names = ("kinds", "count", "start", "step", "times")
    f = module.function(
        "run_repeatedly",
        [("state", PTR), *((name, I64 if k else PTR) for k, name in enumerate(names))],
    )
    state, kinds, count, start, step, times = f.params
    frame = f.scratch(I64, MOST_WORDS)
    none = f.emit(PTR, "inttoptr i64 0 to ptr")
    with f.loop(0, times) as turn, f.loop(0, count, carried=[kinds]) as loop:
        time = start + turn.index * step
        (kind,) = loop.carried
        chunks, shared, words = (f.load(f.at(kind, k, I64), I64) for k in (1, 2, 3))
        base = f.at(kind, 4, I64)
        growth = f.at(base, words, I64)
        first = f.at(growth, words, I64)
        with f.loop(0, words) as word:
            now, by, at_first = (
                f.load(f.at(x, word.index, I64), I64) for x in (base, growth, first)
            )
            own = turn.index.eq(0) & at_first.ne(0)
            f.store(f.at(frame, word.index, I64), f.select(own, at_first, now + time * by))
        pool = f.select(shared.ne(0), state, none)
        f.call(runner, [pool, f.load(kind, PTR), frame, chunks])
        loop.next(f.at(first, words, I64))
    f.ret()


def _runner(module: Module, take: Function) -> Function:
    f = module.function(
        "run_chunks", [("state", PTR), ("function", PTR), ("frame", PTR), ("chunks", I64)]
    )
    state, function, frame, chunks = f.params

    def alone() -> None:
        with f.loop(0, chunks) as loop:
            f.call(function, [frame, loop.index], VOID)
        f.ret()

    none = f.emit(I64, f"ptrtoint {state!r} to i64")
    with f.when(none.eq(0) | (chunks < 2)):
        alone()
    busy = f.at_bytes(state, _BUSY)
    _, mine = f.atomic_swap(busy, f.constant(I32, 0), f.constant(I32, 1))
    with f.when(~mine):
        alone()
    word = f.at_bytes(state, _WORD)
    phase = f.shift_right(f.atomic_load(word, I64), 32) + 1
    opened = phase << 32
    f.emit(I64, f"atomicrmw xchg {word!r}, {(opened | _CLOSED)!r} seq_cst")
    done = f.at_bytes(state, _DONE)
    f.atomic_store(done, f.constant(I64, 0))
    task = f.at_bytes(state, _TASK)
    f.store(task, function)
    f.store(f.at(task, 1, I64), frame)
    f.atomic_store(f.at(task, 2, I64), chunks)
    f.emit(I64, f"atomicrmw xchg {word!r}, {opened!r} seq_cst")
    if is_supported():
        sleepers = f.emit(I32, f"atomicrmw add {f.at_bytes(state, SLEEPERS)!r}, i32 0 seq_cst")
        with f.when(sleepers > 0):
            f.atomic_add(f.at_bytes(state, _SIGNAL), f.constant(I32, 1))
            _wake(f, state)
    f.call(take, [state])
    patience = f.load(f.at(f.at_bytes(state, _CALLS), 2, I64), I64)

    def wait(carried: list[Value]) -> tuple[Value, list[Value]]:
        (turns,) = carried
        waiting = f.atomic_load(done, I64) < chunks
        _pause(f)
        if is_supported():
            # A worker that was put aside with a chunk in hand: let it have the processor.
            with f.when(waiting & (turns > patience)):
                _give_way(f, state)
        return waiting, [turns + 1]

    f.repeat([f.constant(I64, 0)], wait)
    f.atomic_store(busy, f.constant(I32, 0))
    f.ret()
    return f


def _server(module: Module, take: Function) -> None:
    f = module.function("serve", [("state", PTR)])
    (state,) = f.params
    word, task = f.at_bytes(state, _WORD), f.at_bytes(state, _TASK)
    patience = f.load(f.at(f.at_bytes(state, _CALLS), 2, I64), I64)

    def idle() -> Value:
        """Whether there is nothing to do."""
        chunk = f.atomic_load(word, I64) & 0xFFFFFFFF
        return chunk >= f.atomic_load(f.at(task, 2, I64), I64)

    def turn(carried: list[Value]) -> tuple[Value, list[Value]]:
        def spin(turns: list[Value]) -> tuple[Value, list[Value]]:
            _pause(f)
            with f.when((turns[0] > patience) & ((turns[0] & 63).eq(0))):
                _give_way(f, state)
            return idle() & (turns[0] < patience * _LONG), [turns[0] + 1]

        f.repeat([f.constant(I64, 0)], spin)
        signal = f.at_bytes(state, _SIGNAL)
        heard = f.atomic_load(signal, I32)
        with f.when(idle()):
            sleepers = f.at_bytes(state, SLEEPERS)
            f.atomic_add(sleepers, f.constant(I32, 1))
            # Looked at once more: a caller that saw no sleeper has published before.
            stopped = f.atomic_load(f.at_bytes(state, _STOP), I32)
            with f.when(idle() & stopped.eq(0)):
                _call_kernel(f, state, signal, _WAIT, heard)
            f.atomic_add(sleepers, f.constant(I32, -1))
        f.call(take, [state])
        return f.atomic_load(f.at_bytes(state, _STOP), I32).eq(0), []

    f.repeat([], turn)
    f.ret()
