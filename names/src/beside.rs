//! A transformer and the built-in model beside it.
//!
//! The built-in model's gate tells which windows can have names at all, and it knows tables and
//! records better.

use crate::Name;
use crate::cnn::Cnn;
use crate::known::Window;
use crate::reader::{Ask, Reader};
use crate::transformer::Tagger;

/// The score from which a person that only the built-in model finds counts.
const SURE: f32 = 0.9;

/// One call's work on one text.
pub(crate) struct Beside<'a> {
    tagger: &'a Tagger,
    text: &'a str,
    cnn: Reader<'a>,
}

impl<'a> Beside<'a> {
    pub(crate) fn new(tagger: &'a Tagger, beside: &'a Cnn, text: &'a str) -> Self {
        let cnn = Reader::new(beside, text);
        Self { tagger, text, cnn }
    }

    /// Calls `found` with the index of a window and each name in it, in order.
    pub(crate) fn read(
        &mut self,
        windows: &[Window<'_>],
        ask: Ask,
        mut found: impl FnMut(usize, Name),
    ) {
        let mut names = vec![Vec::new(); windows.len()];
        let mut candidates: Vec<_> = (0..windows.len()).collect();
        if ask != Ask::Entities {
            let add = |index: usize, name: Name| names[index].push(name);
            self.cnn.read(windows, Ask::People, add);
            if ask == Ask::People {
                candidates.retain(|index| self.cnn.passed()[*index]);
            }
        }
        let ranges = candidates.iter().map(|at| windows[*at].range.clone());
        let mut tagged = vec![Vec::new(); windows.len()];
        self.tagger
            .read(self.text, &ranges.collect::<Vec<_>>(), |index, name| {
                tagged[candidates[index]].push(name);
            });
        for (index, (sure, mut names)) in names.into_iter().zip(tagged).enumerate() {
            let apart = |name: &Name| {
                let meets = |other: &Name| name.start < other.end && other.start < name.end;
                name.score >= SURE && !names.iter().any(meets)
            };
            let mut sure: Vec<Name> = sure;
            sure.retain(apart);
            names.extend(sure);
            names.sort_by_key(|name| name.start);
            names.into_iter().for_each(|name| found(index, name));
        }
    }
}
