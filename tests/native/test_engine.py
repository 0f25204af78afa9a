"""Compiling once, keeping objects on disk, and doing without."""

import ctypes
from pathlib import Path

import pytest

from rushlight._native.llvm import loader as engine, object_cache as cache
from rushlight._native.llvm.emit import I64, Module
from tests.native.subprocesses import run

PROGRAM = """
    import ctypes
    from rushlight._native.llvm import loader as engine
    from rushlight._native.llvm.emit import I64, Module
    module = Module()
    f = module.function("add", [("a", I64), ("b", I64)], I64)
    f.ret(f.params[0] + f.params[1] + 40)
    add = ctypes.CFUNCTYPE(*[ctypes.c_int64] * 3)(engine.load(module)["add"])
    print(add(1, 1), engine.statistics["compiled"], engine.statistics["read"])
"""


def adder(amount: int) -> Module:
    module = Module()
    f = module.function("add", [("a", I64)], I64)
    f.ret(f.params[0] + amount)
    return module


def test_a_module_is_compiled_once_in_a_process() -> None:
    first = engine.load(adder(11))
    assert engine.load(adder(11)) == first
    assert engine.load(adder(12)) != first
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(first["add"])(5) == 16


def test_another_process_reads_the_object_from_disk(tmp_path: Path) -> None:
    place = tmp_path / "kept"
    assert run(PROGRAM, RUSHLIGHT_CACHE=str(place)).split() == ["42", "1", "0"]
    assert run(PROGRAM, RUSHLIGHT_CACHE=str(place)).split() == ["42", "0", "1"]
    assert [path.suffix for path in place.iterdir()] == [".o"]


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "foreign"])
def test_a_damaged_entry_is_compiled_again(tmp_path: Path, damage: str) -> None:
    run(PROGRAM, RUSHLIGHT_CACHE=str(tmp_path / "kept"))
    (entry,) = (tmp_path / "kept").glob("*.o")
    content = bytearray(entry.read_bytes())
    if damage == "cut":
        del content[-20:]
    elif damage == "changed":
        content[len(content) // 2] ^= 1
    elif damage == "empty":
        content.clear()
    else:
        content = bytearray(b"not an object at all" * 10)
    entry.write_bytes(bytes(content))
    assert run(PROGRAM, RUSHLIGHT_CACHE=str(tmp_path / "kept")).split() == ["42", "1", "0"]
    assert run(PROGRAM, RUSHLIGHT_CACHE=str(tmp_path / "kept")).split() == ["42", "0", "1"]


def test_the_cache_can_be_turned_off(tmp_path: Path) -> None:
    for _ in range(2):
        shown = run(PROGRAM, RUSHLIGHT_CACHE="0", XDG_CACHE_HOME=str(tmp_path))
        assert shown.split() == ["42", "1", "0"]
    assert not list(tmp_path.iterdir())


def test_the_cache_lies_in_the_folder_for_caches(tmp_path: Path) -> None:
    run(PROGRAM, RUSHLIGHT_CACHE="", XDG_CACHE_HOME=str(tmp_path))
    assert len(list((tmp_path / "rushlight").glob("*.o"))) == 1


def test_objects_in_a_folder_that_others_write_to_are_not_run(tmp_path: Path) -> None:
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o777)
    assert run(PROGRAM, RUSHLIGHT_CACHE=str(place)).split() == ["42", "1", "0"]
    assert not list(place.iterdir())


def test_the_entries_used_longest_ago_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setenv("RUSHLIGHT_CACHE", str(tmp_path / "small"))
    monkeypatch.setattr(cache, "LIMIT", 1000)
    for number in range(4):
        cache.write(f"entry{number}", bytes([number]) * 300)
        os.utime(tmp_path / "small" / f"entry{number}.o", (number, number))
    assert cache.read_object("entry0") is None
    assert cache.read_object("entry3") == bytes([3]) * 300


def test_code_that_llvm_refuses_raises_runtime_error() -> None:
    module = Module()
    f = module.function("wrong", [])
    f.do("nonsense")
    f.ret()
    with pytest.raises(RuntimeError):
        engine.load(module)


def test_nothing_of_llvmlite_is_imported_before_it_is_used() -> None:
    code = """
        import sys, rushlight, rushlight._native, rushlight._native.llvm.loader
        import rushlight._native.math.functions, rushlight._native.threads.thread_pool
        import rushlight._native.cpython.builtin_call
        print("llvmlite" in sys.modules)
    """
    assert run(code).split() == ["False"]


def test_the_environment_turns_native_code_off() -> None:
    code = """
        import sys
        from rushlight._native.llvm import target
        print(target.available(), "llvmlite" in sys.modules)
    """
    assert run(code, RUSHLIGHT_NATIVE="0").split() == ["False", "False"]
    assert run(code, RUSHLIGHT_NATIVE="1").split() == ["True", "True"]


def test_a_process_ends_well_while_threads_are_in_native_code() -> None:
    code = """
        from rushlight._native.llvm import loader as engine
        from rushlight._native.threads import thread_pool as pool
        from rushlight._native.llvm.emit import I64, PTR, Module
        module = Module()
        f = module.function("nothing", [("frame", PTR), ("chunk", I64)])
        f.ret()
        pool.run(engine.load(module)["nothing"], 0, 4, 3)
        print("done")
    """
    assert run(code).split() == ["done"]
