//! AES of its own as a plug-in of level 1: CBC decryption and CTR, without crates.
//!
//! ```sh
//! cargo build --offline --release
//! chunkwise verify --plugin "$PWD/target/release/libaes_plugin.so"
//! ```
//!
//! With `--features fault`, the counter is cut at 32 bits: the faulty sibling, which must fail.
//!
//! The cipher is written from FIPS 197 for reading, not for speed. Its tables are looked up by secret bytes: do not use
//! it for secrets on a machine that is shared.
//!
//! Nothing unwinds into the harness: `Cargo.toml` sets `panic = "abort"`, and functions of `extern "C"` abort too.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, write_volatile};

mod aes;
use aes::{Aes, Block};

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
    name: c"rust-aes".as_ptr(),
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

/// A schedule, and what it is for.
struct Schedule {
    cipher: c_int,
    aes: Aes,
}

/// Makes a schedule. It is only read afterwards, so that several threads may share it.
unsafe extern "C" fn key(cipher: c_int, key: *const u8, count: usize, schedule: *mut *mut c_void) -> c_int {
    if !matches!(count, 16 | 24 | 32) {
        return INVALID_KEY;
    }
    if !matches!(cipher, CBC | CTR) {
        return UNSUPPORTED;
    }
    let key = std::slice::from_raw_parts(key, count);
    let aes = Aes::new(key);
    *schedule = Box::into_raw(Box::new(Schedule { cipher, aes })) as *mut c_void;
    OK
}

/// Erases a schedule and frees it.
unsafe extern "C" fn key_free(schedule: *mut c_void) {
    if schedule.is_null() {
        return;
    }
    let bytes = schedule as *mut u8;
    for offset in 0..size_of::<Schedule>() {
        write_volatile(bytes.add(offset), 0);
    }
    drop(Box::from_raw(schedule as *mut Schedule));
}

/// Decrypts a stretch. The nonce has 16 bytes, and there is no associated data, as there is no GCM.
///
/// `input` and `output` may be the same address. So there are no slices of them, which must not overlap.
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
    let nonce = (nonce as *const Block).read();
    if schedule.cipher == CBC {
        chain(&schedule.aes, nonce, input, output, bytes / 16);
    } else {
        count(&schedule.aes, nonce, input, output, bytes);
    }
    OK
}

/// CBC, NIST SP 800-38A, section 6.2: each block is decrypted, then XORed with the ciphertext block before it, which is
/// copied before its plaintext is written.
unsafe fn chain(aes: &Aes, iv: Block, input: *const u8, output: *mut u8, blocks: usize) {
    let mut previous = iv;
    for index in 0..blocks {
        let ciphertext = (input.add(16 * index) as *const Block).read();
        let mut block = ciphertext;
        aes.decrypt(&mut block);
        for (byte, other) in block.iter_mut().zip(previous) {
            *byte ^= other;
        }
        (output.add(16 * index) as *mut Block).write(block);
        previous = ciphertext;
    }
}

/// CTR, NIST SP 800-38A, section 6.5: the input is XORed with the encrypted counter. A last block may be short.
unsafe fn count(aes: &Aes, counter: Block, input: *const u8, output: *mut u8, bytes: usize) {
    let mut counter = u128::from_be_bytes(counter);
    for offset in (0..bytes).step_by(16) {
        let mut block = counter.to_be_bytes();
        aes.encrypt(&mut block);
        for (index, mask) in block.iter().enumerate().take(bytes - offset) {
            *output.add(offset + index) = *input.add(offset + index) ^ mask;
        }
        counter = next(counter);
    }
}

/// The counter after this one, modulo 2^128.
#[cfg(not(feature = "fault"))]
fn next(counter: u128) -> u128 {
    counter.wrapping_add(1)
}

/// The fault: only the last 4 bytes count, and nothing is carried out of them.
#[cfg(feature = "fault")]
fn next(counter: u128) -> u128 {
    counter & !0xFFFF_FFFF | (counter as u32).wrapping_add(1) as u128
}
