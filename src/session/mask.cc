// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/mask.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "model/metric.h"

namespace gpuwhy {
namespace {

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool IsHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// Every occurrence of `name` as a word of its own, upper and lower case alike; with `inside` also as a part of one.
std::string ReplaceName(std::string_view text, const std::string& name, std::string_view mask, bool inside) {
  const std::string low = Lower(text), wanted = Lower(name);
  std::string out;
  size_t at = 0;
  for (;;) {
    const size_t found = low.find(wanted, at);
    if (found == std::string::npos) return out.append(text.substr(at));
    const size_t end = found + wanted.size();
    const bool word = (found == 0 || !IsAlnum(text[found - 1])) && (end == text.size() || !IsAlnum(text[end]));
    out.append(text.substr(at, found - at));
    out.append(word || inside ? mask : text.substr(found, wanted.size()));
    at = end;
  }
}

// Folders that tell of the system and not of its user. A path is one of them or lies below.
bool IsSystemPath(std::string_view path) {
  for (const std::string_view folder : {"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/proc", "/dev",
                                        "/sys", "/etc", "/boot", "/opt/cuda", "/opt/bin", "/opt/nvidia",
                                        "/run/current-system", "/run/opengl-driver", "/nix/store", "/var/lib/dkms"}) {
    if (path.substr(0, folder.size()) == folder && (path.size() == folder.size() || path[folder.size()] == '/'))
      return true;
  }
  return false;
}

// "python3.11", "nvcc" and the like: the end of a private path that says what it is and not whose.
bool IsKnownProgram(std::string_view name) {
  if (name.substr(0, 6) == "python" && name.find_first_not_of("0123456789.", 6) == std::string_view::npos) return true;
  return name == "nvcc" || name == "nvidia-smi" || name == "conda";
}

size_t KnownTail(std::string_view path) {
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.find(packages);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = path.substr(at + packages.size());
    for (const std::string_view package : {"torch/", "tensorflow/", "nvidia/", "jax/", "jaxlib/"}) {
      if (rest.substr(0, package.size()) == package) return at;
    }
  }
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || !IsKnownProgram(path.substr(slash + 1))) return path.size();
  return slash >= 4 && path.substr(slash - 4, 4) == "/bin" ? slash - 4 : slash;
}

// Where a path ends in running text. A colon is the end too: "…/libnvidia-ml.so.1: cannot open".
bool EndsPath(char c) {
  constexpr std::string_view kEnds = "\"'`,;:()<>|{}";
  return static_cast<unsigned char>(c) <= ' ' || kEnds.find(c) != std::string_view::npos;
}

// Length of a UUID (8-4-4-4-12 hexadecimal digits, or the 32 digits alone) that begins here, else 0.
size_t UuidLength(std::string_view text) {
  constexpr std::array<size_t, 5> kGroups = {8, 4, 4, 4, 12};
  size_t at = 0;
  bool dashed = true;
  for (size_t group = 0; group < kGroups.size() && dashed; ++group) {
    if (group > 0) dashed = at < text.size() && text[at++] == '-';
    for (size_t i = 0; i < kGroups[group] && dashed; ++i) dashed = at < text.size() && IsHex(text[at++]);
  }
  if (dashed) return at;
  at = 0;
  while (at < text.size() && IsHex(text[at])) ++at;
  return at == 32 ? 32 : 0;
}

// Behind the word "serial" ("Serial Number : 0123", "serial=0123"): where the value begins, npos when there is none.
size_t SerialValue(std::string_view text, size_t at) {
  const std::string low = Lower(text.substr(at));
  size_t next = 6;
  for (const std::string_view word : {" number", "_number", " no.", " no"}) {
    if (low.compare(next, word.size(), word) != 0) continue;
    next += word.size();
    break;
  }
  while (next < low.size() && (low[next] == ' ' || low[next] == ':' || low[next] == '=' || low[next] == '"')) ++next;
  const bool number = next > 6 && next < low.size() && std::isdigit(static_cast<unsigned char>(low[next])) != 0;
  return number ? at + next : std::string_view::npos;
}

std::string MaskSerials(std::string_view text) {
  std::string out;
  const std::string low = Lower(text);
  size_t at = 0;
  for (size_t found = low.find("serial"); found != std::string::npos; found = low.find("serial", found + 6)) {
    const size_t value = SerialValue(text, found);
    if (value == std::string_view::npos || value < at) continue;
    out.append(text.substr(at, value - at)).append("[serial]");
    at = value;
    while (at < text.size() && IsAlnum(text[at])) ++at;  // NVIDIA's are digits alone
  }
  return out.append(text.substr(at));
}

bool MayShow(const std::string& name) {
  if (name == "python.path" || Contains(name, "serial")) return false;
  for (const std::string_view prefix :
       {"session.", "host.", "driver.", "gpu.", "toolkit.", "nvidia_smi.", "python.", "process.gpu."}) {
    if (std::string_view(name).substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

}  // namespace

Masker::Masker(Identity identity) : identity_(std::move(identity)) {
  const auto longest_first = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  };
  for (std::vector<std::string>* list : {&identity_.users, &identity_.hosts, &identity_.homes, &identity_.paths}) {
    list->erase(
        std::remove_if(list->begin(), list->end(), [](const std::string& text) { return text.empty() || text == "/"; }),
        list->end());
    std::sort(list->begin(), list->end(), longest_first);
  }
}

std::string Masker::Number(std::map<std::string, std::string>& known, const std::string& kind,
                           const std::string& what) {
  const auto [place, is_new] = known.try_emplace(what, "");
  if (is_new) place->second = "[" + kind + "-" + std::to_string(known.size()) + "]";
  return place->second;
}

std::string Masker::MaskPath(const std::string& path) {
  if (IsSystemPath(path)) return path;
  const size_t tail = KnownTail(path);
  return Number(paths_, "path", path.substr(0, tail)) + path.substr(tail);
}

std::string Masker::MaskPaths(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at, 3) == "://") {
      out += text.substr(at, 3);
      at += 3;
      continue;
    }
    // A slash inside a word ("and/or", "12.4/cuda") begins no path; "~" is the shell's short form of a home folder.
    const bool begins = (text[at] == '/' || text.substr(at, 2) == "~/") &&
                        (at == 0 || (!IsAlnum(text[at - 1]) && text[at - 1] != '/' && text[at - 1] != ']'));
    if (!begins) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && !EndsPath(text[end])) ++end;
    const std::string path(text.substr(at, end - at));
    out += path.size() > 1 ? MaskPath(path) : path;
    at = end;
  }
  return out;
}

std::string Masker::MaskIds(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool starts = IsHex(text[at]) && (at == 0 || !IsAlnum(text[at - 1]));
    const size_t size = starts ? UuidLength(text.substr(at)) : 0;
    if (size == 0) {
      out += text[at++];
      continue;
    }
    out += Number(ids_, "uuid", Lower(text.substr(at, size)));
    at += size;
  }
  return out;
}

// Replaces a folder and what lies below it.
void Masker::MaskFolder(const std::string& folder, std::string& text) {
  if (IsSystemPath(folder)) return;
  for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
    size_t end = at + folder.size();
    if (end < text.size() && text[end] == '/') {
      while (end < text.size() && !EndsPath(text[end])) ++end;
    }
    const std::string mask = MaskPath(text.substr(at, end - at));
    text.replace(at, end - at, mask);
    at += mask.size();
  }
}

std::string Masker::Mask(std::string_view text) {
  // Numbers first: behind a path they would look like the next word of a sentence.
  std::string out = MaskIds(MaskSerials(text));
  // Known private folders first: they may hold blanks, at which a path in running text seems to end.
  for (const std::vector<std::string>* folders : {&identity_.paths, &identity_.homes}) {
    for (const std::string& folder : *folders) MaskFolder(MaskIds(MaskSerials(folder)), out);
  }
  out = MaskPaths(out);
  for (const std::string& host : identity_.hosts) out = ReplaceName(out, host, "[host]", host.size() >= 6);
  for (const std::string& user : identity_.users) out = ReplaceName(out, user, "[user]", user.size() >= 6);
  return out;
}

Value Masker::Mask(const Value& value) {
  Value out = value;
  out.why = Mask(value.why);
  if (std::string* text = std::get_if<std::string>(&out.scalar)) *text = Mask(std::string_view(*text));
  if (StringList* list = std::get_if<StringList>(&out.scalar)) {
    for (std::string& item : *list) item = Mask(std::string_view(item));
  }
  return out;
}

Entity Masker::Mask(const Entity& entity) { return {entity.kind, Mask(std::string_view(entity.id))}; }

Evidence Masked(const Evidence& evidence, Masker& masker) {
  Evidence out;
  for (const Fact* fact : evidence.WithPrefix("")) {
    if (!MayShow(fact->name)) continue;
    out.AddFact(fact->name, masker.Mask(fact->entity), masker.Mask(fact->value), fact->source,
                masker.Mask(std::string_view(fact->where)), fact->time_s);
  }
  for (const Metric& metric : Metrics()) {
    for (const Entity& entity : evidence.EntitiesWith(metric.name)) {
      const Entity masked = masker.Mask(entity);
      for (const Point& point : evidence.Samples(metric.name, entity))
        out.Add(Sample{std::string(metric.name), masked, point.time_s, point.value});
    }
  }
  for (const Gap& gap : evidence.gaps())
    out.Add(Gap{masker.Mask(std::string_view(gap.what)), masker.Mask(std::string_view(gap.why)),
                masker.Mask(std::string_view(gap.fix))});
  return out;
}

}  // namespace gpuwhy
