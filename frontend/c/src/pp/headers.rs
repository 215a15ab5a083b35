//! Constants of the system headers <stdint.h>, <limits.h>, <float.h>, <math.h>. The parser knows their types and
//! functions without any header.

use super::Macro;
use crate::lex::lex;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

const ALWAYS: &[(&str, &str)] = &[
    ("__STDC__", "1"),
    ("__STDC_VERSION__", "201710L"),
    ("__SAGEN__", "1"),
    ("__GNUC__", "12"),
    ("__GNUC_MINOR__", "2"),
    ("__SYNTHESIS__", "1"),
];

const INTEGERS: &[(&str, &str)] = &[
    ("INT8_MIN", "(-128)"),
    ("INT8_MAX", "127"),
    ("UINT8_MAX", "255"),
    ("INT16_MIN", "(-32768)"),
    ("INT16_MAX", "32767"),
    ("UINT16_MAX", "65535"),
    ("INT32_MIN", "(-2147483647-1)"),
    ("INT32_MAX", "2147483647"),
    ("UINT32_MAX", "4294967295U"),
    ("INT64_MIN", "(-9223372036854775807L-1)"),
    ("INT64_MAX", "9223372036854775807L"),
    ("UINT64_MAX", "18446744073709551615UL"),
    ("SIZE_MAX", "18446744073709551615UL"),
    ("CHAR_BIT", "8"),
    ("SCHAR_MIN", "(-128)"),
    ("SCHAR_MAX", "127"),
    ("UCHAR_MAX", "255"),
    ("CHAR_MIN", "(-128)"),
    ("CHAR_MAX", "127"),
    ("SHRT_MIN", "(-32768)"),
    ("SHRT_MAX", "32767"),
    ("USHRT_MAX", "65535"),
    ("INT_MIN", "(-2147483647-1)"),
    ("INT_MAX", "2147483647"),
    ("UINT_MAX", "4294967295U"),
    ("LONG_MIN", "(-9223372036854775807L-1)"),
    ("LONG_MAX", "9223372036854775807L"),
    ("ULONG_MAX", "18446744073709551615UL"),
];

const FLOATS: &[(&str, &str)] = &[
    ("FLT_MAX", "0x1.fffffep127f"),
    ("FLT_MIN", "0x1p-126f"),
    ("FLT_EPSILON", "0x1p-23f"),
    ("INFINITY", "1e999f"),
    ("HUGE_VALF", "1e999f"),
    ("M_PI", "3.14159265358979323846"),
];

fn builtin(body: &str) -> Rc<Macro> {
    Rc::new(Macro { params: None, variadic: false, body: lex(body, 0), defined: None })
}

/// The macros that are always defined.
pub(super) fn always() -> BTreeMap<Rc<str>, Rc<Macro>> {
    ALWAYS.iter().map(|&(name, body)| (name.into(), builtin(body))).collect()
}

/// The headers of the C library, of POSIX and of libraries for hardware, and those of C++ that take their place.
const SYSTEM: &[&str] = &[
    "assert.h",
    "complex.h",
    "ctype.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "locale.h",
    "math.h",
    "setjmp.h",
    "signal.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "ap_axi_sdata.h",
    "ap_fixed.h",
    "ap_int.h",
    "hls_math.h",
    "hls_stream.h",
    "hls_vector.h",
    "stdlib.h",
    "stdnoreturn.h",
    "string.h",
    "tgmath.h",
    "threads.h",
    "time.h",
    "uchar.h",
    "wchar.h",
    "wctype.h",
    "fcntl.h",
    "malloc.h",
    "memory.h",
    "omp.h",
    "pthread.h",
    "strings.h",
    "sys/resource.h",
    "sys/stat.h",
    "sys/time.h",
    "sys/types.h",
    "unistd.h",
    "values.h",
    "cassert",
    "cmath",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "climits",
    "cfloat",
    "ctime",
    "algorithm",
    "array",
    "fstream",
    "iomanip",
    "iostream",
    "string",
    "vector",
];

/// Whether the front end knows what it needs of this header, so that it is never read.
pub(super) fn is_system(name: &str) -> bool {
    SYSTEM.contains(&name)
}

/// Whether a directory holds the headers of the system's C library.
pub(super) fn is_system_directory(directory: &Path) -> bool {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    ["/usr/include", "/usr/lib/gcc", "/usr/lib/llvm"].iter().any(|d| directory.to_string_lossy().starts_with(d))
}

/// Enters the macros of C++.
pub(super) fn cplusplus(macros: &mut BTreeMap<Rc<str>, Rc<Macro>>) {
    macros.remove("__STDC_VERSION__");
    for (name, body) in [("__cplusplus", "201402L"), ("nullptr", "0")] {
        macros.insert(name.into(), builtin(body));
    }
}

/// `assert(…)` has no value and no effect: the hardware cannot stop.
fn ignored_assertion() -> Rc<Macro> {
    Rc::new(Macro {
        params: Some(vec!["__VA_ARGS__".into()]),
        variadic: true,
        body: lex("((void)0)", 0),
        defined: None,
    })
}

/// Enters the constants of `<name>`; other headers are ignored.
pub(super) fn include(name: &str, macros: &mut BTreeMap<Rc<str>, Rc<Macro>>) {
    let tables: &[&[(&str, &str)]] = match name {
        "stdint.h" | "inttypes.h" | "limits.h" | "cstdint" => &[INTEGERS],
        "float.h" | "math.h" | "cmath" => &[FLOATS],
        _ => &[],
    };
    if matches!(name, "complex.h" | "complex") {
        macros.entry("complex".into()).or_insert_with(|| builtin("_Complex"));
    }
    if matches!(name, "assert.h" | "cassert") {
        macros.entry("assert".into()).or_insert_with(ignored_assertion);
    }
    for &(name, body) in tables.iter().copied().flatten() {
        macros.entry(name.into()).or_insert_with(|| builtin(body));
    }
}
