//! What another process has cost, as the operating system counts it.

use std::time::Duration;

/// Reads what one process has used. Only Linux lets us look at a process that still runs; what is
/// not known is `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    pid: u32,
}

impl Meter {
    pub(super) fn new(pid: u32) -> Self {
        Self { pid }
    }

    /// Processor time of all its threads, without its children.
    pub(super) fn cpu(self) -> Option<Duration> {
        #[cfg(target_os = "linux")]
        {
            use nix::unistd::Pid;
            let pid = Pid::from_raw(i32::try_from(self.pid).ok()?);
            let clock = nix::time::clock_getcpuclockid(pid).ok()?;
            Some(clock.now().ok()?.into())
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Bytes of memory it holds.
    pub(super) fn memory(self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// The most bytes of memory it held, since it started or since [`Meter::forget_peak`].
    pub(super) fn peak(self) -> Option<u64> {
        self.status("VmHWM:")
    }

    /// Lets the peak start again from what is held now.
    pub(super) fn forget_peak(self) {
        // Where that is not allowed the peak stays that of the whole life.
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.pid), "5");
    }

    /// How many files, pipes and sockets it has open.
    pub(super) fn files(self) -> Option<u64> {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.pid)).ok()?;
        Some(open.count() as u64)
    }

    fn status(self, key: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn sees_what_this_process_uses() {
        let meter = Meter::new(std::process::id());
        let before = meter.cpu().unwrap();
        let held: Vec<u8> = (0..32 << 20).map(|n: usize| n as u8).collect();
        assert!(meter.cpu().unwrap() > before);
        assert!(meter.peak().unwrap() >= held.len() as u64);
        assert!(meter.memory().unwrap() >= held.len() as u64);
        assert!(meter.files().unwrap() >= 3);
    }
}
