//! Floorplan of an IP whose array is cut into bands, one for each die.
//!
//! Job: tells the placer on which die each band stands, and what leads to memories, and which registers stand at the borders
//! of the dies. `USER_SLR_ASSIGNMENT` guides the partition into dies. A pblock for each band, all of its die, bounds where
//! its cells are placed at first; it is soft, so registers can still move near a border. What stands beside the bands, such
//! as the engines, has no pblock: its ports lead out of the IP. `USER_SLL_REG` asks for the sites of the wires between
//! dies.
//!
//! Invariant: names hold wherever the IP stands in a design.
//!
//! Source: UG912 (Vivado properties), UG949 (methodology).

/// Cells that stand on one die: names from the top of the IP, with slashes between instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDie {
    pub die: String,
    /// The band, once in each core that has one there.
    pub band: Vec<String>,
    /// What else stands there.
    pub beside: Vec<String>,
}

/// Patterns for a cell of the IP: the IP may be the top, or an instance somewhere.
fn patterns(cell: &str) -> [String; 2] {
    [format!("NAME =~ {cell}"), format!("NAME =~ */{cell}")]
}

fn cells(filter: &str) -> String {
    format!("[get_cells -hierarchical -filter {{{filter}}}]")
}

/// The cell with this name. Other designs may have cells of that name, but not of modules of `top`.
fn cell(top: &str, name: &str) -> String {
    cells(&format!("REF_NAME =~ {top}_* && ({})", patterns(name).join(" || ")))
}

/// The text of an XDC file for implementation. `registers`: patterns for registers at the borders, as in Verilog.
pub fn floorplan(top: &str, dies: &[OnDie], registers: &[String]) -> String {
    let mut text = format!(
        "# Floorplan of {top}: bands of the array, beside the first one the engines, and on the dies of the memories what leads\n\
         # there. Read it for implementation.\n"
    );
    for OnDie { die, band, beside } in dies {
        for name in band.iter().chain(beside) {
            text += &format!("set_property USER_SLR_ASSIGNMENT {die} {}\n", cell(top, name));
        }
    }
    text += "# A block for each band: all of its die. It bounds where cells are placed at first.\n";
    for OnDie { die, band, .. } in dies.iter().filter(|on| !on.band.is_empty()) {
        let block = format!("pblock_{top}_{die}");
        text += &format!("create_pblock {block}\nresize_pblock {block} -add {{{die}}}\n");
        for name in band {
            text += &format!("add_cells_to_pblock {block} {}\n", cell(top, name));
        }
        text += &format!("set_property IS_SOFT TRUE [get_pblocks {block}]\n");
    }
    text += "# Registers at the borders of the dies, with nothing between them.\n";
    for register in registers {
        text +=
            &format!("set_property USER_SLL_REG TRUE {}\n", cells(&patterns(&format!("{register}_reg*")).join(" || ")));
    }
    text
}
