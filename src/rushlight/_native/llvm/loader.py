"""From a module to addresses that can be called.

Note [Code is never freed]
A function that was loaded may be running on a thread that nobody waits for, up to the end of the
process. So its memory, and the compiler's, are kept for good.
"""

from __future__ import annotations

import hashlib
from typing import Any

from ..._base.fork_locks import lock as make_lock
from ..cpython.references import keep_forever
from . import object_cache as cache
from .emit import Module
from .llvmlite_binding import binding
from .target import foreign, machine

VERSION = 1  # of the emitter: a part of the key of each object
_lock = make_lock()
_loaded: dict[str, dict[str, int]] = {}
_linker: Any = None
_machine: Any = None

#: How many modules were compiled, read from disk, and asked for again in this process.
statistics = {"compiled": 0, "read": 0, "known": 0}


def load(module: Module) -> dict[str, int]:
    """The addresses of the module's functions by name; compiled at most once on a machine.

    Raises: RuntimeError for code that LLVM refuses.
    """
    text = str(module)
    key = _key(text)
    with _lock:
        known = _loaded.get(key)
        if known is not None:
            statistics["known"] += 1
            return known
        if foreign():  # compiled, but there is nothing to call
            statistics["compiled"] += 1 if _compile(text) else 0
            return _loaded.setdefault(key, {f.name: 0 for f in module.functions})
        body = cache.read(key)
        addresses = None
        if body is not None:
            try:
                addresses = _link(key, body, module)
                statistics["read"] += 1
            except RuntimeError:  # an object that can't be linked is compiled again
                addresses = None
        if addresses is None:
            body = _compile(text)
            # A name can't be used a second time, not even after a failure.
            addresses = _link(f"{key}.new", body, module)
            statistics["compiled"] += 1
            cache.write(key, body)
        _loaded[key] = addresses
        return addresses


def assembly(module: Module) -> str:
    """The module as assembly, to look at."""
    with _lock:
        parsed = _parse(str(module))
        return str(_target_machine().emit_assembly(parsed))


def _key(text: str) -> str:
    host = machine()
    parts = (text, host.triple, host.cpu, host.features, host.llvm, str(VERSION))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _target_machine() -> Any:
    global _machine
    if _machine is None:
        llvm, host = binding(), machine()
        _machine = llvm.Target.from_triple(host.triple).create_target_machine(
            cpu=host.cpu, features=host.features, opt=2, reloc="pic", codemodel="small", jit=True
        )
    return _machine


def _parse(text: str) -> Any:
    llvm = binding()
    parsed = llvm.parse_assembly(text)
    parsed.triple = machine().triple
    parsed.data_layout = str(_target_machine().target_data)
    parsed.verify()
    return parsed


def _compile(text: str) -> bytes:
    return bytes(_target_machine().emit_object(_parse(text)))


def _link(name: str, body: bytes, module: Module) -> dict[str, int]:
    global _linker
    llvm, host = binding(), machine()
    if _linker is None:
        own = llvm.Target.from_triple(host.triple).create_target_machine(
            cpu=host.cpu, features=host.features, opt=2, reloc="pic", codemodel="small", jit=True
        )
        _linker = llvm.create_lljit_compiler(own)
        keep_forever(_linker)  # see Note [Code is never freed]
    names = [f.name for f in module.functions if not f.internal]
    library = llvm.JITLibraryBuilder().add_object_img(body).add_current_process()
    for function in names:
        library.export_symbol(function)
    for function, address in module.imports.items():
        library.import_symbol(function, address)
    tracker = library.link(_linker, name)
    keep_forever(tracker)
    return {function: tracker[function] for function in names}
