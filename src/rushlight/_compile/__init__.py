"""Compiled steps: a training step recorded once, then run without building a graph.

    @rushlight.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

`capture` notes what a step does, `ir` is what it notes, `passes` make it better, `guards` say when
it may run, `lowering` makes it native, `runtime` runs it. Where to look for what:

    the user's side  api, step (record, compile, call), refusal and diagnostics (why not), report
    recording        capture/recorder, array_proxies, factories, output_structure, forward_backward;
                     numbers: number_recorder, number_sources, element_reads, symbolic_numbers
    what can't be    capture/code_observation (which Python ran), names_in_code, unwatchable,
                     side_effects, argument_effects, replay_safety
    what it saw      guards/captured_state, places, environment, name_lookups (what isn't there)
    when it may run  guards/records (as data), guards (as Python), analysis and native_guards (as
                     machine words), tiering and fast_entry (the quick way in), memory_overlap,
                     branch_guards (on values)
    as kernels       lowering/lower, plan, lowering_rules, fusion, reductions, losses, copies
    code of its own  lowering/gemm, attention, lstm, rnn_gru, optimizer_sweeps
    running          runtime/replay, python_body (NumPy), driver and call_frames (natively)
"""

from __future__ import annotations

from .api import OptimizedModule, compile, reset

__all__ = ["OptimizedModule", "compile", "reset"]
