//! UMAC (RFC 4418) with tags of 64 and 128 bits: the MAC that OpenSSH negotiates first.
//!
//! Of its three layers only the first, NH, touches every byte, so NH is the primitive that has rows.
//! One *stream* of hashing gives 32 bits of tag; all streams read the message in the same pass.
#![forbid(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod layers;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sse2;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use self::layers::{InnerProduct, Polynomial};
use super::aes::{self, Aes};
use super::row::{Entry, Kernel, Operation, Primitive, Row, row};
use super::wipe;

/// The primitive: the hash of the first layer (RFC 4418 §5.2.2).
pub struct Nh;

/// What each row of [`Nh`] owns.
#[derive(Clone, Copy)]
pub struct Entries {
    hash: Entry<Hash>,
}

impl Primitive for Nh {
    type Entries = Entries;
    const ROWS: &'static [Row<Self>] = &[
        #[cfg(target_arch = "x86_64")]
        row!("avx512", ["avx512f", "avx512bw", "avx512vbmi2"], wipe::zmm, Entries { hash: Hash => avx512::hash }),
        #[cfg(target_arch = "x86_64")]
        row!("avx2", ["avx2"], wipe::ymm, Entries { hash: Hash => avx2::hash }),
        #[cfg(target_arch = "x86_64")]
        row!("sse2", ["sse2"], wipe::xmm, Entries { hash: Hash => sse2::hash }),
        row!("portable", [], wipe::baseline, Entries { hash: Hash => portable::hash }),
        #[cfg(target_arch = "x86_64")]
        row!("portable, clearing", [], wipe::baseline, Entries { hash: Hash => portable::hash_clearing }),
    ];
}

/// How long a tag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagLen {
    /// `umac-64@openssh.com`.
    Bits64,
    /// `umac-128@openssh.com`.
    Bits128,
}

impl TagLen {
    /// The length in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bits64 => 8,
            Self::Bits128 => 16,
        }
    }

    const fn streams(self) -> usize {
        self.bytes() / 4
    }
}

/// UMAC under one key.
pub struct Umac {
    tag_len: TagLen,
    first: FirstLayer,
    second: Zeroizing<[Polynomial; STREAMS]>,
    third: Zeroizing<[InnerProduct; STREAMS]>,
    pads: Pads,
}

impl Umac {
    /// Derives the keys of all layers from the user's (RFC 4418 §3.2).
    #[must_use]
    pub fn new(nh: Kernel<Nh>, aes: Kernel<Aes>, key: &[u8; 16], tag_len: TagLen) -> Self {
        let master = aes.expand(key);
        let second = derive::<{ Polynomial::KEY * STREAMS }>(&master, 2);
        let third = derive::<{ InnerProduct::KEY * STREAMS }>(&master, 3);
        let masks = derive::<{ 4 * STREAMS }>(&master, 4);
        let (second, third, masks) = (
            second.as_chunks().0,
            third.as_chunks().0,
            masks.as_chunks().0,
        );
        Self {
            tag_len,
            first: FirstLayer::new(nh, &master),
            second: Zeroizing::new(std::array::from_fn(|i| Polynomial::new(&second[i]))),
            third: Zeroizing::new(std::array::from_fn(|i| {
                InnerProduct::new(&third[i], &masks[i])
            })),
            pads: Pads::new(aes.expand(&*derive::<16>(&master, 0))),
        }
    }

    /// Writes the tag of `data` into the first [`TagLen::bytes`] bytes of `tag`. A nonce must not be
    /// used for two messages; OpenSSH's is the packet's sequence number, big-endian.
    ///
    /// # Panics
    /// When `tag` is too short.
    pub fn tag(&mut self, nonce: &[u8; 8], data: &[u8], tag: &mut [u8]) {
        let hashes = Zeroizing::new(self.hash(data));
        let pad = self.pads.pad(nonce, self.tag_len).as_chunks::<4>().0;
        let words = tag[..self.tag_len.bytes()].as_chunks_mut::<4>().0;
        for ((word, hash), pad) in words.iter_mut().zip(*hashes).zip(pad) {
            *word = (hash ^ u32::from_be_bytes(*pad)).to_be_bytes();
        }
    }

    /// UHASH (RFC 4418 §5.1): one word a stream.
    fn hash(&mut self, data: &[u8]) -> [u32; STREAMS] {
        let streams = self.tag_len.streams();
        let mut hashes = [0; STREAMS];
        let results = hashes.iter_mut().zip(self.third.iter()).take(streams);
        if data.len() <= CHUNK {
            let sums = &self.first.hash(streams, data)[0];
            for ((hash, inner), &sum) in results.zip(sums) {
                *hash = inner.hash(sum.into());
            }
            return hashes;
        }
        let polynomials = &mut self.second[..streams];
        polynomials.iter_mut().for_each(Polynomial::start);
        for batch in data.chunks(BATCH * CHUNK) {
            for sums in self.first.hash(streams, batch) {
                for (polynomial, &sum) in polynomials.iter_mut().zip(sums) {
                    polynomial.absorb(sum);
                }
            }
        }
        for ((hash, inner), polynomial) in results.zip(polynomials) {
            *hash = inner.hash(polynomial.finish());
        }
        hashes
    }
}

/// Streams of the longest tag.
const STREAMS: usize = 4;
/// The least that NH takes, in bytes: shorter ends are filled up with zeros.
const UNIT: usize = 32;
/// Bytes that NH makes one sum of.
const CHUNK: usize = 1024;
/// Chunks hashed in one call of a row.
const BATCH: usize = 32;

/// Four words of key.
type Quad = [u32; 4];
/// Each stream's sum of a chunk.
type Sums = [u64; STREAMS];

/// Quads of key: two for each unit of a chunk, and one more for each further stream.
const QUADS: usize = 2 * (CHUNK / UNIT) + STREAMS - 1;

/// The key from some unit on: stream *s* reads unit *u* with the quads 2*u* + *s* and 2*u* + *s* + 1. Those of
/// even and of odd number lie apart, so that several units find theirs side by side.
#[derive(Clone, Copy)]
struct Key<'a> {
    even: &'a [Quad],
    odd: &'a [Quad],
}

impl Key<'_> {
    /// The key from a later unit on.
    #[inline]
    fn from(&self, unit: usize) -> Self {
        Self {
            even: &self.even[unit..],
            odd: &self.odd[unit..],
        }
    }

    /// The key of one unit after the other, for rows that take them one by one.
    #[inline]
    fn units<const STREAMS: usize>(&self) -> impl Iterator<Item = Key<'_>> {
        let even = self.even.windows(STREAMS / 2 + 1);
        let both = even.zip(self.odd.windows(STREAMS / 2));
        both.map(|(even, odd)| Key { even, odd })
    }

    /// What the low and the high halves of `N` units from `unit` on are added to.
    #[inline]
    fn pair<const N: usize>(&self, unit: usize, stream: usize) -> (&[Quad; N], &[Quad; N]) {
        let at = unit + stream / 2;
        if stream.is_multiple_of(2) {
            (quads(self.even, at), quads(self.odd, at))
        } else {
            (quads(self.odd, at), quads(self.even, at + 1))
        }
    }
}

#[inline]
fn quads<const N: usize>(quads: &[Quad], at: usize) -> &[Quad; N] {
    let quads = quads[at..].first_chunk();
    quads.expect("the key is as long as a chunk and all streams take")
}

/// The first layer (RFC 4418 §5.2): chunks to sums.
#[derive(ZeroizeOnDrop)]
struct FirstLayer {
    #[zeroize(skip)]
    nh: Kernel<Nh>,
    even: [Quad; QUADS.div_ceil(2)],
    odd: [Quad; QUADS / 2],
    /// The sums of a batch. They are kept here to be wiped with the key they tell about.
    sums: [Sums; BATCH],
    last: [Sums; 1],
}

impl FirstLayer {
    fn new(nh: Kernel<Nh>, master: &aes::Key) -> Self {
        let bytes = derive::<{ 16 * QUADS }>(master, 1);
        let word = |i: usize| u32::from_be_bytes(bytes.as_chunks().0[i]);
        let quad = |i| std::array::from_fn(|j| word(4 * i + j));
        Self {
            nh,
            even: std::array::from_fn(|i| quad(2 * i)),
            odd: std::array::from_fn(|i| quad(2 * i + 1)),
            sums: [[0; STREAMS]; BATCH],
            last: [[0; STREAMS]],
        }
    }

    /// The sums of at most [`BATCH`] chunks. Empty data is one empty chunk.
    fn hash(&mut self, streams: usize, data: &[u8]) -> &[Sums] {
        let (units, rest) = data.as_chunks::<UNIT>();
        let key = Key {
            even: &self.even,
            odd: &self.odd,
        };
        self.nh.hash(streams, key, units, &mut self.sums);
        let chunks = data.len().div_ceil(CHUNK).max(1);
        let sums = &mut self.sums[..chunks];
        if !rest.is_empty() || data.is_empty() {
            let mut unit = [0; UNIT];
            unit[..rest.len()].copy_from_slice(rest);
            let at = units.len() % (CHUNK / UNIT);
            self.nh.hash(streams, key.from(at), &[unit], &mut self.last);
            let before = if at == 0 {
                [0; STREAMS]
            } else {
                sums[chunks - 1]
            };
            sums[chunks - 1] = std::array::from_fn(|i| before[i].wrapping_add(self.last[0][i]));
        }
        for (sums, start) in sums.iter_mut().zip((0..).step_by(CHUNK)) {
            let bits = 8 * (data.len() - start).min(CHUNK) as u64;
            sums.iter_mut()
                .for_each(|sum| *sum = sum.wrapping_add(bits));
        }
        sums
    }
}

/// The pads that hide the hashes (RFC 4418 §3.3).
struct Pads {
    key: aes::Key,
    /// The nonce block last encrypted, and what it gave: two tags of 64 bits share it.
    nonce: [u8; aes::BLOCK],
    pad: Zeroizing<[u8; aes::BLOCK]>,
}

impl Pads {
    fn new(key: aes::Key) -> Self {
        let mut pads = Self {
            key,
            nonce: [0; aes::BLOCK],
            pad: Zeroizing::new([0; aes::BLOCK]),
        };
        pads.fill();
        pads
    }

    /// As many bytes as a tag has.
    fn pad(&mut self, nonce: &[u8; 8], tag_len: TagLen) -> &[u8] {
        let per_block = aes::BLOCK / tag_len.bytes();
        let index = usize::from(nonce[7]) % per_block;
        let mut block = [0; aes::BLOCK];
        block[..8].copy_from_slice(nonce);
        block[7] -= index as u8;
        if block != self.nonce {
            self.nonce = block;
            self.fill();
        }
        &self.pad[index * tag_len.bytes()..][..tag_len.bytes()]
    }

    fn fill(&mut self) {
        *self.pad = self.nonce;
        self.key.encrypt_block(&mut self.pad);
    }
}

/// Key material number `index` (RFC 4418 §3.2.1), which is counter mode on zeros.
fn derive<const N: usize>(master: &aes::Key, index: u8) -> Zeroizing<[u8; N]> {
    let mut bytes = Zeroizing::new([0; N]);
    let mut counter = ((u128::from(index) << 64) | 1).to_be_bytes();
    master.ctr128(&mut counter, &mut *bytes);
    bytes
}

impl Kernel<Nh> {
    /// The sums of the chunks that `units` are, without their lengths; the last chunk may be short.
    fn hash(self, streams: usize, key: Key<'_>, units: &[[u8; UNIT]], sums: &mut [Sums]) {
        let args = HashArgs {
            streams,
            key,
            units,
            sums,
        };
        self.run(|row| row.hash, args);
    }
}

struct Hash;
struct HashArgs<'a> {
    streams: usize,
    key: Key<'a>,
    units: &'a [[u8; UNIT]],
    sums: &'a mut [Sums],
}
impl Operation for Hash {
    type Args<'a> = HashArgs<'a>;
    type Output = ();
}
