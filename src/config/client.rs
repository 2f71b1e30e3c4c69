//! The servers: from our own file, or from that of a client.
//!
//! Claude Desktop, Claude Code and Cursor keep theirs under `mcpServers`, VS Code under `servers`.
//! Such a file has keys of the client's own, which are left to it.

use std::path::Path;

use serde_json::Value;

use super::Config;
use super::expand::Lookup;
use super::parse::Fields;
use super::upstream::{MAX_NAME, Upstream, as_name, is_name};

/// The values of `type` that stand for a server which is started and talked to over pipes.
const PIPES: &[&str] = &["stdio", "local"];

/// Reads a whole file whose fields are `fields`.
pub(super) fn read(fields: &mut Fields<'_>, config: &mut Config, lookup: &Lookup<'_>) {
    config.read_settings(fields);
    if let Some(servers) = fields.object("upstreams") {
        read_ours(&servers, config, lookup);
    }
}

/// The key under which a client keeps its servers, if `fields` are those of its file.
pub(super) fn key_of(fields: &Fields<'_>) -> Option<&'static str> {
    (!fields.has("upstreams"))
        .then(|| {
            ["mcpServers", "servers"]
                .into_iter()
                .find(|key| fields.has(key))
        })
        .flatten()
}

/// Reads the file of a client, which keeps its servers under `key`.
pub(super) fn read_clients(
    mut fields: Fields<'_>,
    key: &'static str,
    config: &mut Config,
    lookup: &Lookup<'_>,
) {
    config.read_settings(&mut fields);
    if let Some(servers) = fields.object(key) {
        for (name, value) in servers.entries() {
            read_clients_server(&servers, name, value, config, lookup);
        }
    }
    fields.finish_foreign();
}

fn read_ours(servers: &Fields<'_>, config: &mut Config, lookup: &Lookup<'_>) {
    for (name, value) in servers.entries() {
        let path = servers.path_of(name);
        if !is_name(name) {
            servers.problems.add(
                &path,
                format!(
                    "cannot be the name of a server; write a letter or digit, then letters, digits \
                     and hyphens, at most {MAX_NAME} (no underscore: it parts server and tool)"
                ),
            );
        }
        let Some(mut fields) = Fields::of(value, &path, servers.problems) else {
            continue;
        };
        let upstream = Upstream::read(name, &mut fields, config, lookup);
        fields.finish();
        config.upstreams.extend(upstream);
    }
}

fn read_clients_server(
    servers: &Fields<'_>,
    name: &str,
    value: &Value,
    config: &mut Config,
    lookup: &Lookup<'_>,
) {
    let path = servers.path_of(name);
    let Some(mut fields) = Fields::of(value, &path, servers.problems) else {
        return;
    };
    if is_off(&mut fields) {
        return;
    }
    let kind = fields.take::<String>("type");
    let url = ["url", "serverUrl", "httpUrl"]
        .into_iter()
        .any(|key| fields.raw(key).is_some());
    if url || kind.as_deref().is_some_and(|kind| !PIPES.contains(&kind)) {
        servers.problems.add(
            path,
            "is reached over HTTP, and only servers that are started by a command (stdio) can be \
             wrapped; take it out, or set \"disabled\": true",
        );
        return;
    }
    if fields.raw("envFile").is_some() {
        servers.problems.add(
            fields.path_of("envFile"),
            "files of variables are not read; write the variables into \"env\"",
        );
    }
    let Some(short) = as_name(name) else {
        servers
            .problems
            .add(path, "has no letter or digit that a name could be made of");
        return;
    };
    let upstream = Upstream::read(&short, &mut fields, config, lookup);
    fields.finish_foreign();
    let Some(upstream) = upstream else {
        return;
    };
    if is_gateway(&upstream.command) {
        config
            .warnings
            .push(format!("{path} is this gateway itself and is left out"));
    } else if config.upstreams.iter().any(|known| known.name == short) {
        servers.problems.add(
            path,
            format!("becomes {short:?}, as another does; rename one of them"),
        );
    } else {
        if short != name {
            config.warnings.push(format!(
                "{path} is called {short:?} in the names of its tools"
            ));
        }
        config.upstreams.push(upstream);
    }
}

/// Whether the client itself does not start this server.
fn is_off(fields: &mut Fields<'_>) -> bool {
    let disabled = fields.take("disabled").unwrap_or(false);
    let enabled = fields.take("enabled").unwrap_or(true);
    disabled || !enabled
}

/// Whether a client starts the gateway with this command: wrapped in itself it would never stop.
fn is_gateway(command: &str) -> bool {
    Path::new(command)
        .file_stem()
        .is_some_and(|stem| stem == env!("CARGO_PKG_NAME"))
}
