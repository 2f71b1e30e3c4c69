//! What shares memory, in many orders of its threads:
//! `RUSTFLAGS="--cfg shuttle" cargo test -p cloak-stages --test shuttle`.

#![cfg(shuttle)]

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use cloak_stages::detect::{Detectors, Settings};
use cloak_stages::note::Silent;
use cloak_stages::offload::{Offload, Work};
use cloak_stages::protect::{FreshValues, Mode, Policy, Protect, Scope};
use cloak_stages::vault::{InMemory, Vault};
use cloak_stages::{Flow, LinkExt, Message, Peer, memory};
use futures::{SinkExt, StreamExt};
use shuttle::future::block_on;
use shuttle::thread;

/// How many orders each test is played in.
const ORDERS: usize = 20_000;

static DETECTORS: LazyLock<Arc<Detectors>> =
    LazyLock::new(|| Arc::new(Detectors::new(&Settings::default()).unwrap()));

fn protect(vault: &Vault, upstream: u16) -> Protect {
    let policy = Policy {
        upstream,
        name: "fs".into(),
        scope: Scope::Session,
        third_party: false,
        fresh_values: FreshValues::Allow,
        mode: Mode::Tokenize,
    };
    Protect::new(DETECTORS.clone(), vault.clone(), policy, Arc::new(Silent))
}

fn answer(call: u64, text: &str) -> Message {
    let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
    let id = call.to_string();
    let mut msg = Message::result(id.as_bytes(), &result, Peer::Upstream(0), Peer::Client);
    msg.set_answers("tools/call".into());
    msg.call = Some(call);
    msg
}

fn text(msg: Message) -> String {
    String::from_utf8(msg.into_bytes().unwrap().to_vec()).unwrap()
}

#[test]
fn one_value_has_one_token_whoever_comes_first() {
    LazyLock::force(&DETECTORS);
    shuttle::check_random(
        || {
            let vault = Vault::new(&DETECTORS, InMemory::default());
            let lanes: Vec<_> = (0..3)
                .map(|lane| {
                    let protect = protect(&vault, lane);
                    thread::spawn(move || {
                        let own = format!("lane{lane}@example.eu");
                        [own, "common@example.eu".to_owned()].map(|value| {
                            let mut msg = answer(1, &value);
                            assert!(protect.to_model(&mut msg) == Flow::Forward);
                            let shown = text(msg);
                            assert!(!shown.contains(&value));
                            // What was just issued is known at once.
                            let call = format!(
                                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{shown}}}}}"#
                            );
                            let mut call = Message::own(call, Peer::Client, Peer::Upstream(lane));
                            assert!(protect.to_upstream(&mut call) == Flow::Forward);
                            assert!(text(call).contains(&value));
                            (value, shown)
                        })
                    })
                })
                .collect();
            let mut tokens = HashMap::new();
            for lane in lanes {
                for (value, shown) in lane.join().unwrap() {
                    let first = tokens.entry(value).or_insert_with(|| shown.clone());
                    assert_eq!(*first, shown);
                }
            }
            let different: HashSet<_> = tokens.values().collect();
            assert_eq!((tokens.len(), different.len(), vault.len()), (4, 4, 4));
        },
        ORDERS / 10,
    );
}

/// Takes as long as the threads please.
struct Slow;

impl Work for Slow {
    fn to_model(&self, _: &mut Message) -> Flow {
        thread::yield_now();
        Flow::Forward
    }

    fn to_upstream(&self, msg: &mut Message) -> Flow {
        self.to_model(msg)
    }
}

#[test]
fn what_the_pool_does_arrives_once_and_in_the_order_of_its_call() {
    shuttle::check_random(
        || {
            let (inside, mut outside) = memory::link();
            let link = inside.through(Offload::new(Slow).inline_below(0));
            let heard: Vec<u64> = block_on(async move {
                for (number, call) in (0..6).zip([1, 2, 1, 3, 2, 1]) {
                    outside
                        .send(answer(call, &number.to_string()))
                        .await
                        .unwrap();
                }
                drop(outside);
                link.map(|msg| {
                    let shown = text(msg.unwrap());
                    let number = shown.split('"').rev().nth(1).unwrap();
                    number.parse().unwrap()
                })
                .collect()
                .await
            });
            let place = |number: u64| heard.iter().position(|heard| *heard == number).unwrap();
            assert_eq!(heard.len(), 6);
            assert!(place(0) < place(2) && place(2) < place(5) && place(1) < place(4));
        },
        ORDERS,
    );
}

#[test]
fn what_goes_upstream_keeps_its_order() {
    shuttle::check_random(
        || {
            let (inside, mut outside) = memory::link();
            let mut link = inside.through(Offload::new(Slow).inline_below(0));
            let heard: Vec<String> = block_on(async move {
                for number in 0..5 {
                    let call = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping"}}"#);
                    let call = Message::own(call, Peer::Client, Peer::Upstream(0));
                    link.send(call).await.unwrap();
                }
                link.close().await.unwrap();
                drop(link);
                let mut heard = Vec::new();
                while let Some(msg) = outside.next().await {
                    heard.push(String::from_utf8_lossy(msg.unwrap().id().unwrap()).into_owned());
                }
                heard
            });
            assert_eq!(heard, ["0", "1", "2", "3", "4"]);
        },
        ORDERS,
    );
}

#[test]
fn a_link_may_go_while_the_pool_works() {
    shuttle::check_random(
        || {
            let (inside, mut outside) = memory::link();
            let mut link = inside.through(Offload::new(Slow).inline_below(0));
            block_on(async move {
                for call in 0..4 {
                    outside.send(answer(call, "x")).await.unwrap();
                }
                assert!(link.next().await.unwrap().is_ok());
            });
        },
        ORDERS,
    );
}
