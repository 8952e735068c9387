// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/json/subject.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace gpuwhy::report {
namespace {

// Fields of one thing, in order of arrival, with the reasons of those that have no value.
class Record {
 public:
  void Name(const std::string& field, Json value) { fields_.Set(field, std::move(value)); }

  void Add(const std::string& field, const Value& value) {
    fields_.Set(field, ValueJson(value));
    if (!value.known()) unknown_.Set(field, value.Show());
  }

  Json Take() {
    if (unknown_.is_object()) fields_.Set("unknown", unknown_);
    return fields_.is_object() ? fields_ : Json(Json::Object{});
  }

 private:
  Json fields_, unknown_;
};

// Records in order of arrival, found again by a key.
class Records {
 public:
  Record& At(const std::string& key, bool& is_new) {
    const auto [at, inserted] = index_.emplace(key, items_.size());
    is_new = inserted;
    if (inserted) items_.emplace_back();
    return items_[at->second];
  }

  bool empty() const { return items_.empty(); }

  Json Take(size_t from = 0) {
    Json::Array out;
    for (size_t i = from; i < items_.size(); ++i) out.push_back(items_[i].Take());
    return out;
  }

  size_t size() const { return items_.size(); }
  Record& front() { return items_.front(); }

 private:
  std::vector<Record> items_;
  std::map<std::string, size_t> index_;
};

// "gpu.name" of a GPU is its field "name"; a name of another domain stays whole.
std::string Field(std::string_view name, std::string_view domain) {
  const bool own =
      name.size() > domain.size() + 1 && name.substr(0, domain.size()) == domain && name[domain.size()] == '.';
  return std::string(own ? name.substr(domain.size() + 1) : name);
}

class Subject {
 public:
  void Add(const Fact& fact) {
    if (AddFramework(fact)) return;
    bool is_new = false;
    switch (fact.entity.kind) {
      case EntityKind::kHost:
        host_.Add(Field(fact.name, "host"), fact.value);
        break;
      case EntityKind::kGpu: {
        Record& gpu = gpus_.At(fact.entity.id, is_new);
        if (is_new) gpu.Name("id", fact.entity.id);
        gpu.Add(Field(fact.name, "gpu"), fact.value);
        break;
      }
      case EntityKind::kProcess: {
        Record& process = processes_.At(fact.entity.id, is_new);
        if (is_new) process.Name("pid", fact.entity.pid());
        process.Add(Field(fact.name, "process"), fact.value);
        break;
      }
      case EntityKind::kProcessOnGpu: {
        Record& use = uses_.At(fact.entity.id, is_new);
        if (is_new) use.Name("pid", fact.entity.pid());
        if (is_new) use.Name("gpu", fact.entity.gpu());
        use.Add(Field(fact.name, "process"), fact.value);
        break;
      }
      case EntityKind::kInterpreter: {
        Record& interpreter = interpreters_.At(fact.entity.id, is_new);
        if (is_new) interpreter.Name("path", fact.entity.id);
        interpreter.Add(Field(fact.name, "python"), fact.value);
        break;
      }
    }
  }

  Json Take() {
    Json out;
    out.Set("host", host_.Take());
    out.Set("gpus", gpus_.Take());
    out.Set("process", processes_.empty() ? Json() : processes_.front().Take());
    out.Set("frameworks", frameworks_.Take());
    if (processes_.size() > 1) out.Set("other_processes", processes_.Take(1));
    if (!uses_.empty()) out.Set("gpu_processes", uses_.Take());
    if (!interpreters_.empty()) out.Set("interpreters", interpreters_.Take());
    return out;
  }

 private:
  // "framework.torch.version" of a process or interpreter is the field "version" of its framework torch.
  bool AddFramework(const Fact& fact) {
    const std::vector<std::string_view> parts = Split(fact.name, '.');
    if (parts.size() < 3 || parts[0] != "framework") return false;
    bool is_new = false;
    Record& framework = frameworks_.At(std::string(parts[1]) + " of " + fact.entity.Text(), is_new);
    if (is_new) {
      framework.Name("name", parts[1]);
      if (fact.entity.kind == EntityKind::kProcess) framework.Name("pid", fact.entity.pid());
      if (fact.entity.kind == EntityKind::kInterpreter) framework.Name("interpreter", fact.entity.id);
    }
    framework.Add(fact.name.substr(parts[0].size() + parts[1].size() + 2), fact.value);
    return true;
  }

  Record host_;
  Records gpus_, processes_, uses_, interpreters_, frameworks_;
};

}  // namespace

Json Rounded(double value) {
  if (!std::isfinite(value)) return {};
  if (value == std::floor(value) && std::fabs(value) < 9e15) return static_cast<int64_t>(value);
  return ParseDouble(Format("{:.5e}", value)).value_or(value);
}

Json ValueJson(const Value& value) {
  if (!value.known()) return {};
  if (const bool* yes = std::get_if<bool>(&value.scalar)) return *yes;
  if (const int64_t* number = std::get_if<int64_t>(&value.scalar)) return *number;
  if (const double* number = std::get_if<double>(&value.scalar)) return Rounded(*number);
  if (const std::string* text = std::get_if<std::string>(&value.scalar)) return *text;
  if (const StringList* list = std::get_if<StringList>(&value.scalar)) {
    Json::Array out;
    for (const std::string& item : *list) out.emplace_back(item);
    return out;
  }
  return {};
}

Json SubjectJson(const std::vector<Fact>& facts) {
  Subject subject;
  for (const Fact& fact : facts) subject.Add(fact);
  return subject.Take();
}

}  // namespace gpuwhy::report
