"""A platform that reads each request with two parsers: PHP, and the libraries of Python.

It records every complete request, has PHP read the same bytes, and answers with success."""
import base64
import email.parser
import http.client
import http.server
import json
import threading
import urllib.parse


class Read:
    """What a parser found: lists of pairs (name, bytes)."""

    def __init__(self, query, fields, files, to):
        self.query, self.fields, self.files, self.to = query, fields, files, to

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __repr__(self):
        return repr(vars(self))


def numbered(pairs):
    """The pairs with PHP's numbers in the brackets that have none, in the order of their names."""
    counts, result = {}, []
    for name, value in pairs:
        first, *rest = name.split("[")
        for key in rest:
            if key == "]":
                counts[first] = counts.get(first, -1) + 1
                key = "%d]" % counts[first]
            first += "[" + key
        result.append((first, value))
    return sorted(result)


def without_doubled(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("a name stands twice in the JSON: %r" % names)
    return dict(pairs)


def read_multipart(content_type, body):
    parser = email.parser.BytesFeedParser()
    parser.feed(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    form, fields, files = parser.close(), [], []
    if form.defects or not form.is_multipart():
        raise ValueError("Python finds no form: %r" % form.defects)
    for part in form.get_payload():
        if part.defects or part.is_multipart():
            raise ValueError("Python finds no part: %r" % part.defects)
        name = part.get_param("name", header="content-disposition")
        found = files if part.get_filename() is not None else fields
        found.append((name, part.get_payload(decode=True)))
    return fields, files


def read_pairs(text):
    pairs = urllib.parse.parse_qsl(text, keep_blank_values=True, encoding="latin-1")
    return [(name, value.encode("latin-1")) for name, value in pairs]


def read_with_python(request):
    content_type, body = request["type"] or "", request["body"]
    kind = content_type.split(";")[0]
    fields, files, to = [], [], None
    if kind == "multipart/form-data":
        fields, files = read_multipart(content_type, body)
    elif kind == "application/x-www-form-urlencoded":
        fields = read_pairs(body.decode("latin-1"))
    elif kind == "application/json":
        to = json.loads(body, object_pairs_hook=without_doubled).get("to")
    elif body:
        raise ValueError("a body of the type %r" % content_type)
    query = read_pairs(request["query"])
    return Read(numbered(query), numbered(fields), numbered(files), to)


def read_with_php(port, request):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": request["type"]} if request["type"] else {}
    connection.request("POST", "/?" + request["query"], request["body"], headers)
    answer = connection.getresponse().read()
    connection.close()
    found = json.loads(answer)

    def decoded(name):
        return sorted((key, base64.b64decode(value)) for key, value in found[name])

    return Read(decoded("query"), decoded("fields"), decoded("files"), found["to"])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def read_chunks(self):
        body = b""
        while True:
            size = int(self.rfile.readline(), 16)
            chunk = self.rfile.read(size)
            if len(chunk) < size or not self.rfile.readline():
                return None
            if not size:
                return body
            body += chunk

    def read_body(self):
        """The body, or None when it is not complete."""
        try:
            if "chunked" in self.headers.get("Transfer-Encoding", ""):
                return self.read_chunks()
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length)
            return body if len(body) == length else None
        except (ValueError, ConnectionError):
            return None

    def answer(self):
        body = self.read_body()
        if body is None:
            self.close_connection = True
            return
        requests = self.server.requests
        requests.append({"method": self.command, "body": body,
                         "query": self.path.partition("?")[2],
                         "type": self.headers.get("Content-Type")})
        text = b'{"success":true,"messages":[{"id":"wamid.%d"}]}' % len(requests)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


def start(port):
    """Starts the platform; its member `requests` has every complete request."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.requests = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
