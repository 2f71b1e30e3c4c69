//! From the bytes of a file to its lines, and which of them are entries.

use std::io::{self, BufRead, Read};

use sha2::{Digest as _, Sha256};

use super::{Place, Verifier};
use crate::audit::finding::Problem;
use crate::audit::line::{BadLine, Line, MAX_LINE_BYTES, read_line};
use crate::audit::name::Digest;
use crate::audit::tree::TileStore;

/// A line that is no entry.
#[derive(Debug)]
pub(super) struct Unread {
    place: Place,
    why: BadLine,
    bytes: u64,
    digest: Digest,
}

impl<S: TileStore> Verifier<S> {
    /// Reads the next file of the log.
    ///
    /// # Errors
    ///
    /// If reading fails. What the file holds is never an error but a finding.
    pub fn read(&mut self, name: &str, mut file: impl BufRead) -> io::Result<()> {
        self.report.files += 1;
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let most = MAX_LINE_BYTES as u64 + 1;
            let read = file.by_ref().take(most).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            let place = (name.to_owned(), number);
            if line.pop_if(|byte| *byte == b'\n').is_none() && read > MAX_LINE_BYTES {
                let (bytes, digest) = digest_line(&line, &mut file)?;
                self.no_entry(Unread {
                    place,
                    why: BadLine::TooLong,
                    bytes,
                    digest,
                });
            } else if !line.is_empty() {
                self.line(place, &line);
            }
        }
        Ok(())
    }

    fn line(&mut self, place: Place, text: &[u8]) {
        match read_line(text) {
            Ok(line) => {
                self.settle_unread(Some(&line));
                self.entry(&place, &line);
            }
            Err(why) => {
                let (bytes, digest) = (text.len() as u64, Digest::of(text));
                self.no_entry(Unread {
                    place,
                    why,
                    bytes,
                    digest,
                });
            }
        }
    }

    fn no_entry(&mut self, line: Unread) {
        self.settle_unread(None);
        self.unread = Some(line);
    }

    /// A line that is no entry is accounted for by a repair right after it, and by nothing else.
    pub(super) fn settle_unread(&mut self, next: Option<&Line<'_>>) {
        let Some(unread) = self.unread.take() else {
            return;
        };
        let accounted =
            next.is_some_and(|next| next.accounts_for_digest(unread.bytes, unread.digest));
        if !accounted {
            self.found(
                Some(unread.place),
                self.due.seq,
                Problem::BadLine(unread.why),
            );
            (self.due.seq, self.due.hashes, self.comparable) = (self.due.seq + 1, None, false);
        }
    }
}

/// Length and digest of a line of which `start` was read, without holding the rest.
fn digest_line(start: &[u8], rest: &mut impl BufRead) -> io::Result<(u64, Digest)> {
    let (mut bytes, mut digest) = (start.len() as u64, Sha256::new_with_prefix(start));
    loop {
        let buffer = rest.fill_buf()?;
        let end = memchr::memchr(b'\n', buffer);
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let used = part.len() + usize::from(end.is_some());
        bytes += part.len() as u64;
        digest.update(part);
        rest.consume(used);
        if end.is_some() || used == 0 {
            return Ok((bytes, Digest(digest.finalize().into())));
        }
    }
}
