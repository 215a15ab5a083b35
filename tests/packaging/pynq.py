"""Stands in for PYNQ: register accesses go through a pipe, buffers are NumPy arrays with an address."""
import sys

import numpy


class DefaultIP:
    def write(self, offset, value):
        print("W", offset, int(value), flush=True)

    def read(self, offset):
        print("R", offset, flush=True)
        return int(sys.stdin.readline())


class Buffer(numpy.ndarray):
    device_address = 0
    flushed = invalidated = False

    def flush(self):
        self.flushed = True

    def invalidate(self):
        self.invalidated = True


# Of the next buffers.
addresses = []


def allocate(shape, dtype, target=None):
    buffer = numpy.zeros(shape, dtype).view(Buffer)
    if addresses:
        buffer.device_address = addresses.pop(0)
    return buffer
