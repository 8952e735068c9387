// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

Evidence Read(std::string_view text) { return ReadWith("smi_query", text); }

constexpr char kTwoGpus[] =
    "==============NVSMI LOG==============\n"
    "\n"
    "Driver Version                            : 460.73.01\n"
    "CUDA Version                              : 11.2\n"
    "\n"
    "Attached GPUs                             : 2\n"
    "GPU 00000000:02:01.0\n"
    "    Product Name                          : GRID V100D-8C\n"
    "    MIG Mode\n"
    "        Current                           : N/A\n"
    "    GPU Virtualization Mode\n"
    "        Virtualization Mode               : VGPU\n"
    "    vGPU Software Licensed Product\n"
    "        Product Name                      : NVIDIA Virtual Compute Server\n"
    "        License Status                    : Unlicensed\n"
    "    PCI\n"
    "        GPU Link Info\n"
    "            PCIe Generation\n"
    "                Max                       : 3\n"
    "                Current                   : 1\n"
    "            Link Width\n"
    "                Max                       : 16x\n"
    "                Current                   : 4x\n"
    "    Performance State                     : P8\n"
    "    Clocks Throttle Reasons\n"
    "        SW Power Cap                      : Active\n"
    "        HW Slowdown                       : Not Active\n"
    "            HW Power Brake Slowdown       : Not Active\n"
    "    FB Memory Usage\n"
    "        Total                             : 8192 MiB\n"
    "        Used                              : 1893 MiB\n"
    "    BAR1 Memory Usage\n"
    "        Used                              : 7 MiB\n"
    "    Compute Mode                          : Exclusive_Process\n"
    "    Utilization\n"
    "        Gpu                               : 4 %\n"
    "    ECC Errors\n"
    "        Volatile\n"
    "            Single Bit\n"
    "                Total                     : 9\n"
    "            Double Bit\n"
    "                Total                     : 2\n"
    "        Aggregate\n"
    "            Double Bit\n"
    "                Total                     : 5\n"
    "    Power Readings\n"
    "        Power Draw                        : N/A\n"
    "    Clocks\n"
    "        SM                                : 345 MHz\n"
    "    Max Clocks\n"
    "        SM                                : 1980 MHz\n"
    "    Processes\n"
    "        GPU instance ID                   : N/A\n"
    "        Compute instance ID               : N/A\n"
    "        Process ID                        : 21877\n"
    "            Type                          : C\n"
    "            Name                          : python3\n"
    "            Used GPU Memory               : 1382 MiB\n"
    "GPU 00000000:03:00.0\n"
    "    Product Name                          : Tesla T4\n"
    "    Processes                             : None\n";

TEST(SmiQuery, TextOfTwoGpus) {
  const Evidence evidence = Read(kTwoGpus);
  const Entity gpu = TextGpu(0);
  EXPECT_EQ(evidence.Text("driver.version"), "460.73.01");
  EXPECT_EQ(evidence.Text("driver.cuda_version"), "11.2");
  EXPECT_EQ(evidence.Find("gpu.name", gpu)->value.AsText(), "GRID V100D-8C");
  EXPECT_EQ(evidence.Find("gpu.name", TextGpu(1))->value.AsText(), "Tesla T4");
  EXPECT_EQ(evidence.Find("gpu.vgpu.license", gpu)->value.AsText(), "Unlicensed");
  EXPECT_EQ(evidence.Find("gpu.vgpu.license", gpu)->where, "line 15");
  EXPECT_EQ(evidence.Find("gpu.virtualization_mode", gpu)->value.AsText(), "VGPU");
  EXPECT_EQ(evidence.Find("gpu.mig.mode", gpu)->value.state, State::kUnsupported);
  EXPECT_EQ(evidence.Find("gpu.pcie.generation.max", gpu)->value.AsInt(), 3);
  EXPECT_EQ(evidence.Find("gpu.pcie.generation.current", gpu)->value.AsInt(), 1);
  EXPECT_EQ(evidence.Find("gpu.pcie.width.current", gpu)->value.AsInt(), 4);
  EXPECT_EQ(evidence.Find("gpu.compute_mode", gpu)->value.AsText(), "exclusive-process");
  EXPECT_EQ(evidence.Find("gpu.ecc.uncorrected", gpu)->value.AsInt(), 2);
}

TEST(SmiQuery, ReadingsReasonsAndProcesses) {
  const Evidence evidence = Read(kTwoGpus);
  const Entity gpu = TextGpu(0), process = Entity::ProcessOnGpu(21877, "#0");
  EXPECT_EQ(evidence.Samples("gpu.utilization.ratio", gpu).size(), 1U);
  EXPECT_DOUBLE_EQ(evidence.Samples("gpu.utilization.ratio", gpu)[0].value, 0.04);
  EXPECT_EQ(evidence.Find("gpu.memory.used.bytes", gpu)->value.AsInt(), 1893LL * 1048576);
  EXPECT_EQ(evidence.Find("gpu.pstate", gpu)->value.AsInt(), 8);
  EXPECT_EQ(evidence.Find("gpu.power.watts", gpu)->value.state, State::kUnsupported);
  EXPECT_TRUE(evidence.Samples("gpu.power.watts", gpu).empty());
  EXPECT_EQ(evidence.Find("gpu.clock.sm.hertz", gpu)->value.AsDouble(), 345e6);
  EXPECT_EQ(evidence.Find("gpu.clock.sm.max.hertz", gpu)->value.AsDouble(), 1980e6);
  EXPECT_EQ(evidence.Bool("gpu.throttle_reason.sw_power_cap"), true);
  EXPECT_EQ(evidence.Bool("gpu.throttle_reason.hw_power_brake"), false);
  EXPECT_EQ(evidence.Find("process.name", process)->value.AsText(), "python3");
  EXPECT_EQ(evidence.Find("process.gpu.type", process)->value.AsText(), "C");
  EXPECT_EQ(evidence.Find("process.gpu.memory.bytes", process)->value.AsInt(), 1382LL * 1048576);
  EXPECT_EQ(evidence.Find("process.gpu.instance", process), nullptr);
  EXPECT_EQ(evidence.Text("driver.processes.box"), "listed");
}

TEST(SmiQuery, IndentationMayBeLostAndLogsRepeat) {
  std::string flat;
  for (const std::string_view part :
       {"Timestamp : today\nDriver Version : 580.1.2\nAttached GPUs : 1\n",
        "GPU 00000000:06:00.0\nClocks Event Reasons\nSW Thermal Slowdown : Active\nClocks Event Reasons Counters\n"
        "SW Thermal Slowdown : 0 us\nUtilization\nGPU : 10 %\nECC Errors\nVolatile\n"
        "SRAM Uncorrectable Parity : 1\nDRAM Uncorrectable : 2\nAggregate\nDRAM Uncorrectable : 7\n"
        "Processes : None\n",
        "GPU 00000000:06:00.0\nUtilization\nGPU : 30 %\n"}) {
    flat += part;
  }
  const Evidence evidence = Read(flat);
  EXPECT_EQ(evidence.Text("driver.version"), "580.1.2");
  EXPECT_EQ(evidence.Bool("gpu.throttle_reason.sw_thermal_slowdown"), true);
  EXPECT_EQ(evidence.Int("gpu.ecc.uncorrected"), 3);
  EXPECT_EQ(evidence.Entities(EntityKind::kGpu).size(), 1U);
  const auto& series = evidence.Samples("gpu.utilization.ratio", TextGpu(0));
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[1].time_s, 1);
  EXPECT_EQ(evidence.Text("driver.processes.box"), "empty");
}

TEST(SmiQuery, InstancesAreNotTheirGpu) {
  const std::string head = "==NVSMI LOG==\nGPU 00000000:06:00.0\n    MIG Mode\n        Current : Enabled\n";
  const std::string end = "    Accounting Mode : Disabled\n    FB Memory Usage\n        Used : 40 MiB\n";
  const Evidence evidence =
      Read(head +
           "    MIG Device\n        Index : 0\n        GPU Instance ID : 3\n"
           "        Compute Instance ID : 0\n        FB Memory Usage\n            Used : 5 MiB\n" +
           end);
  EXPECT_EQ(evidence.Find("gpu.mig.instances")->value.AsList(), StringList{"GI 3 CI 0"});
  EXPECT_EQ(evidence.Int("gpu.memory.used.bytes"), 40 * 1048576);
  EXPECT_EQ(Read(head + end).Find("gpu.mig.instances")->value.AsList(), StringList{});
}

constexpr char kXml[] =
    "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n<nvidia_smi_log>\n"
    "<driver_version>580.1</driver_version><cuda_version>13.0</cuda_version>\n"
    "<gpu id=\"00000000:06:00.0\">\n<product_name>NVIDIA H200</product_name>\n"
    "<mig_mode><current_mig>Enabled</current_mig></mig_mode>\n"
    "<mig_devices>\nNone\n</mig_devices>\n"
    "<clocks_event_reasons><clocks_event_reason_hw_power_brake_slowdown>Active"
    "</clocks_event_reason_hw_power_brake_slowdown></clocks_event_reasons>\n"
    "<fb_memory_usage>\n<total>100 MiB</total>\n<used>10 MiB</used>\n</fb_memory_usage>\n"
    "<bar1_memory_usage><used>1 MiB</used></bar1_memory_usage>\n"
    "<utilization><gpu_util>55 %</gpu_util></utilization>\n"
    "<ecc_errors><volatile><dram_uncorrectable>4</dram_uncorrectable></volatile>\n"
    "<aggregate><dram_uncorrectable>8</dram_uncorrectable></aggregate></ecc_errors>\n"
    "<processes>\n<process_info>\n<pid>77</pid>\n<type>C</type>\n<process_name>python3.11</process_name>\n"
    "<used_memory>N/A</used_memory>\n</process_info>\n</processes>\n</gpu>\n</nvidia_smi_log>\n";

TEST(SmiQuery, Xml) {
  const Evidence evidence = Read(kXml);
  EXPECT_EQ(evidence.Text("driver.version"), "580.1");
  EXPECT_EQ(evidence.Text("gpu.bus_id"), "00000000:06:00.0");
  EXPECT_EQ(evidence.Text("gpu.name"), "NVIDIA H200");
  EXPECT_EQ(evidence.Find("gpu.mig.instances")->value.AsList(), StringList{});
  EXPECT_EQ(evidence.Bool("gpu.throttle_reason.hw_power_brake"), true);
  EXPECT_EQ(evidence.Int("gpu.memory.used.bytes"), 10 * 1048576);
  EXPECT_EQ(evidence.Double("gpu.utilization.ratio"), 0.55);
  EXPECT_EQ(evidence.Int("gpu.ecc.uncorrected"), 4);
  const Entity process = Entity::ProcessOnGpu(77, "#0");
  EXPECT_EQ(evidence.Find("process.name", process)->value.AsText(), "python3.11");
  EXPECT_EQ(evidence.Find("process.gpu.memory.bytes", process)->value.state, State::kUnsupported);
  EXPECT_EQ(evidence.Text("driver.processes.box"), "listed");
}

TEST(SmiQuery, XmlInOneLineOrCutOff) {
  std::string joined = kXml;
  for (char& c : joined) c = c == '\n' ? ' ' : c;
  EXPECT_EQ(Read(joined).Double("gpu.utilization.ratio"), 0.55);
  const std::string cut = std::string(kXml).substr(0, std::string(kXml).find("<ecc_errors>") + 30);
  EXPECT_EQ(Read(cut).Double("gpu.utilization.ratio"), 0.55);
  EXPECT_EQ(Read(cut).Find("driver.processes.box"), nullptr);
}

TEST(SmiQuery, StaysSilent) {
  for (const char* text :
       {"Driver Version : 31.0.15\nUtilization\nGPU : 10 %\n", "GPU 0 is fast\nUtilization\nGpu : 4 %\n",
        "<p>Compute Mode : Default</p>\n<compute_mode>Default</compute_mode>\n", "Clocks\nSM : 345 MHz\n",
        "==NVSMI LOG==\n$ cat x\nDriver Version : none\n"}) {
    EXPECT_TRUE(Read(text).WithPrefix("").empty()) << text;
  }
}

}  // namespace
}  // namespace gpuwhy
