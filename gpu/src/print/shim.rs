//! The CPU shim: a program that runs the kernel's text on all warps, one after the other.
//!
//! `shim IN OUT HEIGHT ORDER SIZE…` reads the contents of the arrays, runs every warp, and writes the contents. The order of the
//! warps is `forward` or `reverse`: on a device it is any. Around every array it
//! keeps bytes that must stay as they are; under AddressSanitizer the arrays stand alone instead, so that it finds every access
//! beside one.

use super::number::{self, in_kernel};
use super::{parameters, type_name};
use crate::ir::{Passing, Warp};
use crate::launches::Launches;
use std::fmt::Write as _;

/// The number of warps at a height, as C++.
pub fn warps(warp: &Warp) -> String {
    let text = |n: &crate::extent::Number| in_kernel(warp, n);
    let axis = |a: &crate::ir::GridAxis| match a.warps() {
        Some(count) if count.known().is_some() => format!("{}ll", text(&count)),
        Some(count) => format!("(long long)({})", text(&count.not_negative(&warp.maxima()))),
        None => format!("(({} + height - 1) / height)", text(&a.count.not_negative(&warp.maxima()))),
    };
    let all: Vec<String> = warp.grid.iter().map(axis).collect();
    if all.is_empty() {
        "1ll".into()
    } else {
        all.join(" * ")
    }
}

/// The program. `kernel`: the file of the kernels' text.
pub fn text(launches: &Launches, kernel: &str) -> String {
    let mut out = format!("// Runs {kernel} on the CPU: all lanes of a warp in lock-step, warp after warp.\n");
    let _ = writeln!(out, "//   c++ -std=c++17 -O1 -ffp-contract=off shim.cpp -o shim && ./shim IN OUT HEIGHT ORDER\n#include \"{kernel}\"\n");
    out += HELPERS;
    let _ = writeln!(out, "\nint main(int count, char **arguments) {{");
    let sizes = launches.size_names();
    let (count, usage) = (5 + sizes.len(), sizes.iter().map(|s| format!(" {s}")).collect::<String>());
    let _ = writeln!(out, "  if (count != {count}) return fputs(\"shim IN OUT HEIGHT ORDER{usage}\\n\", stderr), 2;");
    let _ = writeln!(out, "  const bool reverse = !strcmp(arguments[4], \"reverse\");");
    let _ = writeln!(
        out,
        "  FILE *sagen_in = fopen(arguments[1], \"rb\");\n  if (!sagen_in) return perror(arguments[1]), 2;"
    );
    let _ = writeln!(out, "  const int height = atoi(arguments[3]);\n  (void)height;");
    for (k, size) in sizes.iter().enumerate() {
        let _ = writeln!(out, "  const int {size} = atoi(arguments[{}]);", 5 + k);
    }
    for (_, a) in parameters(&launches.arrays) {
        let (name, ty, n) = (&a.name, type_name(a.ty), number::elements(a, &sizes));
        let source = if a.scratch { "nullptr" } else { "sagen_in" };
        let _ = writeln!(out, "  Guarded<{ty}> {name}({source}, {n});");
    }
    let _ = writeln!(out, "  fclose(sagen_in);");
    for phase in &launches.order {
        let general = launch(&launches.kernels[phase.kernel]);
        out += &match phase.words.map(|k| &launches.kernels[k]) {
            None => general,
            Some(words) => format!("  if ({})\n{}  else\n{general}", number::remainders(words), launch(words)),
        };
    }
    let _ = writeln!(
        out,
        "  FILE *sagen_out = fopen(arguments[2], \"wb\");\n  if (!sagen_out) return perror(arguments[2]), 2;"
    );
    for (_, a) in parameters(&launches.arrays) {
        let target = if a.scratch { "nullptr" } else { "sagen_out" };
        let _ = writeln!(out, "  {}.finish({target}, \"{}\");", a.name, a.name);
    }
    out += COUNTED;
    let _ = writeln!(out, "  return fclose(sagen_out) ? 2 : 0;\n}}");
    out
}

/// All warps of one launch.
fn launch(warp: &Warp) -> String {
    let mut out = String::from("  {\n");
    let (mut call, mut copies) = (vec![], String::new());
    for (_, a) in parameters(&warp.arrays) {
        let (name, ty) = (&a.name, type_name(a.ty));
        call.push(match a.passing {
            Passing::Argument => {
                let _ = writeln!(out, "    {kernel}_{name} {name}_argument;", kernel = warp.name);
                let _ = writeln!(out, "    memcpy({name}_argument.v, {name}.data, sizeof {name}_argument.v);");
                format!("{name}_argument")
            }
            Passing::Value => format!("{name}.data[0]"),
            _ if a.copied => {
                let _ = writeln!(out, "    const Guarded<{ty}> {name}_before({name});");
                let _ = writeln!(copies, "    free({}.memory);", a.loaded());
                format!("{name}_before.data, {name}.data")
            }
            _ => format!("{name}.data"),
        });
    }
    call.extend(number::size_names(warp));
    if warp.time.as_ref().is_some_and(|t| t.height.is_some()) {
        call.push("height".into());
    }
    let _ = writeln!(out, "    const long long warps = {};", warps(warp));
    // One warp more than there are, as in a block that is not full.
    let _ = writeln!(out, "    for (long long sagen_at = 0; sagen_at <= warps; sagen_at++) {{\n      warp_number = (int)(reverse ? warps - sagen_at : sagen_at);\n      {}({});\n    }}\n{copies}  }}", warp.name, call.join(", "));
    out
}

const COUNTED: &str = r#"#ifdef LANES_COUNT
  printf("products %lld\nsums %lld\nothers %lld\nselects %lld\nshuffles %lld\nloads %lld\nstores %lld\n", counted.products,
         counted.sums, counted.others, counted.selects, counted.shuffles, counted.loads, counted.stores);
#endif
"#;

const HELPERS: &str = r#"#if defined(__SANITIZE_ADDRESS__)
enum { BESIDE = 0 };
#else
enum { BESIDE = 4096 };
#endif
// An array between bytes that must not change.
template<class T> struct Guarded {
  unsigned char *memory;
  T *data;
  size_t bytes;
  Guarded(FILE *in, size_t n) : bytes(n * sizeof(T)) {
    void *p;
    if (posix_memalign(&p, 64, bytes + 2 * BESIDE)) exit(2);
    memory = (unsigned char *)p;
    data = (T *)(memory + BESIDE);
    memset(memory, 0x5A, bytes + 2 * BESIDE);
    // What nobody has stored is garbage.
    if (!in) memset(data, 0xA5, bytes);
    else if (fread(data, 1, bytes, in) != bytes) { fputs("short input\n", stderr); exit(2); }
  }
  Guarded(const Guarded &other) : bytes(other.bytes) {
    void *p;
    if (posix_memalign(&p, 64, bytes + 2 * BESIDE)) exit(2);
    memory = (unsigned char *)p;
    data = (T *)(memory + BESIDE);
    memcpy(memory, other.memory, bytes + 2 * BESIDE);
  }
  void finish(FILE *out, const char *name) {
    for (size_t k = 0; k < BESIDE; k++)
      if (memory[k] != 0x5A || memory[BESIDE + bytes + k] != 0x5A) { fprintf(stderr, "a store beside %s\n", name); exit(7); }
    if (out && fwrite(data, 1, bytes, out) != bytes) { perror("output"); exit(2); }
    free(memory);
  }
};
"#;
