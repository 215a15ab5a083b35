//! The user's program is run only when asked, for a limited time, and within limits.

use super::*;
use std::time::{Duration, Instant};

/// A copy of eight elements; `before` stands in front of the function, `inside` before its region.
fn copy(before: &str, inside: &str) -> String {
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n{before}\nvoid copy(const int B[8], int A[8], int n) {{\n{inside}\n\
        #pragma scop\n  for (int i = 0; i < 8; i++)\n    A[i] = B[i];\n#pragma endscop\n}}\n"
    )
}

/// Leaves a file behind as soon as it is run, if it may.
const MARKS: &str =
    "__attribute__((constructor)) static void anything(void) {\n  const char *name = getenv(\"RAN\");\n  \
    FILE *f = name ? fopen(name, \"w\") : 0;\n  if (f) fclose(f);\n}";

#[test]
fn rtl_runs_nothing_unless_asked() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "copy.c", &copy(MARKS, ""));
    let (ran, out) = (dir.path().join("ran"), dir.path().join("out"));
    let run = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
        let out = out.to_string_lossy().into_owned();
        let output = command.args(["rtl", &file, "-o", &out]).args(options).env("RAN", &ran).output().unwrap();
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        (ran.exists(), fs::read(dir.path().join("out/sim/memory_0.expected.hex")).unwrap())
    };
    let (ran_at_all, expected) = run(&[]);
    assert!(!ran_at_all);
    let confined = run(&["--expected"]);
    assert_eq!((confined.0, &confined.1), (sagen::confine::lacking().is_some(), &expected), "the same results");
    let free = run(&["--expected", "--trust"]);
    assert_eq!((free.0, &free.1), (true, &expected), "the test can see that a program runs");

    let array = sagen::npy::Npy { kind: 'i', size: 4, shape: vec![8], bytes: (0..32).collect() };
    fs::write(dir.path().join("b.npy"), array.to_bytes()).unwrap();
    let data = format!("B={}", dir.path().join("b.npy").display());
    fs::remove_file(&ran).unwrap();
    assert!(!run(&["--data", &data]).0);
    assert_eq!(fs::read(out.join("sim/A.expected.bin")).unwrap(), (0..32).collect::<Vec<u8>>());
    let output = sagen(&["rtl", &file, "-o", &out.to_string_lossy(), "--data", "C=b.npy"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("no array"), "{}", text(&output.stderr));
}

#[test]
fn how_a_program_ends_is_named_and_the_interpreter_judges() {
    let dir = tempfile::tempdir().unwrap();
    for (inside, why) in [
        ("if (n != 12345) exit(0);", "the C program ended by itself (exit code 0) before the region was reached"),
        ("if (n != 12345) exit(3);", "the C program ended by itself (exit code 3) before the region was reached"),
        ("if (n != 12345) abort();", "signal 6 (SIGABRT"),
        ("fputs(\"no luck\\n\", stderr); if (n != 12345) _Exit(7);", "exit code 7"),
        ("fputs(\"no luck\\n\", stderr); if (n != 12345) _Exit(7);", "it says: no luck"),
        ("raise(11);", "signal 11 (SIGSEGV"),
        ("for (;;) ;", "the C program did not end within 1 s (--c-time-limit"),
        ("remove(\".sagen_in\"); system(\"mkfifo .sagen_out\"); _Exit(0);", "ended by itself (exit code 0)"),
    ] {
        let file = kernel(
            dir.path(),
            "copy.c",
            &copy(
                "#include <signal.h>\n#ifdef __GNUC__\nint system(const char *);\n#endif",
                &format!("#ifdef __GNUC__\n{inside}\n#endif"),
            ),
        );
        let output = sagen(&["sim", &file, "--c-time-limit", "1s"]);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(code(&output) == 0 && out.contains("golden model interpreter"), "{inside}: {out}{err}");
        assert!(err.contains(why) && err.contains("sagen's interpreter is the golden model"), "{inside}: {err}");
    }
    // Behind the region.
    let behind = copy("", "").replace("#pragma endscop", "#pragma endscop\n exit(4);");
    let output = sagen(&["sim", &kernel(dir.path(), "behind.c", &behind)]);
    assert!(text(&output.stderr).contains("(exit code 4) in the region or behind it"), "{}", text(&output.stderr));
}

/// What a confined program cannot do, and a trusted one can. The program says by the values of `A` what it did.
#[cfg(target_os = "linux")]
#[test]
fn a_program_is_confined() {
    if sagen::confine::lacking().is_some() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let there = dir.path().join("there");
    fs::write(&there, "mine").unwrap();
    let before = format!(
        "#ifdef __GNUC__\n#include <sys/socket.h>\n#include <sys/stat.h>\n#include <signal.h>\n#include <unistd.h>\n#include \
        <sys/wait.h>\n#include <sys/prctl.h>\n#include <pthread.h>\n\
        static void *thread(void *p) {{ return p; }}\n\
        static int file(const char *name, const char *how) {{ FILE *f = fopen(name, how); return f && !fclose(f); }}\n\
        static int child(void) {{ int p = fork(); if (!p) _exit(0); return p > 0 && waitpid(p, 0, 0) == p; }}\n\
        #endif\n#define THERE \"{}\"\n",
        there.display()
    );
    let tries = [
        ("socket(AF_INET, SOCK_STREAM, 0) >= 0", true),
        ("socket(AF_UNIX, SOCK_STREAM, 0) >= 0", true),
        ("child()", true),
        ("system(\"true\") == 0", true),
        ("file(THERE, \"a\")", true),
        ("file(THERE \".new\", \"w\")", true),
        ("rename(THERE, THERE \".moved\") == 0 && rename(THERE \".moved\", THERE) == 0", true),
        ("chmod(THERE, 0600) == 0", true),
        ("truncate(THERE, 4) == 0", true),
        ("symlink(THERE, THERE \".link\") == 0", true),
        ("kill(getppid(), 0) == 0", true),
        ("setsid() >= 0 || setpgid(0, getppid()) == 0 || prctl(PR_SET_PDEATHSIG, 0) == 0", true),
        ("file(\"own\", \"w\") && file(\"own\", \"r\") && remove(\"own\") == 0", false),
        ("mkdir(\"folder\", 0700) == 0 && rmdir(\"folder\") == 0", false),
        ("file(THERE, \"r\")", false),
        ("file(\"/dev/null\", \"w\")", false),
        ("({ pthread_t t; void *p; pthread_create(&t, 0, thread, 0) == 0 && pthread_join(t, &p) == 0; })", false),
        ("kill(getpid(), 0) == 0", false),
    ];
    for (what, guarded) in tries {
        let inside = format!("#ifdef __GNUC__\nif (!({what})) exit(9);\n#endif");
        let file = kernel(dir.path(), "copy.c", &copy(&before, &inside));
        let could = |options: &[&str]| {
            let _ = fs::remove_file(dir.path().join("there.link"));
            let output = sagen(&[&["sim", &file], options].concat());
            assert_eq!(code(&output), 0, "{what}: {}", text(&output.stderr));
            !text(&output.stderr).contains("exit code 9")
        };
        assert!(could(&["--trust"]), "{what}: the test can see it");
        assert_eq!(could(&[]), !guarded, "{what}");
    }
    assert_eq!(fs::read(&there).unwrap(), b"mine");
}

/// A killed sagen takes the program along.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_run_leaves_no_program_running() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "copy.c", &copy("", "#ifdef __GNUC__\nfor (;;) ;\n#endif"));
    for trust in [&[][..], &["--trust"]] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_sagen"))
            .args(["sim", &file])
            .args(trust)
            .env("TMPDIR", dir.path())
            .spawn()
            .unwrap();
        let children = || -> Vec<u32> {
            let own = fs::read_dir("/proc").unwrap().flatten().filter_map(|e| {
                let id = e.file_name().to_str()?.parse::<u32>().ok()?;
                fs::read_link(e.path().join("exe")).ok()?.starts_with(dir.path()).then_some(id)
            });
            own.collect()
        };
        let begin = Instant::now();
        while children().is_empty() {
            assert!(run.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(10));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        let begin = Instant::now();
        while !children().is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(10), "the program still runs");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_compiler_may_have_options_and_must_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "copy.c", &copy("", "#ifdef OWN\nexit(5);\n#endif"));
    let run = |cc: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_sagen")).args(["sim", &file]).env("CC", cc).output().unwrap();
        (code(&output), text(&output.stdout) + &text(&output.stderr))
    };
    assert!(run("cc -DOWN=1").1.contains("exit code 5"));
    let (code, said) = run(" cc  -O1 ");
    assert!(code == 0 && said.contains("golden model cc -O1"), "{said}");
    for wrong in ["no-such-compiler -O1", "cc '-DX=1 2'"] {
        let (code, said) = run(wrong);
        assert!(code == 1 && said.contains("the environment variable CC is") && said.contains(wrong), "{said}");
    }
}
