//! Which server a resource is to be asked of. URIs are never rewritten for that.

use std::collections::HashMap;

/// Most resources that are remembered. Beyond it, servers are asked in turn.
const MAX_RESOURCES: usize = 1_000_000;

/// What the servers have told of their resources, in the form the client has seen.
#[derive(Debug, Default)]
pub(super) struct Resources {
    owners: HashMap<String, u16>,
    templates: Vec<(String, u16)>,
}

impl Resources {
    /// The server `lane` has listed these. What it listed earlier is forgotten; what a server
    /// before it lists too stays with that one. Returns how many were another's already.
    pub(super) fn listed(&mut self, lane: u16, uris: Vec<String>) -> usize {
        self.owners.retain(|_, owner| *owner != lane);
        let mut taken = 0;
        for uri in uris {
            if let Some(owner) = self.owners.get_mut(&uri) {
                taken += usize::from(*owner != lane);
                *owner = lane.min(*owner);
            } else {
                self.found(uri, lane);
            }
        }
        taken
    }

    /// The server `lane` has listed these templates, and no others.
    pub(super) fn listed_templates(&mut self, lane: u16, templates: Vec<String>) {
        self.templates.retain(|(_, owner)| *owner != lane);
        self.templates
            .extend(templates.into_iter().map(|template| (template, lane)));
        self.templates.sort_by_key(|(_, owner)| *owner);
    }

    /// This URI was read from `lane`.
    pub(super) fn found(&mut self, uri: String, lane: u16) {
        if self.owners.len() < MAX_RESOURCES {
            self.owners.insert(uri, lane);
        }
    }

    /// The owner of `uri`, as far as it is known: who listed it, or a template that it fits.
    pub(super) fn owner(&self, uri: &str) -> Option<u16> {
        let fits = |(template, _): &&(String, u16)| template == uri || fits(template, uri);
        self.owners
            .get(uri)
            .copied()
            .or_else(|| self.templates.iter().find(fits).map(|(_, owner)| *owner))
    }
}

/// Whether `uri` may be an expansion of `template`.
///
/// Expressions (RFC 6570 section 2.2) stand for any text: this only tells which server to ask, and
/// that server knows its own templates.
fn fits(template: &str, uri: &str) -> bool {
    let mut literals = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}') else {
            break;
        };
        literals.push(&rest[..open]);
        rest = &rest[open + close + 1..];
    }
    let Some((first, middle)) = literals.split_first() else {
        return template == uri;
    };
    let Some(mut left) = uri.strip_prefix(first) else {
        return false;
    };
    for literal in middle {
        let Some(at) = left.find(literal) else {
            return false;
        };
        left = &left[at + literal.len()..];
    }
    left.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_fit_their_expansions() {
        for (template, uri, fit) in [
            ("db://{table}/rows", "db://people/rows", true),
            ("db://{table}/rows", "db://people/row", false),
            ("db://{table}/rows/{id}", "db://people/rows/7", true),
            ("file:///{+path}", "file:///a/b", true),
            ("a{x}b{y}c", "abc", true),
            ("a{x}b{y}c", "acb", false),
            ("plain", "plain", true),
            ("open{", "open", false),
        ] {
            assert_eq!(fits(template, uri), fit, "{template} {uri}");
        }
    }

    #[test]
    fn the_first_server_owns_what_two_list() {
        let mut all = Resources::default();
        all.listed(1, vec!["a:1".into(), "a:2".into()]);
        assert_eq!(all.listed(0, vec!["a:2".into()]), 1);
        assert_eq!((all.owner("a:1"), all.owner("a:2")), (Some(1), Some(0)));
        assert_eq!(all.listed(2, vec!["a:2".into()]), 1);
        assert_eq!(all.owner("a:2"), Some(0));
        all.listed(1, vec![]);
        assert_eq!(all.owner("a:1"), None);
        all.listed_templates(3, vec!["t://{x}".into()]);
        all.listed_templates(2, vec!["t://{y}".into()]);
        assert_eq!(all.owner("t://1"), Some(2));
        all.found("t://1".into(), 3);
        assert_eq!(all.owner("t://1"), Some(3));
    }
}
