//! Arrays that take more than a die has are cut into bands that fit the dies; others stay as they are.

use array::contract::bands::Bands;
use array::vsa::Op;
use cost::board::Board;
use cost::{bands, resources};
use search::Compiled;
use uniform::cuts::Cuts;
use uniform::design::{DesignSpec, Shape};

/// A U250 whose dies have a twentieth of what they have.
fn board() -> Board {
    let board = Board::parse(include_str!("../../../../boards/u250.toml")).expect("the board file is well formed");
    let mut small = board.clone();
    small.dies.iter_mut().for_each(|die| die.resources = die.resources.map(|_, all| all / 20));
    small
}

fn compile(text: &str, space: &[&str], cuts: Option<Cuts>) -> Compiled {
    let Ok((scop, _)) = frontend::parse_text("f.c", text, &Default::default()) else { panic!("{text}") };
    let shape = Shape { latency: [(space[0].to_string(), 1)].into(), ..Shape::default() };
    let mut spec = DesignSpec::by_hand(space.iter().map(|s| s.to_string()).collect(), shape);
    spec.wiring.cuts = cuts;
    search::compile(&scop, &spec, &board()).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn product(n: i64) -> String {
    format!(
        "#include <stdint.h>\nvoid mm(int16_t A[{n}][{n}], int16_t B[{n}][{n}], int32_t C[{n}][{n}]) {{\n#pragma scop\n\
         for (int i = 0; i < {n}; i++)\nfor (int j = 0; j < {n}; j++) {{\nC[i][j] = 0;\n\
         for (int k = 0; k < {n}; k++)\nC[i][j] += A[i][k] * B[k][j];\n}}\n#pragma endscop\n}}\n"
    )
}

#[test]
fn an_array_larger_than_a_die_is_cut_into_bands_that_fit() {
    let [whole, cut] = [Some(Cuts::Nowhere), None].map(|cuts| compile(&product(16), &["i", "j"], cuts));
    assert_eq!(Bands::of(&whole.vsa).map(|b| b.count()), Ok(1));
    let found = Bands::of(&cut.vsa).expect("bands");
    let (board, needs) = (board(), bands::bands(&cut.vsa));
    // 256 products; the margin leaves 122 slices of a die.
    assert_eq!(found.count(), 3);
    let dies = board.dies_of(3).expect("four dies");
    assert!(needs.iter().zip(dies).all(|(need, die)| need.fits(&board.usable_of(die))), "{needs:?}");
    let all = resources::estimate(&cut.vsa);
    let sum = |of: fn(&cost::board::Resources) -> i64| needs.iter().map(of).sum::<i64>();
    assert_eq!((sum(|n| n.lut), sum(|n| n.ff), sum(|n| n.dsp)), (all.lut, all.ff, all.dsp));
    assert!(all.ff > resources::estimate(&whole.vsa).ff, "registers of the crossings are counted");
    // Tokens cross twice, and answers back; C goes over two borders of dies. B, over one, still comes before A.
    assert_eq!(cut.vsa.away, [0, 1, 2]);
    let [whole, cut] = [whole, cut].map(|c| c.report.prediction.cycles);
    // Without cuts, the relays reach the last PE so soon that the drain begins a cycle before its last value is there.
    assert_eq!(cut - whole, 8 + 10 + 1);
}

/// Product with cuts and banks on a board.
fn banked(board: &Board, n: i64, cuts: Cuts, banks: &[(&str, &str)]) -> Result<Compiled, String> {
    let Ok((scop, _)) = frontend::parse_text("f.c", &product(n), &Default::default()) else { panic!("{n}") };
    let shape = Shape { latency: [("i".to_string(), 1)].into(), ..Shape::default() };
    let mut spec = DesignSpec::by_hand(vec!["i".into(), "j".into()], shape);
    spec.wiring.cuts = Some(cuts);
    spec.wiring.bank = banks.iter().map(|(array, bank)| (array.to_string(), bank.to_string())).collect();
    search::compile(&scop, &spec, board).map_err(|faults| format!("{faults:?}"))
}

#[test]
fn a_port_is_as_far_away_as_the_bank_of_its_array() {
    let before = |pes: &[i64]| Cuts::Before { axis: "i".into(), pes: pes.to_vec() };
    let board = board();
    let away = |cuts, banks: &[(&str, &str)]| banked(&board, 6, cuts, banks).unwrap().vsa.away;
    assert_eq!(away(before(&[3]), &[]), [0, 1, 2]);
    assert_eq!(away(before(&[3]), &[("A", "DDR[3]"), ("C", "DDR[0]")]), [3, 1, 0]);
    // Banks that are used as one are where the first of them is.
    assert_eq!(away(before(&[1, 2, 3]), &[("A", "DDR[2:3]"), ("B", "DDR[0]"), ("C", "DDR[0:3]")]), [2, 0, 0]);
    assert!(away(before(&[3]), &[("A", "DDR[0]"), ("B", "DDR[0]"), ("C", "DDR[0]")]).is_empty());
    assert!(away(Cuts::Nowhere, &[]).is_empty());
    assert!(banked(&board, 6, before(&[3]), &[("A", "DDR[4]")]).is_err_and(|why| why.contains("there are 4 of them")));
    // Four bands, on a board with three dies.
    let few = Board::parse(include_str!("../../../../boards/u200.toml")).unwrap();
    assert!(banked(&few, 6, before(&[1, 2, 3]), &[]).unwrap().vsa.away.is_empty());
    // The first bank is at the uppermost die: the engines are below.
    let f1 = Board::parse(include_str!("../../../../boards/vu9p.toml")).unwrap();
    assert_eq!(banked(&f1, 6, before(&[3]), &[("B", "DDR[3]")]).unwrap().vsa.away, [1, -1, 0]);
    assert_eq!(banked(&f1, 6, before(&[1, 2]), &[]).unwrap().vsa.away, [2, 1, 1]);
}

#[test]
fn readers_ask_further_ahead_for_memories_on_other_dies() {
    let cuts = Cuts::Before { axis: "i".into(), pes: vec![3] };
    let mut slow = board();
    // 240 cycles, and 256 beats of a burst, fit 512 places; 14 cycles more do not.
    slow.memory[0].latency_ns = 800;
    let ahead = |banks: &[(&str, &str)]| banked(&slow, 6, cuts.clone(), banks).unwrap().vsa.ahead;
    assert_eq!(ahead(&[("A", "DDR[0]"), ("B", "DDR[0]"), ("C", "DDR[0]")]), 512);
    assert_eq!(ahead(&[("A", "DDR[3]"), ("B", "DDR[0]"), ("C", "DDR[0]")]), 1024);
}

#[test]
fn a_memory_says_the_die_of_each_port() {
    let text = include_str!("../../../../boards/u250.toml");
    let old = "die = [\"SLR0\", \"SLR1\", \"SLR2\", \"SLR3\"]";
    let with = |new: &str| {
        assert!(text.contains(old));
        Board::parse(&text.replace(old, new))
    };
    assert_eq!(with("").map(|b| b.first_of(2)), Ok(Some(0)));
    assert_eq!(with("die = \"SLR3\"").map(|b| b.first_of(2)), Ok(Some(2)));
    assert_eq!(with("die = [\"SLR1\", \"SLR0\", \"SLR0\", \"SLR0\"]").map(|b| b.first_of(2)), Ok(Some(1)));
    for (new, why) in [
        ("die = \"SLR4\"", "no such die"),
        ("die = [\"SLR0\", \"SLR1\", \"SLR2\", \"X\"]", "\"X\": no such die"),
        ("die = [\"SLR0\", \"SLR1\"]", "2 names for 4 ports"),
        ("die = []", "0 names for 4 ports"),
        ("die = 3", "the name of a die, or a list with one for each port"),
    ] {
        assert!(with(new).is_err_and(|found| found.contains(why)), "{new}");
    }
}

/// Values move both ways along `i`. Along `j`, a wave has a point of each row, so values wait for `m` waves.
fn plane(m: i64) -> String {
    format!(
        "void relax(float A[9][66][{m}]) {{\n#pragma scop\nfor (int t = 1; t < 9; t++)\nfor (int i = 1; i < 65; i++)\n\
         for (int j = 1; j < {m} - 1; j++)\n\
         A[t][i][j] = A[t - 1][i - 1][j] + A[t - 1][i][j] + A[t - 1][i + 1][j];\n#pragma endscop\n}}\n"
    )
}

#[test]
fn a_stencil_is_cut_where_its_waves_leave_time_for_it() {
    let [whole, cut] = [Some(Cuts::Nowhere), None].map(|cuts| compile(&plane(66), &["i"], cuts));
    let bands = Bands::of(&cut.vsa).expect("bands").count();
    assert!(bands > 1);
    assert_eq!(cut.vsa.schedule.interval, whole.vsa.schedule.interval);
    let back = cut.vsa.nodes.iter().filter(|n| matches!(n.op, Op::Past { hop, .. } if cut.vsa.schedule.back(hop) > 0));
    assert!(back.count() > 0, "values move against the waves");
    let [whole, cut] = [whole, cut].map(|c| c.report.prediction.cycles);
    assert!((1..100).contains(&(cut - whole)), "{whole} cycles whole, {cut} in {bands} bands");
}

#[test]
fn what_fits_a_die_or_gets_slower_by_cuts_stays_whole() {
    let [whole, chosen] = [Some(Cuts::Nowhere), None].map(|cuts| compile(&product(4), &["i", "j"], cuts).vsa);
    assert_eq!(whole, chosen);
    let stencil = "void jacobi(int t, int A[400], int B[400]) {\n#pragma scop\n\
         for (int n = 0; n < 8; n++) {\nfor (int i = 1; i < 399; i++)\nB[i] = A[i - 1] + A[i] + A[i + 1];\n\
         for (int i = 1; i < 399; i++)\nA[i] = B[i];\n}\n#pragma endscop\n}\n";
    let stencil = compile(stencil, &["i"], None).vsa;
    assert!(resources::estimate(&stencil).lut > board().dies[0].resources.lut);
    assert_eq!(Bands::of(&stencil).map(|b| b.count()), Ok(1));
    let asked = array::cut::cut(&stencil, 0, &[100, 200]).expect("a cut that was asked for");
    assert_eq!(Bands::of(&asked).map(|b| b.count()), Ok(3));
    assert!(asked.schedule.interval > stencil.schedule.interval);
}
