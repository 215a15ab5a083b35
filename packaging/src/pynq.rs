//! The PYNQ driver.

use crate::formula::{self, Language};
use crate::{fill, types, File, Ip};
use templates::interface::{
    Argument, Function, ProgramRegister, SizeArgument, QUEUE_INDEPENDENT, QUEUE_MORE, STATUS_CAUSES,
};
use uniform::sizes::Formula;

/// `sw/<kernel>.py`.
pub fn files(ip: &Ip) -> Vec<File> {
    let interface = ip.interface;
    let name = &interface.kernel;
    let class: String =
        name.split('_').filter(|part| !part.is_empty()).map(|part| part[..1].to_uppercase() + &part[1..]).collect();
    let parameters = |f: &Function| own(f, |a| a.ident.clone(), |s| s.ident.clone()).join(", ");
    let at = |offset: Option<u32>| offset.map_or("None".to_string(), |at| format!("0x{at:02x}"));
    let common = [
        ("KERNEL", name.clone()),
        ("CLASS", class),
        ("VLNV", ip.vlnv()),
        ("ADDRESS_BYTES", (interface.address_bits / 8).to_string()),
        ("CYCLES", format!("0x{:02x}", interface.layout.cycles())),
        ("STATUS", format!("0x{:02x}", interface.layout.status())),
        ("ERROR_ADDRESS", format!("0x{:02x}", interface.layout.error_address())),
        ("SOFT_RESET", format!("0x{:02x}", interface.layout.soft_reset())),
        ("CAUSES", format!("0x{STATUS_CAUSES:02x}")),
        (
            "EMPTIES",
            if interface.layout.queue().is_some() { " and drops the commands of its queue" } else { "" }.into(),
        ),
        ("FUNCTION", at(interface.layout.function())),
        ("QUEUE", at(interface.layout.queue().map(|q| q[0]))),
        ("ENDED", at(interface.layout.queue().map(|q| q[1]))),
        ("OVERLAP", if interface.layout.overlap { "True" } else { "False" }.into()),
        ("INDEPENDENT", format!("0x{:x}", 1 << QUEUE_INDEPENDENT)),
        ("MORE", format!("0x{:x}", 1 << QUEUE_MORE)),
    ];
    let common: Vec<_> = common.into_iter().chain(lengths(&interface.functions)).collect();
    let text = match &interface.functions[..] {
        [only] if interface.layout.queue().is_none() && only.sizes.is_empty() => {
            let list = |all: &mut dyn Iterator<Item = &Argument>| {
                all.map(|a| argument(only, a)).collect::<Vec<_>>().join("\n")
            };
            let tokens = [
                ("ARGUMENTS", list(&mut only.own())),
                ("COMPUTED", list(&mut computed(only))),
                ("COMPUTE", compute(only)),
                (
                    "COMPUTE_CALL",
                    if computed(only).next().is_some() {
                        format!("computed_{}(*values)", only.ident)
                    } else {
                        "[]".into()
                    },
                ),
                ("SCRATCH", list(&mut only.scratch())),
                ("PARAMETERS", parameters(only)),
                ("COMMON", COMMON.into()),
                ("METHODS", COMMON_METHODS.into()),
            ];
            fill(include_str!("../files/driver.py.in"), &tokens)
        }
        several => {
            let listed = |(k, f): (usize, &Function)| {
                let list = |all: Vec<String>| all.iter().map(|line| format!("    {line}\n")).collect::<String>();
                let more =
                    |all: Vec<String>| if all.is_empty() { String::new() } else { format!("\n{}    ", list(all)) };
                let (computed, scratch) = (
                    more(computed(f).map(|a| argument(f, a)).collect()),
                    more(f.scratch().map(|a| argument(f, a)).collect()),
                );
                format!(
                    "    {:?}: ({k}, [\n{}    ], [{computed}], [{scratch}]),",
                    f.ident,
                    list(own(f, |a| argument(f, a), size))
                )
            };
            let method = |f: &Function| fill(METHOD, &[("FUNCTION", f.ident.clone()), ("PARAMETERS", parameters(f))]);
            let functions = several.iter().enumerate().map(listed).collect::<Vec<_>>().join("\n");
            let methods = several.iter().map(method).collect::<String>();
            let compute: String = several.iter().map(compute).collect();
            let compute_functions = several
                .iter()
                .filter(|f| computed(f).next().is_some())
                .map(|f| format!("{:?}: computed_{}", f.ident, f.ident))
                .collect::<Vec<_>>()
                .join(", ");
            let program: String = several.iter().filter(|f| !f.sizes.is_empty()).map(program).collect();
            let sized = several
                .iter()
                .filter(|f| !f.sizes.is_empty())
                .map(|f| format!("{:?}: program_{}", f.ident, f.ident))
                .collect::<Vec<_>>()
                .join(", ");
            let sizes_note = if sized.is_empty() {
                ""
            } else {
                "; behind the name\n                                                   # its sizes, if it has some"
            };
            fill(
                include_str!("../files/functions.py.in"),
                &[
                    ("COMPUTE", compute),
                    ("KNOWN", compute_functions),
                    ("PROGRAM", program),
                    ("SIZED_FUNCTIONS", sized),
                    ("SIZED", sizes_note.into()),
                    ("FUNCTIONS", functions),
                    ("METHODS", methods),
                    ("COMMON", COMMON.into()),
                    ("COMMON_METHODS", COMMON_METHODS.into()),
                    ("PARAMETERS", parameters(&several[0])),
                    ("FIRST", several[0].ident.clone()),
                ],
            )
        }
    };
    vec![File::new(format!("sw/{name}.py"), fill(&text, &common))]
}

/// What the driver has if the host gives lengths, else nothing.
fn lengths(functions: &[Function]) -> [(&'static str, String); 4] {
    let some = functions.iter().any(|f| f.lengths().next().is_some());
    let all = [("LENGTH", " length"), ("NO_LENGTH", ", None"), ("LENGTH_IS", LENGTH_IS), ("PUT_LENGTH", PUT_LENGTH)];
    all.map(|(token, text)| (token, if some { text.into() } else { String::new() }))
}

const LENGTH_IS: &str = ";
# length: offset and bytes of the register with the length of its buffer";

const PUT_LENGTH: &str = "                if argument.length is not None:
                    for at in range(0, argument.length[1], 4):
                        self.write(argument.length[0] + at, value.nbytes >> 8 * at & 0xffffffff)
";

/// An argument with a register.
fn argument(f: &Function, a: &Argument) -> String {
    let flag = |b: bool| if b { "True" } else { "False" };
    let shape = a.array().map_or("None".to_string(), |array| {
        let tuple = |dims: Vec<String>| format!("({}{})", dims.join(", "), if dims.len() == 1 { "," } else { "" });
        match &array.extents[..] {
            // Scratch buffers have the greatest sizes.
            over if over.is_empty() || array.scratch => tuple(array.dims.iter().map(i64::to_string).collect()),
            over => {
                format!("lambda {}: {}", sizes(f), tuple(over.iter().map(|e| number(&Formula::affine(e), f)).collect()))
            }
        }
    });
    let written = a.array().is_some_and(|array| array.written);
    let length = a.array().and_then(|array| array.length.as_ref());
    let length = length.map_or(String::new(), |l| format!(", length=(0x{:02x}, {})", l.offset, l.bits / 8));
    let ty = types::numpy(a.ty);
    let multiple = a.array().map_or(String::new(), |array| format!(", multiple={}", array.alignment));
    format!("    Argument({:?}, {ty:?}, {shape}, 0x{:02x}, {}{length}{multiple}),", a.ident, a.offset, flag(written))
}

fn size(s: &SizeArgument) -> String {
    format!("    Argument({:?}, {:?}, None, None, False, {}),", s.ident, types::numpy(s.ty), s.max)
}

/// A text for each argument that the caller passes, sizes included.
fn own(f: &Function, argument: impl Fn(&Argument) -> String, size: impl Fn(&SizeArgument) -> String) -> Vec<String> {
    f.in_order(|a| a.is_own().then(|| argument(a)), |s| Some(size(s))).into_iter().flatten().collect()
}

fn sizes(f: &Function) -> String {
    f.sizes.iter().map(|s| s.ident.as_str()).collect::<Vec<_>>().join(", ")
}

/// A function that computes the registers that depend on sizes.
fn program(f: &Function) -> String {
    let one = |p: &ProgramRegister| {
        format!("        (0x{:02x}, {}, {}),\n", p.offset, p.register.bits.div_ceil(32), number(&p.register.formula, f))
    };
    let lines: String = f.program.iter().map(one).collect();
    fill(PROGRAM, &[("FUNCTION", f.ident.clone()), ("SIZES", sizes(f)), ("LINES", lines)])
}

/// A formula over the sizes in Python.
fn number(formula: &Formula, f: &Function) -> String {
    let sized = formula::Sized {
        constant: &|c| c.to_string(),
        size: &|k| f.sizes[k].ident.clone(),
        floor: &|x, by| format!("({x} // {by})"),
        least: "min",
        greatest: "max",
    };
    sized.text(formula)
}

const PROGRAM: &str = r#"
def program_@FUNCTION@(@SIZES@):
    """What follows from the sizes: a register's offset, its 32-bit words, its value."""
    return [
@LINES@    ]

"#;

fn computed(f: &Function) -> impl Iterator<Item = &Argument> {
    f.arguments.iter().filter(|a| a.formula.is_some())
}

/// A function that computes the scalars that depend on other arguments; empty if none does.
fn compute(f: &Function) -> String {
    let own = |name: &str| match f.own().find(|a| a.ident == name) {
        Some(a) => format!("numpy.{}({name})", types::numpy(a.ty)),
        None => name.to_string(),
    };
    let lines: String = computed(f)
        .flat_map(|a| a.formula.iter().flat_map(move |formula| formula::lines(a, formula, &Language::Python, &own)))
        .map(|line| format!("    {line}\n"))
        .collect();
    if lines.is_empty() {
        return lines;
    }
    let list = |all: &mut dyn Iterator<Item = &Argument>| all.map(|a| a.ident.as_str()).collect::<Vec<_>>().join(", ");
    fill(
        COMPUTE,
        &[
            ("FUNCTION", f.ident.clone()),
            ("PARAMETERS", list(&mut f.own())),
            ("LINES", lines),
            ("NAMES", list(&mut computed(f))),
        ],
    )
}

const COMPUTE: &str = r#"
def host(name, *values):
    """A function of the C library."""
    kind = ctypes.c_float if name.endswith("f") else ctypes.c_double
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.restype, function.argtypes = kind, [kind] * len(values)
    return function(*map(float, values))


def computed_@FUNCTION@(@PARAMETERS@):
    """The scalars that follow from the arguments, rounded as C does."""
@LINES@    return [@NAMES@]

"#;

/// What the drivers of one and of several functions share: functions, and methods of the class.
const COMMON: &str = include_str!("../files/common.py.in");
const COMMON_METHODS: &str = include_str!("../files/methods.py.in");

/// The method of each function.
const METHOD: &str = r#"
    def @FUNCTION@(self, @PARAMETERS@):
        """Runs on NumPy arrays or buffers of pynq.allocate, and returns when the results are there; IOError if they cannot
        be trusted."""
        self.run("@FUNCTION@", @PARAMETERS@)
"#;
