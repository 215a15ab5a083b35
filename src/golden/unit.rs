//! The translation unit with the user's code: behind the user's file a function that calls the kernel. And the same as a
//! text for hosts (`sw/reference.c` or `.cpp`).

use super::watch::watched;
use super::{bytes, bytes_text, can_be_included, dram, is_cpp, own_contents, Source, Way, AP_INT, LINK};
use frontend::ParseOptions;
use scop::{Array, Binding, Scop};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The user's file and, behind it, the function that calls its kernel on buffers in the order of the DRAM arrays.
pub(super) fn kernel_unit(scop: &Scop, source: &Source) -> String {
    let (Source::Watched(path) | Source::AsItIs(path)) = source;
    let path = path.to_string_lossy();
    let cpp = is_cpp(scop);
    let mut text = format!("{}#include \"{path}\"\n", if cpp { "#include <utility>\n" } else { "" });
    let (mut copy_in, mut copy_out) = (String::new(), String::new());
    let mut arguments = vec![String::from("0"); scop.function.parameters as usize];
    for (k, size) in scop.sizes.iter().enumerate() {
        if let Some(place) = arguments.get_mut(size.parameter as usize) {
            *place = match size.value {
                Some(value) if cpp => {
                    let _ = writeln!(text, "static long long sagen_value_{k} = {value};");
                    format!("&sagen_value_{k}")
                }
                Some(value) => value.to_string(),
                None if cpp => format!("(void *)&sagen_sizes[{k}]"),
                None => format!("sagen_sizes[{k}]"),
            };
        }
    }
    for (slot, (_, array)) in dram(scop).enumerate() {
        match array.binding {
            Binding::Parameter(position) => {
                if let Some(place) = arguments.get_mut(position as usize) {
                    *place = format!("sagen_p[{slot}]");
                }
            }
            Binding::Value(position) => {
                if let Some(place) = arguments.get_mut(position as usize) {
                    *place = match cpp {
                        true => format!("sagen_p[{slot}]"),
                        false => format!("*({} *)sagen_p[{slot}]", frontend::c_spelling(&array.c_type)),
                    };
                }
            }
            Binding::Around | Binding::Allocated | Binding::Static => {}
            Binding::Global | Binding::Local | Binding::Scratch | Binding::Host(_) => {
                let (name, size) = (&array.name, bytes(array));
                // The front end and the compiler must agree on the array's size.
                let _ = writeln!(text, "typedef char sagen_size_{slot}[sizeof({name}) == {size} ? 1 : -1];");
                if !own_contents(array) {
                    let _ = writeln!(copy_in, "  __builtin_memcpy((void *)&{name}, sagen_p[{slot}], {size});");
                }
                let _ = writeln!(copy_out, "  __builtin_memcpy(sagen_p[{slot}], (void *)&{name}, {size});");
            }
        }
    }
    let name = scop.function.name.as_deref().unwrap_or("sagen_region");
    let call = if name == "main" {
        // A program without options; its `main` is renamed.
        let _ = writeln!(text, "static char *sagen_arguments[] = {{(char *)\"program\", 0, 0}};");
        let usual = ["1", "sagen_arguments", "sagen_arguments + 2"];
        arguments.iter_mut().zip(usual).for_each(|(a, usual)| *a = usual.into());
        format!("  {name}({});\n", arguments.join(", "))
    } else if cpp && scop.function.name.is_some() {
        let _ = writeln!(text, "{INVOKE}");
        format!("  void *sagen_given[] = {{{}, 0}};\n  sagen::invoke(&{name}, sagen_given);\n", arguments.join(", "))
            .replace("{, ", "{")
    } else {
        format!("  {name}({});\n", arguments.join(", "))
    };
    let linkage = if cpp { "extern \"C\" " } else { "" };
    if let Source::AsItIs(_) = source {
        // The value of a constant is known afterwards.
        let keep = |when: &str, own: bool| {
            let copy = |(slot, (_, array)): (usize, (usize, &Array))| {
                (own_contents(array) == own).then(|| {
                    format!("  __builtin_memcpy(sagen_{when}[{slot}], sagen_p[{slot}], {});\n", bytes_text(array))
                })
            };
            dram(scop).enumerate().filter_map(copy).collect::<String>()
        };
        let (before, after) =
            (keep("before", false), [keep("before", true), keep("after", false), keep("after", true)].concat());
        let _ = writeln!(text, "{}", shared(scop));
        let _ = writeln!(
            text,
            "{linkage}void sagen_call(void **sagen_p) {{\n{before}{copy_in}{call}{copy_out}{after}  sagen_runs = 1;\n}}"
        );
    } else {
        let _ = writeln!(text, "{linkage}void sagen_call(void **sagen_p) {{\n{copy_in}{call}}}");
    }
    text
}

/// A text with `int <name>_reference(void **before, void **after)`, which runs the program once on the arguments of an
/// IP, `numbers` saying which array of the `Scop` each is, if any. `before` holds what the function is called with, and
/// afterwards what was there where the region began; `after` gets what was there where it ended. The result is 0 if the
/// region was never reached. `None` if the text would have to include a file whose name no `#include` can have.
pub fn reference(
    scop: &Scop,
    file: &Path,
    preprocessing: &ParseOptions,
    name: &str,
    numbers: &[Option<usize>],
) -> Option<packaging::Reference> {
    let cpp = is_cpp(scop);
    let (compiler, extension) = if cpp { ("g++ -std=c++17 -I.", "cpp") } else { ("cc", "c") };
    let own = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut text = format!("/* The C program behind {name}, with a way in: {name}_reference at the end.\n");
    let _ = writeln!(
        text,
        " *   {compiler} -O1 -fwrapv -fno-strict-aliasing -ffp-contract=off -ffunction-sections -fdata-sections -c \
        -iquote <folder of {}> reference.{extension}",
        packaging::quote::comment(&own)
    );
    let name_of = |p: &PathBuf| p.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let more: String =
        preprocessing.companions.iter().map(|p| format!(" {}", packaging::quote::comment(&name_of(p)))).collect();
    let with = if more.is_empty() { String::new() } else { format!(" together with{more}") };
    let _ =
        writeln!(text, " * Link it{with} with {}: functions that the kernel does not need are left out. */", LINK[0]);
    for (macro_name, value) in &preprocessing.defines {
        let _ = writeln!(text, "#define {macro_name} {}", if value.is_empty() { "1" } else { value });
    }
    text.push_str("#define main sagen_user_main\n#define __SYNTHESIS__ 1\n#define NDEBUG 1\n");
    if preprocessing.approximate {
        text.push_str(frontend::APPROXIMATIONS);
    }
    let own = PathBuf::from(own);
    match watched(scop, Way::Call) {
        // The program itself in place of its inclusion.
        Some(program) => {
            let name = "program.c";
            let _ = write!(
                text,
                "{}",
                kernel_unit(scop, &Source::Watched(name.into()))
                    .replacen(&format!("#include \"{name}\""), &program, 1,)
            );
        }
        None if can_be_included(&own) => text.push_str(&kernel_unit(scop, &Source::AsItIs(own))),
        None => return None,
    }
    let (mut set, mut free, count) = (String::new(), String::new(), dram(scop).count());
    for (slot, (index, array)) in dram(scop).enumerate() {
        let size = bytes_text(array);
        let _ = write!(set, "  p[{slot}] = __builtin_malloc({size});");
        let _ = match numbers.iter().position(|&p| p == Some(index)) {
            Some(k) => writeln!(
                set,
                " b[{slot}] = before[{k}]; a[{slot}] = after[{k}]; __builtin_memcpy(p[{slot}], b[{slot}], {size});"
            ),
            // What this program keeps from call to call, as the IP does.
            None if array.kept => writeln!(
                set,
                " static char kept_{slot}[{size}]; b[{slot}] = kept_{slot}; a[{slot}] = __builtin_malloc({size}); \
                __builtin_memcpy(p[{slot}], b[{slot}], {size});"
            ),
            None => writeln!(
                set,
                " b[{slot}] = a[{slot}] = __builtin_malloc({size}); __builtin_memset(p[{slot}], 0, {size});"
            ),
        };
        let _ = match numbers.contains(&Some(index)) {
            true => writeln!(free, "  __builtin_free(p[{slot}]);"),
            false if array.kept => writeln!(
                free,
                "  __builtin_memcpy(kept_{slot}, a[{slot}], {size}); __builtin_free(p[{slot}]); \
                __builtin_free(a[{slot}]);"
            ),
            false => writeln!(free, "  __builtin_free(p[{slot}]); __builtin_free(b[{slot}]);"),
        };
    }
    // Open sizes are an argument, too, in the order of the function's parameters.
    let (more, keep) = if scop.sizes.iter().any(|s| s.value.is_none()) {
        (", const long long *sizes", "  sagen_sizes = sizes;\n")
    } else {
        ("", "")
    };
    let linkage = if cpp { "extern \"C\" " } else { "" };
    let _ = writeln!(
        text,
        "void **sagen_before, **sagen_after, **sagen_state; int sagen_runs; const long long *sagen_sizes;\n{linkage}int \
        {name}_reference(void **before, void **after{more}) {{"
    );
    let _ = writeln!(
        text,
        "{keep}  void *p[{count}], *b[{count}], *a[{count}], *s[{count}] = {{0}};\n{set}  sagen_before = b; sagen_after = a; \
        sagen_state = s; sagen_runs = 0;\n  sagen_call(p);\n{free}  return sagen_runs > 0;\n}}"
    );
    let headers = match cpp && text.contains("ap_int.h") {
        true => vec![packaging::File::new("sw/ap_int.h", AP_INT)],
        false => vec![],
    };
    Some(packaging::Reference { text, cpp, headers })
}

/// The declarations of both units, in the language of the program.
pub(super) fn shared(scop: &Scop) -> String {
    match is_cpp(scop) {
        true => format!("extern \"C\" {{ {SHARED} }}"),
        false => SHARED.to_string(),
    }
}

/// Calls a C++ function with what these addresses hold: arrays, references and values alike. An address of 0 stands for
/// an argument that the region does not use.
const INVOKE: &str = r#"namespace sagen {
static long long unused[1 << 13];
template <class T> struct As { static T from(void *p) { return p ? *(T *)p : T(); } };
template <class T> struct As<T *> { static T *from(void *p) { return (T *)p; } };
template <class T> struct As<T &> { static T &from(void *p) { return *(T *)(p ? p : unused); } };
template <class R, class... A, std::size_t... I>
void invoke(R (*f)(A...), void **p, std::index_sequence<I...>) { f(As<A>::from(p[I])...); }
template <class R, class... A>
void invoke(R (*f)(A...), void **p) { invoke(f, p, std::index_sequence_for<A...>()); }
}"#;

/// The declarations of both units.
const SHARED: &str =
    "extern void **sagen_before, **sagen_after, **sagen_state; extern int sagen_runs; extern const long long *sagen_sizes; \
    void sagen_done(void); void sagen_other_size(const char *, ...);";
