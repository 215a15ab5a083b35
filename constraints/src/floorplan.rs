//! Floorplan of an IP whose array is cut into bands, one for each die.
//!
//! Job: tells the placer on which die each band stands, and which registers stand at the borders of the dies.
//! `USER_SLR_ASSIGNMENT` guides it and forbids nothing, unlike a pblock: registers can still move near a border.
//! `USER_SLL_REG` asks for the sites of the wires between dies.
//!
//! Invariant: names hold wherever the IP stands in a design.
//!
//! Source: UG912 (Vivado properties), UG949 (methodology).

/// Cells that stand on one die: names from the top of the IP, with slashes between instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDie {
    pub die: String,
    pub cells: Vec<String>,
}

/// Patterns for a cell of the IP: the IP may be the top, or an instance somewhere.
fn patterns(cell: &str) -> [String; 2] {
    [format!("NAME =~ {cell}"), format!("NAME =~ */{cell}")]
}

fn cells(filter: &str) -> String {
    format!("[get_cells -hierarchical -filter {{{filter}}}]")
}

/// The text of an XDC file for implementation. `registers`: patterns for registers at the borders, as in Verilog.
pub fn floorplan(top: &str, dies: &[OnDie], registers: &[String]) -> String {
    let mut text = format!(
        "# Floorplan of {top}: a band of the array on each die, and beside the first one what leads to memory.\n\
         # Read it for implementation.\n"
    );
    for OnDie { die, cells: names } in dies {
        for name in names {
            // Other designs may have cells of that name, but not of these modules.
            let filter = format!("REF_NAME =~ {top}_* && ({})", patterns(name).join(" || "));
            text += &format!("set_property USER_SLR_ASSIGNMENT {die} {}\n", cells(&filter));
        }
    }
    text += "# Registers at the borders of the dies, with nothing between them.\n";
    for register in registers {
        text +=
            &format!("set_property USER_SLL_REG TRUE {}\n", cells(&patterns(&format!("{register}_reg*")).join(" || ")));
    }
    text
}
