//! Any text gives a scop that verifies or faults with a message, and never a panic. In `frontend/c/fuzz/`, with a
//! stable compiler: `mkdir -p corpus && cargo run --release -- corpus ../tests/ok ../../../tests/run -timeout=60
//! -max_total_time=600`
#![no_main]

use frontend::{ParseOptions, parse_text};
use scop::render_plain;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match parse_text("fuzz.c", text, &ParseOptions::default()) {
        Ok((scop, _)) => assert!(scop.verify().is_ok()),
        Err((map, faults)) => assert!(!render_plain(&map, &faults).is_empty()),
    }
});
