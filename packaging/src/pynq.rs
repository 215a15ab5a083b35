//! The PYNQ driver.

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
            fill(include_str!("../files/driver.py.in"), &[("ARGUMENTS", list(&mut only.own())), ("SCRATCH", list(&mut only.scratch())), ("PARAMETERS", parameters(only))])
        }
        several => {
            let list = |all: &mut dyn Iterator<Item = &Argument>| all.map(|a| format!("    {}\n", array(a))).collect::<String>();
            let listed = |(k, f): (usize, &Function)| {
                let scratch = list(&mut f.scratch());
                let scratch = if scratch.is_empty() { String::new() } else { format!("\n{scratch}    ") };
                format!("    {:?}: ({k}, [\n{}    ], [{scratch}]),", f.ident, list(&mut f.own()))
            };
            let method = |f: &Function| fill(METHOD, &[("FUNCTION", f.ident.clone()), ("PARAMETERS", parameters(f))]);
            let functions = several.iter().enumerate().map(listed).collect::<Vec<_>>().join("\n");
            let methods = several.iter().map(method).collect::<String>();
            fill(include_str!("../files/functions.py.in"), &[("FUNCTIONS", functions), ("METHODS", methods), ("FIRST", several[0].ident.clone())])
        }
    };
    vec![File::new(format!("sw/{name}.py"), fill(&text, &common))]
}

/// Of each function.
const METHOD: &str = r#"
    def @FUNCTION@(self, @PARAMETERS@):
        """Runs on buffers of pynq.allocate and returns when the results are there; IOError if they cannot be trusted."""
        self.run("@FUNCTION@", @PARAMETERS@)
"#;
