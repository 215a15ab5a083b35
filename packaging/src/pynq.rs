//! The PYNQ driver.

use crate::formula::{self, Language};
use crate::{fill, types, File, Ip};
use templates::interface::{Argument, Function};

/// `sw/<kernel>.py`.
pub fn files(ip: &Ip) -> Vec<File> {
    let interface = ip.interface;
    let array = |a: &Argument| {
        let flag = |b: bool| if b { "True" } else { "False" };
        let shape = a.array().map_or("None".to_string(), |array| {
            let dims: Vec<String> = array.dims.iter().map(|d| d.to_string()).collect();
            format!("({}{})", dims.join(", "), if dims.len() == 1 { "," } else { "" })
        });
        let written = a.array().is_some_and(|array| array.written);
        format!("    Argument({:?}, {:?}, {shape}, 0x{:02x}, {}),", a.ident, types::numpy(a.ty), a.offset, flag(written))
    };
    let name = &interface.kernel;
    let class: String = name.split('_').filter(|part| !part.is_empty()).map(|part| part[..1].to_uppercase() + &part[1..]).collect();
    let parameters = |f: &Function| f.own().map(|a| a.ident.as_str()).collect::<Vec<_>>().join(", ");
    let at = |offset: Option<u32>| offset.map_or("None".to_string(), |at| format!("0x{at:02x}"));
    let common = [
        ("KERNEL", name.clone()),
        ("CLASS", class),
        ("VLNV", ip.vlnv()),
        ("ADDRESS_BYTES", (interface.address_bits / 8).to_string()),
        ("CYCLES", format!("0x{:02x}", interface.layout.cycles())),
        ("STATUS", format!("0x{:02x}", interface.layout.status())),
        ("ERROR_ADDRESS", format!("0x{:02x}", interface.layout.error_address())),
        ("FUNCTION", at(interface.layout.function())),
        ("QUEUE", at(interface.layout.queue().map(|q| q[0]))),
        ("ENDED", at(interface.layout.queue().map(|q| q[1]))),
    ];
    let text = match &interface.functions[..] {
        [only] if interface.layout.queue().is_none() => {
            let list = |all: &mut dyn Iterator<Item = &Argument>| all.map(array).collect::<Vec<_>>().join("\n");
            let tokens = [
                ("ARGUMENTS", list(&mut only.own())),
                ("COMPUTED", list(&mut computed(only))),
                ("COMPUTE", compute(only)),
                ("COMPUTE_CALL", if computed(only).next().is_some() { format!("computed_{}(*values)", only.ident) } else { "[]".into() }),
                ("SCRATCH", list(&mut only.scratch())),
                ("PARAMETERS", parameters(only)),
            ];
            fill(include_str!("../files/driver.py.in"), &tokens)
        }
        several => {
            let list = |all: &mut dyn Iterator<Item = &Argument>| all.map(|a| format!("    {}\n", array(a))).collect::<String>();
            let listed = |(k, f): (usize, &Function)| {
                let more = |all: String| if all.is_empty() { all } else { format!("\n{all}    ") };
                let (computed, scratch) = (more(list(&mut computed(f))), more(list(&mut f.scratch())));
                format!("    {:?}: ({k}, [\n{}    ], [{computed}], [{scratch}]),", f.ident, list(&mut f.own()))
            };
            let method = |f: &Function| fill(METHOD, &[("FUNCTION", f.ident.clone()), ("PARAMETERS", parameters(f))]);
            let functions = several.iter().enumerate().map(listed).collect::<Vec<_>>().join("\n");
            let methods = several.iter().map(method).collect::<String>();
            let compute: String = several.iter().map(compute).collect();
            let known = several.iter().filter(|f| computed(f).next().is_some()).map(|f| format!("{:?}: computed_{}", f.ident, f.ident)).collect::<Vec<_>>().join(", ");
            fill(include_str!("../files/functions.py.in"), &[("COMPUTE", compute), ("KNOWN", known), ("FUNCTIONS", functions), ("METHODS", methods), ("FIRST", several[0].ident.clone())])
        }
    };
    vec![File::new(format!("sw/{name}.py"), fill(&text, &common))]
}

fn computed(f: &Function) -> impl Iterator<Item = &Argument> {
    f.arguments.iter().filter(|a| a.formula.is_some())
}

/// A function that computes what follows from the arguments; none where nothing does.
fn compute(f: &Function) -> String {
    let own = |name: &str| match f.own().find(|a| a.ident == name) {
        Some(a) => format!("numpy.{}({name})", types::numpy(a.ty)),
        None => name.to_string(),
    };
    let lines: String = computed(f).flat_map(|a| a.formula.iter().flat_map(move |formula| formula::lines(a, formula, &Language::Python, &own))).map(|line| format!("    {line}\n")).collect();
    if lines.is_empty() {
        return lines;
    }
    let list = |all: &mut dyn Iterator<Item = &Argument>| all.map(|a| a.ident.as_str()).collect::<Vec<_>>().join(", ");
    fill(COMPUTE, &[("FUNCTION", f.ident.clone()), ("PARAMETERS", list(&mut f.own())), ("LINES", lines), ("NAMES", list(&mut computed(f)))])
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

/// Of each function.
const METHOD: &str = r#"
    def @FUNCTION@(self, @PARAMETERS@):
        """Runs on buffers of pynq.allocate and returns when the results are there; IOError if they cannot be trusted."""
        self.run("@FUNCTION@", @PARAMETERS@)
"#;
