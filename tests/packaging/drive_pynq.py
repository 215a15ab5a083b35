"""Runs the PYNQ driver once: drive_pynq.py KERNEL[:FUNCTION] ADDRESS_OR_BITS_OR_SIZE..., those of scratch buffers at the end

With PLAIN in the environment it passes NumPy arrays and waits for the interrupt.
"""
import importlib
import os
import sys

import numpy
import pynq

plain = "PLAIN" in os.environ
kernel, _, function = sys.argv[1].partition(":")
module = importlib.import_module(kernel)
arguments = module.FUNCTIONS[function][1] if function else module.ARGUMENTS
numbers = [int(a) for a in sys.argv[2:]]
sizes = [n for a, n in zip(arguments, numbers) if a.most is not None]
values = module.allocate(function, *sizes) if function else module.allocate()
for k, (argument, number) in enumerate(zip(arguments, numbers)):
    if argument.most is not None:
        assert values[k] == number, argument.name
    elif argument.shape is None:
        size = numpy.dtype(argument.dtype).itemsize
        values[k] = numpy.frombuffer(number.to_bytes(size, "little"), argument.dtype)[0]
    else:
        values[k].device_address = number
pynq.addresses = numbers[len(values):]
if plain:
    pynq.addresses = [n for a, n in zip(arguments, numbers) if a.shape is not None] + pynq.addresses
    values = [v if a.shape is None else numpy.zeros(v.shape, v.dtype) for a, v in zip(arguments, values)]
    pynq.arrives = {address: 1 for address in pynq.addresses}
driver = next(c for c in vars(module).values() if isinstance(c, type) and hasattr(c, "bindto"))()
driver.interrupt = pynq.Interrupt(driver) if plain else None
call = getattr(driver, function) if function else driver
call(*values)
if plain:
    for argument, value in zip(arguments, values):
        assert argument.shape is None or (value == (1 if argument.written else 0)).all(), argument.name
    print("C", driver.cycles)
    arrays = [k for k, a in enumerate(arguments) if a.shape is not None]
    written = [k for k in arrays if arguments[k].written]
    for k in written:
        for wrong in [values[k].tolist(), values[k].astype("complex64")]:
            try:
                call(*[*values[:k], wrong, *values[k + 1:]])
            except ValueError:
                continue
            sys.exit(f"{arguments[k].name}: {type(wrong)} was taken")
    sys.exit()
buffers = [(a, v) for a, v in zip(arguments, values) if a.shape is not None]
for argument, buffer in buffers:
    assert buffer.flushed and buffer.invalidated == argument.written, argument.name
print("C", driver.cycles)


def refused(values, what, because=""):
    try:
        call(*values)
    except ValueError as error:
        assert because in str(error), error
        return
    sys.exit(f"{what} was taken")


refused([v if a.shape is None else v[..., :0].copy() for a, v in zip(arguments, values)], "a buffer of another shape")
for k, argument in enumerate(arguments):
    for wrong in [] if argument.most is None else [0, -1, argument.most + 1]:
        refused([*values[:k], wrong, *values[k + 1:]], f"the size {wrong}")

# Buffers that overlap are refused if one of them is written.
places = [k for k, a in enumerate(arguments) if a.shape is not None]
for k in places:
    for other in places:
        if k != other and (arguments[k].written or arguments[other].written):
            before = values[k].device_address
            values[k].device_address = values[other].device_address + values[other].nbytes - 1
            refused(values, "an overlap", "overlap")
            values[k].device_address = before

# A buffer begins at a multiple of what the IP asks for.
for k in places:
    if arguments[k].multiple > 1:
        values[k].device_address += arguments[k].multiple // 2
        refused(values, "a misaligned buffer", "multiple")
        values[k].device_address -= arguments[k].multiple // 2
