//! One run of a server, from the puppeteer's side.

use std::cell::RefCell;
use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::Value;

use super::strings::{Frame, Tag};
use super::{Client, DEADLINE, error, head, id, json, result};

/// A server that the gateway started.
pub(crate) struct Server {
    pub(crate) name: String,
    to: TcpStream,
    frames: Receiver<Frame>,
    read: RefCell<Vec<u8>>,
    /// Commands the puppet has not reported as done.
    open: RefCell<usize>,
    done: RefCell<usize>,
}

impl Server {
    pub(super) fn meet(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        let mut from = stream.try_clone().unwrap();
        let name = Frame::read(&mut from).unwrap().expect("a name");
        assert_eq!(name.tag, Tag::Name);
        let (tell, frames) = channel();
        thread::spawn(move || {
            while let Ok(Some(frame)) = Frame::read(&mut from) {
                if tell.send(frame).is_err() {
                    return;
                }
            }
        });
        Self {
            name: String::from_utf8(name.bytes).unwrap(),
            to: stream,
            frames,
            read: RefCell::default(),
            open: RefCell::default(),
            done: RefCell::default(),
        }
    }

    /// The next thing the puppet tells, None when it is gone.
    pub(crate) fn hear(&self) -> Option<Frame> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        match self.frames.recv_timeout(DEADLINE) {
            Ok(frame) => Some(frame),
            Err(Disconnected) => None,
            Err(Timeout) => panic!("\"{}\" hears nothing", self.name),
        }
    }

    /// The next line the gateway sent it, without its end; None when there are no more.
    pub(crate) fn maybe_line(&self) -> Option<Vec<u8>> {
        loop {
            let mut read = self.read.borrow_mut();
            if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
                let rest = read.split_off(end + 1);
                let mut line = std::mem::replace(&mut *read, rest);
                line.pop();
                return Some(line);
            }
            let frame = self.hear()?;
            match frame.tag {
                Tag::Stdin => read.extend(frame.bytes),
                Tag::Done => *self.done.borrow_mut() += 1,
                Tag::Eof => {
                    assert!(read.is_empty(), "a line without its end");
                    return None;
                }
                tag => panic!("{tag:?}"),
            }
        }
    }

    /// The next line the gateway sent it.
    pub(crate) fn line(&self) -> Vec<u8> {
        self.maybe_line()
            .unwrap_or_else(|| panic!("\"{}\" is told no more", self.name))
    }

    /// The next message, which must be of this method.
    pub(crate) fn expect(&self, method: &str) -> Vec<u8> {
        let line = self.line();
        let shown = || String::from_utf8_lossy(&line[..line.len().min(300)]).into_owned();
        assert_eq!(head(&line).method.as_deref(), Some(method), "{}", shown());
        line
    }

    /// Checks that the gateway says nothing more, and closes its standard input.
    pub(crate) fn expect_eof(&self) {
        if let Some(line) = self.maybe_line() {
            panic!("instead of the end: {}", String::from_utf8_lossy(&line));
        }
    }

    /// Waits until its process is gone.
    pub(crate) fn expect_death(&self) {
        while self.hear().is_some() {}
    }

    /// Answers `initialize`, and hears that it is initialized. Returns what it was asked.
    pub(crate) fn welcome(&self, capabilities: &str) -> Value {
        self.welcome_in("2025-11-25", capabilities)
    }

    pub(crate) fn welcome_in(&self, revision: &str, capabilities: &str) -> Value {
        let request = self.expect("initialize");
        self.answer(
            &request,
            &format!(
                r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},"serverInfo":{{"name":"{}","version":"1"}}}}"#,
                self.name,
            ),
        );
        self.expect("notifications/initialized");
        json(&request)
    }

    /// Writes a line.
    pub(crate) fn say(&self, line: impl AsRef<[u8]>) {
        self.write([line.as_ref(), b"\n"].concat());
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&self, bytes: impl AsRef<[u8]>) {
        self.order(Tag::Stdout, bytes);
    }

    /// Answers with this result.
    pub(crate) fn answer(&self, request: &[u8], body: &str) {
        self.say(result(&id(request), body));
    }

    /// Answers with this error.
    pub(crate) fn fail(&self, request: &[u8], code: i32, message: &str) {
        self.say(error(&id(request), code, message));
    }

    pub(crate) fn complain(&self, bytes: impl AsRef<[u8]>) {
        self.order(Tag::Stderr, bytes);
    }

    pub(crate) fn close_stdin(&self) {
        self.stay();
        self.order(Tag::CloseStdin, "");
        self.settle();
    }

    pub(crate) fn close_stdout(&self) {
        self.order(Tag::CloseStdout, "");
    }

    /// Reads no more of what the gateway sends, but for one chunk.
    pub(crate) fn turn_deaf(&self) {
        self.order(Tag::Deaf, "");
    }

    /// Starts a child that outlives it.
    pub(crate) fn spawn(&self, name: &str) {
        self.order(Tag::Child, name);
    }

    /// Lives on when its standard input is over.
    pub(crate) fn stay(&self) {
        self.order(Tag::Stay, "");
        self.settle();
    }

    pub(crate) fn exit(&self, code: u8) {
        self.order(Tag::Exit, [code]);
    }

    /// Ends in the middle of a call. When that has failed, the gateway knows that it is gone.
    pub(crate) fn crash(&self, client: &mut Client, code: u8) {
        client.ask(
            "\"crash\"",
            "tools/call",
            &format!(r#"{{"name":"{}__crash"}}"#, self.name),
        );
        self.expect("tools/call");
        self.exit(code);
        let answer = client.json();
        assert_eq!(answer["id"], "crash", "{answer}");
        assert!(answer["error"].is_object(), "{answer}");
    }

    pub(crate) fn order(&self, tag: Tag, bytes: impl AsRef<[u8]>) {
        *self.open.borrow_mut() += 1;
        // A puppet that is gone is noticed where its life matters.
        let _ = Frame::new(tag, bytes).write(&mut &self.to);
        let _ = (&self.to).flush();
    }

    /// Waits until all orders are carried out: what was written is in the pipe.
    pub(crate) fn settle(&self) {
        while *self.done.borrow() < *self.open.borrow() {
            match self.hear() {
                Some(Frame { tag: Tag::Done, .. }) => *self.done.borrow_mut() += 1,
                Some(Frame {
                    tag: Tag::Stdin,
                    bytes,
                }) => self.read.borrow_mut().extend(bytes),
                other => panic!("{:?}", other.map(|frame| frame.tag)),
            }
        }
    }
}
