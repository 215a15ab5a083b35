//! Compiles C files through every legal array and checks each in the VSA interpreter: `cargo run -p arch --example try FILE...`
use arch::design::DesignSpec;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let board = arch::board::Board::parse(include_str!("../../boards/u250.toml")).unwrap();
    for file in &args {
        let (scop, _) = match frontend::parse(std::path::Path::new(file), &Default::default()) {
            Ok(x) => x,
            Err((map, d)) => { println!("{file}: REFUSED\n{}", frontend::diag::render_plain(&map, &d)); continue }
        };
        let t = std::time::Instant::now();
        let flow = match frontend::flow::analyze(&scop) { Ok(f) => f, Err(d) => { println!("{file}: flow {}", frontend::diag::render_plain(&scop.sources, &d)); continue } };
        match arch::system::build(&scop, &flow) {
            Ok(s) => if std::env::var("DEPS").is_ok() { println!("{:?} {:#?}", s.dims, s.dependences()) },
            Err(d) => { println!("{file}: system {}", frontend::diag::render_plain(&scop.sources, &d)); continue }
        }
        match arch::enumerate(&scop, &board) {
            Ok(rows) => {
                println!("{file}: {} arrays in {:?}", rows.len(), t.elapsed());
                for r in &rows {
                    let ok = check(&scop, &r.vsa);
                    println!("   {:?} {:?} d={:?} s={:?} skew {:?} II {} {:?} nodes {} waves {} {}", r.axes, r.vsa.extent, r.projection, r.schedule_vector, r.vsa.schedule.skew, r.vsa.schedule.interval, r.class, r.vsa.nodes.len(), r.vsa.waves_per_visit(), ok);
                }
            }
            Err(d) => println!("{file}: enumerate {}", frontend::diag::render_plain(&scop.sources, &d)),
        }
        let t = std::time::Instant::now();
        match arch::compile(&scop, &DesignSpec::default(), &board) {
            Ok(c) => println!("   auto: {:?} {:?} lanes {} II {} skew {:?} visits {} waves {} cycles {} util {:.3} {:?} in {:?} {}", c.vsa.axes, c.vsa.extent, c.vsa.lanes, c.vsa.schedule.interval, c.vsa.schedule.skew, c.vsa.visits(), c.vsa.waves_per_visit(), c.report.prediction.cycles, c.report.utilization(&c.vsa), c.report.resources, t.elapsed(), check(&scop, &c.vsa)),
            Err(d) => println!("{file}: compile {}", frontend::diag::render_plain(&scop.sources, &d)),
        }
    }
}
fn check(scop: &frontend::scop::Scop, vsa: &arch::vsa::Vsa) -> String {
    if let Err(e) = vsa.verify() { return format!("VERIFY {}", e.join("; ")) }
    if vsa.visits() * vsa.waves_per_visit() * vsa.extent[0] * vsa.extent[1] * vsa.nodes.len() as i64 > 200_000_000 { return "(too big)".into() }
    let mut gold = frontend::interp::Memory::zeroed(scop);
    let mut seed = 12345u64;
    for (a, array) in scop.arrays.iter().enumerate() {
        for x in gold.arrays[a].iter_mut() { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; *x = if array.ty.is_float() { frontend::value::from_f64(((seed % 1000) as f64 - 500.0) / 64.0, array.ty) } else { seed & frontend::value::mask(array.ty.bits()) }; }
    }
    let index: Vec<usize> = vsa.arrays.iter().map(|a| scop.arrays.iter().position(|b| b.name == a.name).unwrap()).collect();
    let mut mem: Vec<Vec<u64>> = index.iter().map(|&i| gold.arrays[i].clone()).collect();
    if let Err(e) = frontend::interp::run(scop, &mut gold) { return format!("GOLD {e}") }
    if let Err(e) = arch::interp::run(vsa, &mut mem) { return format!("INTERP {e}") }
    for (m, &i) in mem.iter().zip(&index) {
        if let Some(p) = m.iter().zip(&gold.arrays[i]).position(|(a, b)| a != b) { return format!("MISMATCH {}[{p}] {:x} expected {:x}", scop.arrays[i].name, m[p], gold.arrays[i][p]) }
    }
    "ok".into()
}
