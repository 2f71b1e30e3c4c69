//! One answer where findings overlap.

use super::Finding;

/// Sorts the findings and keeps, of those that overlap, the one of the lowest rank, then the
/// longest, then the first; then the best of what still fits beside it, and so on.
///
/// Findings that touch no other stay as they are; only a group that hangs together is sorted
/// again by preference, so the whole takes n log n.
pub(super) fn resolve(findings: &mut Vec<Finding>, rank: impl Fn(&Finding) -> u8) {
    if findings.windows(2).all(|pair| pair[0].end <= pair[1].start) {
        return;
    }
    // They come as a few sorted sequences, which a stable sort merges.
    findings.sort_by_key(|finding| (finding.start, finding.end));
    let mut kept = 0;
    let mut group = 0;
    while group < findings.len() {
        let mut end = findings[group].end;
        let mut next = group + 1;
        while next < findings.len() && findings[next].start < end {
            end = end.max(findings[next].end);
            next += 1;
        }
        let winners = settle(&mut findings[group..next], &rank);
        findings.copy_within(group..group + winners, kept);
        kept += winners;
        group = next;
    }
    findings.truncate(kept);
}

/// Moves the winners of a group to its front, in reading order, and tells how many they are.
fn settle(group: &mut [Finding], rank: impl Fn(&Finding) -> u8) -> usize {
    if group.len() == 1 {
        return 1;
    }
    group.sort_unstable_by_key(|finding| {
        (
            rank(finding),
            usize::MAX - (finding.end - finding.start),
            finding.start,
            u8::MAX - finding.confidence,
            finding.category,
            finding.rule,
        )
    });
    let mut taken = std::collections::BTreeMap::new();
    let mut winners = 0;
    for i in 0..group.len() {
        let Finding { start, end, .. } = group[i];
        let free = taken
            .range(..end)
            .next_back()
            .is_none_or(|(_, stop)| *stop <= start);
        if free {
            taken.insert(start, end);
            group[winners] = group[i];
            winners += 1;
        }
    }
    group[..winners].sort_unstable_by_key(|finding| finding.start);
    winners
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::detect::Category;

    fn finding(start: usize, end: usize, rank: u16) -> Finding {
        Finding {
            start,
            end,
            category: Category(rank),
            confidence: 50,
            rule: "test",
        }
    }

    fn rank(finding: &Finding) -> u8 {
        finding.category.0 as u8
    }

    fn resolved(spans: &[(usize, usize, u16)]) -> Vec<(usize, usize, u16)> {
        let mut findings: Vec<_> = spans.iter().map(|&(s, e, r)| finding(s, e, r)).collect();
        resolve(&mut findings, rank);
        findings
            .iter()
            .map(|f| (f.start, f.end, f.category.0))
            .collect()
    }

    #[test]
    fn rank_then_length_then_place() {
        assert_eq!(resolved(&[(0, 9, 2), (4, 6, 1)]), [(4, 6, 1)]);
        assert_eq!(resolved(&[(0, 4, 1), (3, 9, 1)]), [(3, 9, 1)]);
        assert_eq!(resolved(&[(0, 4, 1), (3, 7, 1)]), [(0, 4, 1)]);
        assert_eq!(resolved(&[(0, 4, 1), (3, 7, 0), (6, 9, 1)]), [(3, 7, 0)]);
        assert_eq!(
            resolved(&[(5, 7, 1), (0, 2, 1), (1, 3, 2)]),
            [(0, 2, 1), (5, 7, 1)]
        );
    }

    proptest! {
        #[test]
        fn disjoint_sorted_and_in_any_order(
            mut spans in prop::collection::vec((0usize..60, 1usize..12, 0u16..4), 0..40),
            seed in any::<u64>(),
        ) {
            spans.iter_mut().for_each(|span| span.1 += span.0);
            let first = resolved(&spans);
            prop_assert!(first.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            // Every loser lies over a winner that is at least as good.
            for &(start, end, rank) in &spans {
                prop_assert!(first.iter().any(|w| w.0 < end && start < w.1 && w.2 <= rank));
            }
            let turn = seed as usize % spans.len().max(1);
            spans.rotate_left(turn);
            prop_assert_eq!(first, resolved(&spans));
        }
    }
}
