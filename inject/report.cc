// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/report.h"

namespace gpuwhy::inject {
namespace {
using Json = Text<3000>;  // fits the 128 pieces of a blob
}

void Reporter::Fact(const char* name, const char* value) {
  Json json;
  json.Add("{\"facts\":{").AddJson(name).Add(":").AddJson(value).Add("}}");
  ring_->WriteBlob(wire::BlobKind::kFactsJson, ++facts_, json.c_str(), json.size());
}

void Reporter::Fact(const char* name, uint64_t value) {
  Json json;
  json.Add("{\"facts\":{").AddJson(name).Add(":").AddNumber(value).Add("}}");
  ring_->WriteBlob(wire::BlobKind::kFactsJson, ++facts_, json.c_str(), json.size());
}

void Reporter::Gap(const char* what, const char* why, const char* fix) {
  Json json;
  json.Add("{\"what\":").AddJson(what).Add(",\"why\":").AddJson(why).Add(",\"fix\":").AddJson(fix).Add("}");
  ring_->WriteBlob(wire::BlobKind::kGapJson, ++gaps_, json.c_str(), json.size());
}

}  // namespace gpuwhy::inject
