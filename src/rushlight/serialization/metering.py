"""The unpickler that knows what its opcodes cost: every other one of files is one of these.

Note [What an opcode costs]: the loop takes from the budget, for each opcode, the bytes that the
object it makes takes in CPython 3.11 on 64 bits, with its place on the stack; text and bytes cost
by their length when they are read. Whatever copies or hashes what is there already costs by how
much there is: a call its arguments, a state its entries, a key its members. So no loop of the
pickle's runs further than its size pays for.
"""

from __future__ import annotations

import pickle
import struct
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any, Final

from .budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


__all__ = ["Metered", "describe"]

_Base: Any = pickle._Unpickler  # the one written in Python: what its opcodes do can be overridden

_COSTS: Final = [24] * 256
for _codes, _cost in (
    (b"2N\x88\x89)hjgK", 8), (b"qrp\x94", 9), (b"(", 64), (b"0.\x80\x95", 0), (b"}d", 64),
    (b"]l", 56), (b"\x8f\x91", 216), (b"t\x85\x86\x87", 56), (b"JMGIFL\x8a\x8b", 36),
    (b"XUVTSBC\x8c\x8d\x8e\x96", 60), (b"s", 100), (b"u", 60), (b"ae\x90", 32),
    (b"R\x81\x92oi", 100),
):  # fmt: skip
    for _code in _codes:
        _COSTS[_code] = _cost
_MARK_COST: Final = _COSTS[pickle.MARK[0]]
_PLACE: Final = 8
#: A pair in a dictionary, a member in a set, an item in a list that something copies.
_PAIR: Final = 100
_MEMBER: Final = 48
_ITEM: Final = 24
#: The members of a key that cost nothing, and what one more costs: time, not memory.
_SMALL_KEY: Final = 16
_LOOK: Final = 64
#: Keys are counted by their hash and container in so many classes, of which none may be far larger
#: than the others: dictionaries look through all keys of one hash.
_CLASSES: Final = 1 << 16
_MOST_ALIKE: Final = 64
_SHORT: Final = 32
_PLAIN: Final = frozenset({str, bytes, bool, type(None)})


def _are_plain(keys: Collection[Any]) -> bool:
    """Whether nobody can have chosen these keys so that hashing them takes long."""
    kinds = {*map(type, keys)}
    if kinds <= _PLAIN:
        return True
    return kinds == {int} and max(map(abs, keys)) < 1 << 60


def describe(value: object) -> str:
    """A few words for an error: what files hold may have a representation without end."""
    if isinstance(value, type):
        return f"<class {value.__module__}.{value.__qualname__}>"[:100]
    if value is None or type(value) in (bool, float):
        return repr(value)
    if type(value) in (str, bytes):
        cut: Any = value
        return repr(cut[:60])
    if type(value) is int:
        return repr(value) if value.bit_length() < 200 else "a large int"
    named = getattr(value, "__qualname__", None)
    if isinstance(named, str) and callable(value):
        return f"<function {named}>"[:100]
    return f"<{type(value).__name__}>"


class _Memo(list[Any]):
    """What the pickle remembers, by number: they come in order, else they stand apart."""

    def __init__(self) -> None:
        super().__init__()
        self.apart: dict[int, Any] = {}

    def put(self, number: int, value: object) -> None:
        if number == len(self):
            self.append(value)
        elif 0 <= number < len(self):
            self[number] = value
        elif number < 0:
            raise ValueError("negative PUT argument")
        else:
            self.apart[number] = value

    def get(self, number: int) -> object:
        if 0 <= number < len(self):
            return self[number]
        try:
            return self.apart[number]
        except KeyError:
            raise pickle.UnpicklingError(f"Memo value not found at index {number}") from None


class Metered(_Base):  # type: ignore[misc]
    """Reads pickles within a budget; with none, any amount, but no deeper than is safe."""

    dispatch = dict(_Base.dispatch)

    def __init__(
        self, file: IO[bytes], budget: Budget | None, size: int, **options: object
    ) -> None:
        super().__init__(file, **options)
        self.budget = budget
        self.deepest = Budget(0) if budget is None else budget
        self._size = size
        self._depths: dict[int, int] = {}
        self._alike: array[int] | None = None
        self._keys = 0

    def load(self) -> object:
        """What the pickle holds.

        Raises:
            UnpicklingError: where it would cost more than the budget.
            EOFError: where it ends too early.
        """
        self._unframer = pickle._Unframer(self._take, self._file_readline)  # type: ignore[attr-defined]
        read = self.read = self._unframer.read
        self.readinto = self._unframer.readinto
        self.readline = self._unframer.readline
        self.memo = _Memo()
        self.metastack: list[Any] = []
        self.stack: list[Any] = []
        self.append = self.stack.append
        self.proto = 0
        dispatch, budget, costs = self.dispatch, self.budget, _COSTS
        try:
            while True:
                key = read(1)
                if not key:
                    raise EOFError
                code = key[0]
                if budget is not None:
                    budget.left -= costs[code]
                    if budget.left < 0:
                        budget.refuse()
                try:
                    do = dispatch[code]
                except KeyError:
                    raise pickle.UnpicklingError(f"Unsupported operand {code}") from None
                do(self)
        except pickle._Stop as stop:  # type: ignore[attr-defined]
            return stop.value

    def _take(self, count: int) -> bytes:
        """The next bytes of the file: never more asked for than there are in it."""
        if count > _SHORT:
            if count > self._size:
                raise pickle.UnpicklingError("pickle data was truncated")
            if self.budget is not None:
                # Text of the widest characters takes four bytes for each.
                self.budget.spend(4 * count)
        return self._file_read(count)

    def spend(self, count: int) -> None:
        """Takes bytes from the budget, where there is one."""
        if self.budget is not None:
            self.budget.spend(count)

    def spend_on(self, values: Iterable[object]) -> None:
        """Pays for what a call, or a state that is set, copies of these values."""
        for value in values:
            if isinstance(value, (str, bytes, bytearray)):
                self.spend(4 * len(value))
            elif isinstance(value, (tuple, list, dict, set, frozenset)):
                self.spend(_PAIR * len(value))

    def pop_mark(self) -> list[object]:
        """The objects since the last mark, whose places on the stack go with it."""
        items: list[Any] = super().pop_mark()
        self.spend(-_MARK_COST - _PLACE * len(items))
        return items

    # ---- tuples --------------------------------------------------------------------------------

    def _count_tuple(self, value: tuple[object, ...]) -> tuple[object, ...]:
        depths, deepest = self._depths, 0
        for item in value:
            if type(item) is tuple and item:
                deepest = max(deepest, depths.get(id(item), 1))
        if deepest:
            self.deepest.check_depth(deepest + 1)
            depths[id(value)] = deepest + 1
        elif depths:
            depths.pop(id(value), None)
        return value

    def _tuple(self) -> None:
        items = self.pop_mark()
        self.spend(_PLACE * len(items))
        self.append(self._count_tuple(tuple(items)))

    def _tuple1(self) -> None:
        self.stack[-1] = self._count_tuple((self.stack[-1],))

    def _tuple2(self) -> None:
        self.stack[-2:] = [self._count_tuple((self.stack[-2], self.stack[-1]))]

    def _tuple3(self) -> None:
        stack = self.stack
        stack[-3:] = [self._count_tuple((stack[-3], stack[-2], stack[-1]))]

    # ---- keys and members ----------------------------------------------------------------------

    def check_key(self, key: object, container: object = None) -> None:
        """Pays for hashing a key, whose members may be there a thousand times over.

        Raises:
            UnpicklingError: where too many keys have one hash.
        """
        if type(key) in _PLAIN or self.budget is None:
            return
        if type(key) is int:
            if -(1 << 60) < key < 1 << 60:
                return
            self.spend(key.bit_length())
        elif isinstance(key, (tuple, frozenset)):
            waiting, looked_at = [key], 0
            while waiting:
                members = waiting.pop()
                looked_at += 1 + len(members)
                if looked_at > _SMALL_KEY:
                    self.spend(_LOOK * (1 + len(members)))
                for member in members:
                    if isinstance(member, (tuple, frozenset)):
                        waiting.append(member)
                    elif type(member) is int:
                        self.spend(member.bit_length() >> 3)
        if self._alike is None:
            self._alike = array("L", bytes(array("L").itemsize * _CLASSES))
        same = hash((id(container), hash(key))) % _CLASSES
        self._keys += 1
        self._alike[same] += 1
        if self._alike[same] > _MOST_ALIKE + 16 * self._keys // _CLASSES:
            raise pickle.UnpicklingError("too many keys of one hash")

    def _setitem(self) -> None:
        self.check_key(self.stack[-2], self.stack[-3])
        super().load_setitem()

    def _setitems(self) -> None:
        self._check_pairs(self.stack, self.metastack[-1][-1])
        super().load_setitems()

    def _dict(self) -> None:
        self._check_pairs(self.stack, None)
        super().load_dict()

    def _check_pairs(self, items: list[object], container: object) -> None:
        self.spend(_ITEM * len(items))
        keys = items[::2]
        if not _are_plain(keys):
            for key in keys:
                self.check_key(key, container)

    def _additems(self) -> None:
        self._check_members(self.stack, self.metastack[-1][-1])
        super().load_additems()

    def _frozenset(self) -> None:
        self._check_members(self.stack, None)
        super().load_frozenset()

    def _check_members(self, items: Iterable[object], container: object) -> None:
        for item in items:
            self.spend(_MEMBER)
            self.check_key(item, container)

    def _appends(self) -> None:
        self.spend(_PLACE * len(self.stack))
        super().load_appends()

    def check_call(self, function: Callable[..., object], args: Sequence[object]) -> None:
        """Pays for a call.

        Raises:
            UnpicklingError: where the arguments are no tuple.
        """
        if self.budget is None:
            return
        if not isinstance(args, tuple):
            raise pickle.UnpicklingError("the arguments of a call are no tuple")
        self.spend_on(args)
        if function in (set, frozenset, OrderedDict, Counter):
            for items in args:
                if isinstance(items, (tuple, list, dict, set, frozenset)) and not _are_plain(items):
                    for item in items:
                        if not isinstance(item, list):
                            self.check_key(item)
                        if isinstance(item, (tuple, list)) and item:
                            self.check_key(item[0])

    # ---- the memo ------------------------------------------------------------------------------

    def _put(self) -> None:
        self.memo.put(int(self.readline()[:-1]), self.stack[-1])

    def _binput(self) -> None:
        self.memo.put(self.read(1)[0], self.stack[-1])

    def _long_binput(self) -> None:
        self.memo.put(struct.unpack("<I", self.read(4))[0], self.stack[-1])

    def _memoize(self) -> None:
        self.memo.put(len(self.memo), self.stack[-1])

    def _get(self) -> None:
        self.append(self.memo.get(int(self.readline()[:-1])))

    def _binget(self) -> None:
        self.append(self.memo.get(self.read(1)[0]))

    def _long_binget(self) -> None:
        self.append(self.memo.get(struct.unpack("<I", self.read(4))[0]))

    def _frame(self) -> None:
        # Framed data are read from memory: they are paid for here, at once.
        (count,) = struct.unpack("<Q", self.read(8))
        if count > self._size:
            raise pickle.UnpicklingError("pickle data was truncated")
        self.spend(4 * count)
        self._unframer.load_frame(count)

    for _opcode, _function in (
        (pickle.TUPLE, _tuple), (pickle.TUPLE1, _tuple1), (pickle.TUPLE2, _tuple2),
        (pickle.TUPLE3, _tuple3), (pickle.SETITEM, _setitem), (pickle.SETITEMS, _setitems),
        (pickle.DICT, _dict), (pickle.ADDITEMS, _additems), (pickle.FROZENSET, _frozenset),
        (pickle.APPENDS, _appends), (pickle.PUT, _put), (pickle.BINPUT, _binput),
        (pickle.LONG_BINPUT, _long_binput), (pickle.MEMOIZE, _memoize), (pickle.GET, _get),
        (pickle.BINGET, _binget), (pickle.LONG_BINGET, _long_binget), (pickle.FRAME, _frame),
    ):  # fmt: skip
        dispatch[_opcode[0]] = _function
