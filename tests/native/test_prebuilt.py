"""Kernels that come with the package: found by their text, with the digits of compiled ones."""

import shutil
import subprocess
import sys
import sysconfig
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from rushlight._base.lazy import Function
from rushlight._formula.ir import row_top, trace
from rushlight._native import prebuilt
from rushlight._native.fusion.row_loops import lower_group
from rushlight._native.llvm import target
from rushlight._native.llvm.emit import F32, F64, I64, Module
from rushlight._native.llvm.prebuilt_objects import Collected
from tests.native.subprocesses import run

pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

#: Digests of what eager operations give on arrays that are large enough for kernels.
DIGITS = """
    import hashlib, sys
    from rushlight._native import prebuilt
    if sys.argv[1:]:
        prebuilt.__path__.insert(0, sys.argv[1])
    import rushlight as torch
    from rushlight._array import kernels
    from rushlight._native.llvm import loader
    kernels.LEAST = 16384  # kernels of the package are asked from fewer elements
    F = torch.nn.functional
    torch.manual_seed(3)

    def leaf(*shape, dtype=torch.float32):
        # Normals of float64 take the C library's functions or NumPy's, which differ in a digit.
        return torch.randn(*shape).to(dtype).requires_grad_()

    def shown(name, made, *leaves):
        made.backward(torch.ones_like(made) * 0.5)
        found = hashlib.sha256()
        for x in (made.detach(), *(leaf.grad for leaf in leaves)):
            found.update(x.contiguous().numpy().tobytes())
        print(name, found.hexdigest()[:16])

    for dtype in (torch.float32, torch.float64):
        for columns in (33, 300, 1000):
            x, w, b = leaf(200, columns, dtype=dtype), leaf(columns, dtype=dtype), None
            shown("layer norm", F.layer_norm(x, (columns,), w, b), x, w)
            x = leaf(200, columns, dtype=dtype)
            shown("softmax", F.softmax(x, -1), x)
            x = leaf(600, columns, dtype=dtype)
            shown("cross entropy", F.cross_entropy(x, torch.arange(600) % columns), x)
        x = leaf(200, 300, dtype=dtype)
        shown("gelu", F.gelu(x), x)
        a, b = leaf(200, 300, dtype=dtype), leaf(300, 200, dtype=dtype)
        shown("product", a @ b, a, b)
        x, w = leaf(4, 8, 30, 30, dtype=dtype), leaf(16, 8, 3, 3, dtype=dtype)
        shown("convolution", F.conv2d(x, w, padding=1), x, w)
        shown("pooling", F.max_pool2d(x, 2), x)
        shown("running sums", x.cumsum(-1), x)
        p = leaf(200, 300, dtype=dtype)
        for kind in (torch.optim.Adam, torch.optim.SGD):
            p.grad = torch.ones_like(p)
            kind([p], lr=0.1).step()
            print("step", hashlib.sha256(p.detach().numpy().tobytes()).hexdigest()[:16])
    print("statistics", loader.statistics["built"] > 0,
          loader.statistics["compiled"] + loader.statistics["read"])
"""

#: Compiles some of the kernels that DIGITS uses, for the vectors of this machine.
SOME = """
    import sys
    from pathlib import Path
    from rushlight._array.kernels import foreseen, launch
    from rushlight._native.cpython import kernel_call
    from rushlight._native.emitted import gemm
    from rushlight._native.llvm import loader
    from rushlight._native.llvm.emit import F32
    from rushlight._native.llvm.prebuilt_objects import Collected
    from rushlight._native.threads import thread_pool
    from rushlight._table import ROWS

    collected = Collected()
    loader.record(collected)
    launch.PROBE.compile(launch.FLOAT32, None, False)
    thread_pool.runner(), kernel_call.entry(), gemm.load_chunks(F32)
    for name in ("softmax", "gelu"):
        for kernel in foreseen.of_table([ROWS[name][0].op.raw]):
            foreseen.every_form(kernel)
    for path in collected.write({name!r}, Path({folder!r})):
        print(path)
"""

KEYS = """
    from hashlib import sha256
    from rushlight._compile import kernels_ahead
    collected = kernels_ahead.collect({name!r})
    found = sorted(collected.texts) + sorted(collected.recipes.items())
    print(len(collected.texts), sha256(repr(found).encode()).hexdigest())
    print(len(set(collected.recipes.values())) == len(collected.recipes) > 1000)
"""


def _keys(**environment: str) -> str:
    return run(KEYS.format(name=_host()), RUSHLIGHT_NATIVE="0", **environment)


def _host() -> str:
    width = target.machine().width
    return next(name for name, found in prebuilt.sets().items() if found.width == width)


def _module(amount: int, other: dict[str, int] | None = None) -> Module:
    module = Module(f"add_{amount}")
    f = module.function("add", [("a", I64)], I64)
    for name, address in (other or {}).items():
        module.external(name, address, [])
    f.ret(f.params[0] + amount)
    return module


def test_modules_are_collected_once_under_names_of_their_own() -> None:
    collected = Collected()
    one, two = _module(1), _module(2)
    first = collected(one, str(one))
    assert collected(one, str(one)) == first
    assert collected(two, str(two))["add"] != first["add"]
    keys = [prebuilt.key_of(str(module)) for module in (one, two)]
    symbols = [collected.symbol(key, "add") for key in collected.texts]
    assert symbols == [f"rl_{key[:16]}_add" for key in keys]


def test_what_a_module_imports_is_known_by_its_address() -> None:
    collected = Collected()
    one = _module(1)
    address = collected(one, str(one))["add"]
    caller = _module(2, {"added": address})
    collected(caller, str(caller))
    added = collected.symbol(prebuilt.key_of(str(one)), "add")
    assert collected.imports[prebuilt.key_of(str(caller))] == {"added": added}


@pytest.mark.slow
def test_each_process_writes_the_same_texts() -> None:
    found = {_keys(PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert len(found) == 1
    assert int(found.pop().split()[0]) > 1000


@pytest.mark.slow
def test_they_are_not_collected_by_a_process_that_would_call_them() -> None:
    code = textwrap.dedent(KEYS.format(name=_host()))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "kernels are collected with RUSHLIGHT_NATIVE=0" in done.stderr


def test_turned_off_it_says_so() -> None:
    code = "from rushlight._native import prebuilt; print(prebuilt.library(), prebuilt.describe())"
    assert run(code, RUSHLIGHT_PREBUILT="0").split(maxsplit=1) == [
        "None",
        "none (RUSHLIGHT_PREBUILT=0)\n",
    ]


def test_an_object_is_made_once(tmp_path: Path) -> None:
    collected = Collected()
    for amount in (1, 2):
        collected(_module(amount), str(_module(amount)))
    first = collected.write(_host(), tmp_path)
    times = [path.stat().st_mtime_ns for path in first[1:]]
    collected(_module(3), str(_module(3)))
    assert len(set(collected.write(_host(), tmp_path)) - set(first)) == 1
    assert [path.stat().st_mtime_ns for path in first[1:]] == times


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an extension module of some kernels."""
    folder = tmp_path_factory.mktemp("prebuilt")
    linker = (sysconfig.get_config_var("LDSHARED") or "").split()
    if not linker or shutil.which(linker[0]) is None:
        pytest.skip("there is no C compiler")
    written = run(SOME.format(name=_host(), folder=str(folder)))
    to = folder / f"{_host()}{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = sysconfig.get_paths()["include"]
    command = [*linker, "-fPIC", "-O1", f"-I{include}", *written.split(), "-lm", "-o", str(to)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode and "Python.h" in done.stderr:
        pytest.skip("Python's headers aren't here")
    assert done.returncode == 0, done.stderr
    return folder


def _digits(folder: Path | None, **environment: str) -> tuple[list[str], str]:
    arguments = [] if folder is None else [str(folder)]
    lines = run(f"import sys; sys.argv[1:] = {arguments!r}\n" + _plain(DIGITS), **environment)
    *digits, end = lines.splitlines()
    return digits, end


def _plain(code: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in code.splitlines())


@pytest.mark.slow
def test_kernels_of_the_package_give_the_digits_of_compiled_ones(some: Path) -> None:
    compiled, end = _digits(None, RUSHLIGHT_PREBUILT="0")
    assert end.startswith("statistics False")
    found, end = _digits(some, RUSHLIGHT_CACHE="0")
    assert end.startswith("statistics True")
    assert found == compiled


def test_code_is_found_by_its_text_alone(some: Path) -> None:
    code = f"""
        from rushlight._native import prebuilt
        prebuilt.__path__.insert(0, {str(some)!r})
        from rushlight._native.emitted import gemm, transpose
        from rushlight._native.llvm.emit import F32
        key = prebuilt.key_of(str(gemm.emit(F32)))
        imported = {{"transpose_f32": transpose.addresses(F32)["transpose"]}}
        print(sorted(prebuilt.find(key, imported)))
        print(prebuilt.find(key, {{"transpose_f32": 16}}), prebuilt.find(key, {{}}))
        print(prebuilt.find(prebuilt.key_of(str(gemm.emit(F32)) + " "), imported))
        prebuilt.VERSION += 1
        print(prebuilt.find(prebuilt.key_of(str(gemm.emit(F32))), imported))
    """
    assert run(code).splitlines() == ["['gemm', 'gemm_chunks']", "None None", "None", "None"]


MADE = """
    from rushlight._native import prebuilt
    prebuilt.__path__.insert(0, {folder!r})
    from rushlight._native.emitted import gemm
    from rushlight._native.llvm import loader
    from rushlight._native.llvm.emit import F32, F64
    made = []
    def emit(type, emit=gemm.emit):
        made.append(type)
        return emit(type)
    emit.__module__, emit.__qualname__ = gemm.emit.__module__, gemm.emit.__qualname__
    found = loader.load_made(emit, F32)
    print(sorted(found), len(made), prebuilt.find_made(emit, (F64,)), prebuilt.find_made(emit, ()))
    prebuilt._same_sources.cache_clear()
    prebuilt.digest_sources = lambda: {digest!r}
    print(loader.load_made(emit, F32) == found, len(made), loader.statistics["compiled"])
"""


@pytest.mark.parametrize("digest", ["", "0123"])
def test_what_is_found_by_its_recipe_is_not_made(some: Path, digest: str) -> None:
    said = run(MADE.format(folder=str(some), digest=digest)).splitlines()
    assert said == ["['gemm', 'gemm_chunks'] 0 None None", "True 1 0"]


def test_a_change_of_any_writers_source_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(prebuilt.__file__).parents[2]
    for part in ("_native", "_formula"):
        shutil.copytree(package / part, tmp_path / part)
    here = prebuilt.digest_sources()
    assert here
    monkeypatch.setattr(prebuilt, "__file__", str(tmp_path / "_native/prebuilt/__init__.py"))
    assert prebuilt.digest_sources() == here
    for name in ("_native/fusion/lowering.py", "_native/math/exponential.py", "_formula/ir.py"):
        path = tmp_path / name
        before = path.read_bytes()
        path.write_bytes(before + b"#")
        assert prebuilt.digest_sources() != here, name
        path.write_bytes(before)
    (tmp_path / "_formula/ir.py").rename(tmp_path / "_formula/ri.py")
    assert prebuilt.digest_sources() != here
    (tmp_path / "_formula/gone.py").symlink_to(tmp_path / "nowhere")
    assert prebuilt.digest_sources() == ""


def test_a_writer_that_isn_t_loaded_has_the_recipe_of_itself() -> None:
    later = Function("_native.emitted.gemm:emit")
    assert prebuilt.recipe_of(later, (F32,)) == prebuilt.recipe_of(later.find(), (F32,))
    assert prebuilt.recipe_of(later, (F32,)) != prebuilt.recipe_of(later, (F64,))


def test_recipes_tell_constants_apart_to_the_last_digit() -> None:
    def recipe(number: float) -> str:
        group = trace("scaled", lambda x: x * number, {"x": ("f", "f64")})
        return prebuilt.recipe_of(lower_group, (group, 8))

    numbers = [0.1, 0.10000000000000002, 0.0, -0.0, float("inf"), float("nan")]
    assert len({recipe(number) for number in numbers}) == len(numbers)


def test_recipes_tell_the_shifts_of_rows_apart() -> None:
    group = trace("top", row_top, {"x": ("f", "f64")})
    shifted = [
        replace(group, body=(replace(group.body[0], payload=shift),)) for shift in (None, 0.0, 80.0)
    ]
    assert len({prebuilt.recipe_of(lower_group, (one, 8)) for one in shifted}) == 3
    assert len({str(one) for one in shifted}) == 3


@pytest.mark.skipif(not prebuilt.present(), reason="the package was built without kernels")
def test_eager_operations_ask_for_nothing_else() -> None:
    compiled, _ = _digits(None, RUSHLIGHT_PREBUILT="0", PYTHONPATH=":".join(sys.path))
    found, end = _digits(None, PYTHONPATH=":".join(sys.path))
    assert end == "statistics True 0"
    assert found == compiled


WITHOUT = """
    import sys, warnings
    warnings.simplefilter("error")
    sys.modules["llvmlite"] = None  # as if it were not installed
    from rushlight._native import prebuilt
    prebuilt.__path__.insert(0, {folder!r})
    import rushlight as torch
    from rushlight import __config__
    from rushlight._array import kernels
    from rushlight._native.llvm import loader, target
    x = torch.randn(200, 300, requires_grad=True)
    y = torch.softmax(x, -1)
    torch.tanh(x.detach()), torch.nn.functional.gelu(x).sum().backward()
    print(target.available(), target.compiles(), kernels.LEAST < sys.maxsize)
    print(loader.statistics["built"] > 0, loader.statistics["compiled"])
    print(sorted(loader.unforeseen))
    step = torch.compile(lambda x: (x * 2).sum())
    for _ in range(3):
        assert step(torch.ones(5)).item() == 10
    print(any("llvmlite" in line for line in str(step.explain()).splitlines()))
    print([line for line in __config__.show().splitlines() if "kernels of" in line])
"""


def test_without_llvmlite_what_is_there_runs_and_the_rest_is_numpys(some: Path) -> None:
    said = run(WITHOUT.format(folder=str(some)), RUSHLIGHT_NATIVE="1").splitlines()
    assert said[:2] == ["True False True", "True 0"]
    assert said[2] != "[]" and "softmax_f32" not in said[2]
    assert said[3] == "True"
    assert f"for {_host()}" in said[4]


PERCEPTRONS = """
    import sys
    sys.modules["llvmlite"] = None  # as if it were not installed
    import rushlight as torch
    from rushlight import nn
    from rushlight._native.llvm import loader
    def losses(wrap, activation, batch, width, classes, rule):
        torch.manual_seed(0)
        model = nn.Sequential(
            nn.Linear(4, width), activation(), nn.Linear(width, width + 1), activation(),
            nn.Linear(width + 1, classes))
        optimizer = rule(model.parameters(), lr=0.01)
        x, y = torch.randn(batch, 4), torch.randint(classes, (batch,))
        def step(x, y):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        call = wrap(step)
        found = [call(x, y).item() for _ in range(5)]
        if wrap is not plain:
            assert call.machine is not None, call.explain()
        return found
    def plain(step):
        return step
    sizes = [(2, 5, 2), (7, 33, 3), (32, 64, 10), (128, 130, 1000)]
    kinds = [nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.SiLU]
    for k, activation in enumerate(kinds):
        for size in sizes:
            rule = torch.optim.Adam if k % 2 else torch.optim.SGD
            ours = losses(torch.compile, activation, *size, rule)
            theirs = losses(plain, activation, *size, rule)
            close = [abs(a - b) <= 1e-5 * abs(b) for a, b in zip(ours, theirs)]
            assert all(close), (size, ours, theirs)
    print(loader.statistics["compiled"])
"""


@pytest.mark.skipif(prebuilt.library() is None, reason="no kernels came with the package")
def test_the_steps_of_perceptrons_need_no_compiler() -> None:
    said = run(PERCEPTRONS, RUSHLIGHT_NATIVE="1", PYTHONPATH=":".join(sys.path))
    assert said.strip() == "0", said


FIRST = """
    import rushlight as torch
    from rushlight._native import prebuilt
    from rushlight._compile.step import CompiledStep
    F = torch.nn.functional
    step = CompiledStep(lambda x: F.gelu(F.layer_norm(x, (20,))))
    assert not prebuilt._same_sources.cache_info().currsize
    step(torch.ones(900, 20))
    print(prebuilt._same_sources.cache_info().currsize, len(step.recordings), step.explain())
"""


@pytest.mark.skipif(prebuilt.library() is None, reason="no kernels came with the package")
def test_a_step_that_asks_for_the_first_kernels_is_recorded() -> None:
    said = run(FIRST, RUSHLIGHT_NATIVE="1", PYTHONPATH=":".join(sys.path))
    assert said.startswith("1 1"), said
