//! The kernel in Python: a function over tensors of CuPy or PyTorch, without copies; and a test with it.

use super::{elements, host, of_caller, parameters, type_name};
use crate::ir::{Array, Passing};
use crate::launches::Launches;
use crate::model;
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
pub fn kernel(launches: &Launches) -> String {
    let name = &launches.name;
    let all: Vec<&Array> = of_caller(launches).map(|(_, a)| a).collect();
    let list: Vec<String> = all.iter().map(|a| own(a)).collect();
    let mut out = format!(
        "\"\"\"{name} on a GPU: `run({list})`, with tensors of CuPy or PyTorch. Arrays that C stores to are changed in place.\n\n\
         The kernel is compiled by NVRTC at the first call and runs on the current stream. Tensors are not copied.\n\"\"\"\n",
        list = list.join(", ")
    );
    out += HEAD;
    let truth = |b: bool| if b { "True" } else { "False" };
    out += "# Name, type, shape, how it is passed, whether a kernel stores to it.\nPARAMETERS = [\n";
    for a in &all {
        let how = match a.passing {
            Passing::Argument => "argument",
            Passing::Value => "value",
            _ => "pointer",
        };
        let (dtype, stored) = (dtype(a.ty), truth(a.written));
        let shape = if a.dims.is_empty() { "()".to_string() } else { shape(a) };
        let _ = writeln!(out, "    (\"{}\", \"{dtype}\", {shape}, \"{how}\", {stored}),", a.source);
    }
    out += "]\n# Arrays in which kernels pass values to those behind: name, type, shape.\nSCRATCH = [\n";
    for (_, a) in parameters(&launches.arrays).filter(|(_, a)| a.scratch) {
        let _ = writeln!(out, "    (\"{}\", \"{}\", {}),", a.source, dtype(a.ty), shape(a));
    }
    out +=
        "]\n# Name, warps of a block, whether they share operands, whether it has a height, the greatest one (0: any), steps, warps beside\n# those, steps to warm up, arrays.\n";
    out += "KERNELS = [\n";
    for warp in &launches.kernels {
        let (steps, beside, before) = host::parts(warp);
        // An array that the kernel reads as it was before is there twice.
        let arrays = parameters(&warp.arrays).map(|(_, a)| match a.copied {
            true => format!("(\"{}\", True), (\"{}\", False)", a.source, a.source),
            false => format!("(\"{}\", False)", a.source),
        });
        let height = truth(host::has_height(warp));
        let arrays: Vec<String> = arrays.collect();
        let _ = writeln!(
            out,
            "    (\"{}\", {}, {}, {height}, {}, {steps}, {beside}, {before}, [{}]),",
            warp.name,
            warp.warps,
            truth(warp.block.is_some()),
            model::short_height(warp).unwrap_or(0),
            arrays.join(", ")
        );
    }
    let order: Vec<String> = launches.order.iter().map(usize::to_string).collect();
    let _ = writeln!(out, "]\n# The kernels in the order in which they run.\nORDER = [{}]\n", order.join(", "));
    out += BODY;
    let written: Vec<String> = all.iter().filter(|a| a.written).map(|a| own(a)).collect();
    let _ = writeln!(out, "\ndef run({}, stream=None):", list.join(", "));
    let _ = writeln!(out, "    \"\"\"Starts the kernel; changes {}.\"\"\"", written.join(", "));
    let _ = writeln!(out, "    _start([{}], stream)\n", list.join(", "));
    out += &operator(name, &all, &list);
    out
}

/// The operator for PyTorch.
fn operator(name: &str, all: &[&Array], list: &[String]) -> String {
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


def _kernels():
    """The compiled kernels of this device, each with the height at which its warps fill the device in whole waves."""
    device = cupy.cuda.Device()
    if device.id not in _known:
        with open(os.path.join(HERE, "kernel.cu")) as file:
            module = cupy.RawModule(code=file.read(), options=("-std=c++17", "-I" + HERE))
        all = []
        for name, warps, shared, has_height, most, steps, beside, before, arrays in KERNELS:
            kernel = module.get_function(name)
            blocks = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, 32 * warps, 0)
            wave = device.attributes["MultiProcessorCount"] * max(blocks, 1)
            count = lambda height: -(-beside * (-(-steps // height) if has_height else 1) // warps)
            heights = sorted({-(-steps // parts) for parts in range(1, min(steps, 4096) + 1)}, reverse=True)
            height = min(heights, key=lambda height: -(-count(height) // wave) * (height + before))
            height = min(height, most or height)
            all.append((kernel, count(height), height))
        _known[device.id] = all
    return _known[device.id]


def _start(values, stream):
    if stream is None and any(type(v).__module__.startswith("torch") for v in values):
        import torch

        stream = torch.cuda.current_stream().cuda_stream
    if isinstance(stream, int):
        stream = cupy.cuda.ExternalStream(stream)
    with stream or cupy.cuda.get_current_stream():
        passed = {name: cupy.empty(shape, dtype) for name, dtype, shape in SCRATCH}
        for value, (name, dtype, shape, how, stored) in zip(values, PARAMETERS):
            if how == "value":
                passed[name] = numpy.dtype(dtype).type(value)
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
                array = numpy.frombuffer(block.tobytes(), dtype=numpy.dtype([("v", dtype, (block.size,))]))[0]
            elif not array.flags.c_contiguous or array.data.ptr % 16:
                raise ValueError(f"{name} is not contiguous, or does not begin at a multiple of 16 bytes")
            passed[name] = array
        kernels = _kernels()
        for number in ORDER:
            name, warps, shared, has_height, most, steps, beside, before, arrays = KERNELS[number]
            kernel, blocks, height = kernels[number]
            arguments = [passed[array].copy() if copied else passed[array] for array, copied in arrays]
            if has_height:
                arguments.append(numpy.int32(height))
            # Warps that share operands have four lanes each in a warp of the hardware.
            threads = (4, warps, 8) if shared else (32 * warps,)
            kernel((blocks,), threads, tuple(arguments))

"#;

/// `test.py`: the kernel on this machine's GPU against the CPU shim, bit by bit.
pub fn test(launches: &Launches) -> String {
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
for name, dtype, shape, how, stored in kernel.PARAMETERS:
    kind = numpy.dtype(dtype)
    if kind.kind == "f":
        values = random.standard_normal(shape)
    else:
        all = numpy.iinfo(kind) if kind.kind in "iu" else None
        low, high = (all.min, all.max) if all else (0, 1)
        values = random.integers(low, high, shape, dtype=kind if all else "uint8", endpoint=True)
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
        name = launches.name
    )
}

/// `README.md`.
pub fn readme(launches: &Launches, quotes: &[Option<String>]) -> String {
    let mut out = format!(
        "# {}\n\nA systolic array in the lanes and registers of a GPU's warps, from this program:\n\n```c\n",
        launches.name
    );
    quotes.iter().flatten().for_each(|q| out += &format!("{q}\n"));
    out += "```\n\nThe map:\n\n```\n";
    for (phase, warp) in launches.phases().enumerate() {
        if launches.order.len() > 1 {
            let _ = writeln!(out, "phase {phase}, {}:", warp.name);
        }
        warp.map.iter().for_each(|line| out += &format!("{line}\n"));
    }
    out += "```\n\n| parameter | type | shape | |\n| --- | --- | --- | --- |\n";
    for (_, a) in of_caller(launches) {
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
