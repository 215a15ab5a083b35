//! NumPy's `.npy` format, versions 1 to 3: the header, and the elements' bytes in C order and little endian.
//!
//! Source: NumPy Enhancement Proposal 1. Structured and object types are refused.

use std::io::{self, Read};

/// Bytes of a header beyond which a file is not read; NumPy's own limit is far below.
const LONGEST_HEADER: usize = 1 << 16;

/// An array as stored: element kind, bytes per element, shape (outermost first), elements in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Npy {
    /// `i` signed, `u` unsigned, `f` float, `b` Boolean.
    pub kind: char,
    /// Bytes per element.
    pub size: usize,
    pub shape: Vec<usize>,
    /// Little endian, row major; `size` bytes per element.
    pub bytes: Vec<u8>,
}

/// The header before the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// As in [`Npy`].
    pub kind: char,
    pub size: usize,
    pub shape: Vec<usize>,
    fortran: bool,
    big_endian: bool,
}

impl Header {
    /// NumPy's name of the element type, as `int16`.
    pub fn dtype(&self) -> String {
        dtype_name(self.kind, self.size)
    }

    /// Reads up to the first element.
    ///
    /// # Errors
    /// A sentence saying what is wrong with the file.
    pub fn read(file: &mut impl Read) -> Result<Header, String> {
        let magic: [u8; 6] = bytes(file, "is not a .npy file (it is shorter than its first bytes, \\x93NUMPY)")?;
        if magic != *b"\x93NUMPY" {
            return Err("is not a .npy file (its first bytes are not \\x93NUMPY)".into());
        }
        let ends = "ends inside its header";
        let length = match bytes(file, ends)? {
            [1, _] => u16::from_le_bytes(bytes(file, ends)?) as usize,
            [2 | 3, _] => u32::from_le_bytes(bytes(file, ends)?) as usize,
            _ => return Err("has an unknown .npy version".into()),
        };
        if length > LONGEST_HEADER {
            return Err(format!("has a header of {length} bytes"));
        }
        let mut header = vec![0; length];
        file.read_exact(&mut header).map_err(|e| unreadable(&e, ends))?;
        let header = std::str::from_utf8(&header).map_err(|_| "has a header that is not text")?;
        let (kind, size, big_endian) = parse_descr(&field(header, "descr")?)?;
        let shape = parse_shape(&field(header, "shape")?)?;
        let fortran = field(header, "fortran_order")?.starts_with("True");
        Ok(Header { kind, size, shape, fortran, big_endian })
    }

    /// Reads the elements, and no further than one byte behind them.
    ///
    /// # Errors
    /// A sentence: there are fewer or more of them than the shape says.
    pub fn elements(self, file: impl Read) -> Result<Npy, String> {
        let Header { kind, size, shape, fortran, big_endian } = self;
        let wanted = shape
            .iter()
            .try_fold(size, |a, &b| a.checked_mul(b))
            .filter(|&n| n < usize::MAX)
            .ok_or("has an impossible shape")?;
        let mut body = vec![];
        file.take(wanted as u64 + 1).read_to_end(&mut body).map_err(|e| format!("cannot be read: {e}"))?;
        if body.len() < wanted {
            return Err(format!("holds {} bytes of data where its shape needs {wanted}", body.len()));
        }
        if body.len() > wanted {
            return Err(format!("holds more than the {wanted} bytes of data that its shape needs"));
        }
        let mut bytes = if fortran { to_row_major(&body, &shape, size) } else { body };
        if big_endian {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Ok(Npy { kind, size, shape, bytes })
    }
}

/// The next bytes of a file that `ends` before them if they are not there.
fn bytes<const N: usize>(file: &mut impl Read, ends: &str) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes).map_err(|e| unreadable(&e, ends))?;
    Ok(bytes)
}

fn unreadable(e: &io::Error, ends: &str) -> String {
    if e.kind() == io::ErrorKind::UnexpectedEof {
        ends.into()
    } else {
        format!("cannot be read: {e}")
    }
}

impl Npy {
    /// Reads a whole file.
    ///
    /// # Errors
    /// A sentence saying what is wrong with the file.
    pub fn parse(mut file: &[u8]) -> Result<Npy, String> {
        Header::read(&mut file)?.elements(file)
    }

    /// The file's bytes, version 1.0.
    pub fn to_bytes(&self) -> Vec<u8> {
        let order = if self.size == 1 { '|' } else { '<' };
        let dims: String = self.shape.iter().map(|d| format!("{d}, ")).collect();
        let dims =
            if self.shape.len() == 1 { dims.trim_end().to_string() } else { dims.trim_end_matches(", ").to_string() };
        let mut header =
            format!("{{'descr': '{order}{}{}', 'fortran_order': False, 'shape': ({dims}), }}", self.kind, self.size);
        // The data starts at a multiple of 64 bytes: magic 6, version 2, length 2, header, newline.
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(&self.bytes);
        file
    }
}

/// NumPy's name for an element type.
pub fn dtype_name(kind: char, size: usize) -> String {
    match kind {
        'i' => format!("int{}", 8 * size),
        'u' => format!("uint{}", 8 * size),
        'f' => format!("float{}", 8 * size),
        _ => "bool".into(),
    }
}

/// The text after `'name':` in the header's dictionary.
fn field(header: &str, name: &str) -> Result<String, String> {
    let missing = || format!("has no '{name}' in its header");
    let at = [format!("'{name}'"), format!("\"{name}\"")]
        .iter()
        .find_map(|key| header.find(key.as_str()).map(|p| p + key.len()));
    let rest = header[at.ok_or_else(missing)?..].trim_start();
    Ok(rest.strip_prefix(':').ok_or_else(missing)?.trim_start().to_string())
}

/// `'<i2', …` to kind, size and whether it is big endian.
fn parse_descr(text: &str) -> Result<(char, usize, bool), String> {
    let inner = text.strip_prefix(['\'', '"']).and_then(|t| t.split(['\'', '"']).next());
    let refused =
        || format!("has an element type that is not a plain number: {}", text.split(',').next().unwrap_or(text));
    let mut letters = inner.ok_or_else(refused)?.chars();
    let order = letters.next().ok_or_else(refused)?;
    let kind = letters.next().filter(|k| "iufb".contains(*k)).ok_or_else(refused)?;
    let size: usize = letters.as_str().parse().map_err(|_| refused())?;
    if !"<>|=".contains(order) || ![1, 2, 4, 8].contains(&size) {
        return Err(refused());
    }
    Ok((kind, size, order == '>'))
}

/// `(2, 3), …` to its numbers.
fn parse_shape(text: &str) -> Result<Vec<usize>, String> {
    let inner = text.strip_prefix('(').and_then(|t| t.split_once(')')).ok_or("has no readable shape")?.0;
    let parts = inner.split(',').map(str::trim).filter(|p| !p.is_empty());
    parts.map(|p| p.parse().map_err(|_| format!("has no readable shape: ({inner})"))).collect()
}

/// Elements in column-major order to row-major order.
fn to_row_major(body: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut out = vec![0; body.len()];
    let mut index = vec![0usize; shape.len()];
    for source in body.chunks_exact(size) {
        let at = index.iter().zip(shape).fold(0, |a, (i, d)| a * d + i);
        out[at * size..(at + 1) * size].copy_from_slice(source);
        for (i, d) in index.iter_mut().zip(shape) {
            *i += 1;
            if *i < *d {
                break;
            }
            *i = 0;
        }
    }
    out
}
