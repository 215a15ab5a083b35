//! Design specifications as text.

use uniform::aim::{CountedMemory, Grid, Most, Objective, Share};
use uniform::cuts::Cuts;
use uniform::design::Aim;
use uniform::design::*;

#[test]
fn the_printed_form_reads_back() {
    let factors = |list: &[(&str, i64)]| list.iter().map(|(n, f)| (n.to_string(), *f)).collect::<Factors>();
    let shape = Shape { tile: factors(&[("i", 64), ("j.2", 7)]), simd: factors(&[("k", 2)]), ..Shape::default() };
    let arithmetic =
        Arithmetic { reassociate: Some(true), fp_contract: Some(false), dot: Some(Dot::Fused), pack: Some(true) };
    let arrays = [
        ArrayChoice::Automatic,
        ArrayChoice::Row { row: 3, shape: shape.clone() },
        ArrayChoice::Row { row: 0, shape: Shape::default() },
        ArrayChoice::ByHand { space: None, shape: shape.clone() },
        ArrayChoice::ByHand {
            space: Some(vec!["i".into(), "j.2".into()]),
            shape: Shape { order: Some(vec!["k".into()]), ..shape },
        },
    ];
    for ports in [None, Some(Ports::Shared), Some(Ports::Groups(vec![vec!["A".into(), "C".into()], vec!["B".into()]]))]
    {
        for array in &arrays {
            let wiring = Wiring {
                word: [("A".into(), 16)].into(),
                ports: ports.clone(),
                bank: [("A".into(), "DDR[1]".into())].into(),
                uram: Some(true),
                merge: Some(true),
                queue: Some(4),
                overlap: Some(true),
                spill_beyond: Some(9),
                memory_latency: Some(120),
                address_bits: Some(32),
                guard: Some(true),
                unaligned: Some(true),
                on_chip: Some(65536),
                keep: vec!["A".into()],
                cuts: Some(Cuts::Before { axis: "i".into(), pes: vec![2, 4] }),
            };
            let limit = [("lut".into(), Most::Share(Share::percent(70))), ("dsp".into(), Most::Count(80))].into();
            let aim = Aim {
                objective: Some(Objective::Area),
                cycles: Some(5000),
                grid: Some(Grid { pes: [4, 2], lanes: 8 }),
                weights: [("gemm".into(), 3)].into(),
                slack: Some(Share::percent(2)),
                limit,
                memory: Some(CountedMemory::Ideal),
            };
            let spec = DesignSpec {
                arithmetic: arithmetic.clone(),
                wiring,
                aim,
                array: array.clone(),
                ..DesignSpec::default()
            };
            assert_eq!(DesignSpec::parse(&spec.to_text()), Ok(spec));
        }
    }
}

/// Which array is meant follows from the fields that choose one, and from no others.
#[test]
fn choices_follow_from_their_fields() {
    let array = |text: &str| DesignSpec::parse(text).unwrap().array;
    assert_eq!(
        array("reassociate = true\nspill_beyond = 3\nports = [\"shared\"]\nword = { A = 8 }"),
        ArrayChoice::Automatic
    );
    assert!(matches!(array("array = 2\ntile = { i = 4 }"), ArrayChoice::Row { row: 2, .. }));
    assert!(matches!(array("simd = { i = 4 }"), ArrayChoice::ByHand { space: None, .. }));
}

/// Found by damaged files: a blank made a group of an array `shared`, which is written as all of them.
#[test]
fn all_arrays_share_whatever_blanks_say() {
    let ports = |text: &str| DesignSpec::parse(text).unwrap().wiring.ports;
    assert_eq!(ports("ports = [\"shared \"]"), Some(Ports::Shared));
    assert_eq!(ports("ports = [\" A + B\"]"), ports("ports = [\"A+B\"]"));
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        ("spaec = []", "unknown field `spaec`"),
        ("dot = \"exact\"", "exact"),
        ("\ntile = { i = \"x\" }", "line 2"),
        ("ports = [\"A+\"]", "A+"),
        ("array = 1\nspace = [\"i\"]", "exclude each other"),
        ("array = -1", "invalid value"),
        ("tile = { i = 2, i = 4 }", "duplicate key"),
    ];
    for (text, part) in cases {
        let error = DesignSpec::parse(text).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn shares_are_read_and_written() {
    for text in ["2%", "0.5%", "100%"] {
        assert_eq!(Share::try_from(text.to_string()).unwrap().to_string(), text);
    }
    for wrong in ["2", "x%", "101%", "-1%"] {
        assert!(Share::try_from(wrong.to_string()).is_err(), "{wrong}");
    }
    assert_eq!((Share::percent(70).of(1000), Most::Count(7).of(5)), (700, 5));
}

/// Cuts are one word: an axis and the PEs in front of which it is cut, or `none`.
#[test]
fn cuts_are_written_as_one_word() {
    let cuts = |text: &str| Cuts::try_from(text.to_string());
    assert_eq!(cuts("none"), Ok(Cuts::Nowhere));
    assert_eq!(cuts(" 2*i+j = 3, 5").map(|c| c.to_string()), Ok("2*i+j=3,5".to_string()));
    assert!(["", "i", "i=", "=3", "i=0", "i=-1", "i=2,", "i=x"].iter().all(|text| cuts(text).is_err()));
}
