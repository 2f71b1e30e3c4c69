//! One message a line: the framing of MCP's stdio transport.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;
use tokio_util::codec::Decoder;

/// Longest line that is accepted when nothing else is said: 64 MiB.
pub const MAX_LINE: usize = 64 << 20;

/// A line from this size on takes the buffer it was read into with it: what is left goes on in one of
/// this size, so that the memory is given back together with the line.
const LARGE: usize = 64 << 10;

/// How much of the start and of the end of a line that is too long is kept.
const KEPT: usize = 1 << 10;

/// Splits a stream of bytes at `\n`, and nowhere else: U+2028 is not the end of a line.
///
/// A `\r` before the `\n`, a byte order mark before the first line, and empty lines are dropped.
/// No byte is looked at twice, however the stream is cut. A line that is too long is skipped
/// without being held in memory, and told as [`Frame::TooLong`]; the stream goes on behind it.
#[derive(Debug)]
pub struct JsonLines {
    max: usize,
    /// How much of the buffer is known to hold no line end.
    seen: usize,
    skipped: Option<Skipped>,
    started: bool,
}

/// What [`JsonLines`] finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line, without its end.
    Line(Bytes),
    /// A line was longer than allowed.
    TooLong(Skipped),
}

/// What is known of a line that was too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Its first bytes.
    pub head: Bytes,
    /// Its last bytes.
    pub tail: BytesMut,
    /// Its length in bytes.
    pub length: usize,
}

impl Skipped {
    fn take(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        let fresh = &bytes[bytes.len().saturating_sub(KEPT)..];
        let excess = (self.tail.len() + fresh.len()).saturating_sub(KEPT);
        self.tail.advance(excess.min(self.tail.len()));
        self.tail.extend_from_slice(fresh);
    }
}

impl JsonLines {
    /// Lines of at most `max` bytes.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self {
            max,
            seen: 0,
            skipped: None,
            started: false,
        }
    }

    fn line(&mut self, mut line: Bytes) -> Option<Frame> {
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        if !std::mem::replace(&mut self.started, true) && line.starts_with(b"\xef\xbb\xbf") {
            line.advance(3);
        }
        (!line.iter().all(u8::is_ascii_whitespace)).then_some(Frame::Line(line))
    }

    fn skip(&mut self, bytes: &[u8]) {
        let skipped = self.skipped.get_or_insert_with(|| Skipped {
            head: Bytes::copy_from_slice(&bytes[..bytes.len().min(KEPT)]),
            ..Skipped::default()
        });
        skipped.take(bytes);
    }
}

impl Default for JsonLines {
    fn default() -> Self {
        Self::new(MAX_LINE)
    }
}

impl Decoder for JsonLines {
    type Item = Frame;
    type Error = std::io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Frame>, Self::Error> {
        loop {
            let Some(more) = memchr(b'\n', &buffer[self.seen..]) else {
                self.seen = buffer.len();
                if self.skipped.is_some() || self.seen > self.max {
                    let bytes = buffer.split();
                    self.skip(&bytes);
                    self.seen = 0;
                }
                return Ok(None);
            };
            let mut line = buffer.split_to(self.seen + more + 1);
            line.truncate(line.len() - 1);
            self.seen = 0;
            if line.len() >= LARGE && buffer.len() <= line.len() {
                let rest = std::mem::take(buffer);
                buffer.reserve(rest.len() + LARGE);
                buffer.extend_from_slice(&rest);
            }
            if self.skipped.is_some() || line.len() > self.max {
                self.skip(&line);
                self.started = true;
                return Ok(self.skipped.take().map(Frame::TooLong));
            }
            if let Some(frame) = self.line(line.freeze()) {
                return Ok(Some(frame));
            }
        }
    }

    /// The last line may lack its `\n`.
    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Frame>, Self::Error> {
        if let Some(frame) = self.decode(buffer)? {
            return Ok(Some(frame));
        }
        self.seen = 0;
        if let Some(skipped) = self.skipped.take() {
            return Ok(Some(Frame::TooLong(skipped)));
        }
        let rest = buffer.split().freeze();
        Ok(self.line(rest))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Feeds `bytes` in pieces that end at `cuts`.
    fn decode(max: usize, bytes: &[u8], cuts: &[usize]) -> Vec<Frame> {
        let mut codec = JsonLines::new(max);
        let mut buffer = BytesMut::new();
        let mut frames = Vec::new();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        for piece in cuts.windows(2) {
            buffer.extend_from_slice(&bytes[piece[0]..piece[1]]);
            while let Some(frame) = codec.decode(&mut buffer).unwrap() {
                frames.push(frame);
            }
        }
        while let Some(frame) = codec.decode_eof(&mut buffer).unwrap() {
            frames.push(frame);
        }
        frames
    }

    fn lines(bytes: &[u8]) -> Vec<Bytes> {
        let line = |frame| match frame {
            Frame::Line(line) => line,
            Frame::TooLong(_) => panic!("too long"),
        };
        decode(MAX_LINE, bytes, &[]).into_iter().map(line).collect()
    }

    #[test]
    fn lines_end_at_a_line_feed_only() {
        assert_eq!(lines(b"a\nb\r\n\n \r\nc"), ["a", "b", "c"]);
        assert_eq!(
            lines("a\u{2028}b\u{85}c\rd\n".as_bytes()),
            ["a\u{2028}b\u{85}c\rd"]
        );
        assert_eq!(lines(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n"), ["a", "\u{feff}b"]);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_told() {
        let long = [b"{\"id\":7,".as_slice(), &vec![b'x'; 5000], b"}"].concat();
        let input = [b"a\n", long.as_slice(), b"\nb\n", long.as_slice()].concat();
        let frames = decode(100, &input, &[50, 2000, 4000]);
        assert_eq!(frames.len(), 4);
        assert_eq!(frames[0], Frame::Line("a".into()));
        assert_eq!(frames[2], Frame::Line("b".into()));
        for frame in [&frames[1], &frames[3]] {
            let Frame::TooLong(skipped) = frame else {
                panic!("it was taken")
            };
            assert_eq!(skipped.length, long.len());
            assert!(skipped.head.starts_with(b"{\"id\":7,"));
            assert_eq!(skipped.tail.len(), KEPT);
            assert!(skipped.tail.ends_with(b"xx}"));
        }
    }

    proptest! {
        #[test]
        fn however_the_stream_is_cut(
            text in "[ab\r\n\u{feff} ]{0,60}",
            cuts in prop::collection::vec(any::<usize>(), 0..8),
            max in 1_usize..40,
        ) {
            let at = |frame: &Frame| match frame {
                Frame::Line(line) => (line.clone(), 0),
                Frame::TooLong(skipped) => (skipped.tail.clone().freeze(), skipped.length),
            };
            let whole: Vec<_> = decode(max, text.as_bytes(), &[]).iter().map(at).collect();
            let cut: Vec<_> = decode(max, text.as_bytes(), &cuts).iter().map(at).collect();
            prop_assert_eq!(whole, cut);
        }
    }
}
