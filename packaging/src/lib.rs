//! What makes the emitted Verilog an IP for Vivado, Vitis, PYNQ, bare metal, Linux and FuseSoC: files, rendered from
//! one [`Interface`]. Nothing here touches the file system: [`render`] takes the design's files and returns the
//! package's.
//!
//! Invariants: the same input gives the same bytes, without dates, paths or host names; every offset, name and width
//! comes from the [`Interface`]; every path is relative to the output directory, which is the IP's root.
//!
//! Sources: IEEE 1685-2009; AMD UG1118 (IP packager), UG1393 (Vitis), UG835 (Tcl), UG994 (block designs); XRT's and
//! PYNQ's headers. Not tried in Vivado, Vitis or on a device.

mod axi;
mod c;
mod component;
mod formula;
mod fusesoc;
mod host;
mod pynq;
mod readme;
mod tcl;
mod types;
mod vitis;
pub mod xml;

use cost::board::Board;
use sha2::{Digest, Sha256};
use templates::interface::{self, Interface};

/// VLNV but for the name: `sagen:array:<kernel>:1.0`.
pub const VENDOR: &str = "sagen";
pub const LIBRARY: &str = "array";
pub const VERSION: &str = "1.0";

/// A file below the output directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// With `/` between folders.
    pub path: String,
    pub bytes: Vec<u8>,
}

impl File {
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> File {
        File { path: path.into(), bytes: bytes.into() }
    }
}

/// A port of the top module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    pub name: String,
    pub input: bool,
    /// In bits.
    pub width: u32,
}

/// What is packaged.
#[derive(Clone, Debug)]
pub struct Ip<'a> {
    pub interface: &'a Interface,
    pub board: &'a Board,
    /// Every port of the top module, as declared.
    pub signals: Vec<Signal>,
    /// The Verilog, what is instantiated before what instantiates it; the top module last.
    pub rtl: Vec<File>,
    /// XDC for out-of-context runs.
    pub constraints: Vec<File>,
    /// Paths of the testbench's Verilog, and of the files it reads by their bare names.
    pub bench: Vec<String>,
    pub images: Vec<String>,
    /// In the order of the interface's.
    pub functions: Vec<Function>,
}

/// What is said of a function beside its interface.
#[derive(Clone, Debug)]
pub struct Function {
    /// The memory bank of each argument as `v++` names it (`DDR[1]`); `None` for one that has no address.
    pub banks: Vec<Option<String>>,
    /// C text with `int <kernel>_reference(void **before, void **after)`, which runs the C program; `None` where there
    /// is none, and so no host that compares with it.
    pub reference: Option<String>,
    /// Results are the C program's bit for bit; otherwise floats are rounded elsewhere.
    pub exact: bool,
    /// The array in a line, and the cycles a run is predicted to take.
    pub summary: String,
    pub cycles: i64,
}

impl Ip<'_> {
    /// What the IP is, in a line.
    fn title(&self) -> String {
        match &self.interface.functions[..] {
            [_] => format!("Systolic array for {}", self.interface.kernel),
            several => format!(
                "Systolic arrays for {}",
                several.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ")
            ),
        }
    }
    /// The only function, if it is the only one.
    fn only(&self) -> Option<(&interface::Function, &Function)> {
        match (&self.interface.functions[..], &self.functions[..]) {
            ([interface], [function]) => Some((interface, function)),
            _ => None,
        }
    }
    /// All functions.
    fn all(&self) -> impl Iterator<Item = (&interface::Function, &Function)> {
        self.interface.functions.iter().zip(&self.functions)
    }
    /// What an argument is called beside those of other functions.
    fn called(&self, function: &interface::Function, argument: &interface::Argument) -> String {
        if self.functions.len() > 1 {
            format!("{}_{}", function.ident, argument.ident)
        } else {
            argument.ident.clone()
        }
    }
    /// What a register that follows from the sizes is called beside those of other functions.
    fn program(&self, function: &interface::Function, register: &interface::ProgramRegister) -> String {
        if self.functions.len() > 1 {
            format!("{}_{}", function.ident, register.ident)
        } else {
            register.ident.clone()
        }
    }
    /// Cycles of the longest run.
    fn cycles(&self) -> i64 {
        self.functions.iter().map(|f| f.cycles).max().unwrap_or(0)
    }
    fn vlnv(&self) -> String {
        format!("{VENDOR}:{LIBRARY}:{}:{VERSION}", self.interface.kernel)
    }
    fn gui_path(&self) -> String {
        format!("xgui/{}_v{}.tcl", self.interface.kernel, VERSION.replace('.', "_"))
    }
    /// A number that changes whenever the hardware or its description does: 1 to 2^31 - 1.
    fn revision(&self) -> u32 {
        let mut hash = Sha256::new();
        for file in self.rtl.iter().chain(&self.constraints) {
            hash.update(&file.path);
            hash.update((file.bytes.len() as u64).to_le_bytes());
            hash.update(&file.bytes);
        }
        hash.update(component::document(self, 0));
        let digest = hash.finalize();
        (u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]) >> 1).max(1)
    }
}

/// The package's files, the Verilog and constraints not among them.
///
/// # Errors
/// The `.xo` cannot be put together: a file too large for a zip archive.
pub fn render(ip: &Ip) -> Result<Vec<File>, String> {
    let kernel = &ip.interface.kernel;
    let revision = ip.revision();
    let component = File::new("component.xml", component::document(ip, revision));
    let gui = File::new(ip.gui_path(), tcl::gui());
    let description = File::new("vitis/kernel.xml", vitis::kernel(ip));
    let packed = vitis::xo(ip, &component, &gui, &description)?;
    let mut files = vec![
        component,
        gui,
        description,
        File::new(format!("vitis/{kernel}.cfg"), vitis::link(ip)),
        File::new(format!("{kernel}.xo"), packed),
    ];
    files.extend(tcl::scripts(ip, revision));
    files.extend(c::headers(ip));
    files.extend(host::files(ip));
    files.extend(pynq::files(ip));
    files.extend(fusesoc::files(ip));
    files.push(File::new("README.md", readme::text(ip, revision)));
    Ok(files)
}

/// A text with `@TOKENS@` replaced.
fn fill(text: &str, tokens: &[(&str, String)]) -> String {
    tokens.iter().fold(text.to_string(), |text, (token, value)| text.replace(&format!("@{token}@"), value))
}
