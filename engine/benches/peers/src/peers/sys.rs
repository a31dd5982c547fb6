//! Calls into C: AWS-LC's primitives, the system's libcrypto and libgcrypt. The only `unsafe` here
//! beside the clock's.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use libloading::{Library, Symbol};

/// AWS-LC's ChaCha20; `number` is the 8-byte nonce.
pub fn aws_lc_chacha20(key: &[u8; 64], number: u64, data: &mut [u8]) {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_be_bytes());
    let (at, len) = (data.as_mut_ptr(), data.len());
    // SAFETY: 32 bytes of key and 12 of nonce are readable; in and out are the same `len` bytes.
    unsafe { aws_lc_sys::CRYPTO_chacha_20(at, at, len, key.as_ptr(), nonce.as_ptr(), 0) }
}

/// AWS-LC's Poly1305.
pub fn aws_lc_poly1305(key: &[u8; 32], data: &[u8]) -> [u8; 16] {
    let mut state = MaybeUninit::uninit();
    let mut tag = [0; 16];
    // SAFETY: `init` fills the state, the others use it; key and data are readable, the tag has its
    // 16 bytes.
    unsafe {
        aws_lc_sys::CRYPTO_poly1305_init(state.as_mut_ptr(), key.as_ptr());
        aws_lc_sys::CRYPTO_poly1305_update(state.as_mut_ptr(), data.as_ptr(), data.len());
        aws_lc_sys::CRYPTO_poly1305_finish(state.as_mut_ptr(), tag.as_mut_ptr());
    }
    tag
}

/// AWS-LC's AES.
pub struct AwsLcAes(aws_lc_sys::AES_KEY);

impl AwsLcAes {
    pub fn new(key: &[u8]) -> Self {
        let mut expanded = MaybeUninit::uninit();
        let bits = key.len() as c_uint * 8;
        // SAFETY: `bits` bits of key are readable, and the call fills `expanded` for these lengths.
        unsafe {
            aws_lc_sys::AES_set_encrypt_key(key.as_ptr(), bits, expanded.as_mut_ptr());
            Self(expanded.assume_init())
        }
    }

    pub fn ctr(&self, mut counter: [u8; 16], data: &mut [u8]) {
        let (mut partial, mut used) = ([0; 16], 0);
        let (at, len) = (data.as_mut_ptr(), data.len());
        // SAFETY: in and out are the same `len` bytes; counter and partial block have 16 bytes each.
        unsafe {
            let (counter, partial) = (counter.as_mut_ptr(), partial.as_mut_ptr());
            aws_lc_sys::AES_ctr128_encrypt(at, at, len, &self.0, counter, partial, &mut used);
        }
    }
}

type Init = unsafe extern "C" fn(
    *mut c_void,
    *const c_void,
    *mut c_void,
    *const u8,
    *const u8,
    c_int,
) -> c_int;
type Update = unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_int, *const u8, c_int) -> c_int;
type Final = unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_int) -> c_int;
type Control = unsafe extern "C" fn(*mut c_void, c_int, c_int, *mut c_void) -> c_int;

/// One EVP cipher context. It and its library live as long as the program.
pub struct Evp {
    context: *mut c_void,
    version: String,
    init: Init,
    update: Update,
    finish: Final,
    control: Control,
}

impl Evp {
    /// `None` without libcrypto, or where it has no such cipher.
    pub fn load(function: &str, key: &[u8], encrypt: bool) -> Option<Self> {
        // SAFETY: libcrypto's initialisers may run at any time.
        let library = unsafe { Library::new("libcrypto.so.3") }.ok()?;
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: each symbol has the type its manual page gives; the key has the cipher's length.
        unsafe {
            let cipher: unsafe extern "C" fn() -> *const c_void = symbol(library, function)?;
            let new: unsafe extern "C" fn() -> *mut c_void = symbol(library, "EVP_CIPHER_CTX_new")?;
            let version: unsafe extern "C" fn(c_int) -> *const c_char =
                symbol(library, "OpenSSL_version")?;
            let version = CStr::from_ptr(version(0)).to_string_lossy();
            let evp = Self {
                context: new(),
                version: version.split(' ').take(2).collect::<Vec<_>>().join(" "),
                init: symbol(library, "EVP_CipherInit_ex")?,
                update: symbol(library, "EVP_CipherUpdate")?,
                finish: symbol(library, "EVP_CipherFinal_ex")?,
                control: symbol(library, "EVP_CIPHER_CTX_ctrl")?,
            };
            let (key, iv) = (key.as_ptr(), null());
            let begun = (evp.init)(
                evp.context,
                cipher(),
                null_mut(),
                key,
                iv,
                c_int::from(encrypt),
            );
            (begun == 1).then_some(evp)
        }
    }

    pub fn version(&self) -> String {
        self.version.clone()
    }

    /// Begins a message; `iv` has the cipher's length.
    pub fn restart(&mut self, iv: &[u8]) -> bool {
        // SAFETY: the context is live; absent arguments keep what it has.
        unsafe { (self.init)(self.context, null(), null_mut(), null(), iv.as_ptr(), -1) == 1 }
    }

    pub fn additional(&mut self, data: &[u8]) -> bool {
        let (mut written, len) = (0, data.len() as c_int);
        // SAFETY: without an output, the bytes are only read.
        unsafe { (self.update)(self.context, null_mut(), &mut written, data.as_ptr(), len) == 1 }
    }

    pub fn update(&mut self, data: &mut [u8]) -> bool {
        let (at, mut written, len) = (data.as_mut_ptr(), 0, data.len() as c_int);
        // SAFETY: a stream cipher writes as many bytes as it reads, here the same ones.
        unsafe { (self.update)(self.context, at, &mut written, at, len) == 1 }
    }

    /// Ends a sealed message.
    pub fn finish(&mut self, tag: &mut [u8; 16]) -> bool {
        const GET_TAG: c_int = 0x10;
        // SAFETY: a stream cipher writes nothing at the end; the tag has its 16 bytes.
        unsafe {
            let mut written = 0;
            (self.finish)(self.context, tag.as_mut_ptr(), &mut written) == 1
                && (self.control)(self.context, GET_TAG, 16, tag.as_mut_ptr().cast()) == 1
        }
    }

    /// Ends an opened message.
    pub fn expect_tag(&mut self, tag: &mut [u8; 16]) -> bool {
        const SET_TAG: c_int = 0x11;
        // SAFETY: the tag has its 16 bytes; a stream cipher writes nothing at the end.
        unsafe {
            let mut written = 0;
            (self.control)(self.context, SET_TAG, 16, tag.as_mut_ptr().cast()) == 1
                && (self.finish)(self.context, tag.as_mut_ptr(), &mut written) == 1
        }
    }
}

/// Which cipher of libgcrypt.
#[derive(Clone, Copy)]
pub enum GcryptMode {
    ChaCha20,
    Aes128Ctr,
    Aes256Ctr,
}

type GcryptSet = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_uint;
type GcryptRun = unsafe extern "C" fn(*mut c_void, *mut u8, usize, *const u8, usize) -> c_uint;

/// One libgcrypt cipher handle. It and its library live as long as the program.
pub struct Gcrypt {
    handle: *mut c_void,
    version: String,
    restart: GcryptSet,
    encrypt: GcryptRun,
}

impl Gcrypt {
    /// `None` without libgcrypt.
    pub fn load(mode: GcryptMode, key: &[u8]) -> Option<Self> {
        // Numbers from gcrypt.h.
        let (algorithm, how, restart) = match mode {
            GcryptMode::ChaCha20 => (316, 4, "gcry_cipher_setiv"),
            GcryptMode::Aes128Ctr => (7, 6, "gcry_cipher_setctr"),
            GcryptMode::Aes256Ctr => (9, 6, "gcry_cipher_setctr"),
        };
        // SAFETY: libgcrypt's initialisers may run at any time.
        let library = unsafe { Library::new("libgcrypt.so.20") }.ok()?;
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: each symbol has the type gcrypt.h gives; the key has the cipher's length.
        unsafe {
            let version: unsafe extern "C" fn(*const c_char) -> *const c_char =
                symbol(library, "gcry_check_version")?;
            let version = CStr::from_ptr(version(null()))
                .to_string_lossy()
                .into_owned();
            let open: unsafe extern "C" fn(*mut *mut c_void, c_int, c_int, c_uint) -> c_uint =
                symbol(library, "gcry_cipher_open")?;
            let set_key: GcryptSet = symbol(library, "gcry_cipher_setkey")?;
            let mut handle = null_mut();
            let opened = open(&mut handle, algorithm, how, 0) == 0
                && set_key(handle, key.as_ptr(), key.len()) == 0;
            opened.then_some(Self {
                handle,
                version: format!("libgcrypt {version}"),
                restart: symbol(library, restart)?,
                encrypt: symbol(library, "gcry_cipher_encrypt")?,
            })
        }
    }

    pub fn version(&self) -> String {
        self.version.clone()
    }

    /// Begins a message.
    pub fn restart(&mut self, iv: &[u8]) -> bool {
        // SAFETY: the handle is live and the bytes are readable.
        unsafe { (self.restart)(self.handle, iv.as_ptr(), iv.len()) == 0 }
    }

    pub fn update(&mut self, data: &mut [u8]) -> bool {
        // SAFETY: without an input, the output is worked on in place.
        unsafe { (self.encrypt)(self.handle, data.as_mut_ptr(), data.len(), null(), 0) == 0 }
    }
}

/// # Safety
/// `T` is the symbol's type.
unsafe fn symbol<T: Copy>(library: &'static Library, name: &str) -> Option<T> {
    // SAFETY: as the caller promises.
    let symbol: Symbol<T> = unsafe { library.get(name) }.ok()?;
    Some(*symbol)
}
