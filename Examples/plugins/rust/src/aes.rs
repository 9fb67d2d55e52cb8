//! AES, from FIPS 197. Section numbers are those of its edition of 2023.

/// A block of 16 bytes, which is the state as well: byte 4c + r is row r of column c.
pub type Block = [u8; 16];

/// Multiplies by x in GF(2^8), section 4.2.
const fn times_x(byte: u8) -> u8 {
    (byte << 1) ^ (if byte & 0x80 != 0 { 0x1B } else { 0 })
}

/// Multiplies in GF(2^8), section 4.2.
const fn times(mut left: u8, mut right: u8) -> u8 {
    let mut product = 0;
    while right != 0 {
        if right & 1 != 0 {
            product ^= left;
        }
        left = times_x(left);
        right >>= 1;
    }
    product
}

/// The S-box, section 5.1.1: the inverse in GF(2^8), then an affine map. The compiler makes the table.
const fn make_s_box() -> [u8; 256] {
    let mut table = [0; 256];
    // All elements but 0 are powers of 3, and the inverse of 3^n is (1/3)^n, where 1/3 is 0xF6.
    let (mut power, mut inverse) = (1, 1);
    let mut count = 0;
    while count < 255 {
        table[power as usize] = affine(inverse);
        power = times(power, 3);
        inverse = times(inverse, 0xF6);
        count += 1;
    }
    // The element that has no inverse.
    table[0] = affine(0);
    table
}

const fn affine(byte: u8) -> u8 {
    0x63 ^ byte ^ byte.rotate_left(1) ^ byte.rotate_left(2) ^ byte.rotate_left(3) ^ byte.rotate_left(4)
}

/// The inverse S-box, section 5.3.2.
const fn make_inverse_s_box() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[S_BOX[byte] as usize] = byte as u8;
        byte += 1;
    }
    table
}

/// The multiples of all bytes.
const fn make_multiples(factor: u8) -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = times(byte as u8, factor);
        byte += 1;
    }
    table
}

static S_BOX: [u8; 256] = make_s_box();
static INVERSE_S_BOX: [u8; 256] = make_inverse_s_box();
static TIMES_9: [u8; 256] = make_multiples(9);
static TIMES_11: [u8; 256] = make_multiples(11);
static TIMES_13: [u8; 256] = make_multiples(13);
static TIMES_14: [u8; 256] = make_multiples(14);

/// A key schedule.
pub struct Aes {
    /// One more than there are rounds; those behind it are not used.
    round_keys: [Block; 15],
    rounds: usize,
}

impl Aes {
    /// Expands a key of 16, 24 or 32 bytes, section 5.2.
    pub fn new(key: &[u8]) -> Aes {
        let key_words = key.len() / 4;
        let rounds = key_words + 6;
        let mut words = [[0; 4]; 60];
        for (word, bytes) in words.iter_mut().zip(key.chunks_exact(4)) {
            word.copy_from_slice(bytes);
        }
        let mut constant = 1;
        for index in key_words..4 * (rounds + 1) {
            let mut word: [u8; 4] = words[index - 1];
            if index % key_words == 0 {
                word.rotate_left(1);
                word = word.map(|byte| S_BOX[byte as usize]);
                word[0] ^= constant;
                constant = times_x(constant);
            } else if key_words > 6 && index % key_words == 4 {
                word = word.map(|byte| S_BOX[byte as usize]);
            }
            for row in 0..4 {
                words[index][row] = words[index - key_words][row] ^ word[row];
            }
        }
        let mut round_keys = [[0; 16]; 15];
        for (index, word) in words.iter().enumerate() {
            round_keys[index / 4][index % 4 * 4..][..4].copy_from_slice(word);
        }
        Aes { round_keys, rounds }
    }

    /// Encrypts a block, section 5.1.
    pub fn encrypt(&self, state: &mut Block) {
        add(state, &self.round_keys[0]);
        for round in 1..=self.rounds {
            // SubBytes and ShiftRows: row r moves r columns to the left.
            let old = *state;
            for (index, byte) in state.iter_mut().enumerate() {
                *byte = S_BOX[old[(index + 4 * (index % 4)) % 16] as usize];
            }
            if round < self.rounds {
                state.chunks_exact_mut(4).for_each(mix_column);
            }
            add(state, &self.round_keys[round]);
        }
    }

    /// Decrypts a block, section 5.3: the same steps backwards.
    pub fn decrypt(&self, state: &mut Block) {
        for round in (1..=self.rounds).rev() {
            add(state, &self.round_keys[round]);
            if round < self.rounds {
                state.chunks_exact_mut(4).for_each(unmix_column);
            }
            // InvShiftRows and InvSubBytes: row r moves r columns to the right.
            let old = *state;
            for (index, byte) in state.iter_mut().enumerate() {
                *byte = INVERSE_S_BOX[old[(index + 12 * (index % 4)) % 16] as usize];
            }
        }
        add(state, &self.round_keys[0]);
    }
}

/// AddRoundKey, section 5.1.4.
fn add(state: &mut Block, key: &Block) {
    for (byte, other) in state.iter_mut().zip(key) {
        *byte ^= other;
    }
}

/// MixColumns of one column, section 5.1.3: 2a + 3b + c + d, for each row.
fn mix_column(column: &mut [u8]) {
    let all = column[0] ^ column[1] ^ column[2] ^ column[3];
    let first = column[0];
    for row in 0..4 {
        let next = if row < 3 { column[row + 1] } else { first };
        column[row] ^= all ^ times_x(column[row] ^ next);
    }
}

/// InvMixColumns of one column, section 5.3.3: 14a + 11b + 13c + 9d, for each row.
fn unmix_column(column: &mut [u8]) {
    let old = [column[0], column[1], column[2], column[3]].map(|byte| byte as usize);
    for row in 0..4 {
        column[row] = TIMES_14[old[row]]
            ^ TIMES_11[old[(row + 1) % 4]]
            ^ TIMES_13[old[(row + 2) % 4]]
            ^ TIMES_9[old[(row + 3) % 4]];
    }
}

#[cfg(test)]
mod tests {
    use super::Aes;

    /// FIPS 197, appendix C.
    #[test]
    fn known_answers() {
        let key: Vec<u8> = (0..32).collect();
        let plaintext = std::array::from_fn(|index| 0x11 * index as u8);
        for (count, first) in [(16, 0x69), (24, 0xDD), (32, 0x8E)] {
            let aes = Aes::new(&key[..count]);
            let mut block = plaintext;
            aes.encrypt(&mut block);
            assert_eq!(block[0], first);
            aes.decrypt(&mut block);
            assert_eq!(block, plaintext);
        }
    }
}
