"""Runs litex/host.py of an IP against memory and registers that behave like the system's: litex_mock.py IP_DIR

`link` stands for the serial port. When a run starts, the arrays that the registers point to become those after the C
program. With `--broken` one byte of a result is another one, which the host must find.
"""
import importlib.util
import json
import os
import sys

folder, broken = sys.argv[1], "--broken" in sys.argv
spec = importlib.util.spec_from_file_location("host", os.path.join(folder, "litex", "host.py"))
host = importlib.util.module_from_spec(spec)
spec.loader.exec_module(host)
check = json.loads(host.contents("axi_check.json"))
words, starts = {}, 0


class Link:
    def read(self, address, count):
        if address == host.REGISTERS + host.CTRL:
            return [host.IDLE]
        return [words.get(address + 4 * i, 0) for i in range(count)]

    def write(self, address, values):
        global starts
        if address == host.REGISTERS + host.CTRL:
            assert values == [host.START]
            starts += 1
            end()
            return
        words.update((address + 4 * i, value) for i, value in enumerate(values))


def end():
    """What a run leaves. Every argument must have arrived."""
    spoil = broken
    for scalar in check["scalars"]:
        assert [words[host.REGISTERS + scalar["offset"] + 4 * k] for k in range(len(scalar["words"]))] == scalar["words"]
    for array in check["arrays"]:
        at = words[host.REGISTERS + array["offset"]]
        before = b"".join(words[at + 4 * i].to_bytes(4, "little") for i in range((array["bytes"] + 3) // 4))
        assert before[:array["bytes"]] == host.contents(array["input"])
        if array["written"]:
            after = bytearray(host.contents(array["expected"]))
            after[-1] ^= spoil
            spoil = False
            after += bytes(-len(after) % 4)
            words.update((at + i, int.from_bytes(after[i:i + 4], "little")) for i in range(0, len(after), 4))


wrong = host.run(host.Board(Link()), check, check, 1)
assert starts == 1
assert bool(wrong) == broken, wrong
