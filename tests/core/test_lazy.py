"""Names that a module has but loads when they are first asked for."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

import rushlight
from rushlight._base.lazy import lazy, load, submodules


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A package with a module in it, and one that needs what isn't there."""
    folder = tmp_path / "a_lazy_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("value = [1]\n")
    (folder / "broken.py").write_text("import a_module_that_nobody_has\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("", ".inner", ".broken"):
        monkeypatch.delitem(sys.modules, f"a_lazy_package{name}", raising=False)
    import a_lazy_package  # type: ignore[import-not-found]

    return a_lazy_package  # type: ignore[no-any-return]


def test_a_place_is_below_the_package_or_below_who_asks(package: ModuleType) -> None:
    assert load("_base.dtypes:float32") is rushlight.float32
    assert load("_base.dtypes") is sys.modules["rushlight._base.dtypes"]
    assert load(".inner:value", package.__name__) == [1]


def test_what_has_a_home_is_kept_and_what_is_found_is_asked_for_each_time(
    package: ModuleType,
) -> None:
    asked: list[str] = []
    find = {"x": 1}.__getitem__
    package.__dict__["__getattr__"] = lazy(
        package.__name__, {"value": ".inner:value"}, lambda name: asked.append(name) or find(name)
    )
    assert package.value is package.inner.value and "value" in vars(package)
    assert package.x == package.x == 1 and asked == ["x", "x"] and "x" not in vars(package)


def test_what_nobody_finds_is_no_attribute(package: ModuleType) -> None:
    package.__dict__["__getattr__"] = lazy(package.__name__, find={}.__getitem__, why="; so it is")
    with pytest.raises(AttributeError) as caught:
        _ = package.nothing
    assert str(caught.value) == "module 'a_lazy_package' has no attribute 'nothing'; so it is"
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_a_submodule_is_found_and_what_it_lacks_itself_is_an_error(package: ModuleType) -> None:
    package.__dict__["__getattr__"] = lazy(package.__name__, find=submodules(package.__name__))
    assert package.inner is sys.modules["a_lazy_package.inner"]
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing
    with pytest.raises(AttributeError, match="has no attribute '__wrapped__'"):
        _ = package.__wrapped__
    with pytest.raises(ModuleNotFoundError, match="a_module_that_nobody_has"):
        _ = package.broken


def test_kernels_that_are_not_there_are_no_attribute() -> None:
    from rushlight._array import kernels

    with pytest.raises(AttributeError, match="kernels' has no attribute 'nothing'"):
        _ = kernels.nothing
    assert not hasattr(kernels, "_nothing")
