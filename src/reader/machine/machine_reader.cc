// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "reader/reader.h"
#include "reader/words.h"

// What a text shows of the machine: display controllers and their kernel drivers (lspci), prompts of containers.
namespace gpuwhy {
namespace {

constexpr size_t kAddressLength = 7;  // "01:00.0"
constexpr size_t kContainerNameLength =
    12;                             // docker and podman name a host after the first digits of the container's id
constexpr size_t kDetailLines = 8;  // lspci -k: lines that belong to a device

bool Hex(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0 && std::isupper(static_cast<unsigned char>(c)) == 0;
}

// "0000:01:00.0 " or "01:00.0 ": the length with the blank, 0 when the line does not begin so.
size_t AddressEnd(std::string_view line) {
  const size_t at = line.size() > 5 && line[4] == ':' ? 5 : 0;
  if (line.size() < at + kAddressLength + 1) return 0;
  const std::string_view a = line.substr(at);
  const bool shape =
      Hex(a[0]) && Hex(a[1]) && a[2] == ':' && Hex(a[3]) && Hex(a[4]) && a[5] == '.' && Hex(a[6]) && a[7] == ' ';
  return shape ? at + kAddressLength + 1 : 0;
}

// "VGA compatible controller [0300]: NVIDIA Corporation ..." behind the address: what follows the class of a display
// controller.
std::string_view Display(std::string_view line) {
  for (const std::string_view kind : {"VGA compatible controller", "3D controller", "Display controller"}) {
    if (!StartsWith(line, kind)) continue;
    const size_t colon = line.find(": ", kind.size());
    return colon == std::string_view::npos ? std::string_view() : line.substr(colon + 2);
  }
  return {};
}

bool Prompt(std::string_view line) { return Contains(line, "$ ") || Contains(line, "# ") || StartsWith(line, "> "); }

// What a command of lspci lets through. `grep nvidia` without -i finds none of the names, which are in capitals.
struct Listing {
  bool shows_nvidia = false;  // every NVIDIA device would be in the answer
  bool filtered = false;      // an empty answer is one
};

Listing ListingOf(std::string_view command) {
  const size_t grep = command.find("grep");
  if (grep == std::string_view::npos) return {true, false};
  const std::string_view filter = command.substr(grep);
  const std::string lower = Lower(filter);
  const bool folds =
      Contains(filter, " -i") || Contains(filter, " -Ei") || Contains(filter, " -ni") || Contains(filter, "NVIDIA");
  const bool named = Contains(lower, "nvidia") && folds;
  const bool classes = Contains(lower, "vga") && Contains(lower, "3d");
  return {named || classes, true};
}

class Reader {
 public:
  Reader(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const std::string_view line = text_[at_];
      if (line.size() < kAddressLength) continue;
      ContainerPrompt(line);
      if (Contains(line, "lspci") && (Prompt(line) || StartsWith(Trim(line), "lspci"))) {
        Command(line);
      } else {
        Device(Trim(line));
      }
    }
    Close();
  }

 private:
  void Add(const char* name, Value value, size_t line) {
    AddQuoted(sink_, name, Entity::Host(), std::move(value), Source::kOs, text_.lines()[line]);
    text_.Claim(line);
  }

  // root@3fa211bc9911:/workspace# ...
  void ContainerPrompt(std::string_view line) {
    const size_t sign = line.substr(0, 40).find('@');
    if (sign == std::string_view::npos || line.size() <= sign + kContainerNameLength + 1) return;
    const std::string_view name = line.substr(sign + 1, kContainerNameLength);
    bool digits = false;
    for (const char c : name) {
      if (!Hex(c)) return;
      digits = digits || std::isdigit(static_cast<unsigned char>(c)) != 0;
    }
    if (digits && line[sign + 1 + kContainerNameLength] == ':' && Prompt(line))
      Add("host.container", Value::Of(std::string(name)), at_);
  }

  void Command(std::string_view line) {
    Close();
    command_ = at_;
    listing_ = ListingOf(line);
    answered_ = false;
    const size_t pipe = at_ + 1;
    if (pipe >= text_.size()) return;
    const std::string_view next = Trim(text_[pipe]);
    // An empty answer of a filter: the next prompt follows at once.
    if (listing_.filtered && listing_.shows_nvidia && (next.empty() || Prompt(next))) {
      Add("host.gpu.pci.count", Value::Of(int64_t{0}), at_);
      command_.reset();
    }
  }

  void Device(std::string_view line) {
    const size_t end = AddressEnd(line);
    if (end == 0) {
      Detail(line);
      return;
    }
    nvidia_line_.reset();
    answered_ = true;
    const std::string_view device = Display(line.substr(end));
    if (device.empty()) return;
    if (!Contains(device, "NVIDIA")) {
      others_.emplace_back(device);
      other_line_ = at_;
      text_.Claim(at_);
      return;
    }
    nvidia_line_ = at_;
    devices_.emplace_back(device);
    Add("host.gpu.pci.devices", Value::Of(devices_), at_);
    Add("host.gpu.pci.count", Value::Of(static_cast<int64_t>(devices_.size())), at_);
    // Every byte of its configuration space reads as ff: it answers no more, or is switched off.
    if (Contains(device, "(rev ff)")) Add("host.gpu.pci.silent", Value::Of(std::string(line.substr(0, end - 1))), at_);
  }

  void Detail(std::string_view line) {
    constexpr std::string_view kLabel = "Kernel driver in use: ";
    if (!nvidia_line_ || at_ - *nvidia_line_ > kDetailLines || !StartsWith(line, kLabel)) return;
    const std::string driver(Trim(line.substr(kLabel.size())));
    Add("host.driver.module", Value::Of(driver == "nvidia"), at_);
    if (driver != "nvidia") Add("host.driver.module_other", Value::Of(driver), at_);
  }

  // A list that would name NVIDIA's devices, and names others only.
  void Close() {
    if (!others_.empty()) Add("host.gpu.other", Value::Of(others_), other_line_);
    if (command_ && answered_ && listing_.shows_nvidia && devices_.empty() && !others_.empty())
      Add("host.gpu.pci.count", Value::Of(int64_t{0}), other_line_);
    command_.reset();
  }

  PastedText& text_;
  EvidenceSink& sink_;
  size_t at_ = 0, other_line_ = 0;
  std::optional<size_t> command_, nvidia_line_;
  Listing listing_;
  bool answered_ = false;
  StringList devices_, others_;
};

void Read(PastedText& text, EvidenceSink& sink) { Reader(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_machine;
constinit const ReaderInfo kReader_machine{"machine", &Read};

}  // namespace gpuwhy
