"""From a module to addresses that can be called.

Note [Code is never freed]
A function that was loaded may be running on a thread that nobody waits for, up to the end of the
process. So its memory, and the compiler's, are kept for good.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._base.fork_locks import lock as make_lock
from .. import prebuilt
from ..references import keep_forever
from .llvmlite_binding import binding
from .target import compiler, compiles, foreign

if TYPE_CHECKING:
    from .emit import Module
    from .prebuilt_objects import Collected

_lock = make_lock()
_loaded: dict[str, dict[str, int]] = {}
_linker: Any = None
_machine: Any = None

#: How many modules came with the package, were compiled, read from disk, and asked for again.
statistics = {"built": 0, "compiled": 0, "read": 0, "known": 0}

#: The names of modules that didn't come with the package, where nothing can compile them.
unforeseen: dict[str, None] = {}

_recorder: Collected | None = None


class UnforeseenError(RuntimeError):
    """A module that didn't come with the package, where there is no llvmlite to compile it."""


def record(recorder: Collected) -> None:
    """From now on modules go to `recorder`, which gives their addresses; none is loaded."""
    global _recorder
    _recorder = recorder


def load_made(make: Callable[..., Module], *arguments: object) -> dict[str, int]:
    """As `load(make(*arguments))`; what came with the package isn't made.

    `make` looks at nothing but its arguments, whose texts tell them apart, and the machine: see
    Note [Or what it is made from] in `prebuilt`. A `lazy.Function` is loaded only to be called.
    Raises: as `load`.
    """
    if _recorder is not None:
        return _recorder.make(make, arguments)
    if not foreign():
        with _lock:
            found = prebuilt.find_made(make, arguments)
            if found is not None:
                statistics["built"] += 1
                return found
            if prebuilt.knows_recipes() and not compiles():  # nor would its text be found
                raise _missing(getattr((*arguments, None)[0], "name", str(make)))
    return load(make(*arguments))


def _missing(name: str) -> UnforeseenError:
    unforeseen[name] = None
    return UnforeseenError(f"{name} didn't come with the package, and llvmlite isn't installed")


def load(module: Module) -> dict[str, int]:
    """The addresses of the module's functions by name; compiled at most once on a machine.

    Raises: RuntimeError for code that LLVM refuses; UnforeseenError.
    """
    text = str(module)
    if _recorder is not None:
        return _recorder(module, text)
    digest = prebuilt.key_of(text)
    with _lock:
        known = _loaded.get(digest)
        if known is not None:
            statistics["known"] += 1
            return known
        found = None if foreign() else prebuilt.find(digest, module.imports)
        if found is not None:
            statistics["built"] += 1
            return _loaded.setdefault(digest, found)
        if not compiles():
            raise _missing(module.name)
        from . import object_cache as cache  # and what it needs, for 2 ms

        key = _key(digest)
        if foreign():  # compiled, but there is nothing to call
            statistics["compiled"] += 1 if _compile(text) else 0
            return _loaded.setdefault(digest, {f.name: 0 for f in module.functions})
        body = cache.read_object(key)
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
        _loaded[digest] = addresses
        return addresses


def _key(digest: str) -> str:
    from hashlib import sha256  # loads OpenSSL, for 2 ms

    return sha256("\0".join((digest, *compiler())).encode()).hexdigest()


def _target_machine() -> Any:
    global _machine
    if _machine is None:
        llvm, host = binding(), compiler()
        _machine = llvm.Target.from_triple(host.triple).create_target_machine(
            cpu=host.cpu, features=host.features, opt=2, reloc="pic", codemodel="small", jit=True
        )
    return _machine


def _parse(text: str) -> Any:
    llvm = binding()
    parsed = llvm.parse_assembly(text)
    parsed.triple = compiler().triple
    parsed.data_layout = str(_target_machine().target_data)
    parsed.verify()
    return parsed


def _compile(text: str) -> bytes:
    return bytes(_target_machine().emit_object(_parse(text)))


def _link(name: str, body: bytes, module: Module) -> dict[str, int]:
    global _linker
    llvm, host = binding(), compiler()
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
