"""Runs the notebook of an IP with one function: notebook.py KERNEL ADDRESS_OR_BITS_OR_SIZE..., those of scratch buffers at the end

Its buffers get these addresses. What arrives in them are the expected results.
"""
import ast
import asyncio
import importlib
import json
import sys

import numpy
import pynq

kernel = sys.argv[1]
module = importlib.import_module(kernel)
numbers = [int(a) for a in sys.argv[2:]]
arrays = [(a, n) for a, n in zip(module.ARGUMENTS, numbers) if a.shape is not None]
pynq.addresses = [n for _, n in arrays] + numbers[len(module.ARGUMENTS):]
expected = {a.name: numpy.fromfile(f"../sim/{a.name}.expected.bin", a.dtype).reshape(a.shape) for a, _ in arrays}
pynq.arrives = {n: expected[a.name] for a, n in arrays}


async def run():
    """All cells, one after the other, as Jupyter does."""
    names = {"print": lambda *what: print(*what, file=sys.stderr)}
    for cell in json.load(open(f"{kernel}.ipynb"))["cells"]:
        if cell["cell_type"] == "code":
            text = "".join(cell["source"])
            ran = eval(compile(text, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
            if ran is not None:
                await ran
    return names["ip"]

ip = asyncio.run(run())
print("C", ip.cycles)
