//! The designs under test, each emitted once, and how tools are called.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Name of the case, C file, options.
const CASES: [(&str, &str, &str); 26] = [
    ("mm", "examples/mm.c", "-D N=8 --space i,j --tile i=4,j=4 --simd k=2"),
    ("shared", "examples/mm.c", "-D N=6 --ports shared"),
    ("grouped", "examples/mm.c", "-D N=7 --ports A+B,C --board u280"),
    ("zynq", "examples/mm.c", "-D N=12 --word A=8,B=8,C=4 --board zcu104"),
    ("zynq7000", "examples/mm.c", "-D N=10 --word A=4,B=4,C=2 --board pynq-z2"),
    ("one", "tests/packaging/one.c", ""),
    ("six", "tests/packaging/six.c", ""),
    ("scalars", "tests/packaging/scalars.c", "-D N=20"),
    ("hosted", "tests/packaging/hosted.c", ""),
    ("in_dram", "tests/packaging/hosted.c", "--on-chip 0"),
    ("names", "tests/packaging/names.c", ""),
    ("region", "tests/packaging/region.c", ""),
    ("functions", "tests/functions/la.c", ""),
    ("sizes", "tests/packaging/sizes.c", ""),
    ("scaled", "tests/packaging/scaled.c", ""),
    ("plus", "tests/packaging/plus.cpp", ""),
    ("zynq_guarded", "examples/mm.c", "-D N=8 --board zcu104 --guard"),
    ("guarded_scalars", "tests/packaging/hosted.c", "--on-chip 0 --guard"),
    ("guarded_sizes", "tests/packaging/sizes.c", "--guard"),
    ("cut_rows", "examples/mm.c", "-D N=8 --space i,j --tile i=8,j=8 --latency i=1,j=1 --cuts i=3,5"),
    ("cut_columns", "examples/smith_waterman.c", "-D M=8 -D N=6 --space i --latency i=1 --cuts i=4"),
    ("cut_functions", "tests/functions/cut.c", "--space i --latency i=1 --cuts i=2"),
    ("cut_merged", "tests/functions/cut.c", "--merge --space i --latency i=1 --cuts i=2,3"),
    ("cut_both_ways", "tests/run/cuts_both_ways.c", "-D PLANE --space i,j --cuts j=1,3"),
    ("cut_far", "tests/run/cuts_away.c", "--space i --latency i=1 --cuts i=3 --bank A=DDR[1],B=DDR[2],C=DDR[3]"),
    (
        "cut_below",
        "tests/run/cuts_away.c",
        "--space i --latency i=1 --cuts i=3 --ports A+C,B --board vu9p --bank A=DDR[3],B=DDR[0]",
    ),
];

/// An emitted IP.
pub struct Emitted {
    /// Name of the case.
    pub name: &'static str,
    pub kernel: String,
    pub dir: PathBuf,
    /// The C file.
    pub source: PathBuf,
    /// Arguments of `sagen sim`.
    pub options: Vec<String>,
}

impl Emitted {
    /// `sw/reference<stem>.c`, or `.cpp`, and the compiler for it.
    pub fn reference(&self, stem: &str) -> (&'static str, PathBuf) {
        let cpp = self.source.extension().is_some_and(|e| e == "cpp");
        let (compiler, extension) = if cpp { ("g++", "cpp") } else { ("gcc", "c") };
        (compiler, self.path(&format!("sw/reference{stem}.{extension}")))
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.dir.join(file)
    }
    pub fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap_or_else(|e| panic!("{}: {file}: {e}", self.name))
    }
    pub fn report(&self) -> serde_json::Value {
        serde_json::from_str(&self.text("report.json")).unwrap()
    }
    /// A copy for what writes beside the files.
    pub fn copy(&self) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        run(tool("cp").arg("-r").arg(self.dir.join(".")).arg(dir.path()));
        dir
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All cases.
pub fn all() -> &'static [Emitted] {
    static ALL: OnceLock<(TempDir, Vec<Emitted>)> = OnceLock::new();
    &ALL.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let all = CASES.iter().map(|(name, file, options)| emit(dir.path(), name, file, options)).collect();
        (dir, all)
    })
    .1
}

/// Those with one function, of constant sizes.
pub fn single() -> impl Iterator<Item = &'static Emitted> {
    let others = ["functions", "sizes", "scaled", "plus", "guarded_sizes", "cut_functions", "cut_merged"];
    all().iter().filter(move |ip| !others.contains(&ip.name))
}

/// The case of that name.
pub fn emitted(name: &str) -> &'static Emitted {
    all().iter().find(|e| e.name == name).unwrap()
}

fn emit(dir: &Path, name: &'static str, file: &str, options: &str) -> Emitted {
    let (dir, source) = (dir.join(name), root().join(file));
    let options: Vec<String> = options.split_whitespace().map(String::from).collect();
    run(Command::new(env!("CARGO_BIN_EXE_sagen")).arg("rtl").arg(&source).args(&options).arg("-o").arg(&dir));
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("report.json")).unwrap()).unwrap();
    let kernel = report["kernel"].as_str().unwrap().to_string();
    Emitted { name, kernel, dir, source, options }
}

/// A program of the project's environment or the system's.
pub fn tool(name: &str) -> Command {
    let own = root().join(".venv/bin").join(name);
    let mut command = Command::new(if own.exists() { own.as_os_str() } else { name.as_ref() });
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", root().join(".venv/bin").display()));
    command
}

/// Runs it; standard output and error. It must succeed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}: run scripts/setup.sh"));
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{text}");
    text
}
