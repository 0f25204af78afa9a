"""The model of worlds of other sizes."""

import pytest

from rushlight.distributed.forecast import Figures, fit, table


def test_figures_are_found_again_from_the_times_that_they_give() -> None:
    figures = Figures(1e-4, 0.0, 1e9)
    times = [(size, figures.all_reduce(size, 4)) for size in (4, 1 << 20, 1 << 24)]
    found = fit(times, 0.0, 4)
    assert found.latency == pytest.approx(1e-4, rel=1e-3)
    assert found.bandwidth == pytest.approx(1e9, rel=1e-3)


def test_messages_and_not_bytes_are_what_grows() -> None:
    figures = Figures(1e-4, 5e-6, 1e9)
    grown = figures.all_reduce(1e8, 10_000) - figures.all_reduce(1e8, 1_000)
    assert grown == pytest.approx(4 * 9_000 * 5e-6, rel=0.01)
    assert figures.by_halves(2**20, 10_000) < figures.all_reduce(2**20, 10_000)
    assert len(table(figures)) == 11
