# SPDX-License-Identifier: BSD-3-Clause
"""A server that takes profiles as Pyroscope and collectors of OpenTelemetry do:
ingest.py REQUESTS PORT-FILE

Answers that many requests and ends. What is wrong with one is answered with 422; of each, a
line is printed. Pyroscope and OpenTelemetry's own collector are in no package of Debian or npm.
"""

import gzip
import os
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import otlp
from protobuf import fields, packed

LABELS = {"host", "domain", "vcpu"}


class Profile:
    """A decoded Profile; field numbers are those of pprof's profile.proto."""

    def __init__(self, data):
        self.strings, self.samples, self.time, self.duration, types = [], [], 0, 0, []
        for number, value in fields(data):
            if number == 1:
                types.append(dict(fields(value)))
            elif number == 2:
                self.samples.append(list(fields(value)))
            elif number == 6:
                self.strings.append(value.decode())
            elif number == 9:
                self.time = value
            elif number == 10:
                self.duration = value
        assert len(types) == 1, "one sample type"
        self.type = "/".join(self.strings[types[0][i]] for i in (1, 2))

    def labels(self, sample):
        found = [dict(fields(value)) for number, value in sample if number == 3]
        return {self.strings[label[1]]: self.strings[label[2]] for label in found}

    def value(self, sample):
        return sum(n for number, value in sample if number == 2 for n in packed(value))

    def depth(self, sample):
        return sum(1 for number, value in sample if number == 1 for _ in packed(value))


def check_pprof(url, body):
    """Describes the request; raises an exception if there is something wrong with it."""
    query = parse_qs(url.query, strict_parsing=True)
    assert url.path == "/ingest", f"path {url.path}"
    assert sorted(query) == ["format", "from", "name", "until"], sorted(query)
    assert all(len(values) == 1 for values in query.values()), query
    assert query["format"] == ["pprof"], query["format"]
    begin, end = int(query["from"][0]), int(query["until"][0])
    profile = Profile(gzip.decompress(body))
    by_label = Counter()
    for sample in profile.samples:
        labels = profile.labels(sample)
        assert set(labels) == LABELS, f"labels {sorted(labels)}"
        assert profile.depth(sample) > 0, "a sample without locations"
        for label in labels.items():
            by_label["=".join(label)] += profile.value(sample)
    assert begin == profile.time // 10**9, "from is not its start"
    assert abs(end * 10**9 - profile.time - profile.duration) <= 10**9, "until is not its end"
    total = sum(map(profile.value, profile.samples))
    return " ".join(
        [query["name"][0], f"{end - begin} s", f"{total} {profile.type}"]
        + [f"{label}:{count}" for label, count in sorted(by_label.items())]
    )


def check(url, headers, body):
    if url.path != "/v1development/profiles":
        return check_pprof(url, body)
    assert headers["Content-Type"] == "application/x-protobuf", headers["Content-Type"]
    return otlp.check(body)


class Handler(BaseHTTPRequestHandler):
    timeout = 60

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            said, status = check(urlsplit(self.path), self.headers, body), 200
        except Exception as error:
            said, status = f"{type(error).__name__}: {error}", 422
        print(status, said, flush=True)
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    requests, port_file = int(sys.argv[1]), sys.argv[2]
    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.timeout = 60
    with open(port_file + ".new", "w", encoding="ascii") as file:
        print(server.server_port, file=file)
    os.rename(port_file + ".new", port_file)
    for _ in range(requests):
        server.handle_request()


main()
