//! scratch
use frontend::scop::*;
fn aff(c: &[i64], k: i64) -> Affine { Affine { coeffs: c.to_vec(), constant: k } }
fn ge(c: &[i64], k: i64) -> Constraint { Constraint { expr: aff(c, k), equality: false } }
fn mm(i: i64, j: i64, k: i64) -> Scop {
    let s = Default::default();
    let i8t = ScalarType::Int { bits: 8, signed: true };
    let arr = |n: &str, ty, d: Vec<i64>| Array { name: n.into(), ty, c_type: "x".into(), dims: d, storage: Storage::Dram, binding: Binding::Global, constant: false, span: s };
    let l = |n: &str, p: Option<u32>, d: usize| Loop { name: n.into(), parent: p.map(LoopId), offset: Affine::constant(d, 0), step: 1, span: s };
    let rd = |k: usize, ty| Expr { kind: ExprKind::Read(k), ty, span: s };
    let cast = |e: Expr| Expr { kind: ExprKind::Cast(Box::new(e)), ty: ScalarType::I32, span: s };
    let bin = |o, a, b| Expr { kind: ExprKind::Binary(o, Box::new(a), Box::new(b)), ty: ScalarType::I32, span: s };
    let acc = |a: u32, subs: Vec<Affine>| Access { array: ArrayId(a), subscripts: subs, span: s };
    let st0 = Statement { loops: vec![LoopId(0), LoopId(1)], domain: vec![vec![ge(&[1, 0], 0), ge(&[-1, 0], i - 1), ge(&[0, 1], 0), ge(&[0, -1], j - 1)]], beta: vec![0, 0, 0], write: acc(2, vec![aff(&[1, 0], 0), aff(&[0, 1], 0)]), rhs: Expr { kind: ExprKind::Const(0), ty: ScalarType::I32, span: s }, reads: vec![], span: s };
    let st1 = Statement { loops: vec![LoopId(0), LoopId(1), LoopId(2)], domain: vec![vec![ge(&[1, 0, 0], 0), ge(&[-1, 0, 0], i - 1), ge(&[0, 1, 0], 0), ge(&[0, -1, 0], j - 1), ge(&[0, 0, 1], 0), ge(&[0, 0, -1], k - 1)]], beta: vec![0, 0, 1, 0],
        write: acc(2, vec![aff(&[1, 0, 0], 0), aff(&[0, 1, 0], 0)]),
        rhs: bin(BinaryOp::Add, rd(0, ScalarType::I32), bin(BinaryOp::Mul, cast(rd(1, i8t)), cast(rd(2, i8t)))),
        reads: vec![acc(2, vec![aff(&[1, 0, 0], 0), aff(&[0, 1, 0], 0)]), acc(0, vec![aff(&[1, 0, 0], 0), aff(&[0, 0, 1], 0)]), acc(1, vec![aff(&[0, 0, 1], 0), aff(&[0, 1, 0], 0)])], span: s };
    Scop { name: "mm".into(), function: Function { name: None, region: s, parameters: 0 }, arrays: vec![arr("A", i8t, vec![i, k]), arr("B", i8t, vec![k, j]), arr("C", ScalarType::I32, vec![i, j])], loops: vec![l("i", None, 0), l("j", Some(0), 1), l("k", Some(1), 2)], statements: vec![st0, st1], sources: Default::default() }
}
fn spec(space: &str, tile: &[(&str, i64)], lat: &[(&str, i64)], simd: &[(&str, i64)], order: &str) -> arch::design::DesignSpec {
    let v = |x: &[(&str, i64)]| x.iter().map(|(a, b)| (a.to_string(), *b)).collect();
    let names = |s: &str| if s.is_empty() { None } else { Some(s.split(',').map(str::to_string).collect()) };
    arch::design::DesignSpec { space: names(space), order: names(order), tile: v(tile), latency: v(lat), simd: v(simd), ..Default::default() }
}
fn check(i: i64, j: i64, k: i64, sp: &arch::design::DesignSpec) {
    let scop = mm(i, j, k);
    let flow = frontend::flow::analyze(&scop).unwrap();
    let system = arch::system::build(&scop, &flow).unwrap();
    let program = arch::assemble::Program::new(&scop, system, sp);
    let t = arch::plan::transforms(&program.system).remove(0);
    let plan = arch::plan::by_hand(&program.system, sp, t).unwrap();
    let vsa = match arch::assemble::assemble(&program, plan, sp) { Ok(v) => v, Err(e) => { println!("{sp:?}: {e:?}"); return } };
    println!("{:?} skew {:?} II {} nodes {} waves {}x{}", vsa.extent, vsa.schedule.skew, vsa.schedule.interval, vsa.nodes.len(), vsa.visits(), vsa.waves_per_visit());
    if std::env::var("DUMP").is_ok() { for (n, x) in vsa.nodes.iter().enumerate() { println!("%{n} {:?} {:?} {} @{} l{}", x.op, x.ty, x.name, vsa.schedule.ready[n], vsa.schedule.latency[n]); } println!("{:#?} {:#?}", vsa.inputs, vsa.outputs); }
    if let Err(e) = vsa.verify() { panic!("{sp:?}\n{}", e.join("\n")); }
    let mut mem: Vec<Vec<u64>> = vec![(0..i * k).map(|x| (x * 7 + 3) as u64 & 255).collect(), (0..k * j).map(|x| (x * 13 + 5) as u64 & 255).collect(), vec![99; (i * j) as usize]];
    let (a, b) = (mem[0].clone(), mem[1].clone());
    arch::interp::run(&vsa, &mut mem).unwrap();
    for x in 0..i { for y in 0..j { let mut s = 0i32; for z in 0..k { s += a[(x * k + z) as usize] as i8 as i32 * b[(z * j + y) as usize] as i8 as i32; } assert_eq!(mem[2][(x * j + y) as usize] as u32, s as u32, "C[{x}][{y}] {sp:?}"); } }
}
#[test]
fn six_arrays() {
    for (i, j, k) in [(4, 4, 4), (5, 7, 3), (1, 6, 2), (3, 1, 5)] {
        for space in ["i", "j", "k", "i,j", "i,k", "j,k", "j,i", "k,i"] {
            check(i, j, k, &spec(space, &[], &[], &[], ""));
            check(i, j, k, &spec(space, &[("i", 2), ("j", 3)], &[], &[], ""));
            check(i, j, k, &spec(space, &[("i", 4), ("j", 4), ("k", 2)], &[("i", 2), ("j", 2)], &[("k", 2)], ""));
            check(i, j, k, &spec(space, &[("i", 4), ("j", 4)], &[("j", 2)], &[("k", 3)], "j,i,k"));
        }
    }
}
