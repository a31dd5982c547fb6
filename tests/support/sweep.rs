//! Which lengths, offsets and random bytes the kernel sweeps go through.
#![forbid(unsafe_code)]
#![allow(dead_code, reason = "no test binary uses all of it")]

/// Whether the sweeps shall be short, for emulators and valgrind: `ADVISOR_TEST_EFFORT=thin`.
pub(crate) fn is_thin() -> bool {
    std::env::var_os("ADVISOR_TEST_EFFORT").is_some_and(|effort| effort == "thin")
}

/// Every short length, and a long one.
pub(crate) fn lengths() -> impl Iterator<Item = usize> {
    let last = if is_thin() { 320 } else { 1100 };
    (0..=last).chain([LONG])
}

const LONG: usize = 32 * 1024;

/// Offset and length of a buffer: all lengths at offsets 0, 1 and 63, all offsets at a few lengths, and
/// at offset 0 what two passes of the widest row reach and every length around a long one.
pub(crate) fn placements() -> impl Iterator<Item = (usize, usize)> {
    const FEW: [usize; 20] = [
        1, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257, 511, 513, 577, 1023, 1025,
    ];
    let (everywhere, longer, around) = if is_thin() {
        (0..0, 0..0, 0..0)
    } else {
        (2..63, 1101..2201, LONG - 64..LONG + 65)
    };
    let few = everywhere.flat_map(|offset| FEW.map(|length| (offset, length)));
    let all = [0, 1, 63].into_iter();
    all.flat_map(|offset| lengths().map(move |length| (offset, length)))
        .chain(few)
        .chain(longer.chain(around).map(|length| (0, length)))
}

/// A seeded stream of bytes (SplitMix64), the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next 64 bits.
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Overwrites `bytes`.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.word().to_le_bytes()[..part.len()]);
        }
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// The next `length` bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.fill(&mut bytes);
        bytes
    }
}

/// The bytes that these hexadecimal digits write; white space between them means nothing.
///
/// # Panics
/// When there is anything else, or half a byte.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u32> = digits
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).expect("a hexadecimal digit"))
        .collect();
    let (pairs, rest) = digits.as_chunks::<2>();
    assert!(rest.is_empty(), "half a byte");
    pairs
        .iter()
        .map(|[high, low]| (high << 4 | low) as u8)
        .collect()
}
