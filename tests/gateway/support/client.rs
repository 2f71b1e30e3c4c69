//! The gateway's process, from its client's side.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use serde_json::Value;

use super::{DEADLINE, json};

/// A running gateway, and the client that started it.
///
/// Every line that leaves the gateway must be a JSON-RPC message, or a batch of them.
pub(crate) struct Client {
    child: Child,
    stdin: Option<Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    lines: Receiver<Vec<u8>>,
    log: Option<JoinHandle<String>>,
    /// Every byte that has left the process on standard output, as far as it was read here.
    pub(crate) seen: Vec<u8>,
    /// Nothing is read from the gateway while this is locked.
    pub(crate) ears: Arc<Mutex<()>>,
}

impl Client {
    pub(crate) fn start(program: &str, args: &[&str], dir: &Path) -> Self {
        let mut child = Command::new(program)
            .args(args)
            .current_dir(dir)
            .env_remove("CLOAKLLM_GATEWAY_CONFIG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (tell, lines) = channel();
        let ears = Arc::new(Mutex::new(()));
        let listening = Arc::clone(&ears);
        thread::spawn(move || {
            let mut stdout = BufReader::with_capacity(1 << 20, stdout);
            loop {
                let mut line = Vec::new();
                drop(listening.lock());
                let Ok(1..) = stdout.read_until(b'\n', &mut line) else {
                    return;
                };
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut all = Vec::new();
            let _ = stderr.read_to_end(&mut all);
            String::from_utf8_lossy(&all).into_owned()
        });
        let (stdin, writer) = write_behind(child.stdin.take().unwrap());
        Self {
            child,
            stdin: Some(stdin),
            writer: Some(writer),
            lines,
            log: Some(log),
            seen: Vec::new(),
            ears,
        }
    }

    /// Sends a line. Never waits: a gateway that reads nothing is noticed by its silence.
    pub(crate) fn send(&mut self, line: impl AsRef<[u8]>) {
        self.write([line.as_ref(), b"\n"].concat());
    }

    /// Sends bytes as they are.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_ref().expect("still open");
        stdin.send(bytes.as_ref().to_vec()).unwrap();
    }

    /// The next line, without its end; None when there are no more.
    pub(crate) fn maybe_line(&mut self) -> Option<Vec<u8>> {
        let mut line = match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => panic!("the client hears nothing"),
        };
        self.seen.extend(&line);
        assert_eq!(line.pop(), Some(b'\n'), "a line without its end");
        assert_is_rpc(&line);
        Some(line)
    }

    /// The next line, as it was sent, without its end.
    pub(crate) fn line(&mut self) -> Vec<u8> {
        self.maybe_line().expect("the gateway says no more")
    }

    /// The next line, as text.
    pub(crate) fn text(&mut self) -> String {
        String::from_utf8(self.line()).unwrap()
    }

    /// The next message.
    pub(crate) fn json(&mut self) -> Value {
        json(&self.line())
    }

    /// The next message, which must be a notification or request of this method.
    pub(crate) fn expect(&mut self, method: &str) -> Value {
        let msg = self.json();
        assert_eq!(msg["method"], method, "{msg}");
        msg
    }

    /// Sends a request with this id and these parameters.
    pub(crate) fn ask(&mut self, id: &str, method: &str, params: &str) {
        self.send(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ));
    }

    pub(crate) fn notify(&mut self, method: &str, params: &str) {
        self.send(format!(
            r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#
        ));
    }

    /// Sends `initialize`.
    pub(crate) fn greet(&mut self, revision: &str, abilities: &str) {
        self.ask(
            "0",
            "initialize",
            &format!(
                r#"{{"protocolVersion":"{revision}","capabilities":{abilities},"clientInfo":{{"name":"test","version":"1"}}}}"#
            ),
        );
    }

    /// Hears the answer to `initialize` and says that it is initialized.
    pub(crate) fn greeted(&mut self) -> Value {
        let answer = self.json();
        assert_eq!(answer["id"], 0, "{answer}");
        assert!(answer["result"].is_object(), "{answer}");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer["result"].clone()
    }

    /// Checks that the gateway has nothing to say: a ping is answered next.
    pub(crate) fn expect_silence(&mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":"silence","method":"ping"}"#);
        let answer = self.json();
        assert_eq!(answer["id"], "silence", "{answer}");
        assert_eq!(answer["result"], serde_json::json!({}));
    }

    /// Closes the gateway's standard input, once all that was sent is written.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
        if let Some(writer) = self.writer.take() {
            writer.join().unwrap();
        }
    }

    /// Closes its own end of the gateway's standard output.
    pub(crate) fn turn_away(&mut self) {
        self.lines = channel().1;
    }

    pub(crate) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Waits until the gateway has ended. Returns how, and what it logged.
    pub(crate) fn wait(mut self) -> (ExitStatus, String) {
        while self.maybe_line().is_some() {}
        let status = wait(&mut self.child);
        let log = self.log.take().unwrap().join().unwrap();
        (status, log)
    }

    /// Ends the session as a client does. Returns what the gateway logged.
    pub(crate) fn end(mut self) -> String {
        self.close();
        let (status, log) = self.wait();
        assert!(status.success(), "{status}: {log}");
        log
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking()
            && let Some(log) = self.log.take()
        {
            eprintln!("--- the gateway's log\n{}", log.join().unwrap_or_default());
        }
    }
}

fn write_behind(mut stdin: ChildStdin) -> (Sender<Vec<u8>>, JoinHandle<()>) {
    let (sender, pieces) = channel::<Vec<u8>>();
    let writer = thread::spawn(move || {
        for piece in pieces {
            if stdin.write_all(&piece).is_err() {
                return;
            }
        }
    });
    (sender, writer)
}

fn wait(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(start.elapsed() < DEADLINE, "the gateway does not end");
        thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// JSON-RPC 2.0, section 4 to 6. Read leniently where servers' own bytes pass through: only the
/// frame of the message is looked at.
fn assert_is_rpc(line: &[u8]) {
    let shown = || String::from_utf8_lossy(&line[..line.len().min(300)]).into_owned();
    assert!(
        matches!(line.first(), Some(b'{' | b'[')) && std::str::from_utf8(line).is_ok(),
        "no JSON-RPC on standard output: {}",
        shown(),
    );
    assert!(
        line.windows(9).any(|part| part == br#""jsonrpc""#),
        "no JSON-RPC on standard output: {}",
        shown(),
    );
}
