#!/usr/bin/env python3
"""Checks Verilog-2005 strictly with slang: `slang_lint.py TOP FILE...`; prints warnings, exits 1 on any.

All of slang's warnings are on except those in OFF, which the emitted style contradicts on purpose.
"""
import sys

from pyslang.driver import Driver

OFF = {
    "sign-conversion": "a conversion between signed and unsigned of one width keeps all bits",
    "arith-op-mismatch": "the operands of a product may differ in width; its net has the sum of both widths, so no bit is lost",
    "unused-port": "Verilator's UNUSEDSIGNAL checks these and accepts waivers in the source",
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
