//! What passes between a test and its puppet.

use std::io::{self, Read, Write};

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// To the test: the puppet is there, and this is its name.
    Name = 1,
    /// To the test: bytes from standard input.
    Stdin,
    /// To the test: standard input is over.
    Eof,
    /// To the test: the oldest command that is not done yet is done.
    Done,
    /// Write these bytes to standard output.
    Stdout,
    /// Write these bytes to standard error.
    Stderr,
    /// Close standard input, but for what is being read, and live on.
    CloseStdin,
    /// Close standard output, and live on.
    CloseStdout,
    /// Read no more from standard input, except what is being read.
    Deaf,
    /// Live on when standard input is over.
    Stay,
    /// Start a child that is a puppet of this name.
    Child,
    /// End with the code of the first byte.
    Exit,
}

impl Tag {
    const ALL: [Self; 12] = [
        Self::Name,
        Self::Stdin,
        Self::Eof,
        Self::Done,
        Self::Stdout,
        Self::Stderr,
        Self::CloseStdin,
        Self::CloseStdout,
        Self::Deaf,
        Self::Stay,
        Self::Child,
        Self::Exit,
    ];
}

/// A tag, a length in four bytes, and as many bytes.
pub(crate) struct Frame {
    pub(crate) tag: Tag,
    pub(crate) bytes: Vec<u8>,
}

impl Frame {
    pub(crate) fn new(tag: Tag, bytes: impl AsRef<[u8]>) -> Self {
        Self {
            tag,
            bytes: bytes.as_ref().to_vec(),
        }
    }

    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let length = u32::try_from(self.bytes.len()).map_err(io::Error::other)?;
        let mut frame = vec![self.tag as u8];
        frame.extend(length.to_le_bytes());
        frame.extend(&self.bytes);
        to.write_all(&frame)
    }

    /// The next frame; None when the other side is gone.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut head = [0; 5];
        if from.read_exact(&mut head).is_err() {
            return Ok(None);
        }
        let [tag, length @ ..] = head;
        let tag = Tag::ALL.into_iter().find(|one| *one as u8 == tag);
        let tag = tag.ok_or_else(|| io::Error::other("no such tag"))?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        from.read_exact(&mut bytes)?;
        Ok(Some(Self { tag, bytes }))
    }
}
