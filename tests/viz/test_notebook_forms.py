"""What notebooks show of tensors, modules, graphs, steps, profiles and progress."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import rushlight as torch
from rushlight import nn
from rushlight.profiler import profile
from rushlight.viz import graph_svg
from rushlight.viz.progress import progress


def test_a_tensor_shows_its_text_with_shape_and_type_below():
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    shown = (x * 2)._repr_html_()
    assert "tensor([[2., 4.]], grad_fn=&lt;MulBackward0&gt;)" in shown
    assert "1 × 2 · float32" in shown
    assert "a number · int64" in torch.tensor(3)._repr_html_()
    assert "meta" in torch.ones(2, device="meta")._repr_html_()


def test_a_tensor_of_a_class_with_a_text_of_its_own_shows_that():
    class Named(torch.Tensor):
        def __repr__(self, **kwargs):
            return "<named>"

    assert "&lt;named&gt;" in torch.ones(2).as_subclass(Named)._repr_html_()


def test_a_tensor_inside_a_transform_shows_itself():
    seen = []

    def f(x):
        seen.append(x._repr_html_())
        return x * 2

    torch.func.vmap(f)(torch.ones(2, 3))
    torch.func.grad(lambda x: f(x).sum())(torch.ones(3))
    assert all(text.startswith("<pre") for text in seen)
    assert len(seen) == 2


def test_a_module_shows_a_table_of_its_layers():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Sequential(nn.Linear(3, 1, bias=False)))
    model[0].bias.requires_grad_(False)
    shown = model._repr_html_()
    assert "Linear(in_features=2, out_features=3, bias=True)" in shown
    assert "[3, 2], [3]" in shown
    assert ">2.0<" in shown
    assert "12 parameters, 9 of them trained" in shown
    assert nn.Linear(2, 3)._repr_html_().startswith("<pre")


def test_a_module_with_a_text_of_its_own_shows_that():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(1, 1)

        def __repr__(self):
            return "<own>"

    assert "&lt;own&gt;" in Own()._repr_html_()


def test_a_large_module_shows_its_first_layers():
    shown = nn.Sequential(*[nn.Identity() for _ in range(250)])._repr_html_()
    assert shown.count("<tr>") == 201
    assert "50 more layers" in shown


def test_a_graph_and_an_explanation_are_texts_that_a_notebook_lays_out():
    x = torch.ones(2, requires_grad=True)
    picture = graph_svg(x.exp().sum())
    assert picture._repr_svg_() == picture
    assert type(picture._repr_svg_()) is str
    step = torch.compile(lambda x: x * 2)
    step(torch.ones(2))
    assert step.explain() in step.explain()._repr_html_().replace("&lt;", "<").replace("&gt;", ">")


def test_a_profile_shows_its_table():
    with profile() as prof:
        torch.ones(2).exp()
    assert "aten::exp" in prof.key_averages()._repr_html_()


def test_progress_in_a_notebook_is_one_place_that_is_written_anew(monkeypatch, capsys):
    published = []
    shell = SimpleNamespace(
        kernel=object(), display_pub=SimpleNamespace(publish=lambda **kw: published.append(kw))
    )
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with progress(2) as show:
        show("epoch <1>")
        show("epoch 2")
    assert capsys.readouterr().out == ""
    assert [p["update"] for p in published] == [False, True, True]
    assert len({p["transient"]["display_id"] for p in published}) == 1
    assert 'value="2" max="2"' in published[-1]["data"]["text/html"]
    assert "epoch &lt;1&gt;" in published[-1]["data"]["text/html"]
    assert published[-1]["data"]["text/plain"] == "epoch <1>\nepoch 2"


def test_progress_in_ipython_on_a_terminal_prints_lines(monkeypatch, capsys):
    shell = SimpleNamespace(display_pub=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with progress(1) as show:
        show("epoch 1")
    assert capsys.readouterr().out == "epoch 1\n"
