//! `.npy` files: written and read back, normalized, refused.

use sagen::npy::{dtype_name, Npy};

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
    assert_eq!((dtype_name(array.kind, array.size).as_str(), array.bytes), ("uint16", vec![1, 0, 3, 0, 2, 0, 4, 0]));
}

#[test]
fn damaged_files_are_refused_with_a_reason() {
    let cases: [(Vec<u8>, &str); 8] = [
        (b"PK".to_vec(), "not a .npy"),
        ([sample().to_bytes(), vec![0]].concat(), "more than the 12 bytes"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "header of 4294967295 bytes"),
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
