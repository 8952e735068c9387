# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""The generators: pages, tables and embedded files become C++ that compiles and gives the same bytes back."""
import pathlib
import random
import shutil
import subprocess

import cpp_text
import embed
import gen_pages
import gen_table
import pytest
import rule_page

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wpedantic", "-Werror"]
SECTIONS = (
    "### title\n{title}\n### summary\n{{{{share}}}} of the time\n### fix pytorch\nUse workers.\n"
    "```python\nDataLoader(ds, num_workers=8)  # \"?\" {{{{ok\n```\n### next\ngpuwhy try -- CMD\n### about\nProse.\n\n#### More\n"
)
GOOD = "# GW501 input-bound\n## en\n" + SECTIONS.format(title="Waits") + "## zh\n" + SECTIONS.format(title="等待\n数据")

PAGE_H = """#include <span>
#include <string_view>
namespace gpuwhy {
struct PageFix { std::string_view framework, text, code; };
struct PageText { std::string_view title, summary, next, about; std::span<const PageFix> fixes; };
struct RulePage { std::string_view id, name; PageText en, zh; };
std::span<const RulePage> RulePages();
}
"""
RULE_H = """#include <span>
#include <string_view>
namespace gpuwhy { struct Rule { std::string_view id; }; std::span<const Rule* const> AllRules(); }
"""
EMBED_H = """#include <span>
#include <string_view>
namespace gpuwhy {
struct EmbeddedFile { std::string_view path, data; };
std::span<const EmbeddedFile> Files();
}
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def run_cpp(folder, sources):
    """Compiles, runs and returns stdout as bytes."""
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    program = folder / "program"
    subprocess.run(["g++", *FLAGS, f"-I{folder}", *map(str, sources), "-o", str(program)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True).stdout


def page(tmp_path, text):
    return write(tmp_path / "docs" / "GW501-input-bound.md", text)


def test_pages_compile_to_the_same_texts(tmp_path):
    path = page(tmp_path, GOOD)
    write(tmp_path / "model" / "page.h", PAGE_H)
    out = tmp_path / "pages.cc"
    assert gen_pages.main(["--pages", str(path.parent), "--out", str(out)]) == 0
    main = write(tmp_path / "main.cc", """#include "model/page.h"
#include <iostream>
int main() {
  for (const auto& page : gpuwhy::RulePages())
    std::cout << page.id << '|' << page.name << '|' << page.zh.title << '|' << page.en.summary << '|'
              << page.en.fixes[0].framework << '|' << page.zh.fixes[0].code << '|' << page.en.next << '|' << page.en.about;
}
""")
    assert run_cpp(tmp_path, [main, out]).decode() == (
        "GW501|input-bound|等待数据|{{share}} of the time|pytorch|DataLoader(ds, num_workers=8)  # \"?\" {{ok|"
        "gpuwhy try -- CMD|Prose.\n\n#### More")


@pytest.mark.parametrize("change, line, message", [
    (("### next\ngpuwhy try -- CMD\n### about\nProse.\n\n#### More\n## zh", "### about\nProse.\n## zh"), 25, "no counterpart"),
    (("# GW501", "# GW50"), 1, "first line"),
    (("### title\nWaits\n", ""), 2, "'### title' is missing"),
    (("### title\nWaits", "### titel\nWaits"), 3, "unknown section 'titel'"),
    (("### fix pytorch", "### fix torch"), 7, "unknown framework 'torch'"),
    (("{{share}} of", "{{Share} of"), 6, "malformed placeholder"),
    (("{{share}} of", "{{part}} of"), 22, "placeholders differ between languages: part, share"),
    (("## zh", "## cn"), 2, "'## en' and then '## zh'"),
    (("{{ok\n```\n", "{{ok\n"), 7, "never closed"),
    (("Use workers.\n", ""), 7, "what to do"),
])
def test_a_faulty_page_is_refused_with_its_line(tmp_path, capsys, change, line, message):
    path = page(tmp_path, GOOD.replace(*change, 1))
    with pytest.raises(rule_page.PageError) as fault:
        rule_page.parse(path)
    text = str(fault.value)
    assert message in text
    assert gen_pages.main(["--pages", str(path.parent), "--out", str(tmp_path / "pages.cc")]) == 1
    assert text in capsys.readouterr().err
    assert text.startswith(f"{path}:{line}:")


def test_table_follows_the_folder(tmp_path):
    write(tmp_path / "engine" / "rule.h", RULE_H)
    out, sources = tmp_path / "table.cc", []
    arguments = ["--folder", str(tmp_path / "rules"), "--prefix", "kRule_", "--type", "Rule", "--namespace",
                 "gpuwhy::rules", "--header", "engine/rule.h", "--function", "AllRules", "--out", str(out)]
    main = write(tmp_path / "main.cc", '#include "engine/rule.h"\n#include <iostream>\n'
                 "int main() { for (const auto* rule : gpuwhy::AllRules()) std::cout << rule->id << ' '; }\n")
    (tmp_path / "rules").mkdir()
    assert gen_table.main(arguments) == 0
    assert run_cpp(tmp_path, [main, out]) == b""
    for name in ("zeta", "alpha_two"):
        sources.append(write(tmp_path / "rules" / f"{name}.cc", '#include "engine/rule.h"\nnamespace gpuwhy::rules {\n'
                       f'extern constinit const Rule kRule_{name}{{.id = "{name}"}};\n}}\n'))
    assert gen_table.main(arguments) == 0
    assert run_cpp(tmp_path, [main, out, *sources]) == b"alpha_two zeta "


def test_table_of_subfolders_and_bad_names(tmp_path, capsys):
    for name in ("nvml/nvml.cc", "os/os_linux.cc", "empty/readme.txt", "top.cc"):
        write(tmp_path / "witness" / name, "")
    arguments = ["--folder", str(tmp_path / "witness"), "--subfolders", "--prefix", "kWitness_", "--type", "Witness",
                 "--header", "witness/witness.h", "--function", "AllWitnesses", "--out", str(tmp_path / "table.cc")]
    assert gen_table.main([*arguments, "--exclude", "os"]) == 0
    text = (tmp_path / "table.cc").read_text(encoding="utf-8")
    assert text.count("kWitness_") == 2 and "&::gpuwhy::kWitness_nvml," in text
    write(tmp_path / "witness" / "Bad-Name" / "a.cc", "")
    assert gen_table.main(arguments) == 1
    assert "snake_case" in capsys.readouterr().err


def test_table_of_prefixed_files_in_another_namespace(tmp_path):
    for name in ("cmd_run.cc", "cmd_try.cc", "main.cc"):
        write(tmp_path / "cli" / name, "")
    assert gen_table.main(["--folder", str(tmp_path / "cli"), "--pattern", "cmd_*.cc", "--prefix", "kSubcommand_", "--type",
                           "Subcommand", "--namespace", "gpuwhy::cli", "--header", "cli/subcommand.h", "--function", "All",
                           "--function-namespace", "gpuwhy::cli", "--out", str(tmp_path / "table.cc")]) == 0
    text = (tmp_path / "table.cc").read_text(encoding="utf-8")
    assert "&::gpuwhy::cli::kSubcommand_run,\n    &::gpuwhy::cli::kSubcommand_try,\n}" in text
    assert "namespace gpuwhy::cli {\nnamespace {" in text


def test_embedded_bytes_come_back(tmp_path):
    data = random.Random(7).randbytes(200_000) + bytes(range(256)) * 3 + b"\\0??/\n\x001"
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.so").write_bytes(data)
    (tmp_path / "empty").write_bytes(b"")
    write(tmp_path / "base" / "embed.h", EMBED_H)
    out = tmp_path / "files.cc"
    assert embed.main(["--root", str(tmp_path), "--out", str(out), "--function", "Files", "--header", "base/embed.h",
                       "lib/a.so", str(tmp_path / "empty")]) == 0
    main = write(tmp_path / "main.cc", '#include "base/embed.h"\n#include <iostream>\n'
                 "int main() { for (const auto& f : gpuwhy::Files()) std::cout << f.path << ':' << f.data << ';'; }\n")
    assert run_cpp(tmp_path, [main, out]) == b"empty:;lib/a.so:" + data + b";"


def test_embed_refuses_what_is_outside_or_missing(tmp_path, capsys):
    arguments = ["--root", str(tmp_path), "--out", str(tmp_path / "f.cc"), "--function", "F", "--header", "e.h"]
    assert embed.main([*arguments, "/etc/passwd"]) == 1
    assert embed.main([*arguments, "missing"]) == 1
    assert "not inside --root" in capsys.readouterr().err
    assert not (tmp_path / "f.cc").exists()


def test_an_unchanged_file_keeps_its_time(tmp_path):
    path = pathlib.Path(tmp_path / "x.cc")
    assert cpp_text.write_if_changed(path, "a")
    before = path.stat().st_mtime_ns
    assert not cpp_text.write_if_changed(path, "a")
    assert path.stat().st_mtime_ns == before
    assert cpp_text.write_if_changed(path, "b")
