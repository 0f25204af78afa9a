"""The picture of the gallery: one bar for every driver, as long as it is fast beside PyTorch."""

from __future__ import annotations

from pathlib import Path

from comparison import geometric_mean
from gallery import Outcome


def draw(outcomes: list[Outcome], path: Path) -> Path:
    """Writes the bars of all drivers that have a ratio and gives the file's path."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pairs = sorted((x.ratio, x.driver.name) for x in outcomes if x.ratio is not None)
    ratios, names = [ratio for ratio, _ in pairs], [name for _, name in pairs]
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.22 * len(pairs)), layout="constrained")
    colours = ["#2a9d8f" if ratio >= 1 else "#e76f51" for ratio in ratios]
    # On a logarithmic scale twice as fast and half as fast are bars of one length.
    axes.barh(names, [ratio - 1 for ratio in ratios], left=1, color=colours, height=0.7)
    axes.set_xscale("log")
    ticks = [x for x in (0.125, 0.25, 0.5, 1, 2, 4, 8) if ratios[0] / 2 <= x <= ratios[-1] * 2]
    axes.set_xticks(ticks, [f"{x:g}×" for x in ticks])
    axes.minorticks_off()
    axes.axvline(1, color="#333333", linewidth=0.8)
    mean = geometric_mean(ratios)
    axes.axvline(mean, color="#333333", linewidth=0.8, linestyle=":")
    axes.set_title(f"Speed beside PyTorch; geometric mean {mean:.2f}× (dotted)", fontsize=10)
    axes.tick_params(axis="y", labelsize=7)
    axes.margins(y=0.01)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return path
