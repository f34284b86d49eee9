"""The live web as a source: addresses, pages and searches, against servers that misbehave. Nothing leaves this machine."""
import email.utils
import gzip
import json
import socket
import sys
import threading
import time
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import httpx2
import pytest
from books import ROOT

from agent_steps import CourseError
from agent_steps.classroom.pages import search_engines, web
from agent_steps.classroom.pages.addresses import check_public, plain_address
from agent_steps.classroom.pages.download import download
from agent_steps.classroom.pages.page_text import page_text
from agent_steps.classroom.pages.problems import RateLimited, SourceError
from agent_steps.classroom.pages.web import Web

PAGE = "<html><head><title>Tides &amp;\n quays</title></head><body>" \
       "<p>The water <b>rose</b> at the\n <a href='/q'>quay</a>.</p></body></html>"
SENTENCE = "The water rose at the quay."
HTML = "text/html; charset=utf-8"


# ---- the text of a page ----

@pytest.mark.parametrize("html", [
    PAGE,
    PAGE.replace("<p>", "<div>").replace("</p>", "</div>"),
    PAGE.replace("<p>", "<ul><li>").replace("</p>", "</ul>"),
    PAGE.replace("<p>", "<table><tr><td>").replace("</p>", "</table>"),
    PAGE.replace("<p>", "").replace("</p>", "<br>More."),
    PAGE.replace("rose</b> at", "ro&shy;se</b>&nbsp;at"),
    PAGE.replace("<p>", "<nav><a href=/>Home</a></nav><article>" + "<p>Another sentence, about nothing at all.</p>" * 40 + "<p>"),
    PAGE.encode(),
    PAGE.split("</a>")[0] + ".",   # broken off
])
def test_a_sentence_stands_in_the_text_as_a_reader_sees_it(html):
    title, text = page_text(html)
    assert title == "Tides & quays" and SENTENCE in text and "Home" not in text


def test_each_paragraph_item_and_row_is_a_line():
    html = ("<article><h1>Head</h1><p>One\ntwo</p><ul><li>a</li><li>b</li></ul>"
            "<table><tr><td>1</td><td>2</td></tr></table><pre>x\n  y</pre>")
    assert page_text(html)[1] == "Head\nOne two\na\nb\n1 2\nx\ny"
    long = SENTENCE * 20
    assert page_text(f"{html}<p>{long}</p></article>")[1] == f"Head\nOne two\n- a\n- b\n| 1 | 2 |\nx\ny\n{long}"


def test_what_is_hidden_is_left_out():
    html = "<body><p>Seen<span style='display: none'>, hidden</span>.</p><p hidden>Hidden</p>" \
           "<script>x</script><noscript>no script</noscript>"
    assert page_text(html) == ("", "Seen.")


@pytest.mark.parametrize("content, content_type", [
    ("<title>é</title>".encode("latin-1"), "text/html; charset=ISO-8859-1"),
    ("<title>é</title>".encode("utf-8-sig"), "text/html"),
    ("<title>é</title>".encode("utf-16"), "text/html"),
    ("<meta charset=latin-1><title>é</title>".encode("latin-1"), "text/html"),
    ("<?xml version='1.0' encoding='iso-8859-1'?><html><head><title>é</title></head></html>".encode("latin-1"), "application/xhtml+xml"),
    ("<meta charset=utf-16><title>é</title>".encode(), "text/html"),
    ("<title>é</title>".encode(), "text/html; charset=punycode"),
    ("<title>é</title>".encode(), "text/html; charset=nonsense"),
    ("<title>é</title>", "text/html; charset=latin-1"),
])
def test_the_charset_is_found(content, content_type):
    assert page_text(content, content_type)[0] == "é"


def test_what_no_charset_explains_is_shown_as_damaged():
    assert page_text("<title>é</title>".encode("latin-1"))[0] == "\ufffd"


def test_plain_text_is_taken_as_it_is():
    assert page_text(b"<b>a</b>  &amp;\r\n  b", "text/plain; charset=ascii") == ("", "<b>a</b>  &amp;\n  b")


@pytest.mark.parametrize("content_type", ["text/html", "text/plain"])
def test_characters_that_nobody_sees_are_left_out(content_type):
    order = "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")
    unseen = f"\x1b\u200b\u202e\u2066\u2063\ufeff{order}"
    assert page_text(f"The {unseen}tide 🏴 is שלום high.", content_type)[1] == "The tide 🏴 is שלום high."


@pytest.mark.parametrize("html", ["", " ", "<", "<html>", "<!--", "\x00", "\ud800", b"\xff\xfe\x00", "<title>x",
                                  "</p>", "<a b='", "&#0;&#1;", "<![CDATA[x"])
def test_broken_html_is_no_error(html):
    title, text = page_text(html)
    assert isinstance(title, str) and isinstance(text, str)


def test_a_page_without_text_has_a_title_only():
    assert page_text("<title>App</title><body><div id=root></div><script>start()</script></body>") == ("App", "")


@pytest.mark.parametrize("start, again, text", [("<title>x</title>", "<div>", ""), ("", "<p>x</p>", "x\nx"), ("<p>", "<b>a</b> ", "a a")])
def test_five_megabytes_of_tags_are_read_without_trafilatura_which_takes_minutes_for_them(monkeypatch, start, again, text):
    monkeypatch.setattr("trafilatura.extract", lambda *given, **options: pytest.fail("it was asked"))
    assert text in page_text(start + again * (5_000_000 // len(again)))[1]


def test_five_megabytes_of_a_bracket_are_text():
    assert "<<" in page_text("<p>" + "<" * 5_000_000)[1]


def test_text_in_the_deep_is_found():
    assert page_text("<div>" * 1500 + "deep" + "</div>" * 1500 + "<p>after</p>") == ("", "deep\nafter")


# ---- addresses ----

@pytest.mark.parametrize("url, plain", [
    ("example.org", "https://example.org/"),
    ("//Example.org/A", "https://example.org/A"),
    (" HTTP://Example.ORG.:80/a%7eb%2fc/?utm_source=x&q=1&fbclid=2&GCLID=3&b=%41#top ", "http://example.org/a~b%2Fc/?q=1&b=A"),
    ("https://x.org:443?b=2&a=1", "https://x.org/?b=2&a=1"),
    ("https://x.org:8443/a b%", "https://x.org:8443/a%20b%25"),
    ("münchen.de/ü", "https://xn--mnchen-3ya.de/%C3%BC"),
    ("http://[::0001]:80/", "http://[::1]/"),
    ("localhost:8000/x", "https://localhost:8000/x"),
    ("data/library/x.html", "data/library/x.html"),
    (".\\data\\library//x.html", "data/library/x.html"),
    ("mailto:a@b.org", "mailto:a@b.org"),
])
def test_an_address_has_one_form(url, plain):
    assert plain_address(url) == plain and plain_address(plain) == plain


@pytest.mark.parametrize("url", ["", "http://", "http:///x", "http:x.org", "http://[bad/", "http://x.org:99999/",
                                 "http://a b.org/", "http://x..org",
                                 "http://good.org\\@bad.org/", "http://127%2e1/"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(SourceError, match="is not an address"):
        plain_address(url)


def names(monkeypatch, **addresses):
    """Have names, and no others, resolve to these addresses; numbers resolve as ever."""
    def getaddrinfo(host, port, *rest, **options):
        if host.replace(".", "").isdigit():
            return real(host, port, *rest, **options)
        if host.partition(".")[0] not in addresses:
            raise socket.gaierror("unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses[host.partition(".")[0]]]
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.mark.parametrize("url", [
    "file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)", "data/library/x.html",
    "http://user@example.org/", "http://user:secret@8.8.8.8/", "http://8.8.8.8:22/", "http://8.8.8.8:0/",
    "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://0x7f000001/",
    "http://017700000001/", "http://127.0.0.1./",
    "http://[::1]/", "http://[::]/", "http://localhost/", "http://localhost.:8080/", "http://１２７.0.0.1/",
    "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/", "http://169.254.169.254/", "http://100.64.0.1/", "http://0.0.0.0/",
    "http://224.0.0.1/", "http://240.0.0.1/", "http://255.255.255.255/", "http://192.0.2.1/",
    "http://[::ffff:10.0.0.1]/", "http://[::10.0.0.1]/", "http://[2002:a00:1::]/", "http://[64:ff9b::a00:1]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[fe80::1]/", "http://[fc00::1]/", "http://[fec0::1]/", "http://[ff0e::1]/", "http://[2001:db8::1]/", "http://[2001::1]/",
    "http://inside.example/", "http://mixed.example/", "http://unknown.example/",
])
def test_what_is_not_public_is_not_fetched(monkeypatch, url):
    names(monkeypatch, inside=["10.0.0.7"], mixed=["8.8.8.8", "192.168.0.7"], localhost=["127.0.0.1"])
    with Web() as source, pytest.raises(SourceError):
        source.fetch(url)


def test_a_password_is_not_repeated():
    with pytest.raises(SourceError) as caught:
        check_public("http://user:secret@example.org/")
    assert "secret" not in str(caught.value)


def test_all_addresses_of_a_public_host_are_given(monkeypatch):
    names(monkeypatch, pages=["8.8.8.8", "1.1.1.1", "8.8.8.8"])
    assert check_public("https://Pages.example:8443/x") == ["8.8.8.8", "1.1.1.1"]
    assert check_public("http://[64:ff9b::808:808]/") == ["64:ff9b::808:808"]   # 8.8.8.8, where a network has no IPv4


# ---- pages: a server that misbehaves ----

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.requests.append(dict(self.headers.items()))
        self.close_connection = True
        self.server.behaviours[self.path.partition("?")[0]](self)

    def send(self, body=b"", status=200, length=None, **headers):
        self.send_response(status)
        for name, value in {"content_type": HTML, "content_length": str(len(body) if length is None else length), **headers}.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.push(body)

    def push(self, data):
        try:
            self.wfile.write(data)
        except OSError:   # the client has had enough
            pass

    def log_message(self, *_):
        """Print nothing."""


def answers(body=b"", status=200, **headers):
    return lambda handler: handler.send(body if isinstance(body, bytes) else body.encode(), status, **headers)


def redirects(location, status=302):
    return answers(status=status, location=location)


def drips(start):
    """Send a start, then a byte every 50 milliseconds for as long as somebody listens."""
    def behaviour(handler):
        handler.push(start)
        while not handler.server.closing.wait(0.05):
            try:
                handler.wfile.write(b"a")
            except OSError:
                return
    return behaviour


def bomb(handler):
    """A hundred megabytes, packed in a hundred kilobytes."""
    handler.send(gzip.compress(bytes(100_000_000)), content_encoding="gzip", content_length=None)


def flood(handler):
    handler.push(b"HTTP/1.1 200 OK\r\n" + b"".join(b"x-%d: %s\r\n" % (number, b"y" * 1000) for number in range(5000)) + b"\r\n")


def in_an_hour():
    return email.utils.formatdate(time.time() + 3600, usegmt=True)


BEHAVIOURS = {
    "/good": answers(PAGE),
    "/latin": answers("<title>é</title><p>Café.</p>".encode("latin-1"), content_type="text/html; charset=latin-1"),
    "/plain": answers("Plain  text", content_type="text/plain"),
    "/packed": answers(gzip.compress(PAGE.encode()), content_encoding="gzip"),
    "/untitled": answers("<p>Text.</p>"), "/cookie": answers(PAGE, set_cookie="id=1; Path=/"),
    "/broken": answers("<title>Tides</title></head></html><p>Text <b>of <i>the</p> page</div>"),
    "/host": lambda handler: handler.send(f"<p>{handler.headers['host']}".encode()),
    "/loop": redirects("/loop"), "/inside": redirects("http://169.254.169.254/latest/meta-data/"), "/disk": redirects("file:///etc/passwd"),
    "/bad": redirects("http://[bad"), "/nowhere": answers(PAGE, 302), "/chain0": redirects("good#part", 301),
    **{f"/chain{number}": redirects(f"chain{number - 1}", status) for number, status in enumerate((302, 303, 307, 308, 302), 1)},
    "/huge": answers(b"<p>" + b"word " * 20_000), "/bomb": bomb, "/flood": flood,
    "/drip": drips(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 9999\r\n\r\n"),
    "/drip-open": drips(b"HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\n<p>Half a"),
    "/drip-headers": drips(b"HTTP/1.1 200 OK\r\nx: "),
    "/silent": lambda handler: handler.server.closing.wait(20), "/hang-up": lambda handler: None,
    "/cut": lambda handler: handler.send(PAGE.encode(), length=9999),
    "/not-gzip": answers(PAGE, content_encoding="gzip"), "/br": answers(PAGE, content_encoding="br"),
    "/pdf": answers(b"%PDF-1.7", content_type="application/pdf"), "/untyped": answers(PAGE, content_type=None),
    "/empty": answers(""), "/script": answers("<title>App</title><script>start()</script>"),
    "/no-content": answers(status=204),
    "/404": answers("<p>Not here", 404), "/500": answers("<p>Sorry", 500), "/503": answers("<p>Sorry", 503),
    "/429": answers(status=429), "/429-seconds": answers(status=429, retry_after="7"),
    "/429-nonsense": answers(status=429, retry_after="soon"),
    "/429-date": lambda handler: handler.send(status=429, retry_after=in_an_hour()),
    "/503-seconds": answers(status=503, retry_after="120"),
    "/503-date": lambda handler: handler.send(status=503, retry_after=in_an_hour()),
}


@pytest.fixture(scope="module")
def server():
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.behaviours, made.requests, made.closing = BEHAVIOURS, [], threading.Event()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    made.host = f"127.0.0.1:{made.server_address[1]}"
    yield made
    made.closing.set()
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture(scope="module")
def source(server):
    with Web(allow=(server.host,), seconds=10, most_bytes=50_000) as made:
        yield made


@pytest.fixture
def fetch(server, source):
    return lambda path: source.fetch(f"http://{server.host}{path}")


def test_a_page_is_fetched(server, fetch):
    assert fetch("/good?utm_source=x#part") == {"url": f"http://{server.host}/good", "title": "Tides & quays", "content": SENTENCE}
    sent = server.requests[-1]
    assert sent["user-agent"].startswith("agent-steps") and sent["host"] == server.host and "cookie" not in sent


@pytest.mark.parametrize("path, title, content", [
    ("/latin", "é", "Café."), ("/packed", "Tides & quays", SENTENCE), ("/broken", "Tides", "Text of the"),
])
def test_odd_pages_are_read(fetch, path, title, content):
    page = fetch(path)
    assert title in page["title"] and content in page["content"]


def test_a_page_without_a_title_has_its_address_as_one(server, fetch):
    assert fetch("/plain") == {"url": f"http://{server.host}/plain", "title": f"http://{server.host}/plain", "content": "Plain  text"}
    assert fetch("/untitled")["title"] == f"http://{server.host}/untitled"


def test_a_cookie_is_not_sent_back(server, fetch):
    fetch("/cookie")
    fetch("/good")
    assert not [name for name in server.requests[-1] if name.lower() == "cookie"]


def test_five_redirects_are_followed_and_the_last_address_is_given(server, fetch):
    assert fetch("/chain4") == {"url": f"http://{server.host}/good", "title": "Tides & quays", "content": SENTENCE}
    with pytest.raises(SourceError, match="more than 5 times"):
        fetch("/chain5")


@pytest.mark.parametrize("path, words", [
    ("/loop", "more than 5 times"), ("/inside", "169.254.169.254 is not on the public internet"), ("/disk", "does not begin with http"),
    ("/bad", "not an address"), ("/nowhere", "answers 302"), ("/huge", "is larger than 0.05 MB"), ("/bomb", "is larger than 0.05 MB"),
    ("/flood", "could not be read"), ("/hang-up", "could not be read"), ("/cut", "could not be read"), ("/not-gzip", "could not be read"),
    ("/br", "packed in a way"), ("/pdf", "is not a page of text, but application/pdf"), ("/untyped", "does not say what it is"),
    ("/empty", "has no text"), ("/script", "has no text"), ("/no-content", "answers 204"),
    ("/404", "answers 404"), ("/500", "answers 500"), ("/503", "answers 503"),
])
def test_what_is_no_page_is_said(fetch, path, words):
    with pytest.raises(SourceError, match=words) as caught:
        fetch(path)
    assert not isinstance(caught.value, RateLimited)


@pytest.mark.parametrize("path", ["/drip", "/drip-open", "/drip-headers", "/silent"])
def test_a_server_that_is_too_slow_is_left_in_time(server, path):
    began = time.monotonic()
    with Web(allow=(server.host,), seconds=0.5) as source, pytest.raises(SourceError, match="took too long"):
        source.fetch(f"http://{server.host}{path}")
    assert 0.3 < time.monotonic() - began < 5


@pytest.mark.parametrize("path, least, most", [
    ("/429-seconds", 7, 7), ("/429-date", 3500, 3600), ("/503-seconds", 120, 120), ("/503-date", 3500, 3600),
])
def test_a_server_that_asks_to_wait_says_how_long(fetch, path, least, most):
    with pytest.raises(RateLimited, match="asks to wait") as caught:
        fetch(path)
    assert least <= caught.value.wait_seconds <= most


@pytest.mark.parametrize("path", ["/429", "/429-nonsense"])
def test_a_server_may_not_say_how_long_to_wait(fetch, path):
    with pytest.raises(RateLimited, match="too many requests") as caught:
        fetch(path)
    assert caught.value.wait_seconds is None


def test_a_server_that_is_not_there_is_said(server):
    with socket.socket() as plug:   # bound, but nobody listens
        plug.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{plug.getsockname()[1]}"
        with Web(allow=(host,)) as source, pytest.raises(SourceError, match="could not be reached"):
            source.fetch(f"http://{host}/")


def test_the_request_goes_to_the_address_that_was_checked(server, source, monkeypatch):
    """Nobody can give the check one address and the request another: the name is looked up once."""
    names(monkeypatch)   # a second look-up would fail
    monkeypatch.setattr(web, "check_public", lambda address: ["127.0.0.1"])
    address = f"http://pages.example:{server.server_address[1]}/host"
    assert source.fetch(address) == {"url": address, "title": address, "content": address.split("/")[2]}


def test_the_next_address_is_tried_where_one_does_not_answer(server, source, monkeypatch):
    monkeypatch.setattr(web, "check_public", lambda address: ["127.0.0.1", "127.0.0.1"])
    real, tried = socket.create_connection, []

    def connect(address, *rest, **options):
        tried.append(address)
        if len(tried) == 1:
            raise ConnectionRefusedError("not here")
        return real(address, *rest, **options)

    monkeypatch.setattr(socket, "create_connection", connect)
    assert source.fetch(f"http://pages.example:{server.server_address[1]}/good")["content"] == SENTENCE and len(tried) == 2


def test_an_encrypted_request_names_its_host():
    seen = []

    def answer(request):
        seen.append(request)
        return httpx2.Response(200, html=PAGE)

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as client:
        download(client, "https://pages.example/a?b=1", ["2606:4700::1111"], time.monotonic() + 5, 1000)
    [request] = seen
    assert str(request.url) == "https://[2606:4700::1111]/a?b=1" and request.headers["host"] == "pages.example"
    assert request.extensions["sni_hostname"] == "pages.example"


# ---- searches: the real ddgs with its own engines, above a stand-in for primp, the client that makes its requests ----

HIT = "<div class='links_main body'><h2>{title}</h2><a href='{href}'>About  the {title}</a></div>"
NOTHING = {"wikipedia": '["q", [], [], []]', "grokipedia": '{"results": []}'}


class StandIn:
    """In place of primp.Client. answers: from a part of a host's name to what it answers: a text, a status or an error."""

    answers, sent = {}, []

    def __init__(self, **_):
        pass

    def headers_update(self, headers):
        pass

    def set_cookies(self, url, cookies):
        pass

    def request(self, method, url, **options):
        self.sent.append((url, options))
        answer = next((each for part, each in {**self.answers, **NOTHING}.items() if part in url), "<html><body></body></html>")
        answer = self.answers.get("all", answer)
        if isinstance(answer, Exception):
            raise answer
        status, text = (answer, "") if isinstance(answer, int) else (200, answer)
        return SimpleNamespace(status_code=status, text=text, content=text.encode())


@pytest.fixture
def engines(monkeypatch):
    """What the search engines answer. Keys are parts of addresses, or "all"."""
    primp = pytest.importorskip("primp", reason="ddgs is not installed: pip install -r requirements-web.txt")
    pytest.importorskip("ddgs", reason="ddgs is not installed: pip install -r requirements-web.txt")
    monkeypatch.setattr(StandIn, "answers", {})
    monkeypatch.setattr(StandIn, "sent", [])
    monkeypatch.setattr(primp, "Client", StandIn)
    return StandIn.answers


@pytest.fixture
def search():
    with Web() as made:
        yield made.search


def hits(*rows):
    return "<html><body>" + "".join(HIT.format(title=title, href=href) for title, href in rows) + "</body></html>"


def test_a_search_gives_title_url_and_snippet(engines, search):
    engines["duckduckgo"] = engines["yahoo"] = hits(
        ("Tides", "HTTPS://Example.org/tides?utm_source=x"), ("Tides", ""), ("", "https://example.org/a"),
        ("Tides", "ftp://example.org/b"), ("Tides", "http://[bad"), ("More tides", "example.org"))
    assert search("tides & quays?") == [{"title": "Tides", "url": "https://example.org/tides", "snippet": "About the Tides"}]
    assert any("tides & quays?" in json.dumps(options) for _, options in StandIn.sent)


def test_a_search_gives_no_more_than_was_asked_for(engines, search):
    engines["duckduckgo"] = engines["yahoo"] = hits(*((f"Tides {number}", f"https://example.org/{number}") for number in range(9)))
    assert len(search("tides", 3)) == 3


def test_finding_nothing_is_no_error(engines, search):
    assert search("qwxz") == []


@pytest.mark.parametrize("status", [202, 429])
def test_engines_that_refuse_are_told_apart_from_finding_nothing(engines, search, status):
    engines["duckduckgo"] = engines["yahoo"] = engines["mojeek"] = engines["brave"] = engines["startpage"] = status
    with pytest.raises(RateLimited, match="too many requests") as caught:
        search("tides")
    assert caught.value.wait_seconds is None


def test_engines_that_all_fail_are_no_empty_result(engines, search):
    engines["all"] = 403
    with pytest.raises(SourceError, match="The search engines answer 403") as caught:
        search("tides")
    assert not isinstance(caught.value, RateLimited)


def test_a_search_that_takes_too_long_is_an_error(engines, search):
    import primp

    engines["all"] = primp.TimeoutError("operation timed out")
    with pytest.raises(SourceError, match="did not answer in time"):
        search("tides")


def test_a_search_without_a_network_is_an_error(engines, search):
    engines["all"] = OSError("no route")
    with pytest.raises(SourceError, match="The search failed: .*no route"):
        search("tides")


@pytest.mark.parametrize("error, kind, words", [
    ("RatelimitException", RateLimited, "too many"), ("TimeoutException", SourceError, "in time"),
    ("DDGSException", SourceError, "x"), (None, SourceError, "KeyError"),
])
def test_each_error_of_the_package_has_its_own(engines, search, monkeypatch, error, kind, words):
    from ddgs import exceptions
    from ddgs.ddgs import DDGS

    def text(*_, **__):
        raise getattr(exceptions, error)("x") if error else KeyError("x")

    monkeypatch.setattr(DDGS, "text", text)
    with pytest.raises(SourceError, match=words) as caught:
        search("tides")
    assert type(caught.value) is kind


@pytest.mark.parametrize("query, number", [
    ("", 5), (" ", 5), (None, 5), ("tides", 0), ("tides", 21), ("tides", True), ("tides", "5"), ("tides", 2.0),
])
def test_a_search_for_nothing_or_for_a_wrong_number_is_refused(search, query, number):
    with pytest.raises(ValueError):
        search(query, number)


def test_without_the_package_the_command_is_said(search, monkeypatch):
    monkeypatch.setitem(sys.modules, "ddgs", None)
    with pytest.raises(CourseError, match="pip install -r requirements-web.txt"):
        search("tides")


def test_the_command_installs_what_pyproject_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "requirements-web.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == project["optional-dependencies"]["web"]
    assert search_engines.HOW_TO_GET.endswith("pip install -r requirements-web.txt")
