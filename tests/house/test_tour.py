"""The Python on the pages runs, and prints what the page says it prints."""

import contextlib
import io
import re
import subprocess
import sys
import textwrap
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


_ROW = """
    import re, sys
    import rushlight as torch
    from rushlight._formula.words import sqrt
    from rushlight._table.elementwise import activation

    text = re.search(r"```text\\n(squareplus = .*?)```", open(sys.argv[1]).read(), re.DOTALL)[1]
    activation.sqrt = sqrt
    exec(text, vars(activation))
    x = torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(activation.squareplus, x)
    assert torch.autograd.gradgradcheck(activation.squareplus, x)
    print(activation.squareplus(x, 4.0).tolist())
"""


def test_the_row_that_the_page_shows_is_an_op_with_its_gradients() -> None:
    page = ROOT / "docs" / "howto" / "add-an-op.md"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_ROW), str(page)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("[0.618033"), done.stderr


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
