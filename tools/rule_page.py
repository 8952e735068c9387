# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the page of a rule (docs/rules/GWnnn-name.md) and writes C++ string literals.

Shared by gen_pages.py (tables for the program) and check_rules.py (consistency of rule, page and case).
"""
import dataclasses
import pathlib
import re
import typing

LANGUAGES = ("en", "zh")
# "apple": in place of all others where a text speaks of a Mac, which has no CUDA.
FRAMEWORKS = ("pytorch", "tensorflow", "jax", "apple", "any")
SINGLE = ("title", "summary", "next", "about")
REQUIRED = ("title", "summary", "about")
HEAD = re.compile(r"^# (GW\d{3}) ([a-z0-9]+(?:-[a-z0-9]+)*)\s*$")
PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
CJK = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")


class PageError(Exception):
    """A fault of a page, as FILE:LINE: what is wrong."""

    def __init__(self, path, line, message):
        super().__init__(f"{path}:{line}: {message}")


@dataclasses.dataclass
class Fix:
    framework: str
    text: str
    code: str
    line: int


@dataclasses.dataclass
class Text:
    line: int
    sections: typing.Dict[str, str] = dataclasses.field(default_factory=dict)
    lines: typing.Dict[str, int] = dataclasses.field(default_factory=dict)
    fixes: typing.List[Fix] = dataclasses.field(default_factory=list)

    def parts(self):
        """(key, text, line) of everything a reader may see; the key is equal for equal parts of two languages."""
        for name in SINGLE:
            if name in self.sections:
                yield name, self.sections[name], self.lines[name]
        for number, fix in enumerate(self.fixes):
            yield f"fix {fix.framework} ({number + 1})", fix.text + "\n" + fix.code, fix.line


@dataclasses.dataclass
class Page:
    path: pathlib.Path
    id: str
    name: str
    texts: typing.Dict[str, Text]


def placeholders(text):
    """The names between double braces of a text."""
    return set(PLACEHOLDER.findall(text))


def join_lines(lines):
    """One paragraph as one line; no blank between two Chinese characters."""
    result = ""
    for line in (line.strip() for line in lines):
        if not line:
            continue
        glue = "" if not result or (CJK.match(result[-1]) and CJK.match(line[0])) else " "
        result += glue + line
    return result


def split_sections(path, lines, first):
    """Yields (heading, line number, body lines) of the ### sections; headings inside code fences are text."""
    heading, number, body, fenced = None, first, [], False
    for offset, line in enumerate(lines):
        if line.startswith("```"):
            fenced = not fenced
        if not fenced and line.startswith("### "):
            if heading is not None:
                yield heading, number, body
            heading, number, body = line[4:].strip(), first + offset, []
        elif heading is None and line.strip():
            raise PageError(path, first + offset, "text before the first ### section")
        else:
            body.append(line)
    if fenced:
        raise PageError(path, number, "the code fence of this section is never closed")
    if heading is not None:
        yield heading, number, body


def parse_fix(path, heading, number, body):
    """One `### fix FRAMEWORK` section: a paragraph, then at most one fenced block."""
    framework = heading[len("fix "):].strip()
    if framework not in FRAMEWORKS:
        raise PageError(path, number, f"unknown framework '{framework}', expected one of {', '.join(FRAMEWORKS)}")
    fences = [index for index, line in enumerate(body) if line.startswith("```")]
    if len(fences) not in (0, 2):
        raise PageError(path, number, "a fix has at most one fenced code block")
    code = "\n".join(body[fences[0] + 1:fences[1]]) if fences else ""
    if fences and "".join(body[fences[1] + 1:]).strip():
        raise PageError(path, number, "text after the code block of a fix; the block stands last")
    text = join_lines(body[:fences[0]] if fences else body)
    if not text:
        raise PageError(path, number, "a fix needs a sentence that says what to do")
    return Fix(framework, text, code, number)


def check_braces(path, number, heading, body):
    """Refuses a double brace that is no placeholder, outside code fences (code may use braces of its own)."""
    fenced = False
    for offset, line in enumerate(body, 1):
        fenced = fenced != line.startswith("```")
        if not fenced and ("{{" in PLACEHOLDER.sub("", line) or "}}" in PLACEHOLDER.sub("", line)):
            raise PageError(path, number + offset, f"malformed placeholder in section '{heading}'")


def parse_text(path, lines, first):
    """One language of a page; `first` is the number of its first line."""
    text = Text(line=first - 1)
    for heading, number, body in split_sections(path, lines, first):
        check_braces(path, number, heading, body)
        if heading.startswith("fix "):
            text.fixes.append(parse_fix(path, heading, number, body))
            continue
        if heading not in SINGLE:
            raise PageError(path, number, f"unknown section '{heading}'")
        if heading in text.sections:
            raise PageError(path, number, f"section '{heading}' appears twice")
        content = "\n".join(body).strip() if heading == "about" else join_lines(body)
        if not content:
            raise PageError(path, number, f"section '{heading}' is empty")
        text.sections[heading], text.lines[heading] = content, number
    for name in REQUIRED:
        if name not in text.sections:
            raise PageError(path, text.line, f"section '### {name}' is missing")
    return text


def compare_languages(page):
    """The languages must have the same sections with the same placeholders."""
    first = {key: (text, line) for key, text, line in page.texts[LANGUAGES[0]].parts()}
    second = {key: (text, line) for key, text, line in page.texts[LANGUAGES[1]].parts()}
    for here, there, language in ((first, second, LANGUAGES[1]), (second, first, LANGUAGES[0])):
        for key in here:
            if key not in there:
                raise PageError(page.path, here[key][1], f"section '{key}' has no counterpart under '## {language}'")
    for key, (text, _) in first.items():
        other, line = second[key]
        if placeholders(text) != placeholders(other):
            odd = ", ".join(sorted(placeholders(text) ^ placeholders(other)))
            raise PageError(page.path, line, f"section '{key}': placeholders differ between languages: {odd}")


def parse(path):
    """The page at `path`; raises PageError (FILE:LINE: message) on the first fault."""
    path = pathlib.Path(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    head = HEAD.match(lines[0])
    if not head:
        raise PageError(path, 1, "the first line must be '# GWnnn rule-name'")
    if path.name != f"{head[1]}-{head[2]}.md":
        raise PageError(path, 1, f"the file of this page must be called {head[1]}-{head[2]}.md")
    starts = [(line[3:].strip(), index) for index, line in enumerate(lines) if line.startswith("## ")]
    if tuple(name for name, _ in starts) != LANGUAGES:
        raise PageError(path, starts[0][1] + 1 if starts else 1, "expected exactly '## en' and then '## zh'")
    if "".join(lines[1:starts[0][1]]).strip():
        raise PageError(path, 2, "text between the first line and '## en'")
    ends = [starts[1][1], len(lines)]
    texts = {name: parse_text(path, lines[start + 1:end], start + 2) for (name, start), end in zip(starts, ends)}
    page = Page(path, head[1], head[2], texts)
    compare_languages(page)
    return page


def parse_all(folder):
    """All pages of a folder, by id; an id that appears twice is a fault."""
    pages = {}
    for path in sorted(pathlib.Path(folder).glob("*.md")):
        page = parse(path)
        if page.id in pages:
            raise PageError(path, 1, f"{page.id} is already the id of {pages[page.id].path.name}")
        pages[page.id] = page
    return [pages[key] for key in sorted(pages)]
