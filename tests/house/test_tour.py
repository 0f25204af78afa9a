"""The Python on the pages runs, and prints what the page says it prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from _tree import ROOT, relative

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "tour").glob("*.md")),
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
]
#: A block of Python and, where it follows at once, the block of text that it prints.
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n?```text\n(?P<printed>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_a_page_runs_from_top_to_bottom_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where pages that save something leave it
    text = page.read_text("utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        out = io.StringIO()
        # The padding makes a traceback name the line of the page.
        code = compile("\n" * line + block["code"], relative(page), "exec")
        with contextlib.redirect_stdout(out):
            exec(code, namespace)
        if block["printed"] is not None:
            assert out.getvalue() == block["printed"], f"{relative(page)}, line {line}"


def test_every_page_of_the_tour_and_of_the_how_tos_is_in_its_list() -> None:
    for folder in ("tour", "howto"):
        pages = {page.name for page in (ROOT / "docs" / folder).glob("*.md")} - {"README.md"}
        listed = (ROOT / "docs" / folder / "README.md").read_text("utf-8")
        assert pages == set(re.findall(r"\(([\w-]+\.md)\)", listed)), folder


def test_every_page_of_the_tour_has_something_to_run_and_ends_in_time() -> None:
    for page in PAGES[1:]:
        text = page.read_text("utf-8")
        assert page.name == "README.md" or BLOCK.search(text), relative(page)
        assert len(text.splitlines()) <= 300, relative(page)
