//! A gateway with its configuration, and the servers that belong to it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Client, DEADLINE, Server};

const GATEWAY: &str = env!("CARGO_BIN_EXE_cloakllm-gateway");

/// Puppets as servers of a gateway, in a folder of their own.
pub(crate) struct Setup {
    dir: TempDir,
    config: Value,
    address: String,
    arrivals: Receiver<Server>,
    waiting: RefCell<VecDeque<Server>>,
}

impl Setup {
    /// A configuration with these servers, and without protection.
    pub(crate) fn new(names: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (tell, arrivals) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if tell.send(Server::meet(stream.unwrap())).is_err() {
                    return;
                }
            }
        });
        let dir = tempfile::tempdir().unwrap();
        let upstreams: serde_json::Map<String, Value> = names
            .iter()
            .map(|name| {
                let server = json!({"command": puppet(), "args": [address, name]});
                ((*name).to_owned(), server)
            })
            .collect();
        let config = json!({
            "sanitize": false,
            "log_level": "debug",
            "state_dir": dir.path().join("state"),
            "upstreams": upstreams,
        });
        Self {
            dir,
            config,
            address,
            arrivals,
            waiting: RefCell::default(),
        }
    }

    /// With another setting; `path` is a JSON pointer.
    pub(crate) fn set(mut self, path: &str, value: Value) -> Self {
        let (parent, key) = path.rsplit_once('/').unwrap();
        self.config.pointer_mut(parent).unwrap()[key] = value;
        self
    }

    /// Has `name` started by a shell, which runs `script` with the puppet's command as `$@`.
    pub(crate) fn shell(self, name: &str, script: &str) -> Self {
        let args = json!(["-c", script, "sh", puppet(), self.address, name]);
        self.set(&format!("/upstreams/{name}/command"), json!("sh"))
            .set(&format!("/upstreams/{name}/args"), args)
    }

    /// The folder of this test.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Starts the gateway.
    pub(crate) fn start(&self) -> Client {
        let file = self.dir().join("gateway.json");
        std::fs::write(&file, self.config.to_string()).unwrap();
        Client::start(GATEWAY, &["--config", file.to_str().unwrap()], self.dir())
    }

    /// Starts the gateway where no file may grow beyond `blocks` of 512 bytes, as on a full disk.
    pub(crate) fn start_on_full_disk(&self, blocks: u32) -> Client {
        let file = self.dir().join("gateway.json");
        std::fs::write(&file, self.config.to_string()).unwrap();
        let script = format!(r#"trap "" XFSZ; ulimit -f {blocks}; exec "$@""#);
        let file = file.to_str().unwrap();
        let words = ["-c", &script, "sh", GATEWAY, "--config", file];
        Client::start("sh", &words, self.dir())
    }

    /// Starts the gateway around the one server `name`, on the command line.
    pub(crate) fn wrap(&self, name: &str) -> Client {
        let file = self.dir().join("settings.json");
        let mut settings = self.config.clone();
        settings.as_object_mut().unwrap().remove("upstreams");
        std::fs::write(&file, settings.to_string()).unwrap();
        let puppet = puppet();
        let words = [
            "--config",
            file.to_str().unwrap(),
            "--",
            puppet.to_str().unwrap(),
            &self.address,
            name,
        ];
        Client::start(GATEWAY, &words, self.dir())
    }

    /// The next server of this name that the gateway started.
    pub(crate) fn server(&self, name: &str) -> Server {
        let mut waiting = self.waiting.borrow_mut();
        loop {
            if let Some(place) = waiting.iter().position(|server| server.name == name) {
                return waiting.remove(place).unwrap();
            }
            let arrived = self.arrivals.recv_timeout(DEADLINE);
            waiting.push_back(arrived.unwrap_or_else(|_| panic!("\"{name}\" was not started")));
        }
    }

    /// The next server that the gateway started, if one comes within `patience`.
    pub(crate) fn arrival(&self, patience: Duration) -> Option<Server> {
        self.arrivals.recv_timeout(patience).ok()
    }

    /// A server that has been greeted and has said what it can do.
    pub(crate) fn greeted(&self, name: &str, capabilities: &str) -> Server {
        let server = self.server(name);
        server.welcome(capabilities);
        server
    }

    /// Starts the gateway and greets all of it: the client in the newest revision, with
    /// `abilities`, and each server in turn with these capabilities.
    pub(crate) fn session<const N: usize>(
        &self,
        abilities: &str,
        capabilities: [(&str, &str); N],
    ) -> (Client, [Server; N]) {
        let mut client = self.start();
        client.greet("2025-11-25", abilities);
        let servers = capabilities.map(|(name, can)| self.greeted(name, can));
        client.greeted();
        (client, servers)
    }
}

fn puppet() -> PathBuf {
    let puppet = Path::new(GATEWAY)
        .with_file_name("examples")
        .join(format!("puppet{}", std::env::consts::EXE_SUFFIX));
    assert!(
        puppet.exists(),
        "{} is missing: it is built by \"cargo test\" and by \"cargo build --examples\"",
        puppet.display(),
    );
    puppet
}
