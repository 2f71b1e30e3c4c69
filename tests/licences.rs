//! Nothing comes in under a licence that `deny.toml` does not allow.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The licences of the list `allow` in `deny.toml`, which has one on each line.
fn allowed() -> BTreeSet<String> {
    let text = include_str!("../deny.toml");
    let list = text.split_once("allow = [").unwrap().1;
    let list = list.split_once(']').unwrap().0;
    list.lines()
        .map(|line| line.trim().trim_end_matches(',').trim_matches('"'))
        .filter(|licence| !licence.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The crates of the exceptions in `deny.toml`, each with its licence.
fn exceptions() -> Vec<(&'static str, &'static str)> {
    let quoted = |text: &'static str| text.split('"').nth(1).unwrap();
    include_str!("../deny.toml")
        .split("[[licenses.exceptions]]")
        .skip(1)
        .map(|entry| {
            let (name, allow) = entry.split_once("allow").unwrap();
            (quoted(name), quoted(allow))
        })
        .collect()
}

/// Whether an SPDX expression can be met. Parentheses bind, AND binds more than OR (SPDX 2.3,
/// annex D).
fn may_be_used(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.trim();
    let top = |word: &str| -> Vec<String> {
        let (mut parts, mut part, mut depth) = (Vec::new(), Vec::new(), 0_i32);
        for token in expression.split_whitespace() {
            if depth == 0 && token == word {
                parts.push(part.join(" "));
                part.clear();
                continue;
            }
            depth += i32::try_from(token.matches('(').count()).unwrap();
            depth -= i32::try_from(token.matches(')').count()).unwrap();
            part.push(token);
        }
        parts.push(part.join(" "));
        parts
    };
    // Older packages write a slash for OR.
    let choices: Vec<String> = top("OR")
        .iter()
        .flat_map(|choice| choice.split('/').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    if choices.len() > 1 {
        return choices.iter().any(|choice| may_be_used(choice, allowed));
    }
    let all = top("AND");
    if all.len() > 1 {
        return all.iter().all(|part| may_be_used(part, allowed));
    }
    match expression
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        Some(inner) => may_be_used(inner, allowed),
        None => allowed.contains(expression),
    }
}

#[test]
fn expressions_are_read() {
    let allowed = ["MIT", "ISC", "A WITH e"].map(str::to_owned).into();
    for (expression, may) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND ISC", true),
        ("MIT AND GPL-3.0", false),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("(GPL-3.0 OR MIT) AND GPL-3.0", false),
        ("A WITH e", true),
        ("A", false),
        ("", false),
    ] {
        assert_eq!(may_be_used(expression, &allowed), may, "{expression}");
    }
}

#[test]
fn every_dependency_may_be_used() {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let metadata: Value = serde_json::from_slice(&out.stdout).unwrap();
    let allowed = allowed();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50 && allowed.len() > 5);
    let exceptions = exceptions();
    let excepted = |one: &Value| {
        let (name, licence) = (one["name"].as_str(), one["license"].as_str());
        exceptions.contains(&(name.unwrap_or_default(), licence.unwrap_or_default()))
    };
    let refused: Vec<String> = packages
        .iter()
        .filter(|one| !may_be_used(one["license"].as_str().unwrap_or_default(), &allowed))
        .filter(|one| !excepted(one))
        .map(|one| format!("{} {}: {}", one["name"], one["version"], one["license"]))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
