//! Contents of the kernel's arrays: from a seed, from `.npy` files, and back to files.
//!
//! A [`Memory`] holds one image for each array of the `Scop`. An image holds one `u64` for each element, in row-major
//! order: the bits of the element's type, zero-extended. Local arrays have an empty image.

use crate::npy::{dtype_name, Header, Npy};
use crate::{range, Error};
use array::vsa::{DramArray, Vsa};
use scop::diag::{Diagnostic, Diagnostics, Span};
use scop::{Array, BinaryOp, Binding, Expr, ExprKind, ScalarType, Scop, StmtId, Storage};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The elements of each array of the `Scop`.
pub type Memory = Vec<Vec<u64>>;

/// `--data NAME=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    pub array: String,
    pub path: PathBuf,
}

/// Where the contents of the arrays come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// The caller.
    Given,
    /// The program's own `main`, if it has one and reaches the region.
    Main,
}

impl Inputs {
    /// A seed or files take the place of `main`.
    pub fn of(seed: Option<u64>, files: &[DataFile]) -> Inputs {
        match seed.is_none() && files.is_empty() {
            true => Inputs::Main,
            false => Inputs::Given,
        }
    }
}

/// The files of each function. With several functions an array is called FUNCTION.ARRAY.
///
/// # Errors
/// There is no such function.
pub fn shared_out(names: &[&str], files: &[DataFile]) -> crate::Result<Vec<Vec<DataFile>>> {
    let mut all = vec![vec![]; names.len()];
    if let [only] = &mut all[..] {
        *only = files.to_vec();
        return Ok(all);
    }
    for file in files {
        let place = file
            .array
            .split_once('.')
            .and_then(|(function, array)| Some((names.iter().position(|n| *n == function)?, array)));
        let Some((k, array)) = place else {
            return Err(Error::usage(format!(
                "--data names '{}': with several functions write FUNCTION.ARRAY=FILE; functions: {}",
                file.array,
                names.join(", ")
            )));
        };
        all[k].push(DataFile { array: array.to_string(), path: file.path.clone() });
    }
    Ok(all)
}

/// Number of elements of an array; 1 for a scalar.
pub fn elements(array: &Array) -> usize {
    array.dims.iter().product::<i64>() as usize
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every machine.
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Uniform in `0..limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((self.draw() as u128 * limit as u128) >> 64) as u64
    }
}

/// A random value: all bits of an integer (so that wrap-around is exercised); a float of either sign with a magnitude
/// between 1/16 and 4 and a random fraction.
pub fn random_value(ty: ScalarType, random: &mut Random) -> u64 {
    match ty {
        ScalarType::Int { bits, .. } => random.draw() >> (64 - bits.clamp(1, 64)),
        ScalarType::Float { exponent, fraction } => {
            let bias = (1u64 << (exponent - 1)) - 1;
            let sign = random.below(2) << (exponent + fraction);
            let scale = (bias + 1 - random.below(6)) << fraction;
            sign | scale | random.below(1 << fraction)
        }
    }
}

/// The shifts of the region whose amount is not a constant below the width: the expression and its amount.
fn shifts(scop: &Scop) -> impl Iterator<Item = (StmtId, &Expr, &Expr)> {
    fn all<'e>(e: &'e Expr, found: &mut Vec<(&'e Expr, &'e Expr)>) {
        if let ExprKind::Binary(BinaryOp::Shl | BinaryOp::Shr, _, amount) = &e.kind {
            if !matches!(amount.kind, ExprKind::Const(n) if n < u64::from(e.ty.bits())) {
                found.push((e, amount));
            }
        }
        e.operands().into_iter().for_each(|o| all(o, found));
    }
    scop.statements.iter().enumerate().flat_map(|(s, statement)| {
        let mut found = vec![];
        all(&statement.rhs, &mut found);
        found.into_iter().map(move |(e, amount)| (StmtId(s as u32), e, amount))
    })
}

/// The first shift whose amount may be negative, or the width or more. C leaves such a shift undefined.
pub fn first_shift(scop: &Scop) -> Option<Span> {
    shifts(scop).map(|(_, e, _)| e.span).next()
}

/// For each array, the width of the values that its elements shift, directly or through other arrays and scalars; none
/// if its elements are no amounts of shifts.
fn shifted_by(scop: &Scop) -> Vec<Option<u32>> {
    fn read(e: &Expr) -> Option<usize> {
        match &e.kind {
            ExprKind::Read(k) => Some(*k),
            ExprKind::Cast(inner) => read(inner),
            _ => None,
        }
    }
    let mut widths: Vec<Option<u32>> = vec![None; scop.arrays.len()];
    let mut narrow = |array: usize, bits: u32| {
        let now = widths[array].map_or(bits, |w| w.min(bits));
        (widths[array].replace(now) != Some(now)).then_some(now)
    };
    let mut open: Vec<(usize, u32)> = vec![];
    for (s, e, amount) in shifts(scop) {
        if let Some(k) = read(amount) {
            open.push((scop.statements[s.index()].reads[k].array.index(), e.ty.bits()));
        }
    }
    while let Some((array, bits)) = open.pop() {
        let Some(bits) = narrow(array, bits) else { continue };
        for statement in scop.statements.iter().filter(|s| s.write.array.index() == array) {
            open.extend(read(&statement.rhs).map(|k| (statement.reads[k].array.index(), bits)));
        }
    }
    widths
}

/// Elements of all arrays together that are kept in memory.
const MOST_ELEMENTS: i128 = 1 << 28;

/// Elements that the arrays of a program have together.
pub fn elements_of(scop: &Scop) -> i128 {
    let arrays = scop.arrays.iter().filter(|a| a.storage != Storage::Local);
    arrays.map(|a| a.dims.iter().map(|&d| i128::from(d)).product::<i128>()).sum()
}

/// Checks that the contents of all arrays fit into memory.
///
/// # Errors
/// They do not; a sentence.
pub fn fit(scop: &Scop) -> crate::Result<()> {
    let all = elements_of(scop);
    if all <= MOST_ELEMENTS {
        return Ok(());
    }
    Err(Error::reason(format!(
        "the arrays of `{}` have {all} elements: a simulation keeps at most {MOST_ELEMENTS}; use smaller sizes",
        scop.name
    )))
}

/// Fills every DRAM array from `seed`. Outputs are filled, too: a test then sees that unwritten elements survive. The
/// amount of a shift stays below the width of the shifted value, as C requires. An input with a range keeps to it.
pub fn random(scop: &Scop, seed: u64) -> Memory {
    let widths = shifted_by(scop);
    let fill = |(index, array): (usize, &Array)| {
        if array.storage == Storage::Local {
            return vec![];
        }
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (index as u64) << 48);
        let range = range::of(scop, array);
        let value = |_| match (range, widths[index].filter(|_| !array.ty.is_float())) {
            (Some(range), _) => range.choose(array.ty, random.draw()),
            (None, Some(bits)) => random.below(u64::from(bits).min(1 << (array.ty.bits() - 1).min(6))),
            (None, None) => random_value(array.ty, &mut random),
        };
        let stored = |value| frontend::in_cell(&array.c_type, value).unwrap_or(value);
        (0..elements(array)).map(value).map(stored).collect()
    };
    scop.arrays.iter().enumerate().map(fill).collect()
}

/// Element bytes, little endian, as C keeps them in memory.
pub fn pack(values: &[u64], ty: ScalarType) -> Vec<u8> {
    let size = ty.bytes() as usize;
    let mut out = Vec::with_capacity(values.len() * size);
    values.iter().for_each(|v| out.extend(&v.to_le_bytes()[..size]));
    out
}

/// Inverse of [`pack`]; a trailing incomplete element is dropped.
pub fn unpack(bytes: &[u8], ty: ScalarType) -> Vec<u64> {
    let value = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |v, &b| v << 8 | b as u64);
    bytes.chunks_exact(ty.bytes() as usize).map(value).collect()
}

/// NumPy's kind letter for a type.
fn kind(ty: ScalarType) -> char {
    match ty {
        ScalarType::Float { .. } => 'f',
        ScalarType::Int { bits: 1, .. } => 'b',
        ScalarType::Int { signed: true, .. } => 'i',
        ScalarType::Int { signed: false, .. } => 'u',
    }
}

/// Replaces the images of the arrays that `files` names by the files' contents.
///
/// # Errors
/// A diagnostic for each file that names no array, cannot be read, or has another element type or shape.
pub fn load(scop: &Scop, files: &[DataFile], memory: &mut Memory) -> Result<(), Diagnostics> {
    let mut faults = vec![];
    for file in files {
        match load_one(scop, file) {
            Ok((index, values)) => memory[index] = values,
            Err(fault) => faults.push(*fault),
        }
    }
    faults.extend(range::check(scop, memory, "--data").err().into_iter().flatten());
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

fn load_one(scop: &Scop, file: &DataFile) -> Result<(usize, Vec<u64>), Box<Diagnostic>> {
    let place = file.path.display();
    let in_dram = |a: &&Array| !a.is_temporary();
    let Some(index) = scop.arrays.iter().position(|a| a.name == file.array && in_dram(&a)) else {
        let names: Vec<_> = scop.arrays.iter().filter(in_dram).map(|a| a.name.as_str()).collect();
        return Err(Diagnostic::error(
            "E0901",
            None,
            format!("--data names '{}', which is no array of the kernel", file.array),
        )
        .help(format!("its arrays are: {}", names.join(", ")))
        .into());
    };
    let array = &scop.arrays[index];
    let beyond = |position| position >= scop.function.parameters && scop.function.name.is_some();
    let around = matches!(array.binding, Binding::Around | Binding::Allocated);
    if around || matches!(array.binding, Binding::Value(position) if beyond(position)) {
        let message =
            format!("'{}' is a variable of the function around the region, which gives its contents", array.name);
        return Err(Diagnostic::error("E0902", array.span, message)
            .label("declared here")
            .help("make it a parameter or a global, or fill it before the region")
            .into());
    }
    if array.kept {
        let message = format!("'{}' is kept on chip: its contents come from the runs before", array.name);
        return Err(Diagnostic::error("E0902", array.span, message)
            .label("declared here")
            .help("leave it out of --keep, or the --data option")
            .into());
    }
    if array.constant && array.binding == Binding::Global {
        return Err(Diagnostic::error(
            "E0902",
            array.span,
            format!("'{}' is const: its contents come from the program", array.name),
        )
        .label("declared const here")
        .help("remove the const, or the --data option")
        .into());
    }
    let opened = std::fs::File::open(&file.path)
        .map_err(|e| Diagnostic::error("E0903", None, format!("cannot read {place}: {e}")))?;
    let mut opened = std::io::BufReader::new(opened);
    let fault = |why: String| Diagnostic::error("E0904", None, format!("{place} {why}"));
    let header = Header::read(&mut opened).map_err(fault)?;
    check(array, &header, &place.to_string())?;
    let npy = header.elements(opened).map_err(fault)?;
    Ok((index, unpack(&npy.bytes, array.ty)))
}

/// The file's element type and shape must be the array's.
fn check(array: &Array, header: &Header, place: &str) -> Result<(), Box<Diagnostic>> {
    let wanted = dtype_name(kind(array.ty), array.ty.bytes() as usize);
    if header.dtype() != wanted {
        return Err(Diagnostic::error(
            "E0905",
            array.span,
            format!("{place} holds {}, but '{}' is {wanted}", header.dtype(), array.name),
        )
        .label("declared here")
        .help(format!("convert it: numpy.save(file, array.astype(numpy.{wanted}))"))
        .into());
    }
    let dims: Vec<usize> = array.dims.iter().map(|&d| d as usize).collect();
    if header.shape != dims {
        let show = |d: &[usize]| d.iter().map(usize::to_string).collect::<Vec<_>>().join("×");
        let message =
            format!("{place} is an array of {}, but '{}' is {}", show(&header.shape), array.name, show(&dims));
        return Err(Diagnostic::error("E0906", array.span, message).label("declared here").into());
    }
    Ok(())
}

/// An image as a file's contents.
pub fn to_npy(array: &Array, values: &[u64]) -> Npy {
    Npy {
        kind: kind(array.ty),
        size: array.ty.bytes() as usize,
        shape: array.dims.iter().map(|&d| d as usize).collect(),
        bytes: pack(values, array.ty),
    }
}

/// Writes one `NAME.npy` for each array in `which` into `dir`. Creates `dir` if it is missing.
///
/// # Errors
/// A sentence naming the file that could not be written.
pub fn save(scop: &Scop, which: &[usize], memory: &Memory, dir: &Path) -> Result<(), String> {
    let failed = |path: &Path, e: std::io::Error| format!("cannot write {}: {e}", path.display());
    std::fs::create_dir_all(dir).map_err(|e| failed(dir, e))?;
    for &index in which {
        let path = dir.join(format!("{}.npy", scop.arrays[index].name));
        crate::files::replace(&path, &to_npy(&scop.arrays[index], &memory[index]).to_bytes())
            .map_err(|e| failed(&path, e))?;
    }
    Ok(())
}

/// The index in the `Scop` of each array of the VSA, then of each of its scalars. A scratch buffer and a value that the
/// host computes have none.
///
/// # Errors
/// The VSA has an array that the program does not have, which is a fault of sagen's own.
pub fn numbers(scop: &Scop, vsa: &Vsa) -> Result<Vec<Option<usize>>, String> {
    let number = |name: &str| {
        let found = scop.arrays.iter().position(|s| s.name == name && !s.is_temporary());
        found.map(Some).ok_or_else(|| format!("internal fault: the argument {name} is not in the program"))
    };
    let array = |a: &DramArray| if a.home.is_temporary() { Ok(None) } else { number(&a.name) };
    vsa.arrays
        .iter()
        .map(array)
        .chain(vsa.scalars.iter().map(|s| if s.host.is_some() { Ok(None) } else { number(&s.name) }))
        .collect()
}

/// The contents of the program's arrays, as elements of each argument of the VSA. Scratch buffers hold random values.
pub fn of_vsa(vsa: &Vsa, numbers: &[Option<usize>], memory: &Memory) -> Memory {
    each_of_vsa(vsa, numbers, memory, |values, _| values.into_owned())
}

/// [`of_vsa`], as bytes in memory.
pub fn packed(vsa: &Vsa, numbers: &[Option<usize>], memory: &Memory) -> Vec<Vec<u8>> {
    let types: Vec<ScalarType> = vsa.types().collect();
    each_of_vsa(vsa, numbers, memory, |values, k| pack(&values, types[k]))
}

/// What `f` makes of the elements of each argument, one after the other.
fn each_of_vsa<R>(
    vsa: &Vsa,
    numbers: &[Option<usize>],
    memory: &Memory,
    f: impl Fn(Cow<Vec<u64>>, usize) -> R,
) -> Vec<R> {
    let mut scalars: Vec<u64> = vec![];
    let mut one = |(k, number): (usize, &Option<usize>)| {
        let values = match (number, vsa.arrays.get(k)) {
            (Some(number), _) => Cow::Borrowed(&memory[*number]),
            (None, Some(array)) => {
                let mut random = Random(0x6761_7262_6167 ^ (k as u64) << 48);
                Cow::Owned((0..array.dims.iter().product()).map(|_: i64| random_value(array.ty, &mut random)).collect())
            }
            (None, None) => {
                let host = vsa.scalars[k - vsa.arrays.len()].host.iter();
                Cow::Owned(host.map(|e| scop::interp::eval(e, &scalars, &[])).collect())
            }
        };
        if k >= vsa.arrays.len() {
            scalars.push(values.first().copied().unwrap_or(0));
        }
        f(values, k)
    };
    numbers.iter().enumerate().map(&mut one).collect()
}
