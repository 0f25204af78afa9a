"""Pages: complete, self-contained, well-formed and written all or not at all."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from html.parser import HTMLParser

import pytest

from rushlight.viz.classifier import Answers, History, classifier_page
from rushlight.viz.report import Figure, Page, Tile, ink_png

VOID = {"meta", "img", "br", "link", "input"}


class Balance(HTMLParser):
    """Fails when a tag closes another one's."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def pixels_of(png):
    """Alpha of every pixel, by a reader of our own."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        (check,) = struct.unpack(">I", png[at + 8 + length : at + 12 + length])
        assert check == zlib.crc32(kind + data)
        chunks[kind] = data
        at += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = zlib.decompress(chunks[b"IDAT"])
    stride = 1 + 2 * width
    assert len(rows) == height * stride
    return [list(rows[r * stride + 2 : (r + 1) * stride : 2]) for r in range(height)]


def a_page():
    answers = Answers(
        pictures=[[[0.0, 1.0], [0.5, 0.0]]] * 3,
        true=[0, 1, 1],
        said=[0, 1, 0],
        sure=[0.9, 0.8, 0.55],
        labels=["a & b", "<c>"],
    )
    history = History([2.0, 1.0], [2.1, 1.5], [0.3, 0.9], [0.3, 2 / 3])
    return classifier_page(
        "Title <1>",
        "A lead",
        history,
        answers,
        graph="<svg></svg>",
        figures=[Figure("Time", "1 s")],
        facts={"seed": "7"},
    )


def test_a_picture_keeps_its_pixels():
    assert pixels_of(ink_png([[0.0, 1.0, 0.5], [2.0, -1.0, 0.2]])) == [[0, 255, 128], [255, 0, 51]]


@pytest.mark.parametrize("pixels", [[], [[]], [[1.0], [1.0, 0.0]]])
def test_a_picture_that_is_no_rectangle_is_refused(pixels):
    with pytest.raises(ValueError, match="rows of one length"):
        ink_png(pixels)


def test_the_page_is_balanced_html():
    parser = Balance()
    parser.feed(a_page().html())
    assert parser.open == []


def test_the_page_needs_no_network_and_no_script():
    html = a_page().html()
    assert "<script" not in html and "<link" not in html and "@import" not in html
    assert set(re.findall(r'https?://[^"\s]*', html)) == {"http://www.w3.org/2000/svg"}
    assert all(source.startswith("data:") for source in re.findall(r'src="([^"]*)"', html))


def test_text_is_escaped():
    html = a_page().html()
    assert "Title &lt;1&gt;" in html and "Title <1>" not in html and "<c>" not in html


def test_mistakes_are_marked_and_right_answers_are_not():
    page = Page("t")
    ink = [[1.0]]
    page.tiles("h", {"all": [Tile(ink, "1", "1"), Tile(ink, "2", "3"), Tile(ink, "4", "4")]})
    items = re.findall(r'<li class="(\w+)"><img alt="([^"]*)"', page.html())
    assert items == [
        ("right", "a 1, read right"),
        ("wrong", "a 3, read as 2"),
        ("right", "a 4, read right"),
    ]


def test_the_headline_counts_the_mistakes():
    html = a_page().html()
    assert "66.7%" in html and "1 mistake in 3" in html and "1.500" in html


def test_the_pictures_on_the_page_are_the_ones_given():
    sources = re.findall(r'src="data:image/png;base64,([^"]*)"', a_page().html())
    assert len(sources) == 3
    assert pixels_of(base64.b64decode(sources[0])) == [[0, 255], [128, 0]]


def test_a_page_is_written_into_folders_that_are_made(tmp_path):
    page = a_page()
    path = page.write(tmp_path / "a" / "b" / "index.html")
    assert path.read_text(encoding="utf-8") == page.html()
    assert [entry.name for entry in path.parent.iterdir()] == ["index.html"]


def test_a_page_that_fails_leaves_the_old_one_and_no_rest(tmp_path):
    class Broken(Page):
        def html(self):
            raise RuntimeError("no page")

    target = tmp_path / "index.html"
    target.write_text("the old one")
    with pytest.raises(RuntimeError, match="no page"):
        Broken("t").write(target)
    assert target.read_text() == "the old one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.html"]
