"""Layered layouts, judged by what a reader of the picture would see."""

from __future__ import annotations

import random

import pytest

from rushlight.viz.layout import layered_layout


def boxes(sizes, layout):
    return [
        (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        for (width, height), (x, y) in zip(sizes, layout.centres, strict=True)
    ]


def random_graph(seed, count=40):
    chance = random.Random(seed)
    sizes = [(chance.uniform(20, 150), chance.choice([30.0, 44.0])) for _ in range(count)]
    edges = [(chance.randrange(end), end) for end in range(1, count) for _ in range(2)]
    return sizes, edges


def test_nothing_gives_an_empty_layout():
    assert layered_layout([], []).segments == []


def test_one_vertex_fills_its_layout():
    layout = layered_layout([(80.0, 30.0)], [])
    assert layout.centres == [(40.0, 15.0)]
    assert (layout.width, layout.height) == (80.0, 30.0)


def test_a_chain_is_a_straight_line_down():
    layout = layered_layout([(50.0, 30.0)] * 5, [(i, i + 1) for i in range(4)])
    assert len({x for x, _ in layout.centres}) == 1
    heights = [y for _, y in layout.centres]
    assert heights == sorted(heights) and len(set(heights)) == 5


@pytest.mark.parametrize("seed", range(5))
def test_every_edge_points_down(seed):
    sizes, edges = random_graph(seed)
    places = boxes(sizes, layered_layout(sizes, edges))
    assert all(places[start][3] < places[end][1] for start, end in edges)


@pytest.mark.parametrize("seed", range(5))
def test_boxes_never_overlap_and_stay_inside(seed):
    sizes, edges = random_graph(seed)
    layout = layered_layout(sizes, edges, gap=10.0)
    places = boxes(sizes, layout)
    for i, (left, top, right, bottom) in enumerate(places):
        assert left >= -1e-6 and right <= layout.width + 1e-6
        assert top >= -1e-6 and bottom <= layout.height + 1e-6
        for other in places[:i]:
            apart = max(left - other[2], other[0] - right, top - other[3], other[1] - bottom)
            assert apart >= 10.0 - 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_following_the_lines_leads_along_the_edges(seed):
    sizes, edges = random_graph(seed)
    layout = layered_layout(sizes, edges)
    places = boxes(sizes, layout)
    onward = {}
    for segment in layout.segments:
        onward.setdefault(segment.start, []).append(segment)

    def box_at(point, row):
        hits = [i for i, b in enumerate(places) if b[0] <= point[0] <= b[2] and b[row] == point[1]]
        assert len(hits) == 1
        return hits[0]

    found = set()
    for start, (left, _, right, bottom) in enumerate(places):
        pending = [
            s for s in layout.segments if left <= s.start[0] <= right and s.start[1] == bottom
        ]
        while pending:
            segment = pending.pop()
            if segment.arrives:
                found.add((start, box_at(segment.end, 1)))
            else:
                pending += onward[segment.end]
    assert found == set(edges)


def test_edges_to_one_vertex_share_a_track():
    count = 30
    edges = [(i, i + 1) for i in range(count)] + [(i, count) for i in range(count)]
    layout = layered_layout([(50.0, 30.0)] * (count + 1), edges)
    # Per layer passed by: one line on, one line across, one line in from the side.
    assert len(layout.segments) <= 4 * count


def test_a_crossing_that_can_be_avoided_is():
    # 1 leads to 3 and 4, 2 to 3 only: in the order they are met, 1 to 4 would cross 2 to 3.
    layout = layered_layout([(30.0, 30.0)] * 5, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3)])
    x = [place for place, _ in layout.centres]
    assert (x[1] < x[2]) == (x[4] < x[3])


def test_a_vertex_stands_in_the_middle_above_what_it_leads_to():
    sizes = [(30.0, 30.0), (30.0, 30.0), (200.0, 30.0), (30.0, 30.0), (30.0, 30.0)]
    layout = layered_layout(sizes, [(0, 1), (0, 2), (1, 3), (1, 4)])
    x = [place for place, _ in layout.centres]
    assert x[1] == pytest.approx((x[3] + x[4]) / 2, abs=0.5)
    assert x[0] == pytest.approx((x[1] + x[2]) / 2, abs=0.5)


def test_repeated_edges_are_drawn_once():
    assert len(layered_layout([(30.0, 30.0)] * 2, [(0, 1), (0, 1)]).segments) == 1


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        layered_layout([(30.0, 30.0)] * 2, [(0, 1), (1, 0)])
