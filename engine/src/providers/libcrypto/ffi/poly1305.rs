//! The library's own Poly1305: three interfaces to the same function.

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use libloading::Library;

use super::{Api, Opaque, symbol};

functions! {
    /// EVP_MAC, since OpenSSL 3.0.
    MacFunctions {
        fetch: ["EVP_MAC_fetch"] (Opaque, *const c_char, *const c_char) -> Opaque;
        free: ["EVP_MAC_free"] (Opaque);
        context_new: ["EVP_MAC_CTX_new"] (Opaque) -> Opaque;
        context_free: ["EVP_MAC_CTX_free"] (Opaque);
        init: ["EVP_MAC_init"] (Opaque, *const c_uchar, usize, *const c_void) -> c_int;
        update: ["EVP_MAC_update"] (Opaque, *const c_uchar, usize) -> c_int;
        finish: ["EVP_MAC_final"] (Opaque, *mut c_uchar, *mut usize, usize) -> c_int;
    }
}

functions! {
    /// Poly1305 as a key type, since OpenSSL 1.1.1.
    KeyFunctions {
        key_new: ["EVP_PKEY_new_raw_private_key"] (c_int, Opaque, *const c_uchar, usize) -> Opaque;
        key_free: ["EVP_PKEY_free"] (Opaque);
        context_new: ["EVP_MD_CTX_new"] () -> Opaque;
        context_free: ["EVP_MD_CTX_free"] (Opaque);
        context_reset: ["EVP_MD_CTX_reset"] (Opaque) -> c_int;
        init: ["EVP_DigestSignInit"] (Opaque, *mut Opaque, *const c_void, Opaque, Opaque) -> c_int;
        sign: ["EVP_DigestSign"] (Opaque, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
    }
}

functions! {
    /// Poly1305 by itself, as LibreSSL, BoringSSL and AWS-LC have it.
    DirectFunctions {
        init: ["CRYPTO_poly1305_init"] (*mut State, *const c_uchar);
        update: ["CRYPTO_poly1305_update"] (*mut State, *const c_uchar, usize);
        finish: ["CRYPTO_poly1305_finish"] (*mut State, *mut c_uchar);
    }
}

/// Room for the state of any of these libraries: the largest asks for 512 bytes.
#[repr(C, align(64))]
struct State([u8; 1024]);

/// What a library has of them.
pub(super) struct Functions {
    macs: Result<MacFunctions, String>,
    keys: Result<KeyFunctions, String>,
    direct: Result<DirectFunctions, String>,
}

impl Functions {
    pub(super) fn find(library: &Library) -> Self {
        Self {
            macs: MacFunctions::find(library),
            keys: KeyFunctions::find(library),
            direct: DirectFunctions::find(library),
        }
    }
}

/// The library's Poly1305, through the best interface it has.
pub(in super::super) struct Poly1305Context {
    api: Arc<Api>,
    /// `None` where the interface has no context.
    context: Option<NonNull<c_void>>,
    interface: Interface,
}

/// How a library offers Poly1305.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Interface {
    /// `EVP_MAC`, OpenSSL 3.0 and later.
    Mac,
    /// `EVP_PKEY_POLY1305`, OpenSSL 1.1.1 and later.
    Key,
    /// `CRYPTO_poly1305_…`, LibreSSL and the children of BoringSSL.
    Direct,
}

#[cfg(test)]
impl Interface {
    pub(in super::super) const ALL: [Self; 3] = [Self::Mac, Self::Key, Self::Direct];
}

/// `EVP_PKEY_POLY1305`, which is the object number of Poly1305.
const POLY1305_KEY: c_int = 1061;

// SAFETY: a context belongs to nobody else and is not bound to the thread that made it.
unsafe impl Send for Poly1305Context {}

impl Poly1305Context {
    /// The best interface this library has.
    pub(in super::super) fn new(api: &Arc<Api>) -> Result<Self, String> {
        Self::with(api, Interface::Mac).or_else(|why| {
            let others = Self::with(api, Interface::Key);
            let others = others.or_else(|_| Self::with(api, Interface::Direct));
            others.map_err(|_| why)
        })
    }

    /// That interface, or why there is none.
    pub(in super::super) fn with(api: &Arc<Api>, interface: Interface) -> Result<Self, String> {
        let context = match interface {
            Interface::Mac => Some(Self::mac_context(api)?),
            Interface::Key => Some(Self::key_context(api)?),
            Interface::Direct => None,
        };
        let mut made = Self {
            api: Arc::clone(api),
            context,
            interface,
        };
        // A library may have the functions and still refuse the algorithm.
        made.tag(&[1; 32], &[])?;
        Ok(made)
    }

    fn mac_context(api: &Api) -> Result<NonNull<c_void>, String> {
        let functions = api.poly1305.macs.as_ref().map_err(Clone::clone)?;
        // SAFETY: C strings; no library context and no properties means the defaults.
        let mac = unsafe { (functions.fetch)(ptr::null_mut(), c"POLY1305".as_ptr(), ptr::null()) };
        if mac.is_null() {
            return Err(api.failure("EVP_MAC_fetch"));
        }
        // SAFETY: a living EVP_MAC, of which the context keeps a reference of its own.
        let context = unsafe {
            let context = (functions.context_new)(mac);
            (functions.free)(mac);
            context
        };
        NonNull::new(context).ok_or_else(|| api.failure("EVP_MAC_CTX_new"))
    }

    fn key_context(api: &Api) -> Result<NonNull<c_void>, String> {
        let functions = api.poly1305.keys.as_ref().map_err(Clone::clone)?;
        // SAFETY: takes nothing; the answer is owned by us.
        let context = NonNull::new(unsafe { (functions.context_new)() });
        context.ok_or_else(|| api.failure("EVP_MD_CTX_new"))
    }

    /// The tag of `data` under a key used once.
    pub(in super::super) fn tag(
        &mut self,
        key: &[u8; 32],
        data: &[u8],
    ) -> Result<[u8; 16], String> {
        let mut tag = [0; 16];
        let done = match self.interface {
            Interface::Mac => self.tag_by_mac(key, data, &mut tag)?,
            Interface::Key => self.tag_by_key(key, data, &mut tag)?,
            Interface::Direct => self.tag_directly(key, data, &mut tag)?,
        };
        if done {
            Ok(tag)
        } else {
            Err(self.api.failure("Poly1305"))
        }
    }

    fn tag_by_mac(&self, key: &[u8; 32], data: &[u8], tag: &mut [u8; 16]) -> Result<bool, String> {
        let functions = self.api.poly1305.macs.as_ref().map_err(Clone::clone)?;
        let mut len = 0;
        // SAFETY: a living context; reads key and data, writes at most the 16 bytes it is told of.
        let done = unsafe {
            (functions.init)(self.raw(), key.as_ptr(), key.len(), ptr::null()) > 0
                && (functions.update)(self.raw(), data.as_ptr(), data.len()) > 0
                && (functions.finish)(self.raw(), tag.as_mut_ptr(), &raw mut len, tag.len()) > 0
        };
        Ok(done && len == tag.len())
    }

    fn tag_by_key(&self, key: &[u8; 32], data: &[u8], tag: &mut [u8; 16]) -> Result<bool, String> {
        let functions = self.api.poly1305.keys.as_ref().map_err(Clone::clone)?;
        let mut len = tag.len();
        let none = ptr::null_mut();
        // SAFETY: reads 32 bytes of key; the answer is ours and freed below.
        let key = unsafe { (functions.key_new)(POLY1305_KEY, none, key.as_ptr(), key.len()) };
        if key.is_null() {
            return Ok(false);
        }
        // SAFETY: a living context and key; reads data, writes at most `len` bytes; the context
        // keeps a reference to the key until it is reset.
        let done = unsafe {
            let done = (functions.init)(self.raw(), ptr::null_mut(), ptr::null(), none, key) > 0
                && (functions.sign)(
                    self.raw(),
                    tag.as_mut_ptr(),
                    &raw mut len,
                    data.as_ptr(),
                    data.len(),
                ) > 0;
            (functions.context_reset)(self.raw());
            (functions.key_free)(key);
            done
        };
        Ok(done && len == tag.len())
    }

    fn tag_directly(
        &self,
        key: &[u8; 32],
        data: &[u8],
        tag: &mut [u8; 16],
    ) -> Result<bool, String> {
        let functions = self.api.poly1305.direct.as_ref().map_err(Clone::clone)?;
        let mut state = State([0; 1024]);
        // SAFETY: the state has room to spare; reads 32 bytes of key and `data`, writes a tag.
        unsafe {
            (functions.init)(&raw mut state, key.as_ptr());
            (functions.update)(&raw mut state, data.as_ptr(), data.len());
            (functions.finish)(&raw mut state, tag.as_mut_ptr());
        }
        Ok(true)
    }

    fn raw(&self) -> Opaque {
        self.context.map_or(ptr::null_mut(), NonNull::as_ptr)
    }
}

impl Drop for Poly1305Context {
    fn drop(&mut self) {
        let functions = &self.api.poly1305;
        match (self.interface, &functions.macs, &functions.keys) {
            // SAFETY: made by this table's `context_new`, freed once.
            (Interface::Mac, Ok(functions), _) => unsafe { (functions.context_free)(self.raw()) },
            // SAFETY: as above.
            (Interface::Key, _, Ok(functions)) => unsafe { (functions.context_free)(self.raw()) },
            _ => {}
        }
    }
}
