"""Every public name that a module says it has is there, whatever was loaded before."""

from __future__ import annotations

import importlib
import warnings

import pytest

import rushlight
from rushlight._torch.names import HOMES, MODULES, home_of


@pytest.mark.parametrize("module", ["", *sorted(MODULES)])
def test_every_name_that_a_module_lists_is_there(module: str) -> None:
    found = importlib.import_module(f"rushlight.{module}".rstrip("."))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old names say that they are old
        missing = [name for name in dir(found) if not _has(found, name)]
    assert missing == []


def test_every_name_with_a_home_is_there() -> None:
    assert [name for name in HOMES if not _has(rushlight, name)] == []


def _has(module: object, name: str) -> bool:
    try:
        getattr(module, name)
    except AttributeError:
        return False
    return True


def test_what_only_rushlight_has_is_no_module_of_torch() -> None:
    inside = ("_base.version", "_core", "_table.rows", "_array", "_torch.startup")
    assert {home_of(name) for name in inside} == {None}
