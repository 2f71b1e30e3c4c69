use super::*;

/// Characters that look drawn at random and are the same each time.
fn drawn(alphabet: &str, len: usize, seed: u64) -> String {
    let alphabet = alphabet.as_bytes();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(alphabet[(state >> 33) as usize % alphabet.len()])
    };
    (0..len).map(|_| next()).collect()
}

const ALNUM: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const HEX: &str = "0123456789abcdef";

/// Everything that any entry point finds in `text`, without duplicates.
fn find(text: &str) -> Vec<(&'static str, String)> {
    let bytes = text.as_bytes();
    let run = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let mut hits = Vec::new();
    blocks(bytes, &mut hits);
    for i in 0..bytes.len() {
        if run(bytes[i]) && (i == 0 || !run(bytes[i - 1])) {
            let len = bytes[i..].iter().take_while(|b| run(**b)).count();
            if len >= 12 {
                hits.extend(at(bytes, i, i + len));
            }
        }
        match bytes[i] {
            b'=' | b'>' => hits.extend(assignment(bytes, i)),
            b':' => hits.extend(assignment(bytes, i).or_else(|| url_credentials(bytes, i))),
            b'-' if i == 0 || bytes[i - 1] == b' ' => hits.extend(option(bytes, i)),
            _ => {}
        }
    }
    hits.retain(|hit| hit.confidence >= 50);
    hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse((hit.end, hit.confidence))));
    let mut found: Vec<(&'static str, String)> = Vec::new();
    let mut end = 0;
    for hit in hits {
        if hit.start >= end {
            end = hit.end;
            found.push((hit.name, text[hit.start..hit.end].to_owned()));
        }
    }
    found
}

fn values(text: &str) -> Vec<String> {
    find(text).into_iter().map(|(_, value)| value).collect()
}

#[test]
fn keys_of_issuers_are_found_whole_and_placeholders_are_not() {
    let shapes: &[(&str, &str, usize)] = &[
        ("ghp_", ALNUM, 36),
        ("github_pat_", ALNUM, 82),
        ("glpat-", ALNUM, 20),
        ("xoxb-", ALNUM, 50),
        ("sk_live_", ALNUM, 24),
        ("sk-proj-", ALNUM, 156),
        ("sk-ant-api03-", ALNUM, 95),
        ("AIza", ALNUM, 35),
        ("npm_", ALNUM, 36),
        ("pypi-AgE", ALNUM, 100),
        ("SK", HEX, 32),
        ("dop_v1_", HEX, 64),
        ("shpat_", HEX, 32),
        ("hf_", ALNUM, 34),
        ("dapi", HEX, 32),
        ("lin_api_", ALNUM, 40),
        ("PMAK-", HEX, 24),
        ("figd_", ALNUM, 40),
        ("rubygems_", HEX, 48),
        ("glsa_", ALNUM, 32),
        ("pul-", HEX, 40),
        ("NRAK-", ALNUM, 27),
        ("key-", HEX, 32),
        ("GOCSPX-", ALNUM, 28),
    ];
    for (seed, &(prefix, alphabet, len)) in shapes.iter().enumerate() {
        let tail = match prefix {
            "PMAK-" => format!("-{}", drawn(HEX, 34, 99)),
            "glsa_" => format!("_{}", drawn(HEX, 8, 98)),
            _ => String::new(),
        };
        let key = format!("{prefix}{}{tail}", drawn(alphabet, len, seed as u64 + 1));
        for text in [
            key.clone(),
            format!("use \"{key}\", please"),
            format!("url?x={key}&y=1"),
            format!("({key})."),
        ] {
            assert_eq!(values(&text), std::slice::from_ref(&key), "{text}");
        }
        let placeholder = format!("{prefix}{}{}", "x".repeat(len), "-x".repeat(tail.len() / 2));
        assert_eq!(values(&placeholder), [""; 0], "{placeholder}");
    }
}

#[test]
fn keys_with_dots_and_colons_are_found_from_any_part() {
    let cases = [
        format!("SG.{}.{}", drawn(ALNUM, 22, 1), drawn(ALNUM, 43, 2)),
        format!("hvs.{}", drawn(ALNUM, 95, 3)),
        format!("dp.pt.{}", drawn(ALNUM, 43, 4)),
        format!("{}.atlasv1.{}", drawn(ALNUM, 14, 5), drawn(ALNUM, 64, 6)),
        format!("123456789:A{}", drawn(ALNUM, 34, 7)),
        format!(
            "https://hooks.slack.com/services/T{}/B{}/{}",
            drawn("0123456789ABCDEF", 10, 8),
            drawn("0123456789ABCDEF", 10, 9),
            drawn(ALNUM, 24, 10)
        ),
        format!("{}8Q~{}", drawn(ALNUM, 3, 11), drawn(ALNUM, 34, 12)),
        format!("pat{}.{}", drawn(ALNUM, 14, 13), drawn(HEX, 64, 14)),
        format!("{}_{}_mmk", drawn(ALNUM, 6, 15), drawn(ALNUM, 29, 16)),
    ];
    for key in cases {
        assert_eq!(
            values(&format!("value {key} here")),
            std::slice::from_ref(&key),
            "{key}"
        );
    }
}

#[test]
fn the_checksum_of_github_raises_confidence() {
    let random = drawn(ALNUM, 30, 40);
    let check = checks::base62(checks::crc32(random.as_bytes()));
    let right = format!("ghp_{random}{}", std::str::from_utf8(&check).unwrap());
    let wrong = format!("ghp_{random}{}", drawn(ALNUM, 6, 41));
    let confidence = |key: &str| at(key.as_bytes(), 0, key.len()).unwrap().confidence;
    assert_eq!((confidence(&right), confidence(&wrong)), (99, 95));
    // The check value of CRC-32 in every catalogue.
    assert_eq!(checks::crc32(b"123456789"), 0xCBF4_3926);
}

#[test]
fn a_json_web_token_is_one_by_its_header() {
    // {"alg":"HS256"} . {"sub":"1234567890"} . a signature
    let token = format!(
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}",
        drawn(ALNUM, 43, 50)
    );
    assert_eq!(find(&format!("Token: {token}.")), [("JWT", token.clone())]);
    // {"foo":1} is no header, and three dotted words are no token.
    assert_eq!(
        values(&token.replace("eyJhbGciOiJIUzI1NiJ9", "eyJmb28iOjF9")),
        [""; 0]
    );
    assert_eq!(
        values("eyJlectricityMeters.eyJlectricityMeters.eyJlectricityMeters"),
        [""; 0]
    );
}

#[test]
fn private_keys_are_found_as_whole_blocks() {
    let line = drawn(ALNUM, 64, 60);
    for label in [
        "RSA PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PRIVATE KEY",
        "EC PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
    ] {
        for newline in ["\n", "\r\n", "\\n", "\\r\\n", "\\\\n"] {
            let block = format!(
                "-----BEGIN {label}-----{newline}{line}{newline}{line}=={newline}-----END {label}-----"
            );
            assert_eq!(
                find(&format!("a {block} b")),
                [("PRIVATE_KEY", block.clone())]
            );
        }
    }
    let pgp = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{line}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----"
    );
    assert_eq!(values(&pgp), std::slice::from_ref(&pgp));
    let cut = format!("-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}\n");
    assert_eq!(values(&format!("{cut}\n[output cut]")), [cut.trim_end()]);
    for text in [
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "the \"-----BEGIN RSA PRIVATE KEY-----\" line",
        "-----BEGIN PUBLIC KEY-----",
    ] {
        assert_eq!(values(text), [""; 0], "{text}");
    }
}

#[test]
fn values_that_a_name_says_are_secret() {
    let (token, password) = (drawn(ALNUM, 32, 70), "Kp9@xTr4!z");
    for text in [
        format!("AWS_SECRET_ACCESS_KEY={token}"),
        format!("export API_KEY=\"{token}\""),
        format!("{{\"client_secret\": \"{token}\"}}"),
        format!("{{\\\"access_token\\\": \\\"{token}\\\"}}"),
        format!("Authorization: Bearer {token}"),
        format!("X-Api-Key: {token}"),
        format!("--token {token}"),
        format!("--api-key={token}"),
        format!("jwtSecret := '{token}'"),
        format!("<apiKey>{token}</apiKey>"),
        format!("adafruit_io = \"{token}\""),
        format!("if (token == \"{token}\")"),
    ] {
        assert_eq!(values(&text), std::slice::from_ref(&token), "{text}");
    }
    for text in [
        format!("password: {password}"),
        format!("\"db_password\": \"{password}\","),
        format!("Server=a;Password={password};Encrypt=True"),
        format!("Pwd={password};"),
        format!("--password {password}"),
        format!("contraseña: {password}"),
        format!("пароль = \"{password}\""),
        format!("密码：x\n密码: {password}"),
        format!("<add key=\"Password\" value=\"{password}\" />"),
        format!("dbPassword = '{password}'"),
    ] {
        assert_eq!(values(&text), [password], "{text}");
    }
}

#[test]
fn programs_placeholders_and_digests_are_no_secrets() {
    let sha = drawn(HEX, 40, 80);
    for text in [
        "password = get_password()",
        "password: ${DB_PASSWORD}",
        "token=<YOUR_TOKEN>",
        "password: changeme",
        "api_key = os.environ[\"KEY\"]",
        "password: string;",
        "password: Option<String>",
        "let token = self.token.clone();",
        "const token = req.headers.authorization",
        "secret: true",
        "password: ********",
        "max_tokens: 4096",
        "token_type: bearer",
        "pub pw_passwd: *const c_char",
        "API_KEY=your-api-key-here",
        "\"password\": \"Passwort\"",
        "process.env.API_KEY",
        "password == other.password",
        "Password: Enter your password",
        "std::token::Token",
        "sort_key=customer_region_2024",
        "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx",
        "keyValuePairsInCollectionOfThings",
        "token_authenticationManagerFactory",
        "secret: ${{ secrets.GITHUB_TOKEN }}",
        "password: !Ref DbPassword",
        "api_key_configuration_provider_name",
        "-p 8080:8080",
        "mkdir -p some/long/path1",
        "\"token\": \"{{ token }}\"",
        "passwd='$2b$12$abcdefghijklmnopqrstuv'",
        "redis://localhost:6379/0",
        "https://example.com/a:b@c",
        "https://bot:$GITHUB_TOKEN@git.example/acme/x",
        "http://user:password@host",
        "git@github.com:acme/x.git",
        "7b3f0c11-a42e-4a51-9046-129790ab4402",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    ] {
        assert_eq!(values(text), [""; 0], "{text}");
    }
    for text in [
        format!("commit {sha}"),
        format!("checksum = \"{}\"", drawn(HEX, 64, 81)),
        format!("integrity sha512-{}==", drawn(ALNUM, 86, 82)),
        format!("etag: \"{sha}\""),
        format!("key-{sha}"),
    ] {
        assert_eq!(values(&text), [""; 0], "{text}");
    }
}

#[test]
fn passwords_in_addresses() {
    for (text, password) in [
        ("postgres://app:zX81kkQ0p@db:5432/x", "zX81kkQ0p"),
        ("https://ci:zX81kkQ0p@127.0.0.1/repo", "zX81kkQ0p"),
        ("mongodb+srv://u:p%40ss9word@c.example", "p%40ss9word"),
        ("redis://:s3cr3tpw@cache:6379", "s3cr3tpw"),
        ("amqp://u:pa/ss#w0rd@mq", "pa/ss#w0rd"),
        ("mysql://u:p@ssw0rd99@h", "p@ssw0rd99"),
    ] {
        assert_eq!(find(text), [("PASSWORD", password.to_owned())], "{text}");
    }
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    /// Pieces that secrets are made of, so that arbitrary texts come near to them.
    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-zA-Z0-9_-]{0,60}",
            "[ \n\t\"'`=:,;<>\\\\$(){}]{0,4}",
            "ключ|密码|ñ|\u{a0}",
            prop::sample::select(vec![
                "password",
                "api_key",
                "secret",
                "token",
                "Bearer ",
                "eyJhbGciOiJIUzI1NiJ9.",
                "-----BEGIN RSA PRIVATE KEY-----\n",
                "-----END ",
                "-----",
                "://",
                "user:pw@",
                "ghp_",
                "SG.",
                "hvs.",
                "sk-",
                "xoxb-",
                "AKIA",
                "Q~",
                "--password ",
                "https://hooks.slack.com/services/",
                "adafruit",
                "value=",
                ".atlasv1.",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        /// Any text, any place: no panic, the ends on character boundaries, and the verdict is the
        /// same when only the declared neighbourhood is there.
        #[test]
        fn a_verdict_is_local(text in texts(), cut in 0..50usize) {
            let bytes = text.as_bytes();
            let run = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
            let padded = format!("{}\n{text}\n{}", "x ".repeat(REACH_LEFT), " x".repeat(REACH_LEFT));
            let shift = 2 * REACH_LEFT + 1;
            for i in 0..bytes.len() {
                let len = bytes[i..].iter().take_while(|b| run(**b)).count();
                let mut verdicts: Vec<(Option<Hit>, Option<Hit>)> = Vec::new();
                let mut from = (shift + i - REACH_LEFT).saturating_sub(cut);
                while !padded.is_char_boundary(from) { from -= 1 }
                let part = &padded.as_bytes()[from..];
                let (whole, here, there) = (padded.as_bytes(), shift + i, shift + i - from);
                if len >= 12 && (i == 0 || !run(bytes[i - 1])) {
                    verdicts.push((at(whole, here, here + len), at(part, there, there + len)));
                }
                match bytes[i] {
                    b'=' | b'>' | b':' => verdicts.push((assignment(whole, here), assignment(part, there))),
                    b'-' => verdicts.push((option(whole, here), option(part, there))),
                    _ => {}
                }
                if bytes[i..].starts_with(b"://") {
                    verdicts.push((url_credentials(whole, here), url_credentials(part, there)));
                }
                for (whole, part) in verdicts {
                    prop_assert!(whole.is_none_or(|h| padded.is_char_boundary(h.start) && padded.is_char_boundary(h.end) && h.start < h.end));
                    prop_assert_eq!(whole, part.map(|h| Hit { start: h.start + from, end: h.end + from, ..h }));
                }
            }
            let mut found = Vec::new();
            blocks(bytes, &mut found);
            prop_assert!(found.windows(2).all(|w| w[0].end <= w[1].start));
            prop_assert!(found.iter().all(|h| text.is_char_boundary(h.start) && text.is_char_boundary(h.end)));
        }
    }
}
