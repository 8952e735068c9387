// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_MESSAGES_CATALOGUE_H_
#define GPUWHY_READER_MESSAGES_CATALOGUE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "model/entity.h"

// Lines that programs print, generated from knowledge/messages/*.tsv by tools/gen_messages.py.
namespace gpuwhy::messages {

// What a capture accepts: anything, one word without blanks, a number or version ([0-9A-Za-z._+-]), a size ("12.50
// MiB", "0 bytes", "1.5G"), a whole number above 0.
enum class CaptureKind : uint8_t { kNone, kText, kWord, kVersion, kSize, kCount };

// A literal (runs of blanks are one blank) and the capture behind it; the last piece may capture nothing.
struct Piece {
  std::string_view literal;
  std::string_view capture;
  CaptureKind kind;
};

enum class FactKind : uint8_t { kBool, kInteger, kText, kList };  // kList: the words of a capture

// A fact that a message states by itself. Name and value may hold {capture}.
struct FactTemplate {
  std::string_view name;
  FactKind kind;
  std::string_view value;
};

struct Message {
  std::string_view id;  // several rows share it when a message has several wordings
  Source rung;
  bool anchored;  // the line must begin with it
  std::span<const Piece> pieces;
  std::span<const FactTemplate> facts;
  std::string_view gram;  // four bytes of a literal: a line without them cannot match
  std::string_view source;
};

std::span<const Message> AllMessages();

}  // namespace gpuwhy::messages

#endif  // GPUWHY_READER_MESSAGES_CATALOGUE_H_
