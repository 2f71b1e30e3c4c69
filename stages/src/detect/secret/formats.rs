//! The forms that issuers give their keys: a prefix, then so many characters of an alphabet.
//!
//! Each entry is what the issuer documents, or, where it documents nothing, what its keys are seen
//! to look like and public secret scanners agree on.

use super::Hit;
use super::charset::*;
use super::checks::github_checksum;
use super::pattern::Part::{Exact, Lit, Maybe, OneOf, Run};
use super::pattern::{Part, matches};
use super::texture::{Kinds, placeholder};

/// One kind of key.
struct Format {
    /// Issuer and kind.
    rule: &'static str,
    /// The category.
    name: &'static str,
    /// What it looks like; the first part is a literal.
    parts: &'static [Part],
}

const fn key(rule: &'static str, parts: &'static [Part]) -> Format {
    Format {
        rule,
        name: "API_KEY",
        parts,
    }
}

const fn aws(rule: &'static str, parts: &'static [Part]) -> Format {
    Format {
        rule,
        name: "AWS_KEY",
        parts,
    }
}

/// Base 32 as AWS writes its ids; scanners and samples have 0, 1, 8, 9 too.
const AWS_ID: Part = Exact(UPPER_ALNUM, 16);
/// A UUID.
const UUID: Part = Exact(ANY_HEX | DASH, 36);

#[rustfmt::skip]
static FORMATS: &[Format] = &[
    // GitHub: "Behind GitHub's new authentication token formats"; the last six are a checksum.
    key("github.pat", &[Lit("ghp_"), Run(ALNUM, 36, 255)]),
    key("github.oauth", &[Lit("gho_"), Run(ALNUM, 36, 255)]),
    key("github.user-to-server", &[Lit("ghu_"), Run(ALNUM, 36, 255)]),
    key("github.server-to-server", &[Lit("ghs_"), Run(ALNUM, 36, 255)]),
    key("github.refresh", &[Lit("ghr_"), Run(ALNUM, 36, 255)]),
    key("github.fine-grained-pat", &[Lit("github_pat_"), Run(ALNUM | UNDER, 59, 255)]),
    // GitLab: docs.gitlab.com, "Token overview", token prefixes; routable tokens have a payload.
    key("gitlab.pat", &[Lit("glpat-"), Run(URL64, 20, 300), Maybe, Lit("."), Exact(LOWER_ALNUM, 2), Exact(LOWER_ALNUM, 7)]),
    key("gitlab.deploy", &[Lit("gldt-"), Run(URL64, 20, 300)]),
    key("gitlab.runner", &[Lit("glrt-"), Run(URL64, 20, 300), Maybe, Lit("."), Exact(LOWER_ALNUM, 9)]),
    key("gitlab.runner-registration", &[Lit("GR1348941"), Run(URL64, 20, 50)]),
    key("gitlab.job", &[Lit("glcbt-"), Run(URL64, 20, 300)]),
    key("gitlab.trigger", &[Lit("glptt-"), Run(URL64, 20, 300)]),
    key("gitlab.feed", &[Lit("glft-"), Run(URL64, 20, 300)]),
    key("gitlab.incoming-mail", &[Lit("glimt-"), Run(URL64, 20, 300)]),
    key("gitlab.agent", &[Lit("glagent-"), Run(URL64, 20, 300)]),
    key("gitlab.oauth-secret", &[Lit("gloas-"), Run(URL64, 20, 300)]),
    key("gitlab.scim", &[Lit("glsoat-"), Run(URL64, 20, 300)]),
    key("gitlab.feature-flag", &[Lit("glffct-"), Run(URL64, 20, 300)]),
    // Slack: api.slack.com/authentication/token-types.
    key("slack.bot", &[Lit("xoxb-"), Run(ALNUM | DASH, 20, 255)]),
    key("slack.user", &[Lit("xoxp-"), Run(ALNUM | DASH, 20, 255)]),
    key("slack.enterprise", &[Lit("xoxe-"), Run(ALNUM | DASH, 20, 255)]),
    key("slack.config", &[Lit("xoxe.xox"), OneOf(&["b-", "p-"]), Run(ALNUM | DASH, 20, 255)]),
    key("slack.workspace", &[Lit("xoxa-"), Run(ALNUM | DASH, 8, 255)]),
    key("slack.refresh", &[Lit("xoxr-"), Run(ALNUM | DASH, 8, 255)]),
    key("slack.legacy", &[Lit("xoxs-"), Run(ALNUM | DASH, 20, 255)]),
    key("slack.legacy", &[Lit("xoxo-"), Run(ALNUM | DASH, 20, 255)]),
    key("slack.cookie", &[Lit("xoxc-"), Run(ALNUM | DASH, 20, 255)]),
    key("slack.cookie", &[Lit("xoxd-"), Run(ALNUM | DASH | PLUS | PERCENT, 20, 255)]),
    key("slack.app", &[Lit("xapp-"), Exact(DIGIT, 1), Lit("-"), Run(ALNUM | DASH, 14, 255)]),
    // Stripe: docs.stripe.com/keys, and webhook signing secrets.
    key("stripe.secret", &[Lit("sk_"), OneOf(&["live_", "test_", "prod_"]), Run(ALNUM, 10, 255)]),
    key("stripe.restricted", &[Lit("rk_"), OneOf(&["live_", "test_", "prod_"]), Run(ALNUM, 10, 255)]),
    key("stripe.publishable", &[Lit("pk_"), OneOf(&["live_", "test_"]), Run(ALNUM, 16, 255)]),
    key("stripe.webhook", &[Lit("whsec_"), Run(ALNUM | PLUS | EQUALS, 24, 255)]),
    // OpenAI: project, service and admin keys carry "OpenAI" in base64 in the middle.
    key("openai.project", &[Lit("sk-proj-"), Run(URL64, 20, 255)]),
    key("openai.service", &[Lit("sk-svcacct-"), Run(URL64, 20, 255)]),
    key("openai.admin", &[Lit("sk-admin-"), Run(URL64, 20, 255)]),
    key("openai.user", &[Lit("sk-"), Exact(ALNUM, 20), Lit("T3BlbkFJ"), Exact(ALNUM, 20)]),
    // Anthropic: api03, admin01, oat01, ort01, sid01 and what follows.
    key("anthropic", &[Lit("sk-ant-"), Run(LOWER_ALNUM, 3, 12), Lit("-"), Run(URL64, 24, 255)]),
    key("openrouter", &[Lit("sk-or-v1-"), Exact(HEX, 64)]),
    key("groq", &[Lit("gsk_"), Run(ALNUM, 40, 80)]),
    key("xai", &[Lit("xai-"), Run(ALNUM, 40, 100)]),
    key("perplexity", &[Lit("pplx-"), Run(ALNUM, 40, 64)]),
    key("replicate", &[Lit("r8_"), Run(ALNUM, 36, 40)]),
    key("langsmith", &[Lit("lsv2_"), OneOf(&["pt_", "sk_"]), Exact(HEX, 32), Lit("_"), Exact(HEX, 10)]),
    key("langfuse", &[Lit("sk-lf-"), Exact(HEX, 8), Lit("-"), Run(HEX | DASH, 20, 40)]),
    // Google: API keys, OAuth client secrets, access and refresh tokens.
    key("google.api", &[Lit("AIza"), Exact(URL64, 35)]),
    key("google.oauth-secret", &[Lit("GOCSPX-"), Run(URL64, 24, 40)]),
    key("google.access-token", &[Lit("ya29."), Run(URL64 | DOT, 20, 1024)]),
    key("google.refresh-token", &[Lit("1//0"), Run(URL64, 30, 255)]),
    // Package registries: npm and crates.io, PyPI's macaroons, RubyGems, Clojars, NuGet.
    key("npm", &[Lit("npm_"), Exact(ALNUM, 36)]),
    key("pypi", &[Lit("pypi-AgE"), Run(URL64, 50, 1024)]),
    key("rubygems", &[Lit("rubygems_"), Exact(HEX, 48)]),
    key("clojars", &[Lit("CLOJARS_"), Exact(ALNUM, 60)]),
    key("crates-io", &[Lit("cio"), Exact(ALNUM, 32)]),
    key("nuget", &[Lit("oy2"), Exact(LOWER_ALNUM, 43)]),
    key("docker.pat", &[Lit("dckr_pat_"), Run(URL64, 20, 64)]),
    key("docker.org", &[Lit("dckr_oat_"), Run(URL64, 20, 64)]),
    // AWS: unique identifiers of the IAM reference; Bedrock keys.
    aws("aws.access-key-id", &[Lit("AKIA"), AWS_ID]),
    aws("aws.temporary-id", &[Lit("ASIA"), AWS_ID]),
    aws("aws.bearer-id", &[Lit("ABIA"), AWS_ID]),
    aws("aws.context-id", &[Lit("ACCA"), AWS_ID]),
    aws("aws.legacy-id", &[Lit("A3T"), Exact(UPPER_ALNUM, 17)]),
    aws("aws.bedrock", &[Lit("ABSK"), Run(STD64, 100, 300), Run(EQUALS, 0, 2)]),
    aws("aws.bedrock-short", &[Lit("bedrock-api-key-"), Run(STD64 | EQUALS, 24, 1024)]),
    // A JSON Web Token in base64 once more, as in Kubernetes secrets: `eyJ` encoded.
    Format { rule: "jwt.base64", name: "JWT", parts: &[Lit("ZXlK"), Run(STD64, 60, 8000), Run(EQUALS, 0, 2)] },
    // Communication.
    key("twilio.api-key", &[Lit("SK"), Exact(ANY_HEX, 32)]),
    key("twilio.account", &[Lit("AC"), Exact(HEX, 32)]),
    key("sendgrid", &[Lit("SG."), Run(URL64, 16, 32), Lit("."), Run(URL64, 32, 64)]),
    key("sendgrid", &[Lit("SG."), Exact(URL64 | DOT | EQUALS, 66)]),
    key("sendinblue", &[Lit("xkeysib-"), Exact(HEX, 64), Lit("-"), Exact(ALNUM, 16)]),
    key("mailgun.private", &[Lit("key-"), Exact(HEX, 32)]),
    key("mailgun.public", &[Lit("pubkey-"), Exact(HEX, 32)]),
    key("resend", &[Lit("re_"), Exact(ALNUM, 8), Lit("_"), Run(ALNUM, 20, 32)]),
    // Clouds and hosts.
    key("digitalocean.pat", &[Lit("dop_v1_"), Exact(HEX, 64)]),
    key("digitalocean.oauth", &[Lit("doo_v1_"), Exact(HEX, 64)]),
    key("digitalocean.refresh", &[Lit("dor_v1_"), Exact(ANY_HEX, 64)]),
    key("alibaba", &[Lit("LTAI"), Run(ALNUM, 12, 24)]),
    key("tencent", &[Lit("AKID"), Exact(ALNUM, 32)]),
    key("heroku", &[Lit("HRKU-"), Run(URL64, 36, 64)]),
    key("flyio.macaroon", &[Lit("fm"), OneOf(&["1a_", "1r_", "2_"]), Run(STD64, 60, 1024), Run(EQUALS, 0, 3)]),
    key("flyio.token", &[Lit("fo1_"), Exact(URL64, 43)]),
    key("netlify", &[Lit("nfp_"), Run(ALNUM, 36, 48)]),
    key("render", &[Lit("rnd_"), Run(ALNUM, 24, 40)]),
    key("supabase.pat", &[Lit("sbp_"), Run(HEX, 40, 44)]),
    key("supabase.secret", &[Lit("sb_"), OneOf(&["secret_", "publishable_"]), Run(URL64, 20, 64)]),
    key("planetscale", &[Lit("pscale_"), OneOf(&["tkn_", "oauth_", "pw_"]), Run(URL64 | EQUALS | DOT, 32, 64)]),
    key("neon", &[Lit("napi_"), Run(LOWER_ALNUM, 40, 80)]),
    key("cloudflare.origin-ca", &[Lit("v1.0-"), Exact(HEX, 24), Lit("-"), Exact(HEX, 146)]),
    key("scalingo", &[Lit("tk-us-"), Exact(URL64, 48)]),
    key("openshift", &[Lit("sha256~"), Exact(URL64, 43)]),
    key("clickhouse", &[Lit("4b1d"), Exact(ALNUM, 38)]),
    key("yandex.api", &[Lit("AQVN"), Run(URL64, 35, 38)]),
    key("yandex.iam", &[Lit("t1."), Run(URL64 | EQUALS, 8, 255), Lit("."), Run(URL64, 40, 86), Run(EQUALS, 0, 2)]),
    // HashiCorp, Pulumi, Doppler, secrets management.
    key("vault.service", &[Lit("hvs."), Run(URL64, 24, 300)]),
    key("vault.batch", &[Lit("hvb."), Run(URL64, 24, 400)]),
    key("vault.recovery", &[Lit("hvr."), Run(URL64, 24, 300)]),
    key("vault.legacy", &[Lit("s."), Exact(ALNUM, 24)]),
    key("pulumi", &[Lit("pul-"), Exact(HEX, 40)]),
    key("doppler", &[Lit("dp."), OneOf(&["pt.", "st.", "ct.", "sa.", "scim.", "audit."]), Run(ALNUM | DOT | UNDER, 40, 80)]),
    key("onepassword.secret-key", &[Lit("A3-"), Exact(UPPER_ALNUM, 6), Lit("-"), Run(UPPER_ALNUM | DASH, 26, 31)]),
    key("onepassword.service", &[Lit("ops_eyJ"), Run(STD64 | DASH | UNDER, 100, 1024), Run(EQUALS, 0, 3)]),
    key("infisical", &[Lit("st."), Exact(HEX, 24), Lit("."), Exact(HEX, 32), Lit("."), Exact(HEX, 32)]),
    Format { rule: "age.secret-key", name: "PRIVATE_KEY", parts: &[Lit("AGE-SECRET-KEY-1"), Exact(UPPER_ALNUM, 58)] },
    // Shops and payment.
    key("shopify.access", &[Lit("shpat_"), Exact(ANY_HEX, 32)]),
    key("shopify.custom", &[Lit("shpca_"), Exact(ANY_HEX, 32)]),
    key("shopify.private", &[Lit("shppa_"), Exact(ANY_HEX, 32)]),
    key("shopify.shared", &[Lit("shpss_"), Exact(ANY_HEX, 32)]),
    key("square.access", &[Lit("EAAA"), Run(URL64, 50, 64)]),
    key("square.access", &[Lit("EAAA"), Run(URL64, 22, 60)]),
    key("square.secret", &[Lit("sq0"), OneOf(&["atp-", "csp-", "idp-"]), Run(URL64, 22, 60)]),
    key("braintree", &[Lit("access_token$"), OneOf(&["production$", "sandbox$"]), Exact(LOWER_ALNUM, 16), Lit("$"), Exact(HEX, 32)]),
    key("flutterwave", &[Lit("FLW"), OneOf(&["SECK", "PUBK"]), OneOf(&["_TEST-", "-"]), Run(ALNUM, 12, 40), Maybe, Lit("-X")]),
    key("easypost", &[Lit("EZ"), OneOf(&["AK", "TK"]), Exact(ALNUM, 54)]),
    key("shippo", &[Lit("shippo_"), OneOf(&["live_", "test_"]), Exact(ANY_HEX, 40)]),
    key("duffel", &[Lit("duffel_"), OneOf(&["test_", "live_"]), Exact(URL64 | EQUALS, 43)]),
    key("plaid", &[Lit("access-"), OneOf(&["sandbox-", "development-", "production-"]), UUID]),
    // Work tools.
    key("atlassian", &[Lit("ATATT3"), Run(URL64 | EQUALS, 50, 255)]),
    key("atlassian.connect", &[Lit("ATCTT3"), Run(URL64 | EQUALS, 50, 255)]),
    key("atlassian.bitbucket", &[Lit("ATBB"), Run(ALNUM, 28, 40)]),
    key("linear", &[Lit("lin_api_"), Run(ALNUM, 32, 64)]),
    key("linear.oauth", &[Lit("lin_oauth_"), Run(ALNUM, 32, 72)]),
    key("notion", &[Lit("ntn_"), Exact(DIGIT, 11), Run(ALNUM, 32, 40)]),
    key("notion.secret", &[Lit("secret_"), Exact(ALNUM, 43)]),
    key("figma", &[Lit("figd_"), Run(URL64, 36, 64)]),
    key("figma.oauth", &[Lit("figo_"), Run(URL64, 36, 64)]),
    key("airtable", &[Lit("pat"), Exact(ALNUM, 14), Lit("."), Exact(HEX, 64)]),
    key("asana", &[Lit("1/"), Run(DIGIT, 15, 17), Lit(":"), Exact(HEX, 32)]),
    key("dropbox", &[Lit("sl."), Run(URL64 | EQUALS | DOT, 60, 1400)]),
    key("postman", &[Lit("PMAK-"), Exact(HEX, 24), Lit("-"), Exact(HEX, 34)]),
    key("readme", &[Lit("rdme_"), Exact(LOWER_ALNUM, 70)]),
    key("frameio", &[Lit("fio-u-"), Exact(URL64 | EQUALS, 64)]),
    key("typeform", &[Lit("tfp_"), Run(URL64 | DOT | EQUALS, 40, 64)]),
    key("contentful", &[Lit("CFPAT-"), Run(URL64, 40, 50)]),
    key("zapier", &[Lit("zpka_"), Exact(HEX, 32), Lit("_"), Exact(HEX, 8)]),
    key("hubspot", &[Lit("pat-"), OneOf(&["na1-", "na2-", "eu1-"]), UUID]),
    key("facebook.page", &[Lit("EAA"), Run(ALNUM, 90, 400)]),
    key("twitter.bearer", &[Lit("AAAAAAAAAAAAAAAAAAAAA"), Run(ALNUM | PERCENT, 40, 140)]),
    // Monitoring, delivery, data.
    key("newrelic.user", &[Lit("NRAK-"), Run(ALNUM, 27, 27)]),
    key("newrelic.browser", &[Lit("NRJS-"), Exact(HEX, 19)]),
    key("newrelic.insert", &[Lit("NRII-"), Exact(ALNUM | DASH, 32)]),
    key("newrelic.query", &[Lit("NRIQ-"), Exact(ALNUM | DASH, 32)]),
    key("grafana.cloud", &[Lit("glc_"), Run(STD64, 32, 400), Run(EQUALS, 0, 3)]),
    key("grafana.service", &[Lit("glsa_"), Exact(ALNUM, 32), Lit("_"), Exact(ANY_HEX, 8)]),
    key("grafana.api", &[Lit("eyJrIjoi"), Run(STD64, 60, 400), Run(EQUALS, 0, 3)]),
    key("sentry.org", &[Lit("sntrys_"), Run(STD64 | UNDER | EQUALS | DASH, 40, 500)]),
    key("sentry.user", &[Lit("sntryu_"), Exact(HEX, 64)]),
    key("dynatrace", &[Lit("dt0c01."), Exact(ALNUM, 24), Lit("."), Exact(ALNUM, 64)]),
    key("databricks", &[Lit("dapi"), Exact(HEX, 32), Maybe, Lit("-"), Exact(DIGIT, 1)]),
    key("huggingface", &[Lit("hf_"), Run(ALNUM, 30, 40)]),
    key("huggingface.org", &[Lit("api_org_"), Run(ALNUM, 30, 40)]),
    key("prefect", &[Lit("pnu_"), Exact(ALNUM, 36)]),
    key("prefect", &[Lit("pnb_"), Exact(ALNUM, 36)]),
    key("posthog", &[Lit("phx_"), Run(ALNUM, 40, 50)]),
    key("posthog", &[Lit("phc_"), Run(ALNUM, 40, 50)]),
    key("sonar", &[Lit("sq"), OneOf(&["u_", "p_", "a_"]), Exact(ALNUM, 40)]),
    key("sourcegraph", &[Lit("sgp_"), Run(ALNUM, 5, 16), Lit("_"), Exact(ANY_HEX, 40)]),
    key("sourcegraph", &[Lit("sgp_"), Exact(ANY_HEX, 40)]),
    key("octopus", &[Lit("API-"), Exact(UPPER_ALNUM, 26)]),
    key("artifactory.api", &[Lit("AKCp"), Run(ALNUM, 60, 73)]),
    key("artifactory.reference", &[Lit("cmVmd"), Exact(ALNUM, 59)]),
    key("infracost", &[Lit("ico-"), Exact(ALNUM, 32)]),
    key("buildkite", &[Lit("bkua_"), Exact(HEX, 40)]),
    key("circleci", &[Lit("CCIPAT_"), Run(ALNUM | UNDER, 40, 80)]),
    key("tailscale", &[Lit("tskey-"), OneOf(&["api-", "auth-", "client-", "webhook-", "scim-"]), Run(ALNUM | DASH, 20, 80)]),
    key("defined-networking", &[Lit("dnkey-"), Exact(URL64 | EQUALS, 26), Lit("-"), Exact(URL64 | EQUALS, 52)]),
    key("intra42", &[Lit("s-s4t2"), OneOf(&["ud-", "af-"]), Exact(ANY_HEX, 64)]),
    key("settlemint", &[Lit("sm_"), OneOf(&["aat_", "pat_", "sat_"]), Exact(ALNUM, 16)]),
    key("adobe", &[Lit("p8e-"), Exact(ALNUM, 32)]),
    key("harness", &[Lit("pat."), Exact(URL64, 22), Lit("."), Exact(ALNUM, 24), Lit("."), Exact(ALNUM, 20)]),
    key("harness", &[Lit("sat."), Exact(URL64, 22), Lit("."), Exact(ALNUM, 24), Lit("."), Exact(ALNUM, 20)]),
    key("mapbox", &[Lit("pk."), Run(ALNUM, 50, 120), Lit("."), Run(URL64, 20, 24)]),
    key("mapbox", &[Lit("sk."), Run(ALNUM, 50, 120), Lit("."), Run(URL64, 20, 24)]),
    key("beamer", &[Lit("b_"), Exact(URL64 | EQUALS, 44)]),
];

/// The key that starts at `start`, or a few bytes before where its prefix ends in a dot.
pub(super) fn at(text: &[u8], start: usize) -> Option<Hit> {
    if let Some(hit) = first(text, start) {
        return Some(hit);
    }
    let before = *text.get(start.wrapping_sub(1))?;
    let from = match before {
        // `SG.`, `hvs.`, `dp.pt.`: the prefix is too short to be a word of interest itself.
        b'.' | b'~' => start - 1 - span_back(ALNUM, &text[..start - 1], 8),
        // Base64, whose first run may be as short.
        b'/' | b'+' => start - span_back(STD64 | UNDER | DASH, &text[..start], 24),
        _ => return None,
    };
    let reaches = |hit: &Hit| hit.end > start;
    first(text, from).filter(reaches).or_else(|| {
        let from = from.checked_sub(1).filter(|dot| text[*dot] == b'.')?;
        first(text, from - span_back(LOWER_ALNUM, &text[..from], 8)).filter(reaches)
    })
}

/// The first format in the table that a key at `start` has.
fn first(text: &[u8], start: usize) -> Option<Hit> {
    if start > 0 && has(ALNUM | UNDER, text[start - 1]) {
        return None;
    }
    let slot = slot(*text.get(start)?, *text.get(start + 1)?);
    let mut next = FIRST[slot];
    while let Some(format) = FORMATS.get(usize::from(next)) {
        if let Some(end) = matches(format.parts, text, start)
            && let Some(confidence) = confidence(format, &text[start..end])
        {
            return Some(Hit {
                start,
                end,
                name: format.name,
                confidence,
                rule: format.rule,
            });
        }
        next = NEXT[usize::from(next)];
    }
    None
}

/// How sure a key of the right form is: `None` for placeholders such as `sk_live_xxxxxxxx`.
fn confidence(format: &Format, key: &[u8]) -> Option<u8> {
    let prefix = match format.parts[0] {
        Lit(prefix) => prefix.len(),
        _ => 0,
    };
    let body = &key[prefix..];
    let kinds = Kinds::of(body);
    if kinds.distinct < 6.min(body.len() / 3)
        || kinds.longest_repeat * 3 > body.len() && format.name != "AWS_KEY"
    {
        return None;
    }
    let spoken = kinds.digits == 0 && super::texture::wordy(body) || key_is_a_phrase(body);
    if spoken && format.name != "AWS_KEY"
        || format.name != "AWS_KEY" && placeholder(body) && kinds.turns < 6
    {
        return None;
    }
    Some(
        if prefix == 4 && key.starts_with(b"gh") && github_checksum(body) {
            99
        } else {
            95
        },
    )
}

/// `your-project-key-goes-here`: three or more pieces, all of them words.
fn key_is_a_phrase(body: &[u8]) -> bool {
    let mut pieces = body
        .split(|b| matches!(b, b'-' | b'_' | b'.'))
        .filter(|p| !p.is_empty());
    let word = |p: &[u8]| {
        p.len() < 14 && p.iter().all(|b| b.is_ascii_lowercase())
            || p.len() < 14 && p.iter().all(|b| b.is_ascii_uppercase())
    };
    let count = pieces.clone().count();
    count >= 3 && pieces.all(word)
}

const END: u8 = u8::MAX;

const fn slot(a: u8, b: u8) -> usize {
    (a as usize & 63) << 6 | b as usize & 63
}

/// For each pair of first bytes the first format that may begin so.
static FIRST: [u8; 4096] = DISPATCH.0;
/// For each format the next one with such a beginning.
static NEXT: [u8; FORMATS.len()] = DISPATCH.1;

const DISPATCH: ([u8; 4096], [u8; FORMATS.len()]) = {
    let (mut first, mut next) = ([END; 4096], [END; FORMATS.len()]);
    let mut i = FORMATS.len();
    while i > 0 {
        i -= 1;
        if let Lit(prefix) = FORMATS[i].parts[0] {
            let prefix = prefix.as_bytes();
            let slot = slot(prefix[0], prefix[1]);
            next[i] = first[slot];
            first[slot] = i as u8;
        }
    }
    (first, next)
};

const _: () = assert!(
    FORMATS.len() < END as usize,
    "an index of a format has to fit a byte"
);
