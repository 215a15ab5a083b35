//! The user's file with calls that save the arrays where the region begins and where it ends.
//!
//! Variables of functions, not parameters, are only in scope there. A `static` variable gets its value from the caller
//! behind its declaration, once.

use super::{bytes, bytes_text, dram, shared, Way};
use scop::{Array, Binding, Scop};

/// The user's file with calls at the ends of its region; a region at file level becomes the body of `sagen_region`.
/// `None` if the region is in an included file.
pub(super) fn watched(scop: &Scop, way: Way) -> Option<String> {
    let region = scop.function.region;
    let source = scop.sources.files.first().filter(|_| region.file == 0)?;
    let (start, end) = (region.start as usize, region.end as usize);
    let (head, body, tail) = (source.text.get(..start)?, source.text.get(start..end)?, source.text.get(end..)?);
    let (head, body, tail) =
        (with_state(scop, head, 0, way), with_state(scop, body, start, way), with_state(scop, tail, end, way));
    let (head, pragmas) = head.split_at(before_pragmas(&head));
    // The region may move a pointer and change a scalar one: the caller never sees that.
    let place = |(slot, (_, array)): (usize, (usize, &Array))| {
        let name = c_name(scop, array);
        match array.binding {
            Binding::Value(_) => format!("__typeof__({name}) sagen_value_{slot} = {name};"),
            Binding::Parameter(_) | Binding::Allocated => {
                format!("void *sagen_at_{slot} = (void *){}{name};", if array.dims.is_empty() { "&" } else { "" })
            }
            _ => String::new(),
        }
    };
    let places: String = dram(scop).enumerate().map(place).collect();
    let keep = |when: &str| {
        let copy = |(slot, (_, array)): (usize, (usize, &Array))| {
            let (to, size) = (format!("sagen_{when}[{slot}]"), bytes_text(array));
            let named = of_function(scop, array) || array.binding == Binding::Global;
            match (array.binding, when) {
                (Binding::Static, "before") if way == Way::Call => String::new(),
                (Binding::Static, "before") => {
                    format!("if (sagen_state[{slot}]) __builtin_memcpy({to}, sagen_state[{slot}], {size});")
                }
                // Not in scope yet.
                (_, "before") if of_region(scop, array) => String::new(),
                // Its declaration may never have been reached.
                (Binding::Static, _) => format!(
                    "__builtin_memcpy({to}, sagen_state[{slot}] ? sagen_state[{slot}] : sagen_before[{slot}], {size});"
                ),
                _ => {
                    let check = if when == "before" { size_check(scop, slot, array) } else { String::new() };
                    let from = match array.binding {
                        Binding::Value(_) => format!("&sagen_value_{slot}"),
                        Binding::Parameter(_) | Binding::Allocated => format!("sagen_at_{slot}"),
                        // A structure has dimensions, too.
                        _ if array.dims.is_empty() || named => format!("(void *)&{}", c_name(scop, array)),
                        _ => format!("(void *){}", c_name(scop, array)),
                    };
                    format!("{check}__builtin_memcpy({to}, {from}, {size});")
                }
            }
        };
        dram(scop).enumerate().map(copy).collect::<String>()
    };
    let (open, close) = if scop.function.name.is_some() { ("", "") } else { ("void sagen_region(void) {", "}") };
    // A local variable, so that a region in a loop matches its own beginning.
    let (sizes, done) = match way {
        Way::Call => (String::new(), ""),
        Way::Main => (sizes_check(scop), "sagen_done();"),
    };
    let begin =
        format!("{open} int sagen_first = !sagen_runs++; {places} if (sagen_first) {{ {sizes}{} }}", keep("before"));
    let finish = format!("if (sagen_first) {{ {} {done} }} {close}", keep("after"));
    Some(format!("{}\n{head}\n{begin}\n{pragmas}\n{body}\n{finish}\n{tail}", shared(scop)))
}

/// A statement that ends the program if it calls the function with other sizes than those of `scop`.
fn sizes_check(scop: &Scop) -> String {
    let fixed = || scop.sizes.iter().filter_map(|size| Some((&size.name, size.value?)));
    let differ: Vec<String> = fixed().map(|(name, value)| format!("{name} != {value}")).collect();
    if differ.is_empty() {
        return String::new();
    }
    let format: Vec<String> = fixed().map(|(name, _)| format!("{name}=%lld")).collect();
    let values: String = fixed().map(|(name, _)| format!(", (long long){name}")).collect();
    format!("if ({}) sagen_other_size(\"{}\"{values}); ", differ.join(" || "), format.join(","))
}

/// Whether the region declares it.
fn of_region(scop: &Scop, array: &Array) -> bool {
    let (region, place) = (scop.function.region, array.span);
    of_function(scop, array) && place.file == region.file && region.start <= place.start && place.end <= region.end
}

/// A part of the main file, from `offset` on. Behind the declaration of each `static` variable of a function that is an
/// argument of the hardware, the variable gets the value that the caller gives, once. So do the variables that the
/// region declares without an initializer: what C leaves undefined there is what the hardware finds.
fn with_state(scop: &Scop, text: &str, offset: usize, way: Way) -> String {
    let declared = |(slot, (_, array)): (usize, (usize, &Array))| {
        let is_static = array.binding == Binding::Static;
        let place = (array.span.end as usize).checked_sub(offset).filter(|_| is_static || of_region(scop, array))?;
        let rest = text.get(place..)?;
        let end = place + end_of_declaration(rest)?;
        let (name, size) = (c_name(scop, array), bytes_text(array));
        if !is_static {
            let initialized = rest.find([',', ';']).is_some_and(|k| rest[..k].contains('='));
            let copy = format!(" if (sagen_first) __builtin_memcpy((void *)&{name}, sagen_before[{slot}], {size});");
            return (!initialized).then_some((end, copy));
        }
        let state = format!("sagen_state[{slot}]");
        let check = size_check(scop, slot, array);
        let copy = match way {
            Way::Call => format!("__builtin_memcpy({state}, sagen_before[{slot}], {size});"),
            // Its own value; if the region has begun, that is what the region finds.
            Way::Main => format!("if (sagen_runs) __builtin_memcpy(sagen_before[{slot}], {state}, {size});"),
        };
        Some((end, format!(" {check}if (!{state}) {{ {state} = (void *)&{name}; {copy} }}")))
    };
    let mut insertions: Vec<(usize, String)> = dram(scop).enumerate().filter_map(declared).collect();
    insertions.sort();
    let mut all = text.to_string();
    insertions.iter().rev().for_each(|(place, insertion)| all.insert_str(*place, insertion));
    all
}

/// The length of the rest of a declaration, with its semicolon.
fn end_of_declaration(text: &str) -> Option<usize> {
    let (bytes, mut at, mut open) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        let skip = |start: usize, end: &str| text.get(start..)?.find(end).map(|length| start + length + end.len());
        at = match bytes[at] {
            b'/' if text[at..].starts_with("//") => skip(at, "\n")?,
            b'/' if text[at..].starts_with("/*") => skip(at + 2, "*/")?,
            b';' if open == 0 => return Some(at + 1),
            c => {
                open += i32::from(matches!(c, b'{' | b'(' | b'[')) - i32::from(matches!(c, b'}' | b')' | b']'));
                at + 1
            }
        };
    }
    None
}

/// A declaration that the compiler refuses if it disagrees with the front end on the size of a variable of a function.
fn size_check(scop: &Scop, slot: usize, array: &Array) -> String {
    match of_function(scop, array) && array.extents.is_empty() && array.binding != Binding::Allocated {
        true => {
            format!("typedef char sagen_size_{slot}[sizeof({}) == {} ? 1 : -1]; ", c_name(scop, array), bytes(array))
        }
        false => String::new(),
    }
}

/// The start of the pragmas at the end of `text`. A pragma of another tool belongs to the loop behind it.
fn before_pragmas(text: &str) -> usize {
    let mut end = text.len();
    for line in text.split_inclusive('\n').rev() {
        let pragma = line.trim_start().strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("pragma"));
        if !pragma && !line.trim().is_empty() {
            break;
        }
        end -= line.len();
    }
    end
}

/// A variable of a function, not a parameter: the instrumented text reads it where it is in scope.
pub(super) fn of_function(scop: &Scop, array: &Array) -> bool {
    match array.binding {
        Binding::Around | Binding::Allocated | Binding::Static => true,
        Binding::Value(position) => position >= scop.function.parameters,
        _ => false,
    }
}

/// Its name in the program. The array's name may differ, if several variables have this name.
fn c_name<'a>(scop: &'a Scop, array: &'a Array) -> &'a str {
    let word = |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let file = scop.sources.files.get(array.span.file as usize).filter(|_| of_function(scop, array));
    let text = file.and_then(|f| f.text.get(array.span.start as usize..array.span.end as usize));
    text.filter(word).unwrap_or(&array.name)
}
