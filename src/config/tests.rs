//! The configuration as users write it, and what they are told when it is wrong.

use std::time::Duration;

use super::*;

/// Reads `text` in an environment of a few variables.
fn parse(text: &str) -> Result<Config, Vec<String>> {
    Config::parse(text, "test", &|name| match name {
        "HOME" => Some("/home/ana".to_owned()),
        "TOKEN" => Some("s3cret-value".to_owned()),
        _ => None,
    })
    .map_err(|error| error.problems.iter().map(ToString::to_string).collect())
}

/// Reads a configuration of one server with more `settings` beside it.
fn with(settings: &str) -> Result<Config, Vec<String>> {
    parse(&format!(
        r#"{{"upstreams": {{"fs": {{"command": "fs"}}}}, {settings}}}"#
    ))
}

/// Reads a configuration of one server that is described by `fields`.
fn server(fields: &str) -> Result<Upstream, Vec<String>> {
    let config = parse(&format!(r#"{{"upstreams": {{"fs": {{{fields}}}}}}}"#))?;
    Ok(config.upstreams.into_iter().next().unwrap())
}

#[test]
fn says_nothing_means_protected() {
    let config = parse(r#"{"upstreams": {"fs": {"command": "fs"}}}"#).unwrap();
    assert!(config.sanitize && config.prefix);
    assert_eq!(config.token_scope, Scope::Session);
    assert_eq!(config.fresh_values, FreshValues::Report);
    assert_eq!(config.log_level, LogLevel::Info);
    assert_eq!(config.request_timeout, None);
    assert_eq!(config.list_timeout(), LIST_TIMEOUT);
    assert_eq!(config.max_message, 64 << 20);
    assert_eq!(config.detection.mode, Mode::Tokenize);
    assert_eq!(config.detection.names.entity_types, ["PERSON"]);
    assert!(config.audit.is_none() && config.state_dir.is_none() && config.warnings.is_empty());
    let [fs] = &*config.upstreams else {
        panic!("one server")
    };
    assert_eq!((&*fs.name, &*fs.command), ("fs", "fs"));
    assert!(fs.args.is_empty() && fs.env.is_empty() && fs.cwd.is_none());
    assert_eq!(fs.startup_timeout, STARTUP_TIMEOUT);
    assert_eq!(fs.trust, Trust::Local);
}

#[test]
fn everything_can_be_set() {
    let config = parse(
        r#"{
            "upstreams": {
                "b-2": {
                    "command": "${HOME}/bin/b", "args": ["--root", "${NONE:-/srv}"],
                    "env": {"KEY": "${TOKEN}"}, "cwd": "${HOME}", "startup_timeout": 2.5,
                    "request_timeout": 7, "token_scope": "session", "fresh_values": "allow",
                    "trust": "third-party"
                },
                "a": {"command": "a", "cwd": null}
            },
            "sanitize": false, "token_scope": "upstream", "fresh_values": "block",
            "log_level": "silent", "request_timeout": 90, "max_message": "1 MiB",
            "state_dir": "/var/lib/x", "allow_unknown_protocol_version": true,
            "audit": {"dir": "/a", "required": true, "fsync": "each", "retention_days": 30},
            "detection": {
                "locale": "de", "phone_regions": ["DE", "FR"], "allow": "@example.org",
                "deny": ["Project Sun"], "min_confidence": 0.5, "detect_emails": false,
                "detect_phones": false, "detect_ssns": false, "detect_credit_cards": false,
                "detect_api_keys": false, "detect_ip_addresses": false, "detect_iban": false,
                "detect_il_id": true, "detect_mac": true, "detect_crypto": true,
                "detect_fields": false, "custom_patterns": [["STAFF", "S-[0-9]+"]],
                "mode": "redact", "descriptive_tokens": true, "max_input_length": 1000,
                "spacy_model": "en_core_web_sm", "ner_model": "none", "ner_required": false,
                "ner_entity_types": ["PER", "ORG", "persName"]
            }
        }"#,
    )
    .unwrap();
    let names: Vec<_> = config
        .upstreams
        .iter()
        .map(|upstream| &*upstream.name)
        .collect();
    assert_eq!(names, ["b-2", "a"], "in the order of the file");
    let b = &config.upstreams[0];
    assert_eq!(b.command, "/home/ana/bin/b");
    assert_eq!(b.args, ["--root", "/srv"]);
    assert_eq!(b.env, [("KEY".to_owned(), "s3cret-value".to_owned())]);
    assert_eq!(b.cwd.as_deref(), Some("/home/ana".as_ref()));
    assert_eq!(b.startup_timeout, Duration::from_millis(2500));
    assert_eq!(b.request_timeout, Some(Duration::from_secs(7)));
    assert_eq!(
        (b.token_scope, b.fresh_values),
        (Scope::Session, FreshValues::Allow)
    );
    assert_eq!(b.trust, Trust::ThirdParty);
    let a = &config.upstreams[1];
    assert_eq!(
        a.request_timeout,
        Some(Duration::from_secs(90)),
        "taken from the top"
    );
    assert_eq!(
        (a.token_scope, a.fresh_values),
        (Scope::Upstream, FreshValues::Block)
    );
    assert!(!config.sanitize);
    assert_eq!(config.log_level, LogLevel::Silent);
    assert_eq!(config.max_message, 1 << 20);
    assert_eq!(config.audit.unwrap().fsync, Fsync::Each);
    let detection = &config.detection;
    assert_eq!(detection.mode, Mode::Redact);
    assert_eq!(detection.max_input_length, 1000);
    assert_eq!(detection.names.model, NameModel::Off);
    assert_eq!(detection.names.entity_types, ["PERSON", "ORG"]);
    let settings = &detection.settings;
    assert_eq!(settings.locale, ["de"]);
    assert_eq!(settings.allow, ["@example.org"]);
    assert_eq!(settings.min_confidence, 50);
    assert!(!settings.detect_emails && settings.detect_il_id && settings.detect_crypto);
    assert_eq!(
        settings.custom_patterns,
        [("STAFF".to_owned(), "S-[0-9]+".to_owned())]
    );
    assert!(config.allow_unknown_protocol_version);
    assert_eq!(
        config.warnings.len(),
        2,
        "two keys of another program have no effect"
    );
}

#[test]
fn a_mistyped_key_is_refused_with_the_one_that_was_meant() {
    for (settings, path, meant) in [
        (r#""sanitise": false"#, "sanitise", "sanitize"),
        (r#""tokenScope": "upstream""#, "tokenScope", "token_scope"),
        (
            r#""detection": {"detect_email": true}"#,
            "detection.detect_email",
            "detect_emails",
        ),
        (
            r#""detection": {"localle": "de"}"#,
            "detection.localle",
            "locale",
        ),
        (
            r#""detection": {"denylist": []}"#,
            "detection.denylist",
            "deny",
        ),
        (
            r#""audit": {"dir": "d", "retention": 3}"#,
            "audit.retention",
            "retention_days",
        ),
        (
            r#""detection": {"custom_patterns": [{"name": "A", "patern": "x", "pattern": "x"}]}"#,
            "detection.custom_patterns[0].patern",
            "pattern",
        ),
    ] {
        let problems = with(settings).unwrap_err();
        assert_eq!(problems.len(), 1, "{settings}: {problems:?}");
        assert!(
            problems[0].starts_with(&format!("{path}: unknown key; ")),
            "{problems:?}"
        );
        assert!(problems[0].contains(&format!("{meant:?}")), "{problems:?}");
    }
    let problems = server(r#""command": "x", "arguments": [], "enviroment": {}"#).unwrap_err();
    assert!(problems[0].contains(r#"upstreams.fs.arguments: unknown key; did you mean "args"?"#));
    assert!(problems[1].contains(r#"upstreams.fs.enviroment: unknown key"#));
    assert!(problems[1].contains(r#""env""#));
    let problems = parse(r#"{"upstream": {}}"#).unwrap_err();
    assert_eq!(
        problems,
        [r#"upstream: unknown key; did you mean "upstreams"?"#]
    );
}

#[test]
fn a_wrong_value_is_told_with_its_path() {
    for (settings, path) in [
        (r#""sanitize": "no""#, "sanitize"),
        (r#""sanitize": null"#, "sanitize"),
        (r#""token_scope": "global""#, "token_scope"),
        (r#""fresh_values": true"#, "fresh_values"),
        (r#""log_level": ["info"]"#, "log_level"),
        (r#""log_level": "trace""#, "log_level"),
        (r#""request_timeout": true"#, "request_timeout"),
        (r#""request_timeout": 0"#, "request_timeout"),
        (r#""request_timeout": -1.5"#, "request_timeout"),
        (r#""request_timeout": 1e300"#, "request_timeout"),
        (r#""max_message": 0"#, "max_message"),
        (r#""max_message": "lots""#, "max_message"),
        (r#""max_message": "99999999999 GiB""#, "max_message"),
        (r#""state_dir": """#, "state_dir"),
        (r#""detection": []"#, "detection"),
        (
            r#""detection": {"detect_emails": "no"}"#,
            "detection.detect_emails",
        ),
        (
            r#""detection": {"ner_entity_types": "PERSON"}"#,
            "detection.ner_entity_types",
        ),
        (
            r#""detection": {"ner_entity_types": [1]}"#,
            "detection.ner_entity_types[0]",
        ),
        (r#""detection": {"mode": "erase"}"#, "detection.mode"),
        (
            r#""detection": {"locale": ["de", 3]}"#,
            "detection.locale[1]",
        ),
        (
            r#""detection": {"max_input_length": -1}"#,
            "detection.max_input_length",
        ),
        (
            r#""detection": {"max_input_length": 1.5}"#,
            "detection.max_input_length",
        ),
        (
            r#""detection": {"min_confidence": 101}"#,
            "detection.min_confidence",
        ),
        (
            r#""detection": {"custom_patterns": [["A"]]}"#,
            "detection.custom_patterns[0]",
        ),
        (
            r#""detection": {"custom_patterns": [["A", 3]]}"#,
            "detection.custom_patterns[0][1]",
        ),
        (
            r#""detection": {"custom_patterns": {"A": 3}}"#,
            "detection.custom_patterns.A",
        ),
        (
            r#""detection": {"ner_model": "none", "ner_required": true}"#,
            "detection.ner_required",
        ),
        (r#""audit": {}"#, "audit.dir"),
        (r#""audit": {"dir": "d", "fsync": "always"}"#, "audit.fsync"),
        (r#""upstreams": {}"#, "upstreams"),
    ] {
        let problems = with(settings).unwrap_err();
        assert_eq!(problems.len(), 1, "{settings}: {problems:?}");
        assert!(
            problems[0].starts_with(&format!("{path}: ")),
            "{settings}: {problems:?}"
        );
    }
    for (fields, path) in [
        ("", ".command"),
        (r#""command": "  ""#, ".command"),
        (r#""command": 3"#, ".command"),
        (r#""command": "a", "args": "-v""#, ".args"),
        (r#""command": "a", "args": ["b", 1]"#, ".args[1]"),
        (r#""command": "a", "env": ["A=1"]"#, ".env"),
        (r#""command": "a", "env": {"A": 1}"#, ".env.A"),
        (r#""command": "a", "env": {"A=B": "1"}"#, ".env.A=B"),
        (r#""command": "a", "cwd": 1"#, ".cwd"),
        (
            r#""command": "a", "startup_timeout": 0"#,
            ".startup_timeout",
        ),
        (
            r#""command": "a", "startup_timeout": "30""#,
            ".startup_timeout",
        ),
        (r#""command": "a", "trust": "me""#, ".trust"),
    ] {
        let problems = server(fields).unwrap_err();
        assert_eq!(problems.len(), 1, "{fields}: {problems:?}");
        assert!(
            problems[0].starts_with(&format!("upstreams.fs{path}: ")),
            "{problems:?}"
        );
    }
    assert_eq!(
        parse("[]").unwrap_err(),
        ["expected an object, found a list"]
    );
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let error = Config::parse(
        r#"{"upstreams": {"a_b": {"args": 1}}, "sanitise": 1, "log_level": "loud"}"#,
        "x.json",
        &|_| None,
    )
    .unwrap_err();
    assert_eq!(error.problems.len(), 5, "{error}");
    assert!(
        error.to_string().starts_with("x.json: 5 problems\n  "),
        "{error}"
    );
}

#[test]
fn a_name_leaves_room_for_the_separator() {
    let named = |name: &str| {
        parse(&format!(
            r#"{{"upstreams": {{"{name}": {{"command": "x"}}}}}}"#
        ))
    };
    for good in ["a", "0", "files", "My-Server-2", &"x".repeat(MAX_NAME)] {
        assert!(named(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "a_b",
        "-a",
        "a b",
        "a.b",
        "é",
        "a\\n",
        &"x".repeat(MAX_NAME + 1),
    ] {
        assert_eq!(named(bad).unwrap_err().len(), 1, "{bad}");
    }
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let problems = parse(
        r#"{"upstreams": {"fs": {"command": "a"}, "fs": {"command": "b"}}, "sanitize": true,
            "sanitize": false}"#,
    )
    .unwrap_err();
    assert_eq!(
        problems,
        [
            "upstreams.fs: is written twice; remove one",
            "sanitize: is written twice; remove one"
        ]
    );
}

#[test]
fn a_missing_variable_is_named_with_its_field() {
    let problems = server(
        r#""command": "${NOPE}", "args": ["a", "${NOPE:-}${GONE}"],
           "env": {"K": "${TOKEN}${NOPE}"}, "cwd": "${TOKEN}/${NOPE}""#,
    )
    .unwrap_err();
    for (problem, path) in problems.iter().zip(["command", "args[1]", "env.K", "cwd"]) {
        assert!(problem.starts_with(&format!("upstreams.fs.{path}: the environment variable ")));
    }
    assert_eq!(problems.len(), 4);
    assert!(!problems.concat().contains("s3cret"), "a value was shown");
}

#[test]
fn variables_stand_for_nothing_elsewhere() {
    let config = with(r#""state_dir": "${HOME}/x""#).unwrap();
    assert_eq!(config.state_dir.as_deref(), Some("${HOME}/x".as_ref()));
}

#[test]
fn no_secret_is_in_what_is_printed_for_debugging() {
    let upstream =
        server(r#""command": "x", "args": ["--key=s3cret-arg"], "env": {"KEY": "${TOKEN}"}"#)
            .unwrap();
    let shown = format!("{upstream:?}");
    assert!(shown.contains("fs") && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn the_file_of_a_client_is_taken_as_it_is() {
    let config = parse(
        r#"{
            "globalShortcut": "Ctrl+Space",
            "preferences": {"theme": "dark"},
            "mcpServers": {
                "my_files": {
                    "type": "stdio", "command": "npx", "args": ["-y", "server"],
                    "env": {"KEY": "${env:TOKEN}"}, "autoApprove": ["read"], "timeout": 60
                },
                "off": {"url": "https://example.org/mcp", "disabled": true},
                "guard": {"command": "/usr/bin/cloakllm-gateway", "args": []},
                "Git Hub!": {"command": "gh", "trust": "third-party"}
            },
            "sanitize": true
        }"#,
    )
    .unwrap();
    let names: Vec<_> = config
        .upstreams
        .iter()
        .map(|upstream| &*upstream.name)
        .collect();
    assert_eq!(names, ["my-files", "Git-Hub"]);
    assert_eq!(config.upstreams[0].env[0].1, "s3cret-value");
    assert_eq!(config.upstreams[1].trust, Trust::ThirdParty);
    assert_eq!(config.warnings.len(), 3, "{:?}", config.warnings);

    let config = parse(r#"{"inputs": [], "servers": {"fs": {"command": "x", "dev": {}}}}"#);
    assert_eq!(config.unwrap().upstreams.len(), 1);
}

#[test]
fn what_a_client_cannot_have_meant_is_refused_in_its_file_too() {
    for (fields, told) in [
        (r#""url": "https://example.org/mcp""#, "over HTTP"),
        (r#""type": "sse", "command": "x""#, "over HTTP"),
        (r#""command": "x", "envFile": ".env""#, "envFile"),
        (r#""command": "x", "argz": []"#, "args"),
        (
            r#""command": "x", "args": ["${input:token}"]"#,
            "cannot be filled in",
        ),
    ] {
        let problems = parse(&format!(r#"{{"mcpServers": {{"a": {{{fields}}}}}}}"#)).unwrap_err();
        assert_eq!(problems.len(), 1, "{fields}: {problems:?}");
        assert!(problems[0].contains(told), "{fields}: {problems:?}");
    }
    let problems = parse(r#"{"mcpServers": {}, "sanitise": false}"#).unwrap_err();
    assert_eq!(
        problems,
        [r#"sanitise: unknown key; did you mean "sanitize"?"#]
    );
    let problems =
        parse(r#"{"mcpServers": {"a_b": {"command": "x"}, "a b": {"command": "x"}}}"#).unwrap_err();
    assert!(problems[0].contains("rename one"), "{problems:?}");
}

#[test]
fn a_wrapped_server_keeps_its_names() {
    let config = Config::new().wrap("/usr/bin/npx.cmd".to_owned(), vec!["-y".to_owned()]);
    assert!(!config.prefix);
    assert_eq!(config.upstreams[0].name, "npx");
    assert_eq!(config.upstreams[0].args, ["-y"]);
    assert_eq!(wrapped("__"), "server");
}

#[test]
fn files_are_found_and_lists_are_read_beside_them() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("gateway.json");
    let text = r#"{"upstreams": {"fs": {"command": "x"}},
                   "detection": {"deny": "Sun", "deny_file": "deny.txt"}}"#;
    std::fs::write(&file, format!("\u{feff}{text}")).unwrap();
    let missing = Config::load(&file).unwrap_err().to_string();
    assert!(
        missing.contains("detection.deny_file: deny.txt cannot be read"),
        "{missing}"
    );
    std::fs::write(
        dir.path().join("deny.txt"),
        "# names\nMoon\r\n\n Red Star \n",
    )
    .unwrap();
    let config = Config::load(&file).unwrap();
    assert_eq!(config.detection.settings.deny, ["Sun", "Moon", "Red Star"]);

    std::fs::write(&file, r#"{"sanitize": false}"#).unwrap();
    assert!(
        Config::load(&file)
            .unwrap_err()
            .to_string()
            .contains("no server is configured")
    );
    assert!(!Config::load_settings(&file).unwrap().sanitize);
    std::fs::write(&file, b"{\"a\": \"\xff\"}").unwrap();
    assert!(
        Config::load(&file)
            .unwrap_err()
            .to_string()
            .contains("not UTF-8 (byte 7)")
    );
    std::fs::write(&file, "{,}").unwrap();
    assert!(
        Config::load(&file)
            .unwrap_err()
            .to_string()
            .contains("line 1 column 2")
    );
    let gone = dir.path().join("gone.json");
    assert!(
        Config::load(&gone)
            .unwrap_err()
            .to_string()
            .contains("gone.json: cannot be read")
    );
}
