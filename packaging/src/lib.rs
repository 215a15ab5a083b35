//! Renders the files that make the emitted Verilog an IP for Vivado, Vitis, PYNQ, bare metal, Linux and FuseSoC.
//! [`render`] takes the design's files and its [`Interface`] and returns the package's files; nothing here touches the
//! file system.
//!
//! Invariants: the same input yields the same bytes, without dates, paths or host names; every offset, name and width
//! comes from the [`Interface`]; every text that the user chose goes through [`quote`]; every path is relative to the output directory, which is the root of the IP.
//!
//! Sources: IEEE 1685-2009; AMD UG1118 (IP packager), UG1393 (Vitis), UG835 (Tcl), UG994 (block designs); headers of
//! XRT and PYNQ. Not tested in Vivado, Vitis or on a device.

mod axi;
mod c;
mod component;
mod formula;
mod fusesoc;
mod host;
mod litex;
mod pynq;
mod notebook;
pub mod quote;
mod readme;
mod tcl;
mod types;
mod uio;
mod vitis;
pub mod xml;

use cost::board::Board;
use sha2::{Digest, Sha256};
use templates::interface::{self, Interface, Length};

/// Vendor, library and version of `sagen:array:<kernel>:1.0`.
pub const VENDOR: &str = "sagen";
pub const LIBRARY: &str = "array";
pub const VERSION: &str = "1.0";

/// A file below the output directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Folders are separated by `/`.
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

/// The IP to package.
#[derive(Clone, Debug)]
pub struct Ip<'a> {
    pub interface: &'a Interface,
    pub board: &'a Board,
    /// Every port of the top module in the order of its declaration.
    pub signals: Vec<Signal>,
    /// The Verilog files, children before their parents, the top module last.
    pub rtl: Vec<File>,
    /// XDC for out-of-context runs.
    pub constraints: Vec<File>,
    /// XDC for implementation, if the array is cut into bands.
    pub floorplan: Option<File>,
    /// Paths of the testbench's Verilog, and of the images that it opens by their bare names.
    pub bench: Vec<String>,
    pub images: Vec<String>,
    /// In the order of the interface's functions.
    pub functions: Vec<Function>,
}

/// A function's data besides its interface.
#[derive(Clone, Debug)]
pub struct Function {
    /// The memory bank of each argument in `v++`'s notation (`DDR[1]`); `None` for an argument without an address.
    pub banks: Vec<Option<String>>,
    /// `None`: no reference, hence no host that compares with it.
    pub reference: Option<Reference>,
    /// Results equal the C program's bit for bit; otherwise floats are rounded differently.
    pub exact: bool,
    /// The array in one line, and the predicted cycles of a run.
    pub summary: String,
    pub cycles: i64,
    /// They are those with the board's memory, else with ideal memory.
    pub on_board: bool,
}

/// A text with `int <kernel>_reference(void **before, void **after)`, which runs the C program.
#[derive(Clone, Debug)]
pub struct Reference {
    pub text: String,
    /// The program, and so the text, is C++.
    pub cpp: bool,
    /// Headers that it needs, as files of `sw/`.
    pub headers: Vec<File>,
}

impl Reference {
    /// The extension of its file.
    fn extension(&self) -> &'static str {
        if self.cpp {
            "cpp"
        } else {
            "c"
        }
    }
}

impl Ip<'_> {
    /// The IP in one line.
    fn title(&self) -> String {
        match &self.interface.functions[..] {
            [_] => format!("Systolic array for {}", self.interface.kernel),
            several => format!(
                "Systolic arrays for {}",
                several.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ")
            ),
        }
    }
    /// The device is one of AMD's.
    fn is_for_vivado(&self) -> bool {
        self.board.fabric().is_lut6()
    }
    /// The function, if the IP has only one.
    fn single(&self) -> Option<(&interface::Function, &Function)> {
        match (&self.interface.functions[..], &self.functions[..]) {
            ([interface], [function]) => Some((interface, function)),
            _ => None,
        }
    }
    /// All functions.
    fn all(&self) -> impl Iterator<Item = (&interface::Function, &Function)> {
        self.interface.functions.iter().zip(&self.functions)
    }
    /// An argument's name, unique among all functions.
    fn argument_name(&self, function: &interface::Function, argument: &interface::Argument) -> String {
        if self.functions.len() > 1 {
            format!("{}_{}", function.ident, argument.ident)
        } else {
            argument.ident.clone()
        }
    }
    /// The name of a register that depends on sizes, unique among all functions.
    fn register_name(&self, function: &interface::Function, register: &interface::ProgramRegister) -> String {
        if self.functions.len() > 1 {
            format!("{}_{}", function.ident, register.ident)
        } else {
            register.ident.clone()
        }
    }
    /// The name of the register with an array's length, unique among all functions.
    fn length_name(&self, function: &interface::Function, length: &Length) -> String {
        if self.functions.len() > 1 {
            format!("{}_{}", function.ident, length.ident)
        } else {
            length.ident.clone()
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
    /// A number from 1 to 2^31 - 1 that changes with the hardware or its description.
    fn revision(&self) -> u32 {
        let mut hash = Sha256::new();
        for file in self.rtl.iter().chain(&self.constraints).chain(&self.floorplan) {
            hash.update(&file.path);
            hash.update((file.bytes.len() as u64).to_le_bytes());
            hash.update(&file.bytes);
        }
        hash.update(component::document(self, 0));
        let digest = hash.finalize();
        (u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]) >> 1).max(1)
    }
}

/// The package's files, without Verilog and constraints.
///
/// # Errors
/// A file is too large for the zip archive of the `.xo`.
pub fn render(ip: &Ip) -> Result<Vec<File>, String> {
    let revision = ip.revision();
    let mut files = if ip.is_for_vivado() { for_vivado(ip, revision)? } else { vec![] };
    files.extend(c::headers(ip));
    files.extend(fusesoc::files(ip));
    files.extend(litex::files(ip));
    files.push(File::new("README.md", readme::text(ip, revision)));
    Ok(files)
}

/// The package for Vivado, Vitis and what runs beside them.
fn for_vivado(ip: &Ip, revision: u32) -> Result<Vec<File>, String> {
    let kernel = &ip.interface.kernel;
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
    files.extend(host::files(ip));
    files.extend(pynq::files(ip));
    if ["zynq", "zynquplus"].contains(&ip.board.family.as_str()) {
        files.push(notebook::file(ip));
        files.push(uio::file(ip));
    }
    Ok(files)
}

/// Replaces `@TOKENS@` in a text. What looks like a token in a value stays.
fn fill(text: &str, tokens: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = tokens
            .iter()
            .find_map(|(token, value)| Some((value, rest.strip_prefix('@')?.strip_prefix(token)?.strip_prefix('@')?)));
        match found {
            Some((value, behind)) => {
                out.push_str(value);
                rest = behind;
            }
            None => {
                out.push('@');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}
