//! Dataflow against brute force: enumerate the instances in execution order and track the writers of each element.

mod domains;
mod program;
mod unwritten;

use program::{cell, execution, parse, Cell, Instance};
use scop::diag::Diagnostic;
use scop::flow::{analyze, Flow, MemoryDep, RelationPiece, Source, WRITE};
use scop::*;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn holds(domain: &[Constraint], point: &[i64]) -> bool {
    domain.iter().all(|c| c.holds(point))
}

fn apply(functions: &[Affine], point: &[i64]) -> Vec<i64> {
    functions.iter().map(|f| f.eval(point)).collect()
}

/// The source of one read instance according to the flow; exactly one piece must contain it.
fn claimed(flow: &Flow, (statement, point): &Instance, read: usize) -> Option<Instance> {
    let pieces: Vec<_> = flow.reads[statement.index()][read].iter().filter(|p| holds(&p.domain, point)).collect();
    assert_eq!(pieces.len(), 1, "pieces that hold for read {read} of {statement:?} at {point:?}");
    match &pieces[0].source {
        Source::Write { statement, iteration } => Some((*statement, apply(iteration, point))),
        Source::Input | Source::Undefined => None,
    }
}

/// The related sink instances of one access instance, and whether all relations were functions.
fn related(deps: &[MemoryDep], (statement, point): &Instance, access: usize, sink: &Instance) -> (Vec<Instance>, bool) {
    let (mut sinks, mut functions) = (vec![], true);
    for dep in deps.iter().filter(|d| d.from == (*statement, access)) {
        assert_eq!(dep.to.1, WRITE);
        for piece in &dep.relation {
            match piece {
                RelationPiece::Function { domain, target } if holds(domain, point) => {
                    sinks.push((dep.to.0, apply(target, point)))
                }
                RelationPiece::Function { .. } => {}
                RelationPiece::Relation { constraints } => {
                    functions = false;
                    if dep.to.0 == sink.0 && holds(constraints, &[point.as_slice(), &sink.1].concat()) {
                        sinks.push(sink.clone());
                    }
                }
            }
        }
    }
    (sinks, functions)
}

/// Compares every part of the flow with the enumeration.
fn compare(scop: &Scop, flow: &Flow, extent: i64) {
    let order = execution(scop, extent);
    assert!(!order.is_empty());
    let mut last: BTreeMap<Cell, Instance> = BTreeMap::new();
    // Accesses of the element since (and including) its last write, waiting for the next write.
    let mut waiting: BTreeMap<Cell, Vec<(Instance, usize)>> = BTreeMap::new();
    let check_next = |from: &Instance, access: usize, next: Option<&Instance>| {
        let deps = if access == WRITE { &flow.output } else { &flow.anti };
        let nobody = (StmtId(u32::MAX), vec![]);
        let (sinks, functions) = related(deps, from, access, next.unwrap_or(&nobody));
        match next {
            Some(next) => assert!(
                sinks.contains(next) && (sinks.len() == 1 || !functions),
                "{from:?}/{access}: {sinks:?}, not {next:?}"
            ),
            None => assert!(sinks.is_empty() || !functions, "{from:?}/{access}: {sinks:?}, not none"),
        }
    };
    for instance in &order {
        let statement = scop.statement(instance.0);
        for (read, access) in statement.reads.iter().enumerate() {
            let touched = cell(access, &instance.1);
            assert_eq!(claimed(flow, instance, read).as_ref(), last.get(&touched), "read {read} of {instance:?}");
            waiting.entry(touched).or_default().push((instance.clone(), read));
        }
        let touched = cell(&statement.write, &instance.1);
        for (from, access) in waiting.remove(&touched).unwrap_or_default() {
            if from != *instance {
                check_next(&from, access, Some(instance));
            }
        }
        waiting.insert(touched.clone(), vec![(instance.clone(), WRITE)]);
        last.insert(touched, instance.clone());
    }
    // A read whose next write is in the same instance is skipped above; an access that still waits has no next write.
    for (from, access) in waiting.into_values().flatten() {
        check_next(&from, access, None);
    }
    for instance in &order {
        let statement = scop.statement(instance.0);
        let dram = scop.array(statement.write.array).storage == Storage::Dram;
        let expected = dram && last[&cell(&statement.write, &instance.1)] == *instance;
        let of = flow.live_out.iter().filter(|l| l.statement == instance.0);
        let found = of.flat_map(|l| &l.domain).filter(|c| holds(c, &instance.1)).count();
        assert_eq!(found, usize::from(expected), "live-out of {instance:?}");
    }
}

fn check(text: &str, extent: i64) -> Flow {
    let scop = parse(text);
    let flow = analyze(&scop).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"));
    compare(&scop, &flow, extent);
    assert_eq!(analyze(&scop).as_ref(), Ok(&flow), "equal programs give equal results");
    flow
}

fn refuse(text: &str) -> Vec<Diagnostic> {
    analyze(&parse(text)).expect_err("must be refused")
}

fn mm(i: i64, j: i64, k: i64) -> String {
    format!(
        "dram A {i} {k}\n dram B {k} {j}\n dram C {i} {j}\n for i = 0 .. {i}\n for j = 0 .. {j}\n C[i][j] =\n for k = \
        0 .. {k}
        C[i][j] = C[i][j] A[i][k] B[k][j]\n end\n end\n end"
    )
}

/// A sum over `depth - 1` loops of two iterations each.
fn sum_over_pairs(depth: usize) -> String {
    let loops: String = (0..depth).map(|d| format!("for i{d} = 0 .. 2\n ")).collect();
    let (extents, subscripts): (String, String) = (1..depth).map(|d| (" 2", format!("[i{d}]"))).unzip();
    format!("dram A 2\n dram B{extents}\n {loops} A[i0] = A[i0] B{subscripts}\n {}", "end\n ".repeat(depth))
}

#[test]
fn deep_nests_of_two_iterations_each() {
    assert_eq!(check(&sum_over_pairs(6), 2).reads[0][0].len(), 6);
    // Every loop but the outermost carries the sum once; its first iteration reads the input.
    let flow = analyze(&parse(&sum_over_pairs(9))).unwrap();
    assert!(flow.reads[0][0].len() >= 9);
    assert_eq!(flow.reads[0][1].len(), 1);
}

#[test]
fn matrix_multiplication() {
    let flow = check(&mm(4, 3, 5), 5);
    // The accumulator: from the initialization at k = 0, from k - 1 after.
    let pieces = &flow.reads[1][0];
    assert_eq!(pieces.len(), 2);
    let from_init = pieces.iter().find(|p| matches!(&p.source, Source::Write { statement: StmtId(0), .. })).unwrap();
    assert!(holds(&from_init.domain, &[2, 2, 0]) && !holds(&from_init.domain, &[2, 2, 1]));
    let from_self = pieces.iter().find_map(|p| match &p.source {
        Source::Write { statement: StmtId(1), iteration } => Some(iteration),
        _ => None,
    });
    assert_eq!(apply(from_self.unwrap(), &[1, 2, 3]), [1, 2, 2]);
    // Inputs: one piece, the whole domain.
    assert_eq!((flow.reads[1][1].len(), &flow.reads[1][1][0].source), (1, &Source::Input));
    assert_eq!(flow.reads[1][1][0].domain.len(), 6);
    assert_eq!(flow.live_out.len(), 1);
    assert_eq!((flow.live_out[0].statement, flow.live_out[0].domain.len()), (StmtId(1), 1));
}

#[test]
fn accumulation_into_existing_output() {
    let flow = check(
        "dram A 4 4\n dram B 4 4\n dram C 4 4\n for i = 0 .. 4\n for j = 0 .. 4\n for k = 0 .. 4
         C[i][j] = C[i][j] A[i][k] B[k][j]\n end\n end\n end",
        4,
    );
    assert_eq!(flow.reads[0][0].iter().filter(|p| p.source == Source::Input).count(), 1);
}

#[test]
fn scalar_accumulator() {
    check(
        "dram A 4 4\n dram B 4 4\n dram C 4 4\n local s\n for i = 0 .. 4\n for j = 0 .. 4\n s =\n for k = 0 .. 4
         s = s A[i][k] B[k][j]\n end\n C[i][j] = s\n end\n end",
        4,
    );
}

#[test]
fn convolution_six_loops() {
    check(
        "dram I 3 4 4\n dram W 2 3 2 2\n dram O 2 3 3\n for o = 0 .. 2\n for r = 0 .. 3\n for c = 0 .. 3\n O[o][r][c] =
         for i = 0 .. 3\n for p = 0 .. 2\n for q = 0 .. 2\n O[o][r][c] = O[o][r][c] I[i][r+p][c+q] W[o][i][p][q]\n \
             end\n end\n end\n end\n end\n end",
        3,
    );
}

/// PolyBench's `lu`.
fn lu(n: i64) -> String {
    format!(
        "dram A {n} {n}\n for i = 0 .. {n}\n for j = 0 .. i\n for k = 0 .. j\n A[i][j] = A[i][j] A[i][k] A[k][j]\n end
         A[i][j] = A[i][j] A[j][j]\n end\n for j = i .. {n}\n for k = 0 .. i\n A[i][j] = A[i][j] A[i][k] A[k][j]\n \
             end\n end\n end"
    )
}

#[test]
fn lu_polybench() {
    check(&lu(6), 6);
}

/// LU with separate L and U and temporaries: nine statements.
fn lu_nine(n: i64) -> String {
    format!(
        "dram A {n} {n}\n dram L {n} {n}\n dram U {n} {n}\n local prev {n} {n}\n local pivot {n}\n local f {n}\n for \
        i = 0 .. {n}\n for j = 0 .. {n}
         prev[i][j] = A[i][j]\n end\n end\n for k = 0 .. {n}\n pivot[k] = prev[k][k]\n for j = k .. {n}\n U[k][j] = \
             prev[k][j]\n end\n L[k][k] =
         for i = k+1 .. {n}\n f[i] = prev[i][k] pivot[k]\n L[i][k] = f[i]\n L[k][i] =\n U[i][k] =
         for j = k+1 .. {n}\n prev[i][j] = prev[i][j] L[i][k] U[k][j]\n end\n end\n end"
    )
}

#[test]
fn lu_with_temporaries() {
    check(&lu_nine(5), 5);
}

#[test]
fn cholesky_right_looking() {
    check(
        "dram A 6 6\n for k = 0 .. 6\n A[k][k] = A[k][k]\n for i = k+1 .. 6\n A[i][k] = A[i][k] A[k][k]\n end
         for i = k+1 .. 6\n for j = k+1 .. i+1\n A[i][j] = A[i][j] A[i][k] A[j][k]\n end\n end\n end",
        6,
    );
}

#[test]
fn triangular_solve() {
    check(
        "dram L 6 6\n dram x 6\n dram b 6\n for i = 0 .. 6\n x[i] = b[i]\n for j = 0 .. i\n x[i] = x[i] L[i][j] \
        x[j]\n end\n x[i] = x[i] L[i][i]\n end",
        6,
    );
}

#[test]
fn backward_substitution_counts_down() {
    check(
        "dram U 6 6\n dram x 6\n dram b 6\n for i = 5 .. -1 step -1\n x[i] = b[i]\n for j = i+1 .. 6\n x[i] = x[i] \
        U[i][j] x[j]\n end\n x[i] = x[i] U[i][i]\n end",
        6,
    );
}

#[test]
fn smith_waterman() {
    check(&smith_waterman_text(6), 7);
}

fn smith_waterman_text(n: i64) -> String {
    let m = n + 1;
    format!(
        "dram a {m}\n dram b {m}\n dram H {m} {m}\n for i = 0 .. {m}\n H[i][0] =\n end\n for j = 1 .. {m}\n \
        H[0][j] =\n end
         for i = 1 .. {m}\n for j = 1 .. {m}\n H[i][j] = H[i-1][j-1] H[i-1][j] H[i][j-1] a[i] b[j]\n end\n end"
    )
}

fn jacobi(steps: i64, n: i64) -> String {
    let inner = n - 1;
    let five = |x: &str| format!("{x}[i][j] {x}[i-1][j] {x}[i+1][j] {x}[i][j-1] {x}[i][j+1]");
    format!(
        "dram A {n} {n}\n dram B {n} {n}\n for t = 0 .. {steps}\n for i = 1 .. {inner}\n for j = 1 .. {inner}\n \
        B[i][j] = {}\n end\n end
         for i = 1 .. {inner}\n for j = 1 .. {inner}\n A[i][j] = {}\n end\n end\n end",
        five("A"),
        five("B")
    )
}

#[test]
fn jacobi_two_dimensional() {
    check(&jacobi(3, 5), 5);
}

#[test]
fn seidel_in_place() {
    check(
        "dram A 6 6\n for t = 0 .. 3\n for i = 1 .. 5\n for j = 1 .. 5\n A[i][j] = A[i-1][j] A[i][j-1] A[i][j] \
        A[i+1][j] A[i][j+1]\n end\n end\n end",
        5,
    );
}

#[test]
fn guards_split_pieces() {
    check(
        "dram A 8\n dram B 8\n local s\n for i = 0 .. 8\n if i-3 == 0\n s = A[i]\n end\n if 2-i\n s = B[i]\n end\n if \
        i-5\n s = A[i] s\n end\n B[i] = s\n end",
        8,
    );
}

#[test]
fn prefix_sum_and_reversal() {
    check(
        "dram A 8\n dram S 8\n dram R 8\n S[0] = A[0]\n for i = 1 .. 8\n S[i] = S[i-1] A[i]\n end\n for i = 7 .. -1 \
        step -1\n R[i] = S[7-i] R[7-i]\n end",
        8,
    );
}

#[test]
fn floyd_warshall() {
    check(
        "dram D 4 4\n for k = 0 .. 4\n for i = 0 .. 4\n for j = 0 .. 4\n D[i][j] = D[i][j] D[i][k] D[k][j]\n end\n \
        end\n end",
        4,
    );
}

#[test]
fn two_chained_products() {
    check(
        "dram A 3 3\n dram B 3 3\n dram C 3 3\n dram D 3 3\n local T 3 3\n for i = 0 .. 3\n for j = 0 .. 3\n T[i][j] \
        =\n for k = 0 .. 3
         T[i][j] = T[i][j] A[i][k] B[k][j]\n end\n end\n end\n for i = 0 .. 3\n for j = 0 .. 3\n D[i][j] =\n for k \
             = 0 .. 3
         D[i][j] = D[i][j] T[i][k] C[k][j]\n end\n end\n end",
        3,
    );
}

#[test]
fn statement_at_top_level_and_strided_loops() {
    check("dram A 16\n dram s\n s =\n for i = 0 .. 16 step 3\n s = s A[i]\n A[i] = s\n end\n A[1] = s A[3]", 6);
}

#[test]
fn domains_of_several_conjunctions() {
    let text = "dram A 9\n dram B 9\n for i = 0 .. 9\n A[i] = B[i]\n B[i] = A[i-1]\n end";
    let mut scop = parse(text);
    // The first statement only runs where i < 3 or i > 5.
    let outside =
        |coefficient, constant| Constraint { expr: Affine { coeffs: vec![coefficient], constant }, equality: false };
    let all = scop.statements[0].domain[0].clone();
    scop.statements[0].domain = [outside(-1, 2), outside(1, -6)].map(|c| [all.as_slice(), &[c]].concat()).to_vec();
    let flow = analyze(&scop).unwrap();
    compare(&scop, &flow, 9);
    assert_eq!(flow.live_out.iter().find(|l| l.statement == StmtId(0)).unwrap().domain.len(), 2);
}

#[test]
fn strided_source_is_refused() {
    let faults =
        refuse("dram A 16\n dram B 16\n for i = 0 .. 8\n A[2*i] = B[i]\n end\n for j = 0 .. 16\n B[j] = A[j]\n end");
    assert!(faults.iter().all(|f| f.code == "E0501"), "{faults:#?}");
    // The read's line and the write's as a note.
    assert_eq!(faults[0].span.unwrap().start, parse_offset("B[j]"), "{faults:#?}");
    assert!(!faults[0].notes.is_empty());
}

/// Byte offset of the line with `what` in the text of the test above.
fn parse_offset(what: &str) -> u32 {
    let text = "dram A 16\n dram B 16\n for i = 0 .. 8\n A[2*i] = B[i]\n end\n for j = 0 .. 16\n B[j] = A[j]\n end";
    let at = text.find(what).unwrap();
    text[..at].rfind('\n').unwrap() as u32 + 1
}

#[test]
fn strided_final_write_is_refused() {
    let faults =
        refuse("dram A 16\n dram B 16\n for j = 0 .. 16\n A[j] = B[j]\n end\n for i = 0 .. 8\n A[2*i] = B[i]\n end");
    assert!(faults.iter().any(|f| f.code == "E0501" && f.message.contains("final value of `A`")), "{faults:#?}");
}

/// Processor time of this thread if the system reports it; otherwise the wall clock, which other processes disturb.
fn busy() -> Duration {
    let wall = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = text.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(wall, Duration::from_nanos)
}

#[test]
fn sizes_do_not_matter() {
    let n = 1_000_000;
    let conv = "dram I 512 514 514\n dram W 512 512 3 3\n dram O 512 512 512\n for o = 0 .. 512\n for r = 0 .. 512\n \
        for c = 0 .. 512\n O[o][r][c] =
         for i = 0 .. 512\n for p = 0 .. 3\n for q = 0 .. 3\n O[o][r][c] = O[o][r][c] I[i][r+p][c+q] W[o][i][p][q]\n \
             end\n end\n end\n end\n end\n end";
    let texts = [
        ("mm", mm(1040, 1024, 1024)),
        ("conv", conv.into()),
        ("lu", lu(n)),
        ("lu9", lu_nine(n)),
        ("sw", smith_waterman_text(n)),
        ("jacobi", jacobi(n, n)),
    ];
    for (name, text) in texts {
        let scop = parse(&text);
        let start = busy();
        let flow = analyze(&scop).unwrap();
        let spent = busy() - start;
        println!("{name}: {spent:?}, {} pieces", flow.reads.iter().flatten().flatten().count());
        // Milliseconds in practice; scanning any of these would take hours.
        assert!(spent < Duration::from_secs(2), "{name} took {spent:?}");
    }
}

/// A reproducible generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

fn random_access(random: &mut Random, depth: usize) -> String {
    let iterators = &["i", "j", "k"][..depth];
    let subscript = |random: &mut Random| {
        let base = if depth == 0 { "0".to_string() } else { random.pick(iterators).to_string() };
        let base = if depth > 1 && random.below(5) == 0 {
            format!("{base}{}{}", random.pick(&["+", "-"]), random.pick(iterators))
        } else {
            base
        };
        format!("[{base}{}]", random.pick(&["", "", "+1", "-1", "+2"]))
    };
    match random.below(5) {
        0 => "s".into(),
        1 | 2 => format!("X{}", subscript(random)),
        _ => format!("Y{}{}", subscript(random), subscript(random)),
    }
}

fn random_program(random: &mut Random) -> String {
    let mut text = "dram s\ndram X 9\ndram Y 9 9\n".to_string();
    let mut open: Vec<&str> = vec![];
    let names = ["i", "j", "k"];
    let mut statements = 0;
    while statements < 4 {
        let depth = open.iter().filter(|o| **o == "for").count();
        match random.below(6) {
            0 | 1 if depth < 3 => {
                let outer = if depth > 0 { names[depth - 1] } else { "0" };
                let (from, to) = match random.below(4) {
                    0 => (outer.to_string(), "5".into()),
                    1 if depth > 0 => ("0".into(), format!("{outer}+1")),
                    _ => (random.pick(&["0", "1"]).to_string(), "5".into()),
                };
                let down = random.below(5) == 0;
                text += &if down {
                    format!("for {} = 4 .. -1 step -1\n", names[depth])
                } else {
                    format!("for {} = {from} .. {to}\n", names[depth])
                };
                open.push("for");
            }
            2 if depth > 0 => {
                text += &format!(
                    "if {}-{}{}\n",
                    random.pick(&names[..depth]),
                    random.below(3),
                    random.pick(&["", " == 0"])
                );
                open.push("if");
            }
            3 if !open.is_empty() => {
                text += "end\n";
                open.pop();
            }
            _ => {
                let mut line = format!("{} =", random_access(random, depth));
                for _ in 0..random.below(4) {
                    line += &format!(" {}", random_access(random, depth));
                }
                text += &format!("{line}\n");
                statements += 1;
            }
        }
    }
    text += &"end\n".repeat(open.len());
    text
}

#[test]
fn random_programs() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..150 {
        let text = random_program(&mut random);
        let scop = parse(&text);
        if execution(&scop, 5).is_empty() {
            continue;
        }
        match analyze(&scop) {
            Ok(flow) => {
                println!("{text}"); // shown if the comparison fails
                compare(&scop, &flow, 5);
                accepted += 1;
            }
            Err(faults) => {
                assert!(faults.iter().all(|f| f.code == "E0501"), "{faults:#?}\n{text}");
                refused += 1;
            }
        }
    }
    println!("accepted {accepted}, refused {refused}");
    assert!(accepted > 100 && refused < 15, "accepted {accepted}, refused {refused}");
}

/// The iteration before the first one of a tile is the last one of the previous tile: two functions without a division.
#[test]
fn a_sum_over_tiles_and_within_them() {
    let text = "void f(int A[18], int C[2]) \
        {\n#pragma scop\n for (int ii = 0; ii < 2; ii += 1)\n for (int kk = 0; kk < 18; kk += 4)\n \
        for (int i = ii; i < ii + 1; i++)\n \
                for (int k = kk; k < (kk + 4 < 18 ? kk + 4 : 18); k++)\n C[i] += A[k];\n#pragma endscop\n}\n";
    let (scop, _) = frontend::parse_text("tiles.c", text, &Default::default()).unwrap();
    let flow = analyze(&scop).unwrap();
    compare(&scop, &flow, 18);
}

/// The last iteration that added to an element is at one of few distances; a division distinguishes them.
#[test]
fn strided_taps() {
    check("dram A 16\n for c = 0 .. 3\n for i = 0 .. 5\n for u = 0 .. 4\n A[2*i+u] = A[2*i+u]\n end\n end\n end", 5);
    check(
        "dram A 20\n for c = 0 .. 2\n for i = 0 .. 4\n for o = 0 .. 2\n for u = 0 .. 5\n A[3*i+u] = A[3*i+u]\n end\n \
        end\n end\n end",
        5,
    );
}

/// Elements that only some iterations share, by divisibility: every read has its source or is listed without one.
#[test]
fn subscripts_that_meet_now_and_then() {
    check("dram A 24\n for i = 0 .. 2\n for j = 1 .. 3\n A[2*i+6*j] = A[7*j]\n end\n end", 3);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut decided, mut refused) = (0, 0);
    for _ in 0..250 {
        let mut form = || format!("{}*i+{}*j+{}", random.below(7), random.below(8), random.below(4));
        let text = format!(
            "dram A 64\n for i = 0 .. 4\n for j = 1 .. 4\n A[{}] = A[{}] A[{}]\n end\n end",
            form(),
            form(),
            form()
        );
        let scop = parse(&text);
        match analyze(&scop) {
            Ok(flow) => {
                println!("{text}"); // shown if the comparison fails
                compare(&scop, &flow, 4);
                decided += 1;
            }
            Err(faults) => {
                assert!(faults.iter().all(|f| f.code == "E0501"), "{faults:#?}\n{text}");
                refused += 1;
            }
        }
    }
    println!("{decided} decided, {refused} refused");
    assert!(decided > 100, "{decided} decided, {refused} refused");
}
