//! The C++ host: a function that starts the kernel on a stream. It needs the CUDA runtime only; hipcc takes it, too.

use super::{elements, parameters, shim, type_name};
use crate::ir::{Array, Passing, Warp};
use std::fmt::Write as _;

pub fn text(warp: &Warp) -> String {
    let name = &warp.name;
    let mut out = format!(
        "// {name}_launch starts the kernel on a stream. Pointers are the device's, but those of kernel arguments.\n\
         //   nvcc -O3 -std=c++17 -arch=native -c host.cu\n\
         //   hipcc -O3 -std=c++17 -c -x hip host.cu\n\
         #if defined(__HIPCC__)\n#include <hip/hip_runtime.h>\n{HIP}#else\n#include <cuda_runtime.h>\n#endif\n\
         #include \"kernel.cu\"\n\n"
    );
    if has_height(warp) {
        out += &height(warp);
    }
    let list: Vec<String> = parameters(warp).map(|(_, a)| parameter(a)).collect();
    let _ = writeln!(out, "extern \"C\" cudaError_t {name}_launch({}, cudaStream_t stream) {{", list.join(", "));
    let (mut call, mut free) = (vec![], String::new());
    for (_, a) in parameters(warp) {
        match a.passing {
            Passing::Argument => {
                let (own, n) = (&a.name, elements(a));
                let _ = writeln!(out, "  {name}_{own} {own}_argument;");
                let _ = writeln!(out, "  for (int k = 0; k < {n}; k++) {own}_argument.v[k] = {own}[k];");
                call.push(format!("{own}_argument"));
            }
            Passing::Value => call.push(a.name.clone()),
            _ => {
                let own = &a.name;
                let _ = writeln!(out, "  if ((size_t){own} % 16) return cudaErrorMisalignedAddress;");
                if a.copied {
                    let (ty, bytes) = (type_name(a.ty), elements(a) * i64::from(a.ty.bytes()));
                    let _ = writeln!(out, "  {ty} *{own}_before;  // other warps store what a warp reads");
                    let _ = writeln!(
                        out,
                        "  cudaError_t {own}_error = cudaMallocAsync((void **)&{own}_before, {bytes}, stream);"
                    );
                    let _ = writeln!(out, "  if ({own}_error != cudaSuccess) return {own}_error;");
                    let _ = writeln!(
                        out,
                        "  cudaMemcpyAsync({own}_before, {own}, {bytes}, cudaMemcpyDeviceToDevice, stream);"
                    );
                    let _ = writeln!(free, "  cudaFreeAsync({own}_before, stream);");
                    call.push(a.loaded());
                }
                call.push(own.clone());
            }
        }
    }
    if has_height(warp) {
        let _ = writeln!(out, "  const int height = {name}_height();");
        call.push("height".into());
    }
    let _ = writeln!(out, "  const long long warps = {};", shim::warps(warp));
    let _ = writeln!(
        out,
        "  {name}<<<(unsigned)((warps + {w} - 1) / {w}), {}, 0, stream>>>({});",
        32 * warp.warps,
        call.join(", "),
        w = warp.warps
    );
    let _ = writeln!(out, "  const cudaError_t error = cudaGetLastError();\n{free}  return error;\n}}");
    out
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

/// Steps of the axis of heights, and warps beside it.
pub fn parts(warp: &Warp) -> (i64, i64, i64) {
    let axis = warp.grid.iter().find(|a| a.step == crate::ir::Pitch::Height).map_or(1, |a| a.count);
    let beside = warp.grid.iter().filter(|a| a.step != crate::ir::Pitch::Height).map(|a| a.count).product();
    (axis, beside, warp.time.as_ref().map_or(0, |t| t.before))
}

fn height(warp: &Warp) -> String {
    let (steps, beside, before) = parts(warp);
    let name = &warp.name;
    format!(
        "// Steps of a warp such that the warps fill the device in whole waves: {steps} steps in parts, each with {before} more.\n\
         static int {name}_height() {{\n\
         \x20 static int known = 0;\n\
         \x20 if (known) return known;\n\
         \x20 int device = 0, processors = 1, blocks = 1;\n\
         \x20 cudaGetDevice(&device);\n\
         \x20 cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);\n\
         \x20 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, {name}, {threads}, 0);\n\
         \x20 const long long wave = (long long)processors * (blocks > 0 ? blocks : 1);\n\
         \x20 long long least = -1;\n\
         \x20 for (int parts = 1; parts <= {steps} && parts <= 4096; parts++) {{\n\
         \x20   const int height = ({steps} + parts - 1) / parts;\n\
         \x20   const long long all = ({beside}ll * (({steps} + height - 1) / height) + {warps} - 1) / {warps};\n\
         \x20   const long long time = (all + wave - 1) / wave * (height + {before});\n\
         \x20   if (least < 0 || time < least) least = time, known = height;\n\
         \x20 }}\n\
         \x20 return known;\n\
         }}\n\n",
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
