//! Texts of the user that are commands to somebody: each is refused, or stays a text in every file. Tcl, YAML, Python and
//! C read the files and say so.

use super::{root, run, tool};
use cost::board::Board;
use packaging::quote;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Each would do something in one of the languages, or end a text there.
const HOSTILE: [&str; 24] = [
    "a; exec touch pwned",
    "[exec touch pwned]",
    "$(touch pwned)",
    "`touch pwned`",
    "a\nexec touch pwned",
    "a\r\nexec touch pwned",
    "a} ; exec touch pwned ; set b {",
    "{",
    "}",
    "\\",
    "a\\\nb",
    "\"; exec touch pwned; \"",
    "\"\"\"\nopen('pwned', 'w')\n\"\"\"",
    "a */ int pwned; /* b",
    "a: {b: c}",
    "a: b # c",
    "- a",
    "yes",
    "1e3",
    "&a *a !!python/object/apply:os.system [touch pwned]",
    "$env(HOME)",
    "@KERNEL@ @PART@",
    "Ωμέγα \u{1f600} \u{202e}",
    "\u{0}\u{7}\u{1b}[2J\u{7f}",
];

/// More texts: the hostile ones joined in pairs, and random ones of the characters that matter.
fn texts() -> Vec<String> {
    let mut all: Vec<String> = HOSTILE.iter().map(|t| t.to_string()).collect();
    let mut random = sagen::data::Random(1);
    const LETTERS: [char; 26] = [
        'a',
        ' ',
        '\n',
        '\t',
        '\\',
        '"',
        '\'',
        '$',
        '[',
        ']',
        '{',
        '}',
        ';',
        '#',
        ':',
        ',',
        '*',
        '/',
        '%',
        '@',
        '`',
        '&',
        '-',
        '0',
        'é',
        '\u{1f600}',
    ];
    for length in 0..200 {
        all.push((0..length % 12).map(|_| LETTERS[random.below(26) as usize]).collect());
    }
    all
}

#[test]
fn a_word_of_tcl_is_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = String::from("fconfigure stdout -encoding utf-8 -translation lf\n");
    let texts = texts();
    for text in &texts {
        let hex = "binary encode hex [encoding convertto utf-8 $x]";
        script += &format!("set x {}\nputs [{hex}]\n", quote::tcl(text));
        script += &format!("# {}\n", quote::comment(text));
    }
    fs::write(dir.path().join("t.tcl"), &script).unwrap();
    let said = run(tool("tclsh").args(["-encoding", "utf-8"]).arg(dir.path().join("t.tcl")).current_dir(dir.path()));
    // Tcl 8.6 has characters of 16 bits.
    let wanted: Vec<String> = texts.iter().map(|t| t.bytes().map(|b| format!("{b:02x}")).collect()).collect();
    let wide = |t: &String| t.chars().any(|c| c as u32 > 0xffff);
    for ((text, wanted), said) in texts.iter().zip(&wanted).zip(said.lines()) {
        assert!(said == wanted || wide(text), "{text:?}: {said}");
    }
    assert!(said.lines().count() == texts.len() && !dir.path().join("pwned").exists());
}

#[test]
fn literals_of_python_yaml_and_c_are_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let texts = texts();
    let (mut script, mut yaml, mut c) = (String::from("TEXTS = [\n"), String::new(), String::new());
    for (k, text) in texts.iter().enumerate() {
        script += &format!("    {},  # {}\n", quote::python(text), quote::comment(text));
        yaml += &format!("k{k}: {}  # {}\n", quote::yaml(text), quote::comment(text));
        c += &format!("/* {} */ int a{k}; // {}\n", quote::comment(text), quote::comment(text));
    }
    script += "]\nimport sys, yaml\nwanted = open('wanted', encoding='utf-8', newline='').read().split('\\x01')\n\
        assert TEXTS == wanted, 'python'\n\
        read = yaml.safe_load(open('t.yaml', encoding='utf-8'))\n\
        bad = [(read[f'k{k}'], w) for k, w in enumerate(wanted) if read[f'k{k}'] != w]\n\
        assert not bad, bad\n";
    fs::write(dir.path().join("wanted"), texts.join("\u{1}")).unwrap();
    fs::write(dir.path().join("t.yaml"), yaml).unwrap();
    fs::write(dir.path().join("t.py"), script).unwrap();
    run(tool("python").arg("t.py").current_dir(dir.path()));
    let names: String = (0..texts.len()).map(|k| format!("a{k} = {k};")).collect();
    fs::write(dir.path().join("t.c"), format!("{c}void f(void) {{ {names} }}\n")).unwrap();
    run(Command::new("cc").args(["-Wall", "-Werror", "-fsyntax-only", "t.c"]).current_dir(dir.path()));
    assert!(!dir.path().join("pwned").exists());
}

/// Board files: a text that some tool would read as more than a name is refused; a title may be any line.
#[test]
fn texts_of_boards_are_checked() {
    let board = fs::read_to_string(root().join("boards/zcu104.toml")).unwrap();
    let quoted = |text: &str| toml::Value::String(text.into()).to_string();
    for field in ["name", "part", "family", "title", "kind"] {
        let line = board.lines().find(|l| l.starts_with(&format!("{field} = "))).unwrap();
        for text in HOSTILE.iter().filter(|t| !matches!(**t, "yes" | "1e3")) {
            let edited = board.replacen(line, &format!("{field} = {}", quoted(text)), 1);
            let read = Board::parse(&edited);
            let good = field == "title" && !text.contains(|c: char| c.is_control() || c == '\u{202e}');
            assert_eq!(read.is_ok(), good, "{field} = {text:?}: {read:?}");
        }
    }
}

fn sagen(arguments: &[&str], dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sagen")).args(arguments).current_dir(dir).output().unwrap()
}

/// The files of a package are read by the languages' own tools, and run where Vivado is not.
fn check(dir: &Path, out: &Path) {
    let scripts = fs::read_dir(out.join("vivado")).unwrap().map(|e| e.unwrap().path());
    let more = fs::read_dir(out.join("constraints")).unwrap().map(|e| e.unwrap().path());
    fs::create_dir_all(out.join("build/ip_packaged")).unwrap();
    fs::write(out.join("build/ip_packaged/component.xml"), "").unwrap();
    super::implemented(out);
    for script in scripts.chain(more) {
        run(tool("tclsh").arg(root().join("tests/packaging/vivado.tcl")).arg(&script).current_dir(dir));
    }
    let reads = "import ast, glob, sys, yaml\n\
        for f in glob.glob(sys.argv[1] + '/*.core'): assert yaml.safe_load(open(f))['name'].startswith('sagen:array:'), f\n\
        for f in glob.glob(sys.argv[1] + '/s*/*.py'): ast.parse(open(f).read())\n";
    run(tool("python").args(["-c", reads]).arg(out).current_dir(dir));
    for file in fs::read_dir(out.join("sw")).unwrap().map(|e| e.unwrap().path()) {
        if file.extension().is_some_and(|e| e == "c") {
            run(Command::new("cc").args(["-w", "-fsyntax-only"]).arg(&file).current_dir(dir));
        }
    }
    let verilog = fs::read_dir(out.join("rtl")).unwrap().map(|e| e.unwrap().path());
    run(tool("iverilog").args(["-g2005", "-o", "/dev/null"]).args(verilog).current_dir(dir));
    let said = fs::read_dir(out.join("rtl")).unwrap().map(|e| fs::read_to_string(e.unwrap().path()).unwrap());
    for text in said {
        assert!(!text.contains("// synthesis ") && !text.contains("// verilator "), "a comment that is a command");
    }
    assert!(!dir.join("pwned").exists() && !out.join("pwned").exists());
}

const TWO: &str = "void f(int A[8]) {\n#pragma scop\nfor (int i = 0; i < 8; i++) A[i] += K;\n#pragma endscop\n}\n\
    void g(int A[8]) {\n#pragma scop\nfor (int i = 0; i < 8; i++) A[i] *= 3;\n#pragma endscop\n}\n";

#[test]
fn names_of_files_and_titles_stay_texts() {
    let dir = tempfile::tempdir().unwrap();
    let board = fs::read_to_string(root().join("boards/zcu104.toml")).unwrap();
    let line = board.lines().find(|l| l.starts_with("title")).unwrap();
    for (k, text) in ["synthesis off", "3d"].iter().chain(&HOSTILE).enumerate() {
        let name: String = text.chars().filter(|c| *c != '/' && *c != '\0').collect::<String>() + ".c";
        let home = dir.path().join(k.to_string());
        fs::create_dir(&home).unwrap();
        // The region of the first is in an included file; those of the second are in the file itself.
        fs::write(home.join("two.h"), TWO).unwrap();
        fs::write(home.join(&name), TWO).unwrap();
        let title: String = text.chars().filter(|c| !c.is_control() && *c != '\u{202e}').collect();
        let mine = board.replacen(line, &format!("title = {}", toml::Value::String(title)), 1);
        fs::write(home.join("b.toml"), mine).unwrap();
        let all = sagen(&["rtl", &format!("./{name}"), "-DK=2", "--board", "./b.toml", "-o", "out"], &home);
        assert!(all.status.success(), "{text:?}: {}", String::from_utf8_lossy(&all.stderr));
        check(&home, &home.join("out"));
        let run = sagen(&["sim", &format!("./{name}"), "-DK=2"], &home);
        assert!(run.status.success(), "{text:?}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

/// A definition reaches the C compiler, and the text of the reference program.
#[test]
fn definitions_are_one_line_of_c() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("two.c"), TWO).unwrap();
    for (value, good) in [
        ("1\nint pwned;", false),
        ("1 \\", false),
        ("1 /* open", false),
        ("1 /* closed */", true),
        ("1 // end", true),
        ("(2 + 3)", true),
        ("1; int pwned", true),
        ("\"", false),
    ] {
        let out = dir.path().join("out");
        let all = sagen(&["rtl", "two.c", &format!("-DK={value}"), "-o", "out"], dir.path());
        assert_eq!(all.status.success(), good, "{value:?}: {}", String::from_utf8_lossy(&all.stderr));
        if good {
            check(dir.path(), &out);
        }
    }
}

/// Names in the text of a stage, which are in quotes where they are no words.
#[test]
fn names_of_stages_stay_texts() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("two.c"), TWO).unwrap();
    for stage in ["scop", "ure", "mapping", "vsa"] {
        let text = sagen(&["rtl", "two.c", "-DK=2", "--function", "f", &format!("--emit={stage}")], dir.path()).stdout;
        let text = String::from_utf8(text).unwrap();
        for name in HOSTILE {
            let quoted = format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
            let first = if stage == "vsa" { "vsa f" } else { "scop f:" };
            assert!(text.contains(first), "{text}");
            let named = text.replacen(first, &first.replacen('f', &quoted, 1), 1);
            let arrays = text.replace("A[", &format!("{quoted}["));
            for (k, edited) in [named, arrays].iter().enumerate() {
                let file = format!("x.{stage}");
                fs::write(dir.path().join(&file), edited).unwrap();
                let _ = fs::remove_dir_all(dir.path().join("out"));
                let all = sagen(&["rtl", &file, "-o", "out"], dir.path());
                let code = all.status.code();
                assert!(
                    code == Some(0) || code == Some(1),
                    "{stage} {k} {name:?}: {}",
                    String::from_utf8_lossy(&all.stderr)
                );
                if code == Some(0) {
                    check(dir.path(), &dir.path().join("out"));
                }
            }
        }
    }
}
