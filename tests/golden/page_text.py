"""What a page says, without how it looks: one line a piece of text, so that a change is read as a diff."""

from __future__ import annotations

from html.parser import HTMLParser

_UNSEEN = ("style", "svg")


class _Text(HTMLParser):
    """Collects text outside styles and drawings, whose bytes depend on the version of the library that draws."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Headings are marked."""
        self._unseen += tag in _UNSEEN
        if tag in ("h1", "h2", "h3", "h4"):
            self.lines += ["", "#" * int(tag[1])]

    def handle_endtag(self, tag: str) -> None:
        """Text is seen again."""
        self._unseen -= tag in _UNSEEN

    def handle_data(self, data: str) -> None:
        """One piece of text."""
        text = " ".join(data.split())
        if text and not self._unseen:
            if self.lines and self.lines[-1].strip("#") == "" != self.lines[-1]:
                self.lines[-1] += f" {text}"
            else:
                self.lines.append(text)


def page_text(page: str) -> str:
    """The text of a page in its order."""
    reader = _Text()
    reader.feed(page)
    reader.close()
    return "\n".join(reader.lines).lstrip("\n") + "\n"
