//! libcrypto through dlopen: every `unsafe` call, behind types that cannot be misused.
//!
//! OpenSSL 1.0.2 up to 4, LibreSSL, BoringSSL and AWS-LC share the functions used here; each is looked
//! up by name, and what a library lacks is an error only for whoever needs it. Contexts are owned,
//! lengths are checked here, and the library is never unloaded.

use std::error::Error;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulong, c_void};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use libloading::Library;

/// An object of the library whose inside is its own.
type Opaque = *mut c_void;

/// Looks functions up once and keeps them by name. Beside each field stand the symbol's names, the
/// newest first, and its C type.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($field:ident: [$($symbol:literal),+] ($($arg:ty),*) $(-> $result:ty)?;)+ }) => {
        $(#[$doc])*
        struct $table { $($field: unsafe extern "C" fn($($arg),*) $(-> $result)?),+ }

        impl $table {
            fn find(library: &Library) -> Result<Self, String> {
                Ok(Self { $($field: {
                    // SAFETY: the field's type is the C type of the symbol, as the manual pages
                    // (EVP_EncryptInit(3), EVP_DigestInit(3), EVP_MAC(3), …) declare it.
                    unsafe { symbol(library, &[$($symbol),+]) }?
                }),+ })
            }
        }
    };
}

mod poly1305;

#[cfg(test)]
pub(super) use poly1305::Interface;
pub(super) use poly1305::Poly1305Context;

functions! {
    /// EVP ciphers.
    CipherFunctions {
        context_new: ["EVP_CIPHER_CTX_new"] () -> Opaque;
        context_free: ["EVP_CIPHER_CTX_free"] (Opaque);
        init: ["EVP_CipherInit"] (Opaque, *const c_void, *const c_uchar, *const c_uchar, c_int) -> c_int;
        control: ["EVP_CIPHER_CTX_ctrl"] (Opaque, c_int, c_int, *mut c_void) -> c_int;
        cipher: ["EVP_Cipher"] (Opaque, *mut c_uchar, *const c_uchar, c_uint) -> c_int;
    }
}

functions! {
    /// EVP digests.
    DigestFunctions {
        context_new: ["EVP_MD_CTX_new", "EVP_MD_CTX_create"] () -> Opaque;
        context_free: ["EVP_MD_CTX_free", "EVP_MD_CTX_destroy"] (Opaque);
        init: ["EVP_DigestInit_ex"] (Opaque, *const c_void, Opaque) -> c_int;
        copy: ["EVP_MD_CTX_copy_ex"] (Opaque, *const c_void) -> c_int;
        update: ["EVP_DigestUpdate"] (Opaque, *const c_void, usize) -> c_int;
        finish: ["EVP_DigestFinal_ex"] (Opaque, *mut c_uchar, *mut c_uint) -> c_int;
    }
}

functions! {
    /// The error queue.
    ErrorFunctions {
        get: ["ERR_peek_last_error"] () -> c_ulong;
        clear: ["ERR_clear_error"] ();
        text: ["ERR_error_string_n"] (c_ulong, *mut c_char, usize);
    }
}

/// The first of `names` that the library has.
///
/// # Safety
/// `T` is the function pointer type of that symbol.
unsafe fn symbol<T: Copy>(library: &Library, names: &[&str]) -> Result<T, String> {
    // SAFETY: promised by the caller.
    let found = names
        .iter()
        .find_map(|&name| unsafe { library.get::<T>(name) }.ok());
    found
        .map(|symbol| *symbol)
        .ok_or_else(|| format!("libcrypto has no {}", names[0]))
}

/// A loaded libcrypto.
pub(super) struct Api {
    library: ManuallyDrop<Library>,
    ciphers: Result<CipherFunctions, String>,
    digests: Result<DigestFunctions, String>,
    poly1305: poly1305::Functions,
    errors: Option<ErrorFunctions>,
}

impl Api {
    /// Loads the library of that name or path.
    pub(super) fn load(name: &str) -> Result<Arc<Self>, String> {
        // SAFETY: a libcrypto runs no code when it is loaded beyond setting itself up, and it stays
        // loaded for good, so no function of it is called after it is gone.
        let library = unsafe { Library::new(name) }.map_err(|error| {
            // The system's own words stand behind the library's.
            error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string)
        })?;
        let library = ManuallyDrop::new(library);
        Ok(Arc::new(Self {
            ciphers: CipherFunctions::find(&library),
            digests: DigestFunctions::find(&library),
            poly1305: poly1305::Functions::find(&library),
            errors: ErrorFunctions::find(&library).ok(),
            library,
        }))
    }

    /// What the library calls itself: `OpenSSL 3.0.19 27 Jan 2026`.
    pub(super) fn version(&self) -> Option<String> {
        type Version = unsafe extern "C" fn(c_int) -> *const c_char;
        // SAFETY: both symbols have this type (OpenSSL_version(3)).
        let version: Version =
            unsafe { symbol(&self.library, &["OpenSSL_version", "SSLeay_version"]) }.ok()?;
        // SAFETY: 0 is OPENSSL_VERSION; the answer is a static string or null.
        let text = NonNull::new(unsafe { version(0) }.cast_mut())?;
        // SAFETY: not null, and a C string that lives as long as the library.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        Some(text.to_string_lossy().into_owned())
    }

    /// Sets the library up as `ssh` does before anything else (`ssh_libcrypto_init` in
    /// `openssl-compat.c`). Most libraries do it by themselves; some find out only here which
    /// instructions the processor has. The answer is whether there was anything to call.
    pub(super) fn initialise(&self) -> bool {
        type Initialise = unsafe extern "C" fn(u64, *const c_void) -> c_int;
        // SAFETY: the symbol has this type (OPENSSL_init_crypto(3)).
        let found: Result<Initialise, String> =
            unsafe { symbol(&self.library, &["OPENSSL_init_crypto"]) };
        // SAFETY: no options and no settings ask for the set-up alone; it may be called any number
        // of times.
        found.is_ok_and(|initialise| unsafe { initialise(0, ptr::null()) } == 1)
    }

    /// The library's description of an algorithm: the answer of its `EVP_…` function.
    fn algorithm(&self, name: &str) -> Result<*const c_void, String> {
        type Algorithm = unsafe extern "C" fn() -> *const c_void;
        // SAFETY: every caller names a function that takes nothing and gives a static EVP_CIPHER or EVP_MD.
        let describe: Algorithm = unsafe { symbol(&self.library, &[name]) }?;
        // SAFETY: as above.
        let algorithm = unsafe { describe() };
        if algorithm.is_null() {
            return Err(self.failure(name));
        }
        Ok(algorithm)
    }

    /// The library's own words about what went wrong in `what`; empties its queue of errors.
    fn failure(&self, what: &str) -> String {
        let Some(errors) = &self.errors else {
            return format!("{what} failed");
        };
        // SAFETY: takes nothing.
        let code = unsafe { (errors.get)() };
        if code == 0 {
            return format!("{what} failed");
        }
        let mut text = [0_u8; 256];
        // SAFETY: the buffer has the length that is given; the answer ends with a zero byte in it.
        unsafe { (errors.text)(code, text.as_mut_ptr().cast(), text.len()) };
        // SAFETY: takes nothing.
        unsafe { (errors.clear)() };
        let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        format!("{what} failed: {}", text.to_string_lossy())
    }
}

/// A cipher with the sizes that its EVP code reads through bare pointers.
pub(super) struct Algorithm {
    /// The function that describes it.
    pub(super) symbol: &'static str,
    key: usize,
    iv: usize,
    /// What lengths of data must be a multiple of.
    block: usize,
}

impl Algorithm {
    const fn new(symbol: &'static str, key: usize, iv: usize, block: usize) -> Self {
        Self {
            symbol,
            key,
            iv,
            block,
        }
    }

    pub(super) const CHACHA20: Self = Self::new("EVP_chacha20", 32, 16, 1);
    pub(super) const AES_128_GCM: Self = Self::new("EVP_aes_128_gcm", 16, 12, 1);
    pub(super) const AES_256_GCM: Self = Self::new("EVP_aes_256_gcm", 32, 12, 1);
    pub(super) const AES_128_CTR: Self = Self::new("EVP_aes_128_ctr", 16, 16, 1);
    pub(super) const AES_192_CTR: Self = Self::new("EVP_aes_192_ctr", 24, 16, 1);
    pub(super) const AES_256_CTR: Self = Self::new("EVP_aes_256_ctr", 32, 16, 1);
    pub(super) const AES_128_CBC: Self = Self::new("EVP_aes_128_cbc", 16, 16, 16);
    pub(super) const AES_192_CBC: Self = Self::new("EVP_aes_192_cbc", 24, 16, 16);
    pub(super) const AES_256_CBC: Self = Self::new("EVP_aes_256_cbc", 32, 16, 16);
    pub(super) const TRIPLE_DES_CBC: Self = Self::new("EVP_des_ede3_cbc", 24, 8, 8);
}

const GET_TAG: c_int = 0x10;
const SET_TAG: c_int = 0x11;
const SET_IV_FIXED: c_int = 0x12;
const IV_GEN: c_int = 0x13;

/// A keyed cipher for one direction, in one `EVP_CIPHER_CTX`.
pub(super) struct CipherContext {
    api: Arc<Api>,
    context: NonNull<c_void>,
    algorithm: &'static Algorithm,
    encrypt: bool,
}

// SAFETY: a context belongs to nobody else and is not bound to the thread that made it.
unsafe impl Send for CipherContext {}

impl CipherContext {
    /// A context with that key, set up in the order of OpenSSH's `cipher.c`. Without `iv` the IV is
    /// set before each message.
    pub(super) fn new(
        api: &Arc<Api>,
        algorithm: &'static Algorithm,
        key: &[u8],
        iv: Option<&[u8]>,
        encrypt: bool,
    ) -> Result<Self, String> {
        if key.len() != algorithm.key || iv.is_some_and(|iv| iv.len() != algorithm.iv) {
            return Err(format!(
                "wrong length of key or IV for {}",
                algorithm.symbol
            ));
        }
        let functions = api.ciphers.as_ref().map_err(Clone::clone)?;
        let description = api.algorithm(algorithm.symbol)?;
        // SAFETY: takes nothing; the answer is owned by us.
        let context = NonNull::new(unsafe { (functions.context_new)() });
        let context = context.ok_or_else(|| api.failure("EVP_CIPHER_CTX_new"))?;
        let mut made = Self {
            api: Arc::clone(api),
            context,
            algorithm,
            encrypt,
        };
        let iv = iv.map_or(ptr::null(), <[u8]>::as_ptr);
        made.init(description, ptr::null(), iv)?;
        made.init(ptr::null(), key.as_ptr(), ptr::null())?;
        Ok(made)
    }

    /// Whether this context encrypts.
    pub(super) const fn encrypts(&self) -> bool {
        self.encrypt
    }

    /// Begins a new message under the same key.
    pub(super) fn restart(&mut self, iv: &[u8; 16]) -> Result<(), String> {
        if self.algorithm.iv != iv.len() {
            return Err(format!("{} has another IV", self.algorithm.symbol));
        }
        self.init(ptr::null(), ptr::null(), iv.as_ptr())
    }

    /// Encrypts or decrypts in place.
    pub(super) fn apply(&mut self, data: &mut [u8]) -> Result<(), String> {
        if !data.len().is_multiple_of(self.algorithm.block) {
            return Err(format!("{} takes whole blocks", self.algorithm.symbol));
        }
        if data.is_empty() {
            // For GCM an empty call means the end of the message.
            return Ok(());
        }
        let len = c_uint::try_from(data.len()).map_err(|_| "too long for EVP_Cipher".to_owned())?;
        // SAFETY: in place, and these ciphers write exactly as many bytes as they read when the
        // length is a multiple of the block.
        let done = unsafe {
            (self.functions()?.cipher)(self.raw(), data.as_mut_ptr(), data.as_ptr(), len)
        };
        // Some answer how many bytes they did, the others 1.
        if done > 0 {
            Ok(())
        } else {
            Err(self.api.failure("EVP_Cipher"))
        }
    }

    /// GCM: the nonce the next [`generate_nonce`](Self::generate_nonce) gives.
    pub(super) fn set_nonce(&mut self, nonce: &[u8; 12]) -> Result<(), String> {
        let mut nonce = *nonce;
        self.control(SET_IV_FIXED, -1, &mut nonce)
    }

    /// GCM: begins a message under the next nonce, which the context counts up by itself.
    pub(super) fn generate_nonce(&mut self) -> Result<(), String> {
        self.control(IV_GEN, 1, &mut [0; 1])
    }

    /// GCM: additional data, before the data itself.
    pub(super) fn authenticate(&mut self, aad: &[u8]) -> Result<(), String> {
        let len = c_uint::try_from(aad.len()).map_err(|_| "too long for EVP_Cipher".to_owned())?;
        // SAFETY: without an output the input is only read.
        let done =
            unsafe { (self.functions()?.cipher)(self.raw(), ptr::null_mut(), aad.as_ptr(), len) };
        if done >= 0 {
            Ok(())
        } else {
            Err(self.api.failure("EVP_Cipher"))
        }
    }

    /// GCM: the tag that [`finish`](Self::finish) compares with.
    pub(super) fn expect_tag(&mut self, tag: &[u8; 16]) -> Result<(), String> {
        let mut tag = *tag;
        self.control(SET_TAG, 16, &mut tag)
    }

    /// GCM: ends the message. Decrypting, the answer is whether the tag fits.
    pub(super) fn finish(&mut self) -> Result<bool, String> {
        // SAFETY: without input and output this ends the message and touches no memory of ours.
        let done =
            unsafe { (self.functions()?.cipher)(self.raw(), ptr::null_mut(), ptr::null(), 0) };
        if self.encrypt && done < 0 {
            return Err(self.api.failure("EVP_Cipher"));
        }
        Ok(done >= 0)
    }

    /// GCM: the tag of the message that ended.
    pub(super) fn tag(&mut self) -> Result<[u8; 16], String> {
        let mut tag = [0; 16];
        self.control(GET_TAG, 16, &mut tag)?;
        Ok(tag)
    }

    /// `data` is as long as the control reads or writes: 12 bytes of nonce for -1, else `amount`.
    fn control(&mut self, what: c_int, amount: c_int, data: &mut [u8]) -> Result<(), String> {
        if self.algorithm.iv != 12 {
            return Err(format!("{} is no GCM", self.algorithm.symbol));
        }
        // SAFETY: the buffer has the length that this control reads or writes.
        let done = unsafe {
            (self.functions()?.control)(self.raw(), what, amount, data.as_mut_ptr().cast())
        };
        if done > 0 {
            Ok(())
        } else {
            Err(self.api.failure("EVP_CIPHER_CTX_ctrl"))
        }
    }

    fn init(
        &mut self,
        description: *const c_void,
        key: *const u8,
        iv: *const u8,
    ) -> Result<(), String> {
        // SAFETY: `description` is null or a cipher of this library; key and IV are null or have the
        // lengths this cipher reads, which every caller has checked.
        let done = unsafe {
            let direction = c_int::from(self.encrypt);
            (self.functions()?.init)(self.raw(), description, key, iv, direction)
        };
        if done > 0 {
            Ok(())
        } else {
            Err(self.api.failure(self.algorithm.symbol))
        }
    }

    fn functions(&self) -> Result<&CipherFunctions, String> {
        self.api.ciphers.as_ref().map_err(Clone::clone)
    }

    const fn raw(&self) -> Opaque {
        self.context.as_ptr()
    }
}

impl Drop for CipherContext {
    fn drop(&mut self) {
        if let Ok(functions) = self.functions() {
            // SAFETY: made by EVP_CIPHER_CTX_new, freed once. It clears the key itself.
            unsafe { (functions.context_free)(self.raw()) };
        }
    }
}

/// Longest digest in bytes (`EVP_MAX_MD_SIZE`).
pub(super) const LONGEST_DIGEST: usize = 64;

/// A hash in progress, in one `EVP_MD_CTX`.
pub(super) struct DigestContext {
    api: Arc<Api>,
    context: NonNull<c_void>,
}

// SAFETY: a context belongs to nobody else and is not bound to the thread that made it.
unsafe impl Send for DigestContext {}

impl DigestContext {
    /// A hash that has read nothing. `symbol` is one of `EVP_sha1`, `EVP_sha256`, `EVP_sha512`.
    pub(super) fn new(api: &Arc<Api>, symbol: &str) -> Result<Self, String> {
        let functions = api.digests.as_ref().map_err(Clone::clone)?;
        let description = api.algorithm(symbol)?;
        // SAFETY: takes nothing; the answer is owned by us.
        let context = NonNull::new(unsafe { (functions.context_new)() });
        let context = context.ok_or_else(|| api.failure("EVP_MD_CTX_new"))?;
        let made = Self {
            api: Arc::clone(api),
            context,
        };
        // SAFETY: a fresh context and a digest of this library; no engine.
        let done = unsafe { (functions.init)(made.raw(), description, ptr::null_mut()) };
        if done > 0 {
            Ok(made)
        } else {
            Err(api.failure(symbol))
        }
    }

    /// Takes over the state of another hash of the same library.
    pub(super) fn copy_from(&mut self, other: &Self) -> Result<(), String> {
        if !Arc::ptr_eq(&self.api, &other.api) {
            return Err("two libraries share no state".to_owned());
        }
        // SAFETY: two living contexts of one library.
        let done = unsafe { (self.functions()?.copy)(self.raw(), other.raw()) };
        self.check(done, "EVP_MD_CTX_copy_ex")
    }

    /// Reads more.
    pub(super) fn update(&mut self, data: &[u8]) -> Result<(), String> {
        // SAFETY: reads `data` only.
        let done =
            unsafe { (self.functions()?.update)(self.raw(), data.as_ptr().cast(), data.len()) };
        self.check(done, "EVP_DigestUpdate")
    }

    /// Writes the digest to the front of `digest` and tells its length.
    pub(super) fn finish(&mut self, digest: &mut [u8; LONGEST_DIGEST]) -> Result<usize, String> {
        let mut len = 0;
        // SAFETY: there is room for the longest digest.
        let done =
            unsafe { (self.functions()?.finish)(self.raw(), digest.as_mut_ptr(), &raw mut len) };
        self.check(done, "EVP_DigestFinal_ex")?;
        Ok((len as usize).min(LONGEST_DIGEST))
    }

    fn check(&self, done: c_int, what: &str) -> Result<(), String> {
        if done > 0 {
            Ok(())
        } else {
            Err(self.api.failure(what))
        }
    }

    fn functions(&self) -> Result<&DigestFunctions, String> {
        self.api.digests.as_ref().map_err(Clone::clone)
    }

    const fn raw(&self) -> Opaque {
        self.context.as_ptr()
    }
}

impl Drop for DigestContext {
    fn drop(&mut self) {
        if let Ok(functions) = self.functions() {
            // SAFETY: made by this library, freed once.
            unsafe { (functions.context_free)(self.raw()) };
        }
    }
}
