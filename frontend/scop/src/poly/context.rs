//! isl's context, its errors, and the check of every result of a C call.

use std::ffi::{c_char, c_int, c_ulong, c_void, CStr};
use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;

// Links the static library that isl-rs builds.
use isl_rs as _;

/// A raw isl object; the wrapper that holds it determines its type.
pub(super) type Raw = *mut c_void;

/// `ISL_ON_ERROR_CONTINUE`.
const ON_ERROR_CONTINUE: c_int = 1;

extern "C" {
    fn isl_ctx_alloc() -> Raw;
    fn isl_ctx_free(ctx: Raw);
    fn isl_ctx_last_error_msg(ctx: Raw) -> *const c_char;
    fn isl_ctx_reset_error(ctx: Raw);
    fn isl_options_set_on_error(ctx: Raw, value: c_int) -> c_int;
    fn isl_ctx_set_max_operations(ctx: Raw, operations: c_ulong);
    fn isl_ctx_reset_operations(ctx: Raw);
    fn free(pointer: Raw);
}

/// An operation that isl or this layer refused, and the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub message: String,
    pub call: &'static str,
}

impl Error {
    pub(super) fn new(call: &'static str, message: impl Into<String>) -> Self {
        Error { message: message.into(), call }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

struct Handle(NonNull<c_void>);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the pointer came from isl_ctx_alloc, and every object of this context held a clone of this Rc.
        unsafe { isl_ctx_free(self.0.as_ptr()) }
    }
}

/// An isl context. Cheap to clone; objects of different contexts cannot be combined.
#[derive(Clone)]
pub struct Context(Rc<Handle>);

impl Context {
    /// # Errors
    /// Only if memory is exhausted.
    pub fn new() -> Result<Self> {
        // SAFETY: no preconditions; the result is checked before use.
        let raw =
            NonNull::new(unsafe { isl_ctx_alloc() }).ok_or_else(|| Error::new("isl_ctx_alloc", "out of memory"))?;
        // SAFETY: raw is a live context.
        unsafe { isl_options_set_on_error(raw.as_ptr(), ON_ERROR_CONTINUE) };
        Ok(Context(Rc::new(Handle(raw))))
    }

    pub(super) fn raw(&self) -> Raw {
        self.0 .0.as_ptr()
    }

    /// Runs `f` with a limit on isl's operations; `None` if it is exceeded. The count is the same on every machine.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn within<T>(&self, operations: u64, f: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        // SAFETY: the context is live.
        unsafe {
            isl_ctx_reset_operations(self.raw());
            isl_ctx_set_max_operations(self.raw(), operations as c_ulong);
        }
        let result = f();
        // SAFETY: as above; 0 means no limit.
        unsafe { isl_ctx_set_max_operations(self.raw(), 0) };
        match result {
            Err(error) if error.message.contains("maximal number of operations exceeded") => Ok(None),
            other => other.map(Some),
        }
    }

    /// Takes isl's last message and clears it.
    pub(super) fn error(&self, call: &'static str) -> Error {
        // SAFETY: the context is live; isl returns null or a NUL-terminated string that lives until the reset.
        unsafe {
            let message = isl_ctx_last_error_msg(self.raw());
            let message = if message.is_null() {
                "failed without a message".into()
            } else {
                CStr::from_ptr(message).to_string_lossy().into_owned()
            };
            isl_ctx_reset_error(self.raw());
            Error { message, call }
        }
    }

    pub(super) fn owned(&self, raw: Raw, call: &'static str) -> Result<NonNull<c_void>> {
        NonNull::new(raw).ok_or_else(|| self.error(call))
    }

    /// `isl_bool`: 0, 1, or negative for an error.
    pub(super) fn boolean(&self, value: c_int, call: &'static str) -> Result<bool> {
        if value < 0 {
            return Err(self.error(call));
        }
        Ok(value != 0)
    }

    /// `isl_size`: negative for an error.
    pub(super) fn size(&self, value: c_int, call: &'static str) -> Result<usize> {
        usize::try_from(value).map_err(|_| self.error(call))
    }

    /// Copies and frees a string that isl allocated.
    ///
    /// # Safety
    /// `raw` is null or a NUL-terminated string from malloc that nobody else owns.
    pub(super) unsafe fn string(&self, raw: *mut c_char, call: &'static str) -> Result<String> {
        if raw.is_null() {
            return Err(self.error(call));
        }
        let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
        free(raw.cast());
        Ok(text)
    }

    pub(super) fn check_same(&self, other: &Context, call: &'static str) -> Result<()> {
        if Rc::ptr_eq(&self.0, &other.0) {
            return Ok(());
        }
        Err(Error::new(call, "operands belong to different contexts"))
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Context")
    }
}
