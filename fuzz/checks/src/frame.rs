//! Lines, batches and what is salvaged of lines that are too long.

use bytes::{Bytes, BytesMut};
use cloak_stages::batch;
use cloak_stages::frame::{Frame, JsonLines};
use cloak_stages::remap::salvage_id;
use tokio_util::codec::Decoder;

use crate::pieces::{byte, spell};

const PIECES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\xef\xbb\xbf",
    b"\"id\":",
    b"\"id\" : \"a\\\"b\"",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    b"[{\"id\":1},2,[3]]",
    b"\\u0069d",
    b"\xff",
    b"\xc3",
    b"                ",
    b"0123456789abcdef0123456789abcdef",
];

/// However a stream is cut, the lines are those that a plain split at line feeds gives.
pub fn frame(mut input: &[u8]) {
    let max = usize::from(byte(&mut input));
    let cut = usize::from(byte(&mut input)) + 1;
    let stream = spell(input, PIECES);
    let frames = decode(max, stream.chunks(cut));
    let mut lines = stream.split(|byte| *byte == b'\n').enumerate();
    for frame in &frames {
        let (line, wanted) = lines
            .by_ref()
            .find_map(|(number, line)| Some((line, expected(line, number == 0, max)?)))
            .expect("a frame of a line that is not there");
        match (frame, wanted) {
            (Frame::Line(text), Some(wanted)) => assert_eq!(text, wanted),
            (Frame::TooLong(skipped), None) => {
                assert_eq!(skipped.length, line.len());
                assert!(line.starts_with(&skipped.head) && line.ends_with(&skipped.tail));
                assert!(skipped.head.len() > max.min(line.len() - 1).min(64));
                // It may not be JSON at all; what is taken for an id is a whole value.
                if let Some(id) = salvage_id(&skipped.head, &skipped.tail) {
                    cloak_stages::json::check(&id).expect("an id is JSON");
                }
            }
            other => panic!("{other:?} of {line:?}"),
        }
    }
    assert!(
        lines.all(|(number, line)| expected(line, number == 0, max).is_none()),
        "a line is missing",
    );
    for frame in frames {
        if let Frame::Line(line) = frame {
            parts(&line);
        }
    }
}

fn decode<'a>(max: usize, chunks: impl Iterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut lines = JsonLines::new(max);
    let (mut buffer, mut frames) = (BytesMut::new(), Vec::new());
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(frame) = lines.decode(&mut buffer).expect("memory can be read") {
            frames.push(frame);
        }
    }
    while let Some(frame) = lines.decode_eof(&mut buffer).expect("memory can be read") {
        frames.push(frame);
    }
    frames
}

/// What a line must give: nothing, itself without its trimmings, or that it is too long.
fn expected(line: &[u8], first: bool, max: usize) -> Option<Option<&[u8]>> {
    if line.len() > max {
        return Some(None);
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mark = line.strip_prefix(b"\xef\xbb\xbf").filter(|_| first);
    let line = mark.unwrap_or(line);
    (!line.trim_ascii().is_empty()).then_some(Some(line))
}

/// A batch has as many parts as its array has items, each the text of one.
fn parts(line: &Bytes) {
    let theirs = serde_json::from_slice::<Vec<&serde_json::value::RawValue>>(line);
    match (batch::split(line), theirs) {
        (Ok(Some(ours)), Ok(theirs)) => {
            let theirs: Vec<_> = theirs.iter().map(|part| part.get()).collect();
            assert_eq!(ours, theirs);
        }
        (Ok(Some(_)), Err(why)) => panic!("no batch: {why}"),
        (Ok(None) | Err(_), Ok(_)) => panic!("a batch that was not seen"),
        (Ok(None) | Err(_), Err(_)) => {}
    }
}
