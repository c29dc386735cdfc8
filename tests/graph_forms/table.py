"""Requests and what both parsers must read of them; None: the gateway refuses the request."""
import json
import urllib.parse

URLENCODED = "application/x-www-form-urlencoded"


def part(name, value, more="", before='Content-Disposition: form-data; name='):
    """A part; `name` as it is spelled, with its quotes."""
    head = before + name + more + "\r\n\r\n"
    return head.encode("latin-1") + (value if isinstance(value, bytes) else value.encode())


def form(*parts, boundary="XX"):
    line = b"--" + boundary.encode()
    return b"".join(line + b"\r\n" + p + b"\r\n" for p in parts) + line + b"--\r\n"


HELLO = part('"name"', "hello")
READ = [("name", b"hello")]
MULTIPART = "multipart/form-data; boundary=XX"


def row(label, want, body=b"", types=(MULTIPART,), query="", edge="templates", files=()):
    return {"label": label, "want": want, "body": body, "types": types, "query": query,
            "edge": edge, "files": list(files)}


def parts(label, want, *list_of_parts, **more):
    return row(label, want, form(*list_of_parts), **more)


def names():
    """Spellings of names in a multipart form."""
    evil = part("'method'", "delete")
    yield parts("double quotes", READ, HELLO)
    yield parts("no quotes", READ, part("name", "hello"))
    yield parts("a name in brackets", [("a[b][0]", b"1")], part('"a[b][]"', "1"))
    yield parts("items of a list", [("a[0]", b"1"), ("a[1]", b"2")], part('"a[]"', "1"),
                part('"a[]"', "2"))
    yield parts("method", None, part('"method"', "delete"), HELLO)
    yield parts("method in single quotes", None, evil, HELLO)
    yield parts("fields and method in single quotes", None, part("'fields'", "owner{id}"),
                part("'method'", "get"))
    for name in ("access.token", "access token", " method", "method ", "me\tthod", "method[]",
                 "method[x", "method]", "[method]", "", "m\\ethod", 'm\\"ethod', "Method", "METHOD",
                 "method\xa0", "\xefmethod", "=?utf-8?q?method?=", "batch", "batch[0]", "ids",
                 "ids[]", "fields", "fields[0]", "access_token", "Access-Token", "a[b]c", "a[b",
                 "a[[b]]", "a" + "[b]" * 16, "method;", "a=b", "a&method", "name\x01"):
        yield parts("the name " + repr(name), None, part('"%s"' % name, "delete"), HELLO)
    yield parts("name*", None, part("*=utf-8''method", "x", before="Content-Disposition: "
                                    "form-data; name"), HELLO)
    yield parts("name* beside name", READ, part('"name"; name*=utf-8\'\'method', "hello"))
    yield parts("two names", None, part('"name"; name="method"', "delete"), HELLO)
    yield parts("two dispositions", None, part('"name"\r\nContent-Disposition: form-data; '
                                               'name="method"', "delete"), HELLO)
    yield parts("a name in a parameter before", READ, part('"name"', "hello",
                before='Content-Disposition: form-data; x="; name=\'method\'"; name='))
    yield parts("a name on the next line", READ, part('"name"', "hello",
                before="Content-Disposition: form-data;\r\n name="))
    yield parts("no name", None, part('"f"', "delete",
                before="Content-Disposition: form-data; filename="), HELLO)
    yield parts("no header", None, b"\r\ndelete", HELLO)
    yield parts("a name twice", None, HELLO, HELLO)
    yield parts("a name and a list of it", None, HELLO, part('"name[]"', "x"))
    yield parts("a list and its item", None, part('"a[]"', "x"), part('"a[0]"', "y"))
    yield parts("a name twice in other cases", None, HELLO, part('"Name"', "x"))
    yield parts("more than 100 parts", None, *[part('"a%d"' % i, "x") for i in range(101)])
    yield parts("100 parts", [("a%d" % i, b"x") for i in range(100)],
                *[part('"a%d"' % i, "x") for i in range(100)])


def part_headers():
    yield parts("a type of mail", None, part('"name"', "hello", "\r\nContent-Type: "
                "multipart/mixed; boundary=YY"), HELLO)
    yield parts("a message", None, part('"name"', "hello", "\r\nContent-Type: message/rfc822"))
    yield parts("another charset", None, part('"name"', "+AGEAYg-", "\r\nContent-Type: text/plain; "
                                              "charset=utf-7"))
    yield parts("another charset, extended", None, part('"name"', "x", "\r\nContent-Type: "
                "text/plain; charset*=''utf-7"))
    yield parts("the charset UTF-8", READ, part('"name"', "hello", "\r\nContent-Type: text/plain; "
                                                'charset="UTF-8"'))
    yield parts("base64", None, part('"name"', "aGVsbG8=", "\r\nContent-Transfer-Encoding: base64"))
    yield parts("binary", READ, part('"name"', "hello", "\r\nContent-Transfer-Encoding: binary"
                                     "\r\nContent-Length: 5\r\nX-Y: z"))
    yield parts("a type with a name", READ, part('"name"', "hello", "\r\nContent-Type: text/plain; "
                                                 'name="method"; x="a b"'))
    yield parts("LF alone in a header", None, part('"name"\nX: y', "hello"))
    yield parts("CR alone in a header", None, part('"name"\rX: y', "hello"))
    yield parts("NUL in a header", None, part('"name\0"', "hello"))


def boundaries():
    inner = form(part('"method"', "delete"), boundary="EVIL")
    hidden = form(part('"name"', "hello"), part('"x"', b"1\r\n" + inner))
    read = READ + [("x", b"1\r\n" + inner)]
    for content_type in ('multipart/form-data; x="boundary=EVIL,"; boundary=XX',
                         'multipart/form-data; xboundary=EVIL; boundary=XX',
                         'multipart/form-data; boundary=XX; x="boundary=EVIL"',
                         "Multipart/FORM-DATA ; Boundary = XX ;", 'multipart/form-data; '
                         'boundary="XX"', 'multipart/form-data; boundary="\\XX"'):
        want = None if "\\" in content_type else read
        yield row(content_type, want, hidden, (content_type,))
    for types in (("multipart/form-data; boundary=XX; boundary=EVIL",),
                  ("multipart/form-data; boundary*=EVIL",), ("multipart/form-data",),
                  ("multipart/form-data; boundary=EVIL, multipart/form-data; boundary=XX",),
                  ("multipart/form-data; boundary=EVIL", MULTIPART),
                  ("text/plain", MULTIPART), ("multipart/mixed; boundary=XX",)):
        yield row(" and ".join(types), None, hidden, types)
    delete = part('"method"', "delete")
    for label, content in (
            ("LF alone before a boundary", b"a\n--XX\r\n" + delete),
            ("LF alone around a boundary", b"a\n--XX\n" + delete.replace(b"\r", b"")),
            ("CR alone before a boundary", b"a\r--XX\r" + delete),
            ("LF alone before the last boundary", b"a\n--XX--"),
            ("a longer boundary", b"a\r\n-XX\r\n" + delete),
            ("a boundary within a line", b"a--XX\r\n" + delete)):
        yield row(label, [("name", content)], form(part('"name"', content)))
    yield row("a boundary that goes on", None, form(part('"name"', b"a\r\n--XXY\r\n" + delete)))
    yield row("a boundary that begins like another", [("name", b"a\r\n--X\r\n" + delete)],
              form(part('"name"', b"a\r\n--X\r\n" + delete)))
    yield row("blanks after a boundary", READ, form(HELLO).replace(b"XX\r\n", b"XX \t\r\n"))
    yield row("before and after", READ, b"x\r\n--YY\r\n" + form(HELLO) + form(delete))
    yield row("LF alone", None, form(HELLO).replace(b"\r", b""))
    yield row("no last boundary", None, form(HELLO)[:-6])
    yield row("nothing", None, b"--XX--x")
    yield row("an empty part", [("name", b"")], form(part('"name"', "")))


def urlencoded():
    def pairs(label, want, body, types=(URLENCODED,), **more):
        body = body if isinstance(body, bytes) else body.encode("latin-1")
        return row("form: " + label, want, body, types, **more)

    yield pairs("plain", READ, "name=hello")
    yield pairs("escapes", [("name", b"a b;&=c%"), ("x[y][0]", "ü".encode())],
                "name=a+b%3b%26=c%25&x%5by%5D[]=%c3%bc")
    yield pairs("separators of others", [("name", b"a;method=delete")], "name=a;method=delete")
    yield pairs("JSON as it is", [("text", b'{"body":"a; b"}')], 'text={"body":"a; b"}')
    yield pairs("no value", [("a", b""), ("b", b"")], "a&b=&&")
    yield pairs("a charset", READ, "name=hello", (URLENCODED + "; charset=utf-8",))
    yield pairs("another charset", None, "name=hello", (URLENCODED + "; charset=utf-7",))
    yield pairs("another charset, quoted", None, "name=hello", (URLENCODED + ';x="; charset=a"',))
    for name in ("method", "+method", "%20method", "%09method", "me%74hod", "method[]", "method%5B",
                 "method[x", "Method", "m.ethod", "access.token[]", "batch", "ids", "%00method",
                 "method%00", "", "[method]", "a.b", "a b", "a%3b", "%ef%bb%bfmethod", "method%a0"):
        yield pairs("the name " + name, None, name + "=delete&a=b")
    yield pairs("a name twice", None, "a=1&b=2&a=3")
    yield pairs("a name and an item", None, "a=1&a[b]=3")
    yield pairs("fields twice", None, "fields=a&a=b&fields=b%7Bc%7D")
    yield pairs("fields in two places", None, "fields=a", query="fields=b")
    yield pairs("more than 100 names", None, "&".join("a%d=" % i for i in range(101)))
    yield pairs("NUL", None, b"a=\0&method=delete")
    yield pairs("no UTF-8", None, "a=%ff")


def queries():
    for name in ("method", "+method", "%20method", "me%74hod", "method%5B%5D", "Method",
                 "method.x", "m%65thod%5B", "", "a.b", "batch", "%ef%bb%bfids"):
        yield row("query: " + name, None, query=name + "=delete", types=())
    yield row("query: separators of others", [], query="a=b;method=delete", types=())
    yield row("query: a name twice", None, query="a=1&a=2", types=())
    yield row("query: a list", [], query="a[]=1&a[]=2&b%5Bc%5D=%5B", types=())


def json_bodies():
    def text(label, want, body, types=("application/json",), **more):
        body = body if isinstance(body, bytes) else body.encode()
        return row("JSON: " + label, [] if want else None, body, types, **more)

    yield text("plain", True, '{"name":"hello"}')
    yield text("no type", True, '{"name":"&method=delete&"}', ())
    yield text("named a form", True, '{"name":"&method=delete&"}', (URLENCODED,))
    for name in ("method", " method", "me\\u0074hod", "method[]", "Method", "method\\u0000", "a.b",
                 "batch", "access_token", ""):
        yield text("the name " + name, False, '{"name":"a","%s":"delete"}' % name)
    yield text("a name twice", False, '{"a":1,"a":2}')
    yield text("a name twice, escaped", False, '{"a":1,"\\u0061":2}')
    yield text("a name twice within", False, '{"a":[{"b":{"c":1,"d":2,"c":3}}]}')
    yield text("names of several objects", True, '{"a":[{"b":1},{"b":2}],"b":{"a":1}}')
    yield text("UTF-16", False, '{"a":1}'.encode("utf-16"))
    yield text("UTF-16 without a mark", False, '{"a":1}'.encode("utf-16-le"))
    yield text("a mark", False, b"\xef\xbb\xbf{}")
    yield text("another charset", False, "{}", ("application/json; charset=utf-16",))
    yield text("UTF-7", False, '{"+AG0-ethod":"delete"}', ("application/json; charset=utf-7",))
    yield text("a charset", True, "{}", ('application/json;charset="UTF-8"; x=y',))


def messages(free, blocked):
    """A message to `free` passes, one that a parser takes for one to `blocked` does not."""
    rest = [part('"messaging_product"', "whatsapp"), part('"type"', "text"),
            part('"text[body]"', "x")]
    read = [("messaging_product", b"whatsapp"), ("text[body]", b"x"), ("type", b"text")]
    to = part('"to"', free)
    more = {"edge": "messages"}
    good = '"messaging_product":"whatsapp","type":"text","text":{"body":"x"}'
    pairs = "messaging_product=whatsapp&type=text&text[body]=x"
    yield parts("a message", read + [("to", free.encode())], to, *rest, **more)
    yield parts("to blocked", None, part('"to"', blocked), *rest, **more)
    for spelling in ("'to'", '"to"', '"To"', '"to[]"', '"to "', '" to"', '"to.x"', '"recipient[]"'):
        yield parts("to and " + spelling, None, to, part(spelling, blocked), *rest, **more)
        yield parts(spelling + " alone", None, part(spelling, blocked), *rest, **more)
    yield parts("to in a file", None, part('"to"', blocked, '; filename="a"'), *rest, **more)
    yield row("to as an escape in another file", None,
              form(part('"to"', free, '; filename=""'), *rest), edge="messages",
              query="to=" + blocked)
    for name in ("to", "+to", "t%6f", "to%00", "to.x", "to%5B%5D", "To", "recipient"):
        yield row("to and the query " + name, None, form(to, *rest), edge="messages",
                  query=name + "=" + blocked)
        if name != "recipient":
            yield row("the query %s alone" % name, None, edge="messages", types=(),
                      query=name + "=" + blocked)
    for name in ("to", "+to", "t%6f", "to%00", "to.x", "to[]", "To", "to%5B%5D"):
        yield row("a form with to and " + name, None, types=(URLENCODED,), edge="messages",
                  body=("%s&to=%s&%s=%s" % (pairs, free, name, blocked)).encode())
        yield row("a form with " + name, None, types=(URLENCODED,), edge="messages",
                  body=("%s&%s=%s" % (pairs, name, blocked)).encode())
    both = '{%s,"to":"%s","x":"&to=%s&"}' % (good, free, blocked)
    for types in ((URLENCODED,), (), ("application/json",)):
        yield row("JSON that is a form, too: %r" % (types,), [], both.encode(), types,
                  edge="messages")
    for member in ('"to":"%s","to":"%s"' % (free, blocked), '"to":"%s","to":"%s"' % (blocked, free),
                   '"to":"%s","t\\u006f":"%s"' % (free, blocked), '"to":["%s"]' % blocked,
                   '"to":{"a":"%s"}' % blocked, '"to":"%s","To":"%s"' % (free, blocked),
                   '"to":"%s","to[]":"%s"' % (free, blocked), '"to":"%s\\u0000"' % blocked,
                   '"to":%s.%se%d' % (blocked[0], blocked[1:], len(blocked) - 1),
                   '"to":%s.0' % blocked, '"to":-%s' % blocked, '"to":%s' % blocked,
                   '"to":"%s","recipient_type":"INDIVIDUAL"' % blocked,
                   '"to":"%s","recipient_type":"person"' % blocked,
                   '"to":"%s","recipient_type":"individual","recipient_type":"group"' % blocked,
                   '"to":"%s","status":"read","status":"x"' % blocked,
                   '"to":"%s","type":["text"]' % free):
        yield row("JSON with " + member, None, ("{%s,%s}" % (member, good)).encode(),
                  ("application/json",), edge="messages")


def phones(free, blocked):
    """Spellings of `to` in which readers may find other digits, an extension, or none."""
    other = "".join(chr(0xff10 + int(digit)) for digit in blocked)
    for to in (other, blocked[:-1] + other[-1], other.translate({0xff10 + i: 0x660 + i
                                                                 for i in range(10)}),
               blocked[:-1] + "\xb2", blocked[:-1] + "a", blocked[:7] + "PAA2", blocked + "x5",
               blocked + " ext. 5", blocked + ";ext=5", blocked + "," + free, blocked + "#5",
               blocked + "e0", blocked + ":5@s.whatsapp.net", "0x" + "%x" % int(blocked), "abc"):
        text = json.dumps({"messaging_product": "whatsapp", "text": {"body": "x"}, "to": to})
        yield row("the phone %r" % to, None, text.encode(), ("application/json",),
                  edge="messages")
        yield row("the phone %r of a form" % to, None, edge="messages", types=(URLENCODED,),
                  body=("text[body]=x&to=" + urllib.parse.quote(to)).encode())
    for to in ("+" + free, " (%s) %s.%s/%s " % (free[0], free[1:4], free[4:7], free[7:]),
               "\u202a+%s\xa0%s\u2011%s\u202c" % (free[:1], free[1:5], free[5:])):
        text = json.dumps({"messaging_product": "whatsapp", "text": {"body": "x"}, "to": to})
        yield row("the phone %r" % to, [], text.encode(), ("application/json",),
                  edge="messages")


def media():
    content = b"\x89PNG\r\n--\n--XX\r\n\x00\xff"
    file = part('"file"', content, '; filename="a.png"\r\nContent-Type: image/png')
    product = part('"messaging_product"', "whatsapp")
    read, files = [("messaging_product", b"whatsapp")], [("file", content)]
    more = {"edge": "media"}
    yield parts("an upload", read, file, product, files=files, **more)
    yield parts("without quotes, as .NET", read,
                part("file", content, "; filename=a.png; filename*=utf-8''a.png"), product,
                files=files, **more)
    for name in ('a";name="method', "C:\\b", "a'b; name=method", "../a", "\xfcber", "a\\\"b", "",
                 "=?utf-8?q?a?=", "a\tb"):
        yield parts("the file name " + repr(name), read, product, part(
            '"file"', content, '; filename="%s"' % name.replace('"', "%22")), files=files, **more)
    for spelling in ('"method"', "'method'", "method", '"batch"', '"access_token"', '"fields"',
                     '"access.token"', '"messaging_product"'):
        for at in (0, 1, 2):
            list_of_parts = [file, product]
            list_of_parts.insert(at, part(spelling, "delete"))
            yield parts("an upload with %s at %d" % (spelling, at), None, *list_of_parts, **more)
    large = part('"file"', content + b"\n" * 300000, '; filename="a.png"')
    yield parts("a large upload", read, large, product,
                files=[("file", content + b"\n" * 300000)], **more)
    yield parts("method after a large file", None, large, product, part('"method"', "delete"),
                **more)
    for boundary in ("b", "x" * 29, "x" * 30, "x" * 70):
        yield row("a boundary of %d characters" % len(boundary), read,
                  form(file, product, boundary=boundary),
                  ("multipart/form-data; boundary=" + boundary,), files=files, **more)
    tight = b"--b\r\nContent-Disposition:form-data;name=%s;filename=\r\nContent-Type:a/b\r\n\r\n"
    body = b"\r\n".join(tight % (b"f%d" % i) for i in range(100)) + b"\r\n--b--"
    yield row("the form that grows most", [], body, ("multipart/form-data; boundary=b",),
              files=[("f%d" % i, b"") for i in range(100)], **more)
    shared = body.replace(b"\r\n\r\n\r\n", b"\r\n\r\n")
    yield row("the same with shared line ends", [], shared, ("multipart/form-data; boundary=b",),
              files=[("f%d" % i, b"") for i in range(100)], **more)


def rows(free, blocked):
    for group in (names(), part_headers(), boundaries(), urlencoded(), queries(), json_bodies(),
                  messages(free, blocked), phones(free, blocked), media()):
        yield from group
