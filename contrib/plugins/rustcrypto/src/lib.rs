//! RustCrypto's `aes` 0.6 as a plug-in of level 1: CBC decryption and CTR. Build it with contrib/plugins/build.
//!
//! The crate works on batches of 8 blocks. The modes are here, since RustCrypto's take a cipher of their own for each
//! call (`block-modes`), or have older traits and count in 64 bits (`ctr` 0.3).
//!
//! Nothing unwinds into the harness: `Cargo.toml` sets `panic = "abort"`.

use aes::cipher::consts::{U16, U8};
use aes::cipher::generic_array::GenericArray;
use aes::{Aes128, Aes192, Aes256, BlockCipher, NewBlockCipher};
use std::array::from_fn;
use std::ffi::c_void;
use std::iter::once;
use std::mem::{size_of, transmute, MaybeUninit};
use std::os::raw::{c_char, c_int};
use std::ptr::{copy_nonoverlapping, null, write_volatile};

// What chunkwise_plugin.h declares.

const ABI: u32 = 1;
const OK: c_int = 0;
const UNSUPPORTED: c_int = 2;
const INVALID_KEY: c_int = 3;
const CBC: c_int = 1;
const CTR: c_int = 2;

/// The table, member by member as in the header. Functions that this plug-in lacks are `None`, which is `NULL` in C.
#[repr(C)]
pub struct Plugin {
    abi: u32,
    size: u32,
    name: *const c_char,
    version: *const c_char,
    strategies: *const *const c_char,
    open: Option<extern "C" fn()>,
    cursor: Option<extern "C" fn()>,
    read: Option<extern "C" fn()>,
    cursor_free: Option<extern "C" fn()>,
    close: Option<extern "C" fn()>,
    key: Option<unsafe extern "C" fn(c_int, *const u8, usize, *mut *mut c_void) -> c_int>,
    key_free: Option<unsafe extern "C" fn(*mut c_void)>,
    decrypt: Option<
        unsafe extern "C" fn(
            *const c_void,
            *const u8,
            usize,
            *const c_void,
            usize,
            *const u8,
            *mut u8,
            usize,
        ) -> c_int,
    >,
    nonces: Option<extern "C" fn()>,
}

/// The table is never written to, and its pointers are to constants.
unsafe impl Sync for Plugin {}

static PLUGIN: Plugin = Plugin {
    abi: ABI,
    size: size_of::<Plugin>() as u32,
    name: concat!(env!("CARGO_PKG_NAME"), "\0").as_ptr() as *const c_char,
    version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr() as *const c_char,
    strategies: null(),
    open: None,
    cursor: None,
    read: None,
    cursor_free: None,
    close: None,
    key: Some(key),
    key_free: Some(key_free),
    decrypt: Some(decrypt),
    nonces: None,
};

/// The one symbol.
#[no_mangle]
pub extern "C" fn chunkwise_plugin_v1(harness_abi: u32) -> *const Plugin {
    if harness_abi == ABI {
        &PLUGIN
    } else {
        null()
    }
}

/// A schedule, and what it is for. It is only read, so that several threads may share it.
struct Schedule {
    cipher: c_int,
    aes: Aes,
}

enum Aes {
    Aes128(Aes128),
    Aes192(Aes192),
    Aes256(Aes256),
}

/// Makes a schedule.
unsafe extern "C" fn key(cipher: c_int, key: *const u8, count: usize, schedule: *mut *mut c_void) -> c_int {
    if !matches!(count, 16 | 24 | 32) {
        return INVALID_KEY;
    }
    if !matches!(cipher, CBC | CTR) {
        return UNSUPPORTED;
    }
    let key = std::slice::from_raw_parts(key, count);
    let aes = match count {
        16 => Aes::Aes128(Aes128::new(GenericArray::from_slice(key))),
        24 => Aes::Aes192(Aes192::new(GenericArray::from_slice(key))),
        _ => Aes::Aes256(Aes256::new(GenericArray::from_slice(key))),
    };
    *schedule = Box::into_raw(Box::new(Schedule { cipher, aes })) as *mut c_void;
    OK
}

/// Erases a schedule and frees it.
unsafe extern "C" fn key_free(schedule: *mut c_void) {
    if schedule.is_null() {
        return;
    }
    // What is freed need be no schedule any more.
    let schedule = schedule as *mut MaybeUninit<Schedule>;
    for offset in 0..size_of::<Schedule>() {
        write_volatile((schedule as *mut u8).add(offset), 0);
    }
    drop(Box::from_raw(schedule));
}

/// Decrypts a stretch. The nonce has 16 bytes, and there is no associated data, as there is no GCM.
unsafe extern "C" fn decrypt(
    schedule: *const c_void,
    nonce: *const u8,
    _nonce_count: usize,
    _associated_data: *const c_void,
    _associated_data_count: usize,
    input: *const u8,
    output: *mut u8,
    bytes: usize,
) -> c_int {
    let schedule = &*(schedule as *const Schedule);
    match &schedule.aes {
        Aes::Aes128(aes) => stream(schedule.cipher, aes, nonce, input, output, bytes),
        Aes::Aes192(aes) => stream(schedule.cipher, aes, nonce, input, output, bytes),
        Aes::Aes256(aes) => stream(schedule.cipher, aes, nonce, input, output, bytes),
    }
    OK
}

unsafe fn stream<Cipher: BlockCipher<BlockSize = U16, ParBlocks = U8>>(
    cipher: c_int,
    aes: &Cipher,
    nonce: *const u8,
    input: *const u8,
    output: *mut u8,
    bytes: usize,
) {
    if cipher == CBC {
        unchain(aes, nonce, input, output, bytes / 16);
    } else {
        count(aes, nonce, input, output, bytes);
    }
}

/// As many blocks as the crate takes at once. They are only copied and XORed, so that their byte order does not matter.
type Batch = [u128; 8];

/// The crate's type for them, of the same size and layout.
type Blocks = GenericArray<GenericArray<u8, U16>, U8>;

/// CBC, NIST SP 800-38A, section 6.2.
///
/// `input` and `output` may be the same address. So there are no slices of them, which must not overlap, and a batch of
/// ciphertext is copied before its plaintext is written.
unsafe fn unchain<Cipher: BlockCipher<BlockSize = U16, ParBlocks = U8>>(
    cipher: &Cipher,
    iv: *const u8,
    input: *const u8,
    output: *mut u8,
    blocks: usize,
) {
    let mut previous = (iv as *const u128).read_unaligned();
    for first in (0..blocks).step_by(8) {
        let count = (blocks - first).min(8);
        let mut ciphertext: Batch = [0; 8];
        copy_nonoverlapping(input.add(16 * first), ciphertext.as_mut_ptr() as *mut u8, 16 * count);
        let mut batch: Blocks = transmute(ciphertext);
        if count == 1 {
            cipher.decrypt_block(&mut batch[0]);
        } else {
            cipher.decrypt_blocks(&mut batch);
        }
        let mut plaintext: Batch = transmute(batch);
        for (block, before) in plaintext.iter_mut().zip(once(previous).chain(ciphertext)) {
            *block ^= before;
        }
        previous = ciphertext[7];
        copy_nonoverlapping(plaintext.as_ptr() as *const u8, output.add(16 * first), 16 * count);
    }
}

/// CTR, NIST SP 800-38A, section 6.5. The last block may be short.
unsafe fn count<Cipher: BlockCipher<BlockSize = U16, ParBlocks = U8>>(
    cipher: &Cipher,
    counter: *const u8,
    input: *const u8,
    output: *mut u8,
    bytes: usize,
) {
    let mut counter = u128::from_be((counter as *const u128).read_unaligned());
    for first in (0..bytes).step_by(128) {
        let count = (bytes - first).min(128);
        let counters: Batch = from_fn(|index| counter.wrapping_add(index as u128).to_be());
        counter = counter.wrapping_add(8);
        let mut batch: Blocks = transmute(counters);
        if count <= 16 {
            cipher.encrypt_block(&mut batch[0]);
        } else {
            cipher.encrypt_blocks(&mut batch);
        }
        let mut data: Batch = [0; 8];
        copy_nonoverlapping(input.add(first), data.as_mut_ptr() as *mut u8, count);
        for (block, mask) in data.iter_mut().zip(transmute::<Blocks, Batch>(batch)) {
            *block ^= mask;
        }
        copy_nonoverlapping(data.as_ptr() as *const u8, output.add(first), count);
    }
}
