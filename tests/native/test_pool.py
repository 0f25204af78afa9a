"""Chunks on several threads: each once, whatever else goes on."""

from tests.native.subprocesses import run

START = """
    import os, threading, time
    import ctypes
    from rushlight._native.llvm import loader as engine
    from rushlight._native.threads import thread_pool as pool
    from rushlight._native.llvm.emit import I64, PTR, Module

    module = Module("count")
    f = module.function("count", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    there = f.at(frame, chunk * 8, I64)
    f.store(there, f.load(there, I64) + 1)
    f.ret()
    count = engine.load(module)["count"]

    def counters():
        return (ctypes.c_int64 * 512)()

    def go(target, chunks, times, threads):
        for _ in range(times):
            pool.run(count, ctypes.addressof(target), chunks, threads)

    def seen(target, chunks):
        return set(target[: 8 * chunks : 8]), sum(target)
"""


def test_each_chunk_is_done_once() -> None:
    code = """
    for threads in (1, 2, 3):
        for chunks in (0, 1, 2, 3, 64):
            a = counters()
            go(a, chunks, 2000, threads)
            assert sum(a) == 2000 * chunks and (not chunks or seen(a, chunks)[0] == {2000})
    """
    run(START + code)


def test_workers_that_sleep_are_woken() -> None:
    code = """
    a = counters()
    for _ in range(40):
        time.sleep(0.002)
        go(a, 8, 1, 2)
    assert seen(a, 8) == ({40}, 320)
    """
    run(START + code)


def test_calls_side_by_side_and_within_each_other_are_all_done() -> None:
    code = """
    targets = [counters() for _ in range(4)]
    threads = [threading.Thread(target=go, args=(t, 8, 3000, 3)) for t in targets]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert all(seen(t, 8) == ({3000}, 24000) for t in targets)

    nested = Module("nested")
    f = nested.function("outer", [("frame", PTR), ("chunk", I64)])
    frame, chunk = f.params
    words = [f.load(f.at(frame, i, I64), PTR) for i in range(4)]
    mine = f.at(words[3], chunk * 64, I64)
    f.call(words[0], [words[1], words[2], mine, f.constant(I64, 8)])
    f.ret()
    a = counters()
    frame = (ctypes.c_int64 * 4)(pool.runner(), pool.state(2), count, ctypes.addressof(a))
    for _ in range(1000):
        pool.run(engine.load(nested)["outer"], ctypes.addressof(frame), 8, 2)
    assert seen(a, 64) == ({1000}, 64000)
    """
    run(START + code)


def test_a_forked_child_has_a_pool_of_its_own() -> None:
    code = """
    a = counters()
    go(a, 8, 10, 2)
    child = os.fork()
    if child == 0:
        b = counters()
        go(b, 8, 100, 2)
        os._exit(0 if seen(b, 8) == ({100}, 800) and threading.active_count() == 2 else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    go(a, 8, 10, 2)
    assert seen(a, 8) == ({20}, 160)
    """
    run(START + code)


def test_threads_that_are_no_longer_wanted_end() -> None:
    code = """
    a = counters()
    for threads in (4, 2, 3, 1, 2):
        go(a, 8, 50, threads)
    deadline = time.monotonic() + 20
    while threading.active_count() > 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == 2, threading.active_count()
    assert seen(a, 8) == ({250}, 2000)
    """
    run(START + code)


def test_work_for_one_thread_leaves_the_pool_alone() -> None:
    code = """
    from rushlight._native.threads import thread_pool as pool
    a = counters()
    go(a, 8, 1, 2)
    before = pool._pool
    go(a, 8, 1, 1)
    assert before is not None and pool._pool is before
    """
    run(START + code)
