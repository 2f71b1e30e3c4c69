//! Two texts beside each other, in 80 columns.

use std::io::{self, Write};

/// Width of a line.
const WIDTH: usize = 80;

/// What parts the two texts.
const RULE: &str = " │ ";

/// Width of one of the texts.
const COLUMN: usize = (WIDTH - 3) / 2;

/// How something is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Title,
    Faint,
    /// A value that is somebody's.
    Value,
    /// What stands for it.
    Token,
}

/// A text in tones: each character with its own.
pub(super) type Toned = Vec<(char, Tone)>;

/// Writes for people, in colours if they can be shown.
#[derive(Debug)]
pub(super) struct View<W> {
    out: W,
    colours: bool,
}

impl<W: Write> View<W> {
    pub(super) fn new(out: W, colours: bool) -> Self {
        Self { out, colours }
    }

    /// A heading.
    pub(super) fn heading(&mut self, text: &str) -> io::Result<()> {
        self.blank()?;
        self.line(&in_tone(text, Tone::Title), WIDTH)
    }

    /// A paragraph, broken where it has to be.
    pub(super) fn paragraph(&mut self, text: &str) -> io::Result<()> {
        for line in broken(&in_tone(text, Tone::Plain), WIDTH) {
            self.line(&line, WIDTH)?;
        }
        Ok(())
    }

    /// A line that is left whole, however long, so that it can be copied.
    pub(super) fn whole(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Two texts, each under its title, line beside line.
    pub(super) fn beside(&mut self, left: (&str, &Toned), right: (&str, &Toned)) -> io::Result<()> {
        self.blank()?;
        self.pair(
            &in_tone(left.0, Tone::Title),
            &in_tone(right.0, Tone::Title),
        )?;
        let bar = in_tone(&"─".repeat(COLUMN), Tone::Faint);
        self.pair(&bar, &bar)?;
        // Lines that belong together start together, however often each is broken.
        let (mut lefts, mut rights) = (lines(left.1), lines(right.1));
        let rows = lefts.len().max(rights.len());
        lefts.resize(rows, &[]);
        rights.resize(rows, &[]);
        for (left, right) in lefts.into_iter().zip(rights) {
            let (left, right) = (broken(left, COLUMN), broken(right, COLUMN));
            for row in 0..left.len().max(right.len()) {
                let of = |lines: &[Toned]| lines.get(row).cloned().unwrap_or_default();
                self.pair(&of(&left), &of(&right))?;
            }
        }
        Ok(())
    }

    fn pair(&mut self, left: &Toned, right: &Toned) -> io::Result<()> {
        let mut line = left.clone();
        line.resize(COLUMN, (' ', Tone::Plain));
        line.extend(in_tone(RULE, Tone::Faint));
        line.extend(right);
        self.line(&line, WIDTH)
    }

    fn line(&mut self, text: &[(char, Tone)], width: usize) -> io::Result<()> {
        let end = text
            .iter()
            .rposition(|(c, _)| *c != ' ')
            .map_or(0, |last| last + 1);
        let mut tone = Tone::Plain;
        let mut line = String::with_capacity(width + 16);
        for &(c, next) in &text[..end] {
            if next != tone && self.colours {
                line.push_str(code(next));
            }
            tone = next;
            line.push(c);
        }
        if tone != Tone::Plain && self.colours {
            line.push_str(code(Tone::Plain));
        }
        writeln!(self.out, "{line}")
    }
}

/// The escape sequence (ECMA-48, SGR) that begins a tone.
fn code(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "\x1b[0m",
        Tone::Title => "\x1b[0;1m",
        Tone::Faint => "\x1b[0;2m",
        Tone::Value => "\x1b[0;31m",
        Tone::Token => "\x1b[0;1;32m",
    }
}

pub(super) fn in_tone(text: &str, tone: Tone) -> Toned {
    text.chars().map(|c| (c, tone)).collect()
}

/// The text with each of the `parts` in it shown in `tone`.
pub(super) fn marked<'a>(
    text: &str,
    parts: impl IntoIterator<Item = &'a str>,
    tone: Tone,
) -> Toned {
    let mut toned = in_tone(text, Tone::Plain);
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        let length = part.chars().count();
        for (at, _) in text.match_indices(part) {
            let first = text[..at].chars().count();
            toned[first..first + length]
                .iter_mut()
                .for_each(|(_, t)| *t = tone);
        }
    }
    toned
}

fn lines(text: &Toned) -> Vec<&[(char, Tone)]> {
    let mut lines: Vec<_> = text.split(|(c, _)| *c == '\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// One line as several of at most `width`, broken behind a space or a comma where there is one.
fn broken(line: &[(char, Tone)], width: usize) -> Vec<Toned> {
    let mut rest = line;
    let mut out = Vec::new();
    while rest.len() > width {
        let fits = &rest[..=width];
        let at = (1..=width)
            .rev()
            .find(|&at| fits[at].0 == ' ' || fits[at - 1].0 == ',')
            .unwrap_or(width);
        out.push(rest[..at].to_vec());
        rest = &rest[at..];
        while let [(' ', _), more @ ..] = rest {
            rest = more;
        }
    }
    out.push(rest.to_vec());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(colours: bool, show: impl Fn(&mut View<&mut Vec<u8>>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        show(&mut View::new(&mut out, colours)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let left = "Ärger mit der Rechnung, ".repeat(8) + "\nshort\n" + &"x".repeat(100);
        let out = shown(false, |view| {
            view.heading("A heading")?;
            view.paragraph(&"A long paragraph of words. ".repeat(9))?;
            view.beside(
                ("LEFT", &in_tone(&left, Tone::Plain)),
                ("RIGHT", &in_tone("one\ntwo", Tone::Token)),
            )
        });
        assert!(
            out.lines().all(|line| line.chars().count() <= WIDTH),
            "{out}"
        );
        assert!(!out.contains('\x1b'));
        assert!(
            out.lines()
                .any(|line| line.starts_with("short ") && line.ends_with("│ two"))
        );
        assert_eq!(out.matches('x').count(), 100, "nothing is cut off");
    }

    #[test]
    fn colours_end_with_their_line() {
        let text = marked("call +46 8 123 now", ["+46 8 123"], Tone::Value);
        let out = shown(true, |view| view.beside(("A", &text), ("B", &text)));
        assert_eq!(
            out.matches("\x1b[0;31m+46 8 123\x1b[0m").count(),
            2,
            "{out:?}"
        );
        assert!(
            out.lines()
                .filter(|line| line.contains('\x1b'))
                .all(|line| line.ends_with("\x1b[0m") || line.ends_with("now"))
        );
    }
}
