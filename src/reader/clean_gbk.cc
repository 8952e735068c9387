// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/clean_gbk.h"

#include <vector>

#include "base/gb18030.h"
#include "base/text.h"
#include "reader/clean_decode.h"

namespace gpuwhy {
namespace {

constexpr size_t kFewest = 4;       // pairs: two words
constexpr size_t kUsualShare = 12;  // one character in so many is among the usual ones, in any Chinese prose or message
constexpr size_t kBytesOfCharacter = 3;

// The most frequent characters of Chinese, and those of which error messages are made.
constexpr std::string_view kUsual =
    "的一是不了在有人我他这中大来上个到说们为和你地出也时得就那要下以生会自着过后能好没问题请怎么报错误无法找到"
    "使用内存显卡驱动程序运行模块指定文件安装版本系统设备未加载失败成功更新训练可用命令部件参数正确请求服务器占";

struct Pairs {
  size_t sound = 0, others = 0;
};

// Bytes above ASCII: pairs of GB 2312 (rows of punctuation and of characters), and everything else.
Pairs CountPairs(std::string_view line) {
  Pairs pairs;
  for (size_t i = 0; i < line.size(); ++i) {
    const auto lead = static_cast<unsigned char>(line[i]);
    if (lead < 0x80) continue;
    const auto trail = i + 1 < line.size() ? static_cast<unsigned char>(line[i + 1]) : 0U;
    const bool row = (lead >= 0xA1 && lead <= 0xA3) || (lead >= 0xB0 && lead <= 0xF7);
    const bool sound = row && trail >= 0xA1 && trail <= 0xFE;
    ++(sound ? pairs.sound : pairs.others);
    if (sound) ++i;
  }
  return pairs;
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

bool GbkLine(std::string_view line) {
  const Pairs pairs = CountPairs(line);
  return pairs.sound > 0 && pairs.others == 0 && !IsUtf8(line);
}

// Counts the characters of three bytes (all of Chinese) and those of them that are usual.
void CountUsual(std::string_view text, size_t& characters, size_t& usual) {
  for (size_t i = 0; i + kBytesOfCharacter <= text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0xE3)
      continue;  // U+3000 and above; no byte within a character is so high
    ++characters;
    usual += Contains(kUsual, text.substr(i, kBytesOfCharacter)) ? 1U : 0U;
  }
}

}  // namespace

bool LooksLikeGbk(std::string_view bytes) {
  Pairs all;
  for (const std::string_view line : Split(bytes, '\n')) {
    if (IsUtf8(line)) continue;
    const Pairs pairs = CountPairs(line);
    all.sound += pairs.sound;
    all.others += pairs.others;
  }
  return all.sound >= kFewest && all.others * 4 <= all.sound;
}

std::optional<GbkText> DecodeGbk(std::string_view bytes) {
  const std::vector<std::string_view> lines = Split(bytes, '\n');
  std::string foreign;  // all lines to decode, each with its end: no byte of a pair is a line end
  for (const std::string_view line : lines) {
    if (GbkLine(line)) foreign.append(line) += '\n';
  }
  const std::optional<std::string> decoded = foreign.empty() ? std::nullopt : FromGb18030(foreign);
  if (!decoded) return std::nullopt;
  size_t characters = 0, usual = 0;
  CountUsual(*decoded, characters, usual);
  if (characters < kFewest || usual * kUsualShare < characters) return std::nullopt;
  GbkText out;
  const std::vector<std::string_view> replaced = Split(*decoded, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.text += '\n';
    out.text += GbkLine(lines[i]) && out.lines < replaced.size() ? replaced[out.lines++] : lines[i];
  }
  return out;
}

}  // namespace gpuwhy
