"""Runs the CloakLLM SDK's own verifier over directories: each line of standard input names one, and
each line of standard output is its verdict as JSON."""
import json
import sys

from cloakllm.audit import AuditEntry, _validate_audit_entry_schema
from cloakllm._canonical import canonical_json
from cloakllm_verifier import verify_audit


def schema_errors(directory):
    """Every entry is one the SDK could have written, in the canonical form it hashes."""
    from pathlib import Path

    for file in sorted(Path(directory).glob("audit_*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            _validate_audit_entry_schema(entry)
            AuditEntry(**entry)
            hashed = {key: value for key, value in entry.items() if key != "entry_hash"}
            written = canonical_json(hashed)[:-1] + ',"entry_hash":"' + entry["entry_hash"] + '"}'
            if entry["event_type"] != "log_repaired" and written != line:
                return f"{file.name}: not canonical: {line}"
    return None


for directory in sys.stdin.read().splitlines():
    verdict = verify_audit(directory)
    if verdict["ok"]:
        verdict["schema"] = schema_errors(directory)
    print(json.dumps(verdict))
