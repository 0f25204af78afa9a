"""Builds Rushlight: the core compiled by mypyc where a C compiler is found, else plain Python.

    RUSHLIGHT_PURE=1     plain Python, whatever is there (what the published wheel is)
    RUSHLIGHT_PURE=0     compiled, or the build fails
    (unset)              compiled if possible; if not, plain Python and one line that says why

With the core come, where NumPy is there, functions on small arrays (see `_native/ufunc_loops` in
the package) and the type bfloat16 (`_native/number_types`), and, where llvmlite is there, the
kernels of eager programs, compiled ahead of time (`_native/prebuilt`). RUSHLIGHT_KERNELS=0 leaves
them out, RUSHLIGHT_KERNELS=1 requires them.

Only the commands that need extension modules compile; an editable install never does, so that an
edit of the core is what runs next. Everything else about the package stands in `pyproject.toml`.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from setuptools import Distribution, Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
SOURCE = ROOT / "src" / "rushlight"
STAGE = ROOT / "build" / "stage"
C_CODE = ROOT / "build" / "c"

#: What the core imports and mypyc must see beside it: layer 0 and the types of the arrays.
BELOW_THE_CORE = (
    "_base/annotations.py",
    "_base/errors.py",
    "_base/dtypes.py",
    "_base/device.py",
    "_base/schema.py",
    "_base/lazy.py",
    "_base/fork_locks.py",
    "_base/mypyc_words.py",
    "_array/annotations.py",
    "_array/narrow.py",
    "_array/types.py",
    "_array/kernels/__init__.py",
    "_array/axes.py",
    "_array/shape/as_strided.py",
    "_array/shape/strided.py",
)

#: One shared library for all modules, in the package; `storage.so` and the others are its doors.
LIBRARY = "rushlight._core.engine_room"

KERNELS = ROOT / "build" / "kernels"

#: The parts of `_native` that are written in C.
C_FOLDERS = ("collector", "number_types", "ufunc_loops")

#: What only builds run: wheels do without.
FOR_BUILDS = {
    "rushlight/_array/kernels/foreseen.py",
    "rushlight/_compile/foreseen_steps.py",
    "rushlight/_compile/kernels_ahead.py",
    "rushlight/_native/llvm/prebuilt_objects.py",
}

#: mypy with its compiler; asked for only by builds that will compile.
MYPYC = ["mypy>=1.18", "types-setuptools"]

#: What compiles kernels.
LLVM = ["llvmlite>=0.45"]
#: For its interface in C, and what imports the package needs it.
NUMPY = ["numpy>=2.0"]
#: Where there are no wheels of llvmlite: asking for it would fail the build.
WITHOUT_LLVM = "musl" in (sysconfig.get_config_var("SOABI") or "")

KERNEL_SETTING = os.environ.get("RUSHLIGHT_KERNELS", "")
SETTING = os.environ.get("RUSHLIGHT_PURE", "")
FORBIDDEN = SETTING not in ("", "0")
REQUIRED = SETTING == "0"


class CannotCompile(Exception):
    """Says in one line why the core stays plain Python."""


def say(line: str) -> None:
    """Prints one line about the build, kept apart from pip's and the compiler's own output."""
    print(f"rushlight: {line}", file=sys.stderr, flush=True)


def check_compiler() -> None:
    """Raises CannotCompile unless a C file that includes Python.h compiles here."""
    from setuptools._distutils import ccompiler, sysconfig as of_compiler

    try:
        compiler = ccompiler.new_compiler()
        of_compiler.customize_compiler(compiler)
        with tempfile.TemporaryDirectory() as folder, silence():
            probe = Path(folder, "probe.c")
            probe.write_text("#include <Python.h>\nint rushlight_probe(void) { return 0; }\n")
            compiler.compile(
                [str(probe)], output_dir=folder, include_dirs=[sysconfig.get_paths()["include"]]
            )
    except Exception as error:
        raise CannotCompile(f"no working C compiler with Python's headers ({error})") from None


@contextlib.contextmanager
def silence():
    """Swallows what child processes write: a compiler that is missing is no error here."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            os.close(kept[0])
            os.close(kept[1])


def stage() -> list[str]:
    """Copies the core and what it may import to a tree of their own; gives the paths to compile.

    mypy follows imports from every parent package, so beside the real `__init__.py` it would check
    the whole of Rushlight before it compiles a tenth of it.
    """
    shutil.rmtree(STAGE, ignore_errors=True)
    core = STAGE / "rushlight" / "_core"
    core.mkdir(parents=True)
    (STAGE / "rushlight" / "_array").mkdir()
    for package in ("", "_array", "_core"):
        (STAGE / "rushlight" / package / "__init__.py").touch()
    for name in BELOW_THE_CORE:
        folder = (STAGE / "rushlight" / name).parent
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
        shutil.copy2(SOURCE / name, STAGE / "rushlight" / name)
    modules = sorted(p for p in (SOURCE / "_core").glob("*.py") if p.name != "__init__.py")
    for path in modules:
        shutil.copy2(path, core / path.name)
    return [f"rushlight/_core/{path.name}" for path in modules]


def compiled_core() -> list[Extension]:
    """Gives the extension modules of the core, their C already written; raises CannotCompile."""
    check_compiler()
    try:
        from mypyc.build import mypycify
    except ImportError:
        raise CannotCompile("mypy, which compiles it, is not installed") from None
    paths = stage()
    C_CODE.mkdir(parents=True, exist_ok=True)
    options = [
        "--config-file=",
        f"--cache-dir={ROOT / 'build' / 'mypy_cache'}",
        "--no-site-packages",
        "--ignore-missing-imports",
    ]
    said = io.StringIO()
    # From inside the stage: tracebacks then name `rushlight/_core/x.py`, found on sys.path.
    os.chdir(STAGE)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            extensions = mypycify(
                [*options, *paths], group_name=LIBRARY, target_dir=str(C_CODE), debug_level="0"
            )
    except (Exception, SystemExit) as error:
        lines = [line for line in said.getvalue().splitlines() if line.strip()]
        first = next((line for line in lines if "error:" in line), str(error))
        if REQUIRED:
            say("\n".join(lines))
        raise CannotCompile(f"mypyc does not take it ({first.strip()})") from None
    finally:
        os.chdir(ROOT)
    for extension in extensions:
        extension.sources = [os.path.relpath(path, ROOT) for path in extension.sources]
    return extensions


def compiled_kernels() -> list[Extension]:
    """Gives an extension module for each set of instructions, its objects already compiled.

    There are none where llvmlite isn't, with one line that says so.
    """
    if KERNEL_SETTING == "0":
        return []
    KERNELS.mkdir(parents=True, exist_ok=True)
    # An isolated build finds llvmlite and NumPy by a path of its own.
    path = os.pathsep.join(filter(None, [str(SOURCE.parent), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "RUSHLIGHT_PURE": "1", "RUSHLIGHT_NATIVE": "0"}
    run = {"env": environment, "cwd": KERNELS, "text": True, "stdout": subprocess.PIPE}
    asked = "from rushlight._native import prebuilt; print(*prebuilt.sets())"
    try:
        import llvmlite.binding  # noqa: F401 -- whether it is here

        done = subprocess.run([sys.executable, "-c", asked], check=True, **run)
        command = [sys.executable, "-m", "rushlight._compile.kernels_ahead", str(KERNELS)]
        running = {name: subprocess.Popen([*command, name], **run) for name in done.stdout.split()}
        written = {name: one.communicate()[0].split("\n") for name, one in running.items()}
        failed = [name for name, one in running.items() if one.returncode]
        if failed:
            raise OSError(f"no objects for {', '.join(failed)}")
    except (ImportError, OSError, subprocess.CalledProcessError) as error:
        if KERNEL_SETTING == "1":
            raise SystemExit(f"rushlight: RUSHLIGHT_KERNELS=1, but {error}") from None
        say(f"no kernels are compiled ahead of time: {error}")
        return []
    return [
        Extension(
            f"rushlight._native.prebuilt.{name}",
            [os.path.relpath(paths[0], ROOT)],
            extra_objects=[path for path in paths[1:] if path],
            libraries=["m"] if os.name == "posix" else [],
            # Names of functions: only the table leads to them.
            extra_link_args=["-Wl,-s"] if sys.platform == "linux" else [],
        )
        for name, paths in written.items()
    ]


def compiled_loops() -> list[Extension]:
    """Gives the modules for small arrays and bfloat16: none without NumPy, with one line."""
    try:
        import numpy
    except ImportError:
        say("no functions on small arrays, no bfloat16: NumPy is not installed where this is built")
        return []
    return [
        Extension(
            f"rushlight._native.{folder.name}.{source.stem}",
            [os.path.relpath(source, ROOT)],
            include_dirs=[numpy.get_include()],
            depends=[str(path) for path in folder.glob("*.h")],
            libraries=["m"] if os.name == "posix" else [],
            # Products and sums are rounded one by one, as NumPy rounds them.
            extra_compile_args=["-ffp-contract=off"] if os.name == "posix" else [],
        )
        for folder in (SOURCE / "_native" / name for name in C_FOLDERS)
        for source in sorted(folder.glob("*.c"))
    ]


class BuildCore(build_ext):
    """Compiles all of the core or none of it."""

    def run(self) -> None:
        """Builds the extension modules; when that fails, removes what was built and says so."""
        try:
            super().run()
        except Exception as error:
            if REQUIRED:
                raise
            for output in self.get_outputs():
                Path(output).unlink(missing_ok=True)
            self.extensions = []
            say(f"the core stays plain Python: the C compiler failed ({str(error)[:100]})")
        else:
            kernels = [e.name.rpartition(".")[2] for e in self.extensions if "prebuilt" in e.name]
            core = [e.name for e in self.extensions if "_core." in e.name]
            say(f"the core is compiled ({len(core) - 1} modules)")
            if kernels:
                say(f"kernels are compiled for {' and '.join(kernels)}")


class SmallWheel(bdist_wheel):
    """The wheel, packed as tightly as its format can, without what only builds run."""

    def run(self) -> None:
        """Writes the wheel, and packs it again."""
        super().run()
        made = Path(self.distribution.dist_files[-1][2])
        packed = made.with_suffix(".packed")
        with zipfile.ZipFile(made) as old, zipfile.ZipFile(packed, "w") as new:
            for entry in old.infolist():
                body = old.read(entry)
                if entry.filename in FOR_BUILDS:
                    continue
                if entry.filename.endswith(".dist-info/RECORD"):
                    lines = body.decode().splitlines(keepends=True)
                    kept = [line for line in lines if line.split(",")[0] not in FOR_BUILDS]
                    body = "".join(kept).encode()
                new.writestr(entry, body, zipfile.ZIP_DEFLATED, compresslevel=9)
        packed.replace(made)


class Project(Distribution):
    """Has an editable install take `rushlight.pth` along: setuptools asks for `has_data` there."""

    def has_data(self) -> bool:
        """Whether there are files that lie beside the package."""
        return bool(self.has_data_files())


def main() -> None:
    """Sets up the package, with extension modules where they are asked for and possible."""
    commands: dict[str, type] = {"bdist_wheel": SmallWheel}
    options: dict[str, object] = {"distclass": Project, "cmdclass": commands}
    if not FORBIDDEN and "egg_info" in sys.argv:
        # This is how a build front end asks what it must install before it builds.
        options["setup_requires"] = MYPYC + NUMPY + ([] if WITHOUT_LLVM else LLVM)
    elif not FORBIDDEN and {"build", "build_ext", "bdist_wheel", "install"} & set(sys.argv):
        try:
            options["ext_modules"] = [*compiled_core(), *compiled_loops(), *compiled_kernels()]
            commands["build_ext"] = BuildCore
        except CannotCompile as error:
            if REQUIRED:
                raise SystemExit(f"rushlight: RUSHLIGHT_PURE=0, but {error}") from None
            say(f"the core stays plain Python: {error}")
    setup(**options)


main()
