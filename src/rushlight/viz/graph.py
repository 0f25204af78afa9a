"""The autograd graph of a tensor, drawn: an SVG picture of our own layout, or text for Graphviz."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from .._base.notebook_forms import Picture
from .layout import Layout, layered_layout
from .walk import GraphTensor, Vertex, Walk, walk

_CHARACTER = 7.25  # the advance of a 12-pixel monospaced letter
_MARGIN = 20.0
_FOOT = 34.0
_SUFFIX = "Backward"

# Class names carry a prefix because the style of an SVG inside a page applies to the whole page.
_STYLE = """
.rl-graph{--rl-line:#8a8f98;--rl-ink:#1d2430;--rl-soft:#646b78;--rl-box:#ffffff;--rl-rim:#c3c8d0;
--rl-leaf:#e3effc;--rl-leaf-rim:#5b98d8;--rl-root:#fff0cf;--rl-root-rim:#d99312;
font:12px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){.rl-graph{--rl-line:#737b88;--rl-ink:#eceef2;--rl-soft:#a3aab6;
--rl-box:#242932;--rl-rim:#4c5461;--rl-leaf:#19334f;--rl-leaf-rim:#4f8fd0;--rl-root:#46360f;
--rl-root-rim:#e0a02c}}
.rl-graph text{fill:var(--rl-ink)}
.rl-graph .rl-soft{fill:var(--rl-soft);font-weight:400}
.rl-graph .rl-name{font-weight:600}
.rl-graph .rl-small{font-size:11px}
.rl-graph .rl-edge{fill:none;stroke:var(--rl-line);stroke-width:1.3}
.rl-graph .rl-tip{fill:var(--rl-line)}
.rl-graph .rl-function rect{fill:var(--rl-box);stroke:var(--rl-rim)}
.rl-graph .rl-leaf rect{fill:var(--rl-leaf);stroke:var(--rl-leaf-rim)}
.rl-graph .rl-root rect{fill:var(--rl-root);stroke:var(--rl-root-rim);stroke-width:1.8}
.rl-graph .rl-more rect{fill:none;stroke:var(--rl-rim);stroke-dasharray:3 3}
""".replace("\n", "")


def graph_svg(
    root: GraphTensor,
    *,
    params: Mapping[str, GraphTensor] | None = None,
    max_nodes: int = 300,
    saved: bool = False,
) -> str:
    """An SVG picture of the graph that `root.backward()` would walk, for a file or an HTML page.

    The root is at the top; every arrow points the way gradients flow, from a function to the
    functions of its inputs, down to the leaves whose `.grad` is filled. `params` gives leaves their
    names: pass `dict(model.named_parameters())`. With more than `max_nodes` functions and leaves
    only those nearest to the root are drawn and a note says how many there are. With `saved=True`
    each function also tells what it has saved; that unpacks the saved tensors, hooks included.
    Resting the pointer on a box shows its details. A notebook draws the picture itself.

    The picture needs no script, font or network, and follows the light or dark scheme of the page.

    Raises: ValueError when `root` neither requires grad nor has a `grad_fn`, or `max_nodes` is
    below 1.
    """
    graph = walk(root, params, max_nodes, saved)
    sizes = [_size(vertex) for vertex in graph.vertices]
    drawn = layered_layout(sizes, [(a, b) for a, b, _ in graph.edges])
    return Picture(_draw(graph, sizes, drawn))


def graph_dot(
    root: GraphTensor,
    *,
    params: Mapping[str, GraphTensor] | None = None,
    max_nodes: int = 300,
    saved: bool = False,
) -> str:
    """The same graph as text in Graphviz's language, for `dot -Tsvg`.

    The arguments are those of `graph_svg`. An edge from an output other than a function's first
    carries that output's number.

    Raises: ValueError as `graph_svg` does.
    """
    graph = walk(root, params, max_nodes, saved)
    styles = {
        "function": 'shape=box, style="rounded,filled", fillcolor="#ffffff"',
        "leaf": 'shape=box, style="rounded,filled", fillcolor="#e3effc"',
        "more": 'shape=box, style="rounded,dashed"',
    }
    lines = ["digraph autograd {", '  node [fontname="monospace", fontsize=11];']
    if graph.is_cut:
        lines.append(f"  label={_quote(_note(graph))};")
    for number, vertex in enumerate(graph.vertices):
        label = f"{vertex.name}\n{vertex.detail}" if vertex.detail else vertex.name
        style = styles[vertex.kind]
        if number == 0:
            style += ', penwidth=2, color="#d99312"'
        lines.append(f"  n{number} [label={_quote(label)}, {style}];")
    for start, end, output in graph.edges:
        lines.append(f"  n{start} -> n{end}{f' [label={output}]' if output else ''};")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _size(vertex: Vertex) -> tuple[float, float]:
    if vertex.kind == "more":
        return 34.0, 20.0
    letters = max(len(vertex.name), len(vertex.detail))
    return letters * _CHARACTER + 26.0, 44.0 if vertex.detail else 30.0


def _draw(graph: Walk, sizes: list[tuple[float, float]], layout: Layout) -> str:
    legend = _legend(graph)
    note = _note(graph)
    inner = max(layout.width, max(legend[1], len(note) * _CHARACTER * 0.93))
    width = inner + 2 * _MARGIN
    body_end = layout.height + 2 * _MARGIN
    height = body_end + _FOOT + 18
    shift = _MARGIN + (inner - layout.width) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="rl-graph" role="img" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'aria-label="{escape("autograd graph of " + graph.vertices[0].name + ": " + note)}">',
        f"<style>{_STYLE}</style>",
        f'<g transform="translate({shift:.1f} {_MARGIN:.1f})">',
    ]
    for segment in layout.segments:
        (x0, y0), (x1, y1) = segment.start, segment.end
        # The line stops where the tip begins, else its blunt end would show through.
        stop = y1 - 6 if segment.arrives else y1
        bend = (stop - y0) * 0.55
        if abs(x0 - x1) < 0.05:
            path = f"M{x0:.1f} {y0:.1f}V{stop:.1f}"
        else:
            path = (
                f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + bend:.1f} "
                f"{x1:.1f} {stop - bend:.1f} {x1:.1f} {stop:.1f}"
            )
        parts.append(f'<path class="rl-edge" d="{path}"/>')
        if segment.arrives:
            parts.append(
                f'<path class="rl-tip" d="M{x1:.1f} {y1:.1f}l-3.6 -7.5h7.2z"/>',
            )
    for number, (vertex, size, centre) in enumerate(
        zip(graph.vertices, sizes, layout.centres, strict=True)
    ):
        parts.append(_box(vertex, size, centre, number == 0))
    parts.append("</g>")
    parts.append(f'<g transform="translate({_MARGIN:.0f} {body_end + 8:.1f})">{legend[0]}</g>')
    parts.append(
        f'<text class="rl-soft rl-small" x="{_MARGIN:.0f}" y="{body_end + 36:.1f}">'
        f"{escape(note)}</text></svg>"
    )
    return "\n".join(parts)


def _box(vertex: Vertex, size: tuple[float, float], centre: tuple[float, float], root: bool) -> str:
    (width, height), (x, y) = size, centre
    corner = height / 2 if vertex.kind == "leaf" else 7.0
    name = escape(vertex.name)
    if vertex.kind == "function" and _SUFFIX in vertex.name:
        stem, _, number = vertex.name.rpartition(_SUFFIX)
        name = f'{escape(stem)}<tspan class="rl-soft">{escape(_SUFFIX + number)}</tspan>'
    base = y + (-3.5 if vertex.detail else 4.0)
    lines = f'<text class="rl-name" text-anchor="middle" x="{x:.1f}" y="{base:.1f}">{name}</text>'
    if vertex.detail:
        lines += (
            f'<text class="rl-soft rl-small" text-anchor="middle" x="{x:.1f}" '
            f'y="{base + 15:.1f}">{escape(vertex.detail)}</text>'
        )
    tooltip = f"{vertex.tooltip} (root)" if root else vertex.tooltip
    return (
        f'<g class="rl-{vertex.kind}{" rl-root" if root else ""}"><title>{escape(tooltip)}</title>'
        f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="{corner:.1f}"/>{lines}</g>'
    )


def _legend(graph: Walk) -> tuple[str, float]:
    """The key to the boxes and its width."""
    entries = [("rl-function rl-root", 4.0, "root")]
    kinds = {vertex.kind for vertex in graph.vertices[1:]}
    if "function" in kinds:
        entries.append(("rl-function", 4.0, "function"))
    if "leaf" in kinds:
        entries.append(("rl-leaf", 6.0, "leaf"))
    if "more" in kinds:
        entries.append(("rl-more", 4.0, "not drawn"))
    parts: list[str] = []
    x = 0.0
    for kind, corner, text in entries:
        parts.append(
            f'<g class="{kind}"><rect x="{x:.1f}" y="0" width="20" height="12" rx="{corner}"/>'
            f'<text class="rl-soft rl-small" x="{x + 27:.1f}" y="10">{text}</text></g>'
        )
        x += 27 + len(text) * _CHARACTER + 18
    return "".join(parts), x - 18


def _note(graph: Walk) -> str:
    """How much there is, and how much of it is drawn."""
    whole = f"{_count(graph.functions, 'function')}, {_count(graph.leaves, 'leaf', 'leaves')}"
    if not graph.is_cut:
        return whole
    return f"the {graph.shown} nearest to the root of {whole}"


def _count(number: int, one: str, many: str = "") -> str:
    grouped = f"{number:,}".replace(",", " ")
    return f"{grouped} {one if number == 1 else many or one + 's'}"
