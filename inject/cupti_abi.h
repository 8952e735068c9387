// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of CUPTI's binary interface that this library uses, for CUPTI 11.0 to 13.x, declared here so that no vendor
// header is needed to build. Facts from cupti_activity.h, cupti_activity_deprecated.h, cupti_callbacks.h,
// cupti_result.h and cupti_version.h of CUDA 12.5, 12.8, 13.0 and 13.2; tests/unit/cupti_abi_test.cc compares them
// where they are installed.
//
// One prefix serves every version: CUPTI only ever appended fields (Kernel5 of 11.0 to Kernel11 of 13.2, Memcpy3 to
// Memcpy6, Memset2 to Memset4, MemcpyPtoP2 to PtoP4), and cuptiActivityGetNextRecord knows the true size of a record.
// What does differ is which of the prefix fields carry a value: graphId is padding before CUDA 11.1 (API version 14).
#ifndef GPUWHY_INJECT_CUPTI_ABI_H_
#define GPUWHY_INJECT_CUPTI_ABI_H_

#include <stddef.h>
#include <stdint.h>

namespace gpuwhy::cupti {

using Result = int32_t;
inline constexpr Result kSuccess = 0;
inline constexpr Result kMaxLimitReached =
    12;  // end of a buffer; from cuptiSubscribe before 11.x: somebody else is there
inline constexpr Result kNotInitialized = 15;
inline constexpr Result kInsufficientPrivileges = 35;
inline constexpr Result kMultipleSubscribers = 39;
inline constexpr Result kVirtualizedInsufficientPrivileges = 40;

// CUpti_ActivityKind
enum ActivityKind : uint32_t {
  kKindMemcpy = 1,
  kKindMemset = 2,
  kKindKernel = 3,
  kKindConcurrentKernel = 10,
  kKindMemcpyPeer = 22,  // CUPTI_ACTIVITY_KIND_MEMCPY2: peer to peer
};
inline constexpr uint32_t kFlushForced = 1;  // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

// CUpti_CallbackDomain, CUpti_ApiCallbackSite, CUpti_CallbackIdResource
inline constexpr uint32_t kDomainDriver = 1;
inline constexpr uint32_t kDomainRuntime = 2;
inline constexpr uint32_t kDomainResource = 3;
inline constexpr int32_t kSiteEnter = 0;
inline constexpr int32_t kSiteExit = 1;
inline constexpr uint32_t kResourceContextCreated = 1;
inline constexpr uint32_t kResourceGraphCreated = 9;
inline constexpr uint32_t kResourceGraphExecCreated = 18;

// API versions (cuptiGetVersion) that decide something here.
inline constexpr uint32_t kVersion110 = 13;
inline constexpr uint32_t kVersion111 = 14;     // graphId
inline constexpr uint32_t kVersion116 = 17;     // cuptiActivityRegisterTimestampCallback
inline constexpr uint32_t kVersion126 = 24;     // from here on a second attach survives CUDA graphs (kineto #1264)
inline constexpr uint32_t kNewScheme = 100000;  // from CUDA 13.0 on: xxyyzz

// CUPTI declares its records packed and aligned to 8.
#define GPUWHY_CUPTI_RECORD __attribute__((__packed__)) __attribute__((aligned(8)))

struct GPUWHY_CUPTI_RECORD Activity {
  uint32_t kind;
};

struct GPUWHY_CUPTI_RECORD Kernel {  // CUpti_ActivityKernel5 .. 11
  uint32_t kind;
  uint8_t cache_config;
  uint8_t shared_memory_config;
  uint16_t registers_per_thread;
  uint32_t partitioned_requested;
  uint32_t partitioned_executed;
  uint64_t start;
  uint64_t end;
  uint64_t completed;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  int32_t grid_x, grid_y, grid_z;
  int32_t block_x, block_y, block_z;
  int32_t static_shared_memory;
  int32_t dynamic_shared_memory;
  uint32_t local_memory_per_thread;
  uint32_t local_memory_total;
  uint32_t correlation_id;
  int64_t grid_id;
  const char* name;
  void* reserved0;
  uint64_t queued;
  uint64_t submitted;
  uint8_t launch_type;
  uint8_t carveout_is_requested;
  uint8_t carveout_requested;
  uint8_t padding;
  uint32_t shared_memory_executed;
  uint64_t graph_node_id;
  uint32_t shmem_limit_config;
  uint32_t graph_id;
};

struct GPUWHY_CUPTI_RECORD Memcpy {  // CUpti_ActivityMemcpy3 .. 6
  uint32_t kind;
  uint8_t copy_kind, src_kind, dst_kind, flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t correlation_id;
  uint32_t runtime_correlation_id;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id;
};

struct GPUWHY_CUPTI_RECORD MemcpyPeer {  // CUpti_ActivityMemcpyPtoP2 .. 4
  uint32_t kind;
  uint8_t copy_kind, src_kind, dst_kind, flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t src_device_id, src_context_id;
  uint32_t dst_device_id, dst_context_id;
  uint32_t correlation_id;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id;
};

struct GPUWHY_CUPTI_RECORD Memset {  // CUpti_ActivityMemset2 .. 4
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device_id;
  uint32_t context_id;
  uint32_t stream_id;
  uint32_t correlation_id;
  uint16_t flags;
  uint16_t memory_kind;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node_id;
  uint32_t graph_id;
};

struct CallbackData {  // CUpti_CallbackData
  int32_t site;
  const char* function_name;
  const void* function_params;
  void* function_return_value;
  const char* symbol_name;
  void* context;
  uint32_t context_uid;
  uint64_t* correlation_data;  // 64 bits of the client's, shared by enter and exit of one call
  uint32_t correlation_id;
};

struct SubscriberParams {  // CUpti_SubscriberParams
  size_t struct_size;
  const char* subscriber_name;
  char* old_subscriber_name;
  size_t old_subscriber_size;
};
inline constexpr size_t kOldNameSize = 64;  // CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN

using Subscriber = struct SubscriberOpaque*;
using Callback = void (*)(void* user, uint32_t domain, uint32_t cbid, const void* data);
using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);
using Timestamp = uint64_t (*)();

}  // namespace gpuwhy::cupti
#endif  // GPUWHY_INJECT_CUPTI_ABI_H_
