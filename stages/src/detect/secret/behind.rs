//! Secrets that are recognized from their last, long part, because what comes before it is short or
//! of no special form: the verdict looks back.

use super::Hit;
use super::charset::*;
use super::checks::base64;
use super::texture::Kinds;

/// How a MaxMind licence key ends: six characters, `_`, 29 characters, `_mmk`.
const MAXMIND: &[u8] = b"_mmk";

/// Bytes that a web-hook address may have before its last part.
const WEBHOOK: usize = 150;

/// The secret whose last part is the run from `start` to `run_end`.
pub(super) fn at(text: &[u8], start: usize, run_end: usize) -> Option<Hit> {
    let run = &text[start..run_end];
    if run.ends_with(MAXMIND) && run.len() == 40 && run[6] == b'_' {
        return Some(Hit {
            start,
            end: run_end,
            name: "API_KEY",
            confidence: 95,
            rule: "maxmind",
        });
    }
    let before = *text.get(start.wrapping_sub(1))?;
    let head = &text[..start - 1];
    let found = |len: usize, end: usize, name, rule| {
        let start = head.len() - len;
        let whole = start == 0 || !has(ALNUM | UNDER | DASH, text[start - 1]);
        whole.then_some(Hit {
            start,
            end,
            name,
            confidence: 95,
            rule,
        })
    };
    match before {
        b':' => {
            let id = span_back(DIGIT, head, 17);
            telegram(id, run).then(|| found(id, run_end, "API_KEY", "telegram.bot"))?
        }
        b'.' => {
            if let Some(len) = terraform(head, run) {
                return found(len, run_end, "API_KEY", "terraform.cloud");
            }
            if let Some(len) = discord(head, run) {
                return found(len, run_end, "API_KEY", "discord.bot");
            }
            authress(head, text, start)
                .and_then(|(len, end)| found(len, end, "API_KEY", "authress"))
        }
        b'|' => {
            let app = span_back(DIGIT, head, 17);
            let secret = matches!(app, 15 | 16) && (27..=40).contains(&run.len());
            secret.then(|| found(app, run_end, "API_KEY", "facebook.app"))?
        }
        b'~' => azure(head, text, start)
            .and_then(|(len, end)| found(len, end, "API_KEY", "azure.client-secret")),
        b'/' => webhook(text, start, run_end),
        _ => None,
    }
}

/// Telegram bot token (core.telegram.org/bots/api): bot id, colon, 35 characters from `AA`.
fn telegram(id: usize, token: &[u8]) -> bool {
    (5..=16).contains(&id)
        && token.len() == 35
        && token[0] == b'A'
        && !Kinds::of(token).monotonous(35)
}

/// HCP Terraform API token: fourteen characters, `.atlasv1.`, sixty and more.
fn terraform(head: &[u8], secret: &[u8]) -> Option<usize> {
    const MARK: &[u8] = b".atlasv1";
    let id = head.strip_suffix(MARK)?;
    let enough = span_back(ALNUM, id, 15) == 14 && (60..=70).contains(&secret.len());
    enough.then_some(14 + MARK.len())
}

/// Discord bot token (discord.com/developers): the bot's id in base64, a time, an HMAC.
fn discord(head: &[u8], hmac: &[u8]) -> Option<usize> {
    if !(27..=45).contains(&hmac.len()) {
        return None;
    }
    let time = span_back(URL64, head, 8);
    let id = head[..head.len() - time].strip_suffix(b".")?;
    let len = span_back(URL64, id, 32);
    let mut digits = [0; 24];
    let decoded = base64(&id[id.len() - len..], &mut digits)?;
    let snowflake =
        (17..=20).contains(&decoded) && digits[..decoded].iter().all(u8::is_ascii_digit);
    ((5..=7).contains(&time) && snowflake).then_some(len + 1 + time)
}

/// Microsoft Entra client secret: three characters, a digit, `Q~`, 31 to 34 characters, which may
/// have more tildes.
fn azure(head: &[u8], text: &[u8], start: usize) -> Option<(usize, usize)> {
    const SET: Set = URL64 | DOT | TILDE;
    let reach = span_back(SET, head, 40);
    let lead = memchr::memmem::find(&text[head.len() - reach..start], b"Q~")?;
    let from = head.len() - reach;
    let tail = span(SET, &text[from + lead + 2..], 40);
    let digit = lead == 4 && text[from + 3].is_ascii_digit();
    (digit && (31..=34).contains(&tail)).then_some((reach, from + lead + 2 + tail))
}

/// Authress service client: `sc_….….acc_….…`.
fn authress(head: &[u8], text: &[u8], start: usize) -> Option<(usize, usize)> {
    let reach = span_back(ALNUM | DASH | UNDER | DOT, head, 90);
    let key = &head[head.len() - reach..];
    let known = [&b"sc_"[..], b"ext_", b"scauth_", b"authress_"]
        .iter()
        .any(|p| key.starts_with(p));
    let account = [&b".acc_"[..], b".acc-"]
        .iter()
        .any(|p| memchr::memmem::find(key, p).is_some());
    let tail = span(URL64 | PLUS | EQUALS, &text[start..], 121);
    (known && account && (30..=120).contains(&tail)).then_some((reach, start + tail))
}

/// Web-hook addresses let whoever has them write into a channel: Slack, Discord, Microsoft Teams,
/// Google Chat.
fn webhook(text: &[u8], start: usize, run_end: usize) -> Option<Hit> {
    const HOSTS: &[(&str, &str)] = &[
        ("hooks.slack.com/services/", "slack.webhook"),
        ("hooks.slack.com/workflows/", "slack.webhook"),
        ("hooks.slack.com/triggers/", "slack.webhook"),
        ("discord.com/api/webhooks/", "discord.webhook"),
        ("discordapp.com/api/webhooks/", "discord.webhook"),
        (".webhook.office.com/webhookb2/", "teams.webhook"),
    ];
    let from = start.saturating_sub(WEBHOOK);
    let path = span_back(
        ALNUM | PLUS | DASH | UNDER | DOT | TILDE,
        &text[from..start],
        WEBHOOK,
    );
    let path = &text[start - path..start];
    let (at, host, rule) = HOSTS.iter().find_map(|&(host, rule)| {
        memchr::memmem::find(path, host.as_bytes()).map(|at| (at, host, rule))
    })?;
    // Not the address without its secret, as documentation shows it.
    let secret_from = start - path.len() + at + host.len();
    let end = run_end
        + span(
            ALNUM | PLUS | DASH | UNDER | DOT | TILDE,
            &text[run_end..],
            255,
        );
    let secret = &text[secret_from..end];
    let kinds = Kinds::of(secret);
    if secret.len() < 24 || kinds.digits < 3 || kinds.longest_repeat * 3 > secret.len() {
        return None;
    }
    let mut from = start - path.len() + at;
    from -= span_back(LOWER_ALNUM | DASH | DOT, &text[..from], 40);
    for scheme in [&b"https://"[..], b"http://", b"https:\\/\\/"] {
        if text[..from].ends_with(scheme) {
            from -= scheme.len();
        }
    }
    let end = secret_from + secret.iter().rposition(|b| *b != b'.').map_or(0, |i| i + 1);
    Some(Hit {
        start: from,
        end,
        name: "API_KEY",
        confidence: 95,
        rule,
    })
}
