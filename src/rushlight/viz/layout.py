"""Places for the vertices of a directed acyclic graph, in layers, and the lines between them.

The method is Sugiyama's (K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of
hierarchical system structures", 1981) in four steps: longest-path layers, tracks for the edges that
pass layers by, barycentre ordering, and coordinates. Two choices are our own: edges to the same
vertex share one track, which keeps a weight that is used a hundred times from drawing a hundred
lines; and a layer's coordinates are the exact least-squares answer to "as near to the neighbours as
the widths allow".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]

_ORDER_SWEEPS = 8
_PLACE_SWEEPS = 16
_TRACK_WIDTH = 10.0


@dataclass(frozen=True, slots=True)
class Segment:
    """A line from one layer to the next, vertical at both ends; `arrives`: it ends at a vertex."""

    start: Point
    end: Point
    arrives: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Centres of the vertices, lines between them and the size of the whole."""

    centres: list[Point]
    segments: list[Segment]
    width: float
    height: float


def layered_layout(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    *,
    gap: float = 26.0,
    layer_gap: float = 38.0,
) -> Layout:
    """A drawing of the graph from top to bottom, every edge pointing down.

    `sizes` holds a width and a height per vertex; `edges` pairs of positions in it. Repeated edges
    are drawn once.

    Raises: ValueError when the graph has a cycle.
    """
    if not sizes:
        return Layout([], [], 0.0, 0.0)
    distinct = list(dict.fromkeys(edges))
    layer_of = _longest_path_layers(len(sizes), distinct)
    widths = [width for width, _ in sizes]
    steps = _add_tracks(layer_of, widths, distinct)

    layers: list[list[int]] = [[] for _ in range(max(layer_of) + 1)]
    above: list[list[int]] = [[] for _ in layer_of]
    below: list[list[int]] = [[] for _ in layer_of]
    for start, end in steps:
        below[start].append(end)
        above[end].append(start)
    for vertex in _depth_first(below, above):
        layers[layer_of[vertex]].append(vertex)
    _order(layers, above, below)
    x = _place(layers, above, below, widths, len(sizes), gap)

    top: list[float] = []
    thickness = [
        max((sizes[vertex][1] for vertex in layer if vertex < len(sizes)), default=0.0)
        for layer in layers
    ]
    height = 0.0
    for size in thickness:
        top.append(height)
        height += size + layer_gap
    left = min(x[vertex] - widths[vertex] / 2 for layer in layers for vertex in layer)
    right = max(x[vertex] + widths[vertex] / 2 for layer in layers for vertex in layer)
    x = [value - left for value in x]

    def edge_of_box(vertex: int, side: int) -> float:
        layer = layer_of[vertex]
        middle = top[layer] + thickness[layer] / 2
        # A track crosses its whole layer, so that its lines meet; a box ends where it ends.
        half = (sizes[vertex][1] if vertex < len(sizes) else thickness[layer]) / 2
        return middle + side * half

    segments: list[Segment] = []
    for start in range(len(x)):
        targets = sorted(below[start], key=lambda vertex: x[vertex])
        room = min(16.0, 0.6 * widths[start] / max(1, len(targets)))
        for number, end in enumerate(targets):
            port = x[start]
            if start < len(sizes):
                port += (number - (len(targets) - 1) / 2) * room
            segments.append(
                Segment(
                    (port, edge_of_box(start, 1)), (x[end], edge_of_box(end, -1)), end < len(sizes)
                )
            )
        if start >= len(sizes):
            segments.append(
                Segment(
                    (x[start], edge_of_box(start, -1)), (x[start], edge_of_box(start, 1)), False
                )
            )
    centres = [
        (x[vertex], top[layer_of[vertex]] + thickness[layer_of[vertex]] / 2)
        for vertex in range(len(sizes))
    ]
    return Layout(centres, segments, right - left, height - layer_gap)


def _longest_path_layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Per vertex, the length of the longest path that leads to it."""
    below: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for start, end in edges:
        below[start].append(end)
        waiting[end] += 1
    layer_of = [0] * count
    ready = [vertex for vertex in range(count) if not waiting[vertex]]
    done = 0
    while ready:
        vertex = ready.pop()
        done += 1
        for end in below[vertex]:
            layer_of[end] = max(layer_of[end], layer_of[vertex] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)
    if done < count:
        raise ValueError("a graph with a cycle has no layers")
    return layer_of


def _add_tracks(
    layer_of: list[int], widths: list[float], edges: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The edges cut into steps of one layer; new tracks are appended to `layer_of` and `widths`."""
    tracks: dict[tuple[int, int], int] = {}
    steps: dict[tuple[int, int], None] = {}
    for start, end in edges:
        here = start
        for layer in range(layer_of[start] + 1, layer_of[end]):
            track = tracks.get((end, layer))
            known = track is not None
            if track is None:
                track = tracks[end, layer] = len(layer_of)
                layer_of.append(layer)
                widths.append(_TRACK_WIDTH)
            steps[here, track] = None
            here = track
            if known:
                break  # from here on another edge has built the track
        else:
            steps[here, end] = None
    return list(steps)


def _depth_first(below: Sequence[Sequence[int]], above: Sequence[Sequence[int]]) -> list[int]:
    """All vertices in the order of a walk from the sources: a first order with few crossings."""
    seen = [False] * len(below)
    order: list[int] = []
    stack = [vertex for vertex in reversed(range(len(below))) if not above[vertex]]
    while stack:
        vertex = stack.pop()
        if seen[vertex]:
            continue
        seen[vertex] = True
        order.append(vertex)
        stack.extend(end for end in reversed(below[vertex]) if not seen[end])
    return order


def _order(
    layers: list[list[int]], above: Sequence[Sequence[int]], below: Sequence[Sequence[int]]
) -> None:
    """Sorts layers by the mean place of neighbours, down and up; keeps the best order met."""
    best = [list(layer) for layer in layers]
    fewest = _crossings(layers, below)
    for sweep in range(_ORDER_SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        neighbours = above if downwards else below
        place = {vertex: float(i) for layer in layers for i, vertex in enumerate(layer)}
        for layer in layers if downwards else reversed(layers):
            mean = {
                vertex: (
                    sum(place[other] for other in neighbours[vertex]) / len(neighbours[vertex])
                    if neighbours[vertex]
                    else place[vertex]
                )
                for vertex in layer
            }
            layer.sort(key=mean.__getitem__)
            for i, vertex in enumerate(layer):
                place[vertex] = float(i)
        crossings = _crossings(layers, below)
        if crossings < fewest:
            fewest = crossings
            best = [list(layer) for layer in layers]
    layers[:] = best


def _crossings(layers: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    """How many pairs of lines cross: inversions between layers, counted by a Fenwick tree."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {vertex: i for i, vertex in enumerate(lower)}
        ends = [i for vertex in upper for i in sorted(place[end] for end in below[vertex])]
        tree = [0] * (len(lower) + 1)
        for seen, end in enumerate(ends):
            not_right = 0
            i = end + 1
            while i:
                not_right += tree[i]
                i &= i - 1
            total += seen - not_right
            i = end + 1
            while i < len(tree):
                tree[i] += 1
                i += i & -i
    return total


def _place(
    layers: Sequence[Sequence[int]],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    widths: Sequence[float],
    count: int,
    gap: float,
) -> list[float]:
    """Horizontal centres: layers move towards their neighbours, down and up in turn.

    Vertices from `count` on are tracks. Tracks pull each other harder than anything else, so long
    lines are straight.
    """

    def pull(one: int, other: int) -> float:
        return 1.0 if one < count or other < count else 16.0

    x = [0.0] * len(widths)
    for layer in layers:
        edge = 0.0
        for vertex in layer:
            x[vertex] = edge + widths[vertex] / 2
            edge += widths[vertex] + gap
        for vertex in layer:
            x[vertex] -= (edge - gap) / 2
    for sweep in range(_PLACE_SWEEPS):
        downwards = sweep % 2 == 0
        neighbours = above if downwards else below
        for layer in layers if downwards else reversed(layers):
            wanted: list[float] = []
            weights: list[float] = []
            for vertex in layer:
                force = place = 0.0
                for other in neighbours[vertex]:
                    strength = pull(vertex, other)
                    force += strength
                    place += strength * x[other]
                wanted.append(place / force if force else x[vertex])
                weights.append(force or 0.1)
            apart = [(widths[left] + widths[right]) / 2 + gap for left, right in pairwise(layer)]
            for vertex, value in zip(layer, _separate(wanted, weights, apart), strict=True):
                x[vertex] = value
    return x


def _separate(
    wanted: Sequence[float], weights: Sequence[float], apart: Sequence[float]
) -> list[float]:
    """The places nearest to `wanted`, in weighted least squares, that are at least `apart`.

    Taking the running sum of `apart` off turns the constraint into "not falling"; that is isotonic
    regression, which pooling adjacent violators answers exactly in linear time.
    """
    offsets = [0.0]
    for distance in apart:
        offsets.append(offsets[-1] + distance)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for value, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, total, count = value - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            before, before_weight, before_count = blocks.pop()
            mean = (mean * total + before * before_weight) / (total + before_weight)
            total += before_weight
            count += before_count
        blocks.append((mean, total, count))
    flat = [mean for mean, _, count in blocks for _ in range(count)]
    return [value + offset for value, offset in zip(flat, offsets, strict=True)]
