//! Rows and kernels: how a primitive's implementations are listed, admitted and entered.
//!
//! A primitive declares its operations and one `static` table of rows, best first:
//!
//! ```ignore
//! pub struct Xor;                                        // an operation
//! impl Operation for Xor { type Args<'a> = XorArgs<'a>; type Output = (); }
//!
//! pub struct ChaCha20;                                   // a primitive
//! #[derive(Clone, Copy)]
//! pub struct Entries { xor: Entry<Xor> }                 // what each row owns
//! impl Primitive for ChaCha20 {
//!     type Entries = Entries;
//!     const ROWS: &'static [Row<Self>] = &[
//!         row!("avx2", ["avx2"], wipe::ymm, Entries { xor: Xor => avx2::xor }),
//!         row!("portable", [], wipe::baseline, Entries { xor: Xor => portable::xor }),
//!     ];
//! }
//! ```
//!
//! `row!` makes one `#[target_feature]` function per entry from the row's one list of features. The
//! kernel is called *safely* in there, so a list too short for the kernel does not compile (E0133).

use crate::cpu::{Detected, Features};

/// One thing a primitive does: the shape of its arguments and of its result.
pub trait Operation: 'static {
    /// What it takes.
    type Args<'a>;
    /// What it gives.
    type Output;
}

/// The entry of one row for one operation. Made by the `row!` macro only.
pub struct Entry<O: Operation>(for<'a> unsafe fn(O::Args<'a>) -> O::Output);

impl<O: Operation> Clone for Entry<O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<O: Operation> Copy for Entry<O> {}

impl<O: Operation> Entry<O> {
    pub(in crate::kernels) const fn new(
        entry: for<'a> unsafe fn(O::Args<'a>) -> O::Output,
    ) -> Self {
        Self(entry)
    }
}

/// A family of rows that compute the same thing.
pub trait Primitive: Sized + 'static {
    /// One [`Entry`] per operation.
    type Entries: Copy + 'static;
    /// Its rows, best first. The last one is portable and needs nothing.
    const ROWS: &'static [Row<Self>];
}

/// One implementation of a primitive.
pub struct Row<P: Primitive> {
    /// Its name in reports: the instruction set it is written for.
    pub name: &'static str,
    /// The features it needs.
    pub needs: Features,
    entries: P::Entries,
}

impl<P: Primitive> Row<P> {
    pub(in crate::kernels) const fn new(
        name: &'static str,
        needs: Features,
        entries: P::Entries,
    ) -> Self {
        Self {
            name,
            needs,
            entries,
        }
    }
}

/// The best row for a set of features. Pure: the answer cannot be run, so the set may be synthetic.
///
/// # Panics
/// Never: the last row of every table needs nothing, which a test holds true.
#[must_use]
pub fn choose<P: Primitive>(features: Features) -> &'static Row<P> {
    let usable = P::ROWS.iter().find(|row| features.contains(row.needs));
    usable.expect("the last row needs no feature")
}

/// A row that this processor can run.
pub struct Kernel<P: Primitive>(&'static Row<P>);

impl<P: Primitive> Clone for Kernel<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Primitive> Copy for Kernel<P> {}

impl<P: Primitive> std::fmt::Debug for Kernel<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernel({})", self.0.name)
    }
}

impl<P: Primitive> Kernel<P> {
    /// The best row this processor can run.
    #[must_use]
    pub fn best(detected: Detected) -> Self {
        Self(choose(detected.features()))
    }

    /// Every row this processor can run, best first.
    pub fn usable(detected: Detected) -> impl Iterator<Item = Self> {
        P::ROWS
            .iter()
            .filter(move |row| detected.features().contains(row.needs))
            .map(Self)
    }

    /// The row of that name, unless there is none or this processor cannot run it.
    #[must_use]
    pub fn named(detected: Detected, name: &str) -> Option<Self> {
        Self::usable(detected).find(|kernel| kernel.name() == name)
    }

    /// The row's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Runs one operation of this row; `pick` names the row's field.
    #[inline]
    pub(in crate::kernels) fn run<O: Operation>(
        self,
        pick: impl FnOnce(&P::Entries) -> Entry<O>,
        args: O::Args<'_>,
    ) -> O::Output {
        let entry = pick(&self.0.entries).0;
        // SAFETY: a Kernel holds only rows whose features were detected, and `row!` gives all
        // entries of a row the same features.
        unsafe { entry(args) }
    }
}

/// Makes a [`Row`]: its name, its features, what clears the vector registers after each entry, and
/// for each operation the kernel that does it.
macro_rules! row {
    ($name:literal, $features:tt, $wipe:path, $entries:ident { $($field:ident: $operation:ty => $kernel:path),+ $(,)? }) => {
        $crate::kernels::row::Row::new(
            $name,
            $crate::kernels::row::features!($features),
            $crate::kernels::row::entries!($features, $wipe, $entries { $($field: $operation => $kernel),+ }),
        )
    };
}

/// The entries of one row; a step of its own because a list of features repeats at another depth than the fields.
macro_rules! entries {
    ($features:tt, $wipe:path, $entries:ident { $($field:ident: $operation:ty => $kernel:path),+ }) => {
        $entries { $($field: $crate::kernels::row::entry!($features, $wipe, $operation, $kernel)),+ }
    };
}

macro_rules! features {
    ([$($feature:tt),*]) => {
        const {
            $crate::cpu::Features::NONE$(.with(match $crate::cpu::Features::named($feature) {
                Some(feature) => feature,
                None => panic!("unknown feature"),
            }))*
        }
    };
}

macro_rules! entry {
    ([$($feature:tt),*], $wipe:path, $operation:ty, $kernel:path) => {{
        $(#[target_feature(enable = $feature)])*
        fn entry(
            args: <$operation as $crate::kernels::row::Operation>::Args<'_>,
        ) -> <$operation as $crate::kernels::row::Operation>::Output {
            let output = $kernel(args);
            $wipe();
            output
        }
        $crate::kernels::row::Entry::<$operation>::new(entry)
    }};
}

pub(in crate::kernels) use {entries, entry, features, row};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::wipe;

    struct Double;
    impl Operation for Double {
        type Args<'a> = &'a mut [u32; 3];
        type Output = usize;
    }
    struct Doubling;
    #[derive(Clone, Copy)]
    struct Entries {
        double: Entry<Double>,
    }
    fn portable(data: &mut [u32; 3]) -> usize {
        data.iter_mut().for_each(|x| *x *= 2);
        data.len()
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn avx2(data: &mut [u32; 3]) -> usize {
        portable(data)
    }
    impl Primitive for Doubling {
        type Entries = Entries;
        const ROWS: &'static [Row<Self>] = &[
            #[cfg(target_arch = "x86_64")]
            row!("avx2", ["avx2"], wipe::ymm, Entries { double: Double => avx2 }),
            row!("portable", [], wipe::baseline, Entries { double: Double => portable }),
        ];
    }

    #[test]
    fn every_usable_row_runs_and_choose_is_pure() {
        let mut rows = 0;
        for kernel in Kernel::<Doubling>::usable(Detected::new(Features::NONE)) {
            let mut data = [1, 2, 3];
            assert_eq!(kernel.run(|row| row.double, &mut data), 3);
            assert_eq!(data, [2, 4, 6], "{}", kernel.name());
            rows += 1;
        }
        assert!(rows >= 1);
        assert_eq!(choose::<Doubling>(Features::NONE).name, "portable");
    }

    #[test]
    fn a_row_is_given_by_name_only_where_it_can_run() {
        let all = Detected::new(Features::NONE);
        let named = |detected, name| Kernel::<Doubling>::named(detected, name).map(Kernel::name);
        assert_eq!(named(all, "portable"), Some("portable"));
        assert_eq!(named(all, "nonesuch"), None);
        assert_eq!(named(all.without(Features::ALL), "avx2"), None);
    }
}
