//! What the servers say.

use bytes::Bytes;
use cloak_stages::{Kind, Message, Peer, json};

use super::hello::{self, REVISIONS, Welcome};
use super::lane::Event;
use super::lists::Next;
use super::{Ask, MAX_HELD, MAX_QUESTIONS, Router};

impl Router {
    pub(super) fn hear(&mut self, lane: u16, event: Event) {
        match event {
            Event::Up(msg) => self.welcome(lane, msg),
            Event::Down => self.check_greeting(),
            Event::Message(msg) => match (msg.kind(), msg.to) {
                (Kind::Result | Kind::Error, Peer::Gateway) => self.own(lane, msg),
                (Kind::Result | Kind::Error, _) => self.say(msg),
                (Kind::Request, _) => self.question(lane, msg),
                (Kind::Notification, _) => self.server_notification(lane, msg),
            },
        }
    }

    /// A server answered `initialize`.
    fn welcome(&mut self, index: u16, mut msg: Message) {
        let place = usize::from(index);
        let welcome = match msg.settle() {
            Ok(()) => Welcome::read(&msg),
            Err(_) => Err("answered initialize with what cannot be passed on".to_owned()),
        };
        match welcome {
            Ok(welcome) if self.speaks(&welcome.revision) => {
                let lane = &mut self.lanes[place];
                tracing::info!(
                    upstream = &*lane.name,
                    revision = welcome.revision,
                    "is ready"
                );
                let offers = ["prompts", "resources", "tools"]
                    .into_iter()
                    .filter(|kind| welcome.capabilities.get(*kind).is_some());
                let news: Vec<String> = offers
                    .map(|kind| format!("notifications/{kind}/list_changed"))
                    .collect();
                lane.learn(welcome.capabilities);
                lane.open();
                self.instructions[place] = welcome.instructions;
                self.replay(index);
                if self.greeting.is_none() {
                    for method in news {
                        self.push(hello::notification(&method));
                    }
                }
            }
            Ok(_) => self.lanes[place]
                .fail("answered initialize with an MCP revision that is not spoken here"),
            Err(why) => self.lanes[place].fail(&why),
        }
        self.check_greeting();
    }

    fn speaks(&self, revision: &str) -> bool {
        self.options.allow_unknown_revision || REVISIONS.contains(&revision)
    }

    /// Tells a server that has just started what it missed.
    fn replay(&mut self, index: u16) {
        let lane = usize::from(index);
        if let Some(level) = self.level.clone()
            && self.lanes[lane].has("logging") == Some(true)
        {
            let params = String::from_utf8_lossy(&level).into_owned();
            self.ask_again(index, "logging/setLevel", &params);
        }
        let subscriptions = self.subscriptions.clone();
        for (_, uri) in subscriptions.iter().filter(|(owner, _)| *owner == index) {
            let params = format!(r#"{{"uri":{}}}"#, json::quote(uri));
            self.ask_again(index, "resources/subscribe", &params);
        }
    }

    fn ask_again(&mut self, lane: u16, method: &str, params: &str) {
        let serial = self.next_serial();
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":"again:{serial}","method":"{method}","params":{params}}}"#
        );
        self.pass(
            lane,
            Message::own(text, Peer::Gateway, Peer::Upstream(lane)),
        );
    }

    /// The answer to one of the router's own requests.
    fn own(&mut self, lane: u16, mut msg: Message) {
        let id = msg.id().cloned().unwrap_or_default();
        let mut parts = std::str::from_utf8(&id)
            .unwrap_or_default()
            .trim_matches('"')
            .split(':');
        let kind = parts.next().unwrap_or_default();
        let serial = parts
            .next()
            .and_then(|serial| serial.parse().ok())
            .unwrap_or_default();
        if msg.settle().is_err() {
            msg = Message::error(&id, -32603, "cannot be passed on", msg.from, msg.to);
        }
        match kind {
            "round" => self.round_answered(serial, lane, &msg),
            "ask" => self.ask_answered(serial, lane, msg),
            _ => {}
        }
    }

    fn round_answered(&mut self, serial: u64, lane: u16, msg: &Message) {
        let Some(round) = self.rounds.get_mut(&serial) else {
            return;
        };
        let name = &*self.lanes[usize::from(lane)].name;
        if let Next::Page(cursor) = round.take(lane, name, msg) {
            let request = round.request(serial, lane, Some(&cursor));
            self.pass(lane, request);
        }
        self.finish_round(serial);
    }

    fn ask_answered(&mut self, serial: u64, lane: u16, mut msg: Message) {
        let Some(ask) = self.asks.get_mut(&serial) else {
            return;
        };
        if msg.kind() == Kind::Error {
            if ask.asked.as_ref().is_none_or(|(asked, _)| *asked != lane) {
                // It was given up already.
                return;
            }
            ask.refusal.get_or_insert(msg);
            self.ask_next(serial);
            return;
        }
        if let Some(Ask {
            request,
            uri,
            asked,
            ..
        }) = self.asks.remove(&serial)
            && let Some(id) = request.id()
        {
            if let Some((_, Some(timer))) = asked {
                self.timers.try_remove(&timer);
            }
            self.resources.found(uri, lane);
            msg.set_id(id);
            msg.to = Peer::Client;
            self.say(msg);
        }
    }

    /// A server asks the client, or the gateway, for something.
    fn question(&mut self, lane: u16, msg: Message) {
        let capability = match msg.method().unwrap_or_default() {
            "ping" => {
                let id = msg.id().cloned().unwrap_or_default();
                let answer = Message::result(&id, "{}", Peer::Client, Peer::Upstream(lane));
                return self.pass(lane, answer);
            }
            "elicitation/create" => "elicitation",
            "roots/list" => "roots",
            "sampling/createMessage" => "sampling",
            method => {
                tracing::debug!(method, "a server asked for what is not relayed");
                return self.turn_down(lane, msg, -32601, "the client is not asked for this");
            }
        };
        if !self
            .hello
            .as_ref()
            .is_some_and(|hello| hello.can(capability))
        {
            let why = format!("the client has no capability \"{capability}\"");
            self.turn_down(lane, msg, -32601, &why);
        } else if self.questions.len() >= MAX_QUESTIONS || self.held.len() >= MAX_HELD {
            self.turn_down(lane, msg, -32000, "too many questions wait for the client");
        } else {
            let method = Bytes::from(msg.method().unwrap_or_default().to_owned());
            self.questions
                .insert(msg.id().cloned().unwrap_or_default(), method);
            if self.active {
                self.push(msg);
            } else {
                self.held.push_back(msg);
            }
        }
    }

    /// Answers a server's question with an error of our own.
    fn turn_down(&mut self, lane: u16, mut question: Message, code: i32, why: &str) {
        question.refuse(code, why);
        question.from = Peer::Gateway;
        self.pass(lane, question);
    }

    fn server_notification(&mut self, lane: u16, mut msg: Message) {
        match msg.method().unwrap_or_default() {
            "notifications/progress" => {
                // The router's own requests carry the client's progress token.
                msg.to = Peer::Client;
                self.reset_patience(&msg);
            }
            "notifications/cancelled" => {
                if msg.settle().is_ok()
                    && let Some(id) = msg.field(&["requestId"])
                {
                    self.questions.remove(id.of(msg.raw()));
                }
            }
            "notifications/elicitation/complete"
            | "notifications/message"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated"
            | "notifications/tools/list_changed" => {}
            method => {
                let upstream = &*self.lanes[usize::from(lane)].name;
                tracing::debug!(upstream, method, "dropped a notification nobody here knows");
                return;
            }
        }
        if self.greeting.is_none() {
            self.push(msg);
        } else if self.held.len() < MAX_HELD {
            self.held.push_back(msg);
        }
    }

    /// Who reports progress is not dead: the call's time starts again.
    fn reset_patience(&mut self, msg: &Message) {
        if self.lanes.iter().all(|lane| lane.patience.is_none()) {
            return;
        }
        let mut msg = msg.clone();
        if msg.settle().is_err() {
            return;
        }
        let Some(token) = msg.field(&["progressToken"]) else {
            return;
        };
        let token = Bytes::copy_from_slice(token.of(msg.raw()));
        let open = self
            .open
            .values()
            .find(|open| open.progress.as_ref() == Some(&token));
        if let Some(open) = open
            && let (Some(timer), Some(lane)) = (&open.timer, open.lane)
            && let Some(patience) = self.lanes[usize::from(lane)].patience
        {
            self.timers.reset(timer, patience);
        }
    }
}
