"""Compiled steps: a training step recorded once, then run without building a graph.

    @rushlight.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

`ir` is what a step does, `guards` say when it may run, `capture` notes both, `passes` make it
better, `lowering` makes its parts native, `assembly` the whole, `runtime` runs it. What is where:

    the user's side  api, step (record, compile, call), refusal and diagnostics (why not), report
    recording        capture/recorder, array_proxies, factories, output_structure, forward_backward;
                     numbers: number_recorder, number_sources, element_reads, symbolic_numbers
    what can't be    capture/code_observation (which Python ran), side_effects, argument_effects,
                     replay_safety, guards/names_in_code, unwatchable
    what it saw      guards/captured_state, places, environment, name_lookups (what isn't there)
    when it may run  guards/records (as data), guards (as Python), analysis and native_guards (as
                     machine words), memory_overlap, branch_guards (on values)
    as kernels       lowering/lowering_rules, fusion, reductions, losses, copies
    code of its own  lowering/gemm, attention, lstm, rnn_gru, optimizer_sweeps
    as one program   assembly/plan, lower, driver and call_frames
    running          runtime/replay, python_body (NumPy), tiering and fast_entry (the quick way in)
"""

from __future__ import annotations

from .api import OptimizedModule, compile, reset

__all__ = ["OptimizedModule", "compile", "reset"]
