//! A libcrypto with AES-128-GCM alone that stays slow until `OPENSSL_init_crypto` is called: a shared
//! library the tests compile and load. It computes right, by the definitions of FIPS 197 and SP 800-38D;
//! with `--cfg wrong` it does not.
#![allow(non_snake_case, reason = "the names are those of libcrypto")]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::hint::black_box;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often each block is encrypted before the library is set up.
const SLOWNESS: usize = 8;

static INITIALISED: AtomicBool = AtomicBool::new(false);
static AES_128_GCM: u8 = 0;

#[unsafe(no_mangle)]
pub extern "C" fn OpenSSL_version(_: c_int) -> *const c_char {
    c"FakeSSL 1.0 1 Jan 2026".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn OPENSSL_init_crypto(_: u64, _: *const c_void) -> c_int {
    INITIALISED.store(true, Ordering::Relaxed);
    1
}

#[unsafe(no_mangle)]
pub extern "C" fn EVP_aes_128_gcm() -> *const c_void {
    ptr::from_ref(&AES_128_GCM).cast()
}

#[unsafe(no_mangle)]
pub extern "C" fn EVP_CIPHER_CTX_new() -> *mut Context {
    Box::into_raw(Box::default())
}

/// # Safety
/// `context` comes from `EVP_CIPHER_CTX_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EVP_CIPHER_CTX_free(context: *mut Context) {
    // SAFETY: promised by the caller, and nobody uses it afterwards.
    drop(unsafe { Box::from_raw(context) });
}

/// # Safety
/// `context` comes from `EVP_CIPHER_CTX_new`; `key` is null or has 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EVP_CipherInit(
    context: *mut Context,
    _: *const c_void,
    key: *const u8,
    _: *const u8,
    encrypt: c_int,
) -> c_int {
    // SAFETY: promised by the caller.
    let context = unsafe { &mut *context };
    context.encrypt = encrypt == 1;
    if !key.is_null() {
        // SAFETY: promised by the caller.
        context.set_key(unsafe { &*key.cast() });
    }
    1
}

/// # Safety
/// As for the function of that name in OpenSSL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EVP_CIPHER_CTX_ctrl(
    context: *mut Context,
    what: c_int,
    _: c_int,
    data: *mut u8,
) -> c_int {
    // SAFETY: promised by the caller.
    let context = unsafe { &mut *context };
    match what {
        // SAFETY: 16 bytes of tag to write, 16 to read, 12 of nonce to read.
        0x10 => unsafe { *data.cast() = context.tag },
        0x11 => context.tag = unsafe { *data.cast() },
        0x12 => context.nonce = unsafe { *data.cast() },
        0x13 => context.begin(),
        _ => return 0,
    }
    1
}

/// # Safety
/// As for the function of that name in OpenSSL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn EVP_Cipher(
    context: *mut Context,
    output: *mut u8,
    input: *const u8,
    len: c_uint,
) -> c_int {
    // SAFETY: promised by the caller.
    let context = unsafe { &mut *context };
    let len = len as usize;
    match (output.is_null(), input.is_null()) {
        (true, true) => return context.finish(),
        // SAFETY: the caller gives `len` bytes.
        (true, false) => context.authenticate(unsafe { std::slice::from_raw_parts(input, len) }),
        // SAFETY: in place, as this program calls it, so the input is the output.
        _ => context.apply(unsafe { std::slice::from_raw_parts_mut(output, len) }),
    }
    len as c_int
}

/// One direction under one key.
#[derive(Default)]
pub struct Context {
    encrypt: bool,
    round_keys: [[u8; 16]; 11],
    hash_key: u128,
    /// The nonce of the next message.
    nonce: [u8; 12],
    first_block: [u8; 16],
    counter: u32,
    hash: u128,
    aad: u64,
    data: u64,
    tag: [u8; 16],
}

impl Context {
    fn set_key(&mut self, key: &[u8; 16]) {
        self.round_keys = expand(key);
        self.hash_key = u128::from_be_bytes(self.encrypt_block([0; 16]));
    }

    fn begin(&mut self) {
        self.first_block[..12].copy_from_slice(&self.nonce);
        self.first_block[12..].copy_from_slice(&1_u32.to_be_bytes());
        (self.counter, self.hash, self.aad, self.data) = (1, 0, 0, 0);
        let count = u64::from_be_bytes(self.nonce[4..].try_into().expect("eight bytes"));
        self.nonce[4..].copy_from_slice(&count.wrapping_add(1).to_be_bytes());
    }

    fn authenticate(&mut self, aad: &[u8]) {
        self.aad += aad.len() as u64;
        self.absorb(aad);
    }

    fn apply(&mut self, data: &mut [u8]) {
        self.data += data.len() as u64;
        if !self.encrypt {
            self.absorb(data);
        }
        for part in data.chunks_mut(16) {
            self.counter = self.counter.wrapping_add(1);
            let mut block = self.first_block;
            block[12..].copy_from_slice(&self.counter.to_be_bytes());
            let stream = self.encrypt_block(block);
            part.iter_mut().zip(stream).for_each(|(byte, key)| *byte ^= key);
        }
        if self.encrypt {
            self.absorb(data);
        }
    }

    fn finish(&mut self) -> c_int {
        let lengths = u128::from(self.aad * 8) << 64 | u128::from(self.data * 8);
        self.hash = multiply(self.hash ^ lengths, self.hash_key);
        let mask = u128::from_be_bytes(self.encrypt_block(self.first_block));
        let tag = (self.hash ^ mask).to_be_bytes();
        if self.encrypt {
            self.tag = tag;
            return 0;
        }
        if tag == self.tag { 0 } else { -1 }
    }

    fn absorb(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(16) {
            let mut block = [0; 16];
            block[..part.len()].copy_from_slice(part);
            self.hash = multiply(self.hash ^ u128::from_be_bytes(block), self.hash_key);
        }
    }

    fn encrypt_block(&self, block: [u8; 16]) -> [u8; 16] {
        let times = if INITIALISED.load(Ordering::Relaxed) { 1 } else { SLOWNESS };
        let repeated = (1..times).map(|_| black_box(encrypt(&self.round_keys, black_box(block))));
        repeated.for_each(drop);
        encrypt(&self.round_keys, block)
    }
}

/// Multiplication in GF(2¹²⁸), the first bit the highest (SP 800-38D §6.3).
fn multiply(x: u128, y: u128) -> u128 {
    const REDUCTION: u128 = 0xe1 << 120;
    let (mut product, mut v) = (0, y);
    for bit in (0..128).rev() {
        product ^= v & (x >> bit & 1).wrapping_neg();
        v = v >> 1 ^ REDUCTION & (v & 1).wrapping_neg();
    }
    if cfg!(wrong) { product ^ 1 } else { product }
}

fn encrypt(keys: &[[u8; 16]; 11], block: [u8; 16]) -> [u8; 16] {
    let sbox = sbox();
    let mut state = xor(block, keys[0]);
    for (round, key) in keys.iter().enumerate().skip(1) {
        // SubBytes and ShiftRows: row r moves r places to the left.
        let shifted: [u8; 16] =
            std::array::from_fn(|i| sbox[usize::from(state[(i + i % 4 * 4) % 16])]);
        state = if round == 10 { shifted } else { mix(shifted) };
        state = xor(state, *key);
    }
    state
}

/// MixColumns.
fn mix(state: [u8; 16]) -> [u8; 16] {
    std::array::from_fn(|i| {
        let at = |row: usize| state[i / 4 * 4 + (i + row) % 4];
        double(at(0)) ^ double(at(1)) ^ at(1) ^ at(2) ^ at(3)
    })
}

fn expand(key: &[u8; 16]) -> [[u8; 16]; 11] {
    let mut keys = [*key; 11];
    let mut constant = 1;
    for round in 1..11 {
        let last = keys[round - 1];
        let mut next = last;
        for i in 0..4 {
            next[i] ^= sbox()[usize::from(last[12 + (i + 1) % 4])];
        }
        next[0] ^= constant;
        constant = double(constant);
        for i in 4..16 {
            next[i] = last[i] ^ next[i - 4];
        }
        keys[round] = next;
    }
    keys
}

fn xor(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    std::array::from_fn(|i| a[i] ^ b[i])
}

const fn double(x: u8) -> u8 {
    x << 1 ^ (x >> 7) * 0x1b
}

/// The S-box: powers of 3 give the inverses, then the affine map (FIPS 197 §5.1.1).
fn sbox() -> &'static [u8; 256] {
    static SBOX: OnceLock<[u8; 256]> = OnceLock::new();
    SBOX.get_or_init(|| {
        let mut sbox = [0x63; 256];
        // 3 generates the field and 0xf6 is its inverse, so `q` is the inverse of `p`.
        let (mut p, mut q) = (1_u8, 1_u8);
        for _ in 0..255 {
            p ^= double(p);
            q = (0..8).fold(0, |sum, bit| sum ^ times(q, bit, 0xf6));
            let spread = (0..5).fold(0, |sum, by| sum ^ q.rotate_left(by));
            sbox[usize::from(p)] = spread ^ 0x63;
        }
        sbox
    })
}

/// `x` times one bit of `y`.
fn times(x: u8, bit: u32, y: u8) -> u8 {
    let shifted = (0..bit).fold(x, |x, _| double(x));
    shifted * (y >> bit & 1)
}
