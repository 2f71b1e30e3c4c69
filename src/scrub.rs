//! `scrub`: takes personal data out of texts, piece by piece, so that any size will do.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::Args;
use cloak_stages::vault::{InMemory, Numbers};
use memchr::memmem;

use crate::config::Config;
use crate::protection::Protection;
use crate::state;
use crate::text::Texts;

/// How much is looked at in one go.
const PIECE: usize = 1 << 20;

/// How much is looked at in one go where there is no place to cut before.
const LONGEST: usize = 16 << 20;

/// Longest first line that can be the header of a table.
const HEADER: usize = 4 << 10;

/// From this size on a file has a line that shows how far it is.
const LARGE: u64 = 16 << 20;

/// How often that line changes.
const TICK: Duration = Duration::from_millis(200);

/// The arguments of `scrub`.
#[derive(Debug, Args)]
pub(crate) struct Scrub {
    /// Number tokens from 0 each time, so that the same text gives the same answer. Do not show
    /// such a text to a model behind the gateway: its tokens are those of others there
    #[arg(long)]
    from_zero: bool,

    /// The texts; standard input if there are none. A value has the same token in all of them
    files: Vec<PathBuf>,
}

impl Scrub {
    /// Reads standard input or the files, and writes to standard output.
    pub(crate) fn run(&self, config: &Config) -> anyhow::Result<ExitCode> {
        let protection = Protection::new(config, self.numbers(config))?;
        if let Some(gap) = &protection.names().gap {
            tracing::warn!("{gap}");
        }
        let texts = Texts::new(&protection);
        let mut out = io::stdout().lock();
        if self.files.is_empty() {
            let mut stream = Stream::new(io::stdin().lock(), "standard input", 0);
            stream.scrub(&texts, &mut out)?;
        }
        for path in &self.files {
            let name = path.display().to_string();
            let file = File::open(path).with_context(|| name.clone())?;
            let size = file.metadata().map_or(0, |metadata| metadata.len());
            Stream::new(file, &name, size).scrub(&texts, &mut out)?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn numbers(&self, config: &Config) -> Box<dyn Numbers> {
        if self.from_zero {
            return Box::new(InMemory::default());
        }
        let (numbers, warning) = state::numbers(config.state_dir.clone());
        if let Some(warning) = warning {
            tracing::warn!("{warning}");
        }
        numbers
    }
}

/// A text as it comes in.
struct Stream<'a, R> {
    input: R,
    name: &'a str,
    /// What was read and not looked at yet.
    waiting: Vec<u8>,
    /// The first line, if it looks like the header of a table: it says what the columns hold, also
    /// in the pieces that follow.
    header: Option<String>,
    progress: Progress<'a>,
}

impl<'a, R: Read> Stream<'a, R> {
    fn new(input: R, name: &'a str, size: u64) -> Self {
        Self {
            input,
            name,
            waiting: Vec::new(),
            header: None,
            progress: Progress::new(name, size),
        }
    }

    fn scrub(&mut self, texts: &Texts, out: &mut impl Write) -> anyhow::Result<()> {
        let mut wanted = PIECE;
        let mut first = true;
        loop {
            let ended = self.fill(wanted).with_context(|| self.name.to_owned())?;
            let at = if ended {
                self.waiting.len()
            } else {
                cut(&self.waiting)
            };
            if at == 0 && !ended {
                wanted += PIECE;
                continue;
            }
            let rest = self.waiting.split_off(at);
            let piece = std::mem::replace(&mut self.waiting, rest);
            if std::mem::take(&mut first) {
                self.header = header(&piece);
                self.write(texts, None, &piece, out)?;
            } else {
                self.write(texts, self.header.as_deref(), &piece, out)?;
            }
            self.progress.add(piece.len());
            if ended {
                return Ok(());
            }
            wanted = PIECE;
        }
    }

    /// Reads until `wanted` bytes are waiting; tells whether the text has ended.
    fn fill(&mut self, wanted: usize) -> io::Result<bool> {
        let missing = wanted.saturating_sub(self.waiting.len()) as u64;
        let read = self
            .input
            .by_ref()
            .take(missing)
            .read_to_end(&mut self.waiting)?;
        Ok((read as u64) < missing)
    }

    /// Writes what the model would see of a piece. Bytes that are not UTF-8 stay as they are.
    fn write(
        &self,
        texts: &Texts,
        header: Option<&str>,
        piece: &[u8],
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        for chunk in piece.utf8_chunks() {
            if !chunk.valid().is_empty() {
                let clean = self.clean(texts, header, chunk.valid())?;
                out.write_all(clean.as_bytes())?;
            }
            out.write_all(chunk.invalid())?;
        }
        Ok(())
    }

    fn clean(&self, texts: &Texts, header: Option<&str>, text: &str) -> anyhow::Result<String> {
        let told = |why| anyhow!("{}: {why}", self.name);
        let Some(header) = header else {
            return texts.to_model(text).map_err(told);
        };
        let clean = texts.to_model(&[header, text].concat()).map_err(told)?;
        let body = clean.split_once('\n').map(|(_, body)| body.to_owned());
        body.ok_or_else(|| told("the header of the table was lost".to_owned()))
    }
}

/// Where `text` can be cut so that nothing personal stands on both sides; 0 if nowhere yet.
///
/// That is behind a line that does not introduce the next one with a colon, and not inside of a
/// PEM block (RFC 7468).
fn cut(text: &[u8]) -> usize {
    let block = match (
        memmem::rfind(text, b"-----BEGIN "),
        memmem::rfind(text, b"-----END "),
    ) {
        (Some(begin), end) if end.is_none_or(|end| end < begin) => begin,
        _ => text.len(),
    };
    let mut at = block;
    while let Some(end) = memchr::memrchr(b'\n', &text[..at]) {
        if text[..end].trim_ascii_end().last() != Some(&b':') {
            return end + 1;
        }
        at = end;
    }
    if text.len() < LONGEST {
        return 0;
    }
    // No text that is written by people or programs gets here.
    let space = memchr::memrchr2(b' ', b'\t', text).map(|space| space + 1);
    space.unwrap_or_else(|| {
        let continues = |byte: &&u8| **byte & 0xc0 == 0x80;
        let tail = text.iter().rev().take(3).take_while(continues).count();
        text.len() - tail - 1
    })
}

/// The first line with its end, if it could be the header of a table.
fn header(text: &[u8]) -> Option<String> {
    let end = memchr::memchr(b'\n', &text[..text.len().min(HEADER)])?;
    let line = std::str::from_utf8(&text[..=end]).ok()?;
    line.contains([',', ';', '\t', '|'])
        .then(|| line.to_owned())
}

/// How far a large file is, on a terminal.
struct Progress<'a> {
    name: &'a str,
    size: u64,
    done: u64,
    begin: Instant,
    /// When the line was written last; `None` where there is none.
    shown: Option<Instant>,
}

impl<'a> Progress<'a> {
    fn new(name: &'a str, size: u64) -> Self {
        let begin = Instant::now();
        let shown = (size >= LARGE && io::stderr().is_terminal()).then_some(begin);
        Self {
            name,
            size,
            done: 0,
            begin,
            shown,
        }
    }

    fn add(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if self.shown.is_some_and(|shown| shown.elapsed() >= TICK) {
            self.shown = Some(Instant::now());
            let rate = self.done as f64 / 1e6 / self.begin.elapsed().as_secs_f64();
            let percent = 100 * self.done / self.size.max(1);
            eprint!("\r\x1b[K{}  {percent} %  {rate:.0} MB/s", self.name);
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.shown.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scrubs `text`, which comes in pieces of `size`.
    fn scrubbed(text: &[u8]) -> Vec<u8> {
        let protection = Protection::new(&Config::new(), Box::new(InMemory::default())).unwrap();
        let mut out = Vec::new();
        Stream::new(text, "x", 0)
            .scrub(&Texts::new(&protection), &mut out)
            .unwrap();
        out
    }

    #[test]
    fn values_become_tokens_and_nothing_else_changes() {
        let text = "é write to marie@example.eu,\r\nor marie@example.eu \u{1}\"\\\n\n";
        let clean = "é write to [EMAIL_0],\r\nor [EMAIL_0] \u{1}\"\\\n\n";
        assert_eq!(scrubbed(text.as_bytes()), clean.as_bytes());
        assert_eq!(scrubbed(b""), b"");
    }

    #[test]
    fn bytes_that_are_not_text_stay() {
        let text = b"\xff\xfe a@example.eu \xc3\nb@example.eu \x00";
        assert_eq!(scrubbed(text), b"\xff\xfe [EMAIL_0] \xc3\n[EMAIL_1] \x00");
    }

    #[test]
    fn a_long_text_is_cut_where_no_value_is() {
        let lines = PIECE * 3 / 40;
        let text: String = (0..lines)
            .map(|n| format!("line {n:07} of user{}@example.eu\n", n % 10))
            .collect();
        let expected: String = (0..lines)
            .map(|n| format!("line {n:07} of [EMAIL_{}]\n", n % 10))
            .collect();
        assert!(scrubbed(text.as_bytes()) == expected.as_bytes());
    }

    #[test]
    fn places_to_cut() {
        assert_eq!(cut(b"one\ntwo"), 4);
        assert_eq!(cut(b"one\ntwo\n"), 8);
        assert_eq!(cut(b"one\nPhone:\r\n"), 4, "the value may follow");
        assert_eq!(
            cut(b"one\n-----BEGIN X-----\nabc\n"),
            4,
            "inside of a block"
        );
        let whole = b"-----BEGIN X-----\nabc\n-----END X-----\n";
        assert_eq!(cut(whole), whole.len());
        assert_eq!(cut(b"no line end"), 0);
        let long = "é".repeat(LONGEST / 2);
        assert!(long.is_char_boundary(cut(long.as_bytes())));
        let long = format!("x {}", "y".repeat(LONGEST));
        assert_eq!(cut(long.as_bytes()), 2);
    }

    #[test]
    fn a_header_counts_for_all_of_its_table() {
        assert_eq!(header(b"id,name\n1,x\n").as_deref(), Some("id,name\n"));
        assert_eq!(header(b"just words\n"), None);
        assert_eq!(header(b"id,name"), None);
    }
}
