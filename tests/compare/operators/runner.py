"""Every operator of torch's own database of samples, on both sides.

`python -m tests.compare.operators` runs it.
Results lie in build/operators, one file per operator; a second run does only what is missing.
`--fresh` forgets them, `--only REGEX` chooses operators, `--table` only prints what is there.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import signal
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[3] / "build" / "operators"
SAMPLES = 24  # per operator and dtype

# In the database, and no operator that a program names on the CPU.
PRIVATE = re.compile(
    r"^(_batch_norm_with_update|_chunk_cat|_native_batch_norm_legit|_softmax_backward_data"
    r"|_unsafe_masked_index.*|_upsample_bilinear2d_aa|bmm:triton_optimized|chalf|jiterator_.*"
    r"|max_pool2d_with_indices_backward|native_.*|nn.functional.batch_norm:without_cudnn|slice"
    r"|sparse\..*|to_sparse|torch\..*)$"
)
CHECKS = ("forward", "strides", "method", "inplace", "out", "gradient", "second", "forward_mode")


def full_name(op: Any) -> str:
    return op.name + (":" + op.variant_test_name if op.variant_test_name else "")


class OutOfTime(Exception):
    pass


def _alarm(signum: int, frame: Any) -> None:
    raise OutOfTime


class Tally:
    """Counts and first words of what differs, per check."""

    def __init__(self) -> None:
        self.counts: dict[str, list[int]] = {}
        self.words: dict[str, list[str]] = {}

    def add(self, check: str, good: bool, words: str) -> None:
        count = self.counts.setdefault(check, [0, 0])
        count[0 if good else 1] += 1
        if not good:
            said = self.words.setdefault(check, [])
            if len(said) < 8:
                said.append(words)


def examine(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Everything that is compared about one operator."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    op = next(o for o in op_db if full_name(o) == name)
    tally = Tally()
    started = time.monotonic()
    signal.signal(signal.SIGALRM, _alarm)
    complete = True
    signal.alarm(options.limit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _values(op, torch, tally, options)
            _gradients(op, torch, tally, options)
            _errors(op, tally, options)
            _unsupported(op, torch, tally, options)
    except OutOfTime:
        complete = False
    finally:
        signal.alarm(0)
    return {
        "name": name,
        "counts": tally.counts,
        "words": tally.words,
        "complete": complete,
        "seconds": round(time.monotonic() - started, 1),
    }


def _samples(op: Any, dtype: Any, options: argparse.Namespace, requires_grad: bool) -> list[Any]:
    import torch

    torch.manual_seed(options.seed)
    try:
        found = list(op.sample_inputs("cpu", dtype, requires_grad=requires_grad))
    except OutOfTime:
        raise
    except Exception:  # the database has no samples for that dtype
        return []
    if len(found) > options.samples:
        step = len(found) / options.samples
        found = [found[int(i * step)] for i in range(options.samples)]
    return found


def _attempt(tally: Tally, check: str, f: Any, op: Any, sample: Any, dtype: Any) -> None:
    from tests.compare.operators import checks
    from tests.compare.operators.translate import Missing

    label = f"{str(dtype).removeprefix('torch.')} {_brief(sample)}"
    try:
        f(op, sample, dtype)
    except OutOfTime:
        raise
    except checks.Differs as error:
        tally.add(check, False, f"{label}: {error}")
    except Missing as error:
        tally.add(check, False, f"{label}: missing {error}")
    except Exception as error:
        # Either side refused. Where torch does, the refusal is what is compared.
        _refused(tally, check, op, sample, label, error)
    else:
        tally.add(check, True, "")


def _refused(tally: Tally, check: str, op: Any, sample: Any, label: str, error: Any) -> None:
    if type(error).__module__.startswith("torch") or _torch_refuses(op, sample, check):
        return
    tally.add(check, False, f"{label}: {type(error).__name__}: {str(error)[:300]}")


def _torch_refuses(op: Any, sample: Any, check: str) -> bool:
    """Whether torch alone can't do what the check asks (no derivative, say)."""
    import torch
    import torch.autograd.forward_ad as dual

    from tests.compare.operators import checks

    try:
        sides = checks.Sides(op, sample, op.op)
        if check in ("gradient", "second"):
            found = checks._differentiable(sides.run_torch())
            xs = checks._differentiable((sides.torch_args, list(sides.torch_kwargs.values())))
            cot = [checks._cotangent(o, 1).requires_grad_() for o in found]
            first = torch.autograd.grad(found, xs, cot, allow_unused=True, create_graph=True)
            if check == "second":
                live = [g for g in first if g is not None and g.requires_grad]
                torch.autograd.grad(live, xs + cot, live, allow_unused=True)
        elif check == "forward_mode":
            checks._push(sides, dual, op.op, sides.torch_args, sides.torch_kwargs, True)
        elif check == "method":
            op.method_variant(sample.input.clone(), *sample.args, **sample.kwargs)
        elif check == "inplace":
            with torch.no_grad():
                op.inplace_variant(sample.input.clone(), *sample.args, **sample.kwargs)
        elif check == "out":
            with torch.no_grad():
                plain = sides.run_torch()
                targets = [torch.full_like(t, 1) for t in checks.leaves(plain)]
                single = isinstance(plain, torch.Tensor)
                target = targets[0] if single else tuple(targets)
                op.op(sample.input, *sample.args, **sample.kwargs, out=target)
        else:
            sides.run_torch()
    except OutOfTime:
        raise
    except Exception:
        return True
    return False


def _brief(sample: Any) -> str:
    import torch

    def one(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return f"{tuple(value.shape)}"
        if isinstance(value, list | tuple):
            return "[" + ", ".join(one(v) for v in value) + "]"
        return str(value)[:40]

    words = [one(sample.input), *(one(a) for a in sample.args)]
    words += [f"{k}={one(v)}" for k, v in sample.kwargs.items()]
    return "(" + ", ".join(words)[:160] + ")"


def _values(op: Any, torch: Any, tally: Tally, options: argparse.Namespace) -> None:
    from tests.compare.operators import checks

    for dtype in sorted(op.supported_dtypes("cpu"), key=str):
        if dtype is torch.complex32:
            continue  # see docs/notes/differences.md
        for sample in _samples(op, dtype, options, False):
            _attempt(tally, "forward", checks.forward, op, sample, dtype)
            if dtype in (torch.float32, torch.int64, torch.complex64, torch.bool):
                _attempt(tally, "strides", checks.strides, op, sample, dtype)
                if op.method_variant is not None:
                    _attempt(tally, "method", checks.method, op, sample, dtype)
                if op.inplace_variant is not None and not sample.broadcasts_input:
                    _attempt(tally, "inplace", checks.inplace, op, sample, dtype)
                if op.supports_out:
                    _attempt(tally, "out", checks.out, op, sample, dtype)


def _gradients(op: Any, torch: Any, tally: Tally, options: argparse.Namespace) -> None:
    from tests.compare.operators import checks

    if not op.supports_autograd:
        return
    for dtype in (torch.float64, torch.complex128):
        if dtype not in op.supported_backward_dtypes("cpu"):
            continue
        for sample in _samples(op, dtype, options, True):
            _attempt(tally, "gradient", checks.gradient, op, sample, dtype)
            if op.supports_gradgrad:
                _attempt(tally, "second", checks.second_order, op, sample, dtype)
            if op.supports_forward_ad:
                _attempt(tally, "forward_mode", checks.forward_mode, op, sample, dtype)


def _unsupported(op: Any, torch: Any, tally: Tally, options: argparse.Namespace) -> None:
    """One sample in every dtype that torch refuses: is it refused here, in the same words?"""
    from tests.compare.operators import checks
    from tests.compare.operators.translate import Missing

    every = set(_element_types(torch))
    for dtype in sorted(every - op.supported_dtypes("cpu"), key=str):
        for sample in _samples(op, dtype, options, False)[:1]:
            try:
                kind, text, said = checks.refusal(op, sample)
            except Missing:
                continue
            label = f"{str(dtype).removeprefix('torch.')} {_brief(sample)}: {said}"
            tally.add("refused", kind, label)
            tally.add("refused_text", text, label)


def _element_types(torch: Any) -> list[Any]:
    """The element types that both sides have."""
    names = (
        "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
    )
    return [getattr(torch, n) for n in names.split()]


def _errors(op: Any, tally: Tally, options: argparse.Namespace) -> None:
    from tests.compare.operators import checks
    from tests.compare.operators.translate import Missing

    if op.error_inputs_func is None:
        return
    try:
        wrongs = list(op.error_inputs("cpu"))
    except OutOfTime:
        raise
    except Exception:
        return
    for wrong in wrongs:
        try:
            kind, text, said = checks.refusal(op, wrong.sample_input)
        except Missing as error:
            kind, text, said = False, False, f"missing {error}"
        tally.add("error_class", kind, said)
        tally.add("error_text", text, said)


# ---- the run -----------------------------------------------------------------------------------


def _work(job: tuple[str, argparse.Namespace]) -> str:
    name, options = job
    result = examine(name, options)
    path = _path(name, options)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))
    return name


def _path(name: str, options: argparse.Namespace) -> Path:
    """Where a result lies: other seeds and other numbers of samples in folders of their own."""
    usual = options.seed == 0 and options.samples == SAMPLES
    folder = HERE if usual else HERE.with_name(f"operators-{options.seed}-{options.samples}")
    return folder / (re.sub(r"[^\w.]", "-", name) + ".json")


def names(pattern: str | None) -> list[str]:
    from torch.testing._internal.common_methods_invocations import op_db

    found = [full_name(op) for op in op_db]
    return [n for n in found if not PRIVATE.match(n) and re.search(pattern or "", n)]


def family(name: str) -> str:
    for prefix in ("nn.functional", "linalg", "fft", "special", "signal", "masked"):
        if name.startswith(prefix + "."):
            return prefix
    return "torch"


def table(chosen: list[str], options: argparse.Namespace) -> str:
    """Per family and check: how many operators are equal in every sample, of how many."""
    kinds = (*CHECKS, "error_class", "error_text", "refused", "refused_text")
    good: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    samples: Counter[tuple[str, bool]] = Counter()
    lines: list[str] = []
    for name in chosen:
        path = _path(name, options)
        if not path.exists():
            lines.append(f"{name}: not run")
            continue
        result = json.loads(path.read_text())
        if not result["complete"]:
            lines.append(f"{name}: stopped at the time limit")
        for check, (right, wrong) in result["counts"].items():
            for where in (family(name), "all"):
                total[where, check] += 1
                good[where, check] += not wrong
            samples[check, True] += right
            samples[check, False] += wrong
            if wrong:
                lines.append(f"{name} [{check}] {wrong} of {right + wrong}")
                lines += ["    " + w for w in result["words"][check][: 8 if options.details else 2]]
    head = f"{'':16}" + "".join(f"{k:>14}" for k in kinds)
    rows = [head]
    for where in ("torch", "linalg", "fft", "special", "signal", "masked", "nn.functional", "all"):
        cells = [f"{good[where, k]}/{total[where, k]}" if total[where, k] else "-" for k in kinds]
        rows.append(f"{where:16}" + "".join(f"{c:>14}" for c in cells))
    shares = []
    for k in kinds:
        n = samples[k, True] + samples[k, False]
        shares.append(f"{100 * samples[k, True] / n:.2f}%" if n else "-")
    rows.append(f"{'of the samples':16}" + "".join(f"{c:>14}" for c in shares))
    return "\n".join([*lines, "", *rows])


def verdict(chosen: list[str], options: argparse.Namespace) -> list[str]:
    """What isn't as known.py lists it: other differences, and listed ones that are gone."""
    from tests.compare.operators.known import KNOWN

    found: dict[tuple[str, str], bool] = {}
    for name in chosen:
        path = _path(name, options)
        if path.exists():
            counts = json.loads(path.read_text())["counts"]
            found.update({(name, check): bool(wrong) for check, (_, wrong) in counts.items()})
    lines = []
    for (name, check), differs in found.items():
        if differs and (name, check) not in KNOWN:
            lines.append(f"{name} [{check}] differs and isn't listed in known.py")
        elif not differs and (name, check) in KNOWN:
            lines.append(f"{name} [{check}] is listed in known.py and is equal")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compare.operators")
    parser.add_argument("--only", metavar="REGEX")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    parser.add_argument("--details", action="store_true", help="more words per difference")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="at most so many per dtype")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=60, help="seconds per operator")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = names(options.only)
    if not options.table:
        todo = [n for n in chosen if options.fresh or not _path(n, options).exists()]
        jobs = [(n, options) for n in todo]
        if options.jobs == 1:
            done = map(_work, jobs)
        else:
            pool = multiprocessing.get_context("spawn").Pool(options.jobs)
            done = pool.imap_unordered(_work, jobs, chunksize=4)
        for i, name in enumerate(done, 1):
            print(f"\r{i}/{len(todo)} {name:60}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    print(table(chosen, options))
    if options.seed or options.samples != SAMPLES:
        return 0  # known.py speaks of the usual samples
    surprises = verdict(chosen, options)
    print("\n".join(["", *surprises]) if surprises else "\nAll differences are known ones.")
    return bool(surprises)
