//! `${VAR}` and `${VAR:-default}` in what starts a server.

/// Looks a variable of the environment up.
pub(super) type Lookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// `text` with its variables replaced, in one pass: what a variable holds is not looked at again.
///
/// `${env:VAR}` is the same as `${VAR}` and `${userHome}` the same as `${HOME}`, as clients write
/// them; `$${` stands for a literal `${`. As in a shell, a default also stands in for a variable
/// that is set but empty.
///
/// # Errors
///
/// What is wrong, as a clause that follows the name of the field. It names the variable and never
/// a value.
pub(super) fn expand(text: &str, lookup: &Lookup<'_>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, reference) = rest.split_at(at);
        let after = &reference[2..];
        if let Some(before) = before.strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = after;
            continue;
        }
        out.push_str(before);
        let end = after
            .find('}')
            .ok_or("a ${ has no closing }; write $${ for a literal ${")?;
        out.push_str(&value(&after[..end], lookup)?);
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// What stands for the reference between the braces.
fn value(reference: &str, lookup: &Lookup<'_>) -> Result<String, String> {
    let (name, default) = match reference.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (reference, None),
    };
    let name = match name.strip_prefix("env:").unwrap_or(name) {
        "userHome" => "HOME",
        name => name,
    };
    if !is_name(name) {
        return Err(format!(
            "${{{name}}} cannot be filled in here; only variables of the environment can: \
             ${{VAR}} or ${{VAR:-default}}"
        ));
    }
    match (lookup(name), default) {
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(format!(
            "the environment variable {name} is not set; set it, or write ${{{name}:-default}}"
        )),
    }
}

/// A name of POSIX, "Environment Variable Definition": letters, digits and underscores, no digit
/// first.
fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<String, String> {
        expand(text, &|name| match name {
            "HOME" => Some("/home/ana".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${HOME}".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn variables_and_defaults() {
        for (text, expected) in [
            ("", ""),
            ("plain $HOME $ }{", "plain $HOME $ }{"),
            ("${HOME}/data", "/home/ana/data"),
            ("${env:HOME}:${userHome}", "/home/ana:/home/ana"),
            ("${EMPTY}", ""),
            ("${EMPTY:-x}${NONE:-y}${HOME:-z}", "xy/home/ana"),
            ("${NONE:-}", ""),
            ("${NONE:-a:-b}", "a:-b"),
            ("${NESTED}", "${HOME}"),
            ("$${HOME} costs $$", "${HOME} costs $$"),
            ("é${HOME}é", "é/home/anaé"),
        ] {
            assert_eq!(check(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(check("${NONE}").unwrap_err().contains("NONE is not set"));
        assert!(check("a${HOME").unwrap_err().contains("no closing }"));
        for bad in [
            "${}",
            "${1A}",
            "${a b}",
            "${input:token}",
            "${workspaceFolder/x}",
        ] {
            assert!(
                check(bad).unwrap_err().contains("cannot be filled in"),
                "{bad}"
            );
        }
    }
}
