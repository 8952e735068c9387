#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Records a real machine into the text that the fake NVML library of the tests answers from (docs/witnesses/nvml.md).

usage: record_nvml.py [-o FILE] [--seconds S] [--period S] [--library PATH] [--keep-uuid]
Run it once idle and once while a job trains. UUIDs are made neutral unless --keep-uuid is given.
"""
import argparse
import ctypes
import sys
import time

PROBE = ctypes.c_ulonglong * 64
DEVICE = (  # key of the text, function names (newest first), argument before the result
    ("minor", ("nvmlDeviceGetMinorNumber",), None),
    ("brand", ("nvmlDeviceGetBrand",), None),
    ("virtualization_mode", ("nvmlDeviceGetVirtualizationMode",), None),
    ("compute_mode", ("nvmlDeviceGetComputeMode",), None),
    ("persistence_mode", ("nvmlDeviceGetPersistenceMode",), None),
    ("power_limit", ("nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"), None),
    ("power_default_limit", ("nvmlDeviceGetPowerManagementDefaultLimit",), None),
    ("temperature_slowdown", ("nvmlDeviceGetTemperatureThreshold",), 1),
    ("max_clock_sm", ("nvmlDeviceGetMaxClockInfo",), 1),
    ("pcie_generation", ("nvmlDeviceGetCurrPcieLinkGeneration",), None),
    ("pcie_generation_max", ("nvmlDeviceGetMaxPcieLinkGeneration",), None),
    ("pcie_width", ("nvmlDeviceGetCurrPcieLinkWidth",), None),
    ("pcie_width_max", ("nvmlDeviceGetMaxPcieLinkWidth",), None),
    ("mig_limit", ("nvmlDeviceGetMaxMigDeviceCount",), None),
)
PAIRS = (("mig_mode", "nvmlDeviceGetMigMode"), ("ecc_mode", "nvmlDeviceGetEccMode"), ("driver_model", "nvmlDeviceGetDriverModel_v2"))
SERIES = (  # read at every tick
    ("power", ("nvmlDeviceGetPowerUsage",), None),
    ("temperature", ("nvmlDeviceGetTemperature",), 0),
    ("clock_sm", ("nvmlDeviceGetClockInfo",), 1),
    ("clock_memory", ("nvmlDeviceGetClockInfo",), 2),
    ("pstate", ("nvmlDeviceGetPerformanceState",), None),
    ("reasons", ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"), None),
    ("energy", ("nvmlDeviceGetTotalEnergyConsumption",), None),
)
FIELDS = (74, 83, 185, 186, 197, 198, 251, 252, 253, 269, 270, 271)
GPM = (1, 2, 3, 5, 7, 10, 20, 21)
LISTS = (("compute", "Compute"), ("graphics", "Graphics"), ("mps", "MPSCompute"))


class FieldValue(ctypes.Structure):
    _fields_ = [("field", ctypes.c_uint), ("scope", ctypes.c_uint), ("time", ctypes.c_longlong), ("latency", ctypes.c_longlong),
                ("kind", ctypes.c_int), ("code", ctypes.c_int), ("value", ctypes.c_ulonglong)]


class ProcessInfo(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong), ("gi", ctypes.c_uint), ("ci", ctypes.c_uint)]


class Use(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("time", ctypes.c_ulonglong), ("sm", ctypes.c_uint), ("memory", ctypes.c_uint),
                ("encoder", ctypes.c_uint), ("decoder", ctypes.c_uint)]


class Sample(ctypes.Structure):
    _fields_ = [("time", ctypes.c_ulonglong), ("value", ctypes.c_uint), ("unused", ctypes.c_uint)]


class MemoryV2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint)] + [(name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")]


class GpmMetric(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("code", ctypes.c_int), ("value", ctypes.c_double), ("names", ctypes.c_void_p * 3)]


class GpmRequest(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("count", ctypes.c_uint), ("first", ctypes.c_void_p), ("second", ctypes.c_void_p),
                ("metrics", GpmMetric * 1024)]


class Nvml:
    """The driver's library; a function that it lacks answers 13."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def call(self, names, *arguments):
        for name in (names,) if isinstance(names, str) else names:
            function = getattr(self.library, name, None)
            if function is not None:
                return function(*arguments)
        return 13

    def number(self, names, handle, argument):
        out = PROBE()
        middle = () if argument is None else (argument,)
        code = self.call(names, handle, *middle, out)
        wide = out[0] if isinstance(names, tuple) and ("Reasons" in names[0] or "Energy" in names[0]) else out[0] & 0xFFFFFFFF
        return str(wide) if code == 0 else f"!{code}"

    def text(self, name, *handle):
        out = ctypes.create_string_buffer(128)
        code = self.call(name, *handle, out, 96)
        return out.value.decode("utf-8", "replace") if code == 0 else f"!{code}"


class Recorder:
    """Series of one GPU; each answer is one word of a line."""

    def __init__(self, nvml, handle, number, keep_uuid):
        self.nvml, self.handle = nvml, handle
        self.series = {}
        self.static = self.identity(number, keep_uuid)
        self.samples = [ctypes.c_void_p(), ctypes.c_void_p()]
        self.gpm = self.static["gpm_supported"] == "1" and all(
            nvml.call("nvmlGpmSampleAlloc", ctypes.byref(sample)) == 0 for sample in self.samples)
        self.ticks, self.last_use = 0, int(time.time() * 1e6) - 1000000

    def identity(self, number, keep_uuid):
        nvml, handle = self.nvml, self.handle
        uuid = nvml.text("nvmlDeviceGetUUID", handle)
        pci = (ctypes.c_char * 128)()
        code = nvml.call("nvmlDeviceGetPciInfo_v3", handle, pci)
        major, minor = ctypes.c_int(), ctypes.c_int()
        code_cc = nvml.call("nvmlDeviceGetCudaComputeCapability", handle, ctypes.byref(major), ctypes.byref(minor))
        support = (ctypes.c_uint * 2)(1, 0)
        code_gpm = nvml.call("nvmlGpmQueryDeviceSupport", handle, support)
        out = {"uuid": uuid if keep_uuid else f"GPU-00000000-0000-0000-0000-{number:012d}",
               "name": f'"{nvml.text("nvmlDeviceGetName", handle)}"',
               "bus_id": pci.raw[36:68].split(b"\0")[0].decode() if code == 0 else f"!{code}",
               "compute_capability": f"{major.value},{minor.value}" if code_cc == 0 else f"!{code_cc}",
               "gpm_supported": str(support[1]) if code_gpm == 0 else f"!{code_gpm}"}
        for key, names, argument in DEVICE:
            out[key] = nvml.number(names, handle, argument)
        for key, name in PAIRS:
            now, pending = ctypes.c_uint(), ctypes.c_uint()
            code = nvml.call(name, handle, ctypes.byref(now), ctypes.byref(pending))
            out[key] = str(now.value) if code == 0 else f"!{code}"
        for key, kind in (("ecc_corrected", 0), ("ecc_uncorrected", 1)):
            errors = ctypes.c_ulonglong()
            code = nvml.call("nvmlDeviceGetTotalEccErrors", handle, kind, 0, ctypes.byref(errors))
            out[key] = str(errors.value) if code == 0 else f"!{code}"
        return out

    def add(self, key, word):
        self.series.setdefault(key, []).append(word)

    def tick(self, whole_second):
        for key, names, argument in SERIES:
            self.add(key, self.nvml.number(names, self.handle, argument))
        use = (ctypes.c_uint * 2)()
        code = self.nvml.call("nvmlDeviceGetUtilizationRates", self.handle, use)
        self.add("utilization", f"{use[0]},{use[1]}" if code == 0 else f"!{code}")
        memory = MemoryV2(ctypes.sizeof(MemoryV2) | 2 << 24)
        code = self.nvml.call("nvmlDeviceGetMemoryInfo_v2", self.handle, ctypes.byref(memory))
        self.add("memory", f"{memory.total},{memory.reserved},{memory.used}" if code == 0 else f"!{code}")
        if whole_second:
            self.tick_fields()
            self.tick_lists()
            self.tick_use()
            self.tick_gpm()

    def tick_fields(self):
        fields = (FieldValue * len(FIELDS))()
        for field, number in zip(fields, FIELDS):
            field.field, field.code = number, 3
        whole = self.nvml.call("nvmlDeviceGetFieldValues", self.handle, len(FIELDS), fields)
        for field, number in zip(fields, FIELDS):
            code = whole or field.code
            word = f"u:{field.value & 0xFFFFFFFF}" if field.kind == 1 else str(field.value)
            self.add(f"field.{number}", word if code == 0 else f"!{code}")

    def tick_lists(self):
        for key, kind in LISTS:
            entries, count = (ProcessInfo * 1024)(), ctypes.c_uint(1024)
            code = self.nvml.call(f"nvmlDeviceGet{kind}RunningProcesses_v3", self.handle, ctypes.byref(count), entries)
            kept = entries[:count.value] if code == 0 else []
            words = [f"{e.pid}:{ctypes.c_longlong(e.memory).value}:{e.gi}:{e.ci}" for e in kept]
            self.add(key, f"!{code}" if code else ";".join(words) or "-")

    def tick_use(self):
        entries, count = (Use * 4096)(), ctypes.c_uint(4096)
        now = int(time.time() * 1e6)
        last = ctypes.c_ulonglong(self.last_use)
        code = self.nvml.call("nvmlDeviceGetProcessUtilization", self.handle, entries, ctypes.byref(count), last)
        kept = [e for e in entries[:count.value] if e.time] if code == 0 else []
        self.last_use = max([self.last_use] + [e.time for e in kept if e.time <= now + 1000000])
        words = [f"{max(0, now - e.time)}:{e.pid}:{e.sm}:{e.memory}:{e.encoder}:{e.decoder}" for e in kept]
        self.add("process_utilization", f"!{code}" if code else ";".join(words) or "!6")

    def tick_gpm(self):
        if not self.gpm:
            return
        now, last = self.samples[self.ticks % 2], self.samples[(self.ticks + 1) % 2]
        self.ticks += 1
        if self.nvml.call("nvmlGpmSampleGet", self.handle, now) != 0 or self.ticks < 2:
            return
        request = GpmRequest(1, len(GPM), last, now)
        for metric, number in zip(request.metrics, GPM):
            metric.id = number
        whole = self.nvml.call("nvmlGpmMetricsGet", ctypes.byref(request))
        for metric, number in zip(request.metrics, GPM):
            code = whole or metric.code
            self.add(f"gpm.{number}", f"{metric.value:.6g}" if code == 0 else f"!{code}")

    def history(self):
        kind, count, samples = ctypes.c_int(), ctypes.c_uint(1024), (Sample * 1024)()
        now = int(time.time() * 1e6)
        start = ctypes.c_ulonglong(0)
        code = self.nvml.call("nvmlDeviceGetSamples", self.handle, 1, start, ctypes.byref(kind), ctypes.byref(count), samples)
        words = [f"{now - s.time}:{s.value}" for s in samples[:count.value] if 0 < s.time <= now] if code == 0 else []
        return f"!{code}" if code else ";".join(words) or "!6"

    def write(self, file):
        print("\n[gpu]", file=file)
        for key, word in self.static.items():
            print(f"{key} = {word}", file=file)
        print(f"samples = {self.history()}", file=file)
        for key, words in self.series.items():
            print(f"{key} = {' '.join(words[:1] if len(set(words)) == 1 else words)}", file=file)


def record(options, file):
    """Exit status."""
    try:
        nvml = Nvml(options.library)
    except OSError as error:
        print(f"record_nvml: cannot load {options.library}: {error}; name it with --library", file=sys.stderr)
        return 2
    code = nvml.call(("nvmlInit_v2", "nvmlInit"))
    print(f"# Recorded by tools/record_nvml.py: {options.seconds:g} s every {options.period:g} s", file=file)
    print("init = 0" if code == 0 else f"init = !{code}", file=file)
    for key, name in (("driver_version", "nvmlSystemGetDriverVersion"), ("nvml_version", "nvmlSystemGetNVMLVersion")):
        print(f"{key} = {nvml.text(name)}", file=file)
    if code != 0:
        return 0
    cuda, count = ctypes.c_int(), ctypes.c_uint()
    nvml.call("nvmlSystemGetCudaDriverVersion_v2", ctypes.byref(cuda))
    print(f"cuda_version = {cuda.value}", file=file)
    nvml.call("nvmlDeviceGetCount_v2", ctypes.byref(count))
    recorders = []
    for index in range(count.value):
        handle = ctypes.c_void_p()
        if nvml.call("nvmlDeviceGetHandleByIndex_v2", index, ctypes.byref(handle)) == 0:
            recorders.append(Recorder(nvml, handle, index, options.keep_uuid))
    every = max(1, round(1 / options.period))
    for tick in range(max(1, round(options.seconds / options.period))):
        for recorder in recorders:
            recorder.tick(tick % every == 0)
        time.sleep(options.period)
    for recorder in recorders:
        recorder.write(file)
    return 0


def main():
    parser = argparse.ArgumentParser(description="Records NVML's answers for the fake library of the tests.")
    parser.add_argument("-o", "--output", default="-")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--period", type=float, default=0.2)
    parser.add_argument("--library", default="libnvidia-ml.so.1")
    parser.add_argument("--keep-uuid", action="store_true")
    options = parser.parse_args()
    if options.seconds <= 0 or options.period <= 0:
        parser.error("--seconds and --period must be above 0")
    if options.output == "-":
        return record(options, sys.stdout)
    with open(options.output, "w", encoding="utf-8") as file:
        return record(options, file)


if __name__ == "__main__":
    sys.exit(main())
