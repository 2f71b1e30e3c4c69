//! Your own stage, in twenty lines.
//!
//! A [`Link`](crate::Link) is what a server looks like from the client's side: a stream of messages
//! that go to the model, and a sink for those that go upstream. A [`Stage`](crate::Stage) wraps a
//! link and gives another. The easy stage is a [`Filter`](crate::Filter): one method for each
//! direction, no futures, state in `&mut self`.
//!
//! # A filter
//!
//! This one lets no tool be called whose name is on a list. A request that is refused goes back
//! through the stages it has already passed, so the client sees an ordinary JSON-RPC error.
//!
//! ```
//! use cloak_stages::{Filter, Flow, LinkExt, Message, Peer, memory};
//! use futures::{SinkExt, StreamExt, executor::block_on};
//!
//! struct Forbid(Vec<String>);
//!
//! impl Filter for Forbid {
//!     fn to_upstream(&mut self, msg: &mut Message) -> Flow {
//!         let called = msg.method() == Some("tools/call");
//!         let tool = msg.text(&["name"]).unwrap_or_default();
//!         if called && self.0.contains(&tool) {
//!             msg.refuse(-32601, "this tool is not to be called");
//!             return Flow::Back;
//!         }
//!         Flow::Forward
//!     }
//! }
//!
//! let (server, mut seen) = memory::link();
//! let mut link = server.through(Forbid(vec!["drop_table".into()]));
//! block_on(async {
//!     for (id, tool) in [(1, "drop_table"), (2, "select")] {
//!         let call = format!(
//!             r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#
//!         );
//!         link.send(Message::own(call, Peer::Client, Peer::Upstream(0))).await?;
//!     }
//!     let refusal = link.next().await.unwrap()?;
//!     assert_eq!(refusal.id().unwrap().as_ref(), b"1");
//!     assert_eq!(seen.next().await.unwrap()?.text(&["name"]).as_deref(), Some("select"));
//!     Ok::<(), cloak_stages::LinkError>(())
//! })?;
//! # Ok::<(), cloak_stages::LinkError>(())
//! ```
//!
//! # Edits
//!
//! A message is never parsed into a model and printed again. A stage finds what it wants with
//! [`Message::field`](crate::Message::field) or the walkers of [`json`](crate::json), and says what
//! shall stand there with [`Message::edit`](crate::Message::edit). All other bytes leave as they
//! came, down to the spelling of numbers. [`Message::settle`](crate::Message::settle) makes the
//! edits when a later stage must see the outcome.
//!
//! # Several stages
//!
//! Tuples are stages, the first innermost: `link.through((Remap::new(..), Offload::new(..)))`. A
//! chain that is read from a configuration is a `Vec<Box<dyn Filter>>`, which is a filter itself.
//!
//! # Heavy work
//!
//! What takes longer than a few microseconds implements [`Work`](crate::offload::Work) and is put
//! in an [`Offload`](crate::offload::Offload): large messages are worked on by the rayon pool while
//! small ones overtake them.
