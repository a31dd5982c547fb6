//! Memory with a forbidden page on either side: the one place of these tests that needs `unsafe`.

use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// Readable and writable pages between two that are neither.
pub(crate) struct Guarded {
    first: NonNull<u8>,
    /// Of the accessible part, in bytes.
    length: usize,
    page: usize,
}

impl Guarded {
    /// Pages enough for `length` bytes.
    pub(crate) fn new(length: usize) -> Self {
        let page = rustix::param::page_size();
        let length = length.max(1).next_multiple_of(page);
        let mapped = length + 2 * page;
        // SAFETY: a fresh private mapping; nothing else knows its address.
        let start = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                mapped,
                ProtFlags::empty(),
                MapFlags::PRIVATE,
            )
        };
        let start = start.expect("the system maps a few pages").cast::<u8>();
        // SAFETY: one page into a mapping of `length` and two pages.
        let first = unsafe { start.add(page) };
        // SAFETY: these pages are ours and no reference to them exists yet.
        let opened = unsafe {
            mprotect(
                first.cast(),
                length,
                MprotectFlags::READ | MprotectFlags::WRITE,
            )
        };
        opened.expect("the system opens pages of ours");
        let first = NonNull::new(first).expect("a mapping is never at 0");
        Self {
            first,
            length,
            page,
        }
    }

    /// The accessible bytes: whole pages, zero at first.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `length` readable and writable bytes that live as long as `self`, which is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.length) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, whole, with no borrow left.
        let gone = unsafe {
            let start = self.first.as_ptr().sub(self.page);
            munmap(start.cast(), self.length + 2 * self.page)
        };
        gone.expect("the mapping is ours");
    }
}
