"""Makes the extension modules of `prebuilt`: objects by LLVM, and a table of them in C.

    collected = Collected()
    loader.record(collected)             # from now on modules are collected, and none is loaded
    ...                                  # whatever loads modules
    written = collected.write("x86_64_v4", folder)   # the paths of objects and of a C file

Functions of several modules are linked into one object, under names of their own: `rl_`, the start
of the module's key, and their name in it. They are hidden: only the table leads to them. Which
modules share an object is said by their keys, and what is in it by its name: an object that lies in
the folder is taken as it is, so a change of a few formulas compiles a few objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..prebuilt import DIGITS, SETS, Instructions, digest_sources, key_of, recipe_of
from .llvmlite_binding import binding

if TYPE_CHECKING:
    from .emit import Module

#: Objects: few files for the linker, and each is compiled in a second.
_OBJECTS: Final = 32
_WORD: Final = 16  # addresses that stand for functions are so far apart


@cache
def _backends() -> None:
    llvm = binding()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


class Collected:
    """Modules that were asked for, in order; each of their functions has a number as its address.

    An address that another module imports is such a number.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.names: dict[str, list[str]] = {}
        self.imports: dict[str, dict[str, str]] = {}
        self.recipes: dict[str, str] = {}  # by key, of those that are found by one
        self.others: dict[str, str] = {}  # more recipes, and the keys of what they make
        self._symbols: dict[int, str] = {}
        self._addresses: dict[str, dict[str, int]] = {}

    def __call__(self, module: Module, text: str) -> dict[str, int]:
        key = key_of(text)
        known = self._addresses.get(key)
        if known is None:
            self.texts[key] = text
            self.imports[key] = {n: self._symbols[place] for n, place in module.imports.items()}
            self.names[key] = [f.name for f in module.functions if not f.internal]
            known = self._addresses[key] = {}
            for name in self.names[key]:
                known[name] = _WORD * (len(self._symbols) + 1)
                self._symbols[known[name]] = self.symbol(key, name)
        return known

    def make(self, make: Callable[..., Module], arguments: tuple[object, ...]) -> dict[str, int]:
        """As a call with `make(*arguments)`."""
        module = make(*arguments)
        text = str(module)
        found = self(module, text)
        key, recipe = key_of(text), recipe_of(make, arguments)
        if self.recipes.setdefault(key, recipe) != recipe:
            self.others[recipe] = key
        return found

    def symbol(self, key: str, name: str) -> str:
        """What a module's function is called in the objects."""
        return f"rl_{key[:16]}_{name}"

    def write(self, name: str, folder: Path) -> list[Path]:
        """Compiles all for a set of instructions: the paths of the C file and of the objects."""
        machine = next(sets[name] for sets in SETS.values() if name in sets)
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / f"{name}.c"]
        written[0].write_text(_in_c(name, self))
        version = binding().llvm_version_info
        for number in range(_OBJECTS):
            keys = sorted(k for k in self.texts if int(k[:8], 16) % _OBJECTS == number)
            if not keys:
                continue
            content = sha256(f"{name} {version} {keys}".encode()).hexdigest()
            path = folder / f"{name}_{content[:16]}.o"
            if not path.exists():
                made = path.with_suffix(".part")
                made.write_bytes(self._object(keys, machine))
                made.replace(path)
            written.append(path)
        return written

    def _object(self, keys: list[str], machine: Instructions) -> bytes:
        llvm = binding()
        _backends()
        triple = llvm.get_process_triple()
        compiler = llvm.Target.from_triple(triple).create_target_machine(
            cpu=machine.cpu, features=machine.features, opt=2, reloc="pic", codemodel="default"
        )
        whole: Any = None
        for key in keys:
            part = llvm.parse_assembly(self.texts[key])
            part.triple, part.data_layout = triple, str(compiler.target_data)
            symbols = {name: self.symbol(key, name) for name in self.names[key]}
            for function in list(part.functions):
                new = symbols.get(function.name) or self.imports[key].get(function.name)
                if new is None:
                    continue
                if function.name in symbols:
                    function.visibility = "hidden"
                function.name = new
            part.verify()
            if whole is None:
                whole = part
            else:
                whole.link_in(part)
        return bytes(compiler.emit_object(whole))


def _in_c(name: str, collected: Collected) -> str:
    """The extension module in C: its tables, and the functions that read them."""
    symbols: list[str] = []
    modules: list[str] = []
    functions: list[str] = []
    imports: list[str] = []
    again: list[str] = []
    for key, names in collected.names.items():
        asked = collected.imports[key]
        recipe = collected.recipes.get(key, "")[:DIGITS]
        places = f"{len(functions)}, {len(names)}, {len(imports)}, {len(asked)}"
        modules.append(f'{{"{key[:DIGITS]}", "{recipe}", {places}}}')
        again += [f'{{"", "{other[:DIGITS]}", {places}}}'
                  for other, made in collected.others.items() if made == key]  # fmt: skip
        for one in names:
            symbol = collected.symbol(key, one)
            symbols.append(symbol)
            functions.append(f'{{"{one}", {symbol}}}')
        imports += [f'{{"{one}", {symbol}}}' for one, symbol in asked.items()]
    text = _C.replace("NAME", name).replace("SUPPORTED", _ASKED[name])
    text = text.replace("SOURCES", digest_sources())
    for word, lines in (
        ("SYMBOLS", [f"void {s}(void);" for s in symbols]),
        ("MODULES", [f"    {line}," for line in modules + again]),
        ("FUNCTIONS", [f"    {line}," for line in functions]),
        ("IMPORTS", [f"    {line}," for line in imports]),
    ):
        text = text.replace(f"/* {word} */", "\n".join(lines))
    return text


_X86: Final = """
#if defined(_MSC_VER)
    int ones[4], sevens[4];
    __cpuid(ones, 1);
    __cpuidex(sevens, 7, 0);
    /* The system keeps the vectors: OSXSAVE, then the bits of its mask. */
    if (!(ones[2] >> 27 & 1) || (_xgetbv(0) & MASK) != MASK) return 0;
    return (ones[2] >> 12 & 1) && (ones[2] >> 29 & 1) && (sevens[1] & BITS) == BITS;
#else
    __builtin_cpu_init();
    return TESTS;
#endif
"""
_V3: Final = ("avx2", "fma", "bmi", "bmi2", "popcnt")
_V4: Final = (*_V3, "avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd")


def _x86(features: tuple[str, ...], mask: str, bits: str) -> str:
    tests = " && ".join(f'__builtin_cpu_supports("{f}")' for f in features)
    return _X86.replace("TESTS", tests).replace("MASK", mask).replace("BITS", bits)


_ASKED: Final[Mapping[str, str]] = {
    "x86_64_v3": _x86(_V3, "0x6", "0x128"),
    "x86_64_v4": _x86(_V4, "0xE6", "(int)0xD0030128"),
    "arm64": "    return 1;",
}

_C: Final = """\
/* Made by rushlight._native.llvm.prebuilt_objects: kernels that were compiled from LLVM's text. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>
#if defined(_MSC_VER)
#include <intrin.h>
#include <immintrin.h>
#endif

/* SYMBOLS */

struct place { const char *name; void (*address)(void); };
struct module { const char *key, *recipe; int first, count, first_import, imports; };

static const struct place functions[] = {
/* FUNCTIONS */
    {NULL, NULL}
};
static const struct place imports[] = {
/* IMPORTS */
    {NULL, NULL}
};
static const struct module modules[] = {
/* MODULES */
    {NULL, NULL, 0, 0, 0, 0}
};

static int can_run(void)
{
SUPPORTED
}

static PyObject *supported(PyObject *self, PyObject *nothing)
{
    return PyBool_FromLong(can_run());
}

static PyObject *named(const struct place *start, int count)
{
    PyObject *found = PyDict_New();
    for (int k = 0; found != NULL && k < count; k++) {
        PyObject *address = PyLong_FromVoidPtr((void *)start[k].address);
        if (address == NULL || PyDict_SetItemString(found, start[k].name, address) < 0)
            Py_CLEAR(found);
        Py_XDECREF(address);
    }
    return found;
}

/* (addresses by name, those of the functions that are imported), or None. */
static PyObject *find(PyObject *self, PyObject *wanted)
{
    const char *key = PyUnicode_AsUTF8(wanted);
    if (key == NULL)
        return NULL;
    for (const struct module *m = modules; m->key != NULL; m++)
        if (strcmp(m->key, key) == 0)
            return Py_BuildValue("(NN)", named(functions + m->first, m->count),
                                 named(imports + m->first_import, m->imports));
    Py_RETURN_NONE;
}

/* The addresses by name of what was made in one way, or None. */
static PyObject *find_made(PyObject *self, PyObject *wanted)
{
    const char *recipe = PyUnicode_AsUTF8(wanted);
    if (recipe == NULL)
        return NULL;
    for (const struct module *m = modules; *recipe && m->key != NULL; m++)
        if (strcmp(m->recipe, recipe) == 0)
            return named(functions + m->first, m->count);
    Py_RETURN_NONE;
}

static PyObject *sources(PyObject *self, PyObject *nothing)
{
    return PyUnicode_FromString("SOURCES");
}

static PyObject *keys(PyObject *self, PyObject *nothing)
{
    PyObject *found = PyList_New(0);
    for (const struct module *m = modules; found != NULL && m->key != NULL; m++) {
        if (!*m->key)
            continue;
        PyObject *key = PyUnicode_FromString(m->key);
        if (key == NULL || PyList_Append(found, key) < 0)
            Py_CLEAR(found);
        Py_XDECREF(key);
    }
    return found;
}

static PyMethodDef methods[] = {
    {"find", find, METH_O, "The addresses of a module's functions, and of those it imports."},
    {"find_made", find_made, METH_O, "The addresses of the functions that were made in one way."},
    {"sources", sources, METH_NOARGS, "The digest of the sources that they were written by."},
    {"keys", keys, METH_NOARGS, "The digests of all modules."},
    {"supported", supported, METH_NOARGS, "Whether the processor has the instructions."},
    {NULL, NULL, 0, NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "NAME", "Kernels compiled ahead of time.", -1, methods
};

PyMODINIT_FUNC PyInit_NAME(void)
{
    return PyModule_Create(&definition);
}
"""
