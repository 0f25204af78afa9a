"""What the site's pages are made of, without the generator that lays them out."""

from __future__ import annotations

import re

import pytest

import rushlight as torch
from docs.site import __main__ as site, help_text, plots, reference


@pytest.fixture(scope="module")
def pages():
    return reference.pages()


def test_every_public_name_is_told_of_on_just_one_page(pages):
    told = [p.name for page in pages.values() for p in page.names]
    assert sorted(told) == sorted(p.name for p in reference.public_names())
    assert len(told) == len(set(told)) > 2000


def test_each_name_on_a_page_has_an_entry_of_its_own(pages):
    for place in ("functions.elementwise.arithmetic", "nn.linear", "optim", "tensor"):
        text = reference.written(pages[place], pages)
        heads = re.findall(r"^\.\. py:\w+:: ([\w.]+)", text, re.MULTILINE)
        assert {p.name for p in pages[place].names} <= set(heads), place


def test_functions_are_grouped_by_their_family(pages):
    places = {p.name: place for place, page in pages.items() for p in page.names}
    assert places["rushlight.add"] == "functions.elementwise.arithmetic"
    assert places["rushlight.nn.Linear"] == "nn.linear"
    assert places["rushlight.Tensor.backward"] == "tensor"
    assert places["rushlight.float32"] == "constants"
    assert places["rushlight.autograd.backward"] == "autograd"


def test_an_entry_has_signature_parameters_gradient_and_picture():
    public = reference.looked_up("rushlight.tanh")
    text = "\n".join(reference.entry(public))
    assert ".. py:function:: rushlight.tanh(input, *, out=None)" in text
    assert "**Parameters**" in text
    assert "* ``input``: ``Tensor``. The" in text
    assert "g * (1 - out * out)" in text
    assert '<svg class="rl-plot"' in text


def test_a_class_has_its_methods():
    text = "\n".join(reference.entry(reference.looked_up("rushlight.nn.Module")))
    assert ".. py:method:: rushlight.nn.Module.named_parameters(" in text


def test_a_layer_leaves_the_methods_of_module_to_module():
    text = "\n".join(reference.entry(reference.looked_up("rushlight.nn.Linear")))
    assert "reset_parameters(" in text
    assert "state_dict" not in text


def test_the_page_of_a_package_leads_to_the_pages_below_it(pages):
    text = reference.written(pages["nn"], pages)
    assert "* :doc:`nn.linear`" in text
    assert ":py:obj:`Linear <rushlight.nn.Linear>`" in text
    assert "<rushlight.nn.modules.Linear>" not in text  # the same class
    assert "**rushlight.nn.init**" in text


def test_a_second_name_leads_to_the_first():
    page = reference.Page("Two", "", [reference.looked_up(f"rushlight.{n}") for n in ("mm", "mm")])
    assert "Another name of :py:obj:`rushlight.mm`." in reference.written(page, {})


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", "plain"),
        ("`dim` of *all*, a|b_", r"``dim`` of \*all\*, a\|b\_"),
        ("the `k`th", r"the ``k``\ th"),
        ("no`t` code", r"no\ ``t`` code"),
        ("x: <y>", r"x\: \<y\>"),
    ],
)
def test_prose_is_shown_as_it_was_written(text, written):
    assert help_text.escaped(text) == written


def test_the_parts_of_a_help_text_are_told_apart():
    text = """What it gives.

    Parameters:
        input: Tensor
        dim: int = -1, or
            more than one
        eps: float = 1e-5
            Added below
            the root.
        other:
            Another one.
    Returns: a tensor.
    Raises:
        TypeError: for
            anything.

    Formula:
        out: exp(self)

    >>> 1 + 1
    2
    """
    lines = help_text.described(text)
    assert lines[0] == "What it gives."
    assert "* ``dim``: int = -1, or more than one" in lines
    assert "* ``eps``: ``float = 1e-5``. Added below the root." in lines
    assert "* ``other``: Another one." in lines
    assert "Returns\\: a tensor." in lines
    assert "* ``TypeError``: for anything." in lines
    assert lines[lines.index("**Formula**") + 2] == ".. code-block:: python"
    assert "   >>> 1 + 1" in lines


def test_a_signature_is_python():
    assert help_text.signature(torch.topk) == (
        "(input, k, dim=-1, largest=True, sorted=True, *, out=None)"
    )
    assert "'" not in help_text.signature(torch.nn.Linear)
    assert help_text.signature(torch.nn.Linear).startswith("(in_features: int, out_features: int")


def test_pictures_show_functions_and_their_derivatives():
    names = plots.names()
    assert {"tanh", "relu", "gelu", "exp", "sin", "selu"} <= set(names)
    assert not {"add", "dropout", "conj", "real"} & set(names)
    x, y, slope = plots.curves("square")
    assert [2 * value for value in x] == slope
    assert [value * value for value in x] == y


def test_a_picture_has_no_line_across_a_jump():
    drawn = re.search(r'class="value" d="([^"]*)"', plots.plot("floor"))
    assert drawn is not None
    assert drawn[1].count("M") == 8


def test_pages_that_load_something_from_elsewhere_are_found(tmp_path):
    page = tmp_path / "a.html"
    page.write_text('<a href="https://x.org">x</a><script src="https://x.org/a.js"></script>')
    assert site.fetched(tmp_path) == ["a.html: https://x.org/a.js"]
    page.write_text('<a href="https://x.org">x</a><script src="_static/a.js"></script>')
    assert site.fetched(tmp_path) == []


def test_what_the_generator_reads_is_put_together(tmp_path):
    site.assemble(tmp_path / "source")
    source = tmp_path / "source"
    assert (source / "docs/tour/09-a-small-engine.md").is_file()
    assert "09-a-small-engine" in (source / "docs/tour/README.md").read_text().split("toctree")[1]
    assert '<svg class="rl-plot"' in (source / "docs/reference/operators.md").read_text()
    assert not (source / "docs/site").exists()
    for folder in ("", "docs", "docs/tour", "docs/howto", "docs/decisions", "api"):
        for listed in (source / folder).glob("*.*"):
            text = listed.read_text()
            for block in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
                for line in block.splitlines():
                    name = line.partition("<")[2].rstrip(">") or line
                    if name and not name.startswith(":"):
                        found = [source / folder / f"{name}{end}" for end in (".md", ".rst")]
                        assert any(f.is_file() for f in found), (listed, name)
