//! ChaCha20 and Poly1305 fused, for messages whose header of four bytes is encrypted under a key of its
//! own, as `PROTOCOL.chacha20poly1305` of OpenSSH has it.
//!
//! Block 0 of the header's key encrypts the header. Block 0 of the main key gives the one-time key of
//! Poly1305, its blocks from 1 on encrypt the body. The tag covers the encrypted header and body.
//! Three key streams for every message: a short one costs what three passes take when they are made one
//! after another, and hardly more than one when their blocks share vectors. That is what the rows here
//! are for; what SSH counts and sends is not known here.
#![forbid(unsafe_code)]

mod composed;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512ifma;

use super::chacha20;
use super::row::{Entry, Kernel, Operation, Primitive, Row, row};
use super::wipe;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Bytes of header.
pub const HEADER: usize = 4;
/// Bytes of tag.
pub const TAG: usize = 16;

/// ChaCha20 and Poly1305 with an encrypted header.
pub struct ChaCha20Poly1305;

/// Both keys, erased when dropped.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Key {
    main: chacha20::Key,
    header: chacha20::Key,
}

impl Key {
    /// The keys of the body and of the header.
    #[must_use]
    pub fn new(main: &[u8; 32], header: &[u8; 32]) -> Self {
        Self {
            main: chacha20::Key::new(main),
            header: chacha20::Key::new(header),
        }
    }
}

/// The key stream a message begins with: enough to read its header, check it and open a short body.
/// Made anew for each nonce, erased when dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(align(64))]
pub struct Start {
    /// Block 0 of the header's key, block 0 of the main key, and where the row makes them in the same
    /// pass, blocks 1 and 2.
    blocks: [[u8; chacha20::BLOCK]; 4],
}

impl Start {
    /// No message's start yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            blocks: [[0; chacha20::BLOCK]; 4],
        }
    }

    /// Encrypts or decrypts a header.
    #[inline]
    #[must_use]
    pub fn header(&self, header: [u8; HEADER]) -> [u8; HEADER] {
        let [a, b, c, d, ..] = self.blocks[0];
        (u32::from_ne_bytes(header) ^ u32::from_ne_bytes([a, b, c, d])).to_ne_bytes()
    }

    /// The key of Poly1305.
    #[inline]
    fn one_time_key(&self) -> &[u8; 32] {
        let [key, _] = self.blocks[1].as_chunks().0 else {
            unreachable!("a block is two keys long");
        };
        key
    }

    /// Key stream of the body's first two blocks.
    #[inline]
    fn body(&self) -> &[[u8; chacha20::BLOCK]; 2] {
        self.blocks.last_chunk().expect("there are four blocks")
    }
}

impl Default for Start {
    fn default() -> Self {
        Self::new()
    }
}

impl Kernel<ChaCha20Poly1305> {
    /// Encrypts a message in place, header and body, and gives its tag. A nonce must not be used for
    /// two messages.
    ///
    /// # Panics
    /// When there is less than a header.
    #[inline]
    #[must_use]
    pub fn seal(self, key: &Key, nonce: [u8; 8], message: &mut [u8]) -> [u8; TAG] {
        let nonce = u64::from_le_bytes(nonce);
        let args = SealArgs {
            key,
            nonce,
            message,
        };
        self.run(|row| row.seal, args)
    }

    /// Makes the start of the message with this nonce.
    #[inline]
    pub fn begin(self, key: &Key, nonce: [u8; 8], start: &mut Start) {
        let nonce = u64::from_le_bytes(nonce);
        self.run(|row| row.begin, BeginArgs { key, nonce, start });
    }

    /// Decrypts a sealed message in place if `tag` is its tag, and says whether it is. `start` is the
    /// one this row made for the nonce. Where the tag is wrong, no plaintext is left in `message`.
    ///
    /// # Panics
    /// When there is less than a header.
    #[inline]
    #[must_use]
    pub fn open(
        self,
        key: &Key,
        nonce: [u8; 8],
        start: &Start,
        message: &mut [u8],
        tag: &[u8; TAG],
    ) -> bool {
        let args = OpenArgs {
            key,
            nonce: u64::from_le_bytes(nonce),
            start,
            message,
            tag,
        };
        self.run(|row| row.open, args)
    }
}

/// Encrypts and authenticates.
struct Seal;

/// What [`Seal`] takes.
struct SealArgs<'a> {
    key: &'a Key,
    /// Words 14 and 15 of the state, the lower first.
    nonce: u64,
    message: &'a mut [u8],
}

impl Operation for Seal {
    type Args<'a> = SealArgs<'a>;
    type Output = [u8; TAG];
}

/// Makes the key stream a message begins with.
struct Begin;

/// What [`Begin`] takes.
struct BeginArgs<'a> {
    key: &'a Key,
    nonce: u64,
    start: &'a mut Start,
}

impl Operation for Begin {
    type Args<'a> = BeginArgs<'a>;
    type Output = ();
}

/// Checks and decrypts.
struct Open;

/// What [`Open`] takes.
struct OpenArgs<'a> {
    key: &'a Key,
    nonce: u64,
    start: &'a Start,
    message: &'a mut [u8],
    tag: &'a [u8; TAG],
}

impl Operation for Open {
    type Args<'a> = OpenArgs<'a>;
    type Output = bool;
}

/// What every row can do.
#[derive(Clone, Copy)]
pub struct Entries {
    seal: Entry<Seal>,
    begin: Entry<Begin>,
    open: Entry<Open>,
}

impl Primitive for ChaCha20Poly1305 {
    type Entries = Entries;
    const ROWS: &'static [Row<Self>] = &[
        #[cfg(target_arch = "x86_64")]
        row!(
            "avx512ifma",
            ["avx512f", "avx512bw", "avx512ifma", "avx512vbmi2"],
            wipe::zmm,
            Entries {
                seal: Seal => avx512ifma::seal,
                begin: Begin => avx512ifma::begin,
                open: Open => avx512ifma::open,
            }
        ),
        #[cfg(target_arch = "x86_64")]
        row!(
            "avx2",
            ["avx2"],
            wipe::ymm,
            Entries {
                seal: Seal => avx2::seal,
                begin: Begin => avx2::begin,
                open: Open => avx2::open,
            }
        ),
        #[cfg(target_arch = "x86_64")]
        row!(
            "sse2",
            ["sse2"],
            wipe::xmm,
            Entries {
                seal: Seal => composed::sse2::seal,
                begin: Begin => composed::sse2::begin,
                open: Open => composed::sse2::open,
            }
        ),
        row!(
            "portable",
            [],
            wipe::baseline,
            Entries {
                seal: Seal => composed::portable::seal,
                begin: Begin => composed::portable::begin,
                open: Open => composed::portable::open,
            }
        ),
    ];
}
