//! What needs `unsafe` on the way to a window: asking the dynamic loader for a library.

/// Whether the dynamic loader finds and can load this library.
#[must_use]
pub fn can_load(name: &str) -> bool {
    // SAFETY: loading runs the library's initialisers. The names asked for are system libraries that
    // the window toolkit is about to load in the same way; none is unloaded while in use, for the
    // toolkit holds its own reference.
    unsafe { libloading::Library::new(name) }.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_there_and_nonsense_is_not() {
        assert!(can_load("libc.so.6"));
        assert!(!can_load("libno-such-thing.so.0"));
    }
}
