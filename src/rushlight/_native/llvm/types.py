"""The types of emitted values: scalars, pointers and vectors of them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_SIZES = {
    "float": 4,
    "double": 8,
    "i1": 1,
    "i8": 1,
    "i16": 2,
    "i32": 4,
    "i64": 8,
    "i128": 16,
    "ptr": 8,
}
_SHORT = {"float": "f32", "double": "f64", "ptr": "p0"}


@dataclass(frozen=True, slots=True)
class Type:
    """An LLVM type: the name of its scalar, and how many lanes (0 for a scalar)."""

    scalar: str
    lanes: int = 0

    def __str__(self) -> str:
        return f"<{self.lanes} x {self.scalar}>" if self.lanes else self.scalar

    @property
    def size(self) -> int:
        """Bytes of one lane in memory."""
        return _SIZES[self.scalar]

    @property
    def is_float(self) -> bool:
        return self.scalar in ("float", "double")

    @property
    def suffix(self) -> str:
        """As it is written in the name of an intrinsic: f32, v16f32, v8i64."""
        short = _SHORT.get(self.scalar, self.scalar)
        return f"v{self.lanes}{short}" if self.lanes else short

    @property
    def element(self) -> Type:
        """The type of one lane."""
        return Type(self.scalar)

    def vector(self, lanes: int) -> Type:
        """A vector of this scalar; 0 lanes is the scalar itself."""
        return Type(self.scalar, lanes)

    def like(self, scalar: Type) -> Type:
        """Another scalar in as many lanes."""
        return Type(scalar.scalar, self.lanes)

    @property
    def integer(self) -> Type:
        """The integer of the same width, in as many lanes."""
        return Type(f"i{8 * self.size}", self.lanes)


F32, F64 = Type("float"), Type("double")
I1, I8, I16, I32, I64 = Type("i1"), Type("i8"), Type("i16"), Type("i32"), Type("i64")
I128 = Type("i128")
PTR, VOID = Type("ptr"), Type("void")


def literal(type: Type, number: float) -> str:
    """A constant of the type as text, the same in each lane."""
    if type.scalar == "ptr":
        if number:
            raise TypeError("addresses are passed in, never written into the code")
        text = "null"
    elif type.is_float:
        value = float(number)
        if type.scalar == "float" and value == value and abs(value) != float("inf"):
            value = struct.unpack("f", struct.pack("f", value))[0]
        # All digits of the bits: LLVM writes a float as the double that equals it.
        text = f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"
    elif type.scalar == "i1":
        text = "true" if number else "false"
    else:
        if int(number) != number:
            raise TypeError(f"{number!r} is not an integer")
        text = str(int(number))
    return f"splat ({type.scalar} {text})" if type.lanes else text
