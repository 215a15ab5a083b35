//! Square root: the significand is normalized and given an even exponent; one root bit a step by the non-restoring
//! recurrence (Li and Chu, "Implementation of single precision floating point square root on FPGAs", FCCM 1997).

use super::div::add_or_subtract;
use super::parts::{exponent_width, leading_zeros, or_by_six, round, shift_left, Fields, Special, Unrounded};
use super::pipe::Pipe;
use super::Format;
use rtl::{u, ModuleBuilder};

/// Unpack; count zeros; normalize; root bits; remainder; round.
fn steps(f: Format) -> Vec<u32> {
    let mut steps = vec![4, 5, 5];
    steps.extend((0..f.fraction + 2).map(|k| 3 + k.div_ceil(8)));
    steps.extend([8, 8]);
    steps
}

pub fn build(m: &ModuleBuilder, f: Format, latency: u32) {
    let p = Pipe::new(m, &steps(f), latency);
    let x = Fields::new(p.input("a", f.bits()).now(), f).hold(&p, "a");
    p.cut();
    let x = x();
    let wide = exponent_width(f, f.fraction + 1);
    let sign = p.hold("sign", x.sign);
    let nan = p.hold("nan", x.nan | (x.sign & !x.zero));
    let infinite = p.hold("infinite", x.infinite);
    let (biased, significand) = (p.hold("biased", x.biased(m)), p.hold("significand", x.significand(m)));
    let zeros = p.hold("zeros", leading_zeros(m, significand.now()));
    p.cut();
    let exponent = biased.now().extend(wide).signed() - zeros.now().extend(wide).signed();
    let shifted = shift_left(m, significand.now(), zeros.now());
    // The bias is odd, so an even biased exponent is an odd power of two.
    let none = m.lit(0, u(1));
    let radicand = m.mux(exponent.bit(0), m.concat(&[none, shifted]), m.concat(&[shifted, none]));
    let mut radicand = p.hold("radicand", radicand);
    let exponent = p.hold("exponent", exponent.add_lit(f.bias()).shr_const(1).unsigned().sub_lit(1));
    p.cut();
    let bits = f.fraction + 2;
    // After k bits the remainder takes k + 2 bits and a sign lies at the top.
    let (mut rest, mut root) = (p.hold("rest0", m.lit(0, u(2))), None);
    for k in 1..=bits {
        let (r, have) = (rest.now(), radicand.now());
        let pair = if have.w() > 1 { have.slice(have.w() - 2, 2) } else { m.concat(&[have, none]) };
        let next = m.concat(&[r, pair]).slice(0, k + 2);
        let subtract = !r.msb();
        let low = [!subtract, m.lit(1, u(1))];
        let trial = match &root {
            None => m.concat(&low),
            Some(q) => m.concat(&[super::pipe::Held::now(q), low[0], low[1]]),
        };
        let next = add_or_subtract(m, next, trial.extend(k + 2), subtract);
        let bit = !next.msb();
        root = Some(p.hold(
            format!("root{k}"),
            match &root {
                None => bit,
                Some(q) => m.concat(&[q.now(), bit]),
            },
        ));
        rest = p.hold(format!("rest{k}"), next);
        let left = if have.w() > 2 { have.slice(0, have.w() - 2) } else { none };
        radicand = p.hold(format!("radicand{k}"), left);
        p.cut();
    }
    let Some(root) = root else { return };
    let (last, q) = (rest.now(), root.now());
    let correction = m.concat(&[q, m.lit(1, u(1))]).extend(bits + 2) & m.repeat(last.msb(), bits + 2);
    let inexact = p.hold("inexact", or_by_six(m, last + correction));
    p.cut();
    let q = root.now();
    let result = Unrounded::normalized(m, q, inexact.now().reduce_or(), exponent.now(), f);
    p.output("y", round(m, &result, &Special { sign: sign.now(), nan: nan.now(), infinite: infinite.now() }, f));
}
