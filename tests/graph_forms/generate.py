"""Random forms, most of which are nearly right: request(generator, FREE, BLOCKED)."""

NAMES = ["name", "a", "b", "x[y]", "x[]", "to", "recipient", "type", "method", "fields", "batch",
         "ids", "access_token", "A", "a-b", "a_b", "0"]
CHANGES = ["[]", "[0]", ".", " ", "\t", "\0", "[", "]", ";", "=", "&", "%00", "\\", '"', "'", "\r",
           "\n", "\x80", "-", "_", "*", "--", "%5B", "%5d", "+", "%20"]
VALUES = ["1", "", "hello", "delete", "FREE", "BLOCKED", "a&method=delete", "a;method=delete",
          '{"to":"BLOCKED"}', "\r\n--XX\r\nContent-Disposition: form-data; name=\"method\"\r\n\r\nx",
          "\n--XX\nContent-Disposition: form-data; name=\"method\"\n\nx", "\r\n--XXX\r\n", "--XX--",
          "\r\n--XX--", "\n--XX--\n"]
QUOTES = ['"%s"', '"%s"', '"%s"', "%s", "'%s'", '"%s', ' "%s" ']
DISPOSITIONS = ["Content-Disposition: form-data; name=", "content-disposition:form-data;name=",
                "Content-Disposition: form-data; x=y; name=", "Content-Disposition: attachment; name=",
                "Content-Disposition: form-data;\r\n name=", "Content-Disposition : form-data; name=",
                "Content-Disposition: form-data; name*=utf-8''method; name=",
                "Content-Disposition: form-data; filename=\"a;name=method\"; name="]
MORE = ["", "", "", "", '; filename="a.txt"', "; filename=a", '; filename=""',
        '; filename="a\\"; name=\\"method"', "; filename*=utf-8''%22%3bname=method", "; name=method",
        "\r\nContent-Type: text/plain", "\r\nContent-Type: text/plain; charset=utf-16",
        "\r\nContent-Type: multipart/mixed; boundary=YY", "\r\nContent-Type: message/rfc822",
        "\r\nContent-Transfer-Encoding: quoted-printable", "\r\nX-Y: z", "\nX-Y: z"]
TYPES = ["multipart/form-data; boundary=XX", "multipart/form-data; boundary=XX",
         "multipart/form-data; boundary=XX", 'multipart/form-data; boundary="XX"',
         "multipart/form-data; x=\"boundary=YY\"; boundary=XX", "multipart/form-data; boundary=XXX",
         "multipart/form-data; boundary=XX; boundary=YY", "multipart/form-data;boundary=X X",
         "multipart/form-data; BOUNDARY=XX; charset=utf-7", "multipart/form-data; boundary=XX, a/b"]


def changed(generator, text, changes, probability):
    """The text with some of the changes at random places."""
    while generator.random() < probability:
        at = generator.randrange(len(text) + 1)
        text = text[:at] + generator.choice(changes) + text[at:]
    return text


def value(generator, free, blocked):
    return generator.choice(VALUES).replace("FREE", free).replace("BLOCKED", blocked)


def multipart(generator, free, blocked):
    text, end = "", generator.choice(["\r\n"] * 9 + ["\n"])
    for _ in range(generator.randrange(1, 4)):
        name = changed(generator, generator.choice(NAMES), CHANGES, 0.2)
        text += "--XX" + end + generator.choice(DISPOSITIONS[:1] * 6 + DISPOSITIONS)
        text += generator.choice(QUOTES) % name + generator.choice(MORE) + end + end
        text += value(generator, free, blocked) + end
    text += generator.choice(["--XX--\r\n"] * 9 + ["--XX--", "--XX", "--XX-- \r\n--XX\r\n", ""])
    text = changed(generator, text, CHANGES, 0.1)
    return text, (generator.choice(TYPES),)


def pairs(generator, free, blocked):
    names = [changed(generator, generator.choice(NAMES), CHANGES, 0.2)
             for _ in range(generator.randrange(1, 4))]
    text = generator.choice(["&"] * 9 + [";"]).join(
        name + generator.choice(["="] * 5 + [""]) + value(generator, free, blocked)
        for name in names)
    return text, (generator.choice(["application/x-www-form-urlencoded"] * 5 + [
        "application/x-www-form-urlencoded; charset=UTF-8",
        "application/x-www-form-urlencoded; charset=utf-16"]),)


def json_text(generator, free, blocked):
    members = ['"%s":"%s"' % (changed(generator, generator.choice(NAMES), ["\\u0000", "\\u006f", "[]",
                                                                           " ", "."], 0.2),
                              generator.choice([free, blocked, "1", "&to=" + blocked + "&"]))
               for _ in range(generator.randrange(1, 4))]
    return "{%s}" % ",".join(members), generator.choice([
        ("application/json",), ("application/json",), (), ("application/x-www-form-urlencoded",),
        ("application/json; charset=utf-16",)])


def request(generator, free, blocked):
    kind = generator.choice([multipart, multipart, multipart, pairs, json_text])
    body, types = kind(generator, free, blocked)
    edge = generator.choice(["templates", "messages"] + ["media"] * (kind is multipart))
    return {"body": body.encode("latin-1"), "types": types, "query": "", "edge": edge}
