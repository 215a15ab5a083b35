//! Names of kernels, functions, arguments and AXI ports in all generated files: Verilog, IP-XACT, C, Python, Tcl.
//!
//! An argument keeps its C name with these exceptions:
//! - Leading, trailing and double underscores are dropped, because VHDL wrappers do not accept them.
//! - Characters other than letters, digits and `_` become `_`: names of kernels come from file names, too.
//! - It becomes `<name>_r`, as in HLS, then `<name>_r2`, `<name>_r3`, …, if the name is a keyword of Verilog, VHDL, C,
//!   C++ or Python, or a name that the generated files use themselves, or, letter case ignored, the name of an earlier
//!   argument or of one of its registers `<name>_1`, `<name>_2`.

use super::Function;
use array::ip::Ip;
use std::collections::BTreeSet;

/// Keywords beyond Verilog's and SystemVerilog's, which `rtl::names` knows; lower case.
const KEYWORDS: &str = "abs access after alias all architecture array attribute block body buffer bus component \
    configuration disconnect downto elsif entity exit file generic group guarded impure in inertial is label linkage \
    literal loop map mod next of on open others out port postponed procedure process pure range record rem report rol \
    ror select severity signal shared sla sll sra srl subtype to transport unaffected units variable when \
    auto bool char double float goto inline long restrict short sizeof volatile asm \
    alignas alignof and_eq bitand bitor catch char16_t char32_t co_await co_return co_yield compl concept const_cast \
    consteval constexpr constinit decltype delete dynamic_cast explicit false friend mutable namespace noexcept \
    not_eq nullptr operator or_eq private public reinterpret_cast requires static_assert static_cast template \
    thread_local throw true try typeid typename using wchar_t xor_eq \
    as async await def del elif except from lambda none nonlocal pass raise with yield";

/// Names of registers, and names that the generated drivers use; lower case.
const RESERVED: &str = "ctrl gier ip_ier ip_isr cycles status error_address design_id version control interrupt \
    soft_reset register_map self ip ap_clk ap_rst_n \
    start done idle wait run base";

/// Further names that the drivers of an IP with several functions use; lower case.
const DRIVER: &str = "control hw read64 write64 bits32 bits64 wait run reset cycles status error_address design_id \
    version check_design \
    start is_done is_idle interrupt_enable interrupt_disable interrupt_clear queue function \
    soft_reset stop until timeout wait_for finish ended scratch";

/// Names of arguments with these C names, in the same order.
pub fn arguments<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken: BTreeSet<String> = KEYWORDS.split_whitespace().map(String::from).collect();
    RESERVED.split_whitespace().for_each(|name| taken.extend(claims(name)));
    names.into_iter().map(|name| fresh(name, &mut taken)).collect()
}

/// Name of the kernel in lower case: of the top module, of files, of functions in C and Python.
pub fn kernel(name: &str) -> String {
    let mut taken: BTreeSet<String> =
        KEYWORDS.split_whitespace().chain(["main", "pynq", "numpy"]).map(String::from).collect();
    fresh(&name.to_lowercase(), &mut taken)
}

/// Names of functions with these C names, in the same order.
pub fn functions<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken: BTreeSet<String> =
        KEYWORDS.split_whitespace().chain(DRIVER.split_whitespace()).map(String::from).collect();
    names.into_iter().map(|name| fresh(&name.to_lowercase(), &mut taken)).collect()
}

/// Names of the AXI ports in lower case: `m_axi_<array>` if the IP has one function and the port one array, else
/// `m_axi_gmem<n>`.
pub fn ports(ip: &Ip, functions: &[Function], count: usize) -> Vec<String> {
    let mut taken: BTreeSet<String> =
        functions.iter().flat_map(|f| &f.arguments).map(|a| a.ident.to_lowercase()).collect();
    let mut name = |port: usize| match (functions, &ip.cores[0].arrays_of(port).collect::<Vec<_>>()[..]) {
        ([function], &[only]) => function
            .arguments
            .iter()
            .find(|a| a.array().is_some_and(|a| a.index == only))
            .map_or(String::new(), |a| a.ident.to_lowercase()),
        _ => fresh(&format!("gmem{port}"), &mut taken),
    };
    (0..count).map(|port| format!("m_axi_{}", name(port))).collect()
}

/// Names that an argument occupies: its own and those of its two registers.
fn claims(name: &str) -> [String; 3] {
    let name = name.to_lowercase();
    [format!("{name}_1"), format!("{name}_2"), name]
}

/// The first free name for `name`, which it marks as taken.
fn fresh(name: &str, taken: &mut BTreeSet<String>) -> String {
    let legal: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let parts: Vec<&str> = legal.split('_').filter(|part| !part.is_empty()).collect();
    let joined = parts.join("_");
    let base = if joined.starts_with(|c: char| c.is_ascii_alphabetic()) { joined } else { format!("arg{joined}") };
    let candidates = [base.clone(), format!("{base}_r")].into_iter().chain((2..).map(|k| format!("{base}_r{k}")));
    let free = |c: &String| !rtl::names::is_keyword(&c.to_lowercase()) && claims(c).iter().all(|x| !taken.contains(x));
    let name = candidates.into_iter().find(free).unwrap_or(base);
    taken.extend(claims(&name));
    name
}
