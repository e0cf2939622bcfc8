"""Tests of the studio's server of HTTP: how it reads requests, and what it does with broken ones."""

import json
import random
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from server_tests import fill
from webdriver import PATIENCE, Studio


class HTTPServerTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.store = fill(cls.folder.name, rows=2000)
        cls.studio = Studio(cls.store)
        address = urllib.parse.urlsplit(cls.studio.url)
        cls.port = address.port
        cookie = f"persist_studio_{cls.port}={address.query.removeprefix('token=')}"
        cls.host = f"Host: 127.0.0.1:{cls.port}\r\n"
        cls.allowed = f"{cls.host}Cookie: {cookie}\r\nOrigin: http://127.0.0.1:{cls.port}\r\n"

    @classmethod
    def tearDownClass(cls):
        cls.studio.close()
        cls.folder.cleanup()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def answers(self, pieces, end=False):
        """Sends bytes, and reads until the server ends the connection: heads and contents."""
        with self.connect() as connection:
            for piece in pieces:
                connection.sendall(piece)
            if end:
                connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as stream:
                return list(self.read(stream))

    def read(self, stream, is_head=False):
        while line := stream.readline():
            version, status, _ = line.decode().split(" ", 2)
            self.assertEqual(version, "HTTP/1.1")
            fields = {}
            while (line := stream.readline().decode().rstrip("\r\n")):
                name, value = line.split(": ", 1)
                fields[name.lower()] = value
            if status == "100":
                yield 100, fields, b""
                continue
            if fields.get("transfer-encoding") == "chunked":
                content = b""
                while size := int(stream.readline(), 16):
                    content += stream.read(size)
                    self.assertEqual(stream.read(2), b"\r\n")
                self.assertEqual(stream.read(2), b"\r\n")
            elif "content-length" in fields:
                content = b"" if is_head else stream.read(int(fields["content-length"]))
            else:
                content = stream.read()
            yield int(status), fields, content

    def request(self, method, path, content=b"", fields="", version="1.1"):
        length = f"Content-Length: {len(content)}\r\n" if content else ""
        return f"{method} {path} HTTP/{version}\r\n{self.allowed}{fields}{length}\r\n".encode() + content

    def test_requests_arrive_in_any_pieces(self):
        rows = json.dumps({"entity": "Item", "text": "", "columns": ["name"], "start": 0, "count": 3}).encode()
        requests = [
            self.request("GET", "/"), self.request("POST", "/api/rows", rows), self.request("GET", "/api/counts"),
            self.request("GET", "/api/export?entity=Item&columns=name&format=csv"),
            self.request("POST", "/api/rows", rows, fields="Connection: close\r\n"),
        ]
        expected = [self.answers([request], end=True)[0] for request in requests]
        self.assertEqual([status for status, _, _ in expected], [200] * 5)
        self.assertEqual(expected[3][2].count(b"\n"), 2001)
        # An empty line after a content is no request.
        sent = b"\r\n".join(requests)
        for seed in range(30):
            generator = random.Random(seed)
            ends = sorted(generator.randrange(len(sent)) for _ in range(generator.choice([0, 1, 3, 30])))
            pieces = [sent[start:end] for start, end in zip([0] + ends, ends + [len(sent)])]
            found = self.answers(pieces)
            self.assertEqual([content for _, _, content in found], [content for _, _, content in expected], seed)
        self.assertEqual(len(self.answers([bytes([byte]) for byte in requests[0] + requests[4]])), 2)

    def test_what_programs_understand_differently_is_refused(self):
        head = f"GET / HTTP/1.1\r\n{self.allowed}"
        for request, status in [
            (f"GET / HTTP/1.1\r\n\r\n", 400),
            (f"GET / HTTP/1.1\r\n{self.host}{self.host}\r\n", 400),
            (f"{head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
            (f"{head}Content-Length: 1, 1\r\n\r\na", 400),
            (f"{head}Content-Length: +1\r\n\r\na", 400),
            (f"{head}Content-Length: -1\r\n\r\n", 400),
            (f"{head}Content-Length: 0x1\r\n\r\na", 400),
            (f"{head}Content-Length:\r\n\r\n", 400),
            (f"{head}Content-Length: 99999999999999999999\r\n\r\n", 413),
            (f"{head}Content-Length: 16777217\r\n\r\n", 413),
            (f"{head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
            (f"{head}Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\na", 501),
            (f"{head}Content-Length : 1\r\n\r\na", 400),
            (f"{head}X: a\r\n folded\r\n\r\n", 400),
            (f"{head}X: a\nY: b\r\n\r\n", 400),
            (f"{head}X: a\rb\r\n\r\n", 400),
            (f"{head}X: a\0b\r\n\r\n", 400),
            (f"{head}no colon\r\n\r\n", 400),
            (f"{head}: empty\r\n\r\n", 400),
            (f"GET  / HTTP/1.1\r\n{self.allowed}\r\n", 400),
            (f"GET / HTTP/1.1 \r\n{self.allowed}\r\n", 400),
            (f"GET /\r\n\r\n", 400),
            (f"GE(T / HTTP/1.1\r\n{self.allowed}\r\n", 400),
            (f"GET http://127.0.0.1:{self.port}/ HTTP/1.1\r\n{self.allowed}\r\n", 400),
            (f"OPTIONS * HTTP/1.1\r\n{self.allowed}\r\n", 400),
            (f"GET /\u00e9 HTTP/1.1\r\n{self.allowed}\r\n", 400),
            (f"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
            (f"GET / HTTP/1.2\r\n{self.allowed}\r\n", 505),
            (f"{head}X: {'a' * 40000}\r\n\r\n", 431),
            ("a" * 100000, 431),
        ]:
            found = self.answers([request.encode()])
            self.assertEqual([answer[0] for answer in found], [status], request[:300])
            self.assertEqual(found[0][1]["connection"], "close")
            self.assertIn("default-src 'none'", found[0][1]["content-security-policy"])

    def test_a_connection_ends_when_the_client_wants_it(self):
        [(status, fields, content)] = self.answers([self.request("GET", "/", version="1.0")])
        self.assertEqual((status, fields["connection"]), (200, "close"))
        self.assertIn(b"<main", content)
        export = "/api/export?entity=Item&columns=name&format=csv"
        [(status, fields, content)] = self.answers([self.request("GET", export, version="1.0")])
        self.assertNotIn("transfer-encoding", fields)
        self.assertEqual(content.count(b"\n"), 2001)
        self.assertEqual(len(self.answers([self.request("GET", "/", fields="Connection: x, Close\r\n") * 3])), 1)

    def test_an_answer_to_head_has_no_content(self):
        with self.connect() as connection:
            connection.sendall(self.request("HEAD", "/api/counts") + self.request("GET", "/api/counts"))
            with connection.makefile("rb") as stream:
                status, fields, _ = next(self.read(stream, is_head=True))
                self.assertIn(status, [404, 405])
                self.assertEqual(next(self.read(stream))[0], 200)

    def test_a_client_may_wait_for_permission(self):
        rows = json.dumps({"entity": "Item", "text": "", "columns": [], "start": 0, "count": 1}).encode()
        request = self.request("POST", "/api/rows", rows, fields="Expect: 100-continue\r\nConnection: close\r\n")
        with self.connect() as connection:
            connection.sendall(request[:-len(rows)])
            with connection.makefile("rb") as stream:
                answers = self.read(stream)
                self.assertEqual(next(answers)[0], 100)
                connection.sendall(rows)
                self.assertEqual(next(answers)[0], 200)

    def test_clients_that_leave_or_are_silent_hinder_nobody(self):
        silent = [self.connect() for _ in range(80)]
        for connection in silent[::2]:
            connection.sendall(b"GET / HT")
        for _ in range(20):
            with self.connect() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                connection.sendall(self.request("GET", "/api/export?entity=Item&columns=name&format=csv"))
                connection.recv(1)
        self.assertEqual(self.answers([self.request("GET", "/api/counts")], end=True)[0][0], 200)
        for connection in silent:
            connection.close()

    def test_a_port_in_use_is_said(self):
        result = subprocess.run(
            [self.studio.process.args[0], self.store, "--port", str(self.port)], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn(f"The port {self.port} can't be used: another program uses it.", result.stderr)
        self.assertIn("--port", result.stderr)

    def test_signals_end_the_program_in_order(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            studio = Studio(self.store)
            studio.process.send_signal(number)
            self.assertEqual(studio.process.wait(timeout=PATIENCE), 0)
            studio.close()


if __name__ == "__main__":
    unittest.main()
