#!/usr/bin/env python3
"""`gotrue` from PyPI, unchanged, as a client that the scenarios judge (Documentation/exec-clients.md).

    pip install gotrue
    e2e run --driver "exec:python3 E2ETests/Adapters/gotrue_driver.py" --baseline E2ETests/Adapters/gotrue.baseline.yaml

Nothing is added to what the library does: no retry, no lock, no refresh that it would not make. The adapter gives it a file to
keep its session in, since a program that is started again has no other memory, and sends the calls that are not the
library's own with the token that `get_session()` gives, as its users do. Its own timer is off (`auto_refresh_token=False`), as
its documentation advises for servers: tests count refreshes, and the timer makes some by itself.
"""
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import gotrue
import httpx
from gotrue import SyncGoTrueClient, SyncSupportedStorage
from gotrue import errors
from gotrue.constants import EXPIRY_MARGIN
from gotrue.version import __version__


class FileStorage(SyncSupportedStorage):
    """One file an item, readable by nobody else, replaced in one step."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)

    def path(self, key):
        return os.path.join(self.folder, key)

    def get_item(self, key):
        try:
            with open(self.path(key)) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def set_item(self, key, value):
        new = f"{self.path(key)}.{threading.get_ident()}"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(value)
        os.replace(new, self.path(key))

    def remove_item(self, key):
        try:
            os.remove(self.path(key))
        except FileNotFoundError:
            pass


class Failure(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Driver:
    client = None
    base = ""
    headers = {}

    def hello(self, _):
        return {
            "name": "gotrue", "version": __version__, "dialects": ["supabase"], "tells": ["user"], "leeway": EXPIRY_MARGIN,
            "verbs": ["hello", "configure", "login", "register", "call", "token", "refresh", "logout", "session"],
        }

    def configure(self, verb):
        self.base, key = verb["baseURL"], verb.get("apiKey", "")
        self.headers = {"apikey": key}
        # As supabase-py makes it: the key in both headers, until there is a session.
        self.client = SyncGoTrueClient(
            url=f"{self.base}/auth/v1", headers={"apikey": key, "Authorization": f"Bearer {key}"},
            storage=FileStorage(verb["storeDir"]), auto_refresh_token=False)

    def login(self, verb):
        self.client.sign_in_with_password({"email": verb["identifier"], "password": verb["password"]})

    def register(self, verb):
        self.client.sign_up({
            "email": verb["email"], "password": verb["password"], "options": {"data": {"username": verb["username"]}}})

    def session_or_failure(self):
        session = self.client.get_session()
        if not session:
            raise Failure("notSignedIn", "get_session() gives none")
        return session

    def call(self, verb):
        if (verb["method"], verb["path"]) == ("GET", "/auth/v1/user"):
            # The library's own way to this one.
            answer = self.client.get_user()
            if answer is None:
                raise Failure("notSignedIn", "get_user() gives none")
            return {"status": 200, "body": answer.user.model_dump(mode="json")}
        session = self.session_or_failure()
        answer = httpx.request(
            verb["method"], self.base + verb["path"], json=verb.get("body"), timeout=20,
            headers=self.headers | {"Authorization": f"Bearer {session.access_token}"})
        try:
            body = answer.json()
        except ValueError:
            body = None
        return {"status": answer.status_code, "body": body}

    def token(self, _):
        return {"accessToken": self.session_or_failure().access_token}

    def refresh(self, _):
        self.client.refresh_session()

    def logout(self, _):
        self.client.sign_out()

    def session(self, _):
        # What it has stored, without asking for a valid one: that would refresh.
        stored = self.client._storage.get_item(self.client._storage_key)
        if not stored:
            return {"state": "signedOut"}
        user = json.loads(stored).get("user") or {}
        metadata = user.get("user_metadata") or {}
        return {"state": "signedIn", "user": {"email": user.get("email"), "username": metadata.get("username")}}


def kind_of(error):
    """What one of the library's errors means in the protocol's words."""
    status = getattr(error, "status", None)
    if isinstance(error, errors.AuthSessionMissingError):
        return "notSignedIn"
    if isinstance(error, errors.AuthRetryableError) or isinstance(error, httpx.TransportError):
        return "transient"
    if isinstance(error, errors.AuthApiError):
        return "transient" if status in (408, 425, 429) or (status or 0) >= 500 else "refused"
    return "other"


driver, speak = Driver(), threading.Lock()


def answer(message):
    verb = getattr(driver, message["do"], None) if message["do"] in driver.hello({})["verbs"] else None
    try:
        if verb is None:
            raise Failure("unsupported", f"no verb {message['do']}")
        reply = {"id": message["id"], "ok": True, "value": verb(message) or {}}
    except Failure as failure:
        reply = {"id": message["id"], "ok": False, "error": {"kind": failure.kind, "message": str(failure)}}
    except Exception as error:
        told = {"kind": kind_of(error), "message": f"{type(error).__name__}: {error}", "code": getattr(error, "code", None)}
        if getattr(error, "status", None):
            told["status"] = error.status
        reply = {"id": message["id"], "ok": False, "error": told}
    with speak:
        print(json.dumps(reply), flush=True)


with ThreadPoolExecutor(max_workers=64) as pool:
    for line in sys.stdin:
        pool.submit(answer, json.loads(line))
