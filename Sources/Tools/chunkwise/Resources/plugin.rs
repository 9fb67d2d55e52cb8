//! A plug-in for Chunkwise: AES, from whose blocks Chunkwise's readers make ranges. chunkwise_plugin.h describes the
//! parameters of each function. A function that you leave out is `None` in the table.

use std::ffi::{c_char, c_int, c_void};

const ABI: u32 = 1;
const UNSUPPORTED: c_int = 2;
const INVALID_KEY: c_int = 3;
const CBC: c_int = 1;
const CTR: c_int = 2;

/// The table of chunkwise_plugin.h, member by member.
#[repr(C)]
pub struct Plugin {
    abi: u32,
    size: u32,
    name: *const c_char,
    version: *const c_char,
    strategies: *const *const c_char,
    // Level 2: open, cursor, read, cursor_free, close.
    reader: [Option<unsafe extern "C" fn()>; 5],
    key: Option<unsafe extern "C" fn(c_int, *const c_void, usize, *mut *mut c_void) -> c_int>,
    key_free: Option<unsafe extern "C" fn(*mut c_void)>,
    decrypt: Option<Decrypt>,
    nonces: Option<unsafe extern "C" fn(c_int, *mut usize, *mut usize)>,
}

/// The schedule; the nonce; the associated data; input, output, and the number of output bytes.
type Decrypt = unsafe extern "C" fn(
    *mut c_void, *const u8, usize, *const c_void, usize, *const c_void, *mut c_void, usize,
) -> c_int;

// The table never changes.
unsafe impl Sync for Plugin {}

/// The cipher of a key, and the key's schedule.
struct Schedule {
    cipher: c_int,
}

unsafe extern "C" fn key(cipher: c_int, _key: *const c_void, count: usize, made: *mut *mut c_void) -> c_int {
    if ![16, 24, 32].contains(&count) {
        return INVALID_KEY;
    }
    if ![CBC, CTR].contains(&cipher) {
        return UNSUPPORTED;
    }
    // Make the schedule here.
    unsafe { *made = Box::into_raw(Box::new(Schedule { cipher })) as *mut c_void };
    0
}

unsafe extern "C" fn key_free(made: *mut c_void) {
    drop(unsafe { Box::from_raw(made as *mut Schedule) });
}

// `input` and `output` may be the same memory: make no `&[u8]` of the one while there is a `&mut [u8]` of the other.
unsafe extern "C" fn decrypt(
    made: *mut c_void, _nonce: *const u8, _nonce_count: usize, _associated_data: *const c_void,
    _associated_data_count: usize, _input: *const c_void, _output: *mut c_void, _bytes: usize,
) -> c_int {
    match unsafe { &*(made as *const Schedule) }.cipher {
        CBC => UNSUPPORTED, // Decrypt blocks from the IV `_nonce` here.
        CTR => UNSUPPORTED, // Decrypt bytes from the counter block `_nonce` here.
        _ => UNSUPPORTED,
    }
}

static PLUGIN: Plugin = Plugin {
    abi: ABI,
    size: std::mem::size_of::<Plugin>() as u32,
    name: c"@NAME@".as_ptr(),
    version: c"0".as_ptr(),
    strategies: std::ptr::null(),
    reader: [None; 5],
    key: Some(key),
    key_free: Some(key_free),
    decrypt: Some(decrypt),
    nonces: None,
};

#[no_mangle]
pub extern "C" fn chunkwise_plugin_v1(harness_abi: u32) -> *const Plugin {
    if harness_abi == ABI { &PLUGIN } else { std::ptr::null() }
}
