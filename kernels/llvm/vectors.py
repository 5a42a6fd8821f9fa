"""Machine code of the functions in `sglc.kernels.dsl.vectors`: instructions, or what replaces them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from llvmlite import ir

from sglc.kernels.dsl.vectors import LANES
from sglc.kernels.llvm import values as v
from sglc.kernels.llvm.target import Target

_SPINS = 20_000
"""Rounds before a thread that waits gives its processor away, about a millisecond: the others are mostly back
by then, and who gives way on a busy machine gets no processor for several."""
_CLOCKS = {"linux": (1, 3), "darwin": (6, 16), "macos": (6, 16), "freebsd": (4, 14)}
"""Numbers of the clocks CLOCK_MONOTONIC and CLOCK_THREAD_CPUTIME_ID by the system's name in a triple."""
_MAGIC = 12582912.0
"""1.5 * 2**23, see `nearest`."""


class LaneCode:
    """Writes operations on lanes where the builder `b` stands."""

    def __init__(self, module: ir.Module, b: ir.IRBuilder, target: Target) -> None:
        self.module, self.b, self.target = module, b, target

    def intrinsic(self, name: str, result: ir.Type, arguments: Iterable[ir.Value]) -> ir.Value:
        """A call of an intrinsic function of LLVM, or of the C library, declared at its first call."""
        values = list(arguments)
        found = self.module.globals.get(name)
        if found is None:
            found = ir.Function(
                self.module, ir.FunctionType(result, [value.type for value in values]), name=name
            )
        return self.b.call(found, values)

    def splat(self, value: ir.Value, count: int = LANES) -> ir.Value:
        """A vector with the value in every lane."""
        kind = ir.VectorType(value.type, count)
        none = ir.Constant(kind, ir.Undefined)
        one = self.b.insert_element(none, value, v.I32(0))
        return self.b.shuffle_vector(one, none, ir.Constant(ir.VectorType(v.I32, count), [0] * count))

    def part(self, value: ir.Value, start: int, count: int, step: int = 1) -> ir.Value:
        """Some elements of a vector as a shorter one."""
        places = ir.Constant(ir.VectorType(v.I32, count), list(range(start, start + count * step, step)))
        return self.b.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), places)

    def joined(self, parts: list[ir.Value]) -> ir.Value:
        """Vectors of one length one behind the other; as many as are a power of two."""
        while len(parts) > 1:
            count = 2 * parts[0].type.count
            places = ir.Constant(ir.VectorType(v.I32, count), list(range(count)))
            parts = [
                self.b.shuffle_vector(x, y, places) for x, y in zip(parts[::2], parts[1::2], strict=True)
            ]
        return parts[0]

    # Products

    def fma(self, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
        """Without an instruction the sum is rounded twice: a bit may differ from the reference."""
        if self.target.fused:
            return self.intrinsic(f"llvm.fma.v{LANES}f32", v.FLOATS, [x, y, z])
        wide = ir.VectorType(v.DOUBLE, LANES)
        x, y, z = (self.b.fpext(value, wide) for value in (x, y, z))
        return self.b.fptrunc(self.b.fadd(self.b.fmul(x, y), z), v.FLOATS)

    def dot4(self, total: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value:
        """The instruction of the processor, see `dsl.vectors.dot4`."""
        match self.target.products:
            case "avx512vnni":
                return self.intrinsic("llvm.x86.avx512.vpdpbusd.512", v.INTS, [total, left, right])
            case "avxvnni":
                return self._in_parts(8, "llvm.x86.avx512.vpdpbusd.256", total, left, right)
            case "i8mm":
                return self._in_parts(4, "llvm.aarch64.neon.usdot.v4i32.v16i8", total, left, right)
            case "avx2":
                return self._pairs_dot4(total, left, right)
            case _:
                return self._plain_dot4(total, left, right)

    def dot8(self, total: ir.Value, *operands: ir.Value) -> ir.Value:
        """Two `dot4`; without an instruction for those, products of pairs of bytes, which fit in 16 bits."""
        left, right, more_left, more_right = operands
        if self.target.products != "avx2":
            return self.dot4(self.dot4(total, left, right), more_left, more_right)
        bytes_, shorts = ir.VectorType(v.I8, 32), ir.VectorType(v.I16, 16)
        found = []
        for start in range(0, LANES, 8):
            pairs = []
            for x, y in ((left, right), (more_left, more_right)):
                both = [self.b.bitcast(self.part(value, start, 8), bytes_) for value in (x, y)]
                pairs.append(self.intrinsic("llvm.x86.avx2.pmadd.ub.sw", shorts, both))
            four = [self.b.add(*pairs), self.splat(v.I16(1), 16)]
            sums = self.intrinsic("llvm.x86.avx2.pmadd.wd", ir.VectorType(v.I32, 8), four)
            found.append(self.b.add(self.part(total, start, 8), sums))
        return self.joined(found)

    def _in_parts(self, size: int, name: str, total: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value:
        parts = []
        kind = ir.VectorType(v.I32, size)
        operand = ir.VectorType(v.I8, 4 * size) if self.target.is_arm else kind
        for start in range(0, LANES, size):
            x, y = (self.b.bitcast(self.part(value, start, size), operand) for value in (left, right))
            parts.append(self.intrinsic(name, kind, [self.part(total, start, size), x, y]))
        return self.joined(parts)

    def _pairs_dot4(self, total: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value:
        """Numbers of 16 bits, multiplied and added in pairs: even bytes and odd bytes by themselves.

        What is made of `left` and `right` alone is made once for all sums that they take part in.
        """
        kind = ir.VectorType(v.I16, 2 * LANES)
        x, y = self.b.bitcast(left, kind), self.b.bitcast(right, kind)
        eight, low = (self.splat(v.I16(number), 2 * LANES) for number in (8, 0xFF))
        even = self.b.and_(x, low), self.b.ashr(self.b.shl(y, eight), eight)
        odd = self.b.lshr(x, eight), self.b.ashr(y, eight)
        found = []
        for start in range(0, LANES, 8):
            part = self.part(total, start, 8)
            for one, other in (even, odd):
                pair = [self.part(value, 2 * start, 16) for value in (one, other)]
                part = self.b.add(
                    part, self.intrinsic("llvm.x86.avx2.pmadd.wd", ir.VectorType(v.I32, 8), pair)
                )
            found.append(part)
        return self.joined(found)

    def _plain_dot4(self, total: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value:
        """Pairs of 16 bits that are multiplied and added, an instruction of most processors."""
        b = self.b
        x = b.zext(b.bitcast(left, ir.VectorType(v.I8, 4 * LANES)), ir.VectorType(v.I16, 4 * LANES))
        y = b.sext(b.bitcast(right, ir.VectorType(v.I8, 4 * LANES)), ir.VectorType(v.I16, 4 * LANES))
        wide = ir.VectorType(v.I32, 4 * LANES)
        products = b.mul(b.sext(x, wide), b.sext(y, wide))
        pairs = b.add(self.part(products, 0, 2 * LANES, 2), self.part(products, 1, 2 * LANES, 2))
        return b.add(total, b.add(self.part(pairs, 0, LANES, 2), self.part(pairs, 1, LANES, 2)))

    # Sums

    def tree_sum(self, value: ir.Value) -> ir.Value:
        """See `dsl.vectors.sum_floats`."""
        half = LANES // 2
        while half:
            value = self.b.fadd(self.part(value, 0, half), self.part(value, half, half))
            half //= 2
        return self.b.fpext(self.b.extract_element(value, v.I32(0)), v.DOUBLE)

    def tree_max(self, value: ir.Value) -> ir.Value:
        """See `dsl.vectors.max_floats`."""
        half = LANES // 2
        while half:
            value = self.greater(self.part(value, 0, half), self.part(value, half, half))
            half //= 2
        return self.b.fpext(self.b.extract_element(value, v.I32(0)), v.DOUBLE)

    def maxima(self, values: list[ir.Value]) -> ir.Value:
        """See `dsl.vectors.maxima`."""
        return self._reduced(values, self.greater)

    def sums(self, values: list[ir.Value]) -> ir.Value:
        """See `dsl.vectors.sums`."""
        return self._reduced(values, self.b.fadd)

    def _reduced(self, values: list[ir.Value], joined: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
        """Each of 16 vectors reduced to one number: pairs of them become one, four times.

        Numbers at even and at odd places of two vectors are brought together and joined, first within four
        lanes, then fours: by shuffles that are one instruction each, and leave everything in order.
        """
        for unit in (1, 1, 4, 4):
            places = [
                first + side + step + each
                for first in range(0, LANES, 4 * unit)
                for side in (0, LANES)
                for step in (0, 2 * unit)
                for each in range(unit)
            ]
            values = [
                joined(self._chosen(x, y, places), self._chosen(x, y, [place + unit for place in places]))
                for x, y in zip(values[::2], values[1::2], strict=True)
            ]
        return values[0]

    def _chosen(self, x: ir.Value, y: ir.Value, places: list[int]) -> ir.Value:
        """The numbers at some places of two vectors, those of the second behind those of the first."""
        return self.b.shuffle_vector(x, y, ir.Constant(ir.VectorType(v.I32, len(places)), places))

    def rolled(self, value: ir.Value, count: int) -> ir.Value:
        """See `dsl.vectors.rolled`."""
        return self._chosen(value, value, [(place + count) % LANES for place in range(LANES)])

    def lane(self, value: ir.Value, place: int) -> ir.Value:
        """See `dsl.vectors.lane`."""
        return self.b.fpext(self.b.extract_element(value, v.I32(place)), v.DOUBLE)

    def sum_ints(self, value: ir.Value) -> ir.Value:
        """See `dsl.vectors.sum_ints`."""
        total = self.intrinsic(f"llvm.vector.reduce.add.v{LANES}i32", v.I32, [value])
        return self.b.sext(total, v.I64)

    def greater(self, x: ir.Value, y: ir.Value) -> ir.Value:
        """See `dsl.vectors.greater`."""
        return self.b.select(self.b.fcmp_ordered(">", x, y), x, y)

    # Kinds of numbers

    def nearest(self, value: ir.Value) -> ir.Value:
        """See `dsl.vectors.nearest`."""
        magic = ir.Constant(v.FLOATS, [_MAGIC] * LANES)
        bits = self.b.bitcast(self.b.fadd(value, magic), v.INTS)
        return self.b.sub(bits, self.b.bitcast(magic, v.INTS))

    def keep_first(self, value: ir.Value, count: ir.Value, other: ir.Value) -> ir.Value:
        """See `dsl.vectors.keep_first`; the count is brought into -1 to 16 first."""
        least, most = v.I64(-1), v.I64(LANES)
        count = self.b.select(self.b.icmp_signed("<", count, least), least, count)
        count = self.b.select(self.b.icmp_signed(">", count, most), most, count)
        limit = self.splat(self.b.trunc(count, v.I32))
        below = self.b.icmp_signed("<", ir.Constant(v.INTS, list(range(LANES))), limit)
        return self.b.select(below, value, other)

    def from_halves(self, bits: ir.Value) -> ir.Value:
        """Floats of 16 bits, finite, given as shorts."""
        b = self.b
        if self.target.halves:
            return b.fpext(b.bitcast(bits, v.HALVES), v.FLOATS)
        wide = b.zext(bits, v.INTS)
        sign = b.shl(b.and_(wide, _all(0x8000)), _all(16))
        size = b.bitcast(b.shl(b.and_(wide, _all(0x7FFF)), _all(13)), v.FLOATS)
        # The exponent's offset is 15 in 16 bits and 127 in 32; the product is exact for small numbers too.
        size = b.fmul(size, ir.Constant(v.FLOATS, [2.0**112] * LANES))
        return b.bitcast(b.or_(b.bitcast(size, v.INTS), sign), v.FLOATS)

    def to_halves(self, value: ir.Value) -> ir.Value:
        """Floats rounded to 16 bits, as shorts."""
        b = self.b
        if self.target.halves:
            return b.bitcast(b.fptrunc(value, v.HALVES), v.SHORTS)
        bits = b.bitcast(value, v.INTS)
        sign = b.and_(bits, _all(0x80000000))
        size = b.xor(bits, sign)
        odd = b.and_(b.lshr(size, _all(13)), _all(1))
        usual = b.lshr(b.add(b.add(size, _all(0xC8000FFF)), odd), _all(13))
        # Numbers below the normal ones: adding 0.5 leaves them in the lowest bits, rounded as the sum is.
        small = b.fadd(b.bitcast(size, v.FLOATS), ir.Constant(v.FLOATS, [0.5] * LANES))
        small = b.sub(b.bitcast(small, v.INTS), _all(0x3F000000))
        found = b.select(b.icmp_unsigned("<", size, _all(0x38800000)), small, usual)
        found = b.select(b.icmp_unsigned(">=", size, _all(0x477FF000)), _all(0x7C00), found)
        return b.trunc(b.or_(found, b.lshr(sign, _all(16))), v.SHORTS)

    def half_of(self, number: ir.Value) -> ir.Value:
        """The bits of one number (a double) rounded to 16 bits."""
        narrow = self.b.fptrunc(number, v.FLOAT)
        if self.target.halves:
            return self.b.zext(self.b.bitcast(self.b.fptrunc(narrow, v.HALF), v.I16), v.I64)
        return self.b.zext(self.b.extract_element(self.to_halves(self.splat(narrow)), v.I32(0)), v.I64)

    def from_half(self, bits: ir.Value) -> ir.Value:
        """One float of 16 bits, given as a short, as a double."""
        if self.target.halves:
            return self.b.fpext(self.b.fpext(self.b.bitcast(bits, v.HALF), v.FLOAT), v.DOUBLE)
        return self.b.fpext(self.b.extract_element(self.from_halves(self.splat(bits)), v.I32(0)), v.DOUBLE)

    def square_root(self, number: ir.Value) -> ir.Value:
        """See `dsl.vectors.square_root`."""
        root = self.intrinsic("llvm.sqrt.f32", v.FLOAT, [self.b.fptrunc(number, v.FLOAT)])
        return self.b.fpext(root, v.DOUBLE)

    def rounded(self, number: ir.Value, bits: ir.Value) -> ir.Value:
        """See `dsl.vectors.rounded`."""
        b, drop = self.b, self.b.trunc(bits, v.I32)
        found = b.shl(b.lshr(b.bitcast(b.fptrunc(number, v.FLOAT), v.I32), drop), drop)
        return b.fpext(b.bitcast(found, v.FLOAT), v.DOUBLE)

    def prefetch(self, place: ir.Value) -> None:
        """For reading, into the nearest cache."""
        place = self.b.bitcast(place, v.I8.as_pointer())
        name = "llvm.prefetch.p0"
        function = self.module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(ir.VoidType(), [place.type, v.I32, v.I32, v.I32])
            function = ir.Function(self.module, kind, name=name)
        self.b.call(function, [place, v.I32(0), v.I32(3), v.I32(1)])

    # Threads

    def elapsed_time(self) -> ir.Value:
        """Nanoseconds of a clock that only goes forward, 0 where none is known."""
        return self._clock(0)

    def processor_time(self) -> ir.Value:
        """Nanoseconds of the clock of this thread, 0 where none is known."""
        return self._clock(1)

    def _clock(self, which: int) -> ir.Value:
        """Nanoseconds by a clock of the system (POSIX `clock_gettime` with two words of 64 bits), or 0."""
        triple = self.target.triple
        known = [numbers[which] for system, numbers in _CLOCKS.items() if system in triple]
        if not known or not (triple.startswith("x86_64") or self.target.is_arm):
            return v.I64(0)
        b = self.b
        with b.goto_entry_block():
            place = b.alloca(v.I64, 2)
        self.intrinsic("clock_gettime", v.I32, [v.I32(known[0]), place])
        seconds, rest = b.load(place), b.load(b.gep(place, [v.I32(1)]))
        return b.add(b.mul(seconds, v.I64(1_000_000_000)), rest)

    def arrive(self, place: ir.Value) -> None:
        """Adds one, in one order for all threads."""
        self.b.atomic_rmw("add", place, v.I64(1), "seq_cst")

    def take(self, place: ir.Value, amount: ir.Value) -> ir.Value:
        """Adds an amount and gives what was there before; nothing else is ordered by it."""
        return self.b.atomic_rmw("add", place, amount, "monotonic")

    def wait_for(self, place: ir.Value, wanted: ir.Value) -> None:
        """Spins, then gives way: threads that only spin stop each other where processors are few."""
        b, function = self.b, self.b.function
        start = b.block
        head, pause, spin, rest, after = (
            function.append_basic_block(name) for name in ("wait", "pause", "spin", "give_way", "arrived")
        )
        b.branch(head)
        b.position_at_end(head)
        turn = b.phi(v.I64)
        turn.add_incoming(v.I64(0), start)
        b.cbranch(b.icmp_signed("<", b.load_atomic(place, "seq_cst", 8), wanted), pause, after)
        b.position_at_end(pause)
        more = b.add(turn, v.I64(1))
        b.cbranch(b.icmp_signed("<", turn, v.I64(_SPINS)), spin, rest)
        b.position_at_end(spin)
        self._pause()
        turn.add_incoming(more, b.block)
        b.branch(head)
        b.position_at_end(rest)
        name = "SwitchToThread" if "windows" in self.target.triple else "sched_yield"
        self.intrinsic(name, v.I32, [])
        turn.add_incoming(turn, b.block)
        b.branch(head)
        b.position_at_end(after)

    def _pause(self) -> None:
        """Tells the processor that a loop waits."""
        if self.target.is_x86:
            self.intrinsic("llvm.x86.sse2.pause", ir.VoidType(), [])
        elif self.target.is_arm:
            self.intrinsic("llvm.aarch64.hint", ir.VoidType(), [v.I32(1)])


def _all(bits: int) -> ir.Value:
    return ir.Constant(v.INTS, [bits] * LANES)
