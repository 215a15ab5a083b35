//! Wrapper types of isl's objects and tables of operations on them. The head of `poly/mod.rs` has the ownership rules.
//! `take` and `keep` are named after isl's annotations `__isl_take` and `__isl_keep`.

use super::context::{Context, Error, Raw, Result};
use std::ffi::{c_char, c_int, c_void, CString};
use std::fmt;
use std::ptr::NonNull;

/// `enum isl_dim_type`.
pub(super) const CST: c_int = 0;
pub(super) const PARAM: c_int = 1;
pub(super) const IN: c_int = 2;
pub(super) const OUT: c_int = 3;
pub(super) const SET: c_int = 3;
pub(super) const DIV: c_int = 4;

/// `$free` and `$copy` are isl's own for the type. `$T` owns exactly one reference.
macro_rules! object { ($($(#[$doc:meta])* $vis:vis $T:ident = $free:ident, $copy:ident;)*) => { $(
    $(#[$doc])*
    $vis struct $T { raw: NonNull<c_void>, pub(super) context: Context }
    extern "C" { fn $free(object: Raw) -> Raw; fn $copy(object: Raw) -> Raw; }
    impl Drop for $T {
        // SAFETY: we own one reference, and the context outlives us.
        fn drop(&mut self) { unsafe { $free(self.raw.as_ptr()); } }
    }
    impl Clone for $T {
        fn clone(&self) -> Self {
            // isl's copy of a non-null object adds a reference and cannot fail.
            let raw = NonNull::new(self.take()).expect("isl copies by reference count");
            $T { raw, context: self.context.clone() }
        }
    }
    #[allow(dead_code)]
    impl $T {
        /// A reference of its own, for an `__isl_take` argument.
        pub(super) fn take(&self) -> Raw { unsafe { $copy(self.raw.as_ptr()) } }
        /// The only reference, given away: isl changes an object with one reference in place.
        pub(super) fn release(self) -> Raw { self.take() }
        /// The pointer, for an `__isl_keep` argument.
        pub(super) fn keep(&self) -> Raw { self.raw.as_ptr() }
        /// Takes over the reference `raw`, an object of this type in `context`; null is the error of `call`.
        pub(super) fn wrap(context: &Context, raw: Raw, call: &'static str) -> Result<Self> {
            Ok($T { raw: context.owned(raw, call)?, context: context.clone() })
        }
    } )* } }

object! {
    /// Integer tuples of one (possibly named) space: a union of basic sets.
    pub Set = isl_set_free, isl_set_copy;
    /// A relation between two spaces.
    pub Map = isl_map_free, isl_map_copy;
    /// Sets of several spaces.
    pub UnionSet = isl_union_set_free, isl_union_set_copy;
    /// Relations between several spaces.
    pub UnionMap = isl_union_map_free, isl_union_map_copy;
    pub(super) BasicSet = isl_basic_set_free, isl_basic_set_copy;
    pub(super) BasicMap = isl_basic_map_free, isl_basic_map_copy;
    pub(super) BasicMapList = isl_basic_map_list_free, isl_basic_map_list_copy;
    pub(super) BasicSetList = isl_basic_set_list_free, isl_basic_set_list_copy;
    pub(super) MapList = isl_map_list_free, isl_map_list_copy;
    pub(super) SetList = isl_set_list_free, isl_set_list_copy;
    pub(super) PwMultiAff = isl_pw_multi_aff_free, isl_pw_multi_aff_copy;
    pub(super) MultiAff = isl_multi_aff_free, isl_multi_aff_copy;
    pub(super) Aff = isl_aff_free, isl_aff_copy;
    pub(super) Space = isl_space_free, isl_space_copy;
    pub(super) Matrix = isl_mat_free, isl_mat_copy;
    pub(super) Value = isl_val_free, isl_val_copy;
    pub(super) Point = isl_point_free, isl_point_copy;
}

macro_rules! text { ($($T:ident $read:ident $write:ident;)*) => { $(
    extern "C" { fn $read(ctx: Raw, text: *const c_char) -> Raw; fn $write(object: Raw) -> *mut c_char; }
    impl $T {
        /// Parses isl's notation.
        ///
        /// # Errors
        /// Text that isl does not understand.
        pub fn parse(context: &Context, text: &str) -> Result<Self> {
            let text = CString::new(text).map_err(|_| Error::new(stringify!($read), "NUL in text"))?;
            // SAFETY: live context, NUL-terminated string that outlives the call.
            Self::wrap(context, unsafe { $read(context.raw(), text.as_ptr()) }, stringify!($read))
        }
    }
    impl fmt::Display for $T {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            // SAFETY: isl allocates the string for us.
            let text = unsafe { self.context.string($write(self.keep()), stringify!($write)) };
            f.write_str(&text.map_err(|_| fmt::Error)?)
        }
    }
    impl fmt::Debug for $T {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { fmt::Display::fmt(self, f) }
    } )* } }

text! {
    Set isl_set_read_from_str isl_set_to_str;
    Map isl_map_read_from_str isl_map_to_str;
    UnionSet isl_union_set_read_from_str isl_union_set_to_str;
    UnionMap isl_union_map_read_from_str isl_union_map_to_str;
}

/// C functions `take -> give`.
macro_rules! unary { ($($T:ident.$method:ident = $f:ident -> $R:ident;)*) => { $(
    extern "C" { fn $f(object: Raw) -> Raw; }
    impl $T {
        // SAFETY: the argument is an owned reference to an object of the declared type.
        pub fn $method(&self) -> Result<$R> { $R::wrap(&self.context, unsafe { $f(self.take()) }, stringify!($f)) }
    } )* } }

/// C functions `take, take -> give`.
macro_rules! binary { ($($T:ident.$method:ident($A:ident) = $f:ident -> $R:ident;)*) => { $(
    extern "C" { fn $f(left: Raw, right: Raw) -> Raw; }
    impl $T {
        pub fn $method(&self, other: &$A) -> Result<$R> {
            self.context.check_same(&other.context, stringify!($f))?;
            // SAFETY: owned references to objects of the declared types, in one context.
            $R::wrap(&self.context, unsafe { $f(self.take(), other.take()) }, stringify!($f))
        }
    } )* } }

/// C functions `keep -> isl_bool`.
macro_rules! test { ($($T:ident.$method:ident = $f:ident;)*) => { $(
    extern "C" { fn $f(object: Raw) -> c_int; }
    impl $T {
        // SAFETY: a borrowed live object of the declared type.
        pub fn $method(&self) -> Result<bool> { self.context.boolean(unsafe { $f(self.keep()) }, stringify!($f)) }
    } )* } }

/// C functions `keep, keep -> isl_bool`.
macro_rules! compare { ($($T:ident.$method:ident = $f:ident;)*) => { $(
    extern "C" { fn $f(left: Raw, right: Raw) -> c_int; }
    impl $T {
        pub fn $method(&self, other: &$T) -> Result<bool> {
            self.context.check_same(&other.context, stringify!($f))?;
            // SAFETY: borrowed live objects of the declared type, in one context.
            self.context.boolean(unsafe { $f(self.keep(), other.keep()) }, stringify!($f))
        }
    } )* } }

/// C functions of lists: `keep -> isl_size` and `keep, index -> give`.
macro_rules! list { ($(
    $(#[$doc:meta])* $T:ident.$method:ident -> $R:ident = $get:ident, $List:ident, $size:ident, $at:ident;
)*) => { $(
    extern "C" { fn $get(object: Raw) -> Raw; fn $size(list: Raw) -> c_int; fn $at(list: Raw, index: c_int) -> Raw; }
    impl $T {
        $(#[$doc])*
        pub(super) fn $method(&self) -> Result<Vec<$R>> {
            // SAFETY: borrowed live objects; the index is below the size that isl reported.
            unsafe {
                let list = $List::wrap(&self.context, $get(self.keep()), stringify!($get))?;
                let size = self.context.size($size(list.keep()), stringify!($size))?;
                let element = |index| $R::wrap(&self.context, $at(list.keep(), index as c_int), stringify!($at));
                (0..size).map(element).collect()
            }
        }
    } )* } }

unary! {
    BasicMap.to_map = isl_map_from_basic_map -> Map;
    Map.make_disjoint = isl_map_make_disjoint -> Map;
    Set.coalesce = isl_set_coalesce -> Set;
    Set.lexmin = isl_set_lexmin -> Set;
    Set.lexmax = isl_set_lexmax -> Set;
    Set.make_disjoint = isl_set_make_disjoint -> Set;
    Set.remove_divs = isl_set_remove_divs -> Set;
    Set.remove_redundancies = isl_set_remove_redundancies -> Set;
    Set.detect_equalities = isl_set_detect_equalities -> Set;
    Set.to_union = isl_union_set_from_set -> UnionSet;
    Map.coalesce = isl_map_coalesce -> Map;
    Map.deltas = isl_map_deltas -> Set;
    Map.domain = isl_map_domain -> Set;
    Map.lexmax = isl_map_lexmax -> Map;
    Map.lexmin = isl_map_lexmin -> Map;
    Map.range = isl_map_range -> Set;
    Map.reverse = isl_map_reverse -> Map;
    UnionMap.coalesce = isl_union_map_coalesce -> UnionMap;
    UnionMap.deltas = isl_union_map_deltas -> UnionSet;
    UnionMap.domain = isl_union_map_domain -> UnionSet;
    UnionMap.lexmax = isl_union_map_lexmax -> UnionMap;
    UnionMap.range = isl_union_map_range -> UnionSet;
    UnionMap.reverse = isl_union_map_reverse -> UnionMap;
    UnionSet.coalesce = isl_union_set_coalesce -> UnionSet;
}

binary! {
    Set.apply(Map) = isl_set_apply -> Set;
    Set.gist(Set) = isl_set_gist -> Set;
    Set.intersect(Set) = isl_set_intersect -> Set;
    Set.subtract(Set) = isl_set_subtract -> Set;
    Set.union(Set) = isl_set_union -> Set;
    Map.apply_range(Map) = isl_map_apply_range -> Map;
    Map.intersect(Map) = isl_map_intersect -> Map;
    Map.intersect_domain(Set) = isl_map_intersect_domain -> Map;
    Map.subtract(Map) = isl_map_subtract -> Map;
    Map.union(Map) = isl_map_union -> Map;
    UnionMap.apply_range(UnionMap) = isl_union_map_apply_range -> UnionMap;
    UnionMap.intersect(UnionMap) = isl_union_map_intersect -> UnionMap;
    UnionMap.intersect_domain(UnionSet) = isl_union_map_intersect_domain -> UnionMap;
    UnionMap.subtract(UnionMap) = isl_union_map_subtract -> UnionMap;
    UnionMap.union(UnionMap) = isl_union_map_union -> UnionMap;
    UnionSet.apply(UnionMap) = isl_union_set_apply -> UnionSet;
    UnionSet.intersect(UnionSet) = isl_union_set_intersect -> UnionSet;
    UnionSet.subtract(UnionSet) = isl_union_set_subtract -> UnionSet;
    UnionSet.union(UnionSet) = isl_union_set_union -> UnionSet;
}

test! {
    Set.is_bounded = isl_set_is_bounded;
    Set.is_empty = isl_set_is_empty;
    Map.is_empty = isl_map_is_empty;
    Map.is_single_valued = isl_map_is_single_valued;
    UnionMap.is_empty = isl_union_map_is_empty;
    UnionSet.is_empty = isl_union_set_is_empty;
}

compare! {
    Set.is_disjoint = isl_set_is_disjoint;
    Set.is_equal = isl_set_is_equal;
    Set.is_subset = isl_set_is_subset;
    Map.is_equal = isl_map_is_equal;
    Map.is_subset = isl_map_is_subset;
    UnionMap.is_equal = isl_union_map_is_equal;
    UnionSet.is_equal = isl_union_set_is_equal;
}

list! {
    Map.basic_map_objects -> BasicMap =
        isl_map_get_basic_map_list, BasicMapList, isl_basic_map_list_size, isl_basic_map_list_get_at;
    Set.basic_set_objects -> BasicSet =
        isl_set_get_basic_set_list, BasicSetList, isl_basic_set_list_size, isl_basic_set_list_get_at;
    /// The members, one per pair of spaces, in isl's (deterministic) order.
    UnionMap.map_objects -> Map = isl_union_map_get_map_list, MapList, isl_map_list_size, isl_map_list_get_at;
    /// The members, one per space, in isl's (deterministic) order.
    UnionSet.set_objects -> Set = isl_union_set_get_set_list, SetList, isl_set_list_size, isl_set_list_get_at;
}
