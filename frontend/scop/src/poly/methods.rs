//! Operations on sets and maps that no table of `object.rs` covers: names, dimensions, bounds, points, hulls.

use super::context::{Context, Error, Raw, Result};
use super::object::{BasicSet, Map, Point, Set, UnionMap, UnionSet, Value, IN, OUT, SET};
use std::ffi::{c_char, c_int, c_long, c_uint, CStr};

extern "C" {
    fn isl_set_dim(set: Raw, kind: c_int) -> c_int;
    fn isl_set_has_tuple_name(set: Raw) -> c_int;
    fn isl_set_get_tuple_name(set: Raw) -> *const c_char;
    fn isl_set_dim_max_val(set: Raw, position: c_int) -> Raw;
    fn isl_set_dim_min_val(set: Raw, position: c_int) -> Raw;
    fn isl_set_project_out(set: Raw, kind: c_int, first: c_uint, count: c_uint) -> Raw;
    fn isl_set_fix_val(set: Raw, kind: c_int, position: c_uint, value: Raw) -> Raw;
    fn isl_set_sample_point(set: Raw) -> Raw;
    fn isl_set_simple_hull(set: Raw) -> Raw;
    fn isl_set_convex_hull(set: Raw) -> Raw;
    fn isl_set_from_basic_set(basic: Raw) -> Raw;
    fn isl_point_is_void(point: Raw) -> c_int;
    fn isl_point_get_coordinate_val(point: Raw, kind: c_int, position: c_int) -> Raw;
    fn isl_map_dim(map: Raw, kind: c_int) -> c_int;
    fn isl_map_has_tuple_name(map: Raw, kind: c_int) -> c_int;
    fn isl_map_get_tuple_name(map: Raw, kind: c_int) -> *const c_char;
    fn isl_map_wrap(map: Raw) -> Raw;
    fn isl_union_map_add_map(all: Raw, map: Raw) -> Raw;
    fn isl_set_flatten(set: Raw) -> Raw;
    fn isl_val_int_from_si(ctx: Raw, value: c_long) -> Raw;
    fn isl_val_is_int(value: Raw) -> c_int;
    fn isl_val_get_num_si(value: Raw) -> c_long;
    fn isl_val_cmp_si(value: Raw, other: c_long) -> c_int;
}

// The numbers of the plain data must pass unchanged through isl's `long` accessors.
const _: () = assert!(size_of::<c_long>() == size_of::<i64>());

impl Value {
    pub(super) fn new(context: &Context, value: i64) -> Result<Self> {
        // SAFETY: live context; c_long holds an i64, see the assertion above.
        Value::wrap(context, unsafe { isl_val_int_from_si(context.raw(), value as c_long) }, "isl_val_int_from_si")
    }

    /// The value if it is an integer in the range of i64; `None` for infinities, NaN, fractions, and larger numbers.
    pub(super) fn to_i64(&self) -> Option<i64> {
        // SAFETY: borrowed live value; get_num_si is only called inside its range.
        unsafe {
            let integer = isl_val_is_int(self.keep()) == 1;
            let fits = integer
                && isl_val_cmp_si(self.keep(), c_long::MAX) <= 0
                && isl_val_cmp_si(self.keep(), c_long::MIN) >= 0;
            fits.then(|| isl_val_get_num_si(self.keep()) as i64)
        }
    }
}

impl Point {
    /// `None` for isl's void point, which means "no point".
    fn coordinates(&self, depth: usize) -> Result<Option<Vec<i64>>> {
        // SAFETY: borrowed live point; positions are below the dimension of its space.
        if self.context.boolean(unsafe { isl_point_is_void(self.keep()) }, "isl_point_is_void")? {
            return Ok(None);
        }
        let coordinate = |position: usize| {
            let raw = unsafe { isl_point_get_coordinate_val(self.keep(), SET, position as c_int) };
            let value = Value::wrap(&self.context, raw, "isl_point_get_coordinate_val")?;
            value.to_i64().ok_or_else(|| Error::new("isl_point_get_coordinate_val", "coordinate exceeds 64 bits"))
        };
        (0..depth).map(coordinate).collect::<Result<Vec<_>>>().map(Some)
    }
}

impl UnionMap {
    /// The union of the maps, in linear time.
    ///
    /// # Errors
    /// The first error of an item, or isl's.
    pub fn of_maps(context: &Context, maps: impl IntoIterator<Item = Result<Map>>) -> Result<UnionMap> {
        maps.into_iter().try_fold(UnionMap::parse(context, "{ }")?, |all, map| {
            let map = map?;
            context.check_same(&map.context, "isl_union_map_add_map")?;
            // SAFETY: owned references to objects of the declared types, in one context.
            UnionMap::wrap(
                context,
                unsafe { isl_union_map_add_map(all.release(), map.release()) },
                "isl_union_map_add_map",
            )
        })
    }
}

impl Set {
    /// Number of dimensions.
    pub fn depth(&self) -> Result<usize> {
        self.context.size(unsafe { isl_set_dim(self.keep(), SET) }, "isl_set_dim")
    }

    /// The tuple's name, if it has one.
    pub fn name(&self) -> Result<Option<String>> {
        // SAFETY: borrowed live set; the name is asked for only if there is one, and copied at once.
        unsafe {
            if !self.context.boolean(isl_set_has_tuple_name(self.keep()), "isl_set_has_tuple_name")? {
                return Ok(None);
            }
            Ok(copied(isl_set_get_tuple_name(self.keep())))
        }
    }

    fn check_position(&self, position: usize, call: &'static str) -> Result<()> {
        if position < self.depth()? {
            return Ok(());
        }
        Err(Error::new(call, "dimension out of range"))
    }

    /// Exact maximum of one dimension; `None` when the set is empty or unbounded above.
    pub fn dim_max(&self, position: usize) -> Result<Option<i64>> {
        self.check_position(position, "isl_set_dim_max_val")?;
        if self.is_empty()? {
            return Ok(None);
        }
        let raw = unsafe { isl_set_dim_max_val(self.take(), position as c_int) };
        Ok(Value::wrap(&self.context, raw, "isl_set_dim_max_val")?.to_i64())
    }

    /// Exact minimum of one dimension; `None` when the set is empty or unbounded below.
    pub fn dim_min(&self, position: usize) -> Result<Option<i64>> {
        self.check_position(position, "isl_set_dim_min_val")?;
        if self.is_empty()? {
            return Ok(None);
        }
        let raw = unsafe { isl_set_dim_min_val(self.take(), position as c_int) };
        Ok(Value::wrap(&self.context, raw, "isl_set_dim_min_val")?.to_i64())
    }

    /// Removes `count` dimensions from `first` on by existential quantification.
    pub fn project_out(&self, first: usize, count: usize) -> Result<Set> {
        if first.checked_add(count).is_none_or(|end| self.depth().is_ok_and(|depth| end > depth)) {
            return Err(Error::new("isl_set_project_out", "dimension out of range"));
        }
        let raw = unsafe { isl_set_project_out(self.take(), SET, first as c_uint, count as c_uint) };
        Set::wrap(&self.context, raw, "isl_set_project_out")
    }

    /// The points whose coordinate at `position` is `value`.
    pub fn fix(&self, position: usize, value: i64) -> Result<Set> {
        self.check_position(position, "isl_set_fix_val")?;
        let value = Value::new(&self.context, value)?;
        let raw = unsafe { isl_set_fix_val(self.take(), SET, position as c_uint, value.take()) };
        Set::wrap(&self.context, raw, "isl_set_fix_val")
    }

    /// Some point of the set, or `None` if it is empty.
    pub fn sample(&self) -> Result<Option<Vec<i64>>> {
        let point = Point::wrap(&self.context, unsafe { isl_set_sample_point(self.take()) }, "isl_set_sample_point")?;
        point.coordinates(self.depth()?)
    }

    /// One conjunction that contains the set, with constraints parallel to its own.
    pub fn simple_hull(&self) -> Result<Set> {
        let hull = BasicSet::wrap(&self.context, unsafe { isl_set_simple_hull(self.take()) }, "isl_set_simple_hull")?;
        hull.to_set()
    }

    /// The rational convex hull.
    pub fn convex_hull(&self) -> Result<Set> {
        let hull = BasicSet::wrap(&self.context, unsafe { isl_set_convex_hull(self.take()) }, "isl_set_convex_hull")?;
        hull.to_set()
    }
}

impl BasicSet {
    pub(super) fn to_set(&self) -> Result<Set> {
        Set::wrap(&self.context, unsafe { isl_set_from_basic_set(self.take()) }, "isl_set_from_basic_set")
    }
}

impl Map {
    /// Number of input and of output dimensions.
    pub fn depths(&self) -> Result<(usize, usize)> {
        let size = |kind| self.context.size(unsafe { isl_map_dim(self.keep(), kind) }, "isl_map_dim");
        Ok((size(IN)?, size(OUT)?))
    }

    /// Name of the input tuple, if it has one.
    pub fn input_name(&self) -> Result<Option<String>> {
        self.tuple_name(IN)
    }

    /// Name of the output tuple, if it has one.
    pub fn output_name(&self) -> Result<Option<String>> {
        self.tuple_name(OUT)
    }

    fn tuple_name(&self, kind: c_int) -> Result<Option<String>> {
        // SAFETY: borrowed live map; the name is asked for only if there is one, and copied at once.
        unsafe {
            if !self.context.boolean(isl_map_has_tuple_name(self.keep(), kind), "isl_map_has_tuple_name")? {
                return Ok(None);
            }
            Ok(copied(isl_map_get_tuple_name(self.keep(), kind)))
        }
    }

    /// The relation as a set of (input ++ output) tuples.
    pub fn flatten(&self) -> Result<Set> {
        let wrapped = Set::wrap(&self.context, unsafe { isl_map_wrap(self.take()) }, "isl_map_wrap")?;
        Set::wrap(&self.context, unsafe { isl_set_flatten(wrapped.take()) }, "isl_set_flatten")
    }
}

impl UnionMap {
    /// The members, one per pair of spaces.
    pub fn maps(&self) -> Result<Vec<Map>> {
        self.map_objects()
    }
}

impl UnionSet {
    /// The members, one per space.
    pub fn sets(&self) -> Result<Vec<Set>> {
        self.set_objects()
    }
}

/// # Safety
/// `raw` is null or a NUL-terminated string, valid during the call.
unsafe fn copied(raw: *const c_char) -> Option<String> {
    (!raw.is_null()).then(|| CStr::from_ptr(raw).to_string_lossy().into_owned())
}
