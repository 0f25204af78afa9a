"""`python -m rushlight script.py …` runs an unmodified PyTorch program on Rushlight."""

from __future__ import annotations

import importlib.util
import io
import os
import signal
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

from ._base.version import __version__
from ._torch.alias import install_as_torch

USAGE = """\
usage: python -m rushlight SCRIPT [ARGUMENT …]
       python -m rushlight -m MODULE [ARGUMENT …]
       python -m rushlight -c CODE [ARGUMENT …]
       python -m rushlight stubs --as-torch FOLDER
       python -m rushlight --version

Runs a program in which `torch` means Rushlight, as `python SCRIPT …` would run it; or writes type
stubs of `torch` into a folder, for mypy (MYPYPATH=FOLDER) and pyright (a folder `typings`).

The processes that it starts inherit RUSHLIGHT_AS_TORCH=1, by which they import Rushlight as torch,
too. Set the variable yourself to run any command so: RUSHLIGHT_AS_TORCH=1 pytest tests"""


class Refused(Exception):
    """The program cannot be started: a line for the user and the exit status."""

    def __init__(self, line: str, status: int) -> None:
        super().__init__(line)
        self.status = status


class Program:
    """What is to run: its code, its name in `sys.argv`, and where it came from."""

    def __init__(self, argv0: str, code: CodeType, spec: ModuleSpec | None = None) -> None:
        self.argv0 = argv0
        self.code = code
        self.spec = spec

    def run(self, arguments: list[str]) -> None:
        """Runs the program as `__main__`, which it stays for whatever outlives its last line."""
        main = ModuleType("__main__")
        main.__dict__["__builtins__"] = __builtins__
        vars(main)["__annotations__"] = {}
        if self.spec is not None:
            main.__spec__ = self.spec
            main.__loader__ = self.spec.loader
            main.__package__ = self.spec.parent
            main.__file__ = self.spec.origin
        elif self.argv0 != "-c":
            main.__loader__ = SourceFileLoader("__main__", self.argv0)
            main.__file__ = self.argv0
        sys.argv[:] = [self.argv0, *arguments]
        sys.modules["__main__"] = main
        exec(self.code, main.__dict__)


def script(path: str) -> Program:
    """Gives the program in a file; `sys.path` then starts with its folder, as Python has it."""
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    try:
        with io.open_code(os.path.abspath(path)) as file:
            source = file.read()
    except OSError as error:
        problem = f"can't open file '{os.path.abspath(path)}': [Errno {error.errno}]"
        raise Refused(f"{sys.executable}: {problem} {error.strerror}", 2) from None
    return Program(path, compile(source, path, "exec", dont_inherit=True))


def module(name: str) -> Program:
    """Gives the program in a module, or in the `__main__` of a package."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name += ".__main__"
            spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        spec = None
    if spec is None:
        raise Refused(f"{sys.executable}: No module named {name}", 1)
    # What loads a module of torch has this method, but not the class of such loaders.
    find_code: Callable[[str], CodeType | None] = getattr(spec.loader, "get_code", lambda _: None)
    code = find_code(name)
    if code is None or spec.origin is None:
        raise Refused(f"{sys.executable}: No code object available for {name}", 1)
    return Program(spec.origin, code, spec)


def program_of(arguments: list[str]) -> tuple[Program, list[str]]:
    """Gives the program that the command line names and the arguments that are left for it."""
    first, *rest = arguments
    if first in ("-m", "-c"):
        if not rest:
            raise Refused(f"Argument expected for the {first} option\n{USAGE}", 2)
        if first == "-m":
            return module(rest[0]), rest[1:]
        return Program("-c", compile(rest[0], "<string>", "exec", dont_inherit=True)), rest[1:]
    if first.startswith("-"):
        raise Refused(f"unknown option {first}\n{USAGE}", 2)
    return script(first), rest


def _programs_part(traceback: TracebackType | None) -> TracebackType | None:
    """Gives the traceback from the program's first frame on: this file is not what failed."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    return traceback


def main(arguments: list[str]) -> int:
    """Runs the program that the arguments name and gives the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        print(f"Rushlight {__version__}")
        return 0
    if arguments[:2] == ["stubs", "--as-torch"] and len(arguments) == 3:
        from ._torch.stub_package import write as write_stubs

        print(f"{write_stubs(Path(arguments[2]))} files in {arguments[2]}")
        return 0
    install_as_torch()
    os.environ["RUSHLIGHT_AS_TORCH"] = "1"
    try:
        program, rest = program_of(arguments)
        program.run(rest)
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return refusal.status
    except SystemExit:
        raise
    except BaseException as error:
        error = error.with_traceback(_programs_part(error.__traceback__))
        sys.excepthook(type(error), error, error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            # What Python does, so that a shell sees an interrupted program.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
