// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/reader.h"
#include "reader/words.h"

// What the tools of the driver, the toolkit and the system print of versions and of the kernel module: nvcc, /proc,
// dpkg, modinfo, lsmod, mokutil, DKMS.
namespace gpuwhy {
namespace {

constexpr size_t kModinfoRows = 40;

bool Digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The first word of the form 1.2 or 1.2.3 from `from` on; package revisions ("550.107.02-0ubuntu0.24.04.1") end it.
std::optional<std::string> VersionFrom(std::string_view text, size_t from) {
  for (size_t at = from; at < text.size(); ++at) {
    if (!Digit(text[at]) || (at > 0 && (Digit(text[at - 1]) || text[at - 1] == '.'))) continue;
    size_t end = at;
    while (end < text.size() &&
           (Digit(text[end]) || (text[end] == '.' && end + 1 < text.size() && Digit(text[end + 1]))))
      ++end;
    if (text.substr(at, end - at).find('.') != std::string_view::npos) return std::string(text.substr(at, end - at));
    at = end;
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  // Stretches of which every line of interest has one: a log is mostly something else.
  static bool MayMatter(std::string_view line) {
    for (const char* part : {"vidia", "VIDIA", "uda", "oot", "ersion", "mod", "uilt", "ey ", "nouveau"}) {
      if (Contains(line, part)) return true;
    }
    return false;
  }

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const std::string& line = text_[i];
      if (line.size() < 6 || !MayMatter(line)) continue;
      if (Nvcc(line, i) || Module(line, i) || Packages(line, i) || SecureBoot(line, i) || Loaded(line, i) ||
          OnDisk(line, i))
        text_.Claim(i);
    }
  }

 private:
  void Add(const char* name, Value value, Source source, size_t i) {
    AddQuoted(sink_, name, Entity::Host(), std::move(value), source, text_.lines()[i]);
  }

  bool Version(const char* name, std::string_view line, size_t from, Source source, size_t i) {
    const std::optional<std::string> version = VersionFrom(line, from);
    if (version) Add(name, Value::Of(*version), source, i);
    return version.has_value();
  }

  // nvcc --version: the release line is the same from CUDA 5 to 13.
  bool Nvcc(const std::string& line, size_t i) {
    const size_t release = line.find("Cuda compilation tools, release ");
    if (release != std::string::npos) return Version("toolkit.nvcc.version", line, release, Source::kOs, i);
    return Contains(line, "nvcc: NVIDIA (R) Cuda compiler driver") || Contains(line, "Build cuda_") ||
           (Contains(line, "Copyright (c)") && Contains(line, "NVIDIA Corporation")) || line.rfind("Built on ", 0) == 0;
  }

  // /proc/driver/nvidia/version, and NVML's own line in the message of a mismatch.
  bool Module(const std::string& line, size_t i) {
    if (Contains(line, "NVRM version:")) {
      Add("host.driver.module", Value::Of(true), Source::kOs, i);
      return Version("host.driver.version", line, line.find("NVRM version:"), Source::kOs, i);
    }
    const size_t nvml = line.find("NVML library version:");
    if (nvml != std::string::npos) return Version("host.driver.nvml_version", line, nvml, Source::kOs, i);
    const size_t api = line.find("API mismatch: the client has the version ");  // dmesg, both versions in two lines
    if (api != std::string::npos) return Version("host.driver.library_version", line, api, Source::kOs, i);
    const size_t kernel = line.find("this kernel module has the version ");
    if (kernel != std::string::npos) return Version("host.driver.version", line, kernel, Source::kOs, i);
    return false;
  }

  // "nvidia-driver-550", "libnvidia-compute-535:amd64", "nvidia-utils-550-server", "libcuda1", "libcuda1-340": behind
  // the name stands a branch or nothing. "nvidia-driver-assistant" and local repositories have versions of their own.
  static bool OfUserSide(std::string_view package) {
    for (const std::string_view name : {"nvidia-driver", "libnvidia-compute", "nvidia-utils", "libcuda1"}) {
      if (package.substr(0, name.size()) != name) continue;
      const std::string_view rest = package.substr(name.size());
      if (rest.empty() || rest[0] == ':') return name != "nvidia-utils";
      return rest.size() > 3 && rest[0] == '-' && Digit(rest[1]) && Digit(rest[2]) && Digit(rest[3]);
    }
    return false;
  }

  // Installed packages of the driver's user side: "ii  nvidia-driver-550  550.107.02-0ubuntu0.24.04.1  amd64".
  bool Packages(std::string_view line, size_t i) {
    if (Trim(line).substr(0, 3) != "ii ") return false;
    const std::vector<std::string_view> words = Words(line);
    return words.size() > 2 && OfUserSide(words[1]) &&
           Version("host.driver.library_version", words[2], 0, Source::kOs, i);
  }

  bool SecureBoot(std::string_view line, size_t i) {
    if (Contains(line, "Key was rejected by service") || Contains(line, "Required key not available")) {
      Add("host.driver.module_rejected", Value::Of(true), Source::kOs, i);
      return true;
    }
    // mokutil prints nothing else in the line; a sentence that names both states says neither.
    std::string lower = Lower(Trim(line));
    lower.erase(std::remove_if(lower.begin(), lower.end(), [](char c) { return c == ' ' || c == ':'; }), lower.end());
    const bool on = StartsWith(lower, "securebootenabled");
    if (!on && !StartsWith(lower, "securebootdisabled")) return false;
    Add("host.secure_boot", Value::Of(on), Source::kOs, i);
    return true;
  }

  // A line that a shell waits in: "$ ", "# " or what ends in them without a blank in front, as "user@host:~$ ".
  static bool Prompt(std::string_view line) {
    for (size_t at = line.find_first_of("$#"); at != std::string_view::npos; at = line.find_first_of("$#", at + 1)) {
      const std::string_view head = Trim(line.substr(0, at));
      const bool host = head.find('@') != std::string_view::npos || head.find(' ') == std::string_view::npos;
      if (at + 1 < line.size() && line[at + 1] == ' ') return host;
    }
    return false;
  }

  // A row of lsmod: name, size and users. nvidiafb, nvidia_wmi_ec_backlight and i2c_nvidia_gpu need no driver of ours.
  static bool LoadedRow(std::string_view line) {
    if (!StartsWith(line, "nvidia")) return false;
    const std::vector<std::string_view> words = Words(line);
    if (words.size() < 3 || !ParseInt(words[1]) || !ParseInt(words[2])) return false;
    for (const std::string_view module : {"nvidia", "nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia_peermem"}) {
      if (words[0] == module) return true;
    }
    return false;
  }

  // The first line with text behind i; the end of the paste when there is none.
  size_t NextText(size_t i) const {
    for (++i; i < text_.size() && Trim(text_[i]).empty();) ++i;
    return i;
  }

  // lsmod's rows, and the answer of `lsmod | grep nvidia` that is none: the next prompt follows. At the end of the
  // paste the answer may have been cut off.
  bool Loaded(std::string_view line, size_t i) {
    if (LoadedRow(Trim(line))) {
      Add("host.driver.module", Value::Of(true), Source::kOs, i);
      return true;
    }
    if (!Contains(line, "lsmod") || !Contains(line, "nvidia") || !Prompt(line)) return false;
    const size_t next = NextText(i);
    if (next < text_.size() && Prompt(text_[next])) Add("host.driver.module", Value::Of(false), Source::kOs, i);
    return true;
  }

  // modinfo's "filename:" and "version:", the version alone with -F, or its error.
  bool OnDisk(std::string_view line, size_t i) {
    const std::string_view bare = Trim(line);
    if (StartsWith(bare, "modinfo: ERROR: Module nvidia not found")) return NoModule(i);
    if (StartsWith(bare, "filename:") && Contains(bare, "/nvidia.ko")) {
      modinfo_until_ = i + kModinfoRows;
      return Installed(i);
    }
    if (i < modinfo_until_ && StartsWith(bare, "version:")) {
      modinfo_until_ = 0;
      Installed(i);
      return Version("host.driver.version_on_disk", bare, 0, Source::kOs, i);
    }
    if (!Contains(bare, "modinfo") || !Contains(bare, "nvidia") || !Prompt(bare)) return Dkms(bare, i);
    const size_t next = NextText(i);
    if (next == text_.size()) return true;
    modinfo_until_ = next + kModinfoRows;
    if (Digit(Trim(text_[next])[0]) && Version("host.driver.version_on_disk", text_[next], 0, Source::kOs, next)) {
      Installed(next);
      text_.Claim(next);
    }
    return true;
  }

  // "nvidia/550.107.02, 6.8.0-40-generic, x86_64: installed", before DKMS 3 "nvidia, 390.48, 4.15.0-23-generic, ...".
  bool Dkms(std::string_view bare, size_t i) {
    if (!StartsWith(bare, "nvidia/") && !StartsWith(bare, "nvidia, ")) return false;
    if (!Contains(bare, ": installed") || !Version("host.driver.version_on_disk", bare, 0, Source::kOs, i))
      return false;
    return Installed(i);
  }

  bool Installed(size_t i) {
    Add("host.driver.module_on_disk", Value::Of(true), Source::kOs, i);
    return true;
  }

  bool NoModule(size_t i) {
    Add("host.driver.module_on_disk", Value::Of(false), Source::kOs, i);
    return true;
  }

  PastedText& text_;
  EvidenceSink& sink_;
  size_t modinfo_until_ = 0;  // the line up to which "version:" is modinfo's
};

void Read(PastedText& text, EvidenceSink& sink) { Reader(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_toolkit;
constinit const ReaderInfo kReader_toolkit{.name = "toolkit", .read = &Read};

}  // namespace gpuwhy
