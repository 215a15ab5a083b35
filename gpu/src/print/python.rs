//! The kernel in Python: a function over tensors of CuPy or PyTorch, without copies; and a test with it.

use super::expression::over;
use super::{elements, host, number, of_caller, parameters, type_name};
use crate::ir::{Array, Passing, Warp};
use crate::launches::{Launch, Launches, Parameter};
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
fn own(name: &str) -> String {
    format!("{}_", name.trim_end_matches('_'))
}

/// The names of the sizes in Python.
fn sizes(launches: &Launches) -> Vec<String> {
    launches.sizes.iter().map(|s| own(&s.name)).collect()
}

fn shape(a: &Array, sizes: &[String]) -> String {
    let dims: Vec<String> = a.extents.iter().map(|e| over(e, &|id| &sizes[id.index()])).collect();
    format!("({}{})", dims.join(", "), if dims.len() == 1 { "," } else { "" })
}

/// `kernel.py`.
pub fn kernel(launches: &Launches) -> String {
    let name = &launches.name;
    let all: Vec<&Array> = of_caller(launches).map(|(_, a)| a).collect();
    let list: Vec<String> = arguments(launches);
    let sizes = sizes(launches);
    // A function of the sizes.
    let by_sizes = |text: &str| match sizes.is_empty() {
        true => format!("lambda: {text}"),
        false => format!("lambda {}: {text}", sizes.join(", ")),
    };
    let mut out = format!(
        "\"\"\"{name} on a GPU: `run({list})`, with tensors of CuPy or PyTorch. Arrays that C stores to are changed in place.\n\n\
         The kernel is compiled by NVRTC at the first call and runs on the current stream. Tensors are not copied.\n\"\"\"\n",
        list = list.join(", ")
    );
    out += HEAD;
    out += "\n\n# Numbers that follow from sizes at run time.\nquotient, least, greatest = lambda a, b: a // b, min, max\n";
    out += "# Sizes at run time with their maxima.\nSIZES = [";
    out += &launches.sizes.iter().map(|s| format!("(\"{}\", {})", s.source, s.most)).collect::<Vec<_>>().join(", ");
    out += "]\n";
    let truth = |b: bool| if b { "True" } else { "False" };
    out += "# Name, type, shape at the sizes, how it is passed, whether a kernel stores to it.\nPARAMETERS = [\n";
    for a in &all {
        let how = match a.passing {
            Passing::Argument => "argument",
            Passing::Value => "value",
            _ => "pointer",
        };
        let (dtype, stored) = (dtype(a.ty), truth(a.written));
        let shape = by_sizes(&shape(a, &sizes));
        let _ = writeln!(out, "    (\"{}\", \"{dtype}\", {shape}, \"{how}\", {stored}),", a.source);
    }
    out += "]\n# Arrays in which kernels pass values to those behind: name, type, shape.\nSCRATCH = [\n";
    for (_, a) in parameters(&launches.arrays).filter(|(_, a)| a.scratch) {
        let _ = writeln!(out, "    (\"{}\", \"{}\", {}),", a.source, dtype(a.ty), by_sizes(&shape(a, &sizes)));
    }
    out +=
        "]\n# Name, warps of a block, whether they share operands, whether it has a height, the greatest one (0: any), at the sizes\n# its steps and the warps beside those, steps to warm up, arrays.\n";
    out += "KERNELS = [\n";
    for warp in &launches.kernels {
        let host::Parts { steps, beside: (known, open), before } = host::parts(&in_python(warp));
        let parts = by_sizes(&format!("({steps}, {known}{open})"));
        // An array that the kernel reads as it was before is there twice.
        let arrays = parameters(&warp.arrays).map(|(_, a)| match a.copied {
            true => format!("(\"{}\", True), (\"{}\", False)", a.source, a.source),
            false => format!("(\"{}\", False)", a.source),
        });
        let height = truth(host::has_height(warp));
        let arrays: Vec<String> = arrays.collect();
        let _ = writeln!(
            out,
            "    (\"{}\", {}, {}, {height}, {}, {parts}, {before}, [{}]),",
            warp.name,
            warp.warps,
            truth(warp.block.is_some()),
            model::short_height(warp).unwrap_or(0),
            arrays.join(", ")
        );
    }
    let number = |phase: &Launch| match phase.words {
        None => by_sizes(&phase.kernel.to_string()),
        Some(words) => {
            let when = number::remainders(&in_python(&launches.kernels[words])).replace("&&", "and");
            by_sizes(&format!("{words} if {when} else {}", phase.kernel))
        }
    };
    let order: Vec<String> = launches.order.iter().map(number).collect();
    let _ = writeln!(out, "]\n# The kernels in the order in which they run; at some sizes rows of arrays are whole words.\nORDER = [{}]\n", order.join(", "));
    out += BODY;
    let written: Vec<String> = all.iter().filter(|a| a.written).map(|a| own(&a.name)).collect();
    let values: Vec<String> = all.iter().map(|a| own(&a.name)).collect();
    let _ = writeln!(out, "\ndef run({}, stream=None):", list.join(", "));
    let _ = writeln!(out, "    \"\"\"Starts the kernel; changes {}.\"\"\"", written.join(", "));
    let _ = writeln!(out, "    start([{}], [{}], stream)\n", values.join(", "), sizes.join(", "));
    out += &operator(launches, &list);
    out
}

/// What `run` takes, in the order of the C function.
fn arguments(launches: &Launches) -> Vec<String> {
    let name = |p: &Parameter| match p {
        Parameter::Size(size) => own(&size.name),
        Parameter::Array(_, a) => own(&a.name),
    };
    launches.parameters().iter().map(name).collect()
}

/// The warp with the names that sizes have in Python.
fn in_python(warp: &Warp) -> Warp {
    let mut out = warp.clone();
    out.scalars[..warp.sizes].iter_mut().for_each(|s| s.name = own(&s.name));
    out
}

/// The operator for PyTorch.
fn operator(launches: &Launches, list: &[String]) -> String {
    let name = &launches.name;
    let kind = |p: &Parameter| match p {
        Parameter::Array(_, a) if a.passing != Passing::Value => "torch.Tensor",
        Parameter::Array(_, a) if a.ty.is_float() => "float",
        _ => "int",
    };
    let all = launches.parameters();
    let typed: Vec<String> = all.iter().zip(list).map(|(p, n)| format!("{n}: {}", kind(p))).collect();
    let is_written = |p: &Parameter| matches!(p, Parameter::Array(_, a) if a.written);
    let written: Vec<String> =
        all.iter().zip(list).filter(|(p, _)| is_written(p)).map(|(_, n)| format!("\"{n}\"")).collect();
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

const BODY: &str = r#"_modules, _known = {}, {}


def _module(device):
    """The compiled kernels of this device."""
    if device.id not in _modules:
        with open(os.path.join(HERE, "kernel.cu")) as file:
            _modules[device.id] = cupy.RawModule(code=file.read(), options=("-std=c++17", "-I" + HERE))
    return _modules[device.id]


def _kernels(sizes):
    """The kernels of this device at these sizes, each with the height at which its warps fill the device in whole waves."""
    device = cupy.cuda.Device()
    key = (device.id, *sizes)
    if key not in _known:
        module = _module(device)
        all = []
        for name, warps, shared, has_height, most, parts, before, arrays in KERNELS:
            kernel = module.get_function(name)
            steps, beside = parts(*sizes)
            blocks = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, 32 * warps, 0)
            wave = device.attributes["MultiProcessorCount"] * max(blocks, 1)
            count = lambda height: -(-beside * (-(-steps // height) if has_height else 1) // warps)
            heights = sorted({-(-steps // parts) for parts in range(1, min(steps, 4096) + 1)} or {1}, reverse=True)
            height = min(heights, key=lambda height: -(-count(height) // wave) * (height + before))
            height = min(height, most or height)
            all.append((kernel, count(height), height))
        _known[key] = all
    return _known[key]


def start(values, sizes, stream=None):
    """Starts the kernels: the arrays and numbers of PARAMETERS, and the sizes, each in its order."""
    for value, (name, most) in zip(sizes, SIZES):
        if not 1 <= value <= most:
            raise ValueError(f"{name} is {value}: it may be 1 to {most}")
    if stream is None and any(type(v).__module__.startswith("torch") for v in values):
        import torch

        stream = torch.cuda.current_stream().cuda_stream
    if isinstance(stream, int):
        stream = cupy.cuda.ExternalStream(stream)
    with stream or cupy.cuda.get_current_stream():
        passed = {name: cupy.empty(shape(*sizes), dtype) for name, dtype, shape in SCRATCH}
        for value, (name, dtype, shape, how, stored) in zip(values, PARAMETERS):
            shape = shape(*sizes)
            if min(shape, default=1) < 1:
                raise ValueError(f"{name} has no elements at these sizes")
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
        kernels = _kernels(sizes)
        for number in (number(*sizes) for number in ORDER):
            name, warps, shared, has_height, most, parts, before, arrays = KERNELS[number]
            kernel, blocks, height = kernels[number]
            arguments = [passed[array].copy() if copied else passed[array] for array, copied in arrays]
            arguments += [numpy.int32(size) for size in sizes]
            if has_height:
                arguments.append(numpy.int32(height))
            # Warps that share operands have four lanes each in a warp of the hardware.
            threads = (4, warps, 8) if shared else (32 * warps,)
            if blocks:
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
# Sizes at run time are arguments, such as n=1000; without them they are the greatest.
sizes = {{**dict(kernel.SIZES), **{{a.split("=")[0]: int(a.split("=")[1]) for a in sys.argv[1:]}}}}
before = []
for name, dtype, shape, how, stored in kernel.PARAMETERS:
    kind, shape = numpy.dtype(dtype), shape(*sizes.values())
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
    subprocess.run([shim, inside, outside, "64", "forward", *map(str, sizes.values())], check=True)
    expected, rest = [], open(outside, "rb").read()
    for v in before:
        expected.append(numpy.frombuffer(rest[: v.nbytes], v.dtype).reshape(v.shape))
        rest = rest[v.nbytes :]
on_device = [cupy.asarray(v) if p[3] == "pointer" else v for v, p in zip(before, kernel.PARAMETERS)]
kernel.start(on_device, [*sizes.values()])
wrong = [p[0] for v, e, p in zip(on_device, expected, kernel.PARAMETERS) if p[4] and cupy.asnumpy(v).tobytes() != e.tobytes()]
print("{name}:", "different: " + ", ".join(wrong) if wrong else "equal")
times, (start, end) = [], (cupy.cuda.Event(), cupy.cuda.Event())
for _ in range(20):
    start.record()
    kernel.start(on_device, [*sizes.values()])
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
    let sizes: Vec<String> = launches.sizes.iter().map(|s| s.source.clone()).collect();
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
            if a.dims.is_empty() { "–".into() } else { shape(a, &sizes) }
        );
    }
    for size in &launches.sizes {
        let _ = writeln!(out, "| `{}` | `int` | – | a size, 1 to {} |", size.source, size.most);
    }
    out += "\n- Python: `import kernel; kernel.run(…)` with tensors of CuPy or PyTorch; `kernel.register()` makes a PyTorch operator.\n\
        - C++: `host.cu` has the function that starts the kernel on a stream.\n\
        - `python3 test.py` compares the kernel on a GPU with its text on the CPU, and says how long it takes.\n\
        - Arrays begin at multiples of 16 bytes.\n\n\
        Measured: nothing. The text was compared with the C program on a CPU, all lanes of a warp in lock-step.\n";
    out
}
