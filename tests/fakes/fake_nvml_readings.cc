// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// Readings that change: utilisation, memory, clocks, counters, processes, GPM.
#include <algorithm>
#include <cstring>

#include "fake_nvml.h"

using namespace fake_nvml;  // NOLINT(google-build-using-namespace)

namespace {

// "pid:bytes:gi:ci;pid:bytes" -> entries of the layout of this build. "-" is an empty list, bytes -1 "not available".
struct Entry {
  unsigned pid = 0;
  uint64_t bytes = 0;
  unsigned gpu_instance = ~0U, compute_instance = ~0U;
};

std::vector<Entry> ParseEntries(const std::string& token) {
  std::vector<Entry> out;
  for (const std::string& text : Parts(token, ';')) {
    const std::vector<std::string> fields = Parts(text, ':');
    if (fields.size() < 2) continue;
    Entry entry;
    entry.pid = static_cast<unsigned>(std::strtoul(fields[0].c_str(), nullptr, 10));
    entry.bytes = static_cast<uint64_t>(std::strtoll(fields[1].c_str(), nullptr, 10));
    if (fields.size() >= 4) {
      entry.gpu_instance = static_cast<unsigned>(std::strtoul(fields[2].c_str(), nullptr, 10));
      entry.compute_instance = static_cast<unsigned>(std::strtoul(fields[3].c_str(), nullptr, 10));
    }
    out.push_back(entry);
  }
  return out;
}

void Store(const Entry& entry, ProcessInfoV1* out) { *out = {entry.pid, entry.bytes}; }
void Store(const Entry& entry, ProcessInfoV2* out) {
  *out = {entry.pid, entry.bytes, entry.gpu_instance, entry.compute_instance};
}
void Store(const Entry& entry, ProcessInfoCc* out) {
  *out = {entry.pid, entry.bytes, entry.gpu_instance, entry.compute_instance, 0};
}

template <typename Info>
Return Processes(DeviceHandle handle, const char* key, unsigned* count, void* out) {
  Section* gpu = nullptr;
  std::string token;
  Return code = Enter(handle, &gpu);
  if (code != kSuccess) return code;
  const auto place = gpu->answers.find(key);
  const size_t before = place == gpu->answers.end() ? 0 : place->second.next;
  code = gpu->Next(key, &token);
  if (code != kSuccess) return code;
  const std::vector<Entry> entries = ParseEntries(token);
  const unsigned room = *count;
  *count = static_cast<unsigned>(entries.size());
  if (entries.size() > room) {
    place->second.next = before;  // the same list again for the retry
    return kInsufficientSize;
  }
  for (size_t at = 0; at < entries.size(); ++at) Store(entries[at], static_cast<Info*>(out) + at);
  return kSuccess;
}

// "age_us:pid:sm:mem:enc:dec;..." with the age of the sample, or "@time" for a fixed (broken) time.
std::vector<ProcessUtilizationV1> ParseUses(const std::string& token) {
  std::vector<ProcessUtilizationV1> out;
  for (const std::string& text : Parts(token, ';')) {
    const std::vector<std::string> fields = Parts(text, ':');
    if (fields.size() < 6) continue;
    const auto number = [&](size_t at) { return static_cast<unsigned>(std::strtoul(fields[at].c_str(), nullptr, 10)); };
    const bool fixed = fields[0][0] == '@';
    const auto time = std::strtoull(fields[0].c_str() + (fixed ? 1 : 0), nullptr, 10);
    out.push_back({fixed ? time : NowUs() - time, number(1), number(2), number(3), number(4), number(5), 0, 0});
  }
  return out;
}

Return Uses(DeviceHandle handle, unsigned long long last_seen, std::vector<ProcessUtilizationV1>* out) {
  // An argument that is no time (a PID, zero) is the mistake of others: the fake refuses it, so that a test fails.
  if (last_seen < 1000000000000ULL) return kInvalidArgument;
  Section* gpu = nullptr;
  std::string token;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Next("process_utilization", &token);
  if (code == kSuccess) *out = ParseUses(token);
  return code == kSuccess && out->empty() ? kNotFound : code;
}

Return Field(Section* gpu, FieldValue* field) {
  const std::string key = "field." + std::to_string(field->field_id);
  std::string token;
  const Return code = gpu->Next(key, &token);
  field->timestamp = static_cast<long long>(NowUs());
  if (code != kSuccess) return code;
  // "u:7" is a 32-bit counter, anything else one of 64 bits.
  if (token.compare(0, 2, "u:") == 0) {
    field->value_type = kTypeUnsigned;
    field->value.as_unsigned = static_cast<unsigned>(std::strtoul(token.c_str() + 2, nullptr, 10));
  } else {
    field->value_type = kTypeUnsignedLongLong;
    field->value.as_unsigned_long_long = std::strtoull(token.c_str(), nullptr, 10);
  }
  return kSuccess;
}

}  // namespace

FAKE_API Return nvmlDeviceGetUtilizationRates(DeviceHandle handle, Utilization* out) {
  Section* gpu = nullptr;
  std::vector<double> numbers;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Numbers("utilization", &numbers, 2);
  if (code == kSuccess) *out = {static_cast<unsigned>(numbers[0]), static_cast<unsigned>(numbers[1])};
  return code;
}

// memory = total,reserved,used
FAKE_API Return nvmlDeviceGetMemoryInfo(DeviceHandle handle, MemoryV1* out) {
  Section* gpu = nullptr;
  std::vector<double> numbers;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Numbers("memory", &numbers, 3);
  if (code != kSuccess) return code;
  out->total = static_cast<uint64_t>(numbers[0]);
  out->used = static_cast<uint64_t>(numbers[2]);
  out->free = out->total - out->used;
  return kSuccess;
}

FAKE_API Return nvmlDeviceGetPowerUsage(DeviceHandle gpu, unsigned* out) { return Simple(gpu, "power", out); }
FAKE_API Return nvmlDeviceGetTemperature(DeviceHandle gpu, unsigned, unsigned* out) {
  return Simple(gpu, "temperature", out);
}
FAKE_API Return nvmlDeviceGetClockInfo(DeviceHandle gpu, unsigned type, unsigned* out) {
  return Simple(gpu, type == kClockSm ? "clock_sm" : "clock_memory", out);
}
FAKE_API Return nvmlDeviceGetPerformanceState(DeviceHandle gpu, unsigned* out) { return Simple(gpu, "pstate", out); }
FAKE_API Return nvmlDeviceGetTotalEnergyConsumption(DeviceHandle gpu, unsigned long long* out) {
  return Simple(gpu, "energy", out);
}
FAKE_API Return nvmlDeviceGetViolationStatus(DeviceHandle gpu, unsigned policy, ViolationTime* out) {
  return Simple(gpu, policy == kPolicyPower ? "violation.power" : "violation.thermal", &out->violation_time);
}

// samples = "age_us:value;age_us:value"
FAKE_API Return nvmlDeviceGetSamples(DeviceHandle handle, unsigned, unsigned long long, int* type, unsigned* count,
                                     BufferSample* out) {
  Section* gpu = nullptr;
  std::string token;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Next("samples", &token);
  if (code != kSuccess) return code;
  const std::vector<std::string> parts = Parts(token, ';');
  const auto number = static_cast<unsigned>(parts.size());
  if (out != nullptr) {
    for (unsigned at = 0; at < std::min(number, *count); ++at) {
      const std::vector<std::string> fields = Parts(parts[at], ':');
      out[at] = {};
      out[at].timestamp = NowUs() - std::strtoull(fields[0].c_str(), nullptr, 10);
      out[at].value.as_unsigned = static_cast<unsigned>(std::strtoul(fields.back().c_str(), nullptr, 10));
    }
  }
  *type = kTypeUnsigned;
  *count = number;
  return kSuccess;
}

FAKE_API Return nvmlDeviceGetProcessUtilization(DeviceHandle handle, ProcessUtilization* out, unsigned* count,
                                                unsigned long long last_seen) {
  if (out == nullptr) {
    *count = 100;  // the capacity of the driver's buffer, not a number of processes
    return kInsufficientSize;
  }
  std::vector<ProcessUtilizationV1> uses;
  const Return code = Uses(handle, last_seen, &uses);
  if (code != kSuccess) return code;
  const size_t number = std::min<size_t>(uses.size(), *count);
  for (size_t at = 0; at < number; ++at) {
    const ProcessUtilizationV1& use = uses[at];
    out[at] = {use.pid, use.timestamp, use.sm, use.memory, use.encoder, use.decoder};
  }
  *count = 100;  // claims the whole buffer, as real drivers do
  return kSuccess;
}

#ifdef OLD_DRIVER
FAKE_API Return nvmlDeviceGetCurrentClocksThrottleReasons(DeviceHandle gpu, unsigned long long* out) {
  return Simple(gpu, "reasons", out);
}
FAKE_API Return nvmlDeviceGetComputeRunningProcesses(DeviceHandle gpu, unsigned* count, void* out) {
  return Processes<ProcessInfoV1>(gpu, "compute", count, out);
}
FAKE_API Return nvmlDeviceGetGraphicsRunningProcesses(DeviceHandle gpu, unsigned* count, void* out) {
  return Processes<ProcessInfoV1>(gpu, "graphics", count, out);
}
#else
FAKE_API Return nvmlDeviceGetCurrentClocksEventReasons(DeviceHandle gpu, unsigned long long* out) {
  return Simple(gpu, "reasons", out);
}

FAKE_API Return nvmlDeviceGetFieldValues(DeviceHandle handle, int count, FieldValue* fields) {
  Section* gpu = nullptr;
  const Return code = Enter(handle, &gpu);
  for (int at = 0; code == kSuccess && at < count; ++at) fields[at].result = Field(gpu, &fields[at]);
  return code;
}

FAKE_API Return nvmlDeviceGetMemoryInfo_v2(DeviceHandle handle, MemoryV2* out) {
  if (out->version != StructVersion<MemoryV2>(2)) return kArgumentVersionMismatch;
  Section* gpu = nullptr;
  std::vector<double> numbers;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Numbers("memory", &numbers, 3);
  if (code != kSuccess) return code;
  out->total = static_cast<uint64_t>(numbers[0]);
  out->reserved = static_cast<uint64_t>(numbers[1]);
  out->used = static_cast<uint64_t>(numbers[2]);
  out->free = out->total - out->used;
  return kSuccess;
}

FAKE_API Return nvmlDeviceGetConfComputeMemSizeInfo(DeviceHandle, void*) { return kNotSupported; }

#ifdef DRIVER_535_43
// 535.43 to 535.86: the list grew a field, and the function that replaced it is not there yet.
using ListEntry = ProcessInfoCc;
#else
using ListEntry = ProcessInfoV2;
FAKE_API Return nvmlDeviceGetRunningProcessDetailList(DeviceHandle, void*) { return kNotSupported; }
FAKE_API Return nvmlDeviceGetTemperatureV(DeviceHandle handle, TemperatureV1* out) {
  if (out->version != StructVersion<TemperatureV1>(1)) return kArgumentVersionMismatch;
  return Simple(handle, "temperature", &out->celsius);
}
FAKE_API Return nvmlDeviceGetProcessesUtilizationInfo(DeviceHandle handle, ProcessesUtilizationV1* out) {
  if (out->version != StructVersion<ProcessesUtilizationV1>(1)) return kArgumentVersionMismatch;
  std::vector<ProcessUtilizationV1> uses;
  const Return code = Uses(handle, out->last_seen, &uses);
  if (code != kSuccess) return code;
  const unsigned room = out->count;
  out->count = static_cast<unsigned>(uses.size());
  if (room < uses.size() || out->entries == nullptr) return kInsufficientSize;
  std::copy(uses.begin(), uses.end(), out->entries);
  return kSuccess;
}
#endif

FAKE_API Return nvmlDeviceGetComputeRunningProcesses_v3(DeviceHandle gpu, unsigned* count, void* out) {
  return Processes<ListEntry>(gpu, "compute", count, out);
}
FAKE_API Return nvmlDeviceGetGraphicsRunningProcesses_v3(DeviceHandle gpu, unsigned* count, void* out) {
  return Processes<ListEntry>(gpu, "graphics", count, out);
}
FAKE_API Return nvmlDeviceGetMPSComputeRunningProcesses_v3(DeviceHandle gpu, unsigned* count, void* out) {
  return Processes<ListEntry>(gpu, "mps", count, out);
}

// A GPM sample is its device and time; the metrics of two of them come from "gpm.<id>".
namespace {
struct Snapshot {
  Section* gpu = nullptr;
  uint64_t time_us = 0;
};
Snapshot* At(GpmSample sample) { return reinterpret_cast<Snapshot*>(sample); }
}  // namespace

FAKE_API Return nvmlGpmQueryDeviceSupport(DeviceHandle gpu, GpmSupport* out) {
  return Simple(gpu, "gpm_supported", &out->supported);
}
FAKE_API Return nvmlGpmSampleAlloc(GpmSample* out) {
  *out = reinterpret_cast<GpmSample>(new Snapshot);
  return kSuccess;
}
FAKE_API Return nvmlGpmSampleFree(GpmSample sample) {
  delete At(sample);
  return kSuccess;
}
FAKE_API Return nvmlGpmSampleGet(DeviceHandle handle, GpmSample sample) {
  Section* gpu = nullptr;
  std::string token;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Next("gpm_sample", &token, kSuccess);
  if (code == kSuccess) *At(sample) = {gpu, NowUs()};
  return code;
}
FAKE_API Return nvmlGpmMetricsGet(GpmMetricsGet* request) {
  ++CallCount();
  if (request->version != 1) return kArgumentVersionMismatch;
  const Snapshot *first = At(request->sample1), *second = At(request->sample2);
  if (first->gpu == nullptr || first->gpu != second->gpu) return kInvalidArgument;
  for (unsigned at = 0; at < request->count; ++at) {
    GpmMetric& metric = request->metrics[at];
    metric.result = first->gpu->One("gpm." + std::to_string(metric.id), &metric.value);
  }
  return kSuccess;
}
#endif
