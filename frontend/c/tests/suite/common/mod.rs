//! Shared by the tests: a generator of random numbers, and a program compiled and run by the system's C compiler.

use scop::interp::Memory;
use scop::value;
use scop::{ArrayId, Binding, ScalarType, Scop, Storage};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// xorshift64*
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub fn below(&mut self, n: usize) -> usize {
        ((self.bits() >> 33) % n as u64) as usize
    }
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
    /// A value of type `ty`: small numbers, corner cases and arbitrary bits; never a signalling NaN.
    pub fn scalar(&mut self, ty: ScalarType) -> u64 {
        if ty.is_float() {
            return match self.below(8) {
                0 => value::canonical(self.bits() & value::mask(ty.bits()), ty),
                1 => 0,
                _ => value::from_f64((self.below(4001) as f64 - 2000.0) / 16.0, ty),
            };
        }
        let number = match self.below(6) {
            0 => self.bits() as i64 as i128,
            1 => *self.pick(&[
                0i128,
                1,
                -1,
                i8::MIN as i128,
                i16::MIN as i128,
                i32::MIN as i128,
                i64::MIN as i128,
                i64::MAX as i128,
            ]),
            _ => self.below(41) as i128 - 20,
        };
        if ty == ScalarType::BOOL {
            (number & 1) as u64
        } else {
            value::from_integer(number, ty)
        }
    }
    pub fn memory(&mut self, scop: &Scop) -> Memory {
        let mut memory = Memory::zeroed(scop);
        for (array, data) in scop.arrays.iter().zip(&mut memory.arrays) {
            if array.storage == Storage::Dram {
                data.iter_mut().for_each(|x| *x = self.scalar(array.ty));
            }
        }
        memory
    }
}

/// The C files of a directory, given from this crate's own.
pub fn c_files(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut all: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "c" || e == "cpp"))
        .collect();
    all.sort();
    all
}

pub fn examples() -> Vec<PathBuf> {
    let all = c_files("tests/ok");
    assert!(all.len() >= 8);
    all
}

fn dram(scop: &Scop) -> impl Iterator<Item = (usize, &scop::Array)> {
    scop.arrays.iter().enumerate().filter(|(_, a)| a.storage == Storage::Dram)
}

/// A C program around the region's function: arrays from standard input, call, arrays to standard output.
fn harness(scop: &Scop) -> String {
    let text = &scop.sources.files[0].text;
    let region = scop.function.region;
    let (before, rest) = text.split_at(region.start as usize);
    let (inside, after) = rest.split_at((region.end - region.start) as usize);
    let mut out = "#include <stdio.h>\n".to_string();
    match &scop.function.name {
        Some(_) => out += text,
        None => out += &format!("{before}\nvoid sagen_region(void) {{\n{inside}\n}}\n{after}"),
    }
    out += "\nint main(void) {\n";
    let mut arguments = vec![String::new(); scop.function.parameters as usize];
    let mut names = vec![];
    for (k, a) in dram(scop) {
        let dims: String = a.dims.iter().map(|d| format!("[{d}]")).collect();
        let name = match a.binding {
            Binding::Parameter(p) => {
                out += &format!("  static {} a{k}{dims};\n", a.c_type);
                arguments[p as usize] = format!("(void *)a{k}");
                format!("a{k}")
            }
            _ => a.name.clone(),
        };
        out += &format!("  if (fread((void *)&{name}, sizeof {name}, 1, stdin) != 1) return 9;\n");
        names.push(name);
    }
    out += &format!("  {}({});\n", scop.function.name.as_deref().unwrap_or("sagen_region"), arguments.join(", "));
    for name in names {
        out += &format!("  fwrite(&{name}, sizeof {name}, 1, stdout);\n");
    }
    out + "  return 0;\n}\n"
}

pub struct Native {
    directory: tempfile::TempDir,
}

impl Native {
    /// Compiles the source of the scop; local includes are searched in `path`.
    pub fn compile(scop: &Scop, path: &Path) -> Native {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("harness.c");
        std::fs::write(&source, harness(scop)).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-w", "-O1", "-fwrapv", "-ffp-contract=off", "-fexcess-precision=16", "-std=gnu17", "-I"]).arg(path);
        cc.arg("-o").arg(directory.path().join("harness")).arg(&source).arg("-lm");
        let output = cc.output().expect("a C compiler");
        assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stderr), harness(scop));
        Native { directory }
    }

    /// The memory after the run; `None` if the program trapped (division by zero).
    pub fn run(&self, scop: &Scop, memory: &Memory) -> Option<Memory> {
        let mut child = Command::new(self.directory.path().join("harness"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = vec![];
        for (k, a) in dram(scop) {
            memory.arrays[k].iter().for_each(|x| input.extend(&x.to_le_bytes()[..a.ty.bytes() as usize]));
        }
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&input).unwrap();
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        if !output.status.success() {
            assert_eq!(output.status.code(), None, "the harness failed");
            return None;
        }
        let mut out = memory.clone();
        let mut at = 0;
        for (k, a) in dram(scop) {
            let bytes = a.ty.bytes() as usize;
            for x in &mut out.arrays[k] {
                let mut raw = [0; 8];
                raw[..bytes].copy_from_slice(&output.stdout[at..at + bytes]);
                *x = u64::from_le_bytes(raw);
                at += bytes;
            }
        }
        assert_eq!(at, output.stdout.len());
        Some(out)
    }
}

/// Whether all DRAM arrays are equal; any NaN equals any other.
pub fn assert_same(scop: &Scop, native: &Memory, interpreted: &Memory, context: &str) {
    for (k, a) in dram(scop) {
        for (n, (x, y)) in native.arrays[k].iter().zip(&interpreted.arrays[k]).enumerate() {
            let (x, y) = (value::canonical(*x, a.ty), value::canonical(*y, a.ty));
            assert_eq!(
                x,
                y,
                "element {n} of `{}` ({}): C {x:#x}, interpreter {y:#x}\n{context}",
                scop.array(ArrayId(k as u32)).name,
                a.ty
            );
        }
    }
}
