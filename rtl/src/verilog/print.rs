//! Formats a prepared module. Line breaks are the only decision that is made here.

use super::ast::*;
use crate::netlist::*;
use std::fmt::{self, Display, Write as _};

/// Lists longer than this are broken between their elements.
const LINE: usize = 100;

/// Expressions longer than this are broken between the operands of their outermost operator.
const WIDEST: usize = 116;

/// Names of ports that a protocol prescribes and that Verilator warns about, because they are common words of C++.
const COMMON_WORDS: [&str; 1] = ["interrupt"];

/// The text of a module.
pub fn module(t: &Text) -> String {
    let mut out = header(t);
    let states: String = t.mems.iter().map(|mem| memory(mem)).chain(t.states.iter().map(net)).collect();
    let wires = t.wires.iter().map(net).collect();
    let items = t.items.iter().map(|item| match item {
        Item::Clocked(block) => clocked(t.clock, block),
        Item::Writes(mem, list) => writes(t.clock, mem, list),
        Item::Instance(i) => instance(t.clock, i),
    });
    let items = items.collect();
    let assign = |(name, v): &(&str, Value)| format!("    assign {name} = {};\n", value(v, name.len() + 14));
    let assigns = t.outputs.iter().map(assign).collect();
    for part in [states, wires, items, assigns, unused(&t.unused)] {
        if !part.is_empty() {
            if !out.ends_with("(\n") {
                out.push('\n');
            }
            out.push_str(part.trim_start_matches('\n'));
        }
    }
    out.push_str("endmodule\n`default_nettype wire\n");
    out
}

fn header(t: &Text) -> String {
    let m = t.module;
    let mut out = String::new();
    for line in m.doc.lines() {
        let words: Vec<String> = line.split(' ').map(|word| format!(" {word}")).collect();
        put(&mut out, format_args!("{}\n", fill("//", &words, "//").trim_end()));
    }
    put(&mut out, format_args!("// Module `{}`, template {}.\n", m.name, m.template));
    let port = |direction: &str, name: &str, w: u32| {
        (name.to_string(), format!("    {}", waived(&format!("{direction} wire {}{name}", range(w)), name)))
    };
    let mut ports = vec![(t.clock.to_string(), format!("    input  wire {}", t.clock))];
    ports.extend(m.input_ports().map(|(name, ty)| port("input ", name, ty.w)));
    ports.extend(m.output_ports().map(|(name, ty)| port("output", name, ty.w)));
    ports.sort_by_key(|(name, _)| m.port_order.iter().position(|listed| listed == name));
    let attrs = |name: &str| m.port_attrs.get(name).map_or(String::new(), |list| attributes(list));
    let ports: Vec<String> = ports.into_iter().map(|(name, text)| attrs(&name) + &text).collect();
    let own = attributes(&m.attrs);
    let own = own.lines().map(|line| format!("{}\n", line.trim_start())).collect::<String>();
    put(&mut out, format_args!("`default_nettype none\n{own}module {} (\n{}\n);\n", m.name, ports.join(",\n")));
    out
}

/// A port's declaration, with a waiver if its name needs one.
fn waived(declaration: &str, name: &str) -> String {
    if !COMMON_WORDS.contains(&name) {
        return declaration.to_string();
    }
    format!("/* verilator lint_off SYMRSVDWORD */ {declaration} /* verilator lint_on SYMRSVDWORD */ /* prescribed */")
}

fn attributes(list: &[(String, String)]) -> String {
    let list: Vec<String> = list.iter().map(|(key, value)| format!("{key} = \"{value}\"")).collect();
    let line = |text: &str| format!("    (* {text} *)\n");
    match list.join(", ") {
        all if all.is_empty() => all,
        all if all.len() <= LINE => line(&all),
        _ => list.iter().map(|text| line(text)).collect(),
    }
}

/// `[7:0] ` or nothing for one bit.
fn range(w: u32) -> String {
    if w == 1 {
        String::new()
    } else {
        format!("[{}:0] ", w - 1)
    }
}

/// The declaration of a memory, and its content if it is a ROM.
fn memory(mem: &Mem) -> String {
    let kind = if mem.content.is_empty() { "ram" } else { "rom" };
    let style = mem.style.attribute().map(|style| format!("    (* {kind}_style = \"{style}\" *)\n"));
    let mut out = style.unwrap_or_default();
    put(&mut out, format_args!("    reg {}{} [0:{}];\n", range(mem.width), mem.name, mem.depth - 1));
    if !mem.content.is_empty() {
        let zero = Bits::zero(mem.width);
        let words = mem.content.iter().chain(std::iter::repeat(&zero)).take(mem.depth as usize).enumerate();
        let words: Vec<String> =
            words.map(|(k, word)| format!("{}[{k}] = {};", mem.name, literal(word, false))).collect();
        let lines: String = words.chunks(4).map(|few| format!("        {}\n", few.join(" "))).collect();
        put(&mut out, format_args!("    initial begin\n{lines}    end\n"));
    }
    if mem.zeroed {
        let (name, depth, zero) = (&mem.name, mem.depth, literal(&Bits::zero(mem.width), false));
        put(
            &mut out,
            format_args!(
                "    initial begin : {name}_zeroed\n        integer k;\n        for (k = 0; k < {depth}; k = k + 1)\n            \
                {name}[k] = {zero};\n    end\n"
            ),
        );
    }
    out
}

/// The declaration of a net.
fn net(n: &Net) -> String {
    let name = &n.name;
    let declared = |kind: &str| format!("{}    {kind} {}{name}", attributes(n.attrs), range(n.w));
    remark(n.remark, "    ")
        + &match &n.kind {
            NetKind::Wire(v) => format!("{} = {};\n", declared("wire"), value(v, name.len() + 24)),
            NetKind::Output => format!("{};\n", declared("wire")),
            NetKind::Reg(None) => format!("{};\n", declared("reg ")),
            NetKind::Reg(Some(b)) => {
                format!("{};\n    initial {name} = {};\n", declared("reg "), literal(b, false))
            }
            NetKind::DelayLine(registers) => {
                let w = n.w / registers;
                let each = if w == 1 { String::new() } else { format!(", {w} bits each") };
                format!("{}; // by 1 to {registers} cycles{each}\n", declared("reg "))
            }
        }
}

fn remark(text: Option<&str>, indent: &str) -> String {
    text.into_iter().flat_map(str::lines).map(|line| format!("{indent}// {line}\n")).collect()
}

/// A clocked block: resets, else loads under the enable.
fn clocked(clock: &str, b: &Clocked) -> String {
    let lines = |indent: &str, list: &[String]| -> String {
        list.iter().map(|l| format!("{indent}{}\n", l.replace('\n', &format!("\n{indent}")))).collect()
    };
    // A comment holds for the statements below it, so it is not said twice.
    let mut said = None;
    let load = |l: &Load| {
        let new = l.remark.filter(|text| said.replace(text.to_string()).as_deref() != Some(*text));
        format!("{}{} <= {};", remark(new, ""), l.target, value(&l.value, l.target.len() + 18))
    };
    let loads: Vec<String> = b.loads.iter().map(load).collect();
    let resets: Vec<String> = b.resets.iter().map(|(name, b)| format!("{name} <= {};", literal(b, false))).collect();
    let body = match (&b.reset, &b.enable) {
        (None, None) => lines("        ", &loads),
        (None, Some(en)) => format!("        if ({en}) begin\n{}        end\n", lines("            ", &loads)),
        (Some(rst), en) => {
            let otherwise = en.as_ref().map_or(String::new(), |en| format!("if ({en}) "));
            let [resets, loads] = [resets, loads].map(|list| lines("            ", &list));
            format!("        if ({rst}) begin\n{resets}        end else {otherwise}begin\n{loads}        end\n")
        }
    };
    format!("    always @(posedge {clock}) begin\n{body}    end\n")
}

/// The write ports of a memory.
fn writes(clock: &str, mem: &Mem, list: &[Write]) -> String {
    let (mut declared, mut body, name) = (String::new(), String::new(), &mem.name);
    for Write { enable, addr, data, lanes } in list {
        let Some(Lanes { index: i, mask, w, lane }) = lanes else {
            let on = enable.as_ref().map_or(String::new(), |en| format!("if ({en}) "));
            put(&mut body, format_args!("        {on}{name}[{addr}] <= {data};\n"));
            continue;
        };
        let bit = if *w == 1 { mask.clone() } else { format!("{mask}[{i}]") };
        let on = enable.as_ref().map_or(bit.clone(), |en| format!("{} && {bit}", operand(en)));
        let part = if *lane == mem.width { String::new() } else { format!("[{i} * {lane} +: {lane}]") };
        put(&mut declared, format_args!("    integer {i};\n"));
        put(&mut body, format_args!("        for ({i} = 0; {i} < {w}; {i} = {i} + 1)\n"));
        put(&mut body, format_args!("            if ({on})\n"));
        put(&mut body, format_args!("                {name}[{addr}]{part} <= {data}{part};\n"));
    }
    format!("{declared}    always @(posedge {clock}) begin\n{body}    end\n")
}

/// An instance, or a grid as one `generate` loop.
fn instance(clock: &str, i: &Instance) -> String {
    // Index of the element in buses.
    let element = match (&i.loops, i.inst.grid) {
        (Some(loops), Some([1, _])) => loops.column.clone(),
        (Some(loops), Some([_, 1])) => loops.row.clone(),
        (Some(Loops { row, column, .. }), Some([_, n1])) => format!("({row} * {n1} + {column})"),
        _ => String::new(),
    };
    let connected = |pin: &Pin| match pin {
        Pin::Open => String::new(),
        Pin::Expr(e) => e.to_string(),
        Pin::Bus(net, _) if i.inst.count() == 1 => net.clone(),
        Pin::Bus(net, 1) => format!("{net}[{}]", element.trim_matches(['(', ')'])),
        Pin::Bus(net, w) => format!("{net}[{element} * {w} +: {w}]"),
    };
    let mut pins = vec![format!(".{clock}({clock})")];
    pins.extend(i.pins.iter().map(|(port, pin)| format!(".{port}({})", connected(pin))));
    let (Some(loops), Some([n0, n1])) = (&i.loops, i.inst.grid) else { return pin_list(i.inst, &pins, "    ") };
    let nest: &[(&String, u32)] = match (n0, n1) {
        (1, _) => &[(&loops.column, n1)],
        (_, 1) => &[(&loops.row, n0)],
        _ => &[(&loops.row, n0), (&loops.column, n1)],
    };
    let variables: Vec<&str> = nest.iter().map(|l| l.0.as_str()).collect();
    let mut out = format!("    genvar {};\n    generate\n", variables.join(", "));
    let mut indent = "        ".to_string();
    for ((i, n), label) in nest.iter().zip(&loops.labels) {
        put(&mut out, format_args!("{indent}for ({i} = 0; {i} < {n}; {i} = {i} + 1) begin : {label}\n"));
        indent.push_str("    ");
    }
    out.push_str(&pin_list(i.inst, &pins, &indent));
    for _ in nest {
        indent.truncate(indent.len() - 4);
        put(&mut out, format_args!("{indent}end\n"));
    }
    out + "    endgenerate\n"
}

/// The instance with its connections in lines of limited length.
fn pin_list(inst: &Inst, pins: &[String], indent: &str) -> String {
    let mut out = format!("{indent}{} {} (\n", inst.module, inst.name);
    let mut line = String::new();
    for (k, p) in pins.iter().enumerate() {
        let p = if k + 1 < pins.len() { format!("{p},") } else { p.clone() };
        if !line.is_empty() && indent.len() + 5 + line.len() + p.len() > LINE {
            put(&mut out, format_args!("{indent}    {line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&p);
    }
    put(&mut out, format_args!("{indent}    {line}\n{indent});\n"));
    out
}

/// The reduction that reads what nothing else reads.
fn unused(nets: &[String]) -> String {
    if nets.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = nets.iter().map(|n| format!(", {n}")).collect();
    let filled = fill("    wire _unused = &{1'b0", &parts, "        ");
    format!("    // Read by nothing else in this module (linters would report these nets).\n{filled}}};\n")
}

/// Right side of an assignment whose line holds `used` more characters.
fn value(v: &Value, used: usize) -> String {
    match v {
        Value::Line(e) => broken(e, used),
        Value::Words(b) => {
            let word = |k: u32| literal(&b.slice(k * 64, 64.min(b.width() - k * 64)), false);
            block(&(0..b.width().div_ceil(64)).rev().map(word).collect::<Vec<_>>())
        }
        Value::Parts(parts) => {
            let texts: Vec<String> = parts.iter().map(part).collect();
            match &texts[..] {
                [single] => single.clone(),
                _ if texts.iter().map(|t| t.len() + 2).sum::<usize>() + used <= LINE => {
                    format!("{{{}}}", texts.join(", "))
                }
                _ => block(&texts),
            }
        }
        Value::Choice { condition, then, otherwise } => {
            let (c, t) = (operand(condition), operand(then));
            match &**otherwise {
                Value::Line(e) => {
                    let e = operand(e);
                    if c.len() + t.len() + e.len() + used > LINE {
                        format!("{c} ?\n        {t} :\n        {e}")
                    } else {
                        format!("{c} ? {t} : {e}")
                    }
                }
                chain if c.len() + t.len() + used > LINE => {
                    format!("{c} ?\n        {t} :\n        {}", value(chain, 8))
                }
                chain => format!("{c} ? {t} :\n        {}", value(chain, 8)),
            }
        }
    }
}

/// An expression, over several lines if it is long.
fn broken(e: &Expr, used: usize) -> String {
    let line = e.to_string();
    match e {
        _ if line.len() + used <= WIDEST => line,
        Expr::Mux(x) => format!("{} ?\n        {} :\n        {}", operand(&x[0]), operand(&x[1]), operand(&x[2])),
        Expr::Binary(sign, x) => format!("{} {sign}\n        {}", operand(&x[0]), operand(&x[1])),
        Expr::Concat(parts) if parts.len() > 1 => block(&parts.iter().map(part).collect::<Vec<_>>()),
        _ => line,
    }
}

/// A concatenation over several lines.
fn block(parts: &[String]) -> String {
    let part = |(k, t): (usize, &String)| format!("{}{t}", if k == 0 { "" } else { ", " });
    let parts: Vec<String> = parts.iter().enumerate().map(part).collect();
    format!("{}\n    }}", fill("{\n        ", &parts, "        "))
}

/// `start` and the parts in lines of limited length.
fn fill(start: &str, parts: &[String], indent: &str) -> String {
    let mut out = start.to_string();
    let mut col = start.len();
    for p in parts {
        if col + p.len() > LINE {
            // A connection that is too long for a line.
            let broken = (indent.len() + p.len() > WIDEST).then(|| p.replacen('(', &format!("(\n{indent}    "), 1));
            let p = broken.as_ref().unwrap_or(p);
            out.truncate(out.trim_end().len());
            let p = match p.strip_prefix(", ") {
                Some(rest) => {
                    out.push(',');
                    rest
                }
                None => p,
            };
            put(&mut out, format_args!("\n{indent}{p}"));
            col = indent.len() + p.len();
        } else {
            out.push_str(p);
            col += p.len();
        }
    }
    out
}

fn put(out: &mut String, text: fmt::Arguments) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

/// A constant: decimal if short, else hexadecimal. Negative numbers are bit patterns, because a minus sign would apply
/// after extension.
fn literal(b: &Bits, signed: bool) -> String {
    let (w, sign) = (b.width(), if signed { "s" } else { "" });
    let negative = signed && b.bit(w - 1);
    match w {
        1 => format!("1'{sign}b{}", b.limbs()[0]),
        2..=32 if !negative => format!("{w}'{sign}d{}", b.limbs()[0]),
        _ if b.is_zero() => format!("{w}'{sign}d0"),
        _ => format!("{w}'{sign}h{}", b.hex()),
    }
}

/// An operand, in parentheses if it is compound.
fn operand(e: &Expr) -> String {
    if e.is_atom() {
        e.to_string()
    } else {
        format!("({e})")
    }
}

fn part((copies, e): &Part) -> String {
    if *copies > 1 {
        format!("{{{copies}{{{e}}}}}")
    } else {
        e.to_string()
    }
}

impl Expr {
    /// Whether it can be an operand without parentheses.
    pub fn is_atom(&self) -> bool {
        !matches!(self, Expr::Unary(..) | Expr::Binary(..) | Expr::Mux(_))
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Expr::Net(name) => f.write_str(name),
            Expr::Bits { net, lo, w: 1 } => write!(f, "{net}[{lo}]"),
            Expr::Bits { net, lo, w } => write!(f, "{net}[{}:{lo}]", lo + w - 1),
            Expr::Lit(value) => f.write_str(&literal(value, false)),
            Expr::SignedLit(value) => f.write_str(&literal(value, true)),
            Expr::Signed(e) => write!(f, "$signed({e})"),
            Expr::Unary(sign, a) => write!(f, "{sign}{}", operand(a)),
            Expr::Binary(sign, x) => write!(f, "{} {sign} {}", operand(&x[0]), operand(&x[1])),
            Expr::Mux(x) => write!(f, "{} ? {} : {}", operand(&x[0]), operand(&x[1]), operand(&x[2])),
            Expr::Concat(parts) => match &parts[..] {
                [single] => f.write_str(&part(single)),
                _ => write!(f, "{{{}}}", parts.iter().map(part).collect::<Vec<_>>().join(", ")),
            },
            Expr::Extend { more, sign: None, value } => write!(f, "{{{more}'d0, {value}}}"),
            Expr::Extend { more, sign: Some(sign), value } => write!(f, "{{{{{more}{{{sign}}}}}, {value}}}"),
            Expr::Word(mem, addr) => write!(f, "{mem}[{addr}]"),
        }
    }
}
