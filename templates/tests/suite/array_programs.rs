//! C programs through every legal array and several designs by hand: the IP against the interpreter of the array (which
//! other tests check against C), and cycles as predicted.

use crate::array_support::{base, check, contents, Host};
use array::contract::walk::alignment;
use cost::board::Board;
use scop::Scop;
use templates::axi::memory::Timing;
use templates::interface::{STATUS_CAUSES, STATUS_STOPPED};
use uniform::design::{ArrayChoice, DesignSpec, Shape};

fn board() -> Board {
    Board::parse(include_str!("../../../boards/u250.toml")).expect("the board file is well formed")
}

fn scop(text: &str) -> Scop {
    match frontend::parse_text("test.c", text, &Default::default()) {
        Ok((scop, _)) => scop,
        Err((map, d)) => panic!("{}", scop::render_plain(&map, &d)),
    }
}

fn spec(space: &str, tile: &[(&str, i64)], latency: &[(&str, i64)], simd: &[(&str, i64)], order: &str) -> DesignSpec {
    let factors = |x: &[(&str, i64)]| x.iter().map(|(a, b)| (a.to_string(), *b)).collect();
    let names = |s: &str| (!s.is_empty()).then(|| s.split(',').map(str::to_string).collect());
    let shape = Shape {
        order: names(order),
        tile: factors(tile),
        latency: factors(latency),
        simd: factors(simd),
        ..Shape::default()
    };
    DesignSpec { array: ArrayChoice::ByHand { space: names(space), shape }, ..Default::default() }
}

/// Collects the faults of all arrays of a program.
fn every_array(text: &str) {
    let scop = scop(text);
    let rows = search::enumerate(&scop, &DesignSpec::default())
        .unwrap_or_else(|d| panic!("{}", scop::render_plain(&scop.sources, &d)));
    assert!(!rows.is_empty());
    let mut faults = vec![];
    for row in &rows {
        if let Err(e) = check(&row.vsa, contents(&row.vsa, 99), Timing::IDEAL) {
            faults.push(format!("{:?} {:?}: {e}", row.axes, row.vsa.extent));
        }
    }
    assert!(faults.is_empty(), "{} of {} arrays\n{}", faults.len(), rows.len(), faults.join("\n"));
}

fn designs(text: &str, specs: &[DesignSpec]) {
    let scop = scop(text);
    let mut faults = vec![];
    for spec in specs {
        let compiled = match search::compile(&scop, spec, &board()) {
            Ok(c) => c,
            Err(d) => {
                faults.push(format!("{spec:?}: {}", scop::render_plain(&scop.sources, &d)));
                continue;
            }
        };
        for mode in [Timing::IDEAL, Timing::Ddr { seed: 3 }] {
            if let Err(e) = check(&compiled.vsa, contents(&compiled.vsa, 5), mode) {
                faults.push(format!("{spec:?} {mode:?}: {e}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn mm(n: i64, m: i64, k: i64, t: &str, acc: &str) -> String {
    format!(
        "#include <stdint.h>\nvoid mm({t} A[{n}][{k}], {t} B[{k}][{m}], {acc} C[{n}][{m}]) {{\n#pragma scop\n\
         for (int i = 0; i < {n}; i++) for (int j = 0; j < {m}; j++) \
         {{ C[i][j] = 0; for (int k = 0; k < {k}; k++) C[i][j] += A[i][k] * B[k][j]; }}\n\
         #pragma endscop\n}}\n"
    )
}

#[test]
fn products_in_every_array() {
    every_array(&mm(5, 4, 6, "int8_t", "int"));
    every_array(&mm(1, 7, 3, "int16_t", "int"));
}

#[test]
fn products_by_hand() {
    let specs = [
        spec("i,j", &[("i", 4), ("j", 6), ("k", 4)], &[("i", 2), ("j", 3)], &[("k", 2)], ""),
        spec("i,j", &[("i", 6), ("j", 4)], &[("i", 3)], &[("k", 4)], "j,i,k"),
        spec("j,i", &[("i", 4), ("j", 4), ("k", 3)], &[], &[], "k,i,j"),
        spec("i,k", &[("i", 4), ("j", 6), ("k", 4)], &[("j", 3)], &[("k", 2)], ""),
        spec("j,k", &[("i", 4), ("j", 6), ("k", 4)], &[("i", 2)], &[], ""),
        spec("i", &[("i", 4), ("j", 6), ("k", 4)], &[("j", 3)], &[("k", 2)], ""),
        spec("k", &[("i", 4), ("j", 6), ("k", 4)], &[("j", 3)], &[], ""),
    ];
    designs(&mm(11, 13, 9, "int16_t", "int"), &specs);
}

fn product_by_hand() -> array::vsa::Vsa {
    let spec = spec("i,j", &[("i", 4), ("j", 6), ("k", 4)], &[("i", 2), ("j", 3)], &[("k", 2)], "");
    let scop = scop(&mm(11, 13, 9, "int16_t", "int"));
    search::compile(&scop, &spec, &board()).unwrap_or_else(|d| panic!("{}", scop::render_plain(&scop.sources, &d))).vsa
}

/// A reset in the middle of a run does not affect the next run: of the IP and its memories, for one cycle or more, or a
/// soft reset, in which the memories go on.
#[test]
fn reset_in_the_middle() {
    let vsa = product_by_hand();
    let (memory, mut expected) = (contents(&vsa, 7), contents(&vsa, 7));
    array::interp::run(&vsa, &mut expected).expect("the array can be interpreted");
    let (design, interface) = templates::ip(&(&vsa).into()).expect("an IP");
    let layout = &interface.layout;
    for (case, mode) in
        [Timing::IDEAL, Timing::Ddr { seed: 5 }].into_iter().flat_map(|mode| (0..25).map(move |case| (case, mode)))
    {
        let mut host = Host::new(&vsa, &design, &memory, mode).expect("a host");
        host.prepare(&vsa, mode, 0);
        host.write(0, 1);
        (0..10 + 18 * case).for_each(|_| host.cycle());
        match case % 4 {
            0 => host.soft_reset(layout),
            k => host.reset_all([1, 2, 60][k - 1]),
        }
        assert!(host.memories.iter().all(|m| m.is_idle()), "{mode:?} {case}: bursts are open");
        let stopped = u64::from(case % 4 == 0) << STATUS_STOPPED;
        assert_eq!(host.read(layout.status()), stopped, "{mode:?} {case}: status");
        host.write(layout.status(), STATUS_CAUSES.into());
        host.prepare(&vsa, mode, 0);
        host.fill(&vsa, &memory);
        let outcome = host.run(&vsa, 100_000).unwrap_or_else(|e| panic!("{mode:?} {case}: {e}"));
        assert!(outcome.memory == expected, "{mode:?} {case}: wrong results");
    }
}

fn status_of(host: &mut Host, layout: &templates::interface::Layout) -> (u64, u64) {
    let at = layout.error_address();
    (host.read(layout.status()), host.read(at) | host.read(at + 4) << 32)
}

/// Error answers set the status with the address of the first such burst. The run ends as usual, the next one is clean.
#[test]
fn errors_on_the_bus_are_noted() {
    let vsa = product_by_hand();
    let memory = contents(&vsa, 11);
    let (design, _) = templates::ip(&(&vsa).into()).expect("an IP");
    let layout = templates::Interface::from(&vsa).layout;
    for mode in [Timing::IDEAL, Timing::Ddr { seed: 2 }] {
        let mut host = Host::new(&vsa, &design, &memory, mode).expect("a host");
        host.prepare(&vsa, mode, 0);
        // (port, byte of the array that fails, code, cause)
        for (port, byte, code, cause) in [(0usize, 100u64, 2u64, 1u64), (1, 3, 3, 1), (2, 300, 3, 2), (2, 0, 2, 2)] {
            let at = base(&vsa, port, mode) + byte;
            host.memories[port].break_down(at..at + 1, code);
            host.fill(&vsa, &memory);
            host.run(&vsa, 100_000).unwrap_or_else(|e| panic!("{mode:?} {port}: {e}"));
            let (status, address) = status_of(&mut host, &layout);
            assert_eq!(status, cause | 1 << 3 | code << 8 | (port as u64) << 16, "{mode:?} {port}");
            assert!(
                address <= at && at < address + 4096 && address / 4096 == at / 4096,
                "{mode:?} {port}: {address:#x} for {at:#x}"
            );
            host.memories[port].mend();
            host.write(layout.status(), 7);
            host.run(&vsa, 100_000).unwrap_or_else(|e| panic!("{mode:?} {port}: {e}"));
            assert_eq!(status_of(&mut host, &layout).0, 0);
        }
        // With its interrupt enabled, the error itself raises it.
        host.write(8, 4);
        host.memories[0].break_down(0..u64::MAX, 2);
        host.run(&vsa, 100_000).expect("an interrupt");
    }
}

/// A misaligned address: nothing moves, the run ends, the status has the index of the argument.
#[test]
fn misaligned_addresses_are_refused() {
    let vsa = product_by_hand();
    let (memory, mut expected) = (contents(&vsa, 13), contents(&vsa, 13));
    array::interp::run(&vsa, &mut expected).expect("the array can be interpreted");
    let (design, _) = templates::ip(&(&vsa).into()).expect("an IP");
    let layout = templates::Interface::from(&vsa).layout;
    let mode = Timing::IDEAL;
    let mut host = Host::new(&vsa, &design, &memory, mode).expect("a host");
    // C has elements of four bytes, A and B of two; an array may have to begin a bus word.
    let units = (0..3).map(|k| u64::from(alignment(&vsa, k))).collect::<Vec<_>>();
    assert!(units[2] >= 4);
    for shift in (0..7).map(|k| 1 << k) {
        let Some(index) = units.iter().position(|unit| shift % unit != 0) else { continue };
        host.prepare(&vsa, mode, shift);
        let outcome = host.run(&vsa, 1000).expect("the run ends");
        assert!(outcome.memory == memory && outcome.cycles == 0);
        assert_eq!(status_of(&mut host, &layout).0, 4 | (index as u64) << 16);
        host.write(layout.status(), 4);
    }
    host.prepare(&vsa, mode, 0);
    assert!(host.run(&vsa, 100_000).expect("the run ends").memory == expected);
    assert_eq!(status_of(&mut host, &layout).0, 0);
}

#[test]
fn recurrences_in_every_array() {
    every_array(
        "void sw(int a[6], int b[5], int h[7][6]) {\n#pragma scop\n\
         for (int i = 1; i < 7; i++) for (int j = 1; j < 6; j++) {\n\
         int s = a[i - 1] == b[j - 1] ? 3 : -2;\n int m = h[i - 1][j - 1] + s;\n int d = h[i - 1][j] - 1;\n int l = \
         h[i][j - 1] - 1;\n\
         int x = d > l ? d : l;\n int y = m > x ? m : x;\n h[i][j] = y > 0 ? y : 0; }\n#pragma endscop\n}\n",
    );
}

#[test]
fn operators() {
    designs(
        "#include <stdint.h>\nvoid f(int a[9], unsigned b[9], int8_t c[9], int64_t o[9], unsigned p[9], uint8_t q[9]) \
        {\n#pragma scop\n\
         for (int i = 0; i < 9; i++) {\n\
         o[i] = (int64_t)a[i] * c[i] + (a[i] / (c[i] | 1)) - (a[i] % (c[i] | 3)) + i * 5;\n\
         p[i] = (b[i] << (c[i] & 31)) ^ (b[i] >> 3) ^ (b[i] / 7u) ^ (b[i] % 1000u) ^ ~b[i];\n\
         q[i] = (a[i] > c[i] && b[i] != 5u) || !c[i] ? -a[i] : a[i] >> 4; }\n#pragma endscop\n}\n",
        &[DesignSpec::default(), spec("i", &[("i", 4)], &[], &[], "")],
    );
}

/// xorshift64.
struct Random(u64);

impl Random {
    fn within(&mut self, low: i64, high: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + ((self.0 >> 20) % (high - low + 1) as u64) as i64
    }
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.within(0, from.len() as i64 - 1) as usize]
    }
}

/// Matrix products of random sizes and designs; `SAGEN_CASES` sets their number.
#[test]
fn random_products() {
    let cases: u64 = std::env::var("SAGEN_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(40);
    let (mut built, mut faults) = (0, vec![]);
    for seed in 1..=cases {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (n, m, k) = (r.within(1, 14), r.within(1, 14), r.within(1, 14));
        let text = mm(
            n,
            m,
            k,
            r.pick(&["int8_t", "int16_t", "int", "uint8_t"]),
            r.pick(&["int", "int", "int16_t", "int64_t"]),
        );
        let (space, order) =
            (r.pick(&["i,j", "j,i", "i,k", "j,k", "i", "j", "k"]), r.pick(&["", "i,j,k", "k,i,j", "j,k,i", "i,k,j"]));
        let (mut tile, mut latency, mut simd) = (vec![], vec![], vec![]);
        for l in ["i", "j", "k"] {
            if r.within(0, 2) > 0 {
                tile.push((l, r.within(1, 8)));
            }
            if r.within(0, 3) == 0 {
                latency.push((l, r.within(1, 4)));
            }
        }
        if r.within(0, 1) == 0 {
            simd.push((r.pick(&["k", "i", "j"]), r.within(1, 4)));
        }
        let spec = spec(space, &tile, &latency, &simd, order);
        let scop = scop(&text);
        // A random design may be illegal.
        let Ok(compiled) = search::compile(&scop, &spec, &board()) else { continue };
        built += 1;
        let mode = if r.within(0, 2) == 0 { Timing::Ddr { seed } } else { Timing::IDEAL };
        if let Err(e) = check(&compiled.vsa, contents(&compiled.vsa, seed), mode) {
            faults.push(format!("{seed}: {n} x {m} x {k} {spec:?} {mode:?}: {e}"));
        }
    }
    assert!(built * 4 >= cases, "only {built} of {cases} designs are legal");
    assert!(faults.is_empty(), "{} of {built}\n{}", faults.len(), faults.join("\n"));
}
