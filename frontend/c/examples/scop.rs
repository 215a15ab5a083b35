//! Prints the scop of a C file, or its diagnostics: `cargo run -p frontend --example scop FILE [NAME=VALUE]…`.
use frontend::{parse, ParseOptions};
use scop::render_plain;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let define = |a: &String| a.split_once('=').map_or((a.clone(), String::new()), |(n, v)| (n.into(), v.into()));
    let options = ParseOptions { defines: arguments.iter().skip(1).map(define).collect(), ..ParseOptions::default() };
    let path = arguments.first().map_or("", String::as_str);
    match parse(path.as_ref(), &options) {
        Ok((scop, warnings)) => print!("{}{scop}", render_plain(&scop.sources, &warnings)),
        Err((map, faults)) => print!("{}", render_plain(&map, &faults)),
    }
}
