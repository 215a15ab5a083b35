//! Plain-text tables: a header, a rule, columns as wide as their widest cell.

/// `rows[0]` is the header; the columns in `numbers` are set flush right. Rows may have different lengths.
pub fn render(rows: &[Vec<String>], numbers: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cell = |(c, t): (usize, &String)| {
            let pad = " ".repeat(widths[c] - t.chars().count());
            if numbers.contains(&c) {
                format!("{pad}{t}")
            } else {
                format!("{t}{pad}")
            }
        };
        let line = row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
        if index == 0 {
            text.push_str(&"─".repeat(widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1)));
            text.push('\n');
        }
    }
    text
}
