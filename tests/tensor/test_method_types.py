"""What type checkers are told of `Tensor`'s methods is what the class has."""

import ast
from pathlib import Path

import rushlight as torch

STUB = Path(torch.__file__).parent / "_tensor" / "method_types.pyi"


def test_every_declared_method_is_there() -> None:
    (declared,) = (n for n in ast.parse(STUB.read_text()).body if isinstance(n, ast.ClassDef))
    names = [n.target.id for n in declared.body if isinstance(n, ast.AnnAssign)]
    names += [n.name for n in declared.body if isinstance(n, ast.FunctionDef)]
    assert len(names) > 400
    assert [name for name in names if not hasattr(torch.Tensor, name)] == []
