//! Every GHASH row against a reading of SP 800-38D bit by bit.
#![forbid(unsafe_code)]

use engine::cpu::{Detected, Feature, Features};
use engine::kernels::ghash::Ghash;
use engine::kernels::row::{Kernel, choose};

use crate::sweep::{Random, hex, lengths, placements};

fn rows() -> impl Iterator<Item = Kernel<Ghash>> {
    Kernel::usable(Detected::new(Features::NONE))
}

/// SP 800-38D §6.3: bit 0 is the leftmost.
fn times(x: u128, y: u128) -> u128 {
    let (mut z, mut v) = (0, y);
    for bit in (0..128).rev() {
        if x >> bit & 1 == 1 {
            z ^= v;
        }
        v = v >> 1 ^ if v & 1 == 1 { 0xe1 << 120 } else { 0 };
    }
    z
}

fn reference(h: &[u8; 16], state: &[u8; 16], data: &[u8]) -> [u8; 16] {
    let h = u128::from_be_bytes(*h);
    let blocks = data.chunks(16).map(|chunk| {
        let mut block = [0; 16];
        block[..chunk.len()].copy_from_slice(chunk);
        u128::from_be_bytes(block)
    });
    blocks
        .fold(u128::from_be_bytes(*state), |y, x| times(y ^ x, h))
        .to_be_bytes()
}

#[test]
fn the_portable_row_always_runs_and_hardware_comes_first() {
    let hidden = Features::ALL.hide(Features::of(&[Feature::Pclmulqdq]));
    assert_eq!(choose::<Ghash>(Features::NONE).name, "portable");
    assert_eq!(choose::<Ghash>(hidden).name, "portable");
    if cfg!(target_arch = "x86_64") {
        let set = Features::of(&[Feature::Sse2, Feature::Ssse3, Feature::Pclmulqdq]);
        assert_eq!(choose::<Ghash>(set).name, "pclmul");
    }
}

#[test]
fn rfc_8452_appendix_a() {
    let h = hex("25629347589242761d31f826ba4b757b").try_into().unwrap();
    let data = hex("4f4f95668c83dfb6401762bb2d01a262 d1a24ddd2721d006bbe45f20d3c9f362");
    for kernel in rows() {
        let mut state = [0; 16];
        kernel.expand(&h).update(&mut state, &data);
        assert_eq!(
            state[..],
            hex("bd9b3997046731fb96251b91f9c99d7a"),
            "{kernel:?}"
        );
    }
}

#[test]
fn any_length_at_any_offset_is_hashed_as_the_definition_says() {
    let mut random = Random(1);
    let mut buffer = vec![0; 33 * 1024];
    random.fill(&mut buffer);
    for (offset, len) in placements() {
        let (h, start) = (random.array(), random.array());
        let data = &buffer[offset..][..len];
        let expected = reference(&h, &start, data);
        for kernel in rows() {
            let mut state = start;
            kernel.expand(&h).update(&mut state, data);
            assert_eq!(state, expected, "{kernel:?}, {len} bytes at {offset}");
        }
    }
}

#[test]
fn keys_and_data_of_all_ones_and_single_bits_overflow_nothing() {
    let single = (0..128).map(|bit| (1u128 << bit).to_be_bytes());
    let keys: Vec<[u8; 16]> = single.chain([[0xff; 16], [0; 16]]).collect();
    for h in &keys {
        for byte in [0xff, 0x88, 0x11, 0xf0] {
            let data = [byte; 16 * 9];
            let expected = reference(h, &[0; 16], &data);
            for kernel in rows() {
                let mut state = [0; 16];
                kernel.expand(h).update(&mut state, &data);
                assert_eq!(state, expected, "{kernel:?}, {h:02x?}, {byte:#x}");
            }
        }
    }
}

#[test]
fn calls_of_whole_blocks_run_on_from_each_other() {
    let mut random = Random(2);
    for len in lengths() {
        let (h, data) = (random.array(), random.bytes(len));
        let cut = 16 * (random.word() as usize % (len / 16 + 1));
        for kernel in rows() {
            let key = kernel.expand(&h);
            let (mut whole, mut split) = ([0; 16], [0; 16]);
            key.update(&mut whole, &data);
            key.update(&mut split, &data[..cut]);
            key.update(&mut split, &data[cut..]);
            assert_eq!(whole, split, "{kernel:?}, {len} bytes cut at {cut}");
        }
    }
}
