"""The page about a trained picture classifier: how it learnt, and what it gets wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .chart import confusion_chart, line_chart
from .report import Figure, Page, Tile

_RIGHT_TILES = 44


@dataclass
class History:
    """How a training went: one number per epoch in each list."""

    train_loss: list[float] = field(default_factory=list)
    test_loss: list[float] = field(default_factory=list)
    train_accuracy: list[float] = field(default_factory=list)
    test_accuracy: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Answers:
    """What a classifier said about test pictures, as plain lists; classes are numbered from 0."""

    pictures: Sequence[Sequence[Sequence[float]]]
    true: Sequence[int]
    said: Sequence[int]
    sure: Sequence[float]
    """The probability that it gave to what it said."""
    labels: Sequence[str]


def classifier_page(
    title: str,
    lead: str,
    history: History,
    answers: Answers,
    *,
    graph: str,
    figures: Sequence[Figure] = (),
    facts: Mapping[str, str],
) -> Page:
    """A page of headline figures, learning curves, mistakes, confusion matrix and autograd graph.

    `graph` is an SVG picture, as `graph_svg` draws it; `figures` follow accuracy and loss in the
    headline.

    Raises: ValueError when `answers` differ in length.
    """
    size = len(answers.labels)
    counts = [[0] * size for _ in range(size)]
    right: list[Tile] = []
    wrong: list[Tile] = []
    for picture, true, said, sure in zip(
        answers.pictures, answers.true, answers.said, answers.sure, strict=True
    ):
        counts[true][said] += 1
        tile = Tile(picture, answers.labels[said], answers.labels[true], f"{sure:.0%} sure")
        (right if said == true else wrong).append(tile)
    total = len(answers.true)

    page = Page(title, lead)
    accuracy = Figure(
        "Test accuracy",
        f"{len(right) / total:.1%}",
        f"{len(wrong)} mistake{'s' * (len(wrong) != 1)} in {total}",
    )
    loss = Figure("Test loss", f"{history.test_loss[-1]:.3f}", "mean cross-entropy")
    page.figures([accuracy, loss, *figures])
    page.charts(
        "Learning",
        line_chart(
            {"training": history.train_loss, "test": history.test_loss},
            title="Loss",
            x_label="epoch",
            y_label="cross-entropy",
            write="{:.3g}".format,
            from_zero=True,
        ),
        line_chart(
            {"training": history.train_accuracy, "test": history.test_accuracy},
            title="Accuracy",
            x_label="epoch",
            y_label="right answers",
            write=lambda value: f"{100 * value:.4g}%",
        ),
        text="Measured after each epoch.",
    )
    groups = {
        f"All {len(wrong)} mistakes" if len(wrong) > 1 else "The only mistake": wrong,
        "The first right answers": right[:_RIGHT_TILES],
    }
    page.tiles(
        "Test pictures", groups, "Below each picture: the network's answer and how sure it was."
    )
    page.charts(
        "What is taken for what",
        confusion_chart(counts, answers.labels, title="Confusion matrix", cell=42),
        text="Recall: the share of a class's pictures that were recognised. "
        "Precision: the share of an answer's uses that were right.",
    )
    page.picture(
        "The graph of one training step",
        graph,
        "What autograd recorded on the way to the loss. Backward starts at the top and ends in "
        "the parameters.",
    )
    page.facts("How this page was made", facts)
    return page
