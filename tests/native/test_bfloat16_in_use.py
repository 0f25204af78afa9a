"""Which bfloat16 Rushlight stores: that of ml_dtypes, else the compiled core's, else an error."""

import os
import sys
from pathlib import Path

import pytest

from tests.native.subprocesses import run

CORE = "rushlight._native.number_types.bfloat16"
WITHOUT = "import sys; sys.modules['ml_dtypes'] = None\n"


def printed(code: str, *, before: str = WITHOUT) -> list[str]:
    """The lines that a script prints in a process of its own, after `before`."""
    lines = "\n".join(line.removeprefix("        ") for line in code.strip("\n").split("\n"))
    return run(before + lines, PYTHONPATH=os.pathsep.join(sys.path)).splitlines()


@pytest.fixture
def compiled() -> None:
    pytest.importorskip(CORE)


@pytest.mark.usefixtures("compiled")
def test_the_compiled_core_has_bfloat16_without_an_extra() -> None:
    found = printed("""
        import rushlight as torch
        x = torch.tensor([1.5, 2.0, 3.0], dtype=torch.bfloat16, requires_grad=True)
        (x * x).exp().sum().backward()
        print(x, x.grad.dtype, x._raw.dtype.type.__module__)
        print(torch.arange(3, dtype=torch.bfloat16) @ torch.ones(3, dtype=torch.bfloat16))
        layer = torch.nn.Linear(4, 3)
        with torch.autocast("cpu", torch.bfloat16):
            y = layer(torch.ones(2, 4))
        y.float().sum().backward()
        print(y.dtype, layer.weight.grad.tolist() == [[2.0] * 4] * 3)
    """)
    assert found == [
        "tensor([1.5000, 2.0000, 3.0000], dtype=torch.bfloat16, requires_grad=True) "
        "torch.bfloat16 rushlight._array.bfloat16",
        "tensor(3., dtype=torch.bfloat16)",
        "torch.bfloat16 True",
    ]


@pytest.mark.usefixtures("compiled")
def test_what_is_saved_and_sent_needs_no_extra(tmp_path: Path) -> None:
    found = printed(f"""
        import copy, io, pickle
        import rushlight as torch
        from rushlight.serialization import load_safetensors, save_safetensors
        x = torch.tensor([1.5, -2.0, float("nan")], dtype=torch.bfloat16)
        torch.save(x, r"{tmp_path / "x.pt"}")
        with open(r"{tmp_path / "x.safetensors"}", "wb") as file:
            save_safetensors({{"x": x}}, file)
        shared = torch.from_dlpack(x)
        shared[0] = 1.0
        print(x[0].item(), torch.from_numpy(x._raw)[1].item())
        for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            print(y)
        for of_numpy in (x._raw, x._raw.dtype, x._raw[0]):
            print(pickle.loads(pickle.dumps(of_numpy)))
        with open(r"{tmp_path / "raw.pickle"}", "wb") as file:
            pickle.dump(x._raw, file)
        try:
            x.numpy()
        except TypeError as error:
            print(error)
    """)
    text = "tensor([ 1., -2., nan], dtype=torch.bfloat16)"
    assert found == ["1.0 -2.0", text, text, "[1 -2 nan]", "bfloat16", "1",
                     "Got unsupported ScalarType BFloat16"]  # fmt: skip
    reads = f"""
        import pickle
        import rushlight as torch
        from rushlight.serialization import load_safetensors
        print(torch.load(r"{tmp_path / "x.pt"}")[1].item())
        print(load_safetensors(r"{tmp_path / "x.safetensors"}")["x"][1].item())
        with open(r"{tmp_path / "raw.pickle"}", "rb") as file:
            x = torch.from_numpy(pickle.load(file))
        print(x.dtype, x[1].item(), (x + x).tolist()[:2])
    """
    wanted = ["-2.0", "-2.0", "torch.bfloat16 -2.0 [2.0, -4.0]"]
    assert printed(reads) == wanted
    assert printed(reads, before="") == wanted  # with ml_dtypes, where that is installed


def test_ml_dtypes_comes_first_where_it_is_installed() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    found = printed(
        """
        import ml_dtypes, numpy as np
        import rushlight as torch
        x = torch.from_numpy(np.ones(2, ml_dtypes.bfloat16))
        print(x, torch.ones(1, dtype=torch.bfloat16)._raw.dtype.type is ml_dtypes.bfloat16)
        """,
        before="",
    )
    assert ml_dtypes is not None
    assert found == ["tensor([1., 1.], dtype=torch.bfloat16) True"]


@pytest.mark.usefixtures("compiled")
def test_an_array_of_the_bfloat16_that_is_not_in_use_is_refused() -> None:
    pytest.importorskip("ml_dtypes")
    found = printed("""
        import rushlight as torch
        torch.ones(1, dtype=torch.bfloat16)
        del sys.modules["ml_dtypes"]
        import ml_dtypes, numpy as np
        try:
            torch.from_numpy(np.ones(2, ml_dtypes.bfloat16))
        except TypeError as error:
            print(str(error)[:59])
    """)
    assert found == ["can't convert np.ndarray of type ml_dtypes.bfloat16. The on"]


def test_without_both_the_error_names_the_extra() -> None:
    found = printed(f"""
        sys.modules["{CORE}"] = None
        import rushlight as torch
        for make in (lambda: torch.ones(1, dtype=torch.bfloat16), lambda: torch.ones(1).bfloat16()):
            try:
                make()
            except ImportError as error:
                print(error)
    """)
    text = "bfloat16 tensors need the ml_dtypes package: pip install 'rushlight[bfloat16]'"
    assert found == [text, text]


@pytest.mark.usefixtures("compiled")
def test_8_bit_floats_stay_an_extra() -> None:
    found = printed("""
        import rushlight as torch
        try:
            torch.ones(1).to(torch.float8_e4m3fn)
        except ImportError as error:
            print(error)
    """)
    assert found == [
        "float8_e4m3fn tensors need the ml_dtypes package: pip install 'rushlight[bfloat16]'"
    ]


@pytest.mark.usefixtures("compiled")
def test_programs_have_the_values_that_they_have_with_ml_dtypes() -> None:
    pytest.importorskip("ml_dtypes")
    program = """
        import rushlight as torch
        import rushlight.nn.functional as F
        torch.manual_seed(0)
        x = (torch.randn(7, 9) * 3).bfloat16()
        w = torch.randn(9, 9).bfloat16()
        inf = float("inf")
        edges = torch.tensor([0.0, -0.0, 1.0, -1.0, inf, -inf, inf - inf, 1e-39, 3e38]).bfloat16()
        steps = (
            "exp tanh sigmoid log1p sqrt round floor sign neg abs sum mean std amax amin cumsum "
            "argmax sort softmax log_softmax gelu silu softplus layer_norm logsumexp median norm"
        ).split()
        for name in steps:
            f = getattr(torch, name, None) or getattr(F, name)
            more = {"softmax": (1,), "log_softmax": (1,), "layer_norm": ((9,),), "cumsum": (0,),
                    "logsumexp": (1,)}.get(name, ())
            for start in (x, edges.expand(2, 9)):
                made = start.clone().requires_grad_()
                out = f(made, *more)
                out = out[0] if isinstance(out, tuple) else out
                print(name, out.dtype, out.tolist())
                if out.requires_grad:
                    out.sum().backward()
                    print(made.grad.tolist())
        for out in (x @ w, x + 0.1, x * 2, x / 3, x // 2, x % 0.7, x**2, x > 0, x == x.t().t(),
                    x.to(torch.float16), x.to(torch.int32), x.double() + x, torch.cat([x, w]),
                    F.linear(x, w), torch.stack([x, x]), x.clamp(-1, 1), x.where(x > 0, w[:7])):
            print(out.dtype, out.tolist())
        model = torch.nn.Sequential(torch.nn.Linear(9, 16), torch.nn.GELU(), torch.nn.Linear(16, 3))
        rule = torch.optim.AdamW(model.parameters(), lr=0.01)
        for _ in range(5):
            with torch.autocast("cpu", torch.bfloat16):
                loss = F.cross_entropy(model(x.float()), torch.arange(7) % 3)
            rule.zero_grad()
            loss.backward()
            rule.step()
            print(loss.item())
    """
    found = printed(program)
    assert len(found) > 100
    assert found == printed(program, before="import ml_dtypes\n")


@pytest.mark.usefixtures("compiled")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_computes() -> None:
    printed = run(
        """
        import os, numpy as np
        from rushlight._native.number_types.bfloat16 import bfloat16
        x = np.ones(5000, bfloat16)
        child = os.fork()
        if not child:
            os._exit(0 if (x + x).tolist() == [2.0] * 5000 else 1)
        print(os.waitpid(child, 0)[1], (x + x)[1])
        """,
        PYTHONPATH=os.pathsep.join(sys.path),
    )
    assert printed == "0 2\n"


@pytest.mark.usefixtures("compiled")
def test_it_is_made_once_in_a_process() -> None:
    printed = run(
        """
        import sys, numpy as np
        from rushlight._native.number_types import bfloat16 as first
        x = np.ones(3, first.bfloat16)
        for _ in range(3):
            del sys.modules["rushlight._native.number_types.bfloat16"]
            from importlib import import_module
            again = import_module("rushlight._native.number_types.bfloat16")
            assert again.bfloat16 is first.bfloat16
        del first, again
        import gc; gc.collect()
        print((x + x).tolist())
        """,
        PYTHONPATH=os.pathsep.join(sys.path),
    )
    assert printed == "[2.0, 2.0, 2.0]\n"


@pytest.mark.usefixtures("compiled")
def test_another_interpreter_does_not_take_the_process_down() -> None:
    interpreters = pytest.importorskip(
        "_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters"
    )
    printed = run(
        f"""
        import {interpreters.__name__} as interpreters
        import numpy as np
        from rushlight._native.number_types.bfloat16 import bfloat16
        other = interpreters.create()
        try:
            interpreters.run_string(
                other, "from rushlight._native.number_types.bfloat16 import bfloat16"
            )
        except Exception as error:
            pass
        print((np.ones(2, bfloat16) + 1).tolist())
        """,
        PYTHONPATH=os.pathsep.join(sys.path),
    )
    assert printed == "[2.0, 2.0]\n"
