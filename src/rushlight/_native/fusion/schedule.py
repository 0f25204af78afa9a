"""When each value of a fusion group is computed: a row's stages, and what is kept between them.

A row reduction ends a stage: what uses its result runs over the same row again, which by then is
in the first-level cache. A value of an earlier stage that is needed again is computed again if that
is cheap; if it took an exponential or a division it is kept: in an output's memory where one is
free, else in a scratch row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._formula.ir import BINARY, LAST_REDUCTIONS, ROW_REDUCTIONS, UNARY, Group


@dataclass(slots=True)
class Stage:
    """One pass over a row: the row reductions and final reductions it feeds, outputs it stores."""

    reductions: list[int] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)
    spills: list[int] = field(default_factory=list)

    def empty(self) -> bool:
        """Whether nothing has to be done."""
        return not (self.reductions or self.sums or self.stores or self.spills)

    def roots(self, group: Group) -> list[int]:
        """The values along the row that the pass has to compute."""
        found = [group.body[v - len(group.operands)].args[0] for v in self.reductions + self.sums]
        return found + [group.outputs[o].value for o in self.stores] + self.spills


@dataclass(slots=True)
class Plan:
    """The passes over a row, and where values that are kept between them lie.

    `level[v]` is the pass in which value `v` can first be computed. `kept[v]` is the output whose
    memory holds the value meanwhile, or -1 - i for scratch row i.
    """

    level: list[int]
    stages: list[Stage]
    kept: dict[int, int]
    scratch: list[str]


def expensive(group: Group, value: int) -> bool:
    """Whether a value takes longer to compute again than to store and load."""
    one = group.instruction(value)
    if one is None:
        return False
    return UNARY.get(one.op, False) or BINARY.get(one.op, False)


def _levels(group: Group) -> list[int]:
    level = [0] * len(group.operands)
    for one in group.body:
        at = max((level[a] for a in one.args), default=0)
        level.append(at + 1 if one.op in ROW_REDUCTIONS else at)
    return level


def _reads(group: Group, value: int, found: set[int], seen: set[int]) -> None:
    """The operands that computing `value` along the row would load."""
    if value in seen or group.kind(value) in "sr":
        return
    seen.add(value)
    one = group.instruction(value)
    if one is None:
        found.add(value)
        return
    for arg in one.args:
        _reads(group, arg, found, seen)


def _places(group: Group, level: list[int], count: int) -> list[Stage]:
    """The passes with their reductions, final sums and stores."""
    stages = [Stage() for _ in range(count)]
    operands = len(group.operands)
    for place, one in enumerate(group.body):
        if one.op in ROW_REDUCTIONS:
            stages[level[one.args[0]]].reductions.append(operands + place)
        elif one.op in LAST_REDUCTIONS:
            stages[level[one.args[0]]].sums.append(operands + place)
    # An output that is written over an operand waits until nothing reads that any more.
    last = dict.fromkeys(range(operands), 0)
    for at, stage in enumerate(stages):
        found: set[int] = set()
        for root in stage.roots(group):
            _reads(group, root, found, set())
        for operand in found:
            last[operand] = at
    plain = [(o, out) for o, out in enumerate(group.outputs) if group.kind(out.value) == "f"]
    when = {o: level[out.value] for o, out in plain}
    for o, out in plain:
        found = set()
        _reads(group, out.value, found, set())
        for operand in found:
            last[operand] = max(last[operand], when[o])
    if any(out.alias >= 0 for _, out in plain):
        # Several such outputs may read each other's operands: all of them go into one pass.
        latest = max(max(when[o], last[out.alias]) for o, out in plain if out.alias >= 0)
        for o, out in plain:
            if out.alias >= 0:
                when[o] = latest
    for o, _ in plain:
        stages[when[o]].stores.append(o)
    return stages


def plan_group(group: Group) -> Plan:
    """The plan for a group."""
    level = _levels(group)
    stages = _places(group, level, max(level) + 1)
    needed: dict[int, int] = {}  # value that is kept -> last pass that uses it

    def visit(value: int, at: int, seen: set[int]) -> None:
        if value in seen or group.kind(value) in "sr":
            return
        seen.add(value)
        one = group.instruction(value)
        if one is None:
            return
        if level[value] < at and group.kind(value) == "f" and expensive(group, value):
            needed[value] = max(at, needed.get(value, 0))
            return
        for arg in one.args:
            visit(arg, at, seen)

    for at, stage in enumerate(stages):
        seen: set[int] = set()
        for root in stage.roots(group):
            visit(root, at, seen)
    kept: dict[int, int] = {}
    scratch: list[str] = []
    for value in sorted(needed):
        stages[level[value]].spills.append(value)
        kept[value] = _place(group, stages, kept, value, needed[value], scratch)
    while len(stages) > 1 and stages[-1].empty():
        stages.pop()
    return Plan(level, stages, kept, scratch)


def _place(
    group: Group, stages: list[Stage], kept: dict[int, int], value: int, until: int,
    scratch: list[str],
) -> int:  # fmt: skip
    for o, out in enumerate(group.outputs):
        free = (
            out.alias < 0
            and group.kind(out.value) == "f"
            and group.dtype(out.value) == group.dtype(value)
            and o not in kept.values()
            and (
                out.value == value  # it stays there
                or any(o in stage.stores for stage in stages[until:])
            )
        )
        if free:
            return o
    scratch.append(group.dtype(value))
    return -len(scratch)
