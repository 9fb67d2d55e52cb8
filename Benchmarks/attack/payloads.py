"""Requests that servers have read in different ways: each hides another one, which only one of two may see."""

#: What is hidden. Nothing is served by that name, so that its answer is told from all others.
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
N = str(len(HIDDEN)).encode()
LENGTH = b"Content-Length: " + N + b"\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
#: A body of chunks that is empty for who reads chunks.
EMPTY = b"0\r\n\r\n"
CHUNK = f"{len(HIDDEN):x}".encode()


def payloads(server):
    """Names and bytes."""
    method, path = server.method.encode(), server.path.encode()
    line = method + b" " + path + b" HTTP/1.1\r\n"
    host, part = b"Host: localhost\r\n", server.field.encode()
    start = line + host + part

    def fields(*texts):
        """A head with these fields, and what is hidden behind it."""
        return start + b"".join(texts) + b"\r\n" + HIDDEN

    def chunks(*texts):
        """The same where it has chunks: what is hidden stands behind an empty body."""
        return start + b"".join(texts) + b"\r\n" + EMPTY + HIDDEN

    def body(*texts):
        """A body of chunks, of which each is written in some way."""
        return start + CHUNKED + b"\r\n" + b"".join(texts)

    sized = b"\r\n" + HIDDEN + b"\r\n0\r\n\r\n"
    lengths = {
        "two lengths, 0 first": b"Content-Length: 0\r\n" + LENGTH,
        "two lengths, 0 last": LENGTH + b"Content-Length: 0\r\n",
        "one length twice": LENGTH * 2, "length as a list": b"Content-Length: " + N + b", " + N + b"\r\n",
        "length as a list with 0": b"Content-Length: 0, " + N + b"\r\n",
        "length with +": b"Content-Length: +" + N + b"\r\n",
        "length with -": b"Content-Length: -0\r\n", "length with 0x": b"Content-Length: 0x2a\r\n",
        "length with zeros": b"Content-Length: 00" + N + b"\r\n",
        "length with a letter": b"Content-Length: " + N + b"a\r\n",
        "length with a space within": b"Content-Length: 4 2\r\n", "length with nothing": b"Content-Length:\r\n",
        "length behind \\v": b"Content-Length: \x0b" + N + b"\r\n",
        "length behind NUL": b"Content-Length: \0" + N + b"\r\n",
        "length with tabs": b"Content-Length:\t" + N + b"\t\r\n",
        "length of 2^64": b"Content-Length: 18446744073709551616\r\n",
        "length, space before the colon": b"Content-Length : " + N + b"\r\n",
        "length, tab before the colon": b"Content-Length\t: " + N + b"\r\n",
        "length, byte A0 before the colon": b"Content-Length\xa0: " + N + b"\r\n",
        "length with an underscore": b"Content_Length: " + N + b"\r\n",
        "length in a fold": b"Content-Length:\r\n " + N + b"\r\n", "length as a fold": b"A: b\r\n " + LENGTH,
        "length behind a bare CR": b"A: b\rContent-Length: " + N + b"\r\n",
        "length behind a bare LF": b"A: b\n" + LENGTH, "length before a bare LF": LENGTH[:-2] + b"\n",
        "length, hop by hop": LENGTH + b"Connection: Content-Length\r\n",
        "length, and host hop by hop": LENGTH + b"Connection: Host\r\n",
        "length, expectation": LENGTH + b"Expect: 100-continue\r\n",
        "length, odd expectation": LENGTH + b"Expect: x\r\n",
        "length, upgrade": LENGTH + b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
        "upgrade to h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                          b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "plain body": LENGTH,
    }
    codings = {
        "length and chunks": LENGTH + CHUNKED, "chunks and length": CHUNKED + LENGTH, "chunks": CHUNKED,
        "chunks, capital": b"Transfer-Encoding: CHUNKED\r\n" + LENGTH,
        "chunks behind \\v": b"Transfer-Encoding: \x0bchunked\r\n" + LENGTH,
        "chunks behind NUL": b"Transfer-Encoding: \0chunked\r\n" + LENGTH,
        "chunks before NUL": b"Transfer-Encoding: chunked\0\r\n" + LENGTH,
        "chunks behind x": b"Transfer-Encoding: xchunked\r\n" + LENGTH,
        "chunks in quotation marks": b'Transfer-Encoding: "chunked"\r\n' + LENGTH,
        "chunks behind a comma": b"Transfer-Encoding: , chunked\r\n" + LENGTH,
        "chunks with a parameter": b"Transfer-Encoding: chunked;a=b\r\n" + LENGTH,
        "chunks and identity": b"Transfer-Encoding: chunked, identity\r\n" + LENGTH,
        "identity and chunks": b"Transfer-Encoding: identity, chunked\r\n" + LENGTH,
        "identity": b"Transfer-Encoding: identity\r\n" + LENGTH,
        "chunks, identity below": CHUNKED + b"Transfer-Encoding: identity\r\n" + LENGTH,
        "chunks twice": CHUNKED * 2 + LENGTH, "nothing, chunks below": b"Transfer-Encoding:\r\n" + CHUNKED + LENGTH,
        "chunks, space before the colon": b"Transfer-Encoding : chunked\r\n" + LENGTH,
        "chunks, no space": b"Transfer-Encoding:chunked\r\n" + LENGTH,
        "chunks with an underscore": b"Transfer_Encoding: chunked\r\n" + LENGTH,
        "chunks in a fold": b"Transfer-Encoding:\r\n chunked\r\n" + LENGTH,
        "chunks as a fold": b"A: b\r\n\tTransfer-Encoding: chunked\r\n" + LENGTH,
        "chunks behind a bare CR": b"A: b\rTransfer-Encoding: chunked\r\n" + LENGTH,
        "chunks behind a bare LF": b"A: b\nTransfer-Encoding: chunked\r\n" + LENGTH,
        "chunks, hop by hop": CHUNKED + LENGTH + b"Connection: Transfer-Encoding\r\n",
        "chunks, expectation": CHUNKED + b"Expect: 100-continue\r\n",
    }
    bodies = {
        "chunk extension": body(CHUNK, b";a=b", sized),
        "chunk extension with a bare LF": body(CHUNK, b";a\nb", sized),
        "chunk extension with a bare CR": body(CHUNK, b";a\rb", sized),
        "chunk length and a space": body(CHUNK, b" ", sized),
        "chunk length with 0x": body(b"0x", CHUNK, sized), "chunk length with +": body(b"+", CHUNK, sized),
        "chunk length with -": body(b"-", CHUNK, sized),
        "chunk length with zeros": body(b"000000000000000000", CHUNK, sized),
        "chunk length over 2^64": body(b"1", b"0" * 15, CHUNK, sized), "chunk length of nothing": body(sized),
        "chunk length before a bare LF": body(CHUNK, b"\n", HIDDEN, b"\n0\n\n"),
        "chunk without an end": body(CHUNK, b"\r\n", HIDDEN, b"0\r\n\r\n"),
        "chunk with a longer end": body(CHUNK, b"\r\n", HIDDEN, b"xx0\r\n\r\n"),
        "trailer with a length": body(b"0\r\n", LENGTH, b"\r\n", HIDDEN),
        "trailer with chunks": body(b"0\r\n", CHUNKED, b"\r\n", HIDDEN),
        "trailer that is none": body(b"0\r\nx\r\n\r\n", HIDDEN),
        "trailer with a bare LF": body(b"0\r\n\n", HIDDEN),
    }
    rest = host + part + LENGTH + b"\r\n" + HIDDEN
    lines = {
        "CRLF first": b"\r\n" + start + b"\r\n" + HIDDEN, "LF first": b"\n" + start + b"\r\n" + HIDDEN,
        "NUL first": b"\0" + start + b"\r\n" + HIDDEN, "space first": b" " + start + b"\r\n" + HIDDEN,
        "bare LF everywhere": start.replace(b"\r\n", b"\n") + LENGTH[:-2] + b"\n\n" + HIDDEN,
        "bare LF at the end": start + LENGTH + b"\n" + HIDDEN, "bare CR at the end": start + LENGTH + b"\r" + HIDDEN,
        "fold first": line + b" A: b\r\n" + rest,
        "length in a fold first": line + b" " + LENGTH + host + b"\r\n" + HIDDEN,
        "absolute form": method + b" http://localhost" + path + b" HTTP/1.1\r\n" + rest,
        "absolute form, another host": method + b" http://example.org" + path + b" HTTP/1.1\r\n" + rest,
        "absolute form, another scheme": method + b" ftp://localhost" + path + b" HTTP/1.1\r\n" + rest,
        "two hosts": line + b"Host: example.org\r\n" + rest, "no host": line + part + LENGTH + b"\r\n" + HIDDEN,
        "host with a space": line + b"Host: localhost example.org\r\n" + part + LENGTH + b"\r\n" + HIDDEN,
        "host with a path": line + b"Host: localhost/hidden?\r\n" + part + LENGTH + b"\r\n" + HIDDEN,
        "HTTP/1.0 and chunks": method + b" " + path + b" HTTP/1.0\r\nConnection: keep-alive\r\n" + host + CHUNKED
                               + LENGTH + b"\r\n" + EMPTY + HIDDEN,
        "HTTP/1.0 kept alive": method + b" " + path + b" HTTP/1.0\r\nConnection: keep-alive\r\n" + rest,
        "HTTP/0.9": method + b" " + path + b"\r\n" + HIDDEN,
        "HTTP/1.2": method + b" " + path + b" HTTP/1.2\r\n" + rest,
        "HTTP/2.0": method + b" " + path + b" HTTP/2.0\r\n" + rest,
        "http/1.1": method + b" " + path + b" http/1.1\r\n" + rest,
        "two spaces": method + b"  " + path + b"  HTTP/1.1\r\n" + rest,
        "tabs": method + b"\t" + path + b"\tHTTP/1.1\r\n" + rest,
        "space behind the version": method + b" " + path + b" HTTP/1.1 \r\n" + rest,
        "request in the target": method + b" " + path + b" HTTP/1.1\rHost: localhost\r\r HTTP/1.1\r\n" + rest,
        "fragment": method + b" " + path + b"#a HTTP/1.1\r\n" + rest,
        "byte FF in the target": method + b" " + path + b"?\xff HTTP/1.1\r\n" + rest,
        "HEAD with a body": b"HEAD" + line[len(method):] + rest,
        "DELETE": b"DELETE" + line[len(method):] + rest,
        "PUT": b"PUT" + line[len(method):] + rest,
        "TRACE": b"TRACE" + line[len(method):] + rest, "CONNECT": b"CONNECT localhost:80 HTTP/1.1\r\n" + rest,
        "OPTIONS": b"OPTIONS * HTTP/1.1\r\n" + rest,
        "small letters": line.lower()[:len(method)] + line[len(method):] + rest,
        "space in the method": line[:2] + b" " + line[2:] + rest,
        "no colon": fields(b"Content-Length " + N + b"\r\n"), "no name": fields(b": " + N + b"\r\n" + LENGTH),
        "NUL in a value": fields(b"A: a\0b\r\n" + LENGTH), "NUL in a name": fields(b"A\0: b\r\n" + LENGTH),
        "preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + HIDDEN,
    }
    return {**{name: fields(text) for name, text in lengths.items()},
            **{name: chunks(text) for name, text in codings.items()}, **bodies, **lines}
