"""What a newcomer looks for lies where the names of folders and files say."""

import ast

import pytest
from _tree import PACKAGE, parsed

#: What is looked for: the file, and what it defines.
PLACES = {
    "softplus": ("_table/elementwise/activation.py", "softplus"),
    "no_grad": ("autograd/grad_mode.py", "no_grad"),
    "a saved-tensor hook": ("autograd/saved_tensor_hooks.py", "saved_tensors_hooks"),
    "the DataLoader's worker": ("utils/data/_utils/worker.py", "run"),
    "the LSTM's kernel": ("_array/kernels/lstm_gru.py", "lstm"),
    "torch.mtia": ("_torch/mtia.py", "__all__"),
}


def defined(tree: ast.Module) -> set[str]:
    """The names that a module's own statements define."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {name.id for target in node.targets for name in ast.walk(target)
                      if isinstance(name, ast.Name)}  # fmt: skip
    return found


@pytest.mark.parametrize("what", PLACES)
def test_a_newcomer_finds_it_at_the_first_guess(what: str) -> None:
    place, name = PLACES[what]
    assert name in defined(parsed(PACKAGE / place))
