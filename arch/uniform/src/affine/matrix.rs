//! Integer matrices.

/// Inverse of an integer matrix of determinant ±1, by integer row operations.
pub fn unimodular_inverse(matrix: &[Vec<i64>]) -> Option<Vec<Vec<i64>>> {
    let n = matrix.len();
    let mut left: Vec<Vec<i64>> = matrix.to_vec();
    let mut right: Vec<Vec<i64>> = (0..n).map(|d| (0..n).map(|k| (k == d) as i64).collect()).collect();
    let combine = |rows: &mut Vec<Vec<i64>>, to: usize, from: usize, factor: i64| {
        let source = rows[from].clone();
        rows[to].iter_mut().zip(source).for_each(|(x, y)| *x -= factor * y);
    };
    for c in 0..n {
        loop {
            let pivot = (c..n).filter(|&r| left[r][c] != 0).min_by_key(|&r| left[r][c].abs())?;
            left.swap(c, pivot);
            right.swap(c, pivot);
            let mut done = true;
            for r in c + 1..n {
                let factor = left[r][c] / left[c][c];
                combine(&mut left, r, c, factor);
                combine(&mut right, r, c, factor);
                done &= left[r][c] == 0;
            }
            if done {
                break;
            }
        }
        if left[c][c].abs() != 1 {
            return None;
        }
        if left[c][c] == -1 {
            left[c].iter_mut().chain(right[c].iter_mut()).for_each(|x| *x = -*x);
        }
        for r in 0..c {
            let factor = left[r][c];
            combine(&mut left, r, c, factor);
            combine(&mut right, r, c, factor);
        }
    }
    Some(right)
}

/// Determinant of a square integer matrix, by elimination without fractions (Bareiss).
pub fn determinant(matrix: &[Vec<i64>]) -> i64 {
    let n = matrix.len();
    let mut rows: Vec<Vec<i128>> = matrix.iter().map(|row| row.iter().map(|&x| x.into()).collect()).collect();
    let (mut sign, mut before) = (1, 1);
    for c in 0..n {
        let Some(pivot) = (c..n).find(|&r| rows[r][c] != 0) else { return 0 };
        if pivot != c {
            rows.swap(pivot, c);
            sign = -sign;
        }
        for r in c + 1..n {
            for k in c + 1..n {
                rows[r][k] = (rows[r][k] * rows[c][c] - rows[r][c] * rows[c][k]) / before;
            }
        }
        before = rows[c][c];
    }
    (sign * before) as i64
}
