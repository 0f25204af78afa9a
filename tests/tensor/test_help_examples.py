"""Help is complete, and its examples say what happens."""

from types import ModuleType

import pytest

from tests.table import help_checks

NAMES = dict(help_checks.explained_values())


def has_examples(value: object) -> bool:
    is_function = type(value).__name__ in help_checks.FUNCTIONS
    if isinstance(value, ModuleType) or not (is_function or isinstance(value, type | property)):
        return False
    return ">>>" in help_checks.text_of(value)


EXAMPLES = [name for name, value in NAMES.items() if has_examples(value)]


def test_help_lacks_nothing() -> None:
    assert not help_checks.gaps(), "say it in the docstring, or in `tests/table/help_*.txt`"


@pytest.mark.parametrize("space", sorted({name.rpartition(".")[0] for name in EXAMPLES}))
def test_examples_say_what_happens(space: str) -> None:
    names = [name for name in EXAMPLES if name.rpartition(".")[0] == space]
    said = [help_checks.failures(name, help_checks.text_of(NAMES[name])) for name in names]
    assert not "".join(said)


def test_most_names_have_examples() -> None:
    assert len(EXAMPLES) > 2000


def test_the_checker_finds_what_is_missing() -> None:
    def vague(x: int, y: int = 1) -> int:
        """The sum.

        Parameters:
            x: int
            y: int = 1
                What is added.
        """
        return x + y

    assert help_checks.lacks(vague) == ["parameters(x)", "returns", "raises", "example"]


def test_the_checker_finds_an_example_that_says_something_else() -> None:
    assert "Expected" in help_checks.failures("x", "A text.\n\n>>> 1 + 1\n3\n")
    assert not help_checks.failures("x", "A text.\n\n>>> torch.ones(1)\ntensor([1.])\n")
