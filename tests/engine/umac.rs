//! UMAC against RFC 4418's vectors and a literal reading of its text.
#![forbid(unsafe_code)]

use engine::cpu::{Detected, Feature, Features};
use engine::kernels::Kernel;
use engine::kernels::aes::Aes;
use engine::kernels::row::choose;
use engine::kernels::umac::{Nh, TagLen, Umac};

use crate::sweep::{Random, hex, is_thin, placements};

fn rows() -> impl Iterator<Item = Kernel<Nh>> {
    Kernel::usable(Detected::new(Features::NONE))
}

fn umac(nh: Kernel<Nh>, key: &[u8; 16], tag_len: TagLen) -> Umac {
    let aes = Kernel::<Aes>::best(Detected::new(Features::NONE));
    Umac::new(nh, aes, key, tag_len)
}

fn tag(umac: &mut Umac, nonce: &[u8; 8], data: &[u8], tag_len: TagLen) -> Vec<u8> {
    let mut tag = [0xa5; 64];
    umac.tag(nonce, data, &mut tag);
    assert!(tag[tag_len.bytes()..].iter().all(|&byte| byte == 0xa5));
    tag[..tag_len.bytes()].to_vec()
}

#[test]
fn the_portable_row_always_runs_and_vectors_come_first() {
    assert_eq!(choose::<Nh>(Features::NONE).name, "portable");
    if cfg!(target_arch = "x86_64") {
        assert_eq!(choose::<Nh>(Features::of(&[Feature::Sse2])).name, "sse2");
    }
}

#[test]
fn rfc_4418_appendix_with_erratum_3507() {
    // The RFC has the first 96 bits of the long tags; the rest is what Nettle gives.
    let cases: [(&[u8], usize, &str, &str); 8] = [
        (
            b"",
            0,
            "6E155FAD26900BE1",
            "32FEDB100C79AD58F07FF7643CC60465",
        ),
        (
            b"a",
            3,
            "44B5CB542F220104",
            "185E4FE905CBA7BD85E4C2DC3D117D8D",
        ),
        (
            b"a",
            1 << 10,
            "26BF2F5D60118BD9",
            "7A54ABE04AF82D60FB298C3CBD195BCB",
        ),
        (
            b"a",
            1 << 15,
            "27F8EF643B0D118D",
            "7B136BD911E4B734286EF2BE501F2C3C",
        ),
        (
            b"a",
            1 << 20,
            "A4477E87E9F55853",
            "F8ACFA3AC31CFEEA047F7B115B03BEF5",
        ),
        (
            b"a",
            1 << 25,
            "FACA46F856E9B45F",
            "A621C2457C0012E64F3FDAE9E7E1870C",
        ),
        (
            b"abc",
            1,
            "D4D7B9F6BD4FBFCF",
            "883C3D4B97A61976FFCF232308CBA5A5",
        ),
        (
            b"abc",
            500,
            "D4CF26DDEFD5C01A",
            "8824A260C53C66A36C9260A62CB83AA1",
        ),
    ];
    for (text, times, short, long) in cases {
        if is_thin() && times > 1 << 20 {
            continue;
        }
        let data = text.repeat(times);
        for nh in rows() {
            for (tag_len, expected) in [(TagLen::Bits64, short), (TagLen::Bits128, long)] {
                let mut umac = umac(nh, b"abcdefghijklmnop", tag_len);
                let tag = tag(&mut umac, b"bcdefghi", &data, tag_len);
                assert_eq!(tag, hex(expected), "{nh:?}, {} bytes", data.len());
            }
        }
    }
}

#[test]
fn past_16_mib_the_wider_polynomial_takes_over() {
    // From Nettle: the last length without it, the first with it, and one more word.
    let cases = [
        (
            1 << 24,
            "de9359204d2ecb26",
            "8278dd9d67c76d9f9a3c5386ef92298c",
        ),
        (
            (1 << 24) + 1,
            "13ae3f7a2d2255b8",
            "4f45bbc707cbf301094b6f7a9950e945",
        ),
        (
            (1 << 24) + 1025,
            "3e9375b084af93e5",
            "6278f10dae46355cd44bcd8d4b303825",
        ),
    ];
    for (len, short, long) in cases.into_iter().filter(|_| !is_thin()) {
        let data = vec![b'a'; len];
        for nh in rows() {
            for (tag_len, expected) in [(TagLen::Bits64, short), (TagLen::Bits128, long)] {
                let mut umac = umac(nh, b"abcdefghijklmnop", tag_len);
                let tag = tag(&mut umac, b"bcdefghi", &data, tag_len);
                assert_eq!(tag, hex(expected), "{nh:?}, {len} bytes");
            }
        }
    }
}

#[test]
fn any_length_at_any_offset_has_the_tag_the_rfc_spells_out() {
    let mut random = Random(1);
    let mut buffer = vec![0; 33 * 1024];
    random.fill(&mut buffer);
    for tag_len in [TagLen::Bits64, TagLen::Bits128] {
        let key = random.array();
        let reading = rfc::Umac::new(&key, tag_len.bytes());
        let mut ours: Vec<Umac> = rows().map(|nh| umac(nh, &key, tag_len)).collect();
        for (offset, len) in placements() {
            let data = &buffer[offset..][..len];
            let nonce = random.array();
            let expected = reading.tag(&nonce, data);
            for ours in &mut ours {
                let tag = tag(ours, &nonce, data, tag_len);
                assert_eq!(tag, expected, "{len} bytes at {offset}");
            }
        }
    }
}

#[test]
fn extreme_bytes_under_many_keys_have_the_tag_the_rfc_spells_out() {
    let mut random = Random(2);
    for round in 0..40 {
        let (key, nonce) = (random.array(), random.array());
        let data = vec![[0x00, 0xff, 0x80, 0x7f][round % 4]; 1 + round * 157];
        for tag_len in [TagLen::Bits64, TagLen::Bits128] {
            let expected = rfc::Umac::new(&key, tag_len.bytes()).tag(&nonce, &data);
            for nh in rows() {
                let mut umac = umac(nh, &key, tag_len);
                assert_eq!(tag(&mut umac, &nonce, &data, tag_len), expected, "{nh:?}");
            }
        }
    }
}

#[test]
fn sequence_numbers_in_any_order_have_their_own_pads() {
    let mut random = Random(3);
    let key = random.array();
    let numbers = [
        0u64,
        1,
        2,
        3,
        1,
        0,
        6,
        7,
        6,
        255,
        256,
        u64::from(u32::MAX),
        0,
        u64::MAX,
    ];
    for tag_len in [TagLen::Bits64, TagLen::Bits128] {
        let reading = rfc::Umac::new(&key, tag_len.bytes());
        for nh in rows() {
            let mut umac = umac(nh, &key, tag_len);
            for nonce in numbers.map(u64::to_be_bytes) {
                let expected = reading.tag(&nonce, b"packet");
                assert_eq!(tag(&mut umac, &nonce, b"packet", tag_len), expected);
            }
        }
    }
}

#[test]
fn a_flipped_bit_gives_another_tag() {
    let mut random = Random(4);
    let (key, nonce) = (random.array(), random.array());
    for len in [1, 31, 32, 200] {
        let mut data = random.bytes(len);
        for nh in rows() {
            let mut umac = umac(nh, &key, TagLen::Bits64);
            let genuine = tag(&mut umac, &nonce, &data, TagLen::Bits64);
            for bit in 0..8 * len {
                data[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(tag(&mut umac, &nonce, &data, TagLen::Bits64), genuine);
                data[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

/// RFC 4418, section by section, with its names, for messages below 16 MiB.
mod rfc {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};

    pub(super) struct Umac {
        taglen: usize,
        l1key: Vec<u8>,
        l2key: Vec<u8>,
        l3key1: Vec<u8>,
        l3key2: Vec<u8>,
        pdf_key: Vec<u8>,
    }

    impl Umac {
        /// §5.1, the keys.
        pub(super) fn new(k: &[u8; 16], taglen: usize) -> Self {
            let iters = taglen / 4;
            Self {
                taglen,
                l1key: kdf(k, 1, 1024 + (iters - 1) * 16),
                l2key: kdf(k, 2, iters * 24),
                l3key1: kdf(k, 3, iters * 64),
                l3key2: kdf(k, 4, iters * 4),
                pdf_key: kdf(k, 0, 16),
            }
        }

        /// §4.2.
        pub(super) fn tag(&self, nonce: &[u8; 8], m: &[u8]) -> Vec<u8> {
            let pad = self.pdf(nonce);
            self.uhash(m).iter().zip(pad).map(|(a, b)| a ^ b).collect()
        }

        /// §3.3.1.
        fn pdf(&self, nonce: &[u8; 8]) -> Vec<u8> {
            let mut nonce = *nonce;
            let mut index = 0;
            if self.taglen == 8 {
                index = usize::from(nonce[7] & 1);
                nonce[7] ^= index as u8;
            }
            let mut block = [0; 16];
            block[..8].copy_from_slice(&nonce);
            encipher(&self.pdf_key, block)[index * self.taglen..][..self.taglen].to_vec()
        }

        /// §5.1.
        fn uhash(&self, m: &[u8]) -> Vec<u8> {
            let stream = |i: usize| {
                let a = l1_hash(&self.l1key[16 * i..][..1024], m);
                let b = match m.len() <= 1024 {
                    true => [&[0; 8], &a[..]].concat(),
                    false => l2_hash(&self.l2key[24 * i..][..24], &a),
                };
                l3_hash(&self.l3key1[64 * i..][..64], &self.l3key2[4 * i..][..4], &b)
            };
            (0..self.taglen / 4).flat_map(stream).collect()
        }
    }

    fn encipher(k: &[u8], block: [u8; 16]) -> [u8; 16] {
        let mut block = block.into();
        aes::Aes128::new_from_slice(k)
            .unwrap()
            .encrypt_block(&mut block);
        block.into()
    }

    /// §3.2.1.
    fn kdf(k: &[u8], index: u64, numbytes: usize) -> Vec<u8> {
        let block = |i: u64| {
            let text = [index.to_be_bytes(), i.to_be_bytes()].concat();
            encipher(k, text.try_into().unwrap())
        };
        let mut bytes: Vec<u8> = (1..=numbytes.div_ceil(16) as u64).flat_map(block).collect();
        bytes.truncate(numbytes);
        bytes
    }

    /// §5.2.1.
    fn l1_hash(k: &[u8], m: &[u8]) -> Vec<u8> {
        let empty: [&[u8]; 1] = [&[]];
        let parts: Vec<&[u8]> = match m.is_empty() {
            true => empty.to_vec(),
            false => m.chunks(1024).collect(),
        };
        let hash = |part: &&[u8]| {
            let mut padded = part.to_vec();
            padded.resize(part.len().div_ceil(32).max(1) * 32, 0);
            let nh = nh(k, &padded);
            nh.wrapping_add(8 * part.len() as u64).to_be_bytes()
        };
        parts.iter().flat_map(hash).collect()
    }

    /// §5.2.2, with the swap of the message's bytes.
    fn nh(k: &[u8], m: &[u8]) -> u64 {
        let k: Vec<u32> = k
            .as_chunks()
            .0
            .iter()
            .map(|&k| u32::from_be_bytes(k))
            .collect();
        let m: Vec<u32> = m
            .as_chunks()
            .0
            .iter()
            .map(|&m| u32::from_le_bytes(m))
            .collect();
        let sum = |i: usize| u64::from(m[i].wrapping_add(k[i]));
        (0..m.len())
            .filter(|i| i % 8 < 4)
            .fold(0, |y: u64, i| y.wrapping_add(sum(i) * sum(i + 4)))
    }

    /// §5.3.1, as far as messages below 16 MiB go.
    fn l2_hash(k: &[u8], m: &[u8]) -> Vec<u8> {
        assert!(m.len() <= 1 << 17, "longer than this reading goes");
        let k64 = u64::from_be_bytes(k[..8].try_into().unwrap()) & 0x01ff_ffff_01ff_ffff;
        poly64(k64.into(), m).to_be_bytes().to_vec()
    }

    /// §5.3.2 with a word of 64 bits.
    fn poly64(k: u128, m: &[u8]) -> u128 {
        let p = (1u128 << 64) - 59;
        let (offset, marker) = (59, p - 1);
        m.as_chunks().0.iter().fold(1, |y, &word| {
            let m = u128::from(u64::from_be_bytes(word));
            if m >= (1 << 64) - (1 << 32) {
                let y = (k * y + marker) % p;
                (k * y + (m - offset)) % p
            } else {
                (k * y + m) % p
            }
        })
    }

    /// §5.4.
    fn l3_hash(k1: &[u8], k2: &[u8], m: &[u8]) -> Vec<u8> {
        let p = (1u64 << 36) - 5;
        let words = m
            .as_chunks()
            .0
            .iter()
            .map(|&m| u64::from(u16::from_be_bytes(m)));
        let keys = k1.as_chunks().0.iter().map(|&k| u64::from_be_bytes(k) % p);
        let y = words.zip(keys).map(|(m, k)| m * k).sum::<u64>() % p;
        let y = (y as u32).to_be_bytes();
        y.iter().zip(k2).map(|(y, k)| y ^ k).collect()
    }
}
