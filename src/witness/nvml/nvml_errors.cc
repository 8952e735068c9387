// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/nvml/nvml_errors.h"

#include "base/format.h"

namespace gpuwhy::nvml {
namespace {

struct Row {
  Return code;
  State state;
  bool permanent;
  const char* text;
  const char* advice;
};

// Codes: nvmlReturn_t of nvml.h 13.x. Meanings beyond the header: 17 and 18 as met in nvidia-container-toolkit issue 48
// and by users after an upgrade without a reboot.
constexpr Row kRows[] = {
    {kUninitialized, State::kUnknown, false, "the library was not initialised", ""},
    {kInvalidArgument, State::kUnsupported, true, "the driver does not accept this question", ""},
    {kNotSupported, State::kUnsupported, true, "not supported on this GPU, driver or mode", ""},
    {kNoPermission, State::kNoPermission, false, "the driver does not let this user ask",
     "check that this user may open /dev/nvidia* (in a container: that the GPU was passed through)"},
    {kNotFound, State::kNotFound, false, "nothing found", ""},
    {kInsufficientSize, State::kUnknown, false, "the answer did not fit", ""},
    {kInsufficientPower, State::kUnknown, false, "a power cable of the GPU is not attached",
     "attach the external power cables of the GPU"},
    {kDriverNotLoaded, State::kNotFound, false, "the NVIDIA kernel driver is not loaded",
     "load it (modprobe nvidia) or install the driver, then look at dmesg if that fails"},
    {kTimeout, State::kUnknown, false, "the driver did not answer in time", ""},
    {kIrqIssue, State::kUnknown, false, "the kernel found a problem with the interrupts of a GPU", "look at dmesg"},
    {kLibraryNotFound, State::kNotFound, false, "a library of the driver was not found",
     "install the user-space libraries of the driver"},
    {kFunctionNotFound, State::kUnsupported, true, "this version of the driver does not know the question", ""},
    {kGpuIsLost, State::kUnknown, false, "the GPU fell off the bus or cannot be reached any more",
     "look for Xid messages in dmesg; reset the GPU or restart the machine"},
    {kResetRequired, State::kUnknown, false, "the GPU must be reset before it can be used again",
     "run nvidia-smi --gpu-reset when no process uses it, or restart the machine"},
    {kOperatingSystem, State::kNoPermission, false,
     "the operating system or the container's device rules block the GPU",
     "inside a container: restart it (a reload of systemd takes the device rules away)"},
    {kLibRmVersionMismatch, State::kUnknown, false,
     "the loaded kernel module and the driver's libraries are of different versions",
     "restart the machine, or unload and load the nvidia modules: the driver was upgraded under a running kernel"},
    {kInUse, State::kUnknown, false, "the GPU is in use by something that excludes others", ""},
    {kNoMemory, State::kUnknown, false, "the driver had no memory for the answer", ""},
    {kNoData, State::kNotFound, false, "the driver has no data", ""},
    {kInsufficientResources, State::kUnknown, false, "the driver ran out of resources", ""},
    {kArgumentVersionMismatch, State::kUnsupported, true, "the driver speaks another version of this question", ""},
    {kDeprecated, State::kUnsupported, true, "the driver no longer answers this question", ""},
    {kNotReady, State::kUnknown, false, "the GPU is not ready", ""},
    {kGpuNotFound, State::kNotFound, false, "no GPU was found", ""},
    {kUnknownError, State::kUnknown, false, "the driver reports an error without a reason",
     "inside a container: restart it (lost device rules look like this); else look at dmesg"},
};

const Row* Find(Return code) {
  for (const Row& row : kRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace

State StateOf(Return code) {
  if (code == kSuccess) return State::kValue;
  const Row* row = Find(code);
  return row != nullptr ? row->state : State::kUnknown;
}

std::string Explain(Return code) {
  if (code == kSuccess) return "NVML 0: no error";
  const Row* row = Find(code);
  return Format("NVML {}: {}", code, row != nullptr ? row->text : "an error that this version of gpuwhy does not know");
}

std::string Advice(Return code) {
  const Row* row = Find(code);
  return row != nullptr ? row->advice : "";
}

bool IsPermanent(Return code) {
  const Row* row = Find(code);
  return row != nullptr && row->permanent;
}

Value MissingFor(Return code) { return Value::Missing(StateOf(code), Explain(code)); }

}  // namespace gpuwhy::nvml
