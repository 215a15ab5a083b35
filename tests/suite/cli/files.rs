//! What happens to files when runs are killed, meet each other, or find the disk full.

use super::*;

const ADD: &str = "void f(int A[8]) {\n#pragma scop\nfor (int i = 0; i < 8; i++) A[i] += K;\n#pragma endscop\n}\n";

/// What is printed and cannot be written is a fault; a closed pipe is none.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_success() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", ADD);
    let out = dir.path().join("o").to_string_lossy().into_owned();
    let commands: [&[&str]; 9] = [
        &["rtl", &file, "-DK=1", "--emit=rtl"],
        &["rtl", &file, "-DK=1", "-o", &out, "--json"],
        &["sim", &file, "-DK=1", "--json"],
        &["map", &file, "-DK=1"],
        &["boards"],
        &["predict", &out],
        &["explain", "E0408"],
        &["--help"],
        &["completions", "bash"],
    ];
    for arguments in commands {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_sagen")).args(arguments).stdout(full).output().unwrap();
        assert_eq!(code(&output), 1, "{arguments:?}");
        assert!(text(&output.stderr).contains("cannot write to standard output"), "{}", text(&output.stderr));
        // Nobody reads, and standard error is full, too.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let status =
            Command::new(env!("CARGO_BIN_EXE_sagen")).args(arguments).stdout(writer).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(0), "{arguments:?}");
    }
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_sagen")).args(["rtl", "none.c"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

/// A library of this C text, to be preloaded.
#[cfg(target_os = "linux")]
fn preloaded(dir: &Path, name: &str, text: &str) -> PathBuf {
    let file = kernel(dir, &format!("{name}.c"), text);
    let library = dir.join(format!("{name}.so"));
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).args([&file, "-ldl"]).status();
    assert!(built.unwrap().success());
    library
}

/// A preloaded `rename` and `fsync` tell their calls: whatever is renamed into the directory is on the disk before, and the folder
/// in which a name changes is so at the end.
#[cfg(target_os = "linux")]
#[test]
fn files_are_synced_before_they_count() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", ADD);
    let library = preloaded(
        dir.path(),
        "tells",
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <ftw.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
        #include <sys/stat.h>\n\
        static void tell(char what, unsigned long inode, const char *name) {\n\
        FILE *f = fopen(getenv(\"CALLS\"), \"a\");\n  fprintf(f, \"%c %lu %s\\n\", what, inode, name);\n  fclose(f);\n}\n\
        static int each(const char *name, const struct stat *s, int kind, struct FTW *at) {\n\
        (void)kind, (void)at;\n  tell('R', s->st_ino, name);\n  return 0;\n}\n\
        int fsync(int fd) {\n  static int (*real)(int);\n  if (!real) real = dlsym(RTLD_NEXT, \"fsync\");\n\
        struct stat s;\n  if (!fstat(fd, &s)) tell('S', s.st_ino, \"\");\n  return real(fd);\n}\n\
        int rename(const char *a, const char *b) {\n  static int (*real)(const char *, const char *);\n\
        if (!real) real = dlsym(RTLD_NEXT, \"rename\");\n  nftw(a, each, 16, FTW_PHYS);\n  return real(a, b);\n}\n",
    );
    let (out, calls) = (dir.path().join("o"), dir.path().join("calls"));
    // A new directory, renamed as a whole; then an exchange, file by file.
    for k in ["-DK=1", "-DK=2"] {
        let _ = fs::remove_file(&calls);
        let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
        command.args(["rtl", &file, k, "-o", &out.to_string_lossy()]);
        let output = command.env("LD_PRELOAD", &library).env("CALLS", &calls).output().unwrap();
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        let told = fs::read_to_string(&calls).unwrap();
        let told: Vec<Vec<&str>> = told.lines().map(|l| l.splitn(3, ' ').collect()).collect();
        // A lock says nothing when its process has ended.
        let lock = |name: &str| name.ends_with("/.sagen-unlocked");
        let below =
            |name: &str| (name.contains("/.sagen-") || name.starts_with(&*out.to_string_lossy())) && !lock(name);
        let moved = told.iter().enumerate().filter(|(_, call)| call[0] == "R" && below(call[2]));
        // What lay there before is synced by an earlier run.
        let fresh = moved.filter(|(_, call)| k == "-DK=1" || call[2].contains("/new/"));
        let mut count = 0;
        for (n, call) in fresh {
            count += 1;
            let before = told[..n].iter().any(|c| c[0] == "S" && c[1] == call[1]);
            assert!(before, "{k}: {} was not synced before it was renamed", call[2]);
        }
        let last = told.iter().rposition(|call| call[0] == "R").unwrap();
        assert!(count > 20 && told[last..].iter().any(|c| c[0] == "S"), "{k}: {count} of {}", told.len());
    }
}

/// A preloaded `rename` ends the process at its n-th call. Whatever n is, the directory is one design or is mended.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_dies_while_files_are_exchanged_is_finished_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", ADD);
    let library = preloaded(
        dir.path(),
        "dies",
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <signal.h>\n#include <stdlib.h>\n\
        int rename(const char *a, const char *b) {\n  static int (*real)(const char *, const char *);\n  static int calls;\n\
        if (!real) real = dlsym(RTLD_NEXT, \"rename\");\n  if (++calls == atoi(getenv(\"DIES_AT\"))) raise(SIGKILL);\n\
        return real(a, b);\n}\n",
    );
    let out = dir.path().join("o");
    let run = |k: &str, at: Option<usize>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
        command.args(["rtl", &file, k, "-o", &out.to_string_lossy()]).env_remove("LD_PRELOAD");
        if let Some(at) = at {
            command.env("LD_PRELOAD", &library).env("DIES_AT", at.to_string());
        }
        command.output().unwrap()
    };
    assert_eq!(code(&run("-DK=1", None)), 0);
    let one = tree(&out);
    assert_eq!(code(&run("-DK=2", None)), 0);
    let two = tree(&out);
    assert!(one != two);
    let (mut at, mut torn) = (1, 0);
    loop {
        // From the second design to the first one, from wherever the last round ended.
        assert_eq!(code(&run("-DK=2", None)), 0);
        fs::write(out.join("notes.txt"), "mine").unwrap();
        if code(&run("-DK=1", Some(at))) == 0 {
            break;
        }
        let visible = visible_of(&out);
        let with_notes = |design: &[(PathBuf, Vec<u8>)]| {
            let mut all = design.to_vec();
            all.push((out.join("notes.txt"), b"mine".to_vec()));
            all.sort();
            all
        };
        if visible != with_notes(&one) && visible != with_notes(&two) {
            torn += 1;
            let output = sagen(&["predict", &out.to_string_lossy()]);
            assert!(text(&output.stderr).contains("a run died"), "{}", text(&output.stderr));
        }
        let next = run("-DK=1", None);
        assert_eq!(code(&next), 0, "death at rename {at}: {}", text(&next.stderr));
        assert!(visible_of(&out) == with_notes(&one), "death at rename {at}");
        assert!(!out.join(sagen::outdir::JOURNAL).exists(), "death at rename {at}");
        at += 5;
    }
    assert!(torn >= 5, "{torn} of {at}");
}

/// The files of a directory, without those of dead runs.
fn visible_of(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    tree(dir).into_iter().filter(|(path, _)| !path.to_string_lossy().contains("/.sagen-")).collect()
}

/// Many runs into one directory leave one design, whole.
#[test]
fn runs_at_the_same_time_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", ADD);
    for round in 0..2 {
        let out = dir.path().join("o");
        let runs: Vec<_> = (0..6)
            .map(|k| {
                let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
                command.args(["rtl", &file, &format!("-DK={k}"), "-o", &out.to_string_lossy()]);
                command.stdout(std::process::Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut run in runs {
            assert!(run.wait().unwrap().success(), "round {round}");
        }
        let check =
            Command::new("sha256sum").args(["-c", "--quiet", "sagen.sha256"]).current_dir(&out).output().unwrap();
        assert!(check.status.success(), "{}", text(&check.stdout));
        let listed = fs::read_to_string(out.join("sagen.sha256")).unwrap().lines().count();
        assert_eq!(tree(&out).len(), listed + 1, "nothing else");
    }
}

/// In a folder for temporary files that others share, what they put there is left alone.
#[cfg(unix)]
#[test]
fn files_of_others_do_not_stop_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", ADD);
    let shared = dir.path().join("tmp");
    let (pipe, open, link) =
        (shared.join("sagen-golden-a"), shared.join("sagen-golden-b"), shared.join("sagen-golden-c"));
    for folder in [&pipe, &open, &link] {
        fs::create_dir_all(folder).unwrap();
    }
    assert!(Command::new("mkfifo").arg(pipe.join(sagen::scratch::LOCK)).status().unwrap().success());
    fs::write(open.join(sagen::scratch::LOCK), "").unwrap();
    assert!(Command::new("chmod").arg("777").arg(&open).status().unwrap().success());
    fs::write(dir.path().join("target"), "").unwrap();
    std::os::unix::fs::symlink(dir.path().join("target"), link.join(sagen::scratch::LOCK)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
    let output = command.args(["sim", &file, "-DK=1"]).env("TMPDIR", &shared).output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!([pipe, open, link].iter().all(|folder| folder.exists()));
}
