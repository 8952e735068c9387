# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""The command line as a user meets it: statuses, messages, refusals, and outputs that match the published schema."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("GPUWHY_BIN", ROOT / "build" / "gpuwhy"))
SCHEMA = ROOT / "docs" / "schema" / "gpuwhy.report-1.schema.json"
HEADER = '{"schema":"gpuwhy.session/1","started":"2026-01-31T12:00:00.000Z","version":"0.1.0"}\n'

if not BINARY.exists():
    pytest.skip(f"SKIPPED: {BINARY} is not built (make build, or set GPUWHY_BIN)", allow_module_level=True)


def gpuwhy(*arguments, environment=None, **options):
    """Runs the program in a plain locale; `environment` is added."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "GPUWHY_", "NO_COLOR"))}
    env.update(environment or {})
    options = {"capture_output": True, "timeout": 60, "check": False, **options}
    return subprocess.run([str(BINARY), *map(str, arguments)], env=env, **options)


def refused(result):
    """Checks for status 2 and one line on stderr; returns that line."""
    line = result.stderr.decode()
    assert result.returncode == 2, line
    assert line.startswith("gpuwhy: ") and line.endswith("\n") and line.count("\n") == 1
    return line


@pytest.fixture(name="session")
def fixture_session(tmp_path):
    path = tmp_path / "empty.gpuwhy"
    path.write_text(HEADER)
    return path


def test_help_and_version():
    for words in (["--help"], ["-h"], ["help"], ["explain", "--help"], ["report", "--help"], ["rules", "--help"]):
        result = gpuwhy(*words)
        assert result.returncode == 0 and result.stdout.startswith(b"usage: gpuwhy") and not result.stderr
    version = gpuwhy("--version").stdout.decode()
    assert version.startswith("gpuwhy ") and "formats:" in version and "json" in version


@pytest.mark.parametrize(
    "words, nearest",
    [(["explian"], "explain"), (["explain", "--jsn", "x"], "--json"), (["--fromat", "text", "rules"], "--format"),
     (["rules", "--format", "jason"], "json"), (["report", "a", "b"], "--"), (["rules", "--lang", "zhh"], "zh")],
)
def test_the_unknown_is_refused_with_the_nearest(words, nearest):
    line = refused(gpuwhy(*words))
    assert "did you mean" in line and nearest in line


def test_unreadable_input_is_named(tmp_path):
    assert "/no/such/file" in refused(gpuwhy("explain", "/no/such/file"))
    assert str(tmp_path) in refused(gpuwhy("explain", tmp_path))
    cases = {"empty": (b"", "empty"), "binary": (b"\x7fELF\0\0" * 100, "binary")}
    for name, (data, word) in cases.items():
        (tmp_path / name).write_bytes(data)
        line = refused(gpuwhy("explain", tmp_path / name))
        assert name in line and word in line
        assert word in refused(gpuwhy("explain", "-", input=data))


def test_an_empty_session_cannot_tell(session):
    result = gpuwhy("explain", session)
    assert result.returncode in (0, 1) and b"CANNOT TELL" in result.stdout
    assert b"\033" not in result.stdout


def test_chinese_by_flag_and_by_locale(session):
    by_flag = gpuwhy("explain", session, "--lang", "zh").stdout.decode()
    assert "无法判断" in by_flag
    assert gpuwhy("explain", session, environment={"LANG": "zh_CN.UTF-8"}).stdout.decode() == by_flag
    assert "CANNOT TELL" in gpuwhy("explain", session, environment={"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}).stdout.decode()


def test_a_torn_session_is_read_and_says_so(session):
    session.write_text(HEADER + '{"k":"fact","na')
    result = gpuwhy("explain", session, "--json")
    assert result.returncode in (0, 1)
    assert any("last line" in gap["what"] for gap in json.loads(result.stdout)["gaps"])


def test_replay_is_the_same_byte_for_byte(session):
    first = gpuwhy("explain", session, "--json").stdout
    assert first == gpuwhy("--format", "json", "explain", "-", input=session.read_bytes()).stdout
    assert first == gpuwhy("report", session, "--format=json").stdout


@pytest.mark.parametrize("flags", [[], ["-v"], ["--lang", "zh"], ["-v", "--lang", "zh"]])
def test_json_matches_the_schema(session, flags):
    jsonschema = pytest.importorskip("jsonschema", reason="SKIPPED: python3-jsonschema is not installed: no schema check")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    fixtures = sorted((ROOT / "docs" / "demo").glob("*.gpuwhy"))
    for path in [session, *fixtures]:
        document = json.loads(gpuwhy("explain", path, "--json", *flags).stdout)
        jsonschema.Draft202012Validator(schema).validate(document)
        assert ("rules" in document) == ("-v" in flags)


def test_output_files(session, tmp_path):
    target = tmp_path / "report.json"
    result = gpuwhy("report", session, "-o", target)
    assert result.returncode in (0, 1) and not result.stdout and not result.stderr
    assert json.loads(target.read_text())["schema"] == "gpuwhy.report/1"
    assert ".docx" in refused(gpuwhy("report", session, "-o", tmp_path / "report.docx"))
    assert "no/such" in refused(gpuwhy("report", session, "-o", tmp_path / "no/such/report.json"))
    assert "folder" in refused(gpuwhy("explain", session, "-o", tmp_path))
    gpuwhy("explain", session, "-o", "/dev/null")
    assert not pathlib.Path("/dev/null").is_file()


def test_a_link_is_written_through(session, tmp_path):
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    (tmp_path / "real.txt").write_text("old")
    gpuwhy("explain", session, "-o", tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink() and "CANNOT TELL" in (tmp_path / "real.txt").read_text()


def test_a_stdout_that_takes_nothing(session):
    with open("/dev/full", "wb") as full:
        result = gpuwhy("explain", session, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert "stdout" in refused(result)
    result = subprocess.run(["sh", "-c", f"'{BINARY}' explain '{session}' >&-"], capture_output=True, check=False, timeout=60)
    assert "stdout" in refused(result)
    assert session.read_text() == HEADER


def test_a_reader_that_went_away_is_no_error(session):
    reading, writing = os.pipe()
    os.close(reading)
    result = gpuwhy("explain", session, "-v", capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert result.returncode in (0, 1) and not result.stderr


def test_several_files(session):
    result = gpuwhy("explain", session, session)
    assert result.stdout.count(b"CANNOT TELL") == 2 and str(session).encode() in result.stdout
    assert gpuwhy("explain", session, "/no/such/file").returncode == 2


def test_last_is_the_newest(session, tmp_path):
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert "gpuwhy run" in refused(gpuwhy("report", "last", environment=environment))
    folder = tmp_path / "state" / "gpuwhy" / "sessions"
    folder.mkdir(parents=True)
    (folder / "a.gpuwhy").write_bytes(session.read_bytes())
    assert b"CANNOT TELL" in gpuwhy("report", "last", environment=environment).stdout


def test_rules():
    rules = json.loads(gpuwhy("rules", "--json").stdout)
    assert gpuwhy("rules").returncode == 0
    for rule in rules:
        page = json.loads(gpuwhy("rules", rule["id"], "--json").stdout)
        assert page == json.loads(gpuwhy("rules", rule["name"], "--json").stdout) and page["summary"]
    assert "GW" in refused(gpuwhy("rules", "GW000000")) or not rules


def test_colours_need_a_terminal_and_leave(session):
    pty = pytest.importorskip("pty", reason="SKIPPED: no pseudo terminals here")

    def on_terminal(*flags, **environment):
        leader, follower = pty.openpty()
        env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        with subprocess.Popen([str(BINARY), "explain", str(session), *flags], stdout=follower, env={**env, "TERM": "xterm", **environment}):
            os.close(follower)
            text = b""
            try:
                while chunk := os.read(leader, 65536):
                    text += chunk
            except OSError:  # EIO: the other end was closed
                pass
        os.close(leader)
        return text

    assert b"\033[" in on_terminal()
    assert b"\033[" not in on_terminal("--no-color")
    assert b"\033[" not in on_terminal(NO_COLOR="1")
    assert b"\033[" not in on_terminal(TERM="dumb")
