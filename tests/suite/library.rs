//! The functions of the library, as a program calls them that is not the command: values and errors, and nothing
//! printed.

use clap::Parser;
use sagen::cli::{Cli, Command, Design, Emit, Predict, Program};
use sagen::error::exit;
use sagen::explore::Explored;
use sagen::reporter::{Progress, Reporter, Silent};
use sagen::simulate::Agreement;
use sagen::Error;
use scop::diag::{Diagnostics, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use uniform::design::DesignSpec;

const SCALED: &str = "void f(const int x[8], int y[8]) {\n y[0] = 1;\n#pragma scop\n\
    for (int i = 0; i < 8; i++)\n  y[i] = 2 * x[i];\n#pragma endscop\n}\n";

/// Remembers everything that it is told.
#[derive(Default)]
struct Heard {
    warnings: Mutex<Vec<&'static str>>,
    stages: Mutex<Vec<Progress>>,
}

impl Reporter for Heard {
    fn warnings(&self, warnings: &Diagnostics, sources: &SourceMap) {
        assert!(!sources.files.is_empty());
        self.warnings.lock().expect("no panic").extend(warnings.iter().map(|w| w.code));
    }
    fn progress(&self, progress: Progress) {
        self.stages.lock().expect("no panic").push(progress);
    }
}

fn written(dir: &Path, text: &str) -> PathBuf {
    let path = dir.join("f.c");
    std::fs::write(&path, text).expect("a file");
    path
}

fn arguments(subcommand: &str, file: &Path, options: &str) -> Command {
    let words = ["sagen", subcommand].into_iter().chain(options.split_whitespace()).map(String::from);
    Cli::parse_from(words.chain([file.to_string_lossy().into_owned()])).command
}

#[test]
fn results_are_values() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = written(dir.path(), SCALED);
    let compiled = sagen::compile(&Program::new([&file]), &Design::default(), &Silent).expect("an array");
    assert_eq!(compiled[0].vsa.name, "f");
    let one_pe = DesignSpec::parse("space = [\"none\"]").expect("a design");
    let serial = sagen::compile(&Program::new([&file]), &Design::from(one_pe), &Silent).expect("an array");
    assert_eq!(serial[0].vsa.extent, [1, 1]);

    let heard = Heard::default();
    let Command::Sim(sim) = arguments("sim", &file, "") else { unreachable!() };
    let verdict = sagen::simulate(&sim, &heard).expect("a verdict");
    assert_eq!((verdict.result, verdict.runs.len()), (Agreement::Equal, 1));
    assert_eq!(verdict.runs[0].outcome.cycles as i64, compiled[0].report.prediction.cycles);
    assert_eq!(*heard.warnings.lock().unwrap(), ["W0201"]);
    assert!(heard.stages.lock().unwrap().contains(&Progress::Stage("mapping")));

    let Command::Map(map) = arguments("map", &file, "") else { unreachable!() };
    assert!(!sagen::map(&map, &Silent).expect("rows").rows.is_empty());

    let Command::Explore(explore) = arguments("explore", &file, "--designs 50") else { unreachable!() };
    let Ok(Explored::Best(best)) = sagen::explore(&explore, &Silent) else { panic!("a best array") };
    assert!(best.design().cycles >= best.found.bound);

    let out = dir.path().join("out");
    let Command::Rtl(mut rtl) = arguments("rtl", &file, "") else { unreachable!() };
    rtl.output = Some(out.clone());
    let packaged = sagen::package(&rtl, &Silent).expect("an IP");
    assert!(packaged.directory.join("rtl/f.v").is_file() && packaged.report["kernel"] == "f");
    assert!(sagen::emit(&rtl, Emit::Vsa, &Silent).expect("text").contains("f"));
    let predict = Predict { design: out, sizes: vec![], memory: Default::default(), json: false };
    assert_eq!(sagen::predict(&predict).expect("cycles").cycles, compiled[0].report.prediction.cycles);
}

#[test]
fn errors_are_values() {
    let dir = tempfile::tempdir().expect("a folder");
    let compile = |program: &Program| sagen::compile(program, &Design::default(), &Silent).map(drop);
    let file = written(dir.path(), &SCALED.replace("2 * x[i]", "x[x[i]]"));
    match compile(&Program::new([&file])) {
        Err(error @ Error::Diagnostics { .. }) => {
            assert_eq!(error.code(), exit::REFUSED);
            let text = error.render(false);
            assert!(text.contains("[E0408]") && text.ends_with("sagen explain E0408 W0201\n"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    let file = written(dir.path(), SCALED);
    let unknown = Program { board: "u9".into(), ..Program::new([&file]) };
    assert!(matches!(compile(&unknown), Err(Error::Usage(why)) if why.contains("u250")));
    let missing =
        Predict { design: dir.path().join("none.vsa"), sizes: vec![], memory: Default::default(), json: false };
    assert!(matches!(sagen::predict(&missing), Err(Error::Reason(why)) if why.contains("cannot read")));
    let layer = Error::usage("why").within("layer 1 of net.toml".into());
    assert_eq!((layer.render(false).as_str(), layer.code()), ("layer 1 of net.toml:\nError: why\n", exit::REFUSED));
    assert_eq!(Error::internal("a check").code(), exit::INTERNAL);
}
