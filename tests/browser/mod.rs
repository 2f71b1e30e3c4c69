//! Chromium, for tests of the pages that this program writes.

use std::path::Path;
use std::process::Command;

/// How a page is looked at, in JavaScript.
pub(crate) struct Look {
    /// Width and height of the window.
    pub(crate) window: &'static str,
    /// Whether an element counts as drawn, by its rectangle `b`.
    pub(crate) drawn: &'static str,
    /// A list of what is told; in it `count(selector)` is the number of elements that are drawn.
    pub(crate) told: &'static str,
}

/// What is told of a page that is laid out, with commas between; `None`, and a line on standard
/// error, where no Chromium is installed. The pages have no script, so the test brings one.
pub(crate) fn look_at(page: &str, look: &Look, dir: &Path) -> Option<String> {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let found = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let Some(browser) = browsers.iter().find(|name| found(name)) else {
        eprintln!("SKIPPED: no Chromium is installed");
        return None;
    };
    let Look {
        window,
        drawn,
        told,
    } = look;
    let probe = format!(
        "<script>addEventListener('load', () => {{\
         const drawn = e => {{ const b = e.getBoundingClientRect(); return {drawn}; }};\
         const count = what => [...document.querySelectorAll(what)].filter(drawn).length;\
         document.body.dataset.drawn = {told}.join();\
         }});</script>"
    );
    let path = dir.join("looked_at.html");
    std::fs::write(&path, page.replace("</body>", &format!("{probe}</body>"))).unwrap();
    let out = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
        .args(["--dump-dom", "--virtual-time-budget=3000"])
        .arg(format!("--window-size={window}"))
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&out.stdout);
    let said = dom
        .split_once("data-drawn=\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(said, _)| said.to_owned());
    let error = String::from_utf8_lossy(&out.stderr);
    Some(said.unwrap_or_else(|| panic!("the browser says nothing: {error}")))
}
