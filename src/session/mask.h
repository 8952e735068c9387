// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_MASK_H_
#define GPUWHY_SESSION_MASK_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/evidence.h"

namespace gpuwhy {

// Who and where we are: what a forum post must not tell.
struct Identity {
  std::vector<std::string> users;  // login names
  std::vector<std::string> hosts;  // full and short names
  std::vector<std::string> homes;  // home folders
  std::vector<std::string> paths;  // further private paths, such as interpreters that were named on the command line
  static Identity OfThisProcess();
};

// Replaces what identifies a person or a machine: [user], [host], [path-1], [uuid-1], [serial]. Equal things get equal
// names, so that a masked text still tells two GPUs or two interpreters apart. Folders that every machine has (/usr,
// /dev, /proc and so on) stay readable; of other paths only an end that names a program or an installed package stays.
class Masker {
 public:
  explicit Masker(Identity identity);

  std::string Mask(std::string_view text);
  Value Mask(const Value& value);
  Entity Mask(const Entity& entity);

 private:
  void MaskFolder(const std::string& folder, std::string& text);
  std::string MaskPaths(std::string_view text);
  std::string MaskPath(const std::string& path);
  std::string MaskIds(std::string_view text);
  std::string Number(std::map<std::string, std::string>& known, const std::string& kind, const std::string& what);

  Identity identity_;
  std::map<std::string, std::string> paths_, ids_;
};

// The part of a look at a machine that may be shown in public, masked: host, driver, GPU, toolkit and interpreter
// facts, readings and gaps. Commands, environments and module search paths of interpreters are left out.
Evidence Masked(const Evidence& evidence, Masker& masker);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_MASK_H_
