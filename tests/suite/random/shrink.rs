//! A smaller case that still goes wrong.

use super::check::Case;

/// Leaves out lines and options, and lowers sizes, as long as `wrong` holds; at most `limit` cases are tried.
pub fn shrink(case: &Case, limit: usize, wrong: impl Fn(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut left = limit;
    loop {
        let better = smaller(&best).into_iter().find(|smaller| {
            left = left.saturating_sub(1);
            left > 0 && wrong(smaller)
        });
        match better {
            Some(better) => best = better,
            None => return best,
        }
    }
}

/// All cases that are smaller by one step, the boldest first.
fn smaller(case: &Case) -> Vec<Case> {
    let lines: Vec<&str> = case.text.lines().collect();
    let without = |gone: &[usize]| {
        let kept = lines.iter().enumerate().filter(|(k, _)| !gone.contains(k));
        Case { text: kept.map(|l| format!("{}\n", l.1)).collect(), ..case.clone() }
    };
    let mut all = vec![];
    for (k, line) in lines.iter().enumerate() {
        if line.trim_end().ends_with('{') {
            let end = matching(&lines, k);
            all.push(without(&(k..=end).collect::<Vec<_>>()));
            all.push(without(&[k, end]));
        } else if line.trim_end().ends_with(';') {
            all.push(without(&[k]));
        } else if let Some((name, value)) = line.strip_prefix("#define N").and_then(|l| l.split_once(' ')) {
            if let Some(lower) = value.parse::<i64>().ok().filter(|v| *v > 1) {
                all.push(Case {
                    text: case.text.replace(line, &format!("#define N{name} {}", lower - 1)),
                    ..case.clone()
                });
            }
        }
    }
    let options: Vec<&str> = case.options.split(" --").collect();
    for k in 1..options.len() {
        let kept: Vec<&str> = options.iter().enumerate().filter(|o| o.0 != k).map(|o| *o.1).collect();
        all.push(Case { options: kept.join(" --"), ..case.clone() });
    }
    if case.row.is_some() {
        all.push(Case { row: None, ..case.clone() });
        all.extend((0..case.row.unwrap_or(0).min(4)).map(|row| Case { row: Some(row), ..case.clone() }));
    }
    all
}

/// The line with the brace that closes the one at the end of line `start`.
fn matching(lines: &[&str], start: usize) -> usize {
    let mut depth = 0;
    for (k, line) in lines.iter().enumerate().skip(start) {
        depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
        if depth <= 0 {
            return k;
        }
    }
    lines.len() - 1
}
