//! A whole gateway, without processes, between a client and two servers that say anything.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use cloak_stages::offload::Offload;
use cloak_stages::remap::{Remap, salvage_id};
use cloak_stages::vault::InMemory;
use cloak_stages::{Kind, LinkExt, Message, Peer, batch, json};
use cloakllm_gateway::config::Config;
use cloakllm_gateway::pipe::Pipe;
use cloakllm_gateway::protection::Protection;
use cloakllm_gateway::pump::pump;
use cloakllm_gateway::router::{Connection, Options, Router, Upstream};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use crate::pieces::spell;

/// What servers say, and the client must not hear.
const PLANTED: &str = "planted.value@example.eu";

/// Longer lines are checked on threads of their own, for which the clock here does not wait.
const LONGEST: usize = 100 << 10;

/// How long a server may take, and how long all is waited for at the end: longer than any list.
const PATIENCE: Duration = Duration::from_secs(10);
const ALL: Duration = Duration::from_secs(300);

/// Says which request is meant: the oldest, and the newest, that the server was asked.
const OLDEST: u8 = 1;
const NEWEST: u8 = 2;

const PIECES: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":{"x":"[EMAIL_0]"}}}"#,
    br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b__t","arguments":{}}}"#,
    br#"{"jsonrpc":"2.0","id":"three","method":"tools/list"}"#,
    br#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"x:1"}}"#,
    br#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":6,"method":"resources/list","params":{"cursor":"1"}}"#,
    br#"{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"a__p"}}"#,
    br#"{"jsonrpc":"2.0","id":8,"method":"logging/setLevel","params":{"level":"debug"}}"#,
    br#"{"jsonrpc":"2.0","id":9,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"b__p"},"argument":{"name":"n","value":"v"}}}"#,
    br#"{"jsonrpc":"2.0","id":10,"method":"resources/subscribe","params":{"uri":"x:1"}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"planted.value@example.eu"}}"#,
    b"{\"jsonrpc\":\"2.0\",\"id\":\x01,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"to planted.value@example.eu now\"}]}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":\x02,\"result\":{\"structuredContent\":{\"x\":\"planted.value@example.eu\"},\"content\":[]}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":\x01,\"error\":{\"code\":-1,\"message\":\"planted.value@example.eu\",\"data\":[\"planted.value@example.eu\"]}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":\x01,\"result\":{\"tools\":[{\"name\":\"t\",\"description\":\"planted.value@example.eu\",\"inputSchema\":{}}],\"nextCursor\":\"1\"}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":\x01,\"result\":{\"resources\":[{\"uri\":\"x:1\",\"name\":\"planted.value@example.eu\"}]}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":\x01,\"result\":{}}",
    br#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"planted.value@example.eu"}}]}}"#,
    br#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"planted.value@example.eu","requestedSchema":{}}}"#,
    br#"{"jsonrpc":"2.0","id":2,"method":"roots/list"}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"planted.value@example.eu"}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    br#"{"jsonrpc":"2.0","method":"x/planted.value@example.eu","params":{}}"#,
    br#"{"jsonrpc":"2.0","id":"a:0","result":{"roots":[]}}"#,
    br#"[{"jsonrpc":"2.0","id":11,"method":"ping"},{"jsonrpc":"2.0","id":12,"method":"tools/list"}]"#,
    br#"{"jsonrpc":"2.0","id":13,"method":"initialize","params":{}}"#,
    br#"{"jsonrpc":"2.0","id":"#,
    br#","method":"tools/call","params":{"name":"a__"#,
    br#","result":{"x":""#,
    br#"planted.value@example.eu"#,
    br#"planted.value\u0040example.eu"#,
    br#"{\"y\":\"planted.value@example.eu\"}"#,
    br#"\u0000"#,
    br#""}}"#,
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b",",
    b":",
    b"null",
    b"\xff",
    b"\\",
    "\u{e9}".as_bytes(),
    b"\"planted.value@example.eu\":1,",
    b"\"id\":1,",
    b"\"method\":\"ping\",",
];

static PROTECTION: LazyLock<Protection> = LazyLock::new(|| {
    let text = r#"{"upstreams":{"a":{"command":"a"},"b":{"command":"b"}},"detection":{"ner_model":"none"}}"#;
    let config = Config::parse(text, "session", &|_| None).expect("the configuration is sound");
    Protection::new(&config, Box::new(InMemory::default())).expect("the settings are sound")
});

/// Each line of `input` is one step: its first byte says who acts, the rest is what is said.
///
/// The client hears nothing but JSON-RPC and no planted value, every request of its own is
/// answered once, and the session ends when it goes, whatever anybody says.
pub fn session(input: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O");
    // Time passes only while nothing else happens, so that hours take no time.
    runtime.block_on(async {
        let ended = timeout(4 * ALL, play(input)).await;
        ended.expect("the session does not end");
    });
}

async fn play(input: &[u8]) {
    let mut world = World::start();
    world.client.say(
        br#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"sampling":{},"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    sleep(Duration::from_millis(1)).await;
    world
        .client
        .say(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let ends_step = |byte: &u8| *byte < b' ' && !matches!(*byte, OLDEST | NEWEST | b'\t');
    for step in input.split(ends_step) {
        let Some((who, what)) = step.split_first() else {
            continue;
        };
        match who % 8 {
            0 => sleep(PATIENCE / 2).await,
            1 | 2 => world.server_says(usize::from(who % 8 - 1), what),
            4 | 5 => world.server_ends(usize::from(who % 8 - 4)),
            _ => world.client_says(what),
        }
        sleep(Duration::from_millis(1)).await;
    }
    sleep(ALL).await;
    world.end().await;
}

/// One end of a pair of pipes.
struct End {
    say: UnboundedSender<Vec<u8>>,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl End {
    fn new(stream: DuplexStream) -> Self {
        let (read, mut write) = tokio::io::split(stream);
        let (say, mut lines) = unbounded_channel::<Vec<u8>>();
        tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                if write.write_all(&line).await.is_err() {
                    return;
                }
            }
            let _ = write.shutdown().await;
        });
        let heard: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let ears = Arc::clone(&heard);
        tokio::spawn(async move {
            let mut read = BufReader::new(read);
            let mut line = Vec::new();
            while let Ok(1..) = read.read_until(b'\n', &mut line).await {
                lock(&ears).push(std::mem::take(&mut line));
            }
        });
        Self { say, heard }
    }

    fn say(&self, line: &[u8]) {
        // Who does not listen any more is not told.
        let _ = self.say.send([line, b"\n"].concat());
    }
}

/// A server as it runs, if it does. It answers `initialize` by itself.
type Server = Arc<Mutex<Option<End>>>;

struct World {
    client: End,
    servers: [Server; 2],
    gateway: tokio::task::JoinHandle<()>,
    asked: Asked,
}

impl World {
    fn start() -> Self {
        let protection = PROTECTION.rehearsal();
        let (ours, theirs) = duplex(4 << 10);
        let (read, write) = tokio::io::split(theirs);
        let pipe = Pipe::new(Peer::Client, "client", read, write, 8 * LONGEST);
        let servers = [Server::default(), Server::default()];
        let upstreams = (0_u16..)
            .zip(["a", "b"])
            .zip(&servers)
            .map(|((index, name), server)| upstream(index, name, &protection, server))
            .collect();
        let options = Options {
            prefix: true,
            ..Options::default()
        };
        let router = Router::new(upstreams, options, &TaskTracker::new());
        let gateway = tokio::spawn(async {
            // A client that is gone is one of the ways in which it ends.
            let _ = pump(pipe, router).await;
        });
        Self {
            client: End::new(ours),
            servers,
            gateway,
            asked: Asked::default(),
        }
    }

    fn client_says(&mut self, what: &[u8]) {
        let mut line = spell(what, PIECES);
        line.retain(|byte| *byte != b'\n');
        line.truncate(LONGEST);
        let planted = line
            .windows(PLANTED.len())
            .any(|part| part == PLANTED.as_bytes());
        if planted || json::decode(&line).contains(PLANTED) {
            // What the client says itself it may hear again.
            return;
        }
        self.asked.note(&line);
        self.client.say(&line);
    }

    fn server_says(&mut self, which: usize, what: &[u8]) {
        let server = lock(&self.servers[which]);
        let Some(server) = &*server else { return };
        let ids: Vec<_> = lock(&server.heard)
            .iter()
            .filter_map(|line| request(line))
            .collect();
        let (oldest, newest) = (ids.first(), ids.last());
        let mut line = Vec::new();
        for byte in spell(what, PIECES) {
            match byte {
                OLDEST => line.extend(oldest.into_iter().flatten()),
                NEWEST => line.extend(newest.into_iter().flatten()),
                other => line.push(other),
            }
        }
        line.truncate(LONGEST);
        if let Some(id) = message(&line)
            .filter(|msg| msg.method().is_none())
            .and_then(|msg| msg.id().cloned())
        {
            lock(&server.heard).retain(|line| request(line).as_deref() != Some(&id[..]));
        }
        server.say(&line);
    }

    fn server_ends(&mut self, which: usize) {
        *lock(&self.servers[which]) = None;
    }

    async fn end(self) {
        let Self {
            client,
            servers: _servers,
            gateway,
            asked,
        } = self;
        let heard = Arc::clone(&client.heard);
        asked.assert_answered(&lock(&heard));
        drop(client);
        gateway.await.expect("the gateway does not panic");
        for line in &*lock(&heard) {
            let text = json::decode(line);
            assert!(!text.contains(PLANTED), "leaked: {text}");
            assert!(!messages(line).is_empty(), "no JSON-RPC: {text}");
        }
    }
}

fn upstream(index: u16, name: &'static str, protection: &Protection, server: &Server) -> Upstream {
    let peer = Peer::Upstream(index);
    let spec = cloakllm_gateway::config::Upstream::new(name.to_owned(), name.to_owned());
    let work = protection.work(index, &spec);
    let questions = Arc::new(AtomicU64::new(0));
    let server = Arc::clone(server);
    let connect = move || {
        let (ours, theirs) = duplex(4 << 10);
        let end = End::new(ours);
        let hello = end.say.clone();
        *lock(&server) = Some(end);
        tokio::spawn(welcome(Arc::clone(&server), hello));
        let (read, write) = tokio::io::split(theirs);
        let link = Pipe::new(peer, name, read, write, 8 * LONGEST)
            .through(Remap::new(name, Arc::clone(&questions)))
            .through(Offload::new(Arc::clone(&work)).inline_below(usize::MAX))
            .erase();
        Ok(Connection {
            link,
            process: None,
        })
    };
    Upstream {
        name: name.into(),
        connect: Box::new(connect),
        startup: PATIENCE,
        patience: Some(PATIENCE),
    }
}

/// Answers `initialize` once it is there.
async fn welcome(server: Server, say: UnboundedSender<Vec<u8>>) {
    tokio::task::yield_now().await;
    sleep(Duration::from_micros(10)).await;
    let server = lock(&server);
    let Some(server) = &*server else { return };
    let Some(id) = lock(&server.heard).iter().find_map(|line| request(line)) else {
        return;
    };
    lock(&server.heard).clear();
    let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{}},"serverInfo":{"name":"s","version":"1"},"instructions":"ask planted.value@example.eu"}"#;
    let id = String::from_utf8_lossy(&id);
    let _ =
        say.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").into_bytes());
}

/// What the client asked.
#[derive(Default)]
struct Asked {
    /// How often requests of an id were sent.
    requests: HashMap<Vec<u8>, usize>,
    /// Ids that may be answered in other ways too, or not at all.
    unsure: HashSet<Vec<u8>>,
}

impl Asked {
    fn note(&mut self, line: &[u8]) {
        let messages = messages(line);
        if messages.is_empty() {
            self.unsure.extend(salvage_id(line, line).map(Vec::from));
        }
        for msg in messages {
            if let (Kind::Request, Some(id)) = (msg.kind(), msg.id()) {
                *self.requests.entry(id.to_vec()).or_default() += 1;
            } else if msg.method() == Some("notifications/cancelled") {
                let id = msg
                    .field(&["requestId"])
                    .map(|at| at.of(msg.raw()).to_vec());
                self.unsure.extend(id);
            }
        }
    }

    fn assert_answered(&self, heard: &[Vec<u8>]) {
        let mut answers: HashMap<Vec<u8>, usize> = HashMap::new();
        for msg in heard.iter().flat_map(|line| messages(line)) {
            if let (Kind::Result | Kind::Error, Some(id)) = (msg.kind(), msg.id()) {
                *answers.entry(id.to_vec()).or_default() += 1;
            }
        }
        for (id, sent) in &self.requests {
            let answered = answers.get(id).copied().unwrap_or(0);
            let id = String::from_utf8_lossy(id);
            if *sent == 1 && !self.unsure.contains(id.as_bytes()) {
                assert_eq!(answered, 1, "answers to the request {id}");
            }
        }
    }
}

/// The messages on a line: one, those of a batch, or none.
fn messages(line: &[u8]) -> Vec<Message> {
    match batch::split(&line.trim_ascii().to_vec().into()) {
        Ok(Some(parts)) => parts.iter().filter_map(|part| message(part)).collect(),
        _ => message(line).into_iter().collect(),
    }
}

fn message(line: &[u8]) -> Option<Message> {
    Message::parse(
        line.trim_ascii().to_vec().into(),
        Peer::Client,
        Peer::Gateway,
    )
    .ok()
}

/// The id of the request on a line, as JSON.
fn request(line: &[u8]) -> Option<Vec<u8>> {
    let msg = message(line).filter(|msg| msg.kind() == Kind::Request)?;
    msg.id().map(|id| id.to_vec())
}

fn lock<T>(one: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}
