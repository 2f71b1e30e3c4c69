//! A server whose strings a test holds: what it reads goes to the test, what it writes comes from
//! there, byte for byte, and in the order the test wants.
//!
//! `puppet ADDRESS NAME` connects to the test and tells its name. It lives until its standard input
//! or the test is over, or it is told to end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[path = "strings.rs"]
mod strings;

use strings::{Frame, Tag};

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [address, name] = &args[..] else {
        eprintln!("puppet ADDRESS NAME");
        exit(2);
    };
    let mut test = TcpStream::connect(address)?;
    test.set_nodelay(true)?;
    Frame::new(Tag::Name, name).write(&mut test)?;
    let deaf = Arc::new(AtomicBool::new(false));
    // A child that was started with no input at all stays.
    let stay = Arc::new(AtomicBool::new(name.starts_with("child")));
    let (ears, feet, to) = (Arc::clone(&deaf), Arc::clone(&stay), test.try_clone()?);
    thread::spawn(move || {
        let heard = listen(to, &ears);
        if heard.is_err() || !feet.load(Ordering::Relaxed) {
            exit(0);
        }
    });
    while let Some(frame) = Frame::read(&mut test)? {
        match frame.tag {
            Tag::Stdout => {
                // A gateway that closes its end is what some tests are about.
                let mut stdout = io::stdout().lock();
                let _ = stdout.write_all(&frame.bytes).and_then(|()| stdout.flush());
            }
            Tag::Stderr => io::stderr().write_all(&frame.bytes)?,
            Tag::CloseStdin => rustix::stdio::dup2_stdin(File::open("/dev/null")?)?,
            Tag::CloseStdout => rustix::stdio::dup2_stdout(io::stderr())?,
            Tag::Deaf => deaf.store(true, Ordering::Relaxed),
            Tag::Stay => stay.store(true, Ordering::Relaxed),
            Tag::Child => {
                let itself = std::env::current_exe()?;
                Command::new(itself)
                    .args(
                        [address.as_bytes(), &frame.bytes]
                            .map(String::from_utf8_lossy)
                            .map(|arg| arg.into_owned()),
                    )
                    .stdin(Stdio::null())
                    .spawn()?;
            }
            Tag::Exit => exit(i32::from(frame.bytes[0])),
            Tag::Name | Tag::Stdin | Tag::Eof | Tag::Done => {}
        }
        Frame::new(Tag::Done, "").write(&mut test)?;
    }
    exit(0)
}

/// Tells the test what arrives on standard input.
fn listen(mut test: TcpStream, deaf: &AtomicBool) -> io::Result<()> {
    let mut stdin = io::stdin().lock();
    let mut bytes = vec![0; 64 << 10];
    loop {
        while deaf.load(Ordering::Relaxed) {
            thread::park();
        }
        let read = stdin.read(&mut bytes)?;
        if read == 0 {
            return Frame::new(Tag::Eof, "").write(&mut test);
        }
        Frame::new(Tag::Stdin, &bytes[..read]).write(&mut test)?;
    }
}
