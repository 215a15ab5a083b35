//! Conversion between isl objects and the plain data of [`crate`]. Constraints travel as matrices, not as text.

use super::context::{Context, Error, Raw, Result};
use super::object::{BasicSet, Map, Matrix, Set, Space, UnionMap, Value, CST, DIV, IN, OUT, PARAM, SET};
use super::pieces::operations;
use crate::{Affine, Constraint};
use std::ffi::{c_char, c_int, c_uint, CString};

extern "C" {
    fn isl_space_set_alloc(ctx: Raw, params: c_uint, depth: c_uint) -> Raw;
    fn isl_space_alloc(ctx: Raw, params: c_uint, inputs: c_uint, outputs: c_uint) -> Raw;
    fn isl_space_set_tuple_name(space: Raw, kind: c_int, name: *const c_char) -> Raw;
    fn isl_mat_alloc(ctx: Raw, rows: c_uint, columns: c_uint) -> Raw;
    fn isl_mat_rows(matrix: Raw) -> c_int;
    fn isl_mat_set_element_val(matrix: Raw, row: c_int, column: c_int, value: Raw) -> Raw;
    fn isl_mat_set_element_si(matrix: Raw, row: c_int, column: c_int, value: c_int) -> Raw;
    fn isl_mat_get_element_val(matrix: Raw, row: c_int, column: c_int) -> Raw;
    fn isl_basic_set_from_constraint_matrices(
        space: Raw,
        equal: Raw,
        inequal: Raw,
        c1: c_int,
        c2: c_int,
        c3: c_int,
        c4: c_int,
    ) -> Raw;
    fn isl_basic_set_equalities_matrix(set: Raw, c1: c_int, c2: c_int, c3: c_int, c4: c_int) -> Raw;
    fn isl_basic_set_inequalities_matrix(set: Raw, c1: c_int, c2: c_int, c3: c_int, c4: c_int) -> Raw;
    fn isl_basic_set_dim(set: Raw, kind: c_int) -> c_int;
    fn isl_basic_map_from_constraint_matrices(
        space: Raw,
        equal: Raw,
        inequal: Raw,
        c1: c_int,
        c2: c_int,
        c3: c_int,
        c4: c_int,
        c5: c_int,
    ) -> Raw;
    fn isl_map_from_basic_map(map: Raw) -> Raw;
    fn isl_set_empty(space: Raw) -> Raw;
}

/// A set as plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Disjoint conjunctions without redundant constraints, sorted.
    pub pieces: Vec<Vec<Constraint>>,
    /// False if the set has holes that conjunctions of affine constraints cannot express (such as "the even
    /// numbers"); `pieces` is then a superset.
    pub exact: bool,
}

impl Region {
    /// Whether the set is exactly the integer points of one conjunction.
    pub fn is_convex(&self) -> bool {
        self.exact && self.pieces.len() == 1
    }
}

/// Work limit for merging the pieces of one array's dependences; beyond it they stay unmerged.
const MERGING: u64 = 1_000_000;

/// Rows `coefficients…, constant` of a matrix.
type Rows = Vec<Vec<i64>>;

/// The constraints as rows, split into equalities and inequalities.
fn rows(constraints: &[Constraint], depth: usize) -> Result<(Rows, Rows)> {
    let (mut equal, mut inequal) = (vec![], vec![]);
    for constraint in constraints {
        if constraint.expr.coeffs.len() != depth {
            let text =
                format!("a constraint over {} iterators where {depth} are expected", constraint.expr.coeffs.len());
            return Err(Error::new("rows", text));
        }
        let mut row = constraint.expr.coeffs.clone();
        row.push(constraint.expr.constant);
        if constraint.equality {
            equal.push(row)
        } else {
            inequal.push(row)
        }
    }
    Ok((equal, inequal))
}

fn matrix(context: &Context, rows: &[Vec<i64>], columns: usize) -> Result<Matrix> {
    // SAFETY: every element is written, inside the allocated shape; the matrix reference passes through each call.
    unsafe {
        let mut raw = isl_mat_alloc(context.raw(), rows.len() as c_uint, columns as c_uint);
        for (r, row) in rows.iter().enumerate() {
            for (c, &element) in row.iter().enumerate() {
                raw = match c_int::try_from(element) {
                    Ok(small) => isl_mat_set_element_si(raw, r as c_int, c as c_int, small),
                    Err(_) => {
                        isl_mat_set_element_val(raw, r as c_int, c as c_int, Value::new(context, element)?.take())
                    }
                };
            }
        }
        Matrix::wrap(context, raw, "isl_mat_set_element_val")
    }
}

fn named(context: &Context, space: Raw, kind: c_int, name: Option<&str>) -> Result<Raw> {
    let Some(name) = name else { return Ok(space) };
    let space = Space::wrap(context, space, "isl_space_alloc")?;
    let name = CString::new(name).map_err(|_| Error::new("isl_space_set_tuple_name", "NUL in a name"))?;
    // SAFETY: owned reference to a live space, NUL-terminated string that outlives the call.
    Ok(unsafe { isl_space_set_tuple_name(space.take(), kind, name.as_ptr()) })
}

fn set_space(context: &Context, name: Option<&str>, depth: usize) -> Result<Space> {
    let raw = unsafe { isl_space_set_alloc(context.raw(), 0, depth as c_uint) };
    Space::wrap(context, named(context, raw, SET, name)?, "isl_space_set_alloc")
}

impl Set {
    /// The points where every constraint holds.
    ///
    /// # Errors
    /// A constraint over another number of iterators than `depth`.
    pub fn from_conjunction(
        context: &Context,
        name: Option<&str>,
        depth: usize,
        constraints: &[Constraint],
    ) -> Result<Set> {
        let (equal, inequal) = rows(constraints, depth)?;
        let (equal, inequal) = (matrix(context, &equal, depth + 1)?, matrix(context, &inequal, depth + 1)?);
        let space = set_space(context, name, depth)?;
        // SAFETY: owned references; both matrices have the columns of the space (iterators, constant).
        let raw = unsafe {
            isl_basic_set_from_constraint_matrices(space.take(), equal.take(), inequal.take(), SET, CST, PARAM, DIV)
        };
        BasicSet::wrap(context, raw, "isl_basic_set_from_constraint_matrices")?.to_set()
    }

    /// The points of any of the conjunctions; the empty set for an empty union.
    ///
    /// # Errors
    /// A constraint over another number of iterators than `depth`.
    pub fn from_union(context: &Context, name: Option<&str>, depth: usize, union: &[Vec<Constraint>]) -> Result<Set> {
        let Some((first, rest)) = union.split_first() else {
            let space = set_space(context, name, depth)?;
            return Set::wrap(context, unsafe { isl_set_empty(space.take()) }, "isl_set_empty");
        };
        let first = Set::from_conjunction(context, name, depth, first)?;
        rest.iter().try_fold(first, |all, one| all.union(&Set::from_conjunction(context, name, depth, one)?))
    }

    /// The same set as a union of few disjoint conjunctions.
    ///
    /// # Errors
    /// A coefficient that exceeds 64 bits.
    pub fn region(&self) -> Result<Region> {
        let merged = self.coalesce()?;
        if merged.has_disjoint_parts()? {
            return merged.plain();
        }
        let merged = merged.make_disjoint()?.coalesce()?;
        if merged.has_disjoint_parts()? {
            merged.plain()
        } else {
            merged.make_disjoint()?.plain()
        }
    }

    /// Whether no two basic sets have a common point.
    fn has_disjoint_parts(&self) -> Result<bool> {
        let parts = self.basic_set_objects()?.iter().map(BasicSet::to_set).collect::<Result<Vec<_>>>()?;
        for (index, part) in parts.iter().enumerate() {
            for other in &parts[..index] {
                if !part.is_disjoint(other)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn plain(&self) -> Result<Region> {
        let tidy = self.detect_equalities()?.remove_redundancies()?;
        let basic = tidy.basic_set_objects()?;
        let divisions = basic.iter().map(BasicSet::divisions).collect::<Result<Vec<_>>>()?;
        if divisions.iter().all(|&n| n == 0) {
            return Ok(Region { pieces: sorted(&basic)?, exact: true });
        }
        // Often the other constraints imply the quantified ones; then dropping the divisions changes nothing.
        let without = self.remove_divs()?.coalesce()?.make_disjoint()?.detect_equalities()?.remove_redundancies()?;
        let exact = without.is_subset(self)?;
        Ok(Region { pieces: sorted(&without.basic_set_objects()?)?, exact })
    }
}

fn sorted(basic: &[BasicSet]) -> Result<Vec<Vec<Constraint>>> {
    let mut pieces = vec![];
    for set in basic {
        if !set.to_set()?.is_empty()? {
            pieces.push(set.constraints()?);
        }
    }
    pieces.sort();
    Ok(pieces)
}

impl BasicSet {
    fn dimension(&self, kind: c_int) -> Result<usize> {
        self.context.size(unsafe { isl_basic_set_dim(self.keep(), kind) }, "isl_basic_set_dim")
    }

    /// Number of existentially quantified variables.
    fn divisions(&self) -> Result<usize> {
        self.dimension(DIV)
    }

    /// Equalities first, each group sorted. Only for sets without quantified variables.
    fn constraints(&self) -> Result<Vec<Constraint>> {
        if self.divisions()? > 0 {
            return Err(Error::new("constraints", "existentially quantified variables"));
        }
        let depth = self.dimension(SET)?;
        // SAFETY: borrowed live basic set; the results are owned matrices of depth + 1 columns, as there are no
        // parameters.
        let (equal, inequal) = unsafe {
            let equal = isl_basic_set_equalities_matrix(self.keep(), SET, CST, PARAM, DIV);
            let equal = Matrix::wrap(&self.context, equal, "isl_basic_set_equalities_matrix")?;
            let inequal = isl_basic_set_inequalities_matrix(self.keep(), SET, CST, PARAM, DIV);
            (equal, Matrix::wrap(&self.context, inequal, "isl_basic_set_inequalities_matrix")?)
        };
        let mut constraints = equal.constraints(depth, true)?;
        constraints.extend(inequal.constraints(depth, false)?);
        Ok(constraints)
    }
}

impl Matrix {
    fn constraints(&self, depth: usize, equality: bool) -> Result<Vec<Constraint>> {
        let count = self.context.size(unsafe { isl_mat_rows(self.keep()) }, "isl_mat_rows")?;
        let element = |row: usize, column: usize| {
            // SAFETY: borrowed live matrix; isl checks the position.
            let raw = unsafe { isl_mat_get_element_val(self.keep(), row as c_int, column as c_int) };
            let value = Value::wrap(&self.context, raw, "isl_mat_get_element_val")?;
            value.to_i64().ok_or_else(|| Error::new("isl_mat_get_element_val", "a coefficient exceeds 64 bits"))
        };
        let mut constraints = vec![];
        for row in 0..count {
            let coeffs = (0..depth).map(|column| element(row, column)).collect::<Result<Vec<_>>>()?;
            let mut expr = Affine { coeffs, constant: element(row, depth)? };
            // The sign of an equality is arbitrary: make its first coefficient positive.
            if equality && expr.coeffs.iter().find(|&&c| c != 0).is_some_and(|&c| c < 0) {
                let coeffs: Option<Vec<i64>> = expr.coeffs.iter().map(|c| c.checked_neg()).collect();
                let negated =
                    coeffs.zip(expr.constant.checked_neg()).map(|(coeffs, constant)| Affine { coeffs, constant });
                expr = negated.ok_or_else(|| Error::new("constraints", "a coefficient exceeds 64 bits"))?;
            }
            constraints.push(Constraint { expr, equality });
        }
        constraints.sort();
        Ok(constraints)
    }
}

impl Map {
    /// `{ input[x] -> output[f(x)] }` for all x, with one affine function per output.
    ///
    /// # Errors
    /// A function over another number of iterators than `depth`.
    pub fn from_affine(
        context: &Context,
        input: Option<&str>,
        depth: usize,
        output: Option<&str>,
        functions: &[Affine],
    ) -> Result<Map> {
        let mut rows = vec![];
        for (position, function) in functions.iter().enumerate() {
            if function.coeffs.len() != depth {
                return Err(Error::new(
                    "from_affine",
                    format!("a function over {} iterators where {depth} are expected", function.coeffs.len()),
                ));
            }
            let mut row = function.coeffs.clone();
            row.resize(depth + functions.len(), 0);
            row[depth + position] = -1;
            row.push(function.constant);
            rows.push(row);
        }
        Map::from_rows(context, (input, depth), (output, functions.len()), (rows, vec![]))
    }

    /// `{ input[x] -> output[y] }` where all constraints on `(x, y)` hold. `input` and `output` are names and depths.
    ///
    /// # Errors
    /// A constraint over another number of iterators than `x` and `y` have together.
    pub fn from_conjunction(
        context: &Context,
        input: (&str, usize),
        output: (&str, usize),
        constraints: &[Constraint],
    ) -> Result<Map> {
        Map::from_rows(
            context,
            (Some(input.0), input.1),
            (Some(output.0), output.1),
            rows(constraints, input.1 + output.1)?,
        )
    }

    fn from_rows(
        context: &Context,
        input: (Option<&str>, usize),
        output: (Option<&str>, usize),
        (equal, inequal): (Rows, Rows),
    ) -> Result<Map> {
        let columns = input.1 + output.1 + 1;
        let (equal, inequal) = (matrix(context, &equal, columns)?, matrix(context, &inequal, columns)?);
        let raw = unsafe { isl_space_alloc(context.raw(), 0, input.1 as c_uint, output.1 as c_uint) };
        let raw = named(context, raw, IN, input.0)?;
        let space = Space::wrap(context, named(context, raw, OUT, output.0)?, "isl_space_alloc")?;
        // SAFETY: owned references; both matrices have the columns of the space (inputs, outputs, constant).
        unsafe {
            let raw = isl_basic_map_from_constraint_matrices(
                space.take(),
                equal.take(),
                inequal.take(),
                IN,
                OUT,
                CST,
                PARAM,
                DIV,
            );
            context.owned(raw, "isl_basic_map_from_constraint_matrices")?;
            Map::wrap(context, isl_map_from_basic_map(raw), "isl_map_from_basic_map")
        }
    }
}

impl UnionMap {
    /// The same relation in fewer pieces, unless merging is too much work for relations of `depth` iterators.
    ///
    /// # Errors
    /// A failure inside isl.
    pub fn merged(&self, depth: usize) -> Result<UnionMap> {
        Ok(self.context.within(operations(MERGING, depth), || self.coalesce())?.unwrap_or_else(|| self.clone()))
    }
}
