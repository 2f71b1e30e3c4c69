//! Keys without a mark of their own, known by the name of their issuer beside them:
//! `ADAFRUIT_IO_KEY = "…"`, `"okta_token": "…"`.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::Hit;
use super::charset::*;
use super::texture::{Kinds, pairs, placeholder, uuid};

/// Bytes before a value in which its issuer is looked for.
const NAME: usize = 72;
/// Bytes of operator, quotes and spaces between name and value.
const OPERATOR: usize = 16;

/// The longest key.
const LONGEST: usize = 100;

/// An issuer: its name in lower case without separators, the alphabet of its keys, their lengths.
struct Issuer(&'static str, Set, &'static [u16]);

/// A UUID, where it is the key.
const UUID: &[u16] = &[36];

#[rustfmt::skip]
static ISSUERS: &[Issuer] = &[
    Issuer("adafruit", URL64, &[32]), Issuer("adobe", HEX, &[32]), Issuer("airtable", LOWER_ALNUM, &[17]),
    Issuer("algolia", LOWER_ALNUM, &[32]), Issuer("alibaba", LOWER_ALNUM, &[30]), Issuer("aliyun", ALNUM, &[30]),
    Issuer("asana", LOWER_ALNUM, &[32, 16]), Issuer("atlassian", ALNUM, &[24]), Issuer("confluence", ALNUM, &[24]), Issuer("jira", ALNUM, &[24]),
    Issuer("beamer", URL64 | EQUALS, &[44, 46]), Issuer("bitbucket", URL64 | EQUALS, &[32, 64]), Issuer("bittrex", ALNUM, &[32]),
    Issuer("binance", ALNUM, &[64]), Issuer("meraki", HEX, &[40]), Issuer("cloudflare", URL64, &[40, 37]), Issuer("codecov", ALNUM, &[32]), Issuer("cohere", ALNUM, &[40]), Issuer("coapikey", ALNUM, &[40]),
    Issuer("coinbase", URL64, &[64]), Issuer("confluent", STD64, &[16, 64]), Issuer("contentful", URL64 | EQUALS, &[43]),
    Issuer("datadog", ALNUM, &[32, 40]), Issuer("ddapikey", HEX, &[32]), Issuer("discord", URL64 | EQUALS, &[64, 32, 18]), Issuer("droneci", ALNUM, &[32]),
    Issuer("dropbox", URL64 | EQUALS, &[15, 64]), Issuer("etsy", ALNUM, &[24]), Issuer("facebook", HEX, &[32]), Issuer("fastly", URL64 | EQUALS, &[32]),
    Issuer("finicity", LOWER_ALNUM, &[32, 20]), Issuer("finnhub", ALNUM, &[20]), Issuer("flickr", ALNUM, &[32]), Issuer("freshbooks", ALNUM, &[64]),
    Issuer("gitter", URL64, &[40]), Issuer("gocardless", URL64 | EQUALS, &[45]), Issuer("heroku", ANY_HEX | DASH, UUID), Issuer("hubspot", ANY_HEX | DASH, UUID),
    Issuer("intercom", URL64 | EQUALS, &[60]), Issuer("jfrog", ALNUM, &[64, 73]), Issuer("artifactory", ALNUM, &[64, 73]), Issuer("bintray", ALNUM, &[64, 73]), Issuer("xray", ALNUM, &[64, 73]),
    Issuer("kraken", URL64 | PLUS | EQUALS, &[80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90]), Issuer("kucoin", ANY_HEX | DASH, &[24, 36]), Issuer("launchdarkly", URL64 | EQUALS, &[40]),
    Issuer("linear", HEX, &[32]), Issuer("linkedin", ALNUM, &[14, 16]), Issuer("lob", LOWER_ALNUM | UNDER, &[40]), Issuer("lob", LOWER_ALNUM | UNDER, &[40, 36]),
    Issuer("looker", ALNUM, &[20, 24]), Issuer("mailchimp", HEX | LOWER | DASH, &[36, 37]), Issuer("mailgun", LOWER_ALNUM | DASH, &[36, 39, 50]),
    Issuer("mattermost", ALNUM, &[26]), Issuer("messagebird", LOWER_ALNUM | DASH, &[25, 36]), Issuer("netlify", URL64 | EQUALS, &[40, 41, 42, 43, 44, 45, 46]),
    Issuer("newrelic", LOWER_ALNUM, &[64]), Issuer("nytimes", URL64 | EQUALS, &[32]), Issuer("newyorktimes", URL64 | EQUALS, &[32]), Issuer("okta", URL64 | EQUALS, &[42]),
    Issuer("plaid", LOWER_ALNUM, &[24, 30]), Issuer("privateai", LOWER_ALNUM, &[32]), Issuer("rapidapi", URL64, &[50]), Issuer("sendbird", ANY_HEX | DASH, &[36, 40]), Issuer("sentry", HEX, &[32, 64]),
    Issuer("snyk", ANY_HEX | DASH, UUID), Issuer("sonar", URL64 | EQUALS, &[40, 44]), Issuer("squarespace", ANY_HEX | DASH, UUID), Issuer("sumo", ALNUM, &[14, 64]),
    Issuer("travis", ALNUM, &[22]), Issuer("twitch", LOWER_ALNUM, &[30]), Issuer("twitter", ALNUM, &[25, 35, 45, 50]), Issuer("twitter", ALNUM | DASH, &[40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60]),
    Issuer("gitlabsession", LOWER_ALNUM, &[32]), Issuer("twilio", HEX, &[32]), Issuer("yandex", URL64, &[40]), Issuer("zendesk", ALNUM, &[40]),
    Issuer("mailjet", HEX, &[32]), Issuer("pusher", HEX, &[20]), Issuer("segment", ALNUM, &[32]), Issuer("mixpanel", HEX, &[32]), Issuer("amplitude", HEX, &[32]), Issuer("vonage", ALNUM, &[16]),
    Issuer("nexmo", ALNUM, &[16]), Issuer("openweather", HEX, &[32]), Issuer("ipstack", HEX, &[32]), Issuer("shodan", ALNUM, &[32]), Issuer("virustotal", HEX, &[64]), Issuer("bugsnag", HEX, &[32]),
    Issuer("rollbar", HEX, &[32]), Issuer("pagerduty", ALNUM | UNDER | DASH | PLUS, &[20]), Issuer("azure", STD64 | EQUALS | DASH, &[32, 44, 52, 84, 88]), Issuer("trello", HEX, &[32, 64]), Issuer("deepl", HEX | DASH | LOWER, &[36, 39]),
    Issuer("elevenlabs", HEX, &[32]), Issuer("mistral", ALNUM, &[32]), Issuer("deepseek", ALNUM, &[32]), Issuer("pinecone", ALNUM | DASH | UNDER, &[36]), Issuer("wandb", HEX, &[40]), Issuer("vercel", ALNUM, &[24]), Issuer("auth0", URL64, &[32, 64]),
    Issuer("ibm", URL64, &[44]), Issuer("softlayer", HEX, &[64]), Issuer("cloudant", HEX, &[64]), Issuer("awssecret", STD64, &[40]), Issuer("secretaccesskey", STD64, &[40]), Issuer("aws", STD64, &[40]), Issuer("amazon", STD64, &[40]),
];

/// The key that is or begins with the run from `start` to `run_end`, if the name of an issuer and an
/// operator stand before it.
pub(super) fn at(text: &[u8], start: usize, run_end: usize) -> Option<Hit> {
    // The cheap questions first: nearly every long word is answered by the byte before it.
    let before = *text.get(start.wrapping_sub(1))?;
    if !b"\"'`=: >\t,/+\n".contains(&before) || run_end - start > LONGEST {
        return None;
    }
    if !text[start..run_end].iter().any(u8::is_ascii_digit) {
        return None;
    }
    // In base64 a value has other runs before this one.
    let lead = if matches!(before, b'/' | b'+') {
        span_back(STD64, &text[..start], LONGEST)
    } else {
        0
    };
    let value_start = start - lead;
    let name_end = operator(text, value_start)?;
    let from = name_end.saturating_sub(NAME);
    let line = &text[from..name_end];
    let line = &line[line
        .iter()
        .rposition(|b| matches!(b, b'\n' | b'\r' | b';' | b'{' | b','))
        .map_or(0, |i| i + 1)..];
    let mut name = [0; NAME];
    let mut len = 0;
    for &b in line.iter().filter(|b| b.is_ascii_alphanumeric()) {
        name[len] = b.to_ascii_lowercase();
        len += 1;
    }
    let name = &name[..len];
    if name.len() < 3 {
        return None;
    }
    for found in NAMES.find_overlapping_iter(name) {
        let &Issuer(word, set, lengths) = &ISSUERS[found.pattern().as_usize()];
        let value = &text[value_start..];
        let span = span(set, value, LONGEST + 1);
        let quoted_end = |at: usize| {
            value.get(at).is_none_or(|b| {
                !has(ALNUM | UNDER | DASH | PLUS | DOT, *b)
                    || *b == b'.' && value.get(at + 1).is_none_or(u8::is_ascii_whitespace)
            })
        };
        if !lengths.contains(&(span as u16))
            || !quoted_end(span)
            || !names(line, found.start(), word)
        {
            continue;
        }
        let value = &value[..span];
        if suits(value, word) {
            let name = if word.contains("aws") || word == "secretaccesskey" || word == "amazon" {
                "AWS_KEY"
            } else {
                "API_KEY"
            };
            return Some(Hit {
                start: value_start,
                end: value_start + span,
                name,
                confidence: 80,
                rule: "issuer-named",
            });
        }
    }
    None
}

/// Finds the names of issuers in a folded name.
static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = ISSUERS.iter().map(|issuer| issuer.0);
    AhoCorasick::new(words).expect("a hundred short words make an automaton")
});

/// Whether a word is the name of an issuer.
pub(super) fn known(word: &[u8]) -> bool {
    ISSUERS.iter().any(|issuer| issuer.0.as_bytes() == word)
}

/// Where the name before an operator ends, seen from the value: `name = "`, `name": '`, `name => `.
fn operator(text: &[u8], value: usize) -> Option<usize> {
    const GLUE: &[u8] = b" \t\r\n\"'`=:>|?,([";
    let glue = text[..value]
        .iter()
        .rev()
        .take(OPERATOR)
        .take_while(|b| GLUE.contains(b))
        .count();
    let end = value - glue;
    text[end..value]
        .iter()
        .any(|b| b"=:>|,".contains(b))
        .then_some(end)
}

/// Whether the name of an issuer that was found at the letter or digit `at` of a line is one.
fn names(line: &[u8], at: usize, word: &str) -> bool {
    // `lob` is also in `global`, `linear` in `bilinear`: such names have to be words.
    const INSIDE_WORDS: &[&str] = &[
        "linear", "cohere", "gitter", "fastly", "looker", "segment", "xray", "azure", "travis",
    ];
    if word.len() > 4 && !INSIDE_WORDS.contains(&word) {
        return true;
    }
    let place = line
        .iter()
        .enumerate()
        .filter(|(_, b)| b.is_ascii_alphanumeric())
        .nth(at)
        .map_or(0, |(i, _)| i);
    let starts = place == 0
        || !line[place - 1].is_ascii_alphabetic()
        || line[place].is_ascii_uppercase() && line[place - 1].is_ascii_lowercase();
    let after = line.get(place + word.len());
    let ends = after.is_none_or(|b| !b.is_ascii_lowercase()) || word.len() > 4;
    starts && ends
}

/// Whether a value looks drawn at random.
fn suits(value: &[u8], word: &str) -> bool {
    let kinds = Kinds::of(value);
    let hexadecimal = value.iter().all(u8::is_ascii_hexdigit);
    if kinds.monotonous(value.len())
        || placeholder(value)
        || kinds.letters() == 0 && value.len() != 18 && value.len() != 16
    {
        return false;
    }
    if word == "aws" || word == "amazon" {
        // Forty characters may be a commit: a secret access key has both cases and more.
        return !hexadecimal && kinds.upper > 4 && kinds.lower > 4 && kinds.digits > 0;
    }
    let (usual, all) = pairs(value);
    uuid(value) || hexadecimal || kinds.turns >= 3 && (usual * 4 < all * 3 || all < 8)
}
