//! Options and design files: what they say together, and what is refused.

use clap::Parser;
use sagen::cli::{Cli, Command, Design, Engine};
use sagen::design_file::Request;
use toml::Table;
use uniform::design::DesignSpec;

#[test]
fn the_definition_is_consistent() {
    use clap::CommandFactory;
    Cli::command().debug_assert();
}

#[test]
fn a_design_by_options() {
    let line =
        "sagen sim k.c -DN=7 -D M --space i,j --tile i=64,j=64 --simd k=2 --data A=a.npy --word A=8 --ports A+B,C";
    let Ok(Cli { command: Command::Sim(sim), .. }) = Cli::try_parse_from(line.split(' ')) else { panic!("{line}") };
    let written = "space = [\"i\", \"j\"]\ntile = { i = 64, j = 64 }\nsimd = { k = 2 }\nword = { A = 8 }\nports = \
        [\"A+B\", \"C\"]\n";
    assert_eq!(sim.design.spec(), DesignSpec::parse(written));
    assert_eq!(sim.program.defines, [("N".into(), "7".into()), ("M".into(), "1".into())]);
    assert_eq!((sim.data[0].array.as_str(), sim.engine), ("A", Engine::Builtin));
}

/// Every option but the file itself is a field of the design, under its own name.
#[test]
fn every_option_reaches_the_design() {
    let values = [
        ("order", "=k,i"),
        ("space", "=i"),
        ("row", "=1"),
        ("spill-beyond", "=9"),
        ("ports", "=A+B"),
        ("dot", "=fused"),
        ("objective", "=area"),
        ("cycles", "=9"),
        ("slack", "=2%"),
        ("queue", "=8"),
        ("overlap", ""),
        ("memory-latency", "=90"),
        ("address-bits", "=32"),
        ("guard", ""),
        ("unaligned", ""),
        ("pack", ""),
        ("on-chip", "=64"),
        ("limit", "=lut=70%"),
        ("bank", "=x=DDR[0]"),
        ("distribute", ""),
        ("merge", ""),
        ("grid", "=4x2x8"),
        ("reassociate", ""),
        ("fp-contract", ""),
    ];
    let options = <Design as clap::Args>::augment_args(clap::Command::new("design"));
    for option in options.get_arguments().filter_map(|a| a.get_long()).filter(|o| *o != "design") {
        let value = values.iter().find(|v| v.0 == option).map_or("=x=4", |v| v.1);
        let Ok(Cli { command: Command::Map(map), .. }) =
            Cli::try_parse_from(["sagen", "map", "k.c", &format!("--{option}{value}")])
        else {
            panic!("{option}")
        };
        let spec = map.design.spec().unwrap_or_else(|e| panic!("{option}: {e}"));
        assert!(spec.to_text().contains(&option.replace('-', "_")), "{option}: {spec:?}");
    }
}

#[test]
fn a_name_stands_once_in_an_option() {
    let Ok(Cli { command: Command::Map(map), .. }) =
        Cli::try_parse_from("sagen map k.c --tile i=2 --tile j=1,i=4".split(' '))
    else {
        panic!()
    };
    assert!(map.design.spec().is_err_and(|e| e.contains("i=2 and i=4")));
}

#[test]
fn malformed_values_are_refused() {
    for wrong in [
        "--tile i",
        "--tile i=0",
        "--simd =3",
        "--word A=3",
        "-D 9=1",
        "--engine vcs",
        "--data A",
        "--latency i=x",
        "--ports A+",
        "--ports A,,B",
        "--dot exact",
        "--space i --row 1",
    ] {
        let line = format!("sagen sim k.c {wrong}");
        let error = Cli::try_parse_from(line.split(' ')).expect_err(wrong);
        assert_eq!(error.exit_code(), 2, "{wrong}");
    }
}

fn table(text: &str) -> Table {
    text.parse().expect("TOML")
}

#[test]
fn options_win_over_the_file_factor_by_factor() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "space = [\"i\"]\ntile = { i = 64, j = 8 }\nports = [\"A+B\"]\n").unwrap();
    let merged =
        Request::new(Some(file.path()), table("tile = { j = 9, k = 1 }\nports = [\"shared\"]")).unwrap().common();
    assert_eq!(merged, DesignSpec::parse("space = [\"i\"]\ntile = { i = 64, j = 9, k = 1 }\nports = [\"shared\"]"));
}

#[test]
fn file_and_options_must_agree() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "space = [\"i\"]\n").unwrap();
    let join = |options: &str| Request::new(Some(file.path()), table(options))?.common();
    assert!(join("row = 1").is_err_and(|e| e.contains("exclude each other")));
    assert!(join("tile = { i = 4 }").is_ok());
    std::fs::write(file.path(), "row = 1\nspcae = [\"i\"]\n").unwrap();
    assert!(join("").is_err_and(|e| e.contains("not a design file") && e.contains("line 2")));
}

/// The names that options had before, on the command line and in a file.
#[test]
fn old_names_are_accepted() {
    for (old, new) in [("--array=1", "--row=1"), ("--slant=j=2", "--skew=j=2"), ("--apart", "--distribute")] {
        let spec = |option: &str| {
            let Ok(Cli { command: Command::Map(map), .. }) = Cli::try_parse_from(["sagen", "map", "k.c", option])
            else {
                panic!("{option}")
            };
            map.design.spec()
        };
        assert_eq!(spec(old), spec(new));
    }
    let (old, new) = ("slant = { j = 2 }\napart = true\n", "skew = { j = 2 }\ndistribute = true\n");
    assert_eq!(DesignSpec::parse(old), DesignSpec::parse(new));
    assert!(DesignSpec::parse(old).is_ok_and(|spec| spec.to_text().contains("skew")));
    let file = tempfile::NamedTempFile::new().unwrap();
    for text in [format!("{old}strip = {{ i = 4 }}\n"), format!("{old}[function.f]\nslant = {{ i = 3 }}\n")] {
        std::fs::write(file.path(), text).unwrap();
        let spec = Request::new(Some(file.path()), table("skew = { j = 9 }")).unwrap().common().unwrap();
        assert_eq!(spec.array.shape().unwrap().skew["j"], 9, "an option wins over the old name in a file");
    }
}

#[test]
fn a_function_has_options_of_its_own() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let request = |text: &str, options: &str| {
        std::fs::write(file.path(), text).unwrap();
        Request::new(Some(file.path()), table(options))
    };
    let text = "spill_beyond = 9\n[tile]\ni = 8\n[function.gemm]\nspace = [\"i\"]\ntile = { i = 4 }\n\
        [function.ger.tile]\nj = 2\n";
    let both = request(text, "simd = { k = 2 }").unwrap();
    assert_eq!(both.functions().collect::<Vec<_>>(), ["gemm", "ger"]);
    let written = |text: &str| DesignSpec::parse(text);
    assert_eq!(both.of("gemm"), written("spill_beyond = 9\nspace = [\"i\"]\ntile = { i = 4 }\nsimd = { k = 2 }"));
    assert_eq!(both.of("ger"), written("spill_beyond = 9\ntile = { i = 8, j = 2 }\nsimd = { k = 2 }"));
    assert_eq!(both.of("other"), both.common());
    assert!(request(text, "row = 1")
        .unwrap()
        .of("gemm")
        .is_err_and(|e| e.contains("[function.gemm]") && e.contains("exclude")));
    for (wrong, what) in [
        ("[function.f]\nspcae = [\"i\"]", "[function.f]: unknown field"),
        ("function = 3", "is no table"),
        ("[function]\nf = 3", "[function.f]"),
    ] {
        assert!(request(wrong, "").is_err_and(|e| e.contains("not a design file") && e.contains(what)), "{wrong}");
    }
}
