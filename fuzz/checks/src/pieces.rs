//! Inputs as fuzzers like them: one byte, one step.

/// The text that `input` spells: a byte of ASCII stands for itself, any other for one of `pieces`.
///
/// So a mutation of one byte adds or removes a whole word of what a check is about, chance writes
/// texts that get past the first comma, and a corpus stays readable.
pub(crate) fn spell<T: AsRef<[u8]>>(input: &[u8], pieces: &[T]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * input.len());
    for &byte in input {
        match byte.checked_sub(0x80) {
            None => out.push(byte),
            Some(number) => {
                out.extend_from_slice(pieces[usize::from(number) % pieces.len()].as_ref());
            }
        }
    }
    out
}

/// The same, where all pieces are text.
pub(crate) fn spell_text(input: &[u8], pieces: &[&str]) -> String {
    String::from_utf8(spell(input, pieces)).expect("ASCII and texts are text")
}

/// Takes the first byte off; 0 if there is none.
pub(crate) fn byte(input: &mut &[u8]) -> u8 {
    input.split_off_first().copied().unwrap_or(0)
}
