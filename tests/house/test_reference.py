"""The reference pages say what the table says."""

from rushlight._table import ROWS
from tests.table import report


def test_the_reference_pages_are_up_to_date() -> None:
    stale = report.outdated()
    assert not stale, (
        f"run `python -m tests.table.report`: {', '.join(stale)} differ from the table"
    )


def test_every_formula_of_what_users_call_is_on_the_page_with_its_gradients() -> None:
    page = report.pages()["operators.md"]
    sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
    for name, rows in ROWS.items():
        for row in rows:
            if report.forward_formula(row) is not None and report.composed_around(row):
                assert report.is_shown(row), row
            if report.is_shown(row):
                missing = [f for f in report.formulas(row) if f not in sections[name.strip("_")]]
                assert not missing, (row, missing)
    assert {"mish", "mse_loss", "softmax", "native_layer_norm"} <= sections.keys()


def test_the_reference_pages_are_the_same_when_written_twice() -> None:
    assert report.pages() == report.pages()


def test_the_reference_pages_stay_small() -> None:
    sizes = {name: len(text.encode()) for name, text in report.pages().items()}
    assert all(size < 300_000 for size in sizes.values()), sizes
