//! A plug-in for Chunkwise: blocks of AES, of which its readers make ranges. chunkwise_plugin.h says what each function is
//! given; what you leave out is `None` in the table.

use std::ffi::{c_char, c_int, c_void};

const ABI: u32 = 1;
const UNSUPPORTED: c_int = 2;
const INVALID_KEY: c_int = 3;

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
    cbc_decrypt: Option<unsafe extern "C" fn(*mut c_void, *mut u8, *const c_void, *mut c_void, usize) -> c_int>,
    ctr: Option<unsafe extern "C" fn(*mut c_void, *const u8, *const c_void, *mut c_void, usize) -> c_int>,
    key_free: Option<unsafe extern "C" fn(*mut c_void)>,
    gcm_open: Option<unsafe extern "C" fn(*mut c_void, *const u8, *const c_void, *mut c_void, usize) -> c_int>,
}

// Nothing in it changes.
unsafe impl Sync for Plugin {}

/// What a key is for, and its schedule.
struct Schedule {
    _cipher: c_int,
}

unsafe extern "C" fn key(cipher: c_int, _key: *const c_void, count: usize, made: *mut *mut c_void) -> c_int {
    if ![16, 24, 32].contains(&count) {
        return INVALID_KEY;
    }
    // Make the schedule here.
    unsafe { *made = Box::into_raw(Box::new(Schedule { _cipher: cipher })) as *mut c_void };
    0
}

unsafe extern "C" fn key_free(made: *mut c_void) {
    drop(unsafe { Box::from_raw(made as *mut Schedule) });
}

// `input` and `output` may be the same memory: make no `&[u8]` of the one while there is a `&mut [u8]` of the other.
unsafe extern "C" fn cbc_decrypt(
    _made: *mut c_void, _iv: *mut u8, _input: *const c_void, _output: *mut c_void, _blocks: usize,
) -> c_int {
    UNSUPPORTED
}

unsafe extern "C" fn ctr(
    _made: *mut c_void, _counter: *const u8, _input: *const c_void, _output: *mut c_void, _bytes: usize,
) -> c_int {
    UNSUPPORTED
}

static PLUGIN: Plugin = Plugin {
    abi: ABI,
    size: std::mem::size_of::<Plugin>() as u32,
    name: c"@NAME@".as_ptr(),
    version: c"0".as_ptr(),
    strategies: std::ptr::null(),
    reader: [None; 5],
    key: Some(key),
    cbc_decrypt: Some(cbc_decrypt),
    ctr: Some(ctr),
    key_free: Some(key_free),
    gcm_open: None,
};

#[no_mangle]
pub extern "C" fn chunkwise_plugin_v1(harness_abi: u32) -> *const Plugin {
    if harness_abi == ABI { &PLUGIN } else { std::ptr::null() }
}
