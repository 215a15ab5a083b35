#!/usr/bin/env python3
"""slang as a strict Verilog-2005 gate: `slang_lint.py TOP FILE...`; prints its findings, exits 1 on any.

All of slang's warnings are on except those in OFF, each of which contradicts the emitted style on purpose.
"""
import sys

from pyslang.driver import Driver

OFF = {
    "sign-conversion": "a value moved between signed and unsigned of one width keeps its bits; the printer does so freely",
    "arith-op-mismatch": "a product's operands have widths of their own; its net has the sum of them, so nothing is lost",
    "unused-port": "unread inputs are judged by Verilator's UNUSEDSIGNAL, which honours waivers on the line",
    "unused-net": "as above",
    "unused-variable": "as above",
    "unused-but-set-variable": "as above",
    "unused-but-set-net": "as above",
}


def main(top, files):
    driver = Driver()
    driver.addStandardArgs()
    options = ["--std", "1364-2005", "--top", top, "-Weverything", "-Werror"] + [f"-Wno-{name}" for name in OFF]
    if not (driver.parseCommandLine(" ".join(["slang", *options, *files])) and driver.processOptions()):
        return 2
    return 0 if driver.parseAllSources() and driver.reportParseDiags() and driver.runFullCompilation(True) else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
