"""Makes the site: `python -m docs.site` (`make docs`), into `build/site/html`.

The pages of the repository are copied with the folders they lie in, so that their links hold; the
reference and the pictures are written from the objects themselves. Sphinx does the rest, with
every warning an error. Nothing on the site is fetched when it is read.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import plots, reference

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "site"
#: Folders of pages, each with a page that leads to the others.
LISTS = ("docs", "docs/tour", "docs/howto", "docs/decisions")
#: Pages that the site's first page leads to by itself.
ELSEWHERE = {
    "architecture", "public-api", "notes/differences", "reference/coverage", "reference/operators",
    "tour/README", "howto/README", "decisions/README", "../CONTRIBUTING",
}  # fmt: skip
#: What a page loads, and from where: it may only be the site itself.
LOADED = re.compile(
    r"<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=\"((?:https?:)?//[^\"]+)\""
)


def assemble(source: Path) -> None:
    """Puts together what the generator reads."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "_static").mkdir(parents=True)
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "examples/README.md"]
    files = [ROOT / "LICENSE", reference.NAMES, *(ROOT / "examples").glob("*.py")]
    pictures = (ROOT / "docs").rglob("*.svg")
    for path in [*pages, *files, *pictures]:
        if HERE not in path.parents:
            put(source / path.relative_to(ROOT), path.read_text("utf-8"))
    shutil.copy(HERE / "conf.py", source)
    shutil.copy(HERE / "index.myst", source / "index.md")
    shutil.copy(HERE / "style.css", source / "_static")
    for folder in LISTS:
        add_list(source / folder)
    with_plots(source / "docs/reference/operators.md")
    found = reference.pages()
    for place, page in found.items():
        put(source / "api" / f"{place}.rst", reference.written(page, found))
    put(source / "api" / "index.rst", reference.everything(found))


def put(path: Path, text: str) -> None:
    """Writes a file, and the folders that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def add_list(folder: Path) -> None:
    """Has a folder's first page lead to the others, in the order in which it names them."""
    first = folder / "README.md"
    text = first.read_text("utf-8")
    listed = dict.fromkeys(re.findall(r"\(([\w./-]+)\.md[)#]", text))
    own = [n for n in listed if (folder / f"{n}.md").is_file() and n not in ELSEWHERE]
    own = [name for name in own if not name.startswith("../")]
    put(first, text + "\n```{toctree}\n:hidden:\n\n" + "\n".join(own) + "\n```\n")


def with_plots(page: Path) -> None:
    """Puts the pictures into the page of operators."""
    drawn = set(plots.names())

    def below(match: re.Match[str]) -> str:
        if match[1] not in drawn:
            return match[0]
        return f"{match[0]}\n```{{raw}} html\n{plots.plot(match[1])}\n```\n"

    put(page, re.sub(r"^## (\w+)\n", below, page.read_text("utf-8"), flags=re.MULTILINE))


def fetched(html: Path) -> list[str]:
    """What the finished pages would load from elsewhere."""
    return [
        f"{page.relative_to(html)}: {address}"
        for page in html.rglob("*.html")
        for address in LOADED.findall(page.read_text("utf-8"))
    ]


def main() -> int:
    """Makes the site; gives the exit status."""
    assemble(BUILD / "source")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-j", "auto", "-q", "-W"]
    command += ["--keep-going", *sys.argv[1:], "-d", str(BUILD / "doctrees")]
    command += [str(BUILD / "source"), str(BUILD / "html")]
    status = subprocess.run(command).returncode
    outside = fetched(BUILD / "html")
    for line in outside:
        print(f"loaded from elsewhere: {line}")
    print(BUILD / "html" / "index.html")
    return status or int(bool(outside))


if __name__ == "__main__":
    sys.exit(main())
