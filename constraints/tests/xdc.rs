//! The clock constraint: exact text, rounding, refusals. Also checks that the numbers of each board file are
//! consistent.

use constraints::{floorplan, xdc, ClockError, ClockSpec, OnDie};
use std::path::Path;

#[test]
fn text_is_exact() {
    let clock = ClockSpec::new("aclk", 300.0).unwrap();
    assert_eq!(
        xdc(&clock, "mm", "xcu250-figd2104-2L-e"),
        "# Out-of-context timing of mm on xcu250-figd2104-2L-e: the one clock, nothing else.\n\
         # All ports are synchronous to it; delays outside the IP are left to the design that uses it.\n\
         create_clock -name aclk -period 3.333 [get_ports aclk]\n"
    );
}

#[test]
fn period_never_exceeds_the_requested_one() {
    for tenth in 10..8910 {
        let mhz = f64::from(tenth) / 10.0;
        let ps = ClockSpec::new("aclk", mhz).unwrap().period_ps();
        assert!(ps as f64 <= 1e6 / mhz, "{mhz} MHz: {ps} ps is too long");
        assert!((ps + 1) as f64 > 1e6 / mhz, "{mhz} MHz: {ps} ps is tighter than needed");
    }
    assert_eq!(ClockSpec::new("aclk", 250.0).unwrap().period_ps(), 4000);
}

#[test]
fn small_fractions_keep_their_zeros() {
    let text = xdc(&ClockSpec::new("aclk", 249.9).unwrap(), "t", "p");
    assert!(text.contains("-period 4.001 "), "{text}");
}

#[test]
fn refuses_bad_clocks() {
    for mhz in [0.0, -1.0, 0.5, 2000.0, f64::INFINITY] {
        assert_eq!(ClockSpec::new("aclk", mhz), Err(ClockError::Frequency(mhz)));
    }
    assert!(matches!(ClockSpec::new("aclk", f64::NAN), Err(ClockError::Frequency(_))));
    for port in ["", "1clk", "a clk", "a[0]", "clk]; exit", "ü"] {
        assert_eq!(ClockSpec::new(port, 300.0), Err(ClockError::Port(port.to_owned())));
    }
}

#[test]
fn a_block_holds_the_band_and_not_what_is_beside_it() {
    let on = |die: &str, band: &str, beside: &[&str]| OnDie {
        die: die.into(),
        band: vec![format!("array/{band}")],
        beside: beside.iter().map(|s| s.to_string()).collect(),
    };
    let text = floorplan("mm", &[on("SLR1", "band0", &["reader_a"]), on("SLR2", "band1", &[])], &[]);
    let cell = |name: &str| {
        format!("[get_cells -hierarchical -filter {{REF_NAME =~ mm_* && (NAME =~ {name} || NAME =~ */{name})}}]")
    };
    let block = |die: &str, band: &str| {
        format!(
            "create_pblock pblock_mm_{die}\nresize_pblock pblock_mm_{die} -add {{{die}}}\n\
             add_cells_to_pblock pblock_mm_{die} {}\nset_property IS_SOFT TRUE [get_pblocks pblock_mm_{die}]\n",
            cell(&format!("array/{band}"))
        )
    };
    assert!(text.contains(&(block("SLR1", "band0") + &block("SLR2", "band1"))), "{text}");
    assert!(text.contains(&format!("USER_SLR_ASSIGNMENT SLR1 {}\n", cell("reader_a"))), "{text}");
    assert_eq!(text.matches("reader_a").count(), 2, "its two patterns once: {text}");
}

/// A board file as a TOML table.
fn boards() -> Vec<(String, toml::Table)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../boards");
    let mut found: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), text.parse().unwrap())
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn board_files_are_consistent() {
    let boards = boards();
    assert_eq!(
        boards.iter().map(|b| b.0.as_str()).collect::<Vec<_>>(),
        [
            "arty-a7-100",
            "kv260",
            "orangecrab",
            "pynq-z2",
            "u200",
            "u250",
            "u280",
            "u50",
            "u55c",
            "ulx3s",
            "vu9p",
            "zcu102",
            "zcu104"
        ]
    );
    for (name, board) in &boards {
        assert_eq!(board["name"].as_str(), Some(name.as_str()));
        ClockSpec::new("aclk", board["clock_mhz"].as_float().unwrap()).unwrap();
        for resource in ["lut", "ff", "dsp", "bram36", "uram"] {
            // Families without UltraRAM omit it.
            let count = |table: &toml::Value| table.get(resource).map_or(0, |n| n.as_integer().unwrap());
            let total = count(&board["resources"]);
            let dies = board["die"].as_array().unwrap().iter().map(count);
            assert_eq!(dies.sum::<i64>(), total, "{name}: {resource}");
        }
        let ecp5 = board["family"].as_str() == Some("ecp5");
        assert_eq!(
            board["resources"]["ff"].as_integer(),
            board["resources"]["lut"].as_integer().map(|lut| if ecp5 { lut } else { 2 * lut }),
            "{name}: all families but ECP5 have two flip-flops a LUT"
        );
        for memory in board["memory"].as_array().unwrap() {
            let get = |field: &str| memory[field].as_integer().unwrap();
            assert!(matches!(memory["kind"].as_str(), Some("ddr" | "hbm" | "sdram")), "{name}");
            assert!((get("data_bits") as u64).is_power_of_two() && get("data_bits") <= 1024, "{name}");
            assert!(get("peak_bytes_per_s") <= get("total_peak_bytes_per_s"), "{name}");
            assert!(get("total_peak_bytes_per_s") <= get("ports") * get("peak_bytes_per_s"), "{name}");
            assert!(get("capacity_bytes") > 0, "{name}");
        }
    }
}
