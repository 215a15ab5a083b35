//! Estimates of small arrays, where what is built can be counted by hand.

use array::variants::assemble;
use array::vsa::Vsa;
use cost::resources::parts;
use uniform::design::DesignSpec;
use uniform::mapping::Plan;

fn one_pe(body: &str) -> Vsa {
    let text = format!(
        "#include <stdint.h>\nvoid f(int8_t a[9], int8_t b[9], int8_t c[9], int32_t s[1]) \
        {{\n#pragma scop\ns[0] = 0;\nfor (int i = 0; i < 9; i++)\n{body}\n#pragma endscop\n}}\n"
    );
    let Ok((scop, _)) = frontend::parse_text("f.c", &text, &Default::default()) else { panic!("{text}") };
    let spec = DesignSpec::default();
    let program = search::program(&scop, &spec).expect("a sum");
    assemble(&program, Plan::identity(program.system.dims.len()), &spec).expect("an array of one PE")
}

/// A product of three bytes fits two slices: the first one's result has 16 bits of the 32 that C gives it.
#[test]
fn products_are_as_wide_as_their_factors() {
    assert_eq!(parts(&one_pe("s[0] += a[i] * b[i] * c[i];")).pes.dsp, 2);
}

/// A sum that a slice keeps in its own register begins anew without LUTs.
#[test]
fn sums_begin_anew_in_the_slice() {
    let pes = parts(&one_pe("s[0] += a[i] * b[i];")).pes;
    assert_eq!((pes.dsp, pes.lut), (1, 0), "{pes:?}");
}
