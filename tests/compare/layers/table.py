"""What a line of the grid says: a layer, its options, what it is called with.

Options and inputs are texts: the same Python expressions are evaluated on torch and on Rushlight.
In them `T` is the package, `nn` its networks, and

    R(2, 3)      normals that require grad          F(2, 3)     normals that don't
    U(2, 3)      uniforms that require grad         K(5, 2, 3)  whole numbers below 5
    B(2, 3)      booleans                           S(2, 3)     ones and minus ones
    P(2, 3)      positive numbers well above zero   pack        rnn.pack_padded_sequence

all drawn from a seed of their own, in the dtype that the run asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Case:
    """One layer, called with one list of arguments; `wrong` ones must be refused alike."""

    build: str
    call: str | None
    wrong: bool = False

    def __str__(self) -> str:
        return self.build if self.call is None else f"{self.build}({self.call})"


CASES: dict[str, Case] = {}


def _add(case: Case) -> None:
    CASES.setdefault(str(case), case)  # lists of options overlap here and there


def layer(name: str, options: str | list[str], inputs: str | list[str]) -> None:
    """A case for each of the options with each of the inputs."""
    options = [options] if isinstance(options, str) else options
    inputs = [inputs] if isinstance(inputs, str) else inputs
    for option, arguments in product(options, inputs):
        _add(Case(f"nn.{name}({option})", arguments))


def refused(name: str, *options: str) -> None:
    """Constructor arguments that torch refuses, or that it takes without a look."""
    for option in options:
        _add(Case(f"nn.{name}({option})", None, wrong=True))


def refuses(name: str, option: str, *inputs: str) -> None:
    """Inputs that a layer refuses."""
    for arguments in inputs:
        _add(Case(f"nn.{name}({option})", arguments, wrong=True))
