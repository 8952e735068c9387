// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "model/evidence.h"

#include <algorithm>
#include <set>

namespace gpuwhy {

void Evidence::Add(const Fact& fact) {
  const FactKey key{fact.name, fact.entity};
  const auto [place, is_new] = newest_.try_emplace(key, facts_.size());
  if (is_new) {
    by_name_[fact.name].push_back(facts_.size());
    facts_.push_back(fact);
  } else {
    facts_[place->second] = fact;
  }
}

void Evidence::Add(const Sample& sample) {
  samples_[sample.metric][sample.entity].push_back({sample.time_s, sample.value});
}

void Evidence::Add(const Gap& gap) {
  if (std::find(gaps_.begin(), gaps_.end(), gap) == gaps_.end()) gaps_.push_back(gap);
}

uint32_t Evidence::Intern(std::string_view name) {
  const auto place = name_index_.find(name);
  if (place != name_index_.end()) return place->second;
  const auto index = static_cast<uint32_t>(names_.size());
  names_.emplace_back(name);
  name_index_.emplace(std::string(name), index);
  return index;
}

const Fact* Evidence::Find(std::string_view name) const {
  const auto place = by_name_.find(name);
  if (place == by_name_.end()) return nullptr;
  // A known value of one entity says more than an unknown one of another.
  const Fact* best = nullptr;
  for (const size_t index : place->second) {
    const Fact& fact = facts_[index];
    if (best == nullptr || (fact.value.known() && !best->value.known())) best = &fact;
  }
  return best;
}

const Fact* Evidence::Find(std::string_view name, const Entity& entity) const {
  const auto place = newest_.find(FactKey{std::string(name), entity});
  return place == newest_.end() ? nullptr : &facts_[place->second];
}

std::vector<const Fact*> Evidence::All(std::string_view name) const {
  std::vector<const Fact*> out;
  const auto place = by_name_.find(name);
  if (place == by_name_.end()) return out;
  for (const size_t index : place->second) out.push_back(&facts_[index]);
  return out;
}

std::vector<const Fact*> Evidence::WithPrefix(std::string_view prefix) const {
  std::vector<const Fact*> out;
  for (auto it = by_name_.lower_bound(prefix); it != by_name_.end() && it->first.compare(0, prefix.size(), prefix) == 0;
       ++it) {
    for (const size_t index : it->second) out.push_back(&facts_[index]);
  }
  return out;
}

std::optional<bool> Evidence::Bool(std::string_view name) const {
  const Fact* fact = Find(name);
  return fact ? fact->value.AsBool() : std::nullopt;
}

std::optional<int64_t> Evidence::Int(std::string_view name) const {
  const Fact* fact = Find(name);
  return fact ? fact->value.AsInt() : std::nullopt;
}

std::optional<double> Evidence::Double(std::string_view name) const {
  const Fact* fact = Find(name);
  return fact ? fact->value.AsDouble() : std::nullopt;
}

std::optional<std::string> Evidence::Text(std::string_view name) const {
  const Fact* fact = Find(name);
  return fact ? fact->value.AsText() : std::nullopt;
}

const Series& Evidence::Samples(std::string_view metric, const Entity& entity) const {
  static const Series kNone;
  const auto place = samples_.find(metric);
  if (place == samples_.end()) return kNone;
  const auto series = place->second.find(entity);
  return series == place->second.end() ? kNone : series->second;
}

std::vector<Entity> Evidence::EntitiesWith(std::string_view metric) const {
  std::vector<Entity> out;
  const auto place = samples_.find(metric);
  if (place == samples_.end()) return out;
  for (const auto& [entity, series] : place->second) out.push_back(entity);
  return out;
}

std::vector<Entity> Evidence::Entities(EntityKind kind) const {
  std::vector<Entity> out;
  std::set<Entity> known;
  const auto add = [&](const Entity& entity) {
    if (entity.kind == kind && known.insert(entity).second) out.push_back(entity);
  };
  for (const Fact& fact : facts_) add(fact.entity);
  for (const auto& [metric, by_entity] : samples_) {
    for (const auto& [entity, series] : by_entity) add(entity);
  }
  return out;
}

}  // namespace gpuwhy
