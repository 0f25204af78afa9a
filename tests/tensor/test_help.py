"""Functions and methods say what they take, to `inspect` and to `help`."""

import inspect
import pydoc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight._tensor.help_texts import PATH, START, TextSignature, help_text

SPACES = ("", "linalg", "fft", "special", "nn.functional")
#: Those that take anything in PyTorch too: `einsum`, `fork`, and what it has taken away.
ANYTHING = {
    "einsum", "fork", "eig", "lstsq", "matrix_rank", "solve", "symeig",
    "Tensor.eig", "Tensor.lstsq", "Tensor.solve", "Tensor.symeig", "Tensor.new",
}  # fmt: skip


def public() -> Iterator[tuple[str, Any]]:
    for space in SPACES:
        module = torch
        for part in space.split(".") if space else ():
            module = getattr(module, part)
        for name in dir(module):
            yield f"{space}.{name}".lstrip("."), getattr(module, name)
    for name in dir(torch.Tensor):
        yield f"Tensor.{name}", getattr(torch.Tensor, name)


def test_every_public_function_and_method_has_its_signature() -> None:
    kinds = (type(torch.add), type(torch.manual_seed))
    vague = set()
    for path, found in public():
        if not isinstance(found, kinds) or path.rpartition(".")[2].startswith("_"):
            continue
        args = inspect.signature(found).parameters.get("args")
        anything = args is not None and args.kind is args.VAR_POSITIONAL
        if anything and not path.startswith("nn.functional.Callable"):
            vague.add(path)
    assert vague == ANYTHING


def test_a_builtin_tells_its_parameters() -> None:
    said = "(input, k, dim=-1, largest=True, sorted=True, *, out=None)"
    assert str(inspect.signature(torch.topk)) == said
    assert inspect.signature(torch.linalg.svd).parameters["full_matrices"].default is True


def test_a_method_tells_its_parameters_with_their_types() -> None:
    found = inspect.signature(torch.Tensor.topk)  # type: ignore[attr-defined]
    assert list(found.parameters) == ["self", "k", "dim", "largest", "sorted"]
    assert found.parameters["dim"].annotation == "int"
    assert found.return_annotation == inspect.Signature.empty  # a named tuple
    assert inspect.signature(torch.Tensor.mul).return_annotation == "Tensor"
    bound = inspect.signature(torch.ones(3).topk)
    assert list(bound.parameters) == ["k", "dim", "largest", "sorted"]
    assert bound.bind(2, largest=False).arguments == {"k": 2, "largest": False}


def test_a_signature_is_a_value_like_others() -> None:
    found = TextSignature("(self, dim: int = 0)")
    same = inspect.signature(lambda self, dim=0: None).replace(
        parameters=list(found.parameters.values())
    )
    assert found == same and hash(found.replace()) == hash(same)


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (torch.add, ["add(input, other, *, alpha=1, out=None)", "Parameters:",
                     "alpha: int | float | complex = 1 (by name)", "Formula:",
                     "out: self + other * alpha", "other: g * alpha", "Raises:"]),
        (torch.sum, ["Also called as:", "sum(input, dim, keepdim=False, *, dtype=None"]),
        (torch.Tensor.exp, ["exp(self)", "Gradient"]),
    ],
)  # fmt: skip
def test_help_says_what_the_table_knows(function: Any, parts: list[str]) -> None:
    text = pydoc.plain(pydoc.render_doc(function))
    for part in parts:
        assert part in text


def test_every_entry_is_found_and_no_other() -> None:
    names = [entry.split("\n", 1)[0] for entry in Path(PATH).read_text().split(START)][1:-1]
    assert names == sorted(names, key=str.encode)
    assert all(map(help_text, names))
    assert not any(
        map(help_text, ["", "a", "torch.", "torch.ad", "torch.adde", "zz", names[0] + "x"])
    )


@pytest.mark.slow
def test_the_texts_are_those_of_the_table() -> None:
    program = "from tests.table.help_texts import PATH, text; assert open(PATH).read() == text()"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=300, check=False)
    assert done.returncode == 0, "run `python -m tests.table.help_texts`"


def test_importing_reads_no_texts() -> None:
    program = (
        "import rushlight; from rushlight._tensor import help_texts as h;"
        "assert not h._file.cache_info().currsize"
    )
    subprocess.run([sys.executable, "-c", program], timeout=300, check=True)


def test_a_class_says_what_its_parameters_mean_and_its_subclasses_do_not() -> None:
    text = torch.nn.Linear.__doc__ or ""
    assert "in_features: int" in text and "Shapes:" in text and ">>> nn.Linear(3, 2)" in text
    assert torch.nn.Linear(1, 1).__doc__ == text

    class Own(torch.nn.Linear):
        pass

    assert Own.__doc__ is None


def test_lines_that_stand_once_come_back_in_every_entry() -> None:
    for name in ("torch.topk", "Tensor.topk", "nn.Linear"):
        text = help_text(name)
        assert "Parameters:" in text.splitlines() and "\x01" not in text


def test_a_method_that_is_a_python_function_too_has_help_and_identity_of_its_own() -> None:
    assert torch.stft is not torch.Tensor.stft
    assert "    input: Tensor\n" in (torch.stft.__doc__ or "")
    assert "    input: Tensor\n" not in (torch.Tensor.stft.__doc__ or "")
    seen: list[object] = []

    class Watched(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    x, window = torch.ones(8).as_subclass(Watched), torch.ones(4)
    x.stft(4, window=window, return_complex=True)
    torch.stft(x, 4, window=window, return_complex=True)
    assert torch.Tensor.stft in seen and torch.stft in seen
