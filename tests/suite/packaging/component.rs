//! The structure of `component.xml`, as far as Vivado is known to rely on it, against the Verilog and the files.

use super::emitted::{run, tool, Emitted};
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};

/// What the document must agree with.
pub struct Facts {
    top: String,
    /// Name to direction and width, as Yosys reads them from the listed files.
    ports: BTreeMap<String, (String, u64)>,
    files: BTreeSet<String>,
    /// The register file decodes this many address bits.
    decoded: u64,
}

impl Facts {
    pub fn of(ip: &Emitted) -> Facts {
        let list = ip.text(&format!("{}.f", ip.kernel));
        let json = tempfile::NamedTempFile::new().unwrap();
        let script = format!(
            "read_verilog {}; hierarchy -check -top {k}; proc; write_json {}",
            list.lines().collect::<Vec<_>>().join(" "),
            json.path().display(),
            k = ip.kernel
        );
        run(tool("yosys").current_dir(&ip.dir).args(["-q", "-p", &script]));
        let netlist: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json.path()).unwrap()).unwrap();
        let port = |(name, p): (&String, &serde_json::Value)| {
            let direction = if p["direction"] == "input" { "in" } else { "out" };
            (name.clone(), (direction.to_string(), p["bits"].as_array().unwrap().len() as u64))
        };
        let ports: BTreeMap<_, _> =
            netlist["modules"][&ip.kernel]["ports"].as_object().unwrap().iter().map(port).collect();
        let decoded = ports["s_axi_control_araddr"].1;
        let mut files = BTreeSet::new();
        for folder in ["rtl", "constraints", "xgui"] {
            files.extend(
                std::fs::read_dir(ip.path(folder))
                    .unwrap()
                    .map(|e| format!("{folder}/{}", e.unwrap().file_name().to_string_lossy())),
            );
        }
        Facts { top: ip.kernel.clone(), ports, files, decoded }
    }
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|c| c.is_element() && c.tag_name().name() == name)
}
fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |c| c.is_element() && c.tag_name().name() == name)
}
/// Text of a path of elements, or "".
fn text(node: Node, path: &[&str]) -> String {
    let end =
        path.iter().try_fold(node, |n, name| n.children().find(|c| c.is_element() && c.tag_name().name() == *name));
    end.and_then(|n| n.text()).unwrap_or("").to_string()
}
fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap_or(u64::MAX),
        None => text.parse().unwrap_or(u64::MAX),
    }
}
fn attribute(node: Node, name: &str) -> String {
    node.attributes().find(|a| a.name() == name).map_or(String::new(), |a| a.value().to_string())
}
fn all<'a>(root: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    root.descendants().filter(move |c| c.is_element() && c.tag_name().name() == name)
}

/// Text of the only element of that name.
pub fn value(document: &str, name: &'static str) -> String {
    let document = Document::parse(document).unwrap();
    let found = document.descendants().find(|c| c.is_element() && c.tag_name().name() == name);
    found.and_then(|n| n.text()).unwrap_or("").to_string()
}

/// Paths of a file set (of all, if it is called ""), with an ending, each once.
pub fn files(document: &str, set: &str, ending: &str) -> Vec<String> {
    let document = Document::parse(document).unwrap();
    let mut found = vec![];
    for s in all(document.root(), "fileSet").filter(|s| set.is_empty() || text(*s, &["name"]) == set) {
        for path in children(s, "file").map(|f| text(f, &["name"])) {
            if path.ends_with(ending) && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

const CHANNELS: [(&str, &str, bool); 37] = [
    ("AWID", "", true),
    ("AWADDR", "a", true),
    ("AWLEN", "", true),
    ("AWSIZE", "", true),
    ("AWBURST", "", true),
    ("AWLOCK", "", true),
    ("AWCACHE", "", true),
    ("AWPROT", "", true),
    ("AWQOS", "", true),
    ("AWVALID", "l", true),
    ("AWREADY", "l", false),
    ("WDATA", "d", true),
    ("WSTRB", "s", true),
    ("WLAST", "", true),
    ("WVALID", "l", true),
    ("WREADY", "l", false),
    ("BID", "", false),
    ("BRESP", "l", false),
    ("BVALID", "l", false),
    ("BREADY", "l", true),
    ("ARID", "", true),
    ("ARADDR", "a", true),
    ("ARLEN", "", true),
    ("ARSIZE", "", true),
    ("ARBURST", "", true),
    ("ARLOCK", "", true),
    ("ARCACHE", "", true),
    ("ARPROT", "", true),
    ("ARQOS", "", true),
    ("ARVALID", "l", true),
    ("ARREADY", "l", false),
    ("RID", "", false),
    ("RDATA", "d", false),
    ("RRESP", "l", false),
    ("RLAST", "", false),
    ("RVALID", "l", false),
    ("RREADY", "l", true),
];
const ROOT: [&str; 12] = [
    "vendor",
    "library",
    "name",
    "version",
    "busInterfaces",
    "addressSpaces",
    "memoryMaps",
    "model",
    "fileSets",
    "description",
    "parameters",
    "vendorExtensions",
];
const CORE: [&str; 8] = [
    "supportedFamilies",
    "taxonomies",
    "displayName",
    "autoFamilySupportLevel",
    "definitionSource",
    "coreRevision",
    "coreCreationDateTime",
    "sdxKernelAttributes",
];

/// Everything wrong with the document.
pub fn faults(document: &str, facts: &Facts) -> Vec<String> {
    let parsed = match Document::parse(document) {
        Ok(parsed) => parsed,
        Err(e) => return vec![e.to_string()],
    };
    let root = parsed.root_element();
    let mut faults = Faults(vec![]);
    faults.sequence(root, &ROOT);
    faults.require(text(root, &["name"]) == facts.top, "the name is the top module's");
    faults.ports(root, facts);
    faults.buses(root, facts);
    faults.registers(root, facts);
    faults.model(root, facts);
    faults.ids(root);
    let extensions = child(root, "vendorExtensions").and_then(|v| child(v, "coreExtensions"));
    if let Some(core) = extensions {
        faults.sequence(core, &CORE);
        faults.require(!text(core, &["supportedFamilies", "family"]).is_empty(), "a family");
        faults.require(text(core, &["taxonomies", "taxonomy"]) == "/UserIP", "the taxonomy");
        faults.require(
            (1..1 << 31).contains(&number(&text(core, &["coreRevision"]))),
            "coreRevision is a positive number",
        );
        faults.require(text(core, &["sdxKernelAttributes", "sdx_kernel"]) == "true", "sdx_kernel");
        faults.require(text(core, &["sdxKernelAttributes", "sdx_kernel_type"]) == "rtl", "sdx_kernel_type");
    }
    faults.require(extensions.is_some(), "coreExtensions");
    faults.0
}

struct Faults(Vec<String>);

impl Faults {
    fn require(&mut self, holds: bool, what: impl std::fmt::Display) {
        if !holds {
            self.0.push(what.to_string());
        }
    }

    fn sequence(&mut self, node: Node, wanted: &[&str]) {
        let found: Vec<&str> = node.children().filter(Node::is_element).map(|c| c.tag_name().name()).collect();
        self.require(found == wanted, format!("{}: {found:?} instead of {wanted:?}", node.tag_name().name()));
    }

    fn ports(&mut self, root: Node, facts: &Facts) {
        let mut found = BTreeMap::new();
        for port in all(root, "port") {
            let Some(wire) = child(port, "wire") else { continue };
            let width = child(wire, "vector")
                .map_or(1, |v| number(&text(v, &["left"])).wrapping_sub(number(&text(v, &["right"]))).wrapping_add(1));
            let name = text(port, &["name"]);
            let twice = found.insert(name.clone(), (text(wire, &["direction"]), width)).is_some();
            self.require(!twice, format!("port {name} twice"));
        }
        for (name, wanted) in &facts.ports {
            self.require(
                found.get(name) == Some(wanted),
                format!("port {name}: {:?}, in the Verilog {wanted:?}", found.get(name)),
            );
        }
        let more: Vec<_> = found.keys().filter(|n| !facts.ports.contains_key(*n)).collect();
        self.require(more.is_empty(), format!("the Verilog has no ports {more:?}"));
    }

    fn buses(&mut self, root: Node, facts: &Facts) {
        let names = |kind: &'static str| all(root, kind).map(|n| text(n, &["name"])).collect::<BTreeSet<_>>();
        let (spaces, maps) = (names("addressSpace"), names("memoryMap"));
        let mut mapped: Vec<String> = vec![];
        let mut buses = BTreeSet::new();
        let mut associated = String::new();
        let mut reset = String::new();
        for bus in all(root, "busInterface") {
            let name = text(bus, &["name"]);
            let kind = child(bus, "busType").map(|b| attribute(b, "name")).unwrap_or_default();
            let wire = child(bus, "abstractionType").map(|b| attribute(b, "name")).unwrap_or_default();
            self.require(wire == format!("{kind}_rtl"), format!("{name}: abstraction {wire} of bus {kind}"));
            let parameters: BTreeMap<String, String> =
                all(bus, "parameter").map(|p| (text(p, &["name"]), text(p, &["value"]))).collect();
            let parameter = |key: &str| parameters.get(key).cloned().unwrap_or_default();
            let pairs: Vec<(String, String)> = all(bus, "portMap")
                .map(|m| (text(m, &["logicalPort", "name"]), text(m, &["physicalPort", "name"])))
                .collect();
            mapped.extend(pairs.iter().map(|p| p.1.clone()));
            match kind.as_str() {
                "aximm" => {
                    buses.insert(name.clone());
                    let manager = child(bus, "master").is_some();
                    if let Some(reference) = child(bus, "master").and_then(|m| child(m, "addressSpaceRef")) {
                        self.require(
                            spaces.contains(&attribute(reference, "addressSpaceRef")),
                            format!("{name}: its address space"),
                        );
                    } else {
                        let map = child(bus, "slave")
                            .and_then(|m| child(m, "memoryMapRef"))
                            .map(|r| attribute(r, "memoryMapRef"));
                        self.require(map.is_some_and(|m| maps.contains(&m)), format!("{name}: its memory map"));
                    }
                    self.axi(&name, manager, &pairs, &parameter, facts);
                }
                "clock" => {
                    self.require(pairs.len() == 1 && pairs[0].0 == "CLK", "the clock's map");
                    (associated, reset) = (parameter("ASSOCIATED_BUSIF"), parameter("ASSOCIATED_RESET"));
                    self.require(!parameters.contains_key("FREQ_HZ"), "no fixed frequency");
                }
                "reset" => {
                    self.require(
                        pairs.len() == 1 && pairs[0].0 == "RST" && parameter("POLARITY") == "ACTIVE_LOW",
                        "the reset",
                    );
                    self.require(reset == name || reset.is_empty(), format!("the clock's reset is {reset}"));
                }
                "interrupt" => {
                    self.require(
                        pairs.len() == 1 && pairs[0].0 == "INTERRUPT" && parameter("SENSITIVITY") == "LEVEL_HIGH",
                        "the interrupt",
                    );
                    self.require(child(bus, "master").is_some(), "the interrupt is driven");
                }
                other => self.require(false, format!("{name}: bus {other}")),
            }
        }
        let listed: BTreeSet<String> = associated.split(':').map(String::from).collect();
        self.require(listed == buses, format!("the clock's buses are {listed:?}, not {buses:?}"));
        self.require(!reset.is_empty(), "the clock has a reset");
        let once: BTreeSet<&String> = mapped.iter().collect();
        self.require(once.len() == mapped.len(), "a port is mapped twice");
        let open: Vec<_> = facts.ports.keys().filter(|p| !once.contains(p)).collect();
        self.require(open.is_empty(), format!("ports outside of every interface: {open:?}"));
        let absent: Vec<_> = once.iter().filter(|p| !facts.ports.contains_key(**p)).collect();
        self.require(absent.is_empty(), format!("maps to absent ports: {absent:?}"));
    }

    fn axi(
        &mut self,
        name: &str,
        manager: bool,
        pairs: &[(String, String)],
        parameter: &dyn Fn(&str) -> String,
        facts: &Facts,
    ) {
        let (data, address) = (number(&parameter("DATA_WIDTH")), number(&parameter("ADDR_WIDTH")));
        let lite = parameter("PROTOCOL") == "AXI4LITE";
        self.require(lite != manager && (lite || parameter("PROTOCOL") == "AXI4"), format!("{name}: its protocol"));
        for (logical, physical) in pairs {
            let Some((_, kind, forward)) = CHANNELS.iter().find(|c| c.0 == logical) else {
                self.require(false, format!("{name}: no signal {logical} in AXI"));
                continue;
            };
            let Some((direction, width)) = facts.ports.get(physical) else { continue };
            self.require(
                (direction == "out") == (*forward == manager),
                format!("{physical} points the wrong way for {logical}"),
            );
            self.require(
                physical.to_uppercase() == format!("{}_{logical}", name.to_uppercase()),
                format!("{physical} as {logical}"),
            );
            let wanted = match *kind {
                "a" => address,
                "d" => data,
                "s" => data / 8,
                _ => *width,
            };
            self.require(*width == wanted, format!("{physical}: {width} bits, as a parameter {wanted}"));
        }
        let there = |logical: &str| pairs.iter().any(|p| p.0 == logical);
        for (logical, kind, _) in CHANNELS.iter().filter(|c| !lite || !c.1.is_empty()) {
            self.require(there(logical), format!("{name} lacks {logical} ({kind})"));
        }
        self.require(
            !manager || (1..=256).contains(&number(&parameter("MAX_BURST_LENGTH"))),
            format!("{name}: burst length"),
        );
        self.require(
            !manager || number(&parameter("MAX_BURST_LENGTH")) * data / 8 <= 4096,
            format!("{name}: bursts of more than 4 KiB"),
        );
    }

    fn registers(&mut self, root: Node, facts: &Facts) {
        let block = all(root, "addressBlock").next();
        self.require(block.is_some(), "an address block");
        let Some(block) = block else { return };
        let range = number(&text(block, &["range"]));
        self.require((4096..=65536).contains(&range), format!("a range of {range}"));
        let (mut names, mut taken) = (BTreeSet::new(), BTreeSet::new());
        for register in children(block, "register") {
            let name = text(register, &["name"]);
            let offset = number(&text(register, &["addressOffset"]));
            self.require(names.insert(name.to_lowercase()), format!("two registers {name}"));
            self.require(taken.insert(offset) && offset.is_multiple_of(4), format!("{name} at {offset:#x}"));
            self.require(
                offset.saturating_add(4) <= range.min(1 << facts.decoded),
                format!("{name} at {offset:#x} is not decoded"),
            );
            self.require(text(register, &["size"]) == "32", format!("{name}: its size"));
            self.require(
                ["read-only", "read-write"].contains(&text(register, &["access"]).as_str()),
                format!("{name}: its access"),
            );
            let mut used = 0u64;
            for field in children(register, "field") {
                let (bit, width) = (number(&text(field, &["bitOffset"])), number(&text(field, &["bitWidth"])));
                let fits = bit < 32 && width <= 32 && bit + width <= 32;
                let mask = if fits { ((1u64 << width) - 1) << bit } else { 0 };
                self.require(fits && mask != 0 && used & mask == 0, format!("{name}.{}: bits", text(field, &["name"])));
                used |= mask;
            }
        }
        self.require(names.contains("ctrl"), "the control register");
    }

    fn model(&mut self, root: Node, facts: &Facts) {
        let sets: BTreeSet<String> = all(root, "fileSet").map(|s| text(s, &["name"])).collect();
        let views: BTreeSet<String> = all(root, "view").map(|v| text(v, &["name"])).collect();
        for view in all(root, "view") {
            let name = text(view, &["name"]);
            self.require(
                sets.contains(&text(view, &["fileSetRef", "localName"])),
                format!("view {name}: its file set"),
            );
            let module = text(view, &["modelName"]);
            self.require(
                module == facts.top || (module.is_empty() && name == "xilinx_xpgui"),
                format!("view {name} of module {module}"),
            );
        }
        self.require(views.contains("xilinx_verilogsynthesis"), "a view for synthesis");
        for reference in all(root, "viewNameRef") {
            self.require(reference.text().is_some_and(|t| views.contains(t)), "a port's view");
        }
        let mut listed = BTreeSet::new();
        for file in all(root, "file") {
            let name = text(file, &["name"]);
            self.require(facts.files.contains(&name), format!("there is no file {name}"));
            if name.ends_with(".xdc") {
                let uses: Vec<String> =
                    children(file, "userFileType").filter_map(|u| u.text().map(String::from)).collect();
                // A floorplan is read when cells are placed, the clock by runs of the IP alone.
                let [used, other] = if name.ends_with("_floorplan.xdc") {
                    ["USED_IN_implementation", "USED_IN_out_of_context"]
                } else {
                    ["USED_IN_out_of_context", ""]
                };
                self.require(
                    uses.iter().any(|u| u == used) && uses.iter().all(|u| u != other),
                    format!("{name} is for {used} only"),
                );
            }
            listed.insert(name);
        }
        let missing: Vec<_> = facts.files.difference(&listed).collect();
        self.require(missing.is_empty(), format!("files that are not listed: {missing:?}"));
    }

    fn ids(&mut self, root: Node) {
        let mut seen = BTreeSet::new();
        for id in root.descendants().map(|n| attribute(n, "id")).filter(|id| !id.is_empty()) {
            self.require(seen.insert(id.clone()), format!("id {id} twice"));
        }
    }
}

/// Edits of the `mm` case's document, each a fault.
pub const MUTATIONS: [(&str, &str); 24] = [
    ("<spirit:name>mm</spirit:name>", "<spirit:name>nn</spirit:name>"),
    ("<spirit:version>1.0</spirit:version>", ""),
    ("<spirit:left>511</spirit:left>", "<spirit:left>510</spirit:left>"),
    ("<spirit:direction>in</spirit:direction>", "<spirit:direction>out</spirit:direction>"),
    ("<spirit:name>RDATA</spirit:name>", "<spirit:name>RDATTA</spirit:name>"),
    ("<spirit:name>RVALID</spirit:name>", "<spirit:name>RLAST</spirit:name>"),
    ("<spirit:name>m_axi_a_awid</spirit:name>", "<spirit:name>m_axi_b_awid</spirit:name>"),
    ("spirit:addressSpaceRef=\"m_axi_a\"", "spirit:addressSpaceRef=\"m_axi_x\""),
    ("spirit:memoryMapRef=\"s_axi_control\"", "spirit:memoryMapRef=\"s_axi\""),
    ("spirit:name=\"aximm_rtl\"", "spirit:name=\"aximm\""),
    ("s_axi_control:m_axi_a:m_axi_b", "s_axi_control:m_axi_a"),
    ("ACTIVE_LOW", "ACTIVE_HIGH"),
    ("LEVEL_HIGH", "EDGE_RISING"),
    ("AXI4LITE", "AXI4"),
    ("<spirit:addressOffset>0x14</spirit:addressOffset>", "<spirit:addressOffset>0x10</spirit:addressOffset>"),
    ("<spirit:addressOffset>0x1c</spirit:addressOffset>", "<spirit:addressOffset>0x1e</spirit:addressOffset>"),
    ("<spirit:range>65536</spirit:range>", "<spirit:range>1024</spirit:range>"),
    ("<spirit:bitOffset>1</spirit:bitOffset>", "<spirit:bitOffset>0</spirit:bitOffset>"),
    ("<spirit:name>A_2</spirit:name>", "<spirit:name>a_1</spirit:name>"),
    ("<spirit:modelName>mm</spirit:modelName>", "<spirit:modelName>mn</spirit:modelName>"),
    ("xilinx_verilogsynthesis_view_fileset</spirit:localName>", "xilinx_synthesis_view_fileset</spirit:localName>"),
    ("<spirit:name>rtl/mm.v</spirit:name>", "<spirit:name>rtl/nn.v</spirit:name>"),
    ("<spirit:userFileType>USED_IN_out_of_context</spirit:userFileType>", ""),
    ("<xilinx:displayName>mm</xilinx:displayName>", ""),
];
