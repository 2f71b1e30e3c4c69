//! From scores to entities, one transition a token, never taken back.

use crate::Label;
use crate::network::{Network, Scores};
use crate::tokenizer::Token;

/// What a token can be: the Begin, Inside or Last of an entity, a Unit of its own, or Outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Begin(Label),
    Inside(Label),
    Last(Label),
    Unit(Label),
    Outside,
    /// Scored by the network but never allowed.
    Never,
}

/// An entity: tokens `first..end`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entity {
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) label: Label,
    /// The probability of its transitions, each among those that were allowed.
    pub(crate) score: f32,
}

#[derive(Debug)]
pub(crate) struct Decoder {
    moves: Vec<Move>,
}

impl Decoder {
    /// From actions as the model names them: `B-PERSON`, ..., `O`.
    pub(crate) fn new(actions: &[String]) -> Result<Self, String> {
        let parse = |action: &String| {
            let (letter, label) = action.split_once('-').unwrap_or((action, ""));
            match (letter, label) {
                ("O", "") => return Ok(Move::Outside),
                (_, "") => return Ok(Move::Never),
                _ => {}
            }
            let label = label
                .parse()
                .map_err(|e| format!("action {action:?}: {e}"))?;
            match letter {
                "B" => Ok(Move::Begin(label)),
                "I" => Ok(Move::Inside(label)),
                "L" => Ok(Move::Last(label)),
                "U" => Ok(Move::Unit(label)),
                _ => Err(format!("action {action:?} is none of B-, I-, L-, U- and O")),
            }
        };
        let moves = actions.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let has = |wanted| moves.contains(&wanted);
        let complete = |m: &Move| match *m {
            Move::Begin(label) => has(Move::Inside(label)) && has(Move::Last(label)),
            _ => true,
        };
        if !has(Move::Outside) || !moves.iter().all(complete) {
            return Err("actions must have O, and I- and L- for each B-".to_owned());
        }
        Ok(Self { moves })
    }

    pub(crate) fn actions(&self) -> usize {
        self.moves.len()
    }

    /// The labels that the model knows.
    pub(crate) fn labels(&self) -> impl Iterator<Item = Label> {
        self.moves.iter().filter_map(|m| {
            if let Move::Unit(label) = m {
                Some(*label)
            } else {
                None
            }
        })
    }

    /// Appends the entities of a window's tokens. Those that are not `wanted`, at distance 0, are
    /// outside of all; the others have rows in `scores` from `row` on.
    pub(crate) fn decode(
        &self,
        network: &Network,
        scores: &mut Scores,
        mut row: usize,
        tokens: &[Token],
        wanted: &[u8],
        out: &mut Vec<Entity>,
    ) {
        let mut open: Option<Entity> = None;
        for (index, token) in tokens.iter().enumerate() {
            if wanted[index] != 0 {
                continue;
            }
            let more = wanted.get(index + 1) == Some(&0);
            row += 1;
            let (best, score) = match open {
                None if token.is_space => continue,
                None => self.best(scores.closed(row - 1), |m| match m {
                    Move::Begin(_) => more,
                    Move::Unit(_) | Move::Outside => true,
                    _ => false,
                }),
                // None of its tokens is unwanted, so their rows are beside each other.
                Some(Entity { first, label, .. }) => {
                    let scores = network.score_open(scores, row - 1 - (index - first), row - 1);
                    self.best(scores, |m| match m {
                        Move::Inside(other) => more && other == label,
                        Move::Last(other) => other == label,
                        _ => false,
                    })
                }
            };
            match (best, &mut open) {
                (Move::Begin(label), _) => {
                    open = Some(Entity {
                        first: index,
                        end: index,
                        label,
                        score,
                    });
                }
                (Move::Unit(label), _) => {
                    out.push(Entity {
                        first: index,
                        end: index + 1,
                        label,
                        score,
                    });
                }
                (_, Some(entity)) => {
                    entity.score *= score;
                    entity.end = index + 1;
                    if let Move::Last(_) = best {
                        out.extend(open.take());
                    }
                }
                _ => {}
            }
        }
    }

    /// The first of the best moves that are allowed, and its probability among them; for `Outside`
    /// nobody asks how probable.
    fn best(&self, scores: &[f32], allowed: impl Fn(Move) -> bool) -> (Move, f32) {
        let choices = || self.moves.iter().zip(scores).filter(|(m, _)| allowed(**m));
        let mut best = (Move::Never, f32::NEG_INFINITY);
        for (m, score) in choices() {
            if *score > best.1 {
                best = (*m, *score);
            }
        }
        if best.0 == Move::Outside {
            return (Move::Outside, 1.0);
        }
        let total: f32 = choices().map(|(_, score)| (score - best.1).exp()).sum();
        (best.0, 1.0 / total)
    }
}
