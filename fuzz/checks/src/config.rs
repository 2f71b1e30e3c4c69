//! Any text as a configuration.

use cloakllm_gateway::config::Config;

use crate::pieces::spell_text;

/// What must never be shown: it stands where passwords do.
const SECRET: &str = "correct-horse-battery";

const PIECES: &[&str] = &[
    r#"{"upstreams":{"fs":{"command":"x""#,
    r#"{"mcpServers":{"fs":{"command":"x""#,
    r#"{"servers":{"fs":{"type":"stdio","command":"x""#,
    r#","args":["-y","correct-horse-battery"]"#,
    r#","env":{"TOKEN":"correct-horse-battery"}"#,
    r#","env":{"TOKEN":"${SECRET}"}"#,
    "${HOME}",
    "${NONE:-x}",
    "$${",
    "${",
    r#","detection":{"#,
    r#""locale":["de","fr"],"#,
    r#""locale":"all","#,
    r#""custom_patterns":[["A","[0-9]{6}"]],"#,
    r#""custom_patterns":{"A":"(a*)*b"},"#,
    r#""deny":["correct-horse-battery"],"#,
    r#""allow":["@example.org","/x+/"],"#,
    r#""min_confidence":101,"#,
    r#""mode":"redact","#,
    r#""detect_emails":false"#,
    r#","audit":{"dir":"a","fsync":"each"}"#,
    r#","max_message":"64 MiB""#,
    r#","max_message":1e400"#,
    r#","request_timeout":0.5"#,
    r#","request_timeout":-1"#,
    r#","log_level":"debug""#,
    r#","token_scope":"upstream""#,
    r#","sanitise":true"#,
    r#","trust":"third-party""#,
    "null",
    "}}",
    "}",
    ",",
    "\u{1f600}",
    r#""correct-horse-battery""#,
];

/// A configuration is taken or told to be wrong, with at least one reason, in an error without a
/// value that may be secret; and what is taken is JSON, and sets up a detection or says why not.
pub fn config(input: &[u8]) {
    let text = spell_text(input, PIECES);
    let lookup = |name: &str| match name {
        "HOME" => Some("/home/me".to_owned()),
        "SECRET" => Some(SECRET.to_owned()),
        _ => None,
    };
    let config = match Config::parse(&text, "fuzz.json", &lookup) {
        Ok(config) => config,
        Err(why) => {
            assert!(!why.problems.is_empty());
            let told = why.to_string();
            assert!(!told.contains(SECRET), "{told}");
            return;
        }
    };
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    for upstream in &config.upstreams {
        assert!(!upstream.name.is_empty() && upstream.name.is_ascii());
    }
    if let Err(why) = config.detection.detectors() {
        assert!(!why.to_string().contains(SECRET), "{why}");
    }
}
