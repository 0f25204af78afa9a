"""The reference pages say what the table says."""

from tests.table import report


def test_the_reference_pages_are_up_to_date() -> None:
    stale = report.outdated()
    assert not stale, (
        f"run `python -m tests.table.report`: {', '.join(stale)} differ from the table"
    )


def test_the_reference_pages_are_the_same_when_written_twice() -> None:
    assert report.pages() == report.pages()


def test_the_reference_pages_stay_small() -> None:
    sizes = {name: len(text.encode()) for name, text in report.pages().items()}
    assert all(size < 300_000 for size in sizes.values()), sizes
