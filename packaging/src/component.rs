//! `component.xml`: the IP as IP-XACT (IEEE 1685-2009) with Vivado's extensions.
//!
//! The schema is a sequence everywhere, so the order of elements is part of the format. Checksums are omitted, because
//! their algorithm is not published. Without them Vivado does not detect manual edits of files.

use crate::axi::{self, Role};
use crate::xml::{group, leaf, Element};
use crate::{Ip, Signal, LIBRARY, VENDOR, VERSION};
use templates::interface::{Access, AxiPort, Field, Register, Single};

/// Bytes of the registers in the address map. The address editor cannot place less than 4096.
const CONTROL_RANGE: u32 = 65536;
const SYNTHESIS: &str = "xilinx_verilogsynthesis";
const SIMULATION: &str = "xilinx_verilogbehavioralsimulation";
const GUI: &str = "xilinx_xpgui";

fn s(name: &str) -> String {
    format!("spirit:{name}")
}
fn many(name: &str, children: impl IntoIterator<Item = Element>) -> Element {
    group(s(name), children)
}
fn one(name: &str, text: impl ToString) -> Element {
    leaf(s(name), text)
}
fn parameter(name: &str, value: impl ToString, id: String) -> Element {
    many("parameter", [one("name", name), one("value", value).with("spirit:id", id)])
}

/// The document.
pub fn document(ip: &Ip, revision: u32) -> String {
    let interface = ip.interface;
    let root = [
        one("vendor", VENDOR),
        one("library", LIBRARY),
        one("name", &interface.kernel),
        one("version", VERSION),
        many("busInterfaces", bus_interfaces(ip)),
        many("addressSpaces", interface.ports.iter().map(address_space)),
        many("memoryMaps", [memory_map(ip)]),
        many("model", [many("views", views(ip)), many("ports", ip.signals.iter().map(|x| port(ip, x)))]),
        many("fileSets", file_sets(ip)),
        one("description", ip.title()),
        many("parameters", [component_name(ip)]),
        many("vendorExtensions", extensions(ip, revision)),
    ];
    many("component", root)
        .with("xmlns:xilinx", "http://www.xilinx.com")
        .with("xmlns:spirit", "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009")
        .with("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance")
        .document()
}

fn component_name(ip: &Ip) -> Element {
    let value = one("value", format!("{}_v{}", ip.interface.kernel, VERSION.replace('.', "_")));
    let value =
        value.with("spirit:resolve", "user").with("spirit:id", "PARAM_VALUE.Component_Name").with("spirit:order", 1);
    many("parameter", [one("name", "Component_Name"), value])
}

// ---- bus interfaces ------------------------------------------------------------------------------------------------

fn bus_interfaces(ip: &Ip) -> Vec<Element> {
    let interface = ip.interface;
    let mut all: Vec<Element> = interface.ports.iter().map(|p| manager(ip, p)).collect();
    all.push(control(ip));
    all.extend(
        interface.singles().iter().map(|s| single(s, if s.port == interface.interrupt { "master" } else { "slave" })),
    );
    all
}

/// A bus of kind `aximm`, `clock`, … in Vivado's library.
fn bus(
    name: &str,
    [library, kind]: [&str; 2],
    role: Element,
    maps: Vec<[String; 2]>,
    parameters: &[(&str, String)],
) -> Element {
    let definition = |element: &str, name: String| {
        let words = [
            ("vendor", "xilinx.com".to_string()),
            ("library", library.to_string()),
            ("name", name),
            ("version", "1.0".to_string()),
        ];
        words.iter().fold(many(element, []), |e, (word, value)| e.with(s(word), value))
    };
    let map = |[logical, physical]: [String; 2]| {
        many("portMap", [many("logicalPort", [one("name", logical)]), many("physicalPort", [one("name", physical)])])
    };
    let set = |(key, value): &(&str, String)| {
        parameter(key, value, format!("BUSIFPARAM_VALUE.{}.{key}", name.to_uppercase()))
    };
    many(
        "busInterface",
        [
            one("name", name),
            definition("busType", kind.to_string()),
            definition("abstractionType", format!("{kind}_rtl")),
            role,
            many("portMaps", maps.into_iter().map(map)),
            many("parameters", parameters.iter().map(set)),
        ],
    )
}

fn single(s: &Single, role: &str) -> Element {
    bus(s.port, ["signal", s.kind], many(role, []), vec![[s.logical.into(), s.port.into()]], &s.parameters)
}

/// Logical and physical names of the signals of an AXI interface.
fn axi_maps(ip: &Ip, name: &str, role: Role) -> Vec<[String; 2]> {
    let of = |signal: &Signal| axi::logical(&signal.name, name, role).map(|l| [l.to_uppercase(), signal.name.clone()]);
    ip.signals.iter().filter_map(of).collect()
}

fn manager(ip: &Ip, port: &AxiPort) -> Element {
    let parameters = [
        ("PROTOCOL", "AXI4".to_string()),
        ("ADDR_WIDTH", port.address_bits.to_string()),
        ("DATA_WIDTH", port.data_bits.to_string()),
        ("ID_WIDTH", "1".to_string()),
        ("READ_WRITE_MODE", "READ_WRITE".to_string()),
        ("SUPPORTS_NARROW_BURST", "0".to_string()),
        ("MAX_BURST_LENGTH", port.burst_beats.to_string()),
    ];
    let role = many("master", [many("addressSpaceRef", []).with(s("addressSpaceRef"), &port.name)]);
    bus(&port.name, ["interface", "aximm"], role, axi_maps(ip, &port.name, Role::Manager), &parameters)
}

fn control(ip: &Ip) -> Element {
    let interface = ip.interface;
    let parameters = [
        ("PROTOCOL", "AXI4LITE".to_string()),
        ("ADDR_WIDTH", interface.layout.address_bits().to_string()),
        ("DATA_WIDTH", "32".to_string()),
        ("READ_WRITE_MODE", "READ_WRITE".to_string()),
    ];
    let role = many("slave", [many("memoryMapRef", []).with(s("memoryMapRef"), interface.control)]);
    bus(interface.control, ["interface", "aximm"], role, axi_maps(ip, interface.control, Role::Registers), &parameters)
}

fn address_space(port: &AxiPort) -> Element {
    let id = |key: &str| format!("ADDRSPACEPARAM_VALUE.{}.{key}", port.name.to_uppercase());
    let range = if port.address_bits >= 64 { "16E".to_string() } else { format!("{}", 1u64 << port.address_bits) };
    many(
        "addressSpace",
        [
            one("name", &port.name),
            one("range", range),
            one("width", port.address_bits),
            many(
                "parameters",
                [
                    parameter("DEPENDENT_ON", "s_axi_control", id("DEPENDENT_ON")),
                    parameter("PREFERRED_USAGE", "MEMORY", id("PREFERRED_USAGE")),
                ],
            ),
        ],
    )
}

// ---- registers -----------------------------------------------------------------------------------------------------

fn memory_map(ip: &Ip) -> Element {
    let name = ip.interface.control;
    let offset = |key: &str, value: &str| {
        let id = format!("ADDRBLOCKPARAM_VALUE.{}.REG.{key}", name.to_uppercase());
        parameter(key, format!("C_{}_{value}", name.to_uppercase()), id)
    };
    let mut block = vec![
        one("name", "Reg"),
        one("baseAddress", 0),
        one("range", CONTROL_RANGE),
        one("width", 32),
        one("usage", "register"),
        one("access", "read-write"),
        many("parameters", [offset("OFFSET_BASE_PARAM", "BASEADDR"), offset("OFFSET_HIGH_PARAM", "HIGHADDR")]),
    ];
    block.extend(ip.interface.registers.iter().map(register));
    many("memoryMap", [one("name", name), many("addressBlock", block)])
}

fn access(kind: Access) -> &'static str {
    match kind {
        Access::ReadOnly | Access::ReadClears => "read-only",
        Access::ReadWrite | Access::SetByOne | Access::ToggledByOne | Access::ClearedByOne => "read-write",
    }
}

fn register(r: &Register) -> Element {
    let mut parts = vec![
        one("name", &r.name),
        one("displayName", &r.name),
        one("description", &r.description),
        one("addressOffset", format!("0x{:x}", r.offset)),
        one("size", 32),
        one("volatile", r.access != Access::ReadWrite || r.fields.iter().any(|f| f.access != Access::ReadWrite)),
        one("access", access(r.access)),
        many("reset", [one("value", r.reset)]),
    ];
    parts.extend(r.fields.iter().map(field));
    many("register", parts)
}

fn field(f: &Field) -> Element {
    let mut parts = vec![
        one("name", f.name),
        one("description", f.description),
        one("bitOffset", f.bit),
        one("bitWidth", f.width),
        one("access", access(f.access)),
    ];
    match f.access {
        Access::SetByOne => parts.push(one("modifiedWriteValue", "oneToSet")),
        Access::ToggledByOne => parts.push(one("modifiedWriteValue", "oneToToggle")),
        Access::ClearedByOne => parts.push(one("modifiedWriteValue", "oneToClear")),
        Access::ReadClears => parts.push(one("readAction", "clear")),
        Access::ReadOnly | Access::ReadWrite => {}
    }
    many("field", parts)
}

// ---- model and files -----------------------------------------------------------------------------------------------

fn views(ip: &Ip) -> Vec<Element> {
    let set = |view: &str| many("fileSetRef", [one("localName", format!("{view}_view_fileset"))]);
    let verilog = |view: &str, title: &str, purpose: &str| {
        let model = [one("language", "verilog"), one("modelName", &ip.interface.kernel), set(view)];
        let head = [
            one("name", view),
            one("displayName", title),
            one("envIdentifier", format!("verilogSource:vivado.xilinx.com:{purpose}")),
        ];
        many("view", head.into_iter().chain(model))
    };
    vec![
        verilog(SYNTHESIS, "Verilog Synthesis", "synthesis"),
        verilog(SIMULATION, "Verilog Simulation", "simulation"),
        many(
            "view",
            [
                one("name", GUI),
                one("displayName", "UI Layout"),
                one("envIdentifier", ":vivado.xilinx.com:xgui.ui"),
                set(GUI),
            ],
        ),
    ]
}

fn port(ip: &Ip, signal: &Signal) -> Element {
    let mut wire = vec![one("direction", if signal.input { "in" } else { "out" })];
    if signal.width > 1 {
        wire.push(many("vector", [one("left", signal.width - 1), one("right", 0)]));
    }
    let kind = if signal.width > 1 { "std_logic_vector" } else { "std_logic" };
    let seen = [one("typeName", kind), one("viewNameRef", SYNTHESIS), one("viewNameRef", SIMULATION)];
    wire.push(many("wireTypeDefs", [many("wireTypeDef", seen)]));
    // Open inputs are 0, without a warning.
    if signal.input && signal.name != ip.interface.clock && signal.name != ip.interface.reset {
        wire.push(many("driver", [one("defaultValue", 0)]));
    }
    many("port", [one("name", &signal.name), many("wire", wire)])
}

/// The file is read for implementation.
const IMPLEMENTATION: &str = "USED_IN_implementation";

fn file_sets(ip: &Ip) -> Vec<Element> {
    let verilog = |f: &crate::File| many("file", [one("name", &f.path), one("fileType", "verilogSource")]);
    // In a user's design the clock comes from outside, so this constraint applies to out-of-context runs only.
    let used = ["xdc", IMPLEMENTATION, "USED_IN_out_of_context", "USED_IN_synthesis"];
    let constraint =
        |f: &crate::File| many("file", [one("name", &f.path)].into_iter().chain(used.map(|u| one("userFileType", u))));
    let floorplan = |f: &crate::File| {
        many("file", [one("name", &f.path), one("userFileType", "xdc"), one("userFileType", IMPLEMENTATION)])
    };
    let set = |view: &str, files: Vec<Element>| {
        many("fileSet", [one("name", format!("{view}_view_fileset"))].into_iter().chain(files))
    };
    let gui =
        many("file", [one("name", ip.gui_path()), one("fileType", "tclSource"), one("userFileType", "XGUI_VERSION_2")]);
    vec![
        set(
            SYNTHESIS,
            ip.constraints
                .iter()
                .map(constraint)
                .chain(ip.floorplan.iter().map(floorplan))
                .chain(ip.rtl.iter().map(verilog))
                .collect(),
        ),
        set(SIMULATION, ip.rtl.iter().map(verilog).collect()),
        set(GUI, vec![gui]),
    ]
}

fn extensions(ip: &Ip, revision: u32) -> Vec<Element> {
    let x = |name: &str| format!("xilinx:{name}");
    let core = [
        group(x("supportedFamilies"), [leaf(x("family"), &ip.board.family).with("xilinx:lifeCycle", "Production")]),
        group(x("taxonomies"), [leaf(x("taxonomy"), "/UserIP")]),
        leaf(x("displayName"), &ip.interface.kernel),
        leaf(x("autoFamilySupportLevel"), "level_2"),
        leaf(x("definitionSource"), "package_project"),
        leaf(x("coreRevision"), revision),
        leaf(x("coreCreationDateTime"), "2020-01-01T00:00:00Z"),
        group(x("sdxKernelAttributes"), [leaf(x("sdx_kernel"), "true"), leaf(x("sdx_kernel_type"), "rtl")]),
    ];
    vec![group(x("coreExtensions"), core), group(x("packagingInfo"), [leaf(x("xilinxVersion"), "2020.2")])]
}
