//! What is done to each part of each message: the one table that decides it.
//!
//! Read it as: *in this message, at this position, do this*. Whatever is skipped is skipped at a
//! position of a known message, never because of its name: `mimeType` of a content block is kept,
//! `mimeType` in the data of a tool is data. Three rules cover what the table does not name:
//!
//! 1. a member that is not named, and anything of another shape than named, is [`Node::Data`];
//! 2. a request that is not named is refused, a notification dropped;
//! 3. an answer to a request that nobody knows is data throughout.
//!
//! Positions are those of MCP 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25, and of 2026-07-28
//! where they fit in.

use Node::{
    Blob, Data, Each, Form, Keep, Keyed, Object, Opaque, Output, Page, Result, Schema, Select, Uri,
};

/// What is done at a position, or how to get from it to smaller ones.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    // What is done.
    /// Text, or JSON of any shape: sanitised towards the model, restored towards an upstream.
    /// Strings, numbers and keys at any depth.
    Data,
    /// A name, a version, a word of the protocol: kept. The tripwire looks at it all the same. A
    /// list or object in its place is data.
    Keep,
    /// An id that one peer made and gets back as it was: nobody looks at it. A list or object in
    /// its place is data.
    Opaque,
    /// As data, but written as a URI (RFC 3986).
    Uri,
    /// Base64 (RFC 4648). Decoded if the `mimeType` beside it is one of text, otherwise kept.
    Blob,
    /// A JSON schema, or what is as fixed as one: kept byte for byte at any depth. The tripwire
    /// reports what it finds there.
    Schema,
    /// The schema of a tool's output: a schema without the keywords that a token would violate.
    Output,

    // How to get to smaller positions.
    /// An object with these members, and `_meta`. Others are data.
    Object(Members),
    /// As `Object`, a result, with the members of all results.
    Result(Members),
    /// As `Result`, a page of a list: the list's name, and its items.
    Page(&'static str, &'static Self),
    /// The schema of a form that the user fills in: an object whose words are data, with the names
    /// of its fields kept.
    Form(Members),
    /// An object whose keys are identifiers, with one kind of value.
    Keyed(&'static Self),
    /// A list of these, or one of these without the list.
    Each(&'static Self),
    /// An object whose kind the first field names; the last is for all other kinds.
    Select(&'static str, Members, &'static Self),
}

/// Names of members, and what stands there.
pub type Members = &'static [(&'static str, Node)];

/// A message and what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// The method.
    pub method: &'static str,
    /// Its `params`.
    pub params: Node,
    /// The `result` of the answer; a notification has none.
    pub result: Option<Node>,
    /// Whether the user, not the model, wrote the answer.
    pub by_user: bool,
}

/// Which way a request or notification goes. An answer to it goes the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From an upstream to the client.
    ToModel,
    /// From the client to an upstream.
    ToUpstream,
}

/// What the table says about a method, in the direction that its request or notification goes.
#[must_use]
pub fn surface(way: Way, method: &str) -> Option<&'static Surface> {
    let table = match way {
        Way::ToModel => TO_MODEL,
        Way::ToUpstream => TO_UPSTREAM,
    };
    table.iter().find(|surface| surface.method == method)
}

/// Whether a request (`answered`) or a notification of this method is let through.
#[must_use]
pub fn is_known(way: Way, method: &str, answered: bool) -> bool {
    surface(way, method).is_some_and(|surface| surface.result.is_some() == answered)
}

/// From the client to an upstream.
#[rustfmt::skip]
pub static TO_UPSTREAM: &[Surface] = &[
    request("initialize", INITIALIZE, INITIALIZED),
    request("server/discover", Object(&[]), DISCOVERED),
    request("ping", Object(&[]), Object(&[])),
    request("tools/list", LIST, Page("tools", &TOOL)),
    request("tools/call", CALL, Each(&CALLED)),
    request("resources/list", LIST, Page("resources", &RESOURCE)),
    request("resources/templates/list", LIST, Page("resourceTemplates", &TEMPLATE)),
    request("resources/read", BY_URI, Each(&READ)),
    request("resources/subscribe", BY_URI, Object(&[])),
    request("resources/unsubscribe", BY_URI, Object(&[])),
    request("subscriptions/listen", LISTEN, Object(&[])),
    request("prompts/list", LIST, Page("prompts", &PROMPT)),
    request("prompts/get", CALL, Each(&GOT_PROMPT)),
    request("completion/complete", COMPLETE, COMPLETED),
    request("logging/setLevel", Object(&[("level", Keep)]), Object(&[])),
    request("tasks/get", BY_TASK, Each(&TASK)),
    request("tasks/cancel", BY_TASK, Each(&TASK)),
    request("tasks/update", BY_TASK, Each(&TASK)),
    request("tasks/result", BY_TASK, Each(&CALLED)),
    request("tasks/list", LIST, Page("tasks", &TASK)),
    notification("notifications/initialized", Object(&[])),
    notification("notifications/cancelled", CANCELLED),
    notification("notifications/progress", PROGRESS),
    notification("notifications/roots/list_changed", Object(&[])),
];

/// From an upstream to the client.
#[rustfmt::skip]
pub static TO_MODEL: &[Surface] = &[
    request("ping", Object(&[]), Object(&[])),
    request("sampling/createMessage", SAMPLING, SAMPLED),
    by_user(request("elicitation/create", ELICITATION, ELICITED)),
    by_user(request("roots/list", Object(&[]), Object(&[("roots", Each(&ROOT))]))),
    notification("notifications/cancelled", CANCELLED),
    notification("notifications/progress", PROGRESS),
    notification("notifications/message", Object(&[("level", Keep), ("logger", Data), ("data", Data)])),
    notification("notifications/tools/list_changed", Object(&[])),
    notification("notifications/prompts/list_changed", Object(&[])),
    notification("notifications/resources/list_changed", Object(&[])),
    notification("notifications/resources/updated", Object(&[("uri", Uri)])),
    notification("notifications/subscriptions/acknowledged", LISTEN),
    notification("notifications/elicitation/complete", Object(&[("elicitationId", Opaque)])),
    notification("notifications/tasks/status", Each(&TASK)),
    notification("notifications/tasks", Each(&TASK)),
];

/// The `error` of any answer.
pub static ERROR: Node = Select(
    "code",
    &[
        // Resource not found, by either code.
        (
            "-32002",
            Object(&[CODE, MESSAGE, ("data", Object(&[("uri", Uri)]))]),
        ),
        (
            "-32602",
            Object(&[CODE, MESSAGE, ("data", Object(&[("uri", Uri)]))]),
        ),
        // Unsupported protocol version, MCP 2026-07-28.
        (
            "-32022",
            Object(&[
                CODE,
                MESSAGE,
                (
                    "data",
                    Object(&[("supported", Each(&Keep)), ("requested", Keep)]),
                ),
            ]),
        ),
        // The user must visit a URL, MCP 2025-11-25.
        (
            "-32042",
            Object(&[
                CODE,
                MESSAGE,
                ("data", Object(&[("elicitations", Each(&Object(VISIT)))])),
            ]),
        ),
    ],
    &Object(&[CODE, MESSAGE, ("data", Data)]),
);
const CODE: (&str, Node) = ("code", Keep);
const MESSAGE: (&str, Node) = ("message", Data);

/// What every named object may hold. Keys here are identifiers, and a key that belongs to MCP
/// (its prefix has `modelcontextprotocol` or `mcp` as its second label) has its value kept.
#[rustfmt::skip]
pub static META: Members = &[
    ("progressToken", Opaque),
    ("traceparent", Keep),
    ("tracestate", Keep),
    ("baggage", Keep),
    ("io.modelcontextprotocol/serverInfo", Object(IMPLEMENTATION)),
    ("io.modelcontextprotocol/clientInfo", Object(IMPLEMENTATION)),
    ("io.modelcontextprotocol/clientCapabilities", Schema),
    ("io.modelcontextprotocol/subscriptionId", Opaque),
    ("io.modelcontextprotocol/related-task", Object(&[("taskId", Opaque)])),
    // MCP Apps, and what came before them.
    ("ui", Object(&[("resourceUri", Keep), ("csp", Schema)])),
    ("openai/outputTemplate", Keep),
];

/// What every result may hold beside its own.
pub static RESULT: Members = &[("resultType", Keep), ("ttlMs", Keep), ("cacheScope", Keep)];

// Parameters.

const INITIALIZE: Node = Object(&[
    ("protocolVersion", Keep),
    ("capabilities", Schema),
    ("clientInfo", Object(IMPLEMENTATION)),
]);
const LIST: Node = Object(&[("cursor", Opaque)]);
const BY_URI: Node = Object(&[("uri", Uri), ANSWERS, STATE]);
const BY_TASK: Node = Object(&[("taskId", Opaque), ANSWERS, STATE]);
/// A tool or a prompt. The name is data, so that one whose name had to be rewritten can be called.
const CALL: Node = Object(&[
    ("name", Data),
    ("arguments", Data),
    ("task", Object(&[("ttl", Keep)])),
    ANSWERS,
    STATE,
]);
const COMPLETE: Node = Object(&[
    (
        "ref",
        Object(&[("type", Keep), ("name", Data), ("uri", Uri)]),
    ),
    ("argument", Object(&[("name", Data), ("value", Data)])),
    ("context", Object(&[("arguments", Data)])),
]);
const LISTEN: Node = Object(&[(
    "notifications",
    Object(&[
        ("resourceSubscriptions", Each(&Uri)),
        ("taskIds", Each(&Opaque)),
    ]),
)]);
const CANCELLED: Node = Object(&[("requestId", Opaque), ("reason", Data)]);
const PROGRESS: Node = Object(&[
    ("progressToken", Opaque),
    ("progress", Keep),
    ("total", Keep),
    ("message", Data),
]);

// Questions within a result, and their answers, matched by key. MCP 2026-07-28.

const ASKS: (&str, Node) = (
    "inputRequests",
    Keyed(&Select(
        "method",
        &[
            (
                "sampling/createMessage",
                Object(&[("method", Keep), ("params", SAMPLING)]),
            ),
            (
                "elicitation/create",
                Object(&[("method", Keep), ("params", ELICITATION)]),
            ),
        ],
        &Object(&[("method", Keep), ("params", Data)]),
    )),
);
const ANSWERS: (&str, Node) = ("inputResponses", Keyed(&Data));
/// Often signed: one changed byte and the retry fails.
const STATE: (&str, Node) = ("requestState", Opaque);
const QUESTION: Node = Result(&[ASKS, STATE]);

// Results.

const INITIALIZED: Node = Object(&[
    ("protocolVersion", Keep),
    ("capabilities", Schema),
    ("serverInfo", Object(IMPLEMENTATION)),
    ("instructions", Data),
]);
const DISCOVERED: Node = Result(&[
    ("supportedVersions", Each(&Keep)),
    ("capabilities", Schema),
    ("instructions", Data),
]);
static CALLED: Node = Select(
    "resultType",
    OTHERWISE,
    &Result(&[
        ("content", Each(&BLOCK)),
        ("structuredContent", Data),
        ("isError", Keep),
        ("task", Each(&TASK)),
    ]),
);
static READ: Node = Select(
    "resultType",
    OTHERWISE,
    &Result(&[("contents", Each(&CONTENTS))]),
);
static GOT_PROMPT: Node = Select(
    "resultType",
    OTHERWISE,
    &Result(&[("description", Data), ("messages", Each(&SAID))]),
);
static OTHERWISE: Members = &[("task", Each(&TASK)), ("input_required", QUESTION)];
const COMPLETED: Node = Result(&[(
    "completion",
    Object(&[("values", Each(&Data)), ("total", Keep), ("hasMore", Keep)]),
)]);
static TASK: Node = Result(&[
    ("taskId", Opaque),
    ("status", Keep),
    ("statusMessage", Data),
    ("createdAt", Keep),
    ("lastUpdatedAt", Keep),
    ("ttl", Keep),
    ("pollInterval", Keep),
    ("pollIntervalMs", Keep),
    // A second door to what the call would have returned.
    ("result", Each(&CALLED)),
    ("error", Each(&ERROR)),
    ASKS,
    STATE,
]);

// What results are made of.

const TOOL: Node = Object(&[
    ("name", Keep),
    ("title", Data),
    ("description", Data),
    ("inputSchema", Schema),
    ("outputSchema", Output),
    ("annotations", Object(&[("title", Data)])),
    ("execution", Object(&[("taskSupport", Keep)])),
    ("icons", ICONS),
]);
const PROMPT: Node = Object(&[
    ("name", Keep),
    ("title", Data),
    ("description", Data),
    (
        "arguments",
        Each(&Object(&[
            ("name", Keep),
            ("title", Data),
            ("description", Data),
            ("required", Keep),
        ])),
    ),
    ("icons", ICONS),
]);
const RESOURCE: Node = Object(RESOURCE_LINK);
const TEMPLATE: Node = Object(&[
    // The expressions in its braces must survive: RFC 6570.
    ("uriTemplate", Keep),
    ("name", Data),
    ("title", Data),
    ("description", Data),
    ("mimeType", Keep),
    ("annotations", ANNOTATIONS),
    ("icons", ICONS),
]);
const RESOURCE_LINK: Members = &[
    ("type", Keep),
    ("uri", Uri),
    ("name", Data),
    ("title", Data),
    ("description", Data),
    ("mimeType", Keep),
    ("size", Keep),
    ("annotations", ANNOTATIONS),
    ("icons", ICONS),
];
const CONTENTS: Node = Object(&[
    ("uri", Uri),
    ("mimeType", Keep),
    ("text", Data),
    ("blob", Blob),
]);
/// A message of a prompt or of a conversation.
const SAID: Node = Object(&[("role", Keep), ("content", Each(&BLOCK))]);
/// A content block.
#[rustfmt::skip]
static BLOCK: Node = Select(
    "type",
    &[
        ("text", Object(&[("type", Keep), ("text", Data), ("annotations", ANNOTATIONS)])),
        ("image", MEDIA),
        ("audio", MEDIA),
        ("resource_link", Object(RESOURCE_LINK)),
        ("resource", Object(&[("type", Keep), ("resource", CONTENTS), ("annotations", ANNOTATIONS)])),
        ("tool_use", Object(&[("type", Keep), ("id", Opaque), ("name", Keep), ("input", Data)])),
        ("tool_result", Object(&[
            ("type", Keep),
            ("toolUseId", Opaque),
            ("isError", Keep),
            ("content", Each(&BLOCK)),
            ("structuredContent", Data),
        ])),
    ],
    &Data,
);
const MEDIA: Node = Object(&[
    ("type", Keep),
    ("data", Blob),
    ("mimeType", Keep),
    ("annotations", ANNOTATIONS),
]);
const ANNOTATIONS: Node = Object(&[
    ("audience", Each(&Keep)),
    ("priority", Keep),
    ("lastModified", Keep),
]);
const ICONS: Node = Each(&Object(&[
    ("src", Uri),
    ("mimeType", Keep),
    ("sizes", Each(&Keep)),
    ("theme", Keep),
]));
const IMPLEMENTATION: Members = &[
    ("name", Keep),
    ("version", Keep),
    ("websiteUrl", Keep),
    ("title", Data),
    ("description", Data),
    ("icons", ICONS),
];

// What an upstream asks, and the answers.

const SAMPLING: Node = Object(&[
    ("messages", Each(&SAID)),
    ("systemPrompt", Data),
    // Rewritten, it would stop nothing.
    ("stopSequences", Each(&Keep)),
    ("metadata", Data),
    ("tools", Each(&TOOL)),
    ("toolChoice", Object(&[("mode", Keep)])),
    ("includeContext", Keep),
    ("temperature", Keep),
    ("maxTokens", Keep),
    (
        "modelPreferences",
        Object(&[("hints", Each(&Object(&[("name", Keep)])))]),
    ),
    ("task", Object(&[("ttl", Keep)])),
]);
const SAMPLED: Node = Object(&[
    ("role", Keep),
    ("model", Keep),
    ("stopReason", Keep),
    ("content", Each(&BLOCK)),
]);
const ELICITATION: Node = Select(
    "mode",
    &[("url", Object(VISIT))],
    &Object(&[
        ("mode", Keep),
        ("message", Data),
        (
            "requestedSchema",
            Form(&[
                ("$schema", Keep),
                ("type", Keep),
                ("properties", Keyed(&FIELD)),
                ("required", Each(&Keep)),
            ]),
        ),
        ("task", Object(&[("ttl", Keep)])),
    ]),
);
/// A field of a form. Its titles, choices and default are data.
const FIELD: Node = Form(&[
    ("type", Keep),
    ("format", Keep),
    ("pattern", Keep),
    ("minLength", Keep),
    ("maxLength", Keep),
    ("minimum", Keep),
    ("maximum", Keep),
    ("minItems", Keep),
    ("maxItems", Keep),
    ("items", Form(&[("type", Keep)])),
]);
const VISIT: Members = &[
    ("mode", Keep),
    ("message", Data),
    // Part of an OAuth exchange as a rule.
    ("url", Opaque),
    ("elicitationId", Opaque),
];
const ELICITED: Node = Object(&[("action", Keep), ("content", Keyed(&Data))]);
const ROOT: Node = Object(&[("uri", Uri), ("name", Data)]);

const fn request(method: &'static str, params: Node, result: Node) -> Surface {
    Surface {
        method,
        params,
        result: Some(result),
        by_user: false,
    }
}

const fn notification(method: &'static str, params: Node) -> Surface {
    Surface {
        method,
        params,
        result: None,
        by_user: false,
    }
}

const fn by_user(surface: Surface) -> Surface {
    Surface {
        by_user: true,
        ..surface
    }
}
