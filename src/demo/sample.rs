//! The folder that the demo works on. Everybody in it is invented.

/// Its files: name and content.
pub(super) const FILES: &[(&str, &str)] = &[
    (TICKET, TICKET_TEXT),
    ("customers.csv", CUSTOMERS_TEXT),
    ("deploy.md", DEPLOY_TEXT),
];

/// The file that the model answers.
pub(super) const TICKET: &str = "ticket-4711.txt";

/// The file with everybody's data in columns.
pub(super) const CUSTOMERS: &str = "customers.csv";

/// The file that was not written for a model to read.
pub(super) const DEPLOY: &str = "deploy.md";

const TICKET_TEXT: &str = "\
From: Marie Lindqvist
Reply-To: marie.lindqvist@example.eu
Subject: Charged twice

Hello, my card 4111 1111 1111 1111 was
charged twice for order 20418. Please
refund one payment to
SE45 5000 0000 0583 9825 7466
and call me on +46 8 403 125 76, or
write to marie.lindqvist@example.eu.

Marie Lindqvist
";

const CUSTOMERS_TEXT: &str = "\
id,name,email,phone
20418,Marie Lindqvist,marie.lindqvist@example.eu,+46 8 403 125 76
20419,Tomás Herrera,t.herrera@example.org,+34 915 550 142
20420,Aiko Tanabe,aiko@example.net,+81 3 5550 1234
";

const DEPLOY_TEXT: &str = "\
Staging runs on 203.0.113.24.
The token of the bot:
ghp_q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8
The wiki says: write to [EMAIL_0].
";

/// The personal values in the files. Names are apart: a model finds them, not a rule.
pub(super) const VALUES: &[&str] = &[
    "marie.lindqvist@example.eu",
    "4111 1111 1111 1111",
    "SE45 5000 0000 0583 9825 7466",
    "+46 8 403 125 76",
    "t.herrera@example.org",
    "+34 915 550 142",
    "aiko@example.net",
    "+81 3 5550 1234",
    "203.0.113.24",
    "ghp_q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8",
];

/// The names in the files.
pub(super) const NAMES: &[&str] = &["Marie Lindqvist", "Tomás Herrera", "Aiko Tanabe"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_stands_in_a_file() {
        for value in VALUES.iter().chain(NAMES) {
            assert!(
                FILES.iter().any(|(_, text)| text.contains(value)),
                "{value}"
            );
        }
        for name in [TICKET, CUSTOMERS, DEPLOY] {
            assert!(FILES.iter().any(|(file, _)| *file == name));
        }
    }
}
