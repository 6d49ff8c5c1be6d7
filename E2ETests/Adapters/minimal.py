#!/usr/bin/env python3
"""A client in a few dozen lines that speaks the driver protocol (Documentation/exec-clients.md): the chirp dialect, one
refresh after a 401, its tokens in a file. Naive on purpose: it shows the protocol, and `e2e run` shows what it lacks.

    e2e run --driver "exec:python3 E2ETests/Adapters/minimal.py"
"""
import json, os, sys, threading, urllib.error, urllib.request

base, file, speak = "", "", threading.Lock()


class Failure(Exception):
    def __init__(self, kind, message, status=None):
        self.answer = {"kind": kind, "message": message, "status": status}


def load():
    return json.load(open(file)) if os.path.exists(file) else None


def save(tokens):
    os.makedirs(os.path.dirname(file), 0o700, exist_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(tokens, out)


def send(method, path, body=None, token=None):
    headers = {"Content-Type": "application/json"} | ({"Authorization": "Bearer " + token} if token else {})
    request = urllib.request.Request(base + path, json.dumps(body).encode() if body else None, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, None
    except (OSError, ValueError) as error:
        raise Failure("transient", f"no usable answer: {type(error).__name__}")


def expect(answer, *good):
    status, body = answer
    if status not in good:
        passing = status in (408, 425, 429) or status >= 500
        raise Failure("transient" if passing else "refused", f"status {status}", status)
    return body


def refresh(_={}):
    tokens = load() or missing()
    try:
        save(expect(send("POST", "/auth/refresh", {"refreshToken": tokens["refreshToken"]}), 200))
    except Failure as failure:
        if failure.answer["kind"] != "refused":
            raise
        os.remove(file)
        missing()


def missing():
    raise Failure("notSignedIn", "nobody is signed in")


def call(verb):
    attempt = lambda: send(verb["method"], verb["path"], verb.get("body"), (load() or missing())["accessToken"])
    status, body = attempt()
    if status == 401:
        refresh()
        status, body = attempt()
    return {"status": status, "body": body}


def logout(_):
    tokens = load()
    if tokens:
        os.remove(file)
        send("POST", "/auth/logout", {"refreshToken": tokens["refreshToken"]})


def configure(verb):
    global base, file
    base, file = verb["baseURL"], verb["storeDir"] + "/tokens.json"


verbs = {
    "hello": lambda _: {"name": "minimal.py", "version": "1", "verbs": list(verbs), "dialects": ["chirp"]},
    "configure": configure,
    "login": lambda v: save(expect(send("POST", "/auth/login", {"email": v["identifier"], "password": v["password"]}), 200)),
    "register": lambda v: expect(send("POST", "/auth/register", {k: v[k] for k in ("username", "email", "password")}), 201) and None,
    "call": call,
    "refresh": refresh,
    "logout": logout,
    "session": lambda _: {"state": "signedIn" if load() else "signedOut"},
}


def answer(message):
    try:
        run = verbs.get(message["do"]) or (lambda _: (_ for _ in ()).throw(Failure("unsupported", message["do"])))
        reply = {"id": message["id"], "ok": True, "value": run(message) or {}}
    except Failure as failure:
        reply = {"id": message["id"], "ok": False, "error": failure.answer}
    except Exception as error:  # whatever happens, every verb has its answer
        reply = {"id": message["id"], "ok": False, "error": {"kind": "other", "message": repr(error)}}
    with speak:
        print(json.dumps(reply), flush=True)


for line in sys.stdin:
    # Verbs may come while others run: each in a thread of its own, answers in any order.
    threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
