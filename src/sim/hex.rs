//! Memory images in the format of `$readmemh` and `$writememh`: one word of the bus in each line.

/// The image's text, with a word of `beat` bytes in each line.
pub fn to_hex(bytes: &[u8], beat: usize) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2 + bytes.len() / beat.max(1) + 1);
    for word in bytes.chunks(beat) {
        for byte in word.iter().rev() {
            text.push(DIGITS[(byte >> 4) as usize] as char);
            text.push(DIGITS[(byte & 15) as usize] as char);
        }
        text.push('\n');
    }
    text
}

/// The bytes of a file that `$writememh` wrote.
///
/// # Errors
/// A digit that is not hexadecimal, which is an unknown bit; or not exactly `size` bytes.
pub fn from_hex(text: &str, beat: usize, size: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(size);
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("//") || line.starts_with('@') {
            continue;
        }
        let digits: Option<Vec<u8>> = line.chars().rev().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
        let mut digits =
            digits.ok_or_else(|| format!("the design stored unknown bits: word {} is {line}", bytes.len() / beat))?;
        digits.resize(2 * beat, 0);
        bytes.extend(digits.chunks(2).map(|pair| pair[0] | pair[1] << 4));
    }
    if bytes.len() == size {
        Ok(bytes)
    } else {
        Err(format!("the simulator dumped {} bytes of {size}", bytes.len()))
    }
}
