//! Every AES row against FIPS 197, SP 800-38A and RustCrypto.
#![forbid(unsafe_code)]

use aes::cipher::{BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipher};
use engine::cpu::{Detected, Feature, Features};
use engine::kernels::aes::Aes;
use engine::kernels::row::{Kernel, choose};

use crate::guard::{each_guarded, guarded_lengths};
use crate::sweep::{Random, hex, placements};

fn rows() -> impl Iterator<Item = Kernel<Aes>> {
    Kernel::usable(Detected::new(Features::NONE))
}

/// RustCrypto's counter modes, for any key length.
fn reference(low32: bool, key: &[u8], counter: &[u8; 16], data: &mut [u8]) {
    fn run<C: KeyIvInit + StreamCipher>(key: &[u8], counter: &[u8; 16], data: &mut [u8]) {
        let mut cipher = C::new_from_slices(key, counter).unwrap();
        cipher.apply_keystream(data);
    }
    match (low32, key.len()) {
        (false, 16) => run::<ctr::Ctr128BE<aes::Aes128>>(key, counter, data),
        (false, 24) => run::<ctr::Ctr128BE<aes::Aes192>>(key, counter, data),
        (false, _) => run::<ctr::Ctr128BE<aes::Aes256>>(key, counter, data),
        (true, 16) => run::<ctr::Ctr32BE<aes::Aes128>>(key, counter, data),
        (true, 24) => run::<ctr::Ctr32BE<aes::Aes192>>(key, counter, data),
        (true, _) => run::<ctr::Ctr32BE<aes::Aes256>>(key, counter, data),
    }
}

fn ctr(key: &engine::kernels::aes::Key, low32: bool, counter: &mut [u8; 16], data: &mut [u8]) {
    match low32 {
        false => key.ctr128(counter, data),
        true => key.ctr32(counter, data),
    }
}

#[test]
fn the_portable_row_always_runs_and_hardware_comes_first() {
    let all = Features::ALL;
    assert_eq!(choose::<Aes>(Features::NONE).name, "portable");
    assert_eq!(
        choose::<Aes>(Features::of(&[
            Feature::Sse2,
            Feature::Ssse3,
            Feature::Avx2
        ]))
        .name,
        "portable"
    );
    assert_eq!(
        choose::<Aes>(all.hide(Features::of(&[Feature::Aes]))).name,
        "portable"
    );
    if cfg!(target_arch = "x86_64") {
        let set = Features::of(&[Feature::Sse2, Feature::Ssse3, Feature::Aes]);
        assert_eq!(choose::<Aes>(set).name, "aesni");
    }
}

#[test]
fn fips_197_appendices_b_and_c() {
    let cases = [
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32",
        ),
        (
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ),
        (
            "000102030405060708090a0b0c0d0e0f1011121314151617",
            "00112233445566778899aabbccddeeff",
            "dda97ca4864cdfe06eaf70a0ec0d7191",
        ),
        (
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "00112233445566778899aabbccddeeff",
            "8ea2b7ca516745bfeafc49904b496089",
        ),
    ];
    for kernel in rows() {
        for (key, plain, cipher) in cases {
            let key = kernel.expand(&hex(key));
            let mut block = hex(plain).try_into().unwrap();
            key.encrypt_block(&mut block);
            assert_eq!(block[..], hex(cipher), "{kernel:?}");
        }
    }
}

#[test]
fn sp_800_38a_counter_mode() {
    let counter = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    let plain = hex(
        "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
         30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710",
    );
    let cases = [
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
             5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee",
        ),
        (
            "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
            "1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94
             1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050",
        ),
        (
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
             2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
        ),
    ];
    for kernel in rows() {
        for (key, cipher) in cases {
            let mut counter = hex(counter).try_into().unwrap();
            let mut data = plain.clone();
            kernel.expand(&hex(key)).ctr128(&mut counter, &mut data);
            assert_eq!(data, hex(cipher), "{kernel:?}");
            assert_eq!(counter[..], hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdff03"));
        }
    }
}

#[test]
fn any_number_of_blocks_is_encrypted_as_rustcrypto_does() {
    let mut random = Random(1);
    for blocks in 0..=40 {
        let key = random.array::<32>();
        let plain: Vec<[u8; 16]> = (0..blocks).map(|_| random.array()).collect();
        let cipher = aes::Aes256::new_from_slice(&key).unwrap();
        let expected: Vec<[u8; 16]> = plain
            .iter()
            .map(|&block| {
                let mut block = block.into();
                cipher.encrypt_block(&mut block);
                block.into()
            })
            .collect();
        for kernel in rows() {
            let mut data = plain.clone();
            kernel.expand(&key).encrypt_blocks(&mut data);
            assert_eq!(data, expected, "{kernel:?}, {blocks} blocks");
        }
    }
}

#[test]
fn any_length_at_any_offset_is_encrypted_as_rustcrypto_does_and_nothing_around_it_changes() {
    let mut random = Random(2);
    let mut buffer = vec![0; 33 * 1024];
    for (offset, len) in placements() {
        let key = random.bytes([16, 24, 32][len % 3]);
        let counter = random.array();
        let low32 = random.word().is_multiple_of(2);
        let plain = random.bytes(len);
        let mut expected = plain.clone();
        reference(low32, &key, &counter, &mut expected);
        for kernel in rows() {
            let around = offset..offset + len + 64;
            buffer[around.clone()].fill(0xa5);
            buffer[offset..][..len].copy_from_slice(&plain);
            let mut reached = counter;
            let key = kernel.expand(&key);
            ctr(&key, low32, &mut reached, &mut buffer[offset..][..len]);
            assert_eq!(
                buffer[offset..][..len],
                expected,
                "{kernel:?}, {len} bytes at {offset}"
            );
            assert!(buffer[around][len..].iter().all(|&byte| byte == 0xa5));
            let blocks = len.div_ceil(16) as u128;
            let next = match low32 {
                false => u128::from_be_bytes(counter).wrapping_add(blocks),
                true => {
                    let number = u128::from_be_bytes(counter);
                    let low = (number as u32).wrapping_add(blocks as u32);
                    number >> 32 << 32 | u128::from(low)
                }
            };
            assert_eq!(u128::from_be_bytes(reached), next, "{kernel:?}, {len}");
        }
    }
}

#[test]
fn counters_carry_as_far_as_their_mode_says() {
    let mut random = Random(3);
    let ends = [u128::MAX >> 96, u128::MAX >> 64, u128::MAX];
    for (end, before) in ends.iter().flat_map(|&end| (0..20).map(move |n| (end, n))) {
        // Bits above the carry are random, so that one too many or too few is seen.
        let above = u128::from_be_bytes(random.array()) & !end;
        let counter = (above | (end - before)).to_be_bytes();
        let key = random.array::<16>();
        let plain = random.bytes(16 * 37 + 5);
        for low32 in [false, true] {
            let mut expected = plain.clone();
            reference(low32, &key, &counter, &mut expected);
            for kernel in rows() {
                let mut data = plain.clone();
                ctr(&kernel.expand(&key), low32, &mut counter.clone(), &mut data);
                assert_eq!(data, expected, "{kernel:?}, {before} before {end:x}");
            }
        }
    }
}

#[test]
fn calls_of_whole_blocks_run_on_from_each_other() {
    let mut random = Random(4);
    for _ in 0..200 {
        let (key, start) = (random.array::<32>(), random.array());
        let blocks = 1 + random.word() as usize % 60;
        let mut expected = random.bytes(16 * blocks);
        let plain = expected.clone();
        reference(false, &key, &start, &mut expected);
        for kernel in rows() {
            let (key, mut counter, mut data) = (kernel.expand(&key), start, plain.clone());
            let mut rest = &mut data[..];
            while !rest.is_empty() {
                let (part, after) =
                    rest.split_at_mut(16 * (1 + random.word() as usize % (rest.len() / 16)));
                key.ctr128(&mut counter, part);
                rest = after;
            }
            assert_eq!(data, expected, "{kernel:?}");
        }
    }
}

#[test]
fn no_row_leaves_its_data() {
    let key = [0x5a; 16];
    let all: Vec<_> = rows().map(|row| row.expand(&key)).collect();
    each_guarded(&guarded_lengths(), |data| {
        data.fill(0x77);
        let mut expected = data.to_vec();
        reference(false, &key, &[9; 16], &mut expected);
        for key in &all {
            data.fill(0x77);
            key.ctr128(&mut [9; 16], data);
            assert!(data == expected, "{:?}, {} bytes", key.kernel(), data.len());
        }
        for key in &all {
            key.encrypt_blocks(data.as_chunks_mut().0);
        }
    });
}

#[test]
#[should_panic(expected = "an AES key has 16, 24 or 32 bytes, not 17")]
fn a_key_of_no_aes_length_is_refused() {
    let kernel = rows().next().unwrap();
    let _ = kernel.expand(&[0; 17]);
}
