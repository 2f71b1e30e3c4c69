//! Names that say their value is a secret.

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::detect::tails::Tails;

/// What a name says about its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    /// Something a person may have chosen: short, a word with digits and signs.
    Password,
    /// Something a machine drew: long and random.
    Token,
    /// What follows `Authorization:`: a scheme and credentials.
    Header,
}

/// The last word of a name, or its last two joined, in lower case.
#[rustfmt::skip]
static WORDS: &[(&str, Sort)] = &[
    ("password", Sort::Password), ("passwd", Sort::Password), ("passwort", Sort::Password), ("pwd", Sort::Password), ("passphrase", Sort::Password),
    ("pass", Sort::Password), ("passcode", Sort::Password), ("pw", Sort::Password), ("psw", Sort::Password), ("passw", Sort::Password), ("kennwort", Sort::Password),
    ("contraseña", Sort::Password), ("contrasena", Sort::Password), ("motdepasse", Sort::Password), ("mdp", Sort::Password), ("senha", Sort::Password),
    ("wachtwoord", Sort::Password), ("lösenord", Sort::Password), ("losenord", Sort::Password), ("adgangskode", Sort::Password), ("passord", Sort::Password), ("salasana", Sort::Password), ("hasło", Sort::Password),
    ("haslo", Sort::Password), ("heslo", Sort::Password), ("jelszó", Sort::Password), ("parola", Sort::Password), ("şifre", Sort::Password), ("sifre", Sort::Password), ("пароль", Sort::Password),
    ("κωδικός", Sort::Password), ("סיסמה", Sort::Password), ("סיסמא", Sort::Password), ("密码", Sort::Password), ("密碼", Sort::Password), ("口令", Sort::Password), ("パスワード", Sort::Password),
    ("비밀번호", Sort::Password), ("암호", Sort::Password), ("पासवर्ड", Sort::Password), ("รหัสผ่าน", Sort::Password),
    ("userpass", Sort::Password), ("dbpass", Sort::Password), ("dbpassword", Sort::Password), ("dbpwd", Sort::Password), ("rootpw", Sort::Password), ("mysqlpwd", Sort::Password), ("pgpassword", Sort::Password),
    ("sshpass", Sort::Password), ("requirepass", Sort::Password), ("masterauth", Sort::Password), ("keypass", Sort::Password), ("storepass", Sort::Password), ("userpassword", Sort::Password),
    ("secret", Sort::Token), ("secrets", Sort::Token), ("token", Sort::Token), ("tok", Sort::Token), ("apikey", Sort::Token), ("apikeys", Sort::Token), ("apitoken", Sort::Token), ("apisecret", Sort::Token), ("appsecret", Sort::Token), ("appkey", Sort::Token),
    ("accesskey", Sort::Token), ("accesstoken", Sort::Token), ("authtoken", Sort::Token), ("authkey", Sort::Token), ("secretkey", Sort::Token), ("privatekey", Sort::Token), ("clientsecret", Sort::Token), ("consumersecret", Sort::Token),
    ("consumerkey", Sort::Token), ("accountkey", Sort::Token), ("sharedaccesskey", Sort::Token), ("sharedkey", Sort::Token), ("storagekey", Sort::Token), ("subscriptionkey", Sort::Token), ("functionkey", Sort::Token), ("hostkey", Sort::Token), ("masterkey", Sort::Token), ("signingkey", Sort::Token), ("signingsecret", Sort::Token),
    ("encryptionkey", Sort::Token), ("cryptokey", Sort::Token), ("jwtkey", Sort::Token), ("jwtsecret", Sort::Token), ("licensekey", Sort::Token), ("servicekey", Sort::Token), ("serverkey", Sort::Token), ("deploykey", Sort::Token), ("webhooksecret", Sort::Token), ("integrationkey", Sort::Token), ("ingestkey", Sort::Token), ("writekey", Sort::Token), ("hmackey", Sort::Token), ("hmac", Sort::Token), ("aeskey", Sort::Token),
    ("refreshtoken", Sort::Token), ("sessiontoken", Sort::Token), ("bearertoken", Sort::Token), ("bearer", Sort::Token), ("idtoken", Sort::Token), ("securitytoken", Sort::Token), ("bottoken", Sort::Token), ("usertoken", Sort::Token), ("oauthtoken", Sort::Token), ("secretaccesskey", Sort::Token),
    ("credential", Sort::Token), ("credentials", Sort::Token), ("creds", Sort::Token), ("cred", Sort::Token), ("auth", Sort::Token), ("sessionkey", Sort::Token), ("sessionid", Sort::Token), ("sessid", Sort::Token), ("csrftoken", Sort::Token), ("xsrftoken", Sort::Token), ("sastoken", Sort::Token), ("sig", Sort::Token), ("psk", Sort::Password), ("wpapsk", Sort::Password),
    ("salt", Sort::Token), ("pepper", Sort::Token), ("seedphrase", Sort::Token), ("apipassword", Sort::Password), ("token0", Sort::Token), ("pat", Sort::Token), ("geheimnis", Sort::Token), ("schlüssel", Sort::Token), ("clave", Sort::Password), ("chave", Sort::Token), ("clé", Sort::Token), ("ключ", Sort::Token), ("токен", Sort::Token), ("секрет", Sort::Token), ("密钥", Sort::Token), ("令牌", Sort::Token),
    ("contribsyscom", Sort::Password), ("gitlabsession", Sort::Token), ("xauth", Sort::Token), ("sshkey", Sort::Token), ("dsn", Sort::Token),
    ("authorization", Sort::Header), ("xapikey", Sort::Token), ("xauthtoken", Sort::Token), ("proxyauthorization", Sort::Header), ("privatetoken", Sort::Token), ("jobtoken", Sort::Token),
    ("key", Sort::Token),
];

/// The words and what they say.
static SORTS: LazyLock<HashMap<&[u8], Sort>> = LazyLock::new(|| {
    WORDS
        .iter()
        .map(|(word, sort)| (word.as_bytes(), *sort))
        .collect()
});

/// Words before `key` or `token` that make it something else.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "public", "primary", "foreign", "partition", "sort", "cache", "hash", "index", "unique", "object", "row", "column", "dict", "map", "data", "sub", "registry", "hot", "short",
    "max", "num", "n", "min", "total", "prompt", "completion", "input", "output", "next", "prev", "page", "pagination", "continuation", "cursor", "has", "is", "show", "hide",
    "forgot", "reset", "change", "confirm", "verify", "no", "without", "eos", "bos", "pad", "unk", "sep", "cls", "mask", "stop", "start", "end", "the", "a", "by", "foreignkey", "i18n", "translation", "locale", "lookup", "group", "host",
];

/// What the name `words` (lower case, split at case and separators) says.
pub(super) fn sort(words: &[&[u8]]) -> Option<Sort> {
    let words = match words {
        // A name may end in what the value is like or where it is for.
        [rest @ .., last] if !rest.is_empty() && ENDINGS.iter().any(|e| e.as_bytes() == *last) => {
            rest
        }
        [rest @ .., last] if !rest.is_empty() && last.iter().all(u8::is_ascii_digit) => rest,
        all => all,
    };
    let last = *words.last()?;
    let before = words.len().checked_sub(2).map(|i| words[i]);
    let mut joined = [0; 48];
    for count in [3, 2, 1] {
        let Some(from) = words.len().checked_sub(count) else {
            continue;
        };
        let mut len = 0;
        for word in &words[from..] {
            let room = joined.get_mut(len..len + word.len())?;
            room.copy_from_slice(word);
            len += word.len();
        }
        if let Some(sort) = SORTS.get(&joined[..len]) {
            let word = &joined[..len];
            let harmless = before
                .filter(|_| count == 1)
                .is_some_and(|b| HARMLESS.iter().any(|h| h.as_bytes() == b));
            let alone = word == b"key" && count == 1 && !before.is_some_and(secretive);
            return (!harmless && !alone).then_some(*sort);
        }
    }
    // `mysqlpassword`, `dbpasswd`: written together.
    let tail = |end: &str| last.len() > end.len() && last.ends_with(end.as_bytes());
    if tail("password") || tail("passwd") {
        Some(Sort::Password)
    } else if tail("apikey")
        || tail("secretkey")
        || tail("accesstoken")
        || tail("authtoken")
        || tail("accesskey")
    {
        Some(Sort::Token)
    } else {
        None
    }
}

/// Whether a word before `key` makes it a secret one.
fn secretive(word: &[u8]) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &["api", "secret", "private", "access", "auth", "account", "storage", "encryption", "signing", "master", "license", "app", "admin", "service", "server", "jwt", "hmac", "session", "shared", "consumer", "client", "project", "webhook", "write", "ingest", "integration", "crypto", "aes", "rsa", "ssh", "deploy", "deployment", "user", "bot", "stripe", "openai", "google", "aws", "azure", "maps", "sendgrid", "twilio", "mailgun"];
    WORDS.iter().any(|w| w.as_bytes() == word) || super::issuers::known(word)
}

/// What a name may end in after the word that counts.
#[rustfmt::skip]
const ENDINGS: &[&str] = &["is", "ist", "es", "value", "val", "raw", "plain", "plaintext", "text", "str", "string", "prod", "production", "dev", "staging", "live", "test", "base64", "b64", "default", "env", "new", "old", "current", "primary", "secondary", "a", "b", "main", "backup", "v1", "v2"];

/// How names that count end.
static TAILS: LazyLock<Tails> = LazyLock::new(|| {
    let words = WORDS.iter().map(|(word, _)| *word);
    Tails::of(words.chain(ENDINGS.iter().copied()))
});

/// Whether a name that counts may end where `text` does: most names are refused here.
pub(super) fn may_end(text: &[u8]) -> bool {
    let number = text.iter().rev().take(20);
    let number = number.take_while(|b| b.is_ascii_digit()).count();
    if number == 0 {
        return TAILS.may_end(text);
    }
    // `password_2`, `token0`, but no number alone.
    let mut word = &text[..text.len() - number];
    while let [head @ .., b'_' | b'-' | b'.' | b' '] = word {
        word = head;
    }
    TAILS.may_end(word)
}
