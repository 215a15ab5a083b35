//! Verilog identifiers: legal characters, no keywords, unique within a module.

use std::collections::BTreeSet;
use std::sync::LazyLock;

static KEYWORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| TEXT.split_whitespace().collect());

const TEXT: &str = "always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config \
    deassign default defparam design disable edge else end endcase endconfig endfunction endgenerate endmodule \
    endprimitive endspecify endtable endtask event for force forever fork function generate genvar highz0 highz1 \
    if ifnone incdir include initial inout input instance integer join large liblist library localparam \
    macromodule medium module nand negedge nmos nor noshowcancelled not notif0 notif1 or output parameter pmos \
    posedge primitive pull0 pull1 pulldown pullup pulsestyle_onevent pulsestyle_ondetect rcmos real realtime reg \
    release repeat rnmos rpmos rtran rtranif0 rtranif1 scalared showcancelled signed small specify specparam \
    strong0 strong1 supply0 supply1 table task time tran tranif0 tranif1 tri tri0 tri1 triand trior trireg \
    unsigned use uwire vectored wait wand weak0 weak1 while wire wor xnor xor \
    assert assume bit break byte chandle class const constraint context continue cover dist do enum export extends \
    extern final import inside int interface intersect join_any join_none local logic longint matches modport new \
    null package packed priority program property protected pure rand randc ref return sequence shortint shortreal \
    solve static string struct super tagged this throughout timeprecision timeunit type typedef union unique var \
    virtual void wait_order with within checker endchecker global implies let nexttime restrict strong sync_reject_on \
    sync_accept_on until weak reject_on accept_on eventually s_always s_eventually s_nexttime s_until soft nettype \
    implements interconnect signed";

/// Whether `name` is reserved in Verilog-2005 or SystemVerilog (tools read `.v` files as either).
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(name)
}

/// The nearest legal identifier: illegal characters become `_`, keywords get a trailing `_`.
pub fn legal(name: &str) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        out.insert(0, 'n');
    }
    if is_keyword(&out) {
        out.push('_');
    }
    out
}

/// The identifiers of one module.
#[derive(Default, Debug)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Claims `name`; false if it is taken.
    pub fn claim(&mut self, name: &str) -> bool {
        self.0.insert(name.to_string())
    }

    /// Claims the legal form of `name`, with `_2`, `_3`… appended if it is taken.
    pub fn fresh(&mut self, name: &str) -> String {
        let base = legal(name);
        if self.claim(&base) {
            return base;
        }
        let mut k = 2;
        loop {
            let n = format!("{base}_{k}");
            if self.claim(&n) {
                return n;
            }
            k += 1;
        }
    }
}
