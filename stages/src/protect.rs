//! The protection of one upstream's messages.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::detect::Detectors;
use crate::filter::Flow;
use crate::json::{self, Span};
use crate::message::{Kind, Message};
use crate::note::{Note, Observer};
use crate::offload::Work;
use crate::restore::Restorer;
use crate::sanitize::{self, Sanitizer, Scratch};
use crate::surfaces::{Way, is_known, surface};
use crate::sync::{Mutex, PoisonError};
use crate::vault::{Token, Used, Vault};

/// Makes values tokens on the way to the model, and tokens values on the way to one upstream.
///
/// Whatever [`surfaces`](crate::surfaces) says is done at each position. Fails closed: a message
/// that cannot be looked into becomes an error, a notification is dropped.
pub struct Protect {
    detectors: Arc<Detectors>,
    vault: Vault,
    policy: Policy,
    observer: Arc<dyn Observer>,
    longest: usize,
    /// Tools whose relaxed schema was told of.
    told: Mutex<HashSet<String>>,
}

/// How an upstream is treated.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its place in the configuration.
    pub upstream: u16,
    /// Its name.
    pub name: String,
    /// Which tokens it gets the values of.
    pub scope: Scope,
    /// Whether somebody else runs it.
    pub third_party: bool,
    /// What becomes of personal values that the model wrote itself, on their way to a third party.
    pub fresh_values: FreshValues,
    /// What stands in place of a value.
    pub mode: Mode,
}

/// Which tokens an upstream gets the values of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of the session. The use of another upstream's is told.
    Session,
    /// Those of values that it returned itself. Others are refused.
    Upstream,
}

/// What becomes of personal values that the model wrote itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreshValues {
    /// They pass, and nobody looks for them.
    Allow,
    /// They pass, and it is told.
    Report,
    /// The message is refused.
    Block,
}

/// What stands in place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A token, which can be restored.
    Tokenize,
    /// A marker, which cannot.
    Redact,
}

impl Protect {
    /// Protects the messages of the upstream that `policy` is about.
    #[must_use]
    pub fn new(
        detectors: Arc<Detectors>,
        vault: Vault,
        policy: Policy,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self {
            detectors,
            vault,
            policy,
            observer,
            longest: 0,
            told: Mutex::default(),
        }
    }

    /// Refuses messages to the model that hold a text of more than `characters`; 0 is no limit.
    #[must_use]
    pub fn longest_text(self, characters: usize) -> Self {
        Self {
            longest: characters,
            ..self
        }
    }

    fn note(&self, msg: &Message, note: &Note<'_>) {
        let method = msg.about().unwrap_or_default();
        self.observer.note(&self.policy.name, method, note);
    }

    /// Whether the table knows a request or notification; what it does not is turned away.
    fn turned_away(&self, msg: &mut Message, way: Way) -> Option<Flow> {
        let method = msg.method()?.to_owned();
        let answered = msg.kind() == Kind::Request;
        if is_known(way, &method, answered) {
            return None;
        }
        self.note(msg, &Note::UnknownMethod);
        if !answered {
            return Some(Flow::Drop);
        }
        msg.refuse(
            -32601,
            &format!("the gateway does not know the method \"{method}\""),
        );
        Some(Flow::Back)
    }

    /// Runs `work`; whatever goes wrong in it keeps the message back.
    fn guarded(
        &self,
        msg: &mut Message,
        what: &str,
        work: impl FnOnce(&mut Message) -> Result<Flow, String>,
    ) -> Flow {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(msg)));
        let why = match outcome {
            Ok(Ok(flow)) => return flow,
            Ok(Err(why)) => why,
            Err(_) => "an internal fault".to_owned(),
        };
        self.note(msg, &Note::Failed(why.clone()));
        refused(
            msg,
            -32603,
            &format!("the gateway {what}, so it is kept back: {why}"),
        )
    }

    fn sanitize(&self, msg: &mut Message) -> Result<Flow, String> {
        if let Some(flow) = self.turned_away(msg, Way::ToModel) {
            return Ok(flow);
        }
        let sanitizer = Sanitizer {
            detectors: &self.detectors,
            vault: &self.vault,
            upstream: Some(self.policy.upstream),
            redact: self.policy.mode == Mode::Redact,
            longest: self.longest,
        };
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let raw = msg.raw().clone();
        let done = sanitizer.message(msg, &mut scratch);
        SCRATCH.set(scratch.is_small().then_some(scratch));
        let done = done.map_err(|fault| fault.to_string())?;
        self.tell(msg, &raw, done);
        Ok(Flow::Forward)
    }

    fn tell(&self, msg: &Message, raw: &[u8], done: sanitize::Done) {
        self.looked(msg, done.strings, done.changed, &done.used);
        if !done.values.is_empty() {
            self.note(msg, &Note::Sanitized(self.named(&done.values)));
        }
        if done.muted > 0 {
            self.note(msg, &Note::Muted(done.muted));
        }
        if done.binary > 0 {
            self.note(msg, &Note::Binary(done.binary));
        }
        for (schema, keywords) in done.relaxed {
            let tool = tool_of(raw, schema);
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() < MAX_TOLD && told.insert(tool.clone()) {
                drop(told);
                self.note(msg, &Note::SchemaRelaxed { tool, keywords });
            }
        }
    }

    fn looked(&self, msg: &Message, strings: usize, changed: usize, used: &Used) {
        let name = |token: &Token| (self.vault.name(token.category), token.number);
        let note = Note::Looked {
            strings,
            changed,
            tokens: used.tokens.iter().map(name).collect(),
            more: used.more,
        };
        self.note(msg, &note);
    }

    /// Names and counts, from counts by category.
    fn named(&self, counts: &[u32]) -> Vec<(&str, usize)> {
        self.detectors
            .categories()
            .filter_map(|category| {
                let count = *counts.get(category.index())?;
                (count > 0).then(|| (self.detectors.name(category), count as usize))
            })
            .collect()
    }

    fn restore(&self, msg: &mut Message) -> Result<Flow, String> {
        if let Some(flow) = self.turned_away(msg, Way::ToUpstream) {
            return Ok(flow);
        }
        let by_user = matches!(msg.kind(), Kind::Result | Kind::Error)
            && msg
                .about()
                .and_then(|method| surface(Way::ToModel, method))
                .is_some_and(|surface| surface.by_user);
        let look_for_fresh =
            self.policy.third_party && self.policy.fresh_values != FreshValues::Allow && !by_user;
        let restorer = Restorer {
            vault: &self.vault,
            upstream: self.policy.upstream,
            fresh: look_for_fresh.then_some(&*self.detectors),
        };
        let done = restorer.message(msg).map_err(|fault| fault.to_string())?;
        self.looked(msg, done.strings, done.changed, &done.used);
        if !done.stale.is_empty() {
            let why = format!(
                "{} belongs to an earlier session and cannot be restored; read the source of the \
                 value again and use the token that it shows now",
                done.stale.join(", ")
            );
            self.note(msg, &Note::StaleTokens(done.stale));
            return Ok(refused(msg, -32602, &why));
        }
        if !done.fresh.is_empty() {
            let refuse = self.policy.fresh_values == FreshValues::Block;
            let found = self.named(&done.fresh);
            let names: Vec<_> = found.iter().map(|(name, _)| *name).collect();
            let why = format!(
                "personal values ({}) must not go to \"{}\", which is a third party; use the \
                 tokens of values that a tool has shown",
                names.join(", "),
                self.policy.name
            );
            self.note(
                msg,
                &Note::FreshValues {
                    found,
                    refused: refuse,
                },
            );
            if refuse {
                return Ok(refused(msg, -32602, &why));
            }
        }
        if !done.foreign.is_empty() {
            let refuse = self.policy.scope == Scope::Upstream;
            let tokens = done.foreign;
            let why = format!(
                "{} stands for a value of another server, which must not go to \"{}\"",
                tokens.join(", "),
                self.policy.name
            );
            self.note(
                msg,
                &Note::CrossUpstream {
                    tokens,
                    refused: refuse,
                },
            );
            if refuse {
                return Ok(refused(msg, -32602, &why));
            }
        }
        if !done.restored.is_empty() {
            let name = |(category, count): (u16, &u32)| {
                (*count > 0).then(|| (self.vault.name(category), *count as usize))
            };
            let restored = (0..).zip(&done.restored).filter_map(name).collect();
            self.note(msg, &Note::Restored(restored));
        }
        Ok(Flow::Forward)
    }
}

impl Work for Protect {
    fn to_model(&self, msg: &mut Message) -> Flow {
        let what = "could not look for personal data in this message";
        self.guarded(msg, what, |msg| self.sanitize(msg))
    }

    fn to_upstream(&self, msg: &mut Message) -> Flow {
        let what = "could not restore the tokens in this message";
        self.guarded(msg, what, |msg| self.restore(msg))
    }

    fn is_free(&self) -> bool {
        self.vault.is_free()
    }
}

impl fmt::Debug for Protect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protect")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Most tools that are told of once; later ones are not told of.
const MAX_TOLD: usize = 10_000;

thread_local! {
    /// Taken while in use: a thread of rayon that waits may begin with another message.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Turns a message into an error and says where that goes.
pub(crate) fn refused(msg: &mut Message, code: i32, why: &str) -> Flow {
    let flow = match (msg.kind(), msg.id()) {
        (Kind::Notification, _) | (_, None) => return Flow::Drop,
        (Kind::Request, _) => Flow::Back,
        (Kind::Result | Kind::Error, _) => Flow::Forward,
    };
    msg.refuse(code, why);
    flow
}

/// The name of the tool whose schema stands at `schema`, as the upstream wrote it.
fn tool_of(raw: &[u8], schema: Span) -> String {
    let tools = json::member(raw, 0, "result")
        .and_then(|result| json::member(raw, result.start as usize, "tools"));
    let Some(tools) = tools else {
        return String::new();
    };
    json::items(raw, tools.start as usize)
        .find(|&tool| json::skip(raw, tool) >= schema.end as usize)
        .and_then(|tool| json::member(raw, tool, "name"))
        .map(|name| json::decode(name.unquoted().of(raw)).into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Settings;
    use crate::message::Peer;
    use crate::note::Silent;
    use crate::vault::InMemory;

    fn protect() -> Protect {
        let detectors = Arc::new(Detectors::new(&Settings::default()).unwrap());
        let vault = Vault::new(&detectors, InMemory::default());
        let policy = Policy {
            upstream: 0,
            name: "fs".into(),
            scope: Scope::Session,
            third_party: false,
            fresh_values: FreshValues::Report,
            mode: Mode::Tokenize,
        };
        Protect::new(detectors, vault, policy, Arc::new(Silent))
    }

    fn out(protect: &Protect, result: &str) -> String {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let mut msg = Message::own(text, Peer::Upstream(0), Peer::Client);
        msg.set_answers("tools/call".into());
        assert_eq!(protect.to_model(&mut msg), Flow::Forward);
        let text = String::from_utf8(msg.into_bytes().unwrap().to_vec()).unwrap();
        text.strip_prefix(r#"{"jsonrpc":"2.0","id":1,"result":"#)
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or(&text)
            .to_owned()
    }

    fn back(protect: &Protect, arguments: &str) -> String {
        let head =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":"#;
        let text = format!("{head}{arguments}}}}}");
        let mut msg = Message::own(text, Peer::Client, Peer::Upstream(0));
        let flow = protect.to_upstream(&mut msg);
        let text = String::from_utf8(msg.into_bytes().unwrap().to_vec()).unwrap();
        if flow != Flow::Forward {
            return text;
        }
        text[head.len()..text.len() - 2].to_owned()
    }

    #[test]
    fn there_and_back() {
        let protect = protect();
        let data = r#"{"to":"marie@example.eu","card":4111111111111111,"n":1.10,"json":"{\"a\":\"jo\\u0040example.eu\",\"c\":4111111111111111}","fake":"[EMAIL_0] \\[email\\_0\\]"}"#;
        let shown = out(
            &protect,
            &format!(r#"{{"content":[],"structuredContent":{data}}}"#),
        );
        assert_eq!(
            shown,
            r#"{"content":[],"structuredContent":{"to":"[EMAIL_0]","card":"[CREDIT_CARD_0]","n":1.10,"json":"{\"a\":\"[EMAIL_1]\",\"c\":\"[CREDIT_CARD_0]\"}","fake":"［EMAIL_0］ \\［email\\_0\\］"}}"#
        );
        let data = &shown[r#"{"content":[],"structuredContent":"#.len()..shown.len() - 1];
        assert_eq!(
            back(&protect, data),
            r#"{"to":"marie@example.eu","card":4111111111111111,"n":1.10,"json":"{\"a\":\"jo@example.eu\",\"c\":4111111111111111}","fake":"[EMAIL_0] \\[email\\_0\\]"}"#
        );
    }
}
