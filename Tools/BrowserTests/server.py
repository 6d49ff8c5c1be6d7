"""The mock server under test, and a client of it that is no browser."""

import http.client
import json
import socket
import subprocess
import threading
import urllib.parse


class Server:
    """A mock-server process; ends with its standard input."""

    def __init__(self, program, *options):
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--seed-user", "--until-stdin-closes", "--quiet", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ready = json.loads(self.process.stdout.readline())
        self.url = ready["url"]
        self.port = ready["port"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)

    def realm(self, name):
        return Realm(self.url, f"/r/{name}")


class Realm:
    """Calls to one realm, each over a connection of its own."""

    def __init__(self, url, prefix=""):
        self.url = url + prefix
        parts = urllib.parse.urlsplit(url)
        self._address = (parts.hostname, parts.port)
        self._prefix = prefix

    def send(self, method, path, body=None, bearer=None, headers=None):
        """(status, JSON or None); (0, None) if the answer is lost."""
        connection = http.client.HTTPConnection(*self._address, timeout=30)
        fields = dict(headers or {})
        data = None
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
        if bearer:
            fields["Authorization"] = f"Bearer {bearer}"
        try:
            connection.putrequest(method, self._prefix + path, skip_accept_encoding=True)
            for name, value in fields.items():
                connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            reply = connection.getresponse()
            text = reply.read()
            return reply.status, json.loads(text) if text else None
        except (http.client.HTTPException, OSError, ValueError):
            return 0, None
        finally:
            connection.close()

    def admin(self, method, call, body=None):
        status, json_ = self.send(method, f"/__mock/{call}", body)
        assert status < 400, f"{method} {call}: {status} {json_}"
        return json_

    def login(self, email="anna@example.com", password="password123"):
        return self.send("POST", "/auth/login", {"email": email, "password": password})

    def tokens(self, **who):
        status, tokens = self.login(**who)
        assert status == 200, f"login: {status}"
        return tokens

    def refresh(self, tokens):
        return self.send("POST", "/auth/refresh", {"refreshToken": tokens["refreshToken"]})

    def me(self, tokens):
        return self.send("GET", "/me", bearer=tokens["accessToken"])[0]


class Proxy:
    """Stands between a browser and the server, and can let connections break and come to nothing."""

    def __init__(self, port):
        self.target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._pairs = []
        self._lock = threading.Lock()
        self._isCut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Breaks every connection, and every new one, until `mend`."""
        with self._lock:
            self._isCut = True
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                self._end(end)

    def mend(self):
        with self._lock:
            self._isCut = False

    def close(self):
        self.cut()
        self._listener.close()

    @staticmethod
    def _end(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        end.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._isCut:
                    client.close()
                    continue
                try:
                    server = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    client.close()
                    continue
                self._pairs.append((client, server))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        self._end(sink)
        self._end(source)


class StrangeSite:
    """A web site of somebody else: one page, at another port."""

    def __init__(self, html):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"
        data = html.encode()
        self._answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(data) + data
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client:
                try:
                    client.recv(65536)
                    client.sendall(self._answer)
                except OSError:
                    pass

    def close(self):
        self._listener.close()
