//! Memory images as `$readmemh` and `$writememh` have them: one word of the bus a line.

/// One word of `beat` bytes a line.
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

/// What `$writememh` wrote. A digit that is not hexadecimal (an unknown bit) is an error.
///
/// # Errors
/// Such a digit, or other than `size` bytes.
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
