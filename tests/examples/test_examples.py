"""The examples run, and do what they promise."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name):
    return runpy.run_path(str(EXAMPLES / name), run_name="example")


def digits(*arguments):
    return load("digits.py")["main"](list(arguments))


def test_the_tutorial_prints_what_it_teaches(capsys):
    load("tutorial.py")
    lines = capsys.readouterr().out.splitlines()
    assert "made w:    None - is it a leaf? True" in lines
    assert "after another one:   tensor([8., 4., 4.])" in lines
    assert "no_grad:   False" in lines
    losses = [float(line.split()[-1]) for line in lines if line.startswith("turn ")]
    assert len(losses) == 5 and losses == sorted(losses, reverse=True)


def test_digits_reads_97_of_100_test_pictures_and_writes_its_page(tmp_path, capsys):
    pytest.importorskip("sklearn")
    page = tmp_path / "index.html"
    assert digits("--out", str(page)) >= 0.97
    html = page.read_text(encoding="utf-8")
    assert "Confusion matrix" in html and "0.weight" in html and "mistakes" in html
    assert capsys.readouterr().out.count("test accuracy") == 30


def test_digits_with_one_seed_prints_the_same_numbers_twice(tmp_path, capsys):
    pytest.importorskip("sklearn")
    runs = []
    for name in ("a.html", "b.html"):
        digits("--epochs", "2", "--seed", "5", "--out", str(tmp_path / name))
        runs.append([x for x in capsys.readouterr().out.splitlines() if x.startswith("epoch")])
    assert len(runs[0]) == 2 and runs[0] == runs[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epochs", "0"], "argument --epochs: a number from 1 on is needed, got 0"),
        (["--epochs", "many"], "argument --epochs: a whole number is needed, got 'many'"),
        (["--seed", "-1"], "argument --seed: a number from 0 on is needed, got -1"),
        (["--seed", str(2**64)], f"argument --seed: a number from 0 on is needed, got {2**64}"),
        (["--out", "."], "argument --out: '.' is a folder, a file name is needed"),
    ],
)
def test_digits_explains_a_wrong_argument(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        digits(*arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_digits_finds_out_before_training_that_it_cannot_write(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit):
        digits("--out", str(tmp_path / "file" / "index.html"))
    assert "argument --out" in capsys.readouterr().err


def test_random_walk_errs_least_between_the_extremes_of_lambda(capsys):
    errors = load("random_walk.py")["main"](["--runs", "1"])
    best = min(errors, key=lambda pair: errors[pair])
    assert 0.0 < best[0] < 1.0 and errors[best] < 0.3
    assert capsys.readouterr().out.startswith("lambda   lr=0.1")
