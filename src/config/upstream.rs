//! One server: how it is started and what it is trusted with.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::expand::{Lookup, expand};
use super::parse::{Fields, Problems, Read};
use super::values::Filled;
use super::{Config, FreshValues, STARTUP_TIMEOUT, Scope, Trust};

/// Longest name of a server. With the separator it leaves 94 of the 128 characters that MCP
/// recommends for the name of a tool.
pub const MAX_NAME: usize = 32;

/// A server that the gateway starts and talks to over its standard input and output.
#[derive(Clone)]
pub struct Upstream {
    /// Its name, which stands before `__` in the names of its tools and prompts.
    pub name: String,
    /// The program: a path, or a name that is looked for on `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables laid over the environment of the gateway.
    pub env: Vec<(String, String)>,
    /// The folder it is started in; `None` is the gateway's.
    pub cwd: Option<PathBuf>,
    /// How long it may take to answer `initialize`.
    pub startup_timeout: Duration,
    /// How long a call may stay silent before it is given up. `None` is for ever.
    pub request_timeout: Option<Duration>,
    /// Whether it may be given values that other servers returned.
    pub token_scope: Scope,
    /// What happens to personal values that the model wrote itself, if it is a third party.
    pub fresh_values: FreshValues,
    /// Who is behind it.
    pub trust: Trust,
}

impl Upstream {
    /// A server of this name and program, everything else as when nothing is said.
    #[must_use]
    pub fn new(name: String, command: String) -> Self {
        Self {
            name,
            command,
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            startup_timeout: STARTUP_TIMEOUT,
            request_timeout: None,
            token_scope: Scope::Session,
            fresh_values: FreshValues::Report,
            trust: Trust::default(),
        }
    }

    /// Reads a server, where `settings` are those that hold for all. The keys that are left over
    /// are for the caller.
    pub(super) fn read(
        name: &str,
        fields: &mut Fields<'_>,
        settings: &Config,
        lookup: &Lookup<'_>,
    ) -> Option<Self> {
        let command = fields.require::<Filled>("command").and_then(|command| {
            filled_in(
                &command.0,
                &fields.path_of("command"),
                fields.problems,
                lookup,
            )
        });
        let mut upstream = Self::new(name.to_owned(), String::new());
        upstream.token_scope = settings.token_scope;
        upstream.fresh_values = settings.fresh_values;
        upstream.request_timeout = settings.request_timeout;
        if let Some(args) = fields.take::<Vec<String>>("args") {
            let path = fields.path_of("args");
            let fill = |(index, arg): (usize, &String)| {
                filled_in(arg, &format!("{path}[{index}]"), fields.problems, lookup)
            };
            upstream.args = args.iter().enumerate().filter_map(fill).collect();
        }
        if let Some(env) = fields.take::<Environment>("env") {
            let path = fields.path_of("env");
            let fill = |(name, value): (String, String)| {
                let value = filled_in(&value, &format!("{path}.{name}"), fields.problems, lookup)?;
                Some((name, value))
            };
            upstream.env = env.0.into_iter().filter_map(fill).collect();
        }
        if let Some(cwd) = fields.optional::<Filled>("cwd") {
            let path = fields.path_of("cwd");
            upstream.cwd = filled_in(&cwd.0, &path, fields.problems, lookup).map(PathBuf::from);
        }
        fields.set("startup_timeout", &mut upstream.startup_timeout);
        if let Some(timeout) = fields.take("request_timeout") {
            upstream.request_timeout = Some(timeout);
        }
        fields.set("token_scope", &mut upstream.token_scope);
        fields.set("fresh_values", &mut upstream.fresh_values);
        fields.set("trust", &mut upstream.trust);
        upstream.command = command?;
        Some(upstream)
    }
}

/// Arguments, variables and the folder may be secret, so they are only counted.
impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("name", &self.name)
            .field("args", &self.args.len())
            .field("env", &self.env.len())
            .field("startup_timeout", &self.startup_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("token_scope", &self.token_scope)
            .field("fresh_values", &self.fresh_values)
            .field("trust", &self.trust)
            .finish_non_exhaustive()
    }
}

fn filled_in(text: &str, path: &str, problems: &Problems, lookup: &Lookup<'_>) -> Option<String> {
    expand(text, lookup)
        .map_err(|what| problems.add(path, what))
        .ok()
}

/// Whether `name` may be that of a server: it is split from the name of a tool at the first `__`,
/// so no underscore may be in it.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// What `name` becomes when it has to be that of a server; `None` if nothing is left of it.
pub(super) fn as_name(name: &str) -> Option<String> {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(MAX_NAME);
    out.truncate(out.trim_end_matches('-').len());
    (!out.is_empty()).then_some(out)
}

/// The name of a server that is known only by its command.
#[must_use]
pub fn wrapped(command: &str) -> String {
    let file = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    as_name(stem).unwrap_or_else(|| "server".to_owned())
}

/// Variables of the environment, as an object of strings.
struct Environment(Vec<(String, String)>);

impl Read for Environment {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        let fields = Fields::of(value, path, problems)?;
        let mut variables = Vec::new();
        for (name, value) in fields.entries() {
            let path = fields.path_of(name);
            if name.is_empty() || name.contains(['=', '\0']) {
                problems.add(
                    path,
                    "cannot be the name of a variable; it is empty or has a = in it",
                );
                continue;
            }
            let value = String::read(value, &path, problems);
            variables.extend(value.map(|value| (name.clone(), value)));
        }
        Some(Self(variables))
    }
}
