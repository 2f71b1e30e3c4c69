//! A small MCP server for the files of one folder, on the official SDK.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, object};
use serde::{Deserialize, Serialize};

/// Largest file that is read, in bytes.
const MAX_READ: u64 = 64 << 20;

/// Serves the files of `dir` on standard input and output until the client goes. Each call is
/// written down in the file `record`, if one is given.
pub(super) async fn serve(dir: &Path, record: Option<&Path>) -> anyhow::Result<()> {
    let service = Files::new(dir, record)?
        .serve(rmcp::transport::stdio())
        .await?;
    service.waiting().await?;
    Ok(())
}

/// A call and its answer, as the server saw them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: serde_json::Map<String, serde_json::Value>,
    pub(super) answer: String,
}

/// The server.
#[derive(Debug)]
struct Files {
    /// The folder, without symbolic links in its path.
    root: PathBuf,
    record: Option<Mutex<fs::File>>,
}

impl Files {
    fn new(dir: &Path, record: Option<&Path>) -> anyhow::Result<Self> {
        let root = dir
            .canonicalize()
            .with_context(|| format!("cannot serve {}", dir.display()))?;
        anyhow::ensure!(
            root.is_dir(),
            "cannot serve {}: it is not a folder",
            dir.display()
        );
        let record = record
            .map(fs::File::create)
            .transpose()
            .context("cannot record the calls")?;
        Ok(Self {
            root,
            record: record.map(Mutex::new),
        })
    }

    /// What the tool says, or why it cannot.
    fn call(&self, request: &CallToolRequestParams) -> Result<String, String> {
        let text = |key: &str| {
            let value = request
                .arguments
                .as_ref()
                .and_then(|arguments| arguments.get(key));
            value
                .and_then(serde_json::Value::as_str)
                .ok_or_else(|| format!("{key:?} must be there, and a string"))
        };
        let path = text("path")?;
        let told = |error: io::Error| format!("{path}: {error}");
        match &*request.name {
            "read_text_file" => self.read(path).map_err(told),
            "write_file" => {
                let content = text("content")?;
                self.write(path, content).map_err(told)?;
                Ok(format!("Wrote {} bytes to {path}", content.len()))
            }
            "list_directory" => self.list(path).map_err(told),
            _ => Err("there is no such tool".to_owned()),
        }
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let path = self.existing(path)?;
        if fs::metadata(&path)?.len() > MAX_READ {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "more than 64 MiB",
            ));
        }
        fs::read_to_string(path)
    }

    fn write(&self, path: &str, content: &str) -> io::Result<()> {
        fs::write(self.target(path)?, content)
    }

    fn list(&self, path: &str) -> io::Result<String> {
        let mut entries = fs::read_dir(self.existing(path)?)?
            .map(|entry| {
                let entry = entry?;
                let kind = if entry.file_type()?.is_dir() {
                    "[DIR]"
                } else {
                    "[FILE]"
                };
                Ok(format!("{kind} {}", entry.file_name().to_string_lossy()))
            })
            .collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        Ok(entries.join("\n"))
    }

    /// The place of something that is there, wherever symbolic links lead, if that is inside.
    fn existing(&self, path: &str) -> io::Result<PathBuf> {
        let path = self.root.join(path).canonicalize()?;
        if path.starts_with(&self.root) {
            Ok(path)
        } else {
            Err(outside())
        }
    }

    /// The place for a file, which may not be there yet. What is there must be inside.
    fn target(&self, path: &str) -> io::Result<PathBuf> {
        let joined = self.root.join(path);
        let (Some(folder), Some(Component::Normal(name))) =
            (joined.parent(), joined.components().next_back())
        else {
            return Err(outside());
        };
        let folder = folder.canonicalize()?;
        if !folder.starts_with(&self.root) {
            return Err(outside());
        }
        let place = folder.join(name);
        match place.symlink_metadata() {
            // A link that leads nowhere could be filled in from outside; it is no place to write.
            Ok(found) if found.is_symlink() => self.existing(path),
            _ => Ok(place),
        }
    }
}

fn outside() -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        "is outside of the folder that is served",
    )
}

impl ServerHandler for Files {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(
            Implementation::new("cloakllm-files", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = self.call(&request);
        if let Some(record) = &self.record {
            let call = Call {
                tool: request.name.into_owned(),
                arguments: request.arguments.unwrap_or_default(),
                answer: answer.clone().unwrap_or_else(|error| error),
            };
            let mut file = record.lock().unwrap_or_else(PoisonError::into_inner);
            serde_json::to_string(&call)
                .map_err(io::Error::from)
                .and_then(|line| writeln!(file, "{line}"))
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
        let result = match answer {
            Ok(text) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(&*text)]);
                result.structured_content = Some(serde_json::json!({ "content": text }));
                result
            }
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        };
        Ok(result.into())
    }
}

fn tools() -> Vec<Tool> {
    let path = object!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
    });
    let both = object!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "content": { "type": "string" } },
        "required": ["path", "content"],
    });
    let output = std::sync::Arc::new(object!({
        "type": "object",
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "additionalProperties": false,
    }));
    [
        (
            "read_text_file",
            "Reads a file of text.",
            path.clone(),
            true,
        ),
        (
            "write_file",
            "Writes a file, over what was there.",
            both,
            false,
        ),
        (
            "list_directory",
            "Lists what is in a folder; \".\" is the one that is served.",
            path,
            true,
        ),
    ]
    .into_iter()
    .map(|(name, description, input, reads)| {
        Tool::new(name, description, input)
            .with_raw_output_schema(std::sync::Arc::clone(&output))
            .with_annotations(ToolAnnotations::new().read_only(reads))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served() -> (tempfile::TempDir, Files) {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("inside");
        fs::create_dir_all(inside.join("sub")).unwrap();
        fs::write(inside.join("a.txt"), "a").unwrap();
        fs::write(dir.path().join("secret.txt"), "s").unwrap();
        let files = Files::new(&inside, None).unwrap();
        (dir, files)
    }

    #[test]
    fn reads_writes_and_lists() {
        let (_dir, files) = served();
        files.write("sub/b.txt", "b").unwrap();
        assert_eq!(files.read("sub/../sub/b.txt").unwrap(), "b");
        let absolute = files.root.join("a.txt");
        assert_eq!(files.read(absolute.to_str().unwrap()).unwrap(), "a");
        assert_eq!(files.list(".").unwrap(), "[DIR] sub\n[FILE] a.txt");
        assert!(files.read("none.txt").is_err());
    }

    #[test]
    fn nothing_outside_is_read_or_written() {
        let (dir, files) = served();
        for path in ["../secret.txt", "sub/../../secret.txt", "/etc/passwd"] {
            assert!(files.read(path).is_err(), "{path}");
            assert!(files.write(path, "x").is_err(), "{path}");
        }
        for path in ["..", ".", "sub/..", ""] {
            assert!(files.write(path, "x").is_err(), "{path}");
        }
        assert!(files.write("../new.txt", "x").is_err());
        assert!(!dir.path().join("new.txt").exists());
        assert_eq!(
            fs::read_to_string(dir.path().join("secret.txt")).unwrap(),
            "s"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_outside() {
        use std::os::unix::fs::symlink;

        let (dir, files) = served();
        let inside = &files.root;
        symlink(dir.path().join("secret.txt"), inside.join("to-file")).unwrap();
        symlink(dir.path(), inside.join("to-folder")).unwrap();
        symlink(dir.path().join("nowhere"), inside.join("to-nothing")).unwrap();
        symlink(inside.join("a.txt"), inside.join("to-a")).unwrap();
        for path in [
            "to-file",
            "to-folder/secret.txt",
            "to-folder/new",
            "to-nothing",
        ] {
            assert!(files.read(path).is_err(), "{path}");
            assert!(files.write(path, "x").is_err(), "{path}");
        }
        assert!(!dir.path().join("nowhere").exists() && !dir.path().join("new").exists());
        files.write("to-a", "changed").unwrap();
        assert_eq!(files.read("a.txt").unwrap(), "changed");
    }
}
