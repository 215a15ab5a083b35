//! The C++ host: a function that starts the kernel on a stream. It needs the CUDA runtime only; hipcc takes it, too.

use super::number::{self, in_kernel, size_names};
use super::{of_caller, parameters, shim, type_name};
use crate::extent::Number;
use crate::ir::{Array, Passing, Warp};
use crate::launches::{Launches, Parameter};
use crate::model;
use std::fmt::Write as _;

pub fn text(launches: &Launches) -> String {
    let name = &launches.name;
    let mut out = format!(
        "// {name}_launch starts {} on a stream. Pointers are the device's, but those of kernel arguments.\n\
         //   nvcc -O3 -std=c++17 -arch=native -c host.cu\n\
         //   hipcc -O3 -std=c++17 -c -x hip host.cu\n\
         #if defined(__HIPCC__)\n#include <hip/hip_runtime.h>\n{HIP}#else\n#include <cuda_runtime.h>\n#endif\n\
         #include \"kernel.cu\"\n\n",
        if launches.order.len() == 1 { "the kernel" } else { "the kernels one after the other" }
    );
    launches.kernels.iter().filter(|w| has_height(w)).for_each(|w| out += &height(w));
    let list: Vec<String> = launches
        .parameters()
        .iter()
        .map(|p| match p {
            Parameter::Size(size) => format!("int {}", size.name),
            Parameter::Array(_, a) => parameter(a),
        })
        .collect();
    let sizes = launches.size_names();
    let _ = writeln!(out, "extern \"C\" cudaError_t {name}_launch({}, cudaStream_t stream) {{", list.join(", "));
    let mut free = String::new();
    for size in &launches.sizes {
        let (name, most) = (&size.name, size.most);
        let _ = writeln!(out, "  if ({name} < 1 || {name} > {most}) return cudaErrorInvalidValue;");
    }
    for extent in launches.arrays.iter().flat_map(|a| number::open_extents(a, &sizes)) {
        let _ = writeln!(out, "  if ({extent} < 1) return cudaErrorInvalidValue;  // an array without elements");
    }
    for (_, a) in of_caller(launches).filter(|(_, a)| a.passing == Passing::Pointer) {
        let _ = writeln!(out, "  if ((size_t){} % 16) return cudaErrorMisalignedAddress;", a.name);
    }
    for (_, a) in parameters(&launches.arrays).filter(|(_, a)| a.scratch) {
        let own = &a.name;
        let _ = writeln!(out, "  {} *{own};  // phases pass values in it", type_name(a.ty));
        let _ = writeln!(free, "  cudaFreeAsync({own}, stream);");
        allocate(&mut out, a, own, &sizes);
    }
    let _ = writeln!(out, "  cudaError_t error = cudaSuccess;");
    for phase in &launches.order {
        if let Some(words) = phase.words.map(|k| &launches.kernels[k]) {
            let _ = writeln!(out, "  // Rows of arrays are whole words.\n  if ({})", number::remainders(words));
            launch(words, &mut out);
            let _ = writeln!(out, "  else");
        }
        launch(&launches.kernels[phase.kernel], &mut out);
    }
    let _ = writeln!(out, "{free}  return error;\n}}");
    out
}

fn allocate(out: &mut String, a: &Array, name: &str, sizes: &[String]) {
    let bytes = number::bytes(a, sizes);
    let _ = writeln!(out, "  cudaError_t {name}_error = cudaMallocAsync((void **)&{name}, {bytes}, stream);");
    let _ = writeln!(out, "  if ({name}_error != cudaSuccess) return {name}_error;");
}

/// Starts one kernel.
fn launch(warp: &Warp, out: &mut String) {
    let name = &warp.name;
    let (mut call, mut free) = (vec![], String::new());
    let _ = writeln!(out, "  {{");
    for (_, a) in parameters(&warp.arrays) {
        let own = &a.name;
        match a.passing {
            Passing::Argument => {
                let n = super::elements(a);
                let _ = writeln!(out, "  {name}_{own} {own}_argument;");
                let _ = writeln!(out, "  for (int sagen_at = 0; sagen_at < {n}; sagen_at++) {own}_argument.v[sagen_at] = {own}[sagen_at];");
                call.push(format!("{own}_argument"));
            }
            Passing::Value => call.push(own.clone()),
            _ => {
                if a.copied {
                    let sizes = size_names(warp);
                    let (ty, bytes, copy) = (type_name(a.ty), number::bytes(a, &sizes), a.loaded());
                    let _ = writeln!(out, "  {ty} *{copy};  // other warps store what a warp reads");
                    allocate(out, a, &copy, &sizes);
                    let _ =
                        writeln!(out, "  cudaMemcpyAsync({copy}, {own}, {bytes}, cudaMemcpyDeviceToDevice, stream);");
                    let _ = writeln!(free, "  cudaFreeAsync({copy}, stream);");
                    call.push(copy);
                }
                call.push(own.clone());
            }
        }
    }
    let sizes = size_names(warp);
    call.extend(sizes.iter().cloned());
    if has_height(warp) {
        let _ = writeln!(out, "  const int height = {name}_height({});", sizes.join(", "));
        call.push("height".into());
    }
    let _ = writeln!(out, "  const long long warps = {};", shim::warps(warp));
    // Warps that share operands have four lanes each in a warp of the hardware.
    let threads = match warp.block {
        Some(_) => format!("dim3(4, {}, 8)", warp.warps),
        None => (32 * warp.warps).to_string(),
    };
    // At some sizes there is nothing to do.
    let some = if sizes.is_empty() { "" } else { "if (warps > 0) " };
    let _ = writeln!(
        out,
        "  {some}{name}<<<(unsigned)((warps + {w} - 1) / {w}), {threads}, 0, stream>>>({});",
        call.join(", "),
        w = warp.warps
    );
    let _ = writeln!(out, "  if (error == cudaSuccess) error = cudaGetLastError();\n{free}  }}");
}

/// Whether the kernel has a height.
pub fn has_height(warp: &Warp) -> bool {
    warp.time.as_ref().is_some_and(|t| t.height.is_some())
}

fn parameter(a: &Array) -> String {
    let ty = type_name(a.ty);
    match a.passing {
        Passing::Value => format!("{ty} {}", a.name),
        Passing::Argument => format!("const {ty} *{} /* of the host */", a.name),
        _ => format!("{}{ty} *{}", if a.written { "" } else { "const " }, a.name),
    }
}

/// How the warps of a kernel depend on its height.
pub struct Parts {
    /// Steps of the axis of heights.
    pub steps: String,
    /// Warps beside it: a number, and factors over sizes.
    pub beside: (i64, String),
    /// Steps to warm up.
    pub before: i64,
}

pub fn parts(warp: &Warp) -> Parts {
    let some = |n: &Number| n.not_negative(&warp.maxima());
    let axis = warp.grid.iter().find(|a| a.step == crate::ir::Pitch::Height);
    let steps = axis.map_or("1".into(), |a| in_kernel(warp, &some(&a.count)));
    let beside: Vec<Number> = warp.grid.iter().filter_map(crate::ir::GridAxis::warps).map(|n| some(&n)).collect();
    let known: i64 = beside.iter().filter_map(Number::known).product();
    let open = beside.iter().filter(|n| n.known().is_none()).map(|n| format!(" * ({})", in_kernel(warp, n)));
    Parts { steps, beside: (known, open.collect()), before: warp.time.as_ref().map_or(0, |t| t.before) }
}

fn height(warp: &Warp) -> String {
    let Parts { steps, beside: (known, open), before } = parts(warp);
    let mut beside = format!("{known}ll{open}");
    let (name, sizes) = (&warp.name, size_names(warp));
    let list: Vec<String> = sizes.iter().map(|s| format!("int {s}")).collect();
    // The height is computed again at other sizes.
    let (mut known, mut keep, mut steps_line) = (String::from("known"), String::new(), String::new());
    let mut steps_name = steps.clone();
    if !sizes.is_empty() {
        keep += &format!("  static int known_at[{}];\n", sizes.len());
        sizes.iter().enumerate().for_each(|(k, s)| known += &format!(" && known_at[{k}] == {s}"));
        steps_line = format!("  const int steps = {steps};\n  const long long beside = {beside};\n  known = 1;\n");
        sizes.iter().enumerate().for_each(|(k, s)| steps_line += &format!("  known_at[{k}] = {s};\n"));
        (steps_name, beside) = ("steps".into(), "beside".into());
    }
    let (most, note) = match model::short_height(warp) {
        Some(h) => (format!("  if (known > {h}) known = {h};\n"), format!(" At most {h}: memory decides.")),
        None => (String::new(), String::new()),
    };
    format!(
        "// Steps of a warp such that the warps fill the device in whole waves: {steps} steps in parts, each with {before} more.{note}\n\
         static int {name}_height({list}) {{\n\
         \x20 static int known = 0;\n\
         {keep}\
         \x20 if ({known}) return known;\n\
         {steps_line}\
         \x20 int device = 0, processors = 1, blocks = 1;\n\
         \x20 cudaGetDevice(&device);\n\
         \x20 cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);\n\
         \x20 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, {name}, {threads}, 0);\n\
         \x20 const long long wave = (long long)processors * (blocks > 0 ? blocks : 1);\n\
         \x20 long long best = -1;\n\
         \x20 for (int parts = 1; parts <= {steps_name} && parts <= 4096; parts++) {{\n\
         \x20   const int height = ({steps_name} + parts - 1) / parts;\n\
         \x20   const long long all = ({beside} * (({steps_name} + height - 1) / height) + {warps} - 1) / {warps};\n\
         \x20   const long long time = (all + wave - 1) / wave * (height + {before});\n\
         \x20   if (best < 0 || time < best) best = time, known = height;\n\
         \x20 }}\n\
         {most}\
         \x20 return known;\n\
         }}\n\n",
        list = list.join(", "),
        threads = 32 * warp.warps,
        warps = warp.warps
    )
}

/// HIP's names for what the host uses.
const HIP: &str = "#define cudaError_t hipError_t\n#define cudaStream_t hipStream_t\n#define cudaSuccess hipSuccess\n\
#define cudaErrorMisalignedAddress hipErrorInvalidValue\n#define cudaGetLastError hipGetLastError\n\
#define cudaMallocAsync hipMallocAsync\n#define cudaFreeAsync hipFreeAsync\n#define cudaMemcpyAsync hipMemcpyAsync\n\
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice\n#define cudaGetDevice hipGetDevice\n\
#define cudaDeviceGetAttribute hipDeviceGetAttribute\n\
#define cudaDevAttrMultiProcessorCount hipDeviceAttributeMultiprocessorCount\n\
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor hipOccupancyMaxActiveBlocksPerMultiprocessor\n";
