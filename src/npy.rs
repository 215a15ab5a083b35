//! NumPy's `.npy` format, versions 1 to 3: the header, and the elements' bytes in C order and little endian.
//!
//! Source: NumPy Enhancement Proposal 1. Structured and object types are refused.

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

impl Npy {
    /// NumPy's name of the element type, as `int16`.
    pub fn dtype(&self) -> String {
        dtype_name(self.kind, self.size)
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// A sentence saying what is wrong with the file.
    pub fn parse(file: &[u8]) -> Result<Npy, String> {
        let rest = file.strip_prefix(b"\x93NUMPY").ok_or("is not a .npy file (its first bytes are not \\x93NUMPY)")?;
        let (start, length): (usize, usize) = match rest {
            [1, _, a, b, ..] => (4, u16::from_le_bytes([*a, *b]) as usize),
            [2 | 3, _, a, b, c, d, ..] => (6, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
            _ => return Err("has an unknown .npy version".into()),
        };
        let header = rest.get(start..start.saturating_add(length)).ok_or("ends inside its header")?;
        let header = std::str::from_utf8(header).map_err(|_| "has a header that is not text")?;
        let (kind, size, big_endian) = parse_descr(&field(header, "descr")?)?;
        let shape = parse_shape(&field(header, "shape")?)?;
        let fortran = field(header, "fortran_order")?.starts_with("True");
        let elements = shape.iter().try_fold(1usize, |a, &b| a.checked_mul(b)).ok_or("has an impossible shape")?;
        let wanted = elements.checked_mul(size).ok_or("has an impossible shape")?;
        let body = &rest[start + header.len()..];
        if body.len() != wanted {
            return Err(format!("holds {} bytes of data where its shape needs {wanted}", body.len()));
        }
        let mut bytes = if fortran { to_row_major(body, &shape, size) } else { body.to_vec() };
        if big_endian {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Ok(Npy { kind, size, shape, bytes })
    }

    /// The file's bytes, version 1.0.
    pub fn to_bytes(&self) -> Vec<u8> {
        let order = if self.size == 1 { '|' } else { '<' };
        let dims: String = self.shape.iter().map(|d| format!("{d}, ")).collect();
        let dims = if self.shape.len() == 1 { dims.trim_end().to_string() } else { dims.trim_end_matches(", ").to_string() };
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
    let at = [format!("'{name}'"), format!("\"{name}\"")].iter().find_map(|key| header.find(key.as_str()).map(|p| p + key.len()));
    let rest = header[at.ok_or_else(missing)?..].trim_start();
    Ok(rest.strip_prefix(':').ok_or_else(missing)?.trim_start().to_string())
}

/// `'<i2', …` to kind, size and whether it is big endian.
fn parse_descr(text: &str) -> Result<(char, usize, bool), String> {
    let inner = text.strip_prefix(['\'', '"']).and_then(|t| t.split(['\'', '"']).next());
    let refused = || format!("has an element type that is not a plain number: {}", text.split(',').next().unwrap_or(text));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Npy {
        Npy { kind: 'i', size: 2, shape: vec![2, 3], bytes: (0u8..12).collect() }
    }

    /// A version 1.0 file with this dictionary.
    fn file(header: &str, body: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((header.len() as u16).to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(body);
        out
    }

    #[test]
    fn written_files_read_back() {
        for shape in [vec![], vec![6], vec![2, 3], vec![1, 2, 3]] {
            let n = shape.iter().product::<usize>();
            let array = Npy { shape, bytes: (0..2 * n as u8).collect(), ..sample() };
            let bytes = array.to_bytes();
            assert_eq!((bytes.len() - 2 * n) % 64, 0);
            assert_eq!(Npy::parse(&bytes), Ok(array));
        }
    }

    #[test]
    fn column_major_and_big_endian_are_normalized() {
        let f = file("{'descr': '>u2', 'fortran_order': True, 'shape': (2, 2)}", &[0, 1, 0, 2, 0, 3, 0, 4]);
        let array = Npy::parse(&f).unwrap();
        assert_eq!((array.dtype().as_str(), array.bytes), ("uint16", vec![1, 0, 3, 0, 2, 0, 4, 0]));
    }

    #[test]
    fn damaged_files_are_refused_with_a_reason() {
        let cases: [(Vec<u8>, &str); 6] = [
            (b"PK".to_vec(), "not a .npy"),
            (sample().to_bytes()[..20].to_vec(), "ends inside"),
            (sample().to_bytes()[..130].to_vec(), "bytes of data"),
            (file("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (1,)}", &[0, 0]), "element type"),
            (file("{'descr': '<i2', 'fortran_order': False, 'shape': (x,)}", &[0, 0]), "shape"),
            (file("{'descr': '<i2', 'shape': (1,)}", &[0, 0]), "fortran_order"),
        ];
        for (bytes, reason) in cases {
            let error = Npy::parse(&bytes).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
