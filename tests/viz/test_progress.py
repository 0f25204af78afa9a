"""Progress: plain lines in a pipe, lines and a bar on a terminal."""

from __future__ import annotations

import sys

import pytest

from rushlight.viz.progress import progress


def test_lines_are_printed_plainly_into_a_pipe(capsys):
    with progress(2) as show:
        show("epoch 1 [of 2]")
        show("epoch 2")
    assert capsys.readouterr().out == "epoch 1 [of 2]\nepoch 2\n"


def test_without_rich_a_terminal_gets_plain_lines(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with progress(1) as show:
        show("epoch 1")
    assert capsys.readouterr().out == "epoch 1\n"


def test_a_terminal_gets_the_lines_and_a_bar(capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    with progress(2) as show:
        show("epoch 1 [of 2]")
        show("epoch 2")
    shown = capsys.readouterr().out
    assert "epoch 1 [of 2]" in shown and "epoch 2" in shown and "2/2" in shown


def test_an_error_inside_comes_out(capsys):
    with pytest.raises(KeyError), progress(1):
        raise KeyError("inside")
