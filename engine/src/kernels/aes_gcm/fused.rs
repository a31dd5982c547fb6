//! The one algorithm of all fused rows, for vectors of any width.
//!
//! A row's file says what a vector is and how it is loaded, encrypted and multiplied; `fused!` makes
//! the row of that. A trait would not do: its methods cannot carry `#[target_feature]`.
//!
//! Sealing encrypts one chunk of eight vectors while it hashes the chunk before, opening hashes and
//! decrypts the same chunk, so that the AES unit and the multiplier both stay busy. A chunk is reduced
//! once. What is left over, the additional data and the lengths are summed up unreduced and reduced
//! together, so that a short packet waits for one multiplication only.
#![forbid(unsafe_code)]

/// Makes `expand`, `seal` and `open` out of what the calling file defines: `Vector`, `BLOCKS` in it,
/// and the functions on it.
macro_rules! fused {
    ($features:literal) => {
        use std::arch::x86_64::{__m128i, _mm_set_epi64x, _mm_xor_si128};

        use zeroize::Zeroizing;

        use super::super::aes;
        use super::super::ghash::pclmul;
        use super::{ExpandArgs, Key, MessageArgs, TAG};
        use crate::kernels::lanes::{load128, store128};

        /// Bytes in a vector.
        const VECTOR: usize = BLOCKS * aes::BLOCK;
        /// Vectors in flight.
        const BATCH: usize = 8;
        /// Bytes per reduction.
        const CHUNK: usize = BATCH * VECTOR;
        /// The highest power of the hash key: a chunk, the additional data and the lengths, rounded up.
        const HIGHEST: usize = BATCH * BLOCKS + 4;

        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn expand(args: ExpandArgs) {
            let key = args.prepared;
            let round_keys = aes::aesni::round_keys(args.key);
            let (slots, _) = key.round_keys.as_chunks_mut::<{ 2 * BLOCKS }>();
            for (slot, round_key) in slots.iter_mut().zip(round_keys.iter()) {
                for pair in slot.as_chunks_mut::<2>().0 {
                    *pair = *round_key;
                }
            }
            let zero = lane(_mm_set_epi64x(0, 0));
            let h = match key.rounds {
                10 => encrypt::<10, 1>(key, [zero]),
                12 => encrypt::<12, 1>(key, [zero]),
                _ => encrypt::<14, 1>(key, [zero]),
            };
            let mut block = Zeroizing::new([0; aes::BLOCK]);
            store128(&mut block, low_lane(h[0]));
            pclmul::powers(&block, &mut key.powers.as_chunks_mut().0[..HIGHEST]);
        }

        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn seal(args: MessageArgs) -> [u8; TAG] {
            match args.key.rounds {
                10 => run::<10, false>(args),
                12 => run::<12, false>(args),
                _ => run::<14, false>(args),
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn open(args: MessageArgs) -> [u8; TAG] {
            match args.key.rounds {
                10 => run::<10, true>(args),
                12 => run::<12, true>(args),
                _ => run::<14, true>(args),
            }
        }

        /// Encrypts, or decrypts where `OPEN`, and gives the tag of the ciphertext.
        #[inline]
        #[target_feature(enable = $features)]
        fn run<const ROUNDS: usize, const OPEN: bool>(args: MessageArgs) -> [u8; TAG] {
            let MessageArgs {
                key,
                nonce,
                aad,
                data,
            } = args;
            let bits = _mm_set_epi64x((aad.len() * 8) as i64, (data.len() * 8) as i64);
            let first = first_counter(nonce);
            let mut counters = counters_after(first);
            // What was hashed so far, and by how many blocks it precedes the first of the rest.
            let (mut state, mut ahead) = match aad.len() {
                0..=16 => (aad_block(aad), 1),
                _ => (hash_long_aad(key, aad), 0),
            };
            let (chunks, rest) = data.as_chunks_mut::<CHUNK>();
            if !chunks.is_empty() && ahead == 1 {
                state = reduce(accumulate(nothing(), lane(state), power(key, 1)));
                ahead = 0;
            }
            let mut previous = None;
            for chunk in chunks {
                let hashes = OPEN || previous.is_some();
                if hashes {
                    state = chunk_step::<ROUNDS, OPEN>(key, &mut counters, state, previous, chunk);
                } else {
                    let blocks = next_blocks::<BATCH>(&mut counters);
                    let blocks = first_rounds::<ROUNDS, BATCH>(key, blocks);
                    xor_last::<ROUNDS>(key, blocks, chunk);
                }
                previous = (!OPEN).then_some(&*chunk);
            }
            if let Some(chunk) = previous {
                state = hash_chunk(key, state, chunk);
            }
            let [mask] = encrypt::<ROUNDS, 1>(key, [swap_bytes(lane(first))]);
            let blocks = rest.len().div_ceil(aes::BLOCK);
            let mut sum = accumulate(nothing(), lane(bits), power(key, 1));
            sum = accumulate(sum, lane(state), power(key, blocks + 1 + ahead));
            let mut left = blocks + 1;
            let last = round_key(key, ROUNDS);
            let (vectors, rest) = rest.as_chunks_mut::<VECTOR>();
            for part in vectors {
                let [block] = first_rounds::<ROUNDS, 1>(key, next_blocks::<1>(&mut counters));
                let before = load(part);
                let after = aesenclast(block, xor(before, last));
                store(part, after);
                let sealed = if OPEN { before } else { after };
                sum = accumulate(sum, swap_bytes(sealed), power(key, left));
                left -= BLOCKS;
            }
            if !rest.is_empty() {
                let [block] = first_rounds::<ROUNDS, 1>(key, next_blocks::<1>(&mut counters));
                let before = load_part(rest);
                let after = aesenclast(block, xor(before, last));
                let after = store_part(rest, after);
                let sealed = if OPEN { before } else { after };
                sum = accumulate(sum, swap_bytes(sealed), power(key, left));
            }
            let hash = low_lane(swap_bytes(lane(reduce(sum))));
            let mut tag = [0; TAG];
            store128(&mut tag, _mm_xor_si128(hash, low_lane(mask)));
            tag
        }

        /// Encrypts or decrypts `chunk`, and hashes `previous`, or else `chunk` as it was.
        #[inline]
        #[target_feature(enable = $features)]
        fn chunk_step<const ROUNDS: usize, const OPEN: bool>(
            key: &Key,
            counters: &mut Vector,
            state: __m128i,
            previous: Option<&[u8; CHUNK]>,
            chunk: &mut [u8; CHUNK],
        ) -> __m128i {
            let mut blocks = next_blocks::<BATCH>(counters);
            let first = round_key(key, 0);
            for block in &mut blocks {
                *block = xor(*block, first);
            }
            let hashed = previous.unwrap_or(&*chunk).as_chunks::<VECTOR>().0;
            // Written out, for the compiler does not unroll it. The first vector, which waits for the
            // state, is multiplied last.
            let sum = nothing();
            let sum = both(key, 1, &mut blocks, sum, swap_bytes(load(&hashed[7])));
            let sum = both(key, 2, &mut blocks, sum, swap_bytes(load(&hashed[6])));
            let sum = both(key, 3, &mut blocks, sum, swap_bytes(load(&hashed[5])));
            let sum = both(key, 4, &mut blocks, sum, swap_bytes(load(&hashed[4])));
            let sum = both(key, 5, &mut blocks, sum, swap_bytes(load(&hashed[3])));
            let sum = both(key, 6, &mut blocks, sum, swap_bytes(load(&hashed[2])));
            let sum = both(key, 7, &mut blocks, sum, swap_bytes(load(&hashed[1])));
            let first = xor(swap_bytes(load(&hashed[0])), lane(state));
            let sum = both(key, 8, &mut blocks, sum, first);
            for step in BATCH + 1..ROUNDS {
                round(key, step, &mut blocks);
            }
            xor_last::<ROUNDS>(key, blocks, chunk);
            reduce(sum)
        }

        /// A round, and the products of the `step`th vector from the end of a chunk.
        #[inline]
        #[target_feature(enable = $features)]
        fn both(
            key: &Key,
            step: usize,
            blocks: &mut [Vector; BATCH],
            sum: Sum,
            text: Vector,
        ) -> Sum {
            round(key, step, blocks);
            let [low, middle, high] = accumulate(sum, text, power(key, step * BLOCKS));
            [in_order(low), in_order(middle), in_order(high)]
        }

        /// One round of each block, in this order.
        #[inline]
        #[target_feature(enable = $features)]
        fn round<const N: usize>(key: &Key, step: usize, blocks: &mut [Vector; N]) {
            let round_key = round_key(key, step);
            for block in blocks {
                *block = in_order(aesenc(*block, round_key));
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn hash_chunk(key: &Key, state: __m128i, chunk: &[u8; CHUNK]) -> __m128i {
            let mut sum = nothing();
            for (at, part) in chunk.as_chunks().0.iter().enumerate().rev() {
                let mut text = swap_bytes(load(part));
                if at == 0 {
                    text = xor(text, lane(state));
                }
                sum = accumulate(sum, text, power(key, (BATCH - at) * BLOCKS));
            }
            reduce(sum)
        }

        /// Additional data of more than a block, which SSH never has.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn hash_long_aad(key: &Key, aad: &[u8]) -> __m128i {
            let h = power(key, 1);
            let mut state = _mm_set_epi64x(0, 0);
            for part in aad.chunks(aes::BLOCK) {
                let text = _mm_xor_si128(state, aad_block(part));
                state = reduce(accumulate(nothing(), lane(text), h));
            }
            state
        }

        /// At most a block of additional data, filled up with zeros.
        #[inline]
        #[target_feature(enable = $features)]
        fn aad_block(aad: &[u8]) -> __m128i {
            low_lane(swap_bytes(lane(load_block(aad))))
        }

        /// The counter of the block that masks the tag.
        #[inline]
        #[target_feature(enable = $features)]
        fn first_counter(nonce: &[u8; super::NONCE]) -> __m128i {
            let mut block = [0; aes::BLOCK];
            block[..super::NONCE].copy_from_slice(nonce);
            block[aes::BLOCK - 1] = 1;
            low_lane(swap_bytes(lane(load128(&block))))
        }

        /// The next counters as big-endian blocks, moving `counters` on.
        #[inline]
        #[target_feature(enable = $features)]
        fn next_blocks<const N: usize>(counters: &mut Vector) -> [Vector; N] {
            let mut blocks = [*counters; N];
            for block in &mut blocks {
                *block = swap_bytes(*counters);
                *counters = count_on(*counters);
            }
            blocks
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn encrypt<const ROUNDS: usize, const N: usize>(
            key: &Key,
            blocks: [Vector; N],
        ) -> [Vector; N] {
            let mut blocks = first_rounds::<ROUNDS, N>(key, blocks);
            let last = round_key(key, ROUNDS);
            for block in &mut blocks {
                *block = aesenclast(*block, last);
            }
            blocks
        }

        /// All rounds but the last.
        #[inline]
        #[target_feature(enable = $features)]
        fn first_rounds<const ROUNDS: usize, const N: usize>(
            key: &Key,
            mut blocks: [Vector; N],
        ) -> [Vector; N] {
            let first = round_key(key, 0);
            for block in &mut blocks {
                *block = xor(*block, first);
            }
            for step in 1..ROUNDS {
                round(key, step, &mut blocks);
            }
            blocks
        }

        /// The last round, its result XORed into `chunk`.
        #[inline]
        #[target_feature(enable = $features)]
        fn xor_last<const ROUNDS: usize>(
            key: &Key,
            blocks: [Vector; BATCH],
            chunk: &mut [u8; CHUNK],
        ) {
            let last = round_key(key, ROUNDS);
            for (part, block) in chunk.as_chunks_mut().0.iter_mut().zip(blocks) {
                store(part, aesenclast(block, xor(load(part), last)));
            }
        }

        /// Adds the products of as many blocks and powers as a vector holds.
        #[inline]
        #[target_feature(enable = $features)]
        fn accumulate(sum: Sum, text: Vector, power: Vector) -> Sum {
            let [low, middle, high] = sum;
            [
                xor(low, multiply::<0x00>(text, power)),
                xor3(
                    middle,
                    multiply::<0x01>(text, power),
                    multiply::<0x10>(text, power),
                ),
                xor(high, multiply::<0x11>(text, power)),
            ]
        }

        /// The sum of all lanes times x^-128: multiples of the modulus cancel its low words one by one.
        #[inline]
        #[target_feature(enable = $features)]
        fn reduce(sum: Sum) -> __m128i {
            let [low, middle, high] = sum;
            let low = xor(low, up_half(middle));
            let high = xor(high, down_half(middle));
            let modulus = modulus();
            let low = xor(swap_halves(low), multiply::<0x00>(low, modulus));
            fold(xor3(high, swap_halves(low), multiply::<0x00>(low, modulus)))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn nothing() -> Sum {
            [lane(_mm_set_epi64x(0, 0)); 3]
        }

        /// Unreduced products: low words, middle words, high words.
        type Sum = [Vector; 3];
    };
}

pub(super) use fused;
