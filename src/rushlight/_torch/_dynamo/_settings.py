"""Settings that programs make: the names of a module, which are kept and change nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


def patching(settings: dict[str, Any]) -> Callable[..., contextlib.AbstractContextManager[None]]:
    """The function `patch` of a module with these names."""

    @contextlib.contextmanager
    def patch(changes: Any = None, **more: Any) -> Iterator[None]:
        """A context in which settings have other values; `patch("name", value)` is not taken."""
        names = {**(changes or {}), **more}
        before = {name: settings.get(name) for name in names}
        settings.update(names)
        try:
            yield
        finally:
            settings.update(before)

    return patch
