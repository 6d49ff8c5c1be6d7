"""A line a step: what an interop script prints, and how it fails."""

import json
import sys
import traceback
import urllib.request

failures = 0


def step(name):
    """Runs the function below it at once, as a step of that name."""

    def run(function):
        global failures
        try:
            value = function()
        except Exception as error:
            failures += 1
            print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
            traceback.print_exc()
            return None
        print(f"ok {name}", flush=True)
        return value

    return run


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def refused(kind, function):
    """The exception of that kind which the call must end with."""
    try:
        value = function()
    except kind as error:
        return error
    raise AssertionError(f"not refused: {value!r}")


def admin(realm, method, call, body=None):
    """A call of the mock server's admin API."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{realm}/__mock/{call}", data, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def finish():
    sys.exit(1 if failures else 0)
