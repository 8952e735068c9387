#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Sums the JUnit reports of ctest and pytest; the last line is "N passed, N failed, N skipped".

usage: test_summary.py FOLDER [--broken=STEP]...     FOLDER holds *.xml; a broken step counts as one failure
Every failed and every skipped test is listed by name, the skipped ones with their reason. Exit status 1 when anything
failed or when nothing passed at all.
"""
import argparse
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

GTEST_SKIP = re.compile(r": Skipped\n(.*?)\n(?:\n|\[)", re.DOTALL)


def skip_reason(case, element):
    """Why a test was skipped: pytest and ctest say it in different places."""
    output = case.findtext("system-out") or ""
    match = GTEST_SKIP.search(output)
    reason = match[1].strip() if match else (element.get("message") if element is not None else "")
    return " ".join((reason or case.get("status") or "no reason given").split())


def read_report(path):
    """Yields (outcome, name, reason) of every test of one report."""
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as fault:
        yield "failed", path.name, f"the report is damaged: {fault}"
        return
    for case in root.iter("testcase"):
        name = ".".join(part for part in (case.get("classname"), case.get("name")) if part)
        name = case.get("name") if case.get("classname") == case.get("name") else name
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            fault = case.find("failure") if case.find("failure") is not None else case.find("error")
            message = (fault.get("message") if fault is not None else "") or ""
            yield "failed", name, message.split("\n")[0][:160]
        elif skipped is not None or case.get("status") in ("notrun", "disabled"):
            # A test whose program was not built is "notrun" too: that is a failure, not a choice.
            missing = skipped is None or "Unable to find executable" in (skipped.get("message") or "")
            yield ("failed" if missing and case.get("status") == "notrun" else "skipped"), name, skip_reason(case, skipped)
        else:
            yield "passed", name, ""


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--broken", action="append", default=[], metavar="STEP")
    options = parser.parse_args(arguments)
    outcomes = {"passed": [], "failed": [], "skipped": []}
    for path in sorted(options.folder.glob("*.xml")):
        for outcome, name, reason in read_report(path):
            outcomes[outcome].append((f"{path.stem}: {name}", reason))
    outcomes["failed"] += [(f"step: {step}", "see its output above") for step in options.broken]
    for outcome in ("skipped", "failed"):
        for name, reason in outcomes[outcome]:
            print(f"{outcome.upper()} {name}: {reason}")
    print(", ".join(f"{len(outcomes[key])} {key}" for key in ("passed", "failed", "skipped")))
    return 1 if outcomes["failed"] or not outcomes["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
