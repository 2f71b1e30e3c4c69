//! What the client says.

use bytes::Bytes;
use cloak_stages::json::{self, Shape};
use cloak_stages::remap::Remap;
use cloak_stages::{Kind, Message, Peer};

use super::hello::{self, Hello, Share};
use super::lists::{Gather, Round};
use super::{Ask, GREETING, LIST, MAX_HELD, Open, Router, Timer, names};

impl Router {
    pub(super) fn hear_client(&mut self, msg: Message) {
        match msg.kind() {
            Kind::Request => self.request(msg),
            Kind::Notification => self.client_notification(msg),
            Kind::Result | Kind::Error => self.reply(msg),
        }
    }

    fn request(&mut self, mut msg: Message) {
        let Some(id) = msg.id().cloned() else {
            let why = "a request needs an id that is a string or a number";
            self.push(Message::error(
                b"null",
                -32600,
                why,
                Peer::Gateway,
                Peer::Client,
            ));
            return;
        };
        if self.open.contains_key(&id) {
            msg.refuse(-32600, "a request with this id is still unanswered");
            self.push(msg);
            return;
        }
        self.open.insert(id, Open::default());
        let method = msg.method().unwrap_or_default().to_owned();
        match method.as_str() {
            "ping" => self.answer(&msg, "{}"),
            "initialize" => self.greet(msg),
            _ if !is_served(&method) => {
                self.refuse(
                    msg,
                    -32601,
                    &format!("\"{method}\" is not a method served here"),
                );
            }
            _ if self.hello.is_none() => {
                self.refuse(msg, -32600, &format!("\"{method}\" came before initialize"));
            }
            _ if !self.options.prefix => self.forward(0, msg),
            "tools/call" | "prompts/get" => self.by_name(msg, &["name"]),
            "completion/complete" => self.complete(msg),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                self.by_uri(msg, &["uri"]);
            }
            _ => match Gather::of(&method) {
                Some(gather) => self.gather(gather, &msg),
                None => self.refuse(msg, -32601, &format!("\"{method}\" is not routed")),
            },
        }
    }

    fn answer(&mut self, msg: &Message, result: &str) {
        if let Some(id) = msg.id() {
            let mut answer = Message::result(id, result, Peer::Gateway, Peer::Client);
            answer.set_answers(Bytes::from(msg.method().unwrap_or_default().to_owned()));
            self.say(answer);
        }
    }

    fn refuse(&mut self, mut msg: Message, code: i32, why: &str) {
        msg.refuse(code, why);
        msg.to = Peer::Client;
        self.say(msg);
    }

    /// `initialize`: the servers are started, and answered for once they all have said what they
    /// can do, or some take too long.
    fn greet(&mut self, msg: Message) {
        let hello = Hello::read(&msg);
        for lane in &mut self.lanes {
            lane.start(&hello.request);
        }
        self.hello = Some(hello);
        if let Some(id) = msg.id() {
            let timer = self.timers.insert(Timer::Greeting, GREETING);
            if let Some((_, earlier)) = self.greeting.replace((id.clone(), timer)) {
                self.timers.try_remove(&earlier);
            }
        }
        self.check_greeting();
    }

    /// Answers `initialize` if no server is still starting.
    pub(super) fn check_greeting(&mut self) {
        if !self.lanes.iter().any(super::Lane::is_starting) {
            self.answer_greeting();
        }
    }

    pub(super) fn answer_greeting(&mut self) {
        let (Some((id, timer)), Some(hello)) = (self.greeting.take(), &self.hello) else {
            return;
        };
        self.timers.try_remove(&timer);
        for lane in self.lanes.iter().filter(|lane| !lane.is_ready()) {
            tracing::warn!(upstream = &*lane.name, "is not ready yet; its tools follow");
        }
        let shares: Vec<Share<'_>> = self
            .lanes
            .iter()
            .zip(&self.instructions)
            .map(|(lane, instructions)| Share {
                name: &lane.name,
                capabilities: lane.capabilities(),
                instructions: instructions.as_deref(),
            })
            .collect();
        let result = hello::answer(
            hello.revision,
            &shares,
            self.options.prefix,
            &self.options.notes,
        );
        let mut answer = Message::result(&id, &result, Peer::Gateway, Peer::Client);
        answer.set_answers("initialize".into());
        self.say(answer);
    }

    /// Sends a request to the one server it is for.
    fn forward(&mut self, lane: u16, msg: Message) {
        let patience = self.lanes[usize::from(lane)].patience;
        if let Some(id) = msg.id()
            && let Some(open) = self.open.get_mut(id)
        {
            open.lane = Some(lane);
            if let Some(patience) = patience {
                open.timer = Some(self.timers.insert(Timer::Call(id.clone()), patience));
                open.progress = msg
                    .field(&["_meta", "progressToken"])
                    .map(|at| Bytes::copy_from_slice(at.of(msg.raw())));
            }
        }
        self.note_subscription(lane, &msg);
        self.pass(lane, msg);
    }

    /// Remembers subscriptions, so that they outlive the server's process.
    fn note_subscription(&mut self, lane: u16, msg: &Message) {
        let on = match msg.method() {
            Some("resources/subscribe") => true,
            Some("resources/unsubscribe") => false,
            _ => return,
        };
        let Some(uri) = msg.text(&["uri"]) else {
            return;
        };
        self.subscriptions.retain(|one| *one != (lane, uri.clone()));
        if on && self.subscriptions.len() < MAX_HELD {
            self.subscriptions.push((lane, uri));
        }
    }

    /// Routes by the prefix of the name at `path`, which is taken away.
    fn by_name(&mut self, mut msg: Message, path: &[&str]) {
        let at = match only(&msg, path) {
            Ok(at) => at,
            Err(why) => return self.refuse(msg, -32602, &why),
        };
        let name = json::decode(at.unquoted().of(msg.raw())).into_owned();
        let Some((server, bare)) = names::split(&name) else {
            let why = "names here are SERVER__NAME; this one does not say which server";
            return self.refuse(msg, -32602, why);
        };
        let Some(lane) = self.lane_called(server) else {
            let known: Vec<&str> = self.lanes.iter().map(|lane| &*lane.name).collect();
            let why = format!(
                "there is no server of that name; known are: {}",
                known.join(", ")
            );
            return self.refuse(msg, -32602, &why);
        };
        names::strip(&mut msg, at, server, bare);
        self.forward(lane, msg);
    }

    /// `completion/complete` goes to whom its reference belongs.
    fn complete(&mut self, msg: Message) {
        match msg.text(&["ref", "type"]).as_deref() {
            Some("ref/prompt") => self.by_name(msg, &["ref", "name"]),
            Some("ref/resource") => self.by_uri(msg, &["ref", "uri"]),
            _ => self.refuse(msg, -32602, "\"ref\" is neither a prompt nor a resource"),
        }
    }

    /// Routes by the URI at `path`: to whom it is known to belong, to the only server that has
    /// resources at all, or to each in turn.
    fn by_uri(&mut self, msg: Message, path: &[&str]) {
        let at = match only(&msg, path) {
            Ok(at) => at,
            Err(why) => return self.refuse(msg, -32602, &why),
        };
        let uri = json::decode(at.unquoted().of(msg.raw())).into_owned();
        if let Some(lane) = self.resources.owner(&uri) {
            return self.forward(lane, msg);
        }
        let mut rest = self.lanes_with("resources");
        match (rest.len(), msg.id().cloned()) {
            (0, _) => self.refuse(msg, -32601, "no server offers resources"),
            (1, _) => self.forward(rest.remove(0), msg),
            (_, None) => {}
            (_, Some(_)) => {
                let serial = self.next_serial();
                let ask = Ask {
                    request: msg,
                    uri,
                    rest: rest.into(),
                    asked: None,
                    refusal: None,
                };
                self.asks.insert(serial, ask);
                self.ask_next(serial);
            }
        }
    }

    /// Puts a question to the next server, or gives the client the first one's refusal.
    pub(super) fn ask_next(&mut self, serial: u64) {
        let Some(ask) = self.asks.get_mut(&serial) else {
            return;
        };
        if let Some((_, Some(timer))) = ask.asked.take() {
            self.timers.try_remove(&timer);
        }
        if let Some(lane) = ask.rest.pop_front() {
            let patience = self.lanes[usize::from(lane)].patience;
            let timer = patience.map(|patience| self.timers.insert(Timer::Ask(serial), patience));
            ask.asked = Some((lane, timer));
            let mut request = ask.request.clone();
            request.from = Peer::Gateway;
            request.set_id(format!("\"ask:{serial}\"").as_bytes());
            self.pass(lane, request);
            return;
        }
        if let Some(Ask {
            request,
            refusal: Some(mut refusal),
            ..
        }) = self.asks.remove(&serial)
            && let Some(id) = request.id()
        {
            refusal.set_id(id);
            refusal.to = Peer::Client;
            self.say(refusal);
        }
    }

    /// The server that is asked now does not answer: it counts as one that refused.
    pub(super) fn ask_expired(&mut self, serial: u64) {
        let Some(ask) = self.asks.get_mut(&serial) else {
            return;
        };
        // Its timer is over.
        let Some((lane, _)) = ask.asked.take() else {
            return;
        };
        let why = self.lanes[usize::from(lane)].impatience();
        ask.refusal.get_or_insert_with(|| {
            let id = ask.request.id().cloned().unwrap_or_default();
            Message::error(&id, -32001, &why, Peer::Gateway, Peer::Client)
        });
        self.ask_next(serial);
    }

    /// Servers that have the capability, or may have it.
    fn lanes_with(&self, capability: &str) -> Vec<u16> {
        (0_u16..)
            .zip(&self.lanes)
            .filter(|(_, lane)| lane.has(capability).unwrap_or(true))
            .map(|(index, _)| index)
            .collect()
    }

    /// Asks all servers that can answer.
    fn gather(&mut self, gather: Gather, msg: &Message) {
        let Some(id) = msg.id().cloned() else { return };
        let lanes = self.lanes_with(gather.capability());
        let params = msg.body().map(|at| msg.raw().slice(at.range()));
        if gather == Gather::Level {
            self.level.clone_from(&params);
        }
        let params = params.filter(|_| gather == Gather::Level);
        let serial = self.next_serial();
        let round = Round::new(gather, id, params, self.options.prefix, lanes.clone());
        for lane in lanes {
            self.pass(lane, round.request(serial, lane, None));
        }
        self.rounds.insert(serial, round);
        self.timers.insert(Timer::List(serial), LIST);
        self.finish_round(serial);
    }

    /// The client answers a server's question.
    fn reply(&mut self, mut msg: Message) {
        let asked = msg.id().and_then(|id| self.questions.remove(id));
        let name = msg.id().and_then(|id| Remap::name_in(id));
        let lane = name.and_then(|name| self.lane_called(name));
        match (asked, lane) {
            (Some(method), Some(lane)) => {
                msg.set_answers(method);
                self.tell(lane, msg);
            }
            _ => tracing::debug!("the client answered a question nobody asks any more"),
        }
    }

    fn client_notification(&mut self, msg: Message) {
        match msg.method().unwrap_or_default() {
            "notifications/initialized" => {
                self.active = true;
                for held in std::mem::take(&mut self.held) {
                    self.push(held);
                }
            }
            "notifications/cancelled" => self.cancelled(msg),
            "notifications/progress" => {
                let token = msg.field(&["progressToken"]);
                let name = token.and_then(|at| Remap::name_in(at.of(msg.raw())));
                if let Some(lane) = name.and_then(|name| self.lane_called(name)) {
                    self.tell(lane, msg);
                }
            }
            "notifications/roots/list_changed" => {
                for (lane, _) in (0_u16..).zip(0..self.lanes.len()) {
                    self.tell(lane, msg.clone());
                }
            }
            method => tracing::debug!(method, "dropped a notification nobody here knows"),
        }
    }

    /// Sends a server what only matters as long as it runs.
    pub(super) fn tell(&mut self, lane: u16, msg: Message) {
        if self.lanes[usize::from(lane)].is_ready() {
            self.pass(lane, msg);
        }
    }

    /// The client does not wait any more: the one server that has the request is told at once.
    fn cancelled(&mut self, msg: Message) {
        let Some(at) = msg.field(&["requestId"]) else {
            return;
        };
        let id = msg.raw().slice(at.range());
        if self
            .greeting
            .as_ref()
            .is_some_and(|(greeting, _)| *greeting == id)
        {
            return;
        }
        let Some(open) = self.open.remove(&id) else {
            return;
        };
        if let Some(timer) = open.timer {
            self.timers.try_remove(&timer);
        }
        self.rounds.retain(|_, round| round.id != id);
        self.asks.retain(|_, ask| ask.request.id() != Some(&id));
        if let Some(lane) = open.lane
            && !self.lanes[usize::from(lane)].recall(Peer::Client, &id)
        {
            self.tell(lane, msg);
        }
    }

    /// Answers a round that every server has answered.
    pub(super) fn finish_round(&mut self, serial: u64) {
        if !self.rounds.get(&serial).is_some_and(Round::is_complete) {
            return;
        }
        let Some(mut round) = self.rounds.remove(&serial) else {
            return;
        };
        let gather = round.gather;
        let (answer, missing) = round.answer();
        for lane in missing {
            let method = gather.method();
            tracing::warn!(
                upstream = &*self.lanes[usize::from(lane)].name,
                method,
                "is missing"
            );
        }
        for (lane, keys) in round.keys() {
            match gather {
                Gather::Resources => {
                    let taken = self.resources.listed(lane, keys);
                    if taken > 0 {
                        let upstream = &*self.lanes[usize::from(lane)].name;
                        tracing::warn!(upstream, taken, "lists resources that another server has");
                    }
                }
                Gather::Templates => self.resources.listed_templates(lane, keys),
                _ => {}
            }
        }
        self.say(answer);
    }
}

/// Methods of the client that are routed. All others are refused: what nobody here knows might
/// carry anything.
fn is_served(method: &str) -> bool {
    matches!(
        method,
        "completion/complete"
            | "prompts/get"
            | "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "tools/call"
    ) || Gather::of(method).is_some()
}

/// Where the string at `path` stands, which no second member of that name may put in doubt.
fn only(msg: &Message, path: &[&str]) -> Result<json::Span, String> {
    let dotted = || path.join(".");
    let (name, parents) = path.split_last().ok_or_else(dotted)?;
    let parent = if parents.is_empty() {
        msg.body()
    } else {
        msg.field(parents)
    };
    let parent = parent.ok_or_else(|| format!("\"{}\" is missing", dotted()))?;
    let twice = json::members(msg.raw(), parent.start as usize)
        .filter(|(key, _)| json::same_text(key.of(msg.raw()), name.as_bytes()))
        .count()
        > 1;
    match msg.field(path) {
        _ if twice => Err(format!("\"{}\" stands twice", dotted())),
        Some(at) if json::shape(msg.raw(), at.start as usize) == Shape::String => Ok(at),
        Some(_) => Err(format!("\"{}\" is not a string", dotted())),
        None => Err(format!("\"{}\" is missing", dotted())),
    }
}
