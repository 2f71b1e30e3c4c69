//! What the README says about the configuration, held against the program.

use std::collections::BTreeSet;

use cloakllm_gateway::config::Config;

const README: &str = include_str!("../README.md");

/// Reads a configuration in an environment that has every variable.
fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, "text", &|_| Some("value".to_owned())).map_err(|error| error.to_string())
}

/// What stands between fences of this language.
fn fenced(language: &str) -> Vec<&'static str> {
    let open = format!("```{language}\n");
    let blocks = README.split(open.as_str()).skip(1);
    blocks
        .map(|rest| rest.split("\n```").next().unwrap())
        .collect()
}

/// The keys in the first column of the table below `heading`.
fn keys_below(heading: &str) -> BTreeSet<String> {
    let table = README.split(heading).nth(1).unwrap();
    let rows = table.lines().skip_while(|line| !line.starts_with("| `"));
    rows.take_while(|line| line.starts_with("| `"))
        .flat_map(|row| row.split('|').nth(1).unwrap().split(','))
        .map(|key| key.trim().trim_matches('`').to_owned())
        .collect()
}

/// The keys that the program knows there, from what it says about one that it does not.
fn known_keys(config: &str) -> BTreeSet<String> {
    let told = parse(config).unwrap_err();
    let list = told
        .split("all of them are ")
        .nth(1)
        .unwrap_or_else(|| panic!("{told}"));
    list.lines()
        .next()
        .unwrap()
        .split(", ")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_configuration_in_the_readme_can_be_used() {
    let examples = fenced("json");
    assert!(
        examples.len() >= 4,
        "the README shows a file and three clients"
    );
    for example in examples {
        parse(example).unwrap_or_else(|error| panic!("{error}\n{example}"));
    }
}

#[test]
fn the_example_file_can_be_used() {
    let config = parse(include_str!("../cloakllm-gateway.example.json")).unwrap();
    assert_eq!(config.upstreams.len(), 2);
    assert!(config.warnings.is_empty());
    config.detection.detectors().unwrap();
}

#[test]
fn the_reference_names_every_key_and_no_other() {
    for (heading, config) in [
        ("\n## Configuration\n", r#"{"QQ": 1}"#),
        (
            "\n`upstreams.NAME`:\n",
            r#"{"upstreams": {"a": {"command": "a", "QQ": 1}}}"#,
        ),
        ("\n`detection`:\n", r#"{"detection": {"QQ": 1}}"#),
        ("\n`audit`:\n", r#"{"audit": {"dir": "a", "QQ": 1}}"#),
    ] {
        assert_eq!(keys_below(heading), known_keys(config), "{heading}");
    }
}
