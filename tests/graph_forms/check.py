"""Sends forms to the gateway, and compares what PHP and Python read of what the platform got.

    python3 check.py table PORT PHP-PORT      every request of table.py
    python3 check.py random PORT PHP-PORT COUNT SEED      random forms

PORT: of the platform, which graph_base_url names. The environment has BASE (the gateway's URL),
TOKEN, LINE, WABA and BLOCKED, a phone that is blocked on the line. Of each request the gateway must
either refuse it with an error in the platform's shape, and the platform gets nothing; or both
parsers find the same names and values, none of which the gateway refuses."""
import http.client
import json
import os
import random
import sys

import generate
import platform_with_parsers
import table

FREE = "15550007001"


def send(request):
    """Sends the request over a connection of its own; returns status and body."""
    host = os.environ["BASE"].partition("//")[2]
    node, edge = os.environ["LINE"], request["edge"]
    if edge == "templates":
        node, edge = os.environ["WABA"], "message_templates"
    query = "?" + request["query"] if request["query"] else ""
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.putrequest("POST", "/v21.0/%s/%s%s" % (node, edge, query))
    connection.putheader("Authorization", "Bearer " + os.environ["TOKEN"])
    connection.putheader("Content-Length", str(len(request["body"])))
    for content_type in request["types"]:
        connection.putheader("Content-Type", content_type)
    connection.endheaders(request["body"])
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    return response.status, answer


def is_refusal(status, answer):
    try:
        error = json.loads(answer)["error"]
        return (status, error["code"]) in ((400, 100), (401, 190), (403, 10)) and len(error["message"]) > 20
    except (ValueError, KeyError):
        return False


def problem_of(read, edge):
    """What the gateway would have refused."""
    pairs = read.query + read.fields + read.files
    for name, value in pairs:
        word = name.split("[")[0].lower().replace("-", "_")
        if word in ("method", "batch", "ids", "access_token", "appsecret_proof"):
            return "the name " + name
        if word == "to" and value.decode("latin-1") == os.environ["BLOCKED"] and edge == "messages":
            return "the blocked contact"
    is_blocked = str(read.to) == os.environ["BLOCKED"] and edge == "messages"
    return "the blocked contact in JSON" if is_blocked else None


class Check:
    def __init__(self, port, php_port):
        self.platform = platform_with_parsers.start(port)
        self.php_port = php_port
        self.refused, self.passed, self.failed = 0, 0, 0

    def fail(self, request, text):
        self.failed += 1
        print("%s: %s" % (request["label"], text))

    def read(self, request):
        """Sends it; returns what the parsers read, None when it was refused."""
        self.platform.requests.clear()
        status, answer = send(request)
        count = len(self.platform.requests)
        if is_refusal(status, answer) and count == 0:
            self.refused += 1
            return None
        if status != 200 or count != 1:
            raise ValueError("%d, and %d requests for the platform: %r" % (status, count, answer))
        self.passed += 1
        got = self.platform.requests[0]
        php = platform_with_parsers.read_with_php(self.php_port, got)
        python = platform_with_parsers.read_with_python(got)
        if php != python:
            raise ValueError("PHP reads %r, Python %r, of %r" % (php, python, got))
        problem = problem_of(php, request["edge"])
        if problem or got["method"] != "POST":
            raise ValueError("%s was passed on: %r" % (problem, got))
        return php

    def check(self, request):
        try:
            read = self.read(request)
        except (ValueError, OSError) as error:
            return self.fail(request, str(error)[:3000])
        want = request.get("want", read and read.fields)
        if (read is None) != (want is None):
            return self.fail(request, "expected %r, found %r" % (want, read))
        if read is None:
            return None
        if sorted(want) != read.fields or sorted(request.get("files", read.files)) != read.files:
            return self.fail(request, "expected %r, found %r" % (want, read))
        return None


def main():
    kind, port, php_port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    check = Check(port, php_port)
    if kind == "table":
        for request in table.rows(FREE, os.environ["BLOCKED"]):
            check.check(request)
    else:
        generator = random.Random(int(sys.argv[5]))
        for number in range(int(sys.argv[4])):
            request = generate.request(generator, FREE, os.environ["BLOCKED"])
            request["label"] = "number %d: %r" % (number, request)
            check.check(request)
    print("%d passed on, %d refused, %d wrong" % (check.passed, check.refused, check.failed))
    sys.exit(check.failed > 0 or check.passed < 20 or check.refused < 20)


main()
