// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WIRE_BLOB_ASSEMBLER_H_
#define GPUWHY_WIRE_BLOB_ASSEMBLER_H_

#include <list>
#include <string>
#include <utility>

#include "wire/wire.gen.h"

namespace gpuwhy::wire {

// Puts texts that were cut into records together again. Pieces of different texts may be mixed (threads), those of one
// (kind, id) come in order. A text that breaks a limit or has a hole is forgotten and counted.
class BlobAssembler {
 public:
  static constexpr uint32_t kMaxText = 1 << 20;  // bytes of one text
  static constexpr size_t kMaxPending = 64;      // texts in the making; with kMaxText the bound on memory

  struct Text {
    BlobKind kind = BlobKind::kFactsJson;
    uint32_t id = 0;
    std::string text;
  };

  // True when `piece` completes a text, which is then in `done`.
  bool Add(const Blob& piece, Text* done) {
    auto place = pending_.begin();
    while (place != pending_.end() && (place->id != piece.id || place->kind != piece.kind)) ++place;
    const bool sound = piece.length <= sizeof piece.data && piece.total <= kMaxText && piece.offset <= piece.total &&
                       piece.length <= piece.total - piece.offset && (piece.length > 0 || piece.total == 0);
    if (place != pending_.end() && (piece.offset == 0 || !sound)) {
      pending_.erase(place);
      place = pending_.end();
      ++broken_;
      if (!sound) return false;
    }
    if (place == pending_.end()) {
      if (!sound || piece.offset != 0) {
        // One count for a text whose beginning is missing, not one for each of its pieces.
        if (!sound || piece.id != last_orphan_) ++broken_;
        last_orphan_ = piece.id;
        return false;
      }
      place = pending_.insert(pending_.end(), {piece.id, piece.kind, piece.total, {}});
      Bound();
    }
    return Append(place, piece, done);
  }

  uint64_t broken() const { return broken_; }
  // Texts that never got their last piece.
  size_t pending() const { return pending_.size(); }

 private:
  struct Pending {
    uint32_t id;
    uint16_t kind;
    uint32_t total;
    std::string text;
  };

  bool Append(std::list<Pending>::iterator place, const Blob& piece, Text* done) {
    if (piece.offset != place->text.size() || piece.total != place->total) {
      last_orphan_ = piece.id;
      pending_.erase(place);
      ++broken_;
      return false;
    }
    place->text.append(piece.data, piece.length);
    if (place->text.size() < place->total) return false;
    *done = {static_cast<BlobKind>(piece.kind), piece.id, std::move(place->text)};
    pending_.erase(place);
    return true;
  }

  void Bound() {
    if (pending_.size() <= kMaxPending) return;
    pending_.pop_front();
    ++broken_;
  }

  std::list<Pending> pending_;
  uint64_t broken_ = 0;
  uint32_t last_orphan_ = 0;
};

}  // namespace gpuwhy::wire

#endif  // GPUWHY_WIRE_BLOB_ASSEMBLER_H_
