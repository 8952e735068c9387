// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/reader.h"

// What the tools of the driver, the toolkit and the system print of versions and of the kernel module: nvcc, /proc,
// dpkg, modinfo, lsmod, mokutil, DKMS.
namespace gpuwhy {
namespace {

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

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const std::string& line = text_[i];
      if (line.size() < 6) continue;
      if (Nvcc(line, i) || Module(line, i) || Packages(line, i) || SecureBoot(line, i) || Commands(line, i))
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

  // Installed packages of the driver's user side: "ii  nvidia-driver-550  550.107.02-0ubuntu0.24.04.1  amd64".
  bool Packages(const std::string& line, size_t i) {
    const std::string_view bare = Trim(line);
    if (bare.rfind("ii ", 0) != 0) return false;
    const std::string_view package = Trim(bare.substr(2));
    for (const char* name : {"nvidia-driver-", "libnvidia-compute-", "nvidia-utils-", "libcuda1"}) {
      if (package.rfind(name, 0) != 0) continue;
      const size_t end = package.find(' ');
      if (end == std::string_view::npos) return false;
      return Version("host.driver.library_version", package, end, Source::kOs, i);
    }
    return false;
  }

  bool SecureBoot(const std::string& line, size_t i) {
    const bool on = Contains(line, "SecureBoot enabled") || Contains(line, "Secure boot enabled") ||
                    Contains(line, "Secure Boot: enabled");
    const bool off = Contains(line, "SecureBoot disabled") || Contains(line, "Secure boot disabled");
    if (on || off) Add("host.secure_boot", Value::Of(on), Source::kOs, i);
    if (Contains(line, "Key was rejected by service") || Contains(line, "Required key not available")) {
      Add("host.driver.module_rejected", Value::Of(true), Source::kOs, i);
      return true;
    }
    return on || off;
  }

  static bool Prompt(std::string_view line) {
    const std::string_view bare = Trim(line);
    return bare.rfind("$ ", 0) == 0 || bare.rfind("# ", 0) == 0 || Contains(bare, "$ ") || Contains(bare, "# ");
  }

  // Commands whose answer is what follows: the version that modinfo found, or nothing at all.
  bool Commands(const std::string& line, size_t i) {
    if (!Prompt(line)) return false;
    const std::string next = i + 1 < text_.size() ? std::string(Trim(text_[i + 1])) : "";
    if (Contains(line, "lsmod") && Contains(line, "nvidia")) {
      const bool last = i + 1 >= text_.size();
      const bool silent = !last && (next.empty() || Prompt(next));
      const bool loaded = next.rfind("nvidia", 0) == 0;
      if (silent || loaded) Add("host.driver.module", Value::Of(loaded), Source::kOs, i);
      if (loaded) text_.Claim(i + 1);
      return silent || loaded;
    }
    const bool modinfo = Contains(line, "modinfo") && Contains(line, "nvidia");
    if (!modinfo || next.empty()) return false;
    if (!Digit(next.front())) return Contains(next, "not found") && NoModule(i);
    text_.Claim(i + 1);
    Add("host.driver.module_on_disk", Value::Of(true), Source::kOs, i + 1);
    return Version("host.driver.version_on_disk", next, 0, Source::kOs, i + 1);
  }

  bool NoModule(size_t i) {
    Add("host.driver.module_on_disk", Value::Of(false), Source::kOs, i + 1);
    text_.Claim(i + 1);
    return true;
  }

  PastedText& text_;
  EvidenceSink& sink_;
};

void Read(PastedText& text, EvidenceSink& sink) { Reader(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_toolkit;
constinit const ReaderInfo kReader_toolkit{.name = "toolkit", .read = &Read};

}  // namespace gpuwhy
