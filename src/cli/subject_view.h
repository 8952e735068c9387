// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_CLI_SUBJECT_VIEW_H_
#define GPUWHY_CLI_SUBJECT_VIEW_H_

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"

namespace gpuwhy::cli {

// Questions to the facts of a report's subject. nullptr or nothing means that nobody said anything.
class SubjectView {
 public:
  explicit SubjectView(const Report& report) : facts_(report.subject) {}

  const Fact* Find(std::string_view name, const Entity& entity = Entity::Host()) const {
    for (const Fact& fact : facts_) {
      if (fact.name == name && fact.entity == entity) return &fact;
    }
    return nullptr;
  }
  std::optional<bool> Bool(std::string_view name, const Entity& entity = Entity::Host()) const {
    const Fact* fact = Find(name, entity);
    return fact != nullptr ? fact->value.AsBool() : std::nullopt;
  }
  std::optional<double> Number(std::string_view name, const Entity& entity = Entity::Host()) const {
    const Fact* fact = Find(name, entity);
    return fact != nullptr ? fact->value.AsDouble() : std::nullopt;
  }
  std::string Text(std::string_view name, const Entity& entity = Entity::Host()) const {
    const Fact* fact = Find(name, entity);
    return fact != nullptr ? fact->value.AsText().value_or("") : "";
  }
  std::optional<StringList> List(std::string_view name) const {
    const Fact* fact = Find(name);
    return fact != nullptr ? fact->value.AsList() : std::nullopt;
  }
  // Things that have this fact, in order of arrival.
  std::vector<Entity> With(std::string_view name, EntityKind kind) const {
    std::vector<Entity> out;
    for (const Fact& fact : facts_) {
      if (fact.name == name && fact.entity.kind == kind) out.push_back(fact.entity);
    }
    return out;
  }

 private:
  const std::vector<Fact>& facts_;
};

}  // namespace gpuwhy::cli

#endif  // GPUWHY_CLI_SUBJECT_VIEW_H_
