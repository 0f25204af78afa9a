"""States of a stream, read where NumPy's generator keeps them, and in NumPy's own way."""

import numpy as np
import pytest

from rushlight._array.random import mt19937
from rushlight._array.random.mt19937 import BLOCK, STATE_BYTES, Stream


def test_numpys_generator_shows_its_memory() -> None:
    bits = np.random.MT19937(5)
    bits.random_raw(100)
    found = mt19937._see_memory(bits)
    assert (found[:BLOCK] == bits.state["state"]["key"]).all()
    assert found[BLOCK] == bits.state["state"]["pos"]


@pytest.mark.parametrize("drawn", [0, 1, 7, 623, 624, 625, 1248, 3000])
@pytest.mark.parametrize("kept", [(None, None), (0.25, None), (None, 0.5), (-1.5, 2.0)])
def test_both_ways_give_and_take_the_same_states(
    monkeypatch: pytest.MonkeyPatch, drawn: int, kept: tuple[float | None, float | None]
) -> None:
    def make() -> Stream:
        stream = Stream(123)
        for n in (drawn // 2, drawn - drawn // 2):
            if n:
                stream.words(n)
        stream.next_normal, stream.next_float = kept
        return stream

    near = make().get_state()
    taken = Stream(9)
    taken.words(50)
    taken.set_state(near)
    words = taken.words(2000).copy()
    monkeypatch.setattr(mt19937, "_see_memory", lambda bits: False)
    far = make().get_state()
    assert near.dtype == np.uint8 and near.shape == (STATE_BYTES,)
    assert (near == far).all()
    other = Stream(9)
    other.words(50)
    other.set_state(far)
    assert (other.words(2000) == words).all() and (words == make().words(2000)).all()
    assert (taken.next_normal, taken.next_float) == (other.next_normal, other.next_float) == kept
    assert (taken.get_state() == other.get_state()).all()


def test_a_state_is_no_view_of_the_stream() -> None:
    stream = Stream(1)
    stream.words(10)
    state = stream.get_state()
    before = state.copy()
    stream.words(5000)
    assert (state == before).all()
    state[:] = 0
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        stream.set_state(state)
