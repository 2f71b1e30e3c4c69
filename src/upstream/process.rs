//! One child process, from its start to the end of everything it started.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::process::{ChildStdin, Command};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::output::Output;
use super::stderr::{self, Clean, Ring};
use crate::config::Upstream;
use crate::os::{Group, in_group_of_its_own, widen};

/// How long a server may take to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(2);

/// How long it may take to end after it was asked to.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// How many lines of a server's standard error are shown when it ends badly.
const LAST_WORDS: usize = 10;

/// A running server.
///
/// Dropping it kills the server and all that it started; [`Process::stop`] is the polite way.
pub struct Process {
    name: Arc<str>,
    /// How it ended, once it has.
    ended: watch::Receiver<Option<ExitStatus>>,
    group: Group,
    stderr: Ring,
}

impl Process {
    /// Starts the server.
    pub(super) fn start(
        spec: &Upstream,
        name: &Arc<str>,
        clean: Clean,
    ) -> io::Result<(Self, ChildStdin, Output)> {
        let mut command = Command::new(&spec.command);
        command
            .args(&spec.args)
            .envs(spec.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(cwd) = &spec.cwd {
            command.current_dir(cwd);
        }
        in_group_of_its_own(&mut command);
        let mut child = command.spawn()?;
        let group = Group::of(&child);
        let gone = || io::Error::other("the child has no pipes");
        let stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        widen(&stdin);
        widen(&stdout);
        let ring = Ring::default();
        if let Some(from) = child.stderr.take() {
            tokio::spawn(stderr::drain(Arc::clone(name), from, ring.clone(), clean));
        }
        tracing::info!(upstream = &**name, pid = child.id(), "started");
        let (tell, ended) = watch::channel(None);
        tokio::spawn(async move {
            if let Ok(status) = child.wait().await {
                tell.send_replace(Some(status));
            }
        });
        let mut told = ended.clone();
        let end = async move { drop(told.wait_for(Option::is_some).await) };
        Ok((
            Self {
                name: Arc::clone(name),
                ended,
                group,
                stderr: ring,
            },
            stdin,
            Output::new(stdout, end.boxed()),
        ))
    }

    /// Waits for the server to end after its input was closed; asks it to; kills it. Whatever it
    /// started ends too. Takes three seconds at most, and returns how it ended if that is known.
    pub async fn stop(mut self) -> Option<ExitStatus> {
        if timeout(GRACE, self.end()).await.is_err() {
            tracing::warn!(upstream = &*self.name, "does not end by itself");
            self.group.terminate();
            // One that does not end now is killed.
            let _ = timeout(LAST_GRACE, self.end()).await;
        }
        // Grandchildren may be left, even when the server ended by itself.
        if self.group.is_alive() {
            self.group.terminate();
            sleep(Duration::from_millis(100)).await;
        }
        self.group.kill();
        let status = self.end().await;
        self.report(status);
        status
    }

    /// Waits until the server has ended. None when nobody can tell.
    async fn end(&mut self) -> Option<ExitStatus> {
        *self.ended.wait_for(Option::is_some).await.ok()?
    }

    fn report(&self, status: Option<ExitStatus>) {
        let upstream = &*self.name;
        match status {
            Some(status) if !status.success() => {
                tracing::warn!(upstream, %status, "ended");
                for line in self.stderr.last(LAST_WORDS) {
                    tracing::warn!(upstream, line, "its last words");
                }
            }
            Some(status) => tracing::info!(upstream, %status, "ended"),
            None => tracing::warn!(upstream, "ended, nobody knows how"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Once it has ended, its number may belong to somebody else.
        if self.ended.borrow().is_none() {
            self.group.kill();
        }
    }
}
