//! What is measured, and the shape of the messages it is done to.
#![forbid(unsafe_code)]

/// Bytes before the payload of a packet: its length field, additional data for the tag.
pub const HEAD: usize = 4;
/// Bytes after the payload: room for the tag.
pub const TAG: usize = 16;

/// One thing that all contestants do to the same messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// XOR the key stream of ChaCha20 into the payload; 8-byte nonce, 64-bit counter from 0.
    ChaCha20,
    /// The Poly1305 tag of the payload, under a key that changes with every message.
    Poly1305,
    /// `chacha20-poly1305@openssh.com`: a whole packet.
    SshSeal,
    SshOpen,
    /// XOR the key stream of AES into the payload; the nonce is the upper half of the counter.
    Aes128Ctr,
    Aes256Ctr,
    /// AES-GCM with the length field as additional data: `aes128-gcm@openssh.com`, but for the nonce.
    Aes128GcmSeal,
    Aes128GcmOpen,
    Aes256GcmSeal,
    Aes256GcmOpen,
}

impl Work {
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::ChaCha20, "chacha20"),
        (Self::Poly1305, "poly1305"),
        (Self::SshSeal, "ssh-seal"),
        (Self::SshOpen, "ssh-open"),
        (Self::Aes128Ctr, "aes128-ctr"),
        (Self::Aes256Ctr, "aes256-ctr"),
        (Self::Aes128GcmSeal, "aes128-gcm-seal"),
        (Self::Aes128GcmOpen, "aes128-gcm-open"),
        (Self::Aes256GcmSeal, "aes256-gcm-seal"),
        (Self::Aes256GcmOpen, "aes256-gcm-open"),
    ];

    /// Bytes of AES key, where it is AES.
    pub fn aes_key_len(self) -> usize {
        match self {
            Self::Aes128Ctr | Self::Aes128GcmSeal | Self::Aes128GcmOpen => 16,
            _ => 32,
        }
    }

    /// The work whose output this one takes apart.
    pub fn inverse(self) -> Option<Self> {
        match self {
            Self::SshOpen => Some(Self::SshSeal),
            Self::Aes128GcmOpen => Some(Self::Aes128GcmSeal),
            Self::Aes256GcmOpen => Some(Self::Aes256GcmSeal),
            _ => None,
        }
    }
}

/// A message of `size` bytes of payload, as a packet that is still clear.
pub fn message(size: usize, seed: usize) -> Vec<u8> {
    let length = u32::try_from(size).expect("messages are short");
    let payload = (0..size).map(|at| (at * 31 + seed * 7 + (at >> 8)) as u8);
    let tag = [0; TAG];
    length
        .to_be_bytes()
        .into_iter()
        .chain(payload)
        .chain(tag)
        .collect()
}

/// Length field, payload and tag of a message.
pub fn split(message: &mut [u8]) -> (&mut [u8], &mut [u8], &mut [u8; TAG]) {
    let (rest, tag) = message.split_last_chunk_mut().expect("a message has a tag");
    let (head, payload) = rest.split_at_mut(HEAD);
    (head, payload, tag)
}

/// A 12-byte nonce for AES-GCM.
pub fn gcm_nonce(number: u64) -> [u8; 12] {
    let mut nonce = [0xca; 12];
    nonce[4..].copy_from_slice(&number.to_be_bytes());
    nonce
}

/// The first counter block for AES-CTR.
pub fn first_counter(number: u64) -> [u8; 16] {
    (u128::from(number) << 64).to_be_bytes()
}

/// A one-time key for Poly1305.
pub fn one_time_key(key: &[u8; 64], number: u64) -> [u8; 32] {
    let mut one_time: [u8; 32] = *key.first_chunk().expect("the key is longer");
    for (byte, change) in one_time.iter_mut().zip(number.to_le_bytes()) {
        *byte ^= change;
    }
    one_time
}

/// Somebody who does a work.
pub struct Contestant {
    pub name: String,
    pub run: Run,
}

/// Does the work to a message under the nonce of that number; `false` when a tag was refused.
pub type Run = Box<dyn FnMut(u64, &mut [u8]) -> bool>;

impl Contestant {
    pub fn new(name: impl Into<String>, run: impl FnMut(u64, &mut [u8]) -> bool + 'static) -> Self {
        Self {
            name: name.into(),
            run: Box::new(run),
        }
    }
}
