//! The kernel in Python: a function over tensors of CuPy or PyTorch, without copies; and a test with it.

use super::{elements, host, parameters, shim, type_name};
use crate::ir::{Array, Passing, Warp};
use scop::ScalarType;
use std::fmt::Write as _;

/// The name of a type in NumPy.
fn dtype(ty: ScalarType) -> &'static str {
    match type_name(ty).as_str() {
        "float" => "float32",
        "double" => "float64",
        "bool" => "bool",
        "int8_t" => "int8",
        "int16_t" => "int16",
        "int32_t" => "int32",
        "int64_t" => "int64",
        "uint8_t" => "uint8",
        "uint16_t" => "uint16",
        "uint32_t" => "uint32",
        _ => "uint64",
    }
}

/// A name that Python has no other meaning for.
fn own(a: &Array) -> String {
    format!("{}_", a.name.trim_end_matches('_'))
}

fn shape(a: &Array) -> String {
    let dims: Vec<String> = a.dims.iter().map(i64::to_string).collect();
    format!("({}{})", dims.join(", "), if dims.len() == 1 { "," } else { "" })
}

/// `kernel.py`.
pub fn kernel(warp: &Warp) -> String {
    let name = &warp.name;
    let all: Vec<&Array> = parameters(warp).map(|(_, a)| a).collect();
    let list: Vec<String> = all.iter().map(|a| own(a)).collect();
    let mut out = format!(
        "\"\"\"{name} on a GPU: `run({list})`, with tensors of CuPy or PyTorch. Arrays that C stores to are changed in place.\n\n\
         The kernel is compiled by NVRTC at the first call and runs on the current stream. Tensors are not copied.\n\"\"\"\n",
        list = list.join(", ")
    );
    out += HEAD;
    let (steps, beside, before) = host::parts(warp);
    let _ = writeln!(
        out,
        "NAME, WARPS, HEIGHT = \"{name}\", {}, {}",
        warp.warps,
        if host::has_height(warp) { "True" } else { "False" }
    );
    let _ = writeln!(out, "STEPS, BESIDE, BEFORE = {steps}, {beside}, {before}");
    let _ = writeln!(
        out,
        "# Name, type, shape, how it is passed, whether the kernel stores to it, whether it reads a copy."
    );
    let _ = writeln!(out, "PARAMETERS = [");
    for a in &all {
        let how = match a.passing {
            Passing::Argument => "argument",
            Passing::Value => "value",
            _ => "pointer",
        };
        let truth = |b: bool| if b { "True" } else { "False" };
        let _ = writeln!(
            out,
            "    (\"{}\", \"{}\", {}, \"{how}\", {}, {}),",
            a.source,
            dtype(a.ty),
            if a.dims.is_empty() { "()".to_string() } else { shape(a) },
            truth(a.written),
            truth(a.copied)
        );
    }
    let _ = writeln!(out, "]\n");
    out += BODY;
    let written: Vec<String> = all.iter().filter(|a| a.written).map(|a| own(a)).collect();
    let _ = writeln!(out, "\ndef run({}, stream=None):", list.join(", "));
    let _ = writeln!(out, "    \"\"\"Starts the kernel; changes {}.\"\"\"", written.join(", "));
    let _ = writeln!(out, "    _start([{}], stream)\n", list.join(", "));
    out += &operator(warp, &all, &list);
    let _ = shim::warps(warp);
    out
}

/// The operator for PyTorch.
fn operator(warp: &Warp, all: &[&Array], list: &[String]) -> String {
    let name = &warp.name;
    let kind = |a: &&Array| match (a.passing, a.ty.is_float()) {
        (Passing::Value, true) => "float",
        (Passing::Value, false) => "int",
        _ => "torch.Tensor",
    };
    let typed: Vec<String> = all.iter().zip(list).map(|(a, n)| format!("{n}: {}", kind(a))).collect();
    let written: Vec<String> =
        all.iter().zip(list).filter(|(a, _)| a.written).map(|(_, n)| format!("\"{n}\"")).collect();
    format!(
        "\ndef register():\n    \"\"\"Makes it the operator `torch.ops.sagen.{name}`.\"\"\"\n    import torch\n\n    \
         @torch.library.custom_op(\"sagen::{name}\", mutates_args=({},))\n    def operator({}) -> None:\n        \
         run({})\n\n    return operator\n",
        written.join(", "),
        typed.join(", "),
        list.join(", ")
    )
}

const HEAD: &str = r#"import os

import cupy
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
"#;

const BODY: &str = r#"_known = {}


def _kernel():
    """The compiled kernel of this device, and the height at which its warps fill the device in whole waves."""
    device = cupy.cuda.Device()
    if device.id not in _known:
        with open(os.path.join(HERE, "kernel.cu")) as file:
            module = cupy.RawModule(code=file.read(), options=("-std=c++17", "-I" + HERE))
        kernel = module.get_function(NAME)
        blocks = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, 32 * WARPS, 0)
        wave = device.attributes["MultiProcessorCount"] * max(blocks, 1)
        heights = sorted({-(-STEPS // parts) for parts in range(1, min(STEPS, 4096) + 1)}, reverse=True)
        time = lambda height: -(-_blocks(height) // wave) * (height + BEFORE)
        _known[device.id] = kernel, min(heights, key=time)
    return _known[device.id]


def _blocks(height):
    warps = BESIDE * (-(-STEPS // height) if HEIGHT else 1)
    return -(-warps // WARPS)


def _start(values, stream):
    arguments = []
    if stream is None and any(type(v).__module__.startswith("torch") for v in values):
        import torch

        stream = torch.cuda.current_stream().cuda_stream
    if isinstance(stream, int):
        stream = cupy.cuda.ExternalStream(stream)
    with stream or cupy.cuda.get_current_stream():
        for value, (name, dtype, shape, how, stored, copied) in zip(values, PARAMETERS):
            if how == "value":
                arguments.append(numpy.dtype(dtype).type(value))
                continue
            if how == "argument":
                array = value.get() if isinstance(value, cupy.ndarray) else numpy.asarray(value.cpu() if hasattr(value, "cpu") else value)
            else:
                array = value if isinstance(value, cupy.ndarray) else cupy.from_dlpack(value.detach() if hasattr(value, "detach") else value)
            if array.dtype != dtype or array.shape != shape:
                raise ValueError(f"{name} is {array.dtype}{array.shape}, the kernel has {dtype}{shape}")
            if how == "argument":
                # By value, as one structure.
                block = numpy.ascontiguousarray(array)
                arguments.append(numpy.frombuffer(block.tobytes(), dtype=numpy.dtype([("v", dtype, (block.size,))]))[0])
                continue
            if not array.flags.c_contiguous or array.data.ptr % 16:
                raise ValueError(f"{name} is not contiguous, or does not begin at a multiple of 16 bytes")
            if copied:
                arguments.append(array.copy())
            arguments.append(array)
        kernel, height = _kernel()
        if HEIGHT:
            arguments.append(numpy.int32(height))
        kernel((_blocks(height),), (32 * WARPS,), tuple(arguments))

"#;

/// `test.py`: the kernel on this machine's GPU against the CPU shim, bit by bit.
pub fn test(warp: &Warp) -> String {
    format!(
        r#""""Compares the kernel on this machine's GPU with its text on the CPU, bit by bit, and says how long it takes."""

import os
import subprocess
import sys
import tempfile

import cupy
import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kernel

random = numpy.random.default_rng(1)
before = []
for name, dtype, shape, how, stored, copied in kernel.PARAMETERS:
    kind = numpy.dtype(dtype)
    values = random.standard_normal(shape) if kind.kind == "f" else random.integers(0, 100, shape)
    before.append(numpy.asarray(values).astype(kind))
with tempfile.TemporaryDirectory() as folder:
    shim, inside, outside = (os.path.join(folder, n) for n in ("shim", "in", "out"))
    source = os.path.join(kernel.HERE, "shim.cpp")
    subprocess.run(["c++", "-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-w", source, "-o", shim], check=True)
    with open(inside, "wb") as file:
        file.writelines(v.tobytes() for v in before)
    subprocess.run([shim, inside, outside, "64", "forward"], check=True)
    expected, rest = [], open(outside, "rb").read()
    for v in before:
        expected.append(numpy.frombuffer(rest[: v.nbytes], v.dtype).reshape(v.shape))
        rest = rest[v.nbytes :]
on_device = [cupy.asarray(v) if p[3] == "pointer" else v for v, p in zip(before, kernel.PARAMETERS)]
kernel.run(*on_device)
wrong = [p[0] for v, e, p in zip(on_device, expected, kernel.PARAMETERS) if p[4] and cupy.asnumpy(v).tobytes() != e.tobytes()]
print("{name}:", "different: " + ", ".join(wrong) if wrong else "equal")
times, (start, end) = [], (cupy.cuda.Event(), cupy.cuda.Event())
for _ in range(20):
    start.record()
    kernel.run(*on_device)
    end.record()
    end.synchronize()
    times.append(cupy.cuda.get_elapsed_time(start, end) * 1000)
device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
print(f"{{sorted(times)[10]:.1f}} us on {{device}}, median of 20 calls")
sys.exit(1 if wrong else 0)
"#,
        name = warp.name
    )
}

/// `README.md`.
pub fn readme(warp: &Warp, quotes: &[Option<String>]) -> String {
    let mut out = format!(
        "# {}\n\nA systolic array in the lanes and registers of a GPU's warps, from this program:\n\n```c\n",
        warp.name
    );
    quotes.iter().flatten().for_each(|q| out += &format!("{q}\n"));
    out += "```\n\nThe map:\n\n```\n";
    warp.map.iter().for_each(|line| out += &format!("{line}\n"));
    out += "```\n\n| parameter | type | shape | |\n| --- | --- | --- | --- |\n";
    for (_, a) in parameters(warp) {
        let what = match (a.passing, a.written) {
            (Passing::Argument, _) => format!("{} elements, a kernel argument: in the host's memory", elements(a)),
            (Passing::Value, _) => "a number".into(),
            (_, true) => "in the device's memory, changed".into(),
            (_, false) => "in the device's memory".into(),
        };
        let _ = writeln!(
            out,
            "| `{}` | `{}` | {} | {what} |",
            a.source,
            type_name(a.ty),
            if a.dims.is_empty() { "–".into() } else { shape(a) }
        );
    }
    out += "\n- Python: `import kernel; kernel.run(…)` with tensors of CuPy or PyTorch; `kernel.register()` makes a PyTorch operator.\n\
        - C++: `host.cu` has the function that starts the kernel on a stream.\n\
        - `python3 test.py` compares the kernel on a GPU with its text on the CPU, and says how long it takes.\n\
        - Arrays begin at multiples of 16 bytes.\n\n\
        Measured: nothing. The text was compared with the C program on a CPU, all lanes of a warp in lock-step.\n";
    out
}
