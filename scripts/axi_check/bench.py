"""The cocotb test of run.py: loads the arrays, starts the IP by its registers, compares memory, for each stall mode.

Stall modes: `ideal`: no stalls. `random`: every channel pauses in 30 % of the cycles. `bursty`: long pauses and long runs.
`lazy`: READY follows VALID, and write addresses are accepted only when data are offered, too; a manager must offer both
without waiting (AXI A3.3). `errors`: first answers accesses of each array with SLVERR, and sets misaligned addresses.
`strobes`: first writes the registers byte by byte. `reset`: resets IP and memory together in the middle of runs. `stop`: stops
the IP by its soft reset in the middle of runs, while the memory goes on. `queue`: all functions as commands of the queue, which
overlap where the IP can; soft resets stop some. `garbage`: starts runs with garbage in all registers
but the addresses; they must touch nothing outside of the arrays, and end or be stopped by the soft reset. `guard`: the same
with lengths of all kinds, with garbage or without; behind a length nothing is touched. Each of these then demands a right run.
No reset separates the runs, so restarts are tested, too.
"""
import json
import os
import random
from pathlib import Path

import cocotb
import numpy
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, First, RisingEdge, SimTimeoutError, Timer, with_timeout
from cocotbext.axi import (AxiLiteBus, AxiLiteMaster, AxiReadBus, AxiSlaveRead, AxiSlaveWrite, AxiWriteBus)

SETUP = json.loads(os.environ["SAGEN_AXI_CHECK"])
CONTROL, GIE, IER, ISR = 0x00, 0x04, 0x08, 0x0C
START, DONE, IDLE = 1, 2, 4
PERIOD_NS = 4
SOFT_RESET = 1
CAUSES, MISALIGNED, OUTSIDE, STOPPED = 0x37, 4, 16, 32     # bits of the status register
ACCESS_CYCLES = 400     # limit of a register access, stalls included
ANSWER_CYCLES = 12      # limit of the first register access after a reset, without stalls
RESETS = 8              # in the middle of runs
GARBAGE = 18            # runs with garbage in the registers
ANY, SMALL, ONE = KINDS = range(3)   # of garbage
STALLS = "ideal", "random", "bursty"   # of runs with garbage
BATCHES = 9             # of commands
INDEPENDENT, MORE = 0x100, 0x200    # bits of a command that may overlap with those before it, behind which others follow
LENGTHS = 24            # runs with other lengths than those of the arrays
GARBAGE_CYCLES = 4000   # limit of such a run; then it is stopped
STOP_CYCLES = 20000     # limit of a soft reset
GUARD = 8192            # bytes around each array that must not change


def load(folder, name):
    """The bytes of an image file, in address order."""
    path = folder / name
    if path.suffix == ".npy":
        array = numpy.load(path)
        return array.astype(array.dtype.newbyteorder("<")).tobytes()
    if path.suffix == ".bin":
        return path.read_bytes()
    if path.suffix == ".hex":
        return bytes.fromhex("".join(path.read_text().split()))
    raise ValueError(f"{name}: not .npy, .bin or .hex")


class Array:
    """One array in its own window of the address space, between two guard zones."""

    def __init__(self, index, data, folder, rng, bits):
        self.name, self.port, self.offset, self.size = data["name"], data["port"], data["offset"], data["bytes"]
        window = (index + 1) << 33 if bits > 32 else 0x80000000 + (index << 27)
        self.base = window + ((index + 5) << 20) + data.get("align", 0) % 4096
        self.start = load(folder, data["input"]) if data.get("input") else rng.randbytes(self.size)
        self.expected = load(folder, data["expected"]) if data.get("expected") else self.start
        for what, image in (("input", self.start), ("expected", self.expected)):
            assert len(image) == self.size, f"{self.name}: {what} has {len(image)} bytes, not {self.size}"
        self.alignment, self.number, self.failing, self.failed = data.get("alignment", 1), data.get("port_number", 0), None, set()
        self.written = data.get("written", True)
        self.length_offset, self.length_words = data.get("length_offset"), data.get("length_words", 0)
        self.length = self.size     # what the IP is told, and what it may touch
        self.guards = rng.randbytes(GUARD), rng.randbytes(GUARD)
        self.memory = bytearray()

    def reset(self):
        self.memory = bytearray(self.guards[0] + self.start + self.guards[1])
        self.length = self.size

    def holds(self, address):
        return self.base - GUARD <= address < self.base + self.size + GUARD

    def fails(self, what, address, length):
        """Answers with an error if accesses of this kind shall fail."""
        if self.failing == what:
            self.failed.add(address - address % length)
            raise IOError("injected by the test")

    def problems(self, ran):
        """Differences from the expectation: at most one message for the array and one for its guard zones. `ran`: a run of
        its function."""
        body, expected = bytes(self.memory[GUARD:GUARD + self.size]), self.expected if ran else self.start
        if body != expected:
            wrong = [i for i in range(self.size) if body[i] != expected[i]]
            i = wrong[0]
            yield (f"array {self.name}: {len(wrong)} of {self.size} bytes wrong, the first at {i}: "
                   f"{body[i]:#04x} instead of {expected[i]:#04x}")
        yield from self.beside()

    def beside(self):
        """The guard zones."""
        if self.memory[:GUARD] != self.guards[0] or self.memory[GUARD + self.size:] != self.guards[1]:
            yield f"array {self.name}: memory around it was written"
        if self.memory[GUARD + self.length:GUARD + self.size] != self.start[self.length:]:
            yield f"array {self.name}: written behind its length of {self.length} bytes"


class Function:
    """A function of the IP, with its own arrays."""

    def __init__(self, data, first, folder, rng, bits):
        self.name, self.number = data.get("function", "the run"), data.get("number", 0)
        self.arrays = [Array(first + i, a, folder, rng, bits) for i, a in enumerate(data["arrays"])]
        self.scalars = data.get("scalars", [])


class Memory:
    """The memory behind one AXI port: the arrays of the port. Each access to another address is an error."""

    def __init__(self, arrays, lanes, problems):
        self.arrays, self.lanes, self.problems = arrays, lanes, problems

    def find(self, address, what):
        for array in self.arrays:
            if array.holds(address):
                return array, address - array.base + GUARD
        self.problems.append(f"{what} address {address:#x} belongs to no array of the port")
        raise ValueError("address out of range")

    async def read(self, address, length):
        array, at = self.find(address, "read")
        array.fails("read", address, length)
        # Bus words are read wholly; each holds a byte of the array.
        at_word = at - address % self.lanes
        if not array.length or at_word + self.lanes <= GUARD or at_word - GUARD >= array.length:
            self.problems.append(f"array {array.name}: read outside it ({array.length} bytes), at {at - GUARD:+}")
        return bytes(array.memory[at:at + length]).ljust(length, b"\0")

    async def write(self, address, data):
        array, at = self.find(address, "write")
        array.fails("write", address, len(data))
        array.memory[at:at + len(data)] = data


def pauses(mode, rng, valid):
    """An infinite sequence of pause values, one a cycle, for one channel. `valid`: whether the other side offers."""
    while True:
        if mode == "random":
            yield rng.random() < 0.3
        elif mode == "bursty":
            yield from [True] * rng.randrange(60)
            yield from [False] * rng.randrange(1, 90)
        elif mode == "lazy" and valid:
            yield not valid()
        else:
            yield False


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.rng = random.Random(SETUP["seed"])
        path = Path(SETUP["description"])
        description = json.loads(path.read_text())
        self.max_cycles = description.get("max_cycles", 100_000)
        self.address_bits = description.get("address_bits", 64)
        self.functions = []
        for data in description.get("functions", [description]):
            first = sum(len(f.arrays) for f in self.functions)
            self.functions.append(Function(data, first, path.parent, self.rng, self.address_bits))
        self.arrays = [a for f in self.functions for a in f.arrays]
        self.function_register, self.queue = description.get("function_register"), description.get("queue")
        self.overlap = description.get("overlap", False)
        self.soft_reset = description.get("soft_reset")
        self.problems, self.channels, self.answers = [], [], []
        self.control = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi_control"), dut.ap_clk, dut.ap_rst_n, False)
        write, read = self.control.write_if, self.control.read_if
        self.channels += [(c, None) for c in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel,
                                              read.r_channel)]
        self.status = description.get("status")
        for bus in SETUP["managers"]:
            self.connect(bus)
        unknown = {a.port for a in self.arrays} - set(SETUP["managers"])
        assert not unknown, f"axi_check.json names ports the IP does not have: {sorted(unknown)}"

    def connect(self, bus):
        """Connects memory models to the read and write channels of a port."""
        dut, clock = self.dut, (self.dut.ap_clk, self.dut.ap_rst_n)
        arrays = [a for a in self.arrays if a.port == bus]

        def high(*names):
            signals = [getattr(dut, f"{bus}_{n}") for n in names]
            return lambda: all(s.value.is_resolvable and int(s.value) for s in signals)

        if hasattr(dut, f"{bus}_awvalid"):
            lanes = len(getattr(dut, f"{bus}_wdata")) // 8
            slave = AxiSlaveWrite(AxiWriteBus.from_prefix(dut, bus), *clock, Memory(arrays, lanes, self.problems), False)
            self.channels += [(slave.aw_channel, high("awvalid", "wvalid")), (slave.w_channel, high("wvalid")),
                              (slave.b_channel, None)]
            self.answers.append(slave.b_channel)
        if hasattr(dut, f"{bus}_arvalid"):
            lanes = len(getattr(dut, f"{bus}_rdata")) // 8
            slave = AxiSlaveRead(AxiReadBus.from_prefix(dut, bus), *clock, Memory(arrays, lanes, self.problems), False)
            self.channels += [(slave.ar_channel, high("arvalid")), (slave.r_channel, None)]
            self.answers.append(slave.r_channel)

    def stall(self, mode):
        for channel, valid in self.channels:
            if mode == "ideal":
                channel.clear_pause_generator()
                channel.pause = False
            else:
                channel.set_pause_generator(pauses(mode, random.Random(self.rng.random()), valid))

    async def read(self, register):
        answer = await self.answer(f"reading register {register:#x}", self.control.read(register, 4))
        return int.from_bytes(answer.data, "little")

    async def write(self, register, value, size=4):
        """Writes `size` bytes, with strobes for these only."""
        await self.answer(f"writing register {register:#x}", self.control.write(register, value.to_bytes(size, "little")))

    async def answer(self, what, transaction):
        """Limits the time of a register access, because an IP without an answer would block the simulation."""
        try:
            return await with_timeout(cocotb.start_soon(transaction), PERIOD_NS * ACCESS_CYCLES, "ns")
        except SimTimeoutError:
            self.problems.append(f"{what}: no answer in {ACCESS_CYCLES} cycles")
            raise

    def expect(self, what, got, wanted):
        if got != wanted:
            self.problems.append(f"{what}: {got:#x} instead of {wanted:#x}")

    async def program(self, function=None):
        """Writes addresses and interrupt enables, and reads them back; function: the first one, if not given."""
        function = function or self.functions[0]
        for array in function.arrays:
            for shift in range(0, self.address_bits, 32):
                word = array.base >> shift & 0xFFFFFFFF
                await self.write(array.offset + shift // 8, word)
                self.expect(f"address register {array.offset + shift // 8:#x}",
                            await self.read(array.offset + shift // 8), word)
        for array in function.arrays:
            await self.set_length(array, array.size)
        for scalar in function.scalars:
            for k, word in enumerate(scalar["words"]):
                await self.write(scalar["offset"] + 4 * k, word)
        if self.function_register is not None:
            await self.write(self.function_register, function.number)
        for register in (GIE, IER):
            await self.write(register, 1)
            self.expect(f"register {register:#x}", await self.read(register), 1)

    async def set_length(self, array, length):
        """Tells the IP the length of an array, if it asks for it. The arrays hold what they did."""
        for k in range(array.length_words):
            await self.write(array.length_offset + 4 * k, length >> 32 * k & 0xFFFFFFFF)
        array.length = min(length, array.size)

    async def wait_done(self, limit=None):
        """Waits for completion, by the interrupt if there is one. Returns (cycles, finished)."""
        limit = limit or self.max_cycles
        begin = cocotb.simtime.get_sim_time("ns")
        if hasattr(self.dut, "interrupt"):
            if not int(self.dut.interrupt.value):
                await First(RisingEdge(self.dut.interrupt), ClockCycles(self.dut.ap_clk, limit))
            finished = bool(int(self.dut.interrupt.value))
        else:
            finished = False
            while not finished and cocotb.simtime.get_sim_time("ns") - begin < PERIOD_NS * limit:
                finished = bool(await self.read(CONTROL) & DONE)
        return int((cocotb.simtime.get_sim_time("ns") - begin) / PERIOD_NS), finished

    async def run(self, mode):
        """One run of each function with the stalls of `mode`, if any. Returns their cycles, or None if one does not end."""
        all_cycles = 0
        for function in self.functions:
            cycles = await self.run_one(mode, function)
            if cycles is None:
                return None
            all_cycles += cycles
        return all_cycles

    async def run_next(self, mode, trial):
        """A whole run behind a trial: of each function in turn."""
        await self.run_one(mode, self.functions[(trial + 1) % len(self.functions)])

    async def run_one(self, mode, function):
        for array in self.arrays:
            array.reset()
        if mode:
            self.stall(mode)
        await self.program(function)
        self.expect("control register before start", await self.read(CONTROL) & (DONE | IDLE), IDLE)
        await self.write(CONTROL, START)
        cycles, finished = await self.wait_done()
        if not finished:
            self.problems.append(f"not done after {self.max_cycles} cycles")
            return None
        if hasattr(self.dut, "interrupt"):
            self.expect("interrupt status", await self.read(ISR) & 1, 1)
            await self.write(ISR, 1)
            await ClockCycles(self.dut.ap_clk, 4)
            self.expect("interrupt line after the status bit was toggled", int(self.dut.interrupt.value), 0)
            self.expect("done bit", await self.read(CONTROL) & DONE, DONE)
        if self.status is not None:
            self.expect("status", await self.read(self.status), 0)
        self.expect("control register after it was read", await self.read(CONTROL) & (DONE | IDLE | START), IDLE)
        for array in self.arrays:
            self.problems += array.problems(array in function.arrays)
        return cycles

    async def finish_pending(self, what):
        """Starts the IP and waits for its end; the interrupt stays pending."""
        await self.write(CONTROL, START)
        cycles, finished = await self.wait_done()
        self.expect(f"{what}: the run ends", finished, True)
        return cycles

    async def finish(self, what):
        """The same, and acknowledges the interrupt."""
        cycles = await self.finish_pending(what)
        await self.write(ISR, await self.read(ISR))
        await self.read(CONTROL)
        return cycles

    async def strobes(self):
        """A write of some bytes changes no other byte, starts nothing and clears nothing, whatever the other lanes hold."""
        self.stall("random")
        held = [a.offset + s // 8 for a in self.functions[0].arrays for s in range(0, self.address_bits, 32)]
        for register in held:
            value = self.rng.getrandbits(32)
            await self.write(register, value)
            for first, size in ((0, 1), (3, 1), (1, 2), (2, 1), (1, 1), (0, 2), (1, 3)):
                part = self.rng.getrandbits(8 * size)
                await self.write(register + first, part, size)
                value = value & ~((1 << 8 * size) - 1 << 8 * first) | part << 8 * first
                self.expect(f"register {register:#x} after bytes {first} to {first + size - 1}", await self.read(register), value)
        for register, value in ((GIE, 1), (IER, 3)):
            await self.write(register, value)
            await self.write(register + 1, 0, 3)
            self.expect(f"register {register:#x} after its upper bytes", await self.read(register), value)
        await self.write(CONTROL + 1, 0x818181, 3)
        await ClockCycles(self.dut.ap_clk, 20)
        self.expect("control register after its upper bytes", await self.read(CONTROL), IDLE)
        await self.program()
        await self.finish_pending("run before the interrupt's upper bytes")
        status = await self.read(ISR)
        await self.write(ISR + 1, 0x030303, 3)
        self.expect("interrupt status after its upper bytes", await self.read(ISR), status)
        await self.write(ISR, status, 1)
        self.expect("interrupt status after its lowest byte", await self.read(ISR), 0)
        await self.read(CONTROL)

    async def begin(self, trial, cycles):
        """Starts a run and waits for some cycles of it. The arrays hold other data than in a whole run, so that late data
        would be visible."""
        function = self.functions[trial % len(self.functions)]
        for array in self.arrays:
            array.reset()
            array.memory[GUARD:GUARD + array.size] = self.rng.randbytes(array.size)
        self.stall("ideal")
        await self.program(function)
        self.stall("random" if trial % 2 else "bursty")
        await self.write(CONTROL, START)
        await ClockCycles(self.dut.ap_clk, self.rng.randrange(1, cycles if trial % 2 else 20))

    async def resets(self, cycles):
        """Resets of IP and memory of 1 to 3 cycles at any time of a run; the registers answer soon, and the next whole run is
        right."""
        for trial in range(RESETS):
            await self.begin(trial, cycles)
            self.dut.ap_rst_n.value = 0
            await ClockCycles(self.dut.ap_clk, self.rng.randrange(1, 4))
            self.dut.ap_rst_n.value = 1
            self.stall("ideal")
            before = cocotb.simtime.get_sim_time("ns")
            self.expect("control register after a reset", await self.read(CONTROL), IDLE)
            taken = int((cocotb.simtime.get_sim_time("ns") - before) / PERIOD_NS)
            if taken > ANSWER_CYCLES:
                self.problems.append(f"the first register access after a reset took {taken} cycles")
            for register in (GIE, IER, ISR):
                self.expect(f"register {register:#x} after a reset", await self.read(register), 0)
            self.stall("random")
            await self.run_next(None, trial)

    async def stops(self, cycles):
        """Soft resets at any time of a run, in which answers of the memory come late; the next whole run is right."""
        for trial in range(RESETS):
            await self.begin(trial, cycles)
            for channel in self.answers:
                channel.clear_pause_generator()
                channel.pause = True
            await ClockCycles(self.dut.ap_clk, self.rng.randrange(40))
            ended = bool(await self.read(CONTROL) & IDLE)
            cocotb.start_soon(self.late(self.rng.randrange(400)))
            await self.stop(None if ended else STOPPED)
            await self.run_next(None, trial)

    async def stop(self, status):
        """A soft reset; the status after it is as expected (None: anything)."""
        await self.write(self.soft_reset, SOFT_RESET)
        begin = cocotb.simtime.get_sim_time("ns")
        while await self.read(self.soft_reset) & SOFT_RESET:
            if cocotb.simtime.get_sim_time("ns") - begin > PERIOD_NS * STOP_CYCLES:
                self.problems.append(f"a soft reset does not end in {STOP_CYCLES} cycles")
                raise SimTimeoutError
        self.expect("control register after a soft reset", await self.read(CONTROL) & (START | IDLE), IDLE)
        if status is not None:
            self.expect("status after a soft reset", await self.read(self.status) & (CAUSES & ~OUTSIDE), status)
        await self.write(self.status, CAUSES)
        await self.write(ISR, await self.read(ISR))
        await self.read(CONTROL)

    async def queued(self):
        """Batches of commands, each function once, in any order. A soft reset stops some of them; the next one is right."""
        for trial in range(BATCHES):
            await self.batch(STALLS[trial % len(STALLS)])
            if trial % 2:
                await self.batch("random", stops=True)

    async def batch(self, stalls, stops=False):
        for array in self.arrays:
            array.reset()
        self.stall("ideal")
        order = self.rng.sample(self.functions, len(self.functions))
        for function in order:
            await self.program(function)
            flags = 0
            if self.overlap:
                flags |= INDEPENDENT * (self.rng.random() < 0.8) | MORE * (function is not order[-1])
            if function is order[-1]:
                self.stall(stalls)
            while not await self.read(self.queue) >> 16:
                await ClockCycles(self.dut.ap_clk, 20)
            await self.write(self.queue, function.number | flags)
        if stops:
            await ClockCycles(self.dut.ap_clk, self.rng.randrange(200))
            ended = bool(await self.read(CONTROL) & IDLE)
            return await self.stop(None if ended else STOPPED)
        end = cocotb.simtime.get_sim_time("ns") + PERIOD_NS * self.max_cycles * len(order)
        while await self.read(self.queue) & 0xFFFF and cocotb.simtime.get_sim_time("ns") < end:
            await ClockCycles(self.dut.ap_clk, 20)
        self.expect("commands in the queue", await self.read(self.queue) & 0xFFFF, 0)
        self.expect("status behind the commands", await self.read(self.status), 0)
        await self.write(ISR, await self.read(ISR))
        for array in self.arrays:
            self.problems += array.problems(True)

    async def garbage(self):
        """Runs with garbage in all registers but the addresses. They change nothing beside the arrays and read nothing
        there. Each ends or is stopped; the next whole run is right."""
        ends = outside = 0
        # Where no register takes garbage, one run with each kind of stalls is enough.
        able = self.queue is not None or self.function_register is not None or any(f.scalars for f in self.functions)
        runs = GARBAGE if able else len(STALLS)
        for trial in range(runs):
            for array in self.arrays:
                array.reset()
            self.dut.garbage.value = 1
            self.stall("ideal")
            function = self.functions[trial % len(self.functions)]
            await self.program(function)
            await self.spoil(function, trial // len(STALLS) % len(KINDS))
            self.stall(STALLS[trial % len(STALLS)])
            if self.function_register is not None and self.rng.random() < 0.3:
                await self.write(self.function_register, self.rng.getrandbits(32))
            if self.queue is not None and trial % 3 == 0:
                for _ in range(self.rng.randrange(1, 4)):
                    await self.write(self.queue, function.number if self.rng.random() < 0.7 else self.rng.getrandbits(32))
            else:
                await self.write(CONTROL, START)
            finished, status = await self.end()
            ends, outside = ends + finished, outside + bool(status & OUTSIDE)
            self.dut.garbage.value = 0
            await self.run_next("random", trial)
        print(f"axi_check: garbage: {runs} runs, {ends} ended, {runs - ends} stopped, {outside} left out data", flush=True)

    async def spoil(self, function, kind):
        """Garbage in the registers of scalars and of what follows from sizes: any words in most of them, small numbers in
        most of them, or a small number in one of them, with which a run goes on longest."""
        words = [scalar["offset"] + 4 * k for scalar in function.scalars for k in range(len(scalar["words"]))]
        one = self.rng.choice(words) if words and kind == ONE else None
        for offset in words:
            if offset == one or one is None and self.rng.random() < 0.7:
                await self.write(offset, self.rng.getrandbits(32 if kind == ANY else self.rng.randrange(1, 8)))

    async def end(self):
        """Waits for the end of a run, or stops it. Nothing outside of the arrays was touched. Returns whether it ended, and
        the status."""
        end = cocotb.simtime.get_sim_time("ns") + PERIOD_NS * GARBAGE_CYCLES
        while not (finished := bool(await self.read(CONTROL) & IDLE)) and cocotb.simtime.get_sim_time("ns") < end:
            await ClockCycles(self.dut.ap_clk, 50)
        status = await self.read(self.status)
        if finished:
            await self.write(self.status, CAUSES)
            await self.write(ISR, await self.read(ISR))
            await self.read(CONTROL)
        else:
            await self.stop(None)
        for array in self.arrays:
            self.problems += array.beside()
            if not array.written and bytes(array.memory[GUARD:GUARD + array.size]) != array.start:
                self.problems.append(f"array {array.name}, which is only read, was written")
        return finished, status

    async def guard(self):
        """Runs with lengths of all kinds: none, one byte too few, any, too many. Every other run has garbage in the other
        registers, too. Behind a length nothing is touched; what is left out is reported. The next whole run is right."""
        ends = outside = 0
        for trial in range(LENGTHS):
            for array in self.arrays:
                array.reset()
            self.dut.garbage.value = 1
            self.stall("ideal")
            function = self.functions[trial // 2 % len(self.functions)]
            await self.program(function)
            for array in function.arrays:
                whole, most = array.size, (1 << 32 * array.length_words) - 1
                kinds = (whole, 0, whole - 1, self.rng.randrange(whole), self.rng.randrange(whole, most + 1), most)
                assert array.length_words, f"axi_check.json gives no register for the length of {array.name}"
                await self.set_length(array, whole if trial < 4 else self.rng.choice(kinds))
            if trial % 2:
                await self.spoil(function, trial * len(KINDS) // LENGTHS)
            self.stall(STALLS[trial % len(STALLS)])
            await self.write(CONTROL, START)
            finished, status = await self.end()
            ends, outside = ends + finished, outside + bool(status & OUTSIDE)
            lengths = ", ".join(f"{a.length} of {a.size} bytes of {a.name}" for a in function.arrays)
            if trial % 2 == 0:
                self.expect(f"the run ends with {lengths}", finished, True)
                if all(a.length == a.size for a in function.arrays):
                    self.expect(f"status with {lengths}", status, 0)
                elif any(a.length == 0 for a in function.arrays):
                    self.expect(f"status with {lengths}", status & CAUSES, OUTSIDE)
            self.dut.garbage.value = 0
            await self.run_next("random", trial)
        print(f"axi_check: guard: {LENGTHS} runs, {ends} ended, {LENGTHS - ends} stopped, {outside} left out data", flush=True)

    async def late(self, cycles):
        """Lets the memory answer after some cycles."""
        await ClockCycles(self.dut.ap_clk, cycles)
        self.stall("random")

    async def errors(self):
        """Every array answers with errors once, then gets a misaligned address. The run must end and the status report it."""
        self.stall("random")
        for function, array in ((f, a) for f in self.functions for a in f.arrays):
            port = array.number
            for kind, bit in (("read", 1), ("write", 2)):
                for other in self.arrays:
                    other.reset()
                await self.program(function)
                array.failing, array.failed = kind, set()
                await self.finish(f"{kind} errors of {array.name}")
                array.failing = None
                status, at = await self.read(self.status), 0
                if not array.failed:
                    self.expect(f"status without {kind}s of {array.name}", status, 0)
                    continue
                for half in (0, 1):
                    at |= await self.read(self.status + 4 + 4 * half) << 32 * half
                self.expect(f"status after {kind} errors of {array.name}", status & 0xFF0F07, port << 16 | 2 << 8 | bit)
                if status & 8 and not array.base - 4096 < at < array.base + array.size:
                    self.problems.append(f"{kind} error of {array.name} is placed at {at:#x}")
                await self.write(self.status, CAUSES)
                self.expect("status after it was cleared", await self.read(self.status), 0)
            if array.alignment > 1:
                await self.program(function)
                await self.write(array.offset, (array.base + array.alignment // 2) & 0xFFFFFFFF)
                before = [bytes(a.memory) for a in self.arrays]
                await self.finish(f"{array.name} misaligned")
                self.expect("status after a misaligned address", await self.read(self.status) & (0xFF00 | CAUSES), MISALIGNED)
                self.expect("memory after it", [bytes(a.memory) for a in self.arrays] == before, True)
                await self.write(self.status, CAUSES)


@cocotb.test()
async def through_the_ports(dut):
    """Runs all stall modes; fails after the first one with errors and lists them."""
    dut.ap_rst_n.value = 0
    bench = Bench(dut)      # its models wait for the edge
    await Timer(PERIOD_NS, "ns")
    cocotb.start_soon(Clock(dut.ap_clk, PERIOD_NS, unit="ns").start())
    await ClockCycles(dut.ap_clk, 10)
    dut.ap_rst_n.value = 1
    await ClockCycles(dut.ap_clk, 10)

    def counter(bus, name):
        return int(getattr(dut, f"{bus}_{name}").value)

    for mode in SETUP["modes"]:
        try:
            if mode == "errors":
                await bench.errors()
            if mode == "strobes":
                await bench.strobes()
            if mode == "reset":
                await bench.resets(await bench.run("random"))
            if mode == "stop":
                await bench.stops(await bench.run("random"))
            if mode == "queue" and bench.queue is not None:
                await bench.queued()
            if mode == "garbage":
                await bench.garbage()
            if mode == "guard":
                await bench.guard()
            stalls = mode in ("ideal", "random", "bursty", "lazy")
            cycles = await bench.run(mode if stalls else "random")
        except SimTimeoutError:
            cycles = None
        for bus in SETUP["managers"] + ["s_axi_control"]:
            broken = counter(bus, "errors")
            if broken:
                bench.problems.append(f"{bus}: {broken} broken rules")
        for problem in dict.fromkeys(bench.problems):
            print(f"axi_check: {mode}: {problem}", flush=True)
        assert not bench.problems, f"{len(bench.problems)} problems in mode {mode}"
        print(f"axi_check: {mode}: {cycles} cycles", flush=True)
    for bus in SETUP["managers"]:
        numbers = [f"{counter(bus, n)} {n.replace('_', ' ')}" for n in
                   ("read_bursts", "read_beats", "write_bursts", "write_beats") if counter(bus, n)]
        print(f"axi_check: {bus}: {', '.join(numbers)}", flush=True)
