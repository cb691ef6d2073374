"""Whether a receipt is the service's: a DSSE envelope, signed by Ed25519. Needs the package `cryptography`."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any, Dict, List, Mapping, Tuple, TypedDict, Union

PAYLOAD_TYPE = "application/vnd.runledger.receipt+json"


class Signature(TypedDict):
    keyid: str
    sig: str


class Receipt(TypedDict):
    """A DSSE envelope, to be kept as it is; `payload` is base64 of JSON."""

    payloadType: str
    payload: str
    signatures: List[Signature]


class InvalidReceipt(ValueError):
    """The receipt is not what the key signed; the message says in which way."""


def verify_receipt(
    receipt: Union[Receipt, Mapping[str, Any], str, bytes], public_key: Union[str, bytes]
) -> Dict[str, Any]:
    """What the receipt says, after its signature was checked.

    `public_key` is PEM, as `GET /receipt-key` has it; it may hold several keys, those of former times too.
    Raises InvalidReceipt; ImportError where `cryptography` is not installed.
    """
    keys = _read_keys(public_key.encode() if isinstance(public_key, str) else public_key)
    payload, signatures = _open(receipt)
    named = [(id, key) for id, key in keys if any(keyid == id for keyid, _ in signatures)]
    if not named:
        raise InvalidReceipt("the receipt is signed by another key")
    signed = b"DSSEv1 %d %s %d %s" % (
        len(PAYLOAD_TYPE),
        PAYLOAD_TYPE.encode(),
        len(payload),
        payload,
    )
    if not any(_is_signed(key, sig, signed) for id, key in named for keyid, sig in signatures if keyid == id):
        raise InvalidReceipt("the receipt was altered after it was signed")
    said = json.loads(payload)
    if not isinstance(said, dict):
        raise InvalidReceipt("this is no receipt")
    return said


def _open(receipt: Any) -> Tuple[bytes, List[Tuple[str, bytes]]]:
    try:
        envelope = json.loads(receipt) if isinstance(receipt, (str, bytes)) else receipt
        if envelope["payloadType"] != PAYLOAD_TYPE:
            raise InvalidReceipt("this is no receipt")
        payload = base64.b64decode(envelope["payload"], validate=True)
        return payload, [
            (str(one["keyid"]), base64.b64decode(one["sig"], validate=True)) for one in envelope["signatures"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidReceipt("this is no receipt") from error


def _read_keys(pem: bytes) -> List[Tuple[str, Any]]:
    """Ed25519 keys with their ids, the SHA-256 of their SubjectPublicKeyInfo; others are left out."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            PublicFormat,
            load_pem_public_key,
        )
    except ImportError as error:
        raise ImportError("to verify receipts, install cryptography: pip install 'runledger[receipts]'") from error
    keys: List[Tuple[str, Any]] = []
    for block in re.findall(rb"-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----", pem):
        try:
            key = load_pem_public_key(block + b"\n")
        except ValueError:
            continue
        if isinstance(key, Ed25519PublicKey):
            der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
            keys.append((hashlib.sha256(der).hexdigest(), key))
    if not keys:
        raise ValueError("public_key holds no Ed25519 key in PEM")
    return keys


def _is_signed(key: Any, sig: bytes, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(sig, signed)
    except InvalidSignature:
        return False
    return True
