//! `server__tool`: one name space for the tools and prompts of several servers.

use cloak_stages::Message;
use cloak_stages::json::{self, Shape, Span};

/// Stands between a server's name and its tool's. Server names hold no underscore, so the first
/// one splits.
pub(crate) const SEPARATOR: &str = "__";

/// Most characters in a name that all model providers accept.
pub(super) const LONG: usize = 64;

/// `fs__read` as `fs` and `read`.
pub(super) fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(SEPARATOR)
}

/// The raw bytes of `item`, an object, with the server's name put before its `name`, and how many
/// characters that has now. None when it has no name that is a string.
pub(super) fn prefixed(item: &[u8], server: &str) -> Option<(Vec<u8>, usize)> {
    let at = json::member(item, 0, "name")?;
    if json::shape(item, at.start as usize) != Shape::String {
        return None;
    }
    let length = json::decode(at.unquoted().of(item)).chars().count();
    let open = at.start as usize + 1;
    let parts = [
        &item[..open],
        server.as_bytes(),
        SEPARATOR.as_bytes(),
        &item[open..],
    ];
    Some((parts.concat(), server.len() + SEPARATOR.len() + length))
}

/// Takes the server's name out of the name at `at`, so that the server finds its own there.
pub(super) fn strip(msg: &mut Message, at: Span, server: &str, bare: &str) {
    let raw = at.unquoted().of(msg.raw());
    let spelt = raw.starts_with(server.as_bytes()) && raw[server.len()..].starts_with(b"__");
    if spelt {
        let start = at.start as usize + 1;
        msg.edit(
            Span::new(start, start + server.len() + SEPARATOR.len()),
            b"",
        );
    } else {
        msg.edit(at, json::quote(bare).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use cloak_stages::Peer;

    use super::*;

    #[test]
    fn the_first_separator_splits() {
        assert_eq!(split("fs__a__b"), Some(("fs", "a__b")));
        assert_eq!(split("fs_a"), None);
        assert_eq!(split("fs___x"), Some(("fs", "_x")));
    }

    #[test]
    fn only_the_name_changes() {
        let item = br#"{ "x":1.0, "name" : "r\u0065ad","inputSchema":{"name":"name"} }"#;
        let (with, length) = prefixed(item, "fs").unwrap();
        let wanted = r#"{ "x":1.0, "name" : "fs__r\u0065ad","inputSchema":{"name":"name"} }"#;
        assert_eq!(
            (String::from_utf8(with).unwrap().as_str(), length),
            (wanted, 8)
        );
        assert_eq!(prefixed(br#"{"name":7}"#, "fs"), None);
        assert_eq!(prefixed(b"[]", "fs"), None);
    }

    #[test]
    fn names_are_stripped_however_they_are_spelt() {
        for (spelt, wanted) in [(r"fs__a\u0062", r"a\u0062"), (r"\u0066s__ab", "ab")] {
            let text = format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"{spelt}"}}}}"#);
            let mut msg = Message::own(text.clone(), Peer::Client, Peer::Gateway);
            let at = msg.field(&["name"]).unwrap();
            strip(&mut msg, at, "fs", "ab");
            assert_eq!(msg.into_bytes().unwrap(), text.replace(spelt, wanted));
        }
    }
}
