"""`torch` means Rushlight: a process of its own for each test, since installing it is for good."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import rushlight
from rushlight._torch.alias import TORCH_VERSION

VERSION = rushlight._base.version.__version__


def python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
    )


def aliased(code: str) -> str:
    """What the code prints after `install_as_torch()`."""
    done = python("-c", f"import rushlight\nrushlight.install_as_torch()\n{code}")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_torch_is_the_rushlight_module() -> None:
    assert aliased("import torch; print(torch is rushlight)") == "True"


def test_submodules_are_the_same_objects_whichever_name_loads_them_first() -> None:
    code = """
import torch.nn.functional as F, torch.autograd, rushlight.optim, torch.optim as optim
import rushlight.nn.functional
print(F is rushlight.nn.functional, torch.autograd is rushlight.autograd, optim is rushlight.optim)
"""
    assert aliased(code) == "True True True"


def test_a_class_is_the_same_under_both_names() -> None:
    code = """
from torch.nn import Parameter
import rushlight.nn, torch
print(Parameter is rushlight.nn.Parameter, isinstance(rushlight.ones(2), torch.Tensor))
"""
    assert aliased(code) == "True True"


def test_a_module_keeps_its_own_name_and_spec() -> None:
    code = "import torch.nn as nn; print(nn.__name__, nn.__spec__.name)"
    assert aliased(code) == "rushlight.nn rushlight.nn"


def test_the_version_says_which_torch_is_followed_and_by_whom() -> None:
    assert aliased("import torch; print(torch.__version__)") == TORCH_VERSION
    assert f"2.13.0+rushlight.{VERSION}" == TORCH_VERSION


def test_a_missing_module_names_torch_and_rushlight() -> None:
    code = """
try:
    import torch.nn.no_such_thing
except ModuleNotFoundError as error:
    print(error.name, error)
"""
    want = (
        "torch.nn.no_such_thing No module named 'torch.nn.no_such_thing' "
        f"(Rushlight {VERSION} does not have it; asked for at <string>:5)"
    )
    assert aliased(code) == want


@pytest.mark.parametrize("module", ["torch", "torch.nn"])
def test_a_missing_name_names_torch_and_rushlight(module: str) -> None:
    code = f"""
import {module}
try:
    {module}.no_such_thing
except AttributeError as error:
    print(error.name, error)
"""
    want = (
        f"no_such_thing module '{module}' has no attribute 'no_such_thing' "
        f"(Rushlight {VERSION} does not have it; asked for at <string>:6)"
    )
    assert aliased(code) == want


def test_a_misspelt_name_is_told_the_nearest_one() -> None:
    code = """
import torch
try:
    torch.nn.Linaer
except AttributeError as error:
    print(type(error).__name__, error)
"""
    assert aliased(code).endswith("asked for at <string>:6; the nearest name is torch.nn.Linear)")
    assert aliased(code).startswith("AttributeError module 'torch.nn'")


def test_a_name_that_is_only_probed_for_is_not_there() -> None:
    code = """
import importlib.util, torch
print(hasattr(torch, "no_such"), importlib.util.find_spec("torch.no_such"))
print(importlib.util.find_spec("torch.nn").submodule_search_locations == torch.nn.__path__)
"""
    assert aliased(code) == "False None\nTrue"


def test_importing_a_missing_name_is_an_import_error() -> None:
    code = """
try:
    from torch import no_such_thing
except ImportError as error:
    print(type(error).__name__, error)
"""
    want = "ImportError cannot import name 'no_such_thing' from 'torch' (Rushlight"
    assert aliased(code).startswith(want)


def test_installing_twice_changes_nothing() -> None:
    code = """
import sys
before = list(sys.meta_path)
rushlight.install_as_torch()
print(sys.meta_path == before)
"""
    assert aliased(code) == "True"


def test_another_torch_that_is_already_imported_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "torch/__init__.py", "")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport torch, rushlight\n"
    done = python("-c", code + "rushlight.install_as_torch()")
    assert done.returncode == 1
    assert "RuntimeError: install_as_torch: torch has already been imported" in done.stderr


def test_another_torch_that_is_only_installed_is_not_taken(tmp_path: Path) -> None:
    written(tmp_path, "torch/__init__.py", "raise SystemExit('the other torch')")
    written(tmp_path, "torch/only_there.py", "")
    code = f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
import torch
try:
    import torch.only_there
except ModuleNotFoundError:
    print(torch is rushlight)
"""
    assert aliased(code) == "True"


def test_a_script_sees_its_arguments_its_folder_and_the_name_main(tmp_path: Path) -> None:
    written(tmp_path, "beside.py", "here = 'beside'")
    path = written(
        tmp_path,
        "program.py",
        "import sys, torch, beside\n"
        "print(__name__, sys.argv, beside.here, __file__)\n"
        "print(sys.modules['__main__'].__dict__ is globals(), torch.ones(2).sum().item())\n",
    )
    done = python("-m", "rushlight", path, "-m", "--flag")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"__main__ {[path, '-m', '--flag']} beside {path}",
        "True 2.0",
    ]


def test_a_module_of_a_package_runs_with_its_relative_imports(tmp_path: Path) -> None:
    written(tmp_path, "package/__init__.py", "")
    written(tmp_path, "package/other.py", "import torch; total = torch.ones(3).sum().item()")
    written(
        tmp_path,
        "package/program.py",
        "import sys\nfrom .other import total\nprint(__name__, __package__, total, sys.argv[1:])\n",
    )
    written(tmp_path, "package/__main__.py", "print('the package', __package__)")
    done = python("-m", "rushlight", "-m", "package.program", "a", cwd=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("__main__ package 3.0 ['a']", "")
    done = python("-m", "rushlight", "-m", "package", cwd=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("the package package", "")


def test_a_module_of_torch_runs() -> None:
    done = python("-m", "rushlight", "-m", "torch.distributed.run", "--help")
    assert done.returncode == 0, done.stderr
    assert "--nproc-per-node" in done.stdout


def test_code_on_the_command_line_runs() -> None:
    done = python("-m", "rushlight", "-c", "import sys, torch; print(sys.argv, torch.ones(1))", "a")
    assert (done.stdout.strip(), done.stderr) == ("['-c', 'a'] tensor([1.])", "")


@pytest.mark.parametrize(
    ("ending", "status"), [("sys.exit(7)", 7), ("sys.exit()", 0), ("", 0), ("1 / 0", 1)]
)
def test_the_exit_status_is_the_programs(tmp_path: Path, ending: str, status: int) -> None:
    path = written(tmp_path, "program.py", f"import sys\n{ending}\n")
    assert python("-m", "rushlight", path).returncode == status


def test_a_traceback_is_the_one_that_python_prints(tmp_path: Path) -> None:
    text = "def fail():\n    return 1 / 0\n\n\nfail()\n"
    path = written(tmp_path, "program.py", text)
    assert python("-m", "rushlight", path).stderr == python(path).stderr


def test_a_syntax_error_is_printed_as_python_prints_it(tmp_path: Path) -> None:
    path = written(tmp_path, "program.py", "x = (\n")
    assert python("-m", "rushlight", path).stderr == python(path).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_an_interrupted_program_dies_of_the_signal(tmp_path: Path) -> None:
    path = written(tmp_path, "program.py", "raise KeyboardInterrupt\n")
    assert python("-m", "rushlight", path).returncode == -signal.SIGINT


def test_a_file_and_a_module_that_are_not_there_are_refused_as_by_python(tmp_path: Path) -> None:
    for arguments in (["absent.py"], ["-m", "absent_module"], ["-m", "absent.module"]):
        ours = python("-m", "rushlight", *arguments, cwd=tmp_path)
        theirs = python(*arguments, cwd=tmp_path)
        assert ours.returncode == theirs.returncode
        assert "Traceback" not in ours.stderr
        assert arguments[-1].partition(".")[0] in ours.stderr


def test_without_arguments_the_usage_is_printed() -> None:
    done = python("-m", "rushlight")
    assert done.returncode == 2
    assert "python -m rushlight SCRIPT" in done.stderr
    assert python("-m", "rushlight", "--version").stdout.strip() == f"Rushlight {VERSION}"


# ---- what packages ask of an installed torch -----------------------------------------------------
def test_the_metadata_of_torch_are_answered_and_only_while_it_is_installed() -> None:
    code = """
import importlib.metadata as m
print(m.version("torch"), m.requires("torch"), m.metadata("torch")["Name"])
print("torch" in m.packages_distributions())
"""
    want = f"2.13.0 ['rushlight (=={VERSION})'] torch\nTrue"
    assert aliased(code) == want
    code = (
        "import rushlight._torch.alias, sys; "
        "print([f for f in sys.meta_path if 'alias' in type(f).__module__])"
    )
    assert python("-c", code).stdout.strip() == "[]"


def test_the_version_is_compared_with_strings_and_with_tuples() -> None:
    version = TORCH_VERSION
    assert version >= (1, 9)
    assert version > "2.9"
    assert version < (2, 14)
    assert version > "2.13.0rc1"
    assert version != "2.13.0"
    assert version == str(version)
    assert not version > "parrot"
    assert {version: 1}[str(version)] == 1


def test_the_source_of_a_torch_class_is_found() -> None:
    code = """
import inspect, pickle, torch
print(inspect.getsource(torch.nn.Linear).startswith("class Linear"))
kept = pickle.loads(pickle.dumps([torch.nn.Linear, torch.__version__]))
print(kept[0] is torch.nn.Linear, kept[1] == torch.__version__)
print(torch.version.__version__ == torch.__version__, torch.version.cuda)
"""
    assert aliased(code) == "True\nTrue True\nTrue None"


def test_an_error_of_cuda_keeps_its_text_and_has_a_note_with_the_users_line() -> None:
    code = """
import torch
try:
    torch.ones(2, device="cuda")
except AssertionError as error:
    print(error)
    print(*error.__notes__)
"""
    text, note = aliased(code).splitlines()
    assert text == "Torch not compiled with CUDA enabled"
    assert note.startswith("Rushlight: tensors live on the CPU here")
    assert note.endswith("(asked for at <string>:6)")


def test_functorch_has_its_experimental_part() -> None:
    code = "import functorch.experimental as e, torch\n"
    assert aliased(code + "print(e.functionalize is torch.func.functionalize)") == "True"


def test_functorch_is_the_aliass_whatever_finders_a_program_puts_first() -> None:
    code = """
import sys
from importlib.machinery import ModuleSpec
class First:
    def find_spec(self, name, path, target=None):
        if name in ("torch", "functorch"):
            raise ImportError(name)
sys.meta_path.insert(0, First())
import functorch, importlib.util, torch, warnings
print(importlib.util.find_spec("functorch").name, set(functorch.__all__) <= set(dir(functorch)))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    print(functorch.grad(torch.sin)(torch.tensor(0.0)).item(), seen[0].category.__name__)
    function, parameters = functorch.make_functional(torch.nn.Linear(2, 1))
    print(function(parameters, torch.ones(3, 2)).shape)
"""
    assert aliased(code).splitlines() == [
        "rushlight._torch.functorch True",
        "1.0 FutureWarning",
        "torch.Size([3, 1])",
    ]


def test_an_import_by_call_of_a_name_that_is_not_there_gives_the_module() -> None:
    code = """
import torch
print(__import__("torch.nn", fromlist=["x"]) is torch.nn, torch.cuda._initialized)
try:
    from torch.nn import x
except ImportError as error:
    print(str(error).partition(" (")[0])
"""
    assert aliased(code).splitlines() == ["True False", "cannot import name 'x' from 'torch.nn'"]
