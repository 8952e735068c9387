// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// inject/cupti_abi.h against NVIDIA's headers, where these are installed.
#include "inject/cupti_abi.h"

#include <gtest/gtest.h>

#include "inject/api_ids.h"

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cupti.h>
#if __has_include(<cupti_activity_deprecated.h>)
#include <cupti_activity_deprecated.h>
#endif
#define GPUWHY_HAVE_CUPTI 1
#endif

namespace gpuwhy {
namespace {

#ifndef GPUWHY_HAVE_CUPTI

TEST(CuptiAbi, Headers) { GTEST_SKIP() << "cupti.h is not installed: the layouts are not compared"; }

#else

#define SAME_FIELD(Ours, our_field, Theirs, their_field)                                                  \
  EXPECT_EQ(offsetof(cupti::Ours, our_field), offsetof(Theirs, their_field)) << #Theirs "." #their_field; \
  EXPECT_EQ(sizeof(cupti::Ours::our_field), sizeof(Theirs::their_field)) << #Theirs "." #their_field

#define SAME_KERNEL(Theirs)                                  \
  SAME_FIELD(Kernel, kind, Theirs, kind);                    \
  SAME_FIELD(Kernel, start, Theirs, start);                  \
  SAME_FIELD(Kernel, end, Theirs, end);                      \
  SAME_FIELD(Kernel, device_id, Theirs, deviceId);           \
  SAME_FIELD(Kernel, stream_id, Theirs, streamId);           \
  SAME_FIELD(Kernel, grid_x, Theirs, gridX);                 \
  SAME_FIELD(Kernel, grid_z, Theirs, gridZ);                 \
  SAME_FIELD(Kernel, block_x, Theirs, blockX);               \
  SAME_FIELD(Kernel, block_z, Theirs, blockZ);               \
  SAME_FIELD(Kernel, correlation_id, Theirs, correlationId); \
  SAME_FIELD(Kernel, name, Theirs, name);                    \
  SAME_FIELD(Kernel, graph_node_id, Theirs, graphNodeId);    \
  SAME_FIELD(Kernel, graph_id, Theirs, graphId);             \
  EXPECT_LE(sizeof(cupti::Kernel), sizeof(Theirs))

#define SAME_COPY(Ours, Theirs)                            \
  SAME_FIELD(Ours, kind, Theirs, kind);                    \
  SAME_FIELD(Ours, copy_kind, Theirs, copyKind);           \
  SAME_FIELD(Ours, src_kind, Theirs, srcKind);             \
  SAME_FIELD(Ours, dst_kind, Theirs, dstKind);             \
  SAME_FIELD(Ours, bytes, Theirs, bytes);                  \
  SAME_FIELD(Ours, start, Theirs, start);                  \
  SAME_FIELD(Ours, end, Theirs, end);                      \
  SAME_FIELD(Ours, device_id, Theirs, deviceId);           \
  SAME_FIELD(Ours, stream_id, Theirs, streamId);           \
  SAME_FIELD(Ours, correlation_id, Theirs, correlationId); \
  SAME_FIELD(Ours, graph_node_id, Theirs, graphNodeId)

#define SAME_MEMSET(Theirs)                                  \
  SAME_FIELD(Memset, kind, Theirs, kind);                    \
  SAME_FIELD(Memset, bytes, Theirs, bytes);                  \
  SAME_FIELD(Memset, start, Theirs, start);                  \
  SAME_FIELD(Memset, end, Theirs, end);                      \
  SAME_FIELD(Memset, device_id, Theirs, deviceId);           \
  SAME_FIELD(Memset, stream_id, Theirs, streamId);           \
  SAME_FIELD(Memset, correlation_id, Theirs, correlationId); \
  SAME_FIELD(Memset, memory_kind, Theirs, memoryKind);       \
  SAME_FIELD(Memset, graph_node_id, Theirs, graphNodeId)

TEST(CuptiAbi, Values) {
  EXPECT_EQ(cupti::kSuccess, CUPTI_SUCCESS);
  EXPECT_EQ(cupti::kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
  EXPECT_EQ(cupti::kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cupti::kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(cupti::kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(cupti::kVirtualizedInsufficientPrivileges, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(cupti::kKindMemcpy, static_cast<uint32_t>(CUPTI_ACTIVITY_KIND_MEMCPY));
  EXPECT_EQ(cupti::kKindMemset, static_cast<uint32_t>(CUPTI_ACTIVITY_KIND_MEMSET));
  EXPECT_EQ(cupti::kKindKernel, static_cast<uint32_t>(CUPTI_ACTIVITY_KIND_KERNEL));
  EXPECT_EQ(cupti::kKindConcurrentKernel, static_cast<uint32_t>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  EXPECT_EQ(cupti::kKindMemcpyPeer, static_cast<uint32_t>(CUPTI_ACTIVITY_KIND_MEMCPY2));
  EXPECT_EQ(cupti::kFlushForced, static_cast<uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  EXPECT_EQ(cupti::kDomainDriver, static_cast<uint32_t>(CUPTI_CB_DOMAIN_DRIVER_API));
  EXPECT_EQ(cupti::kDomainRuntime, static_cast<uint32_t>(CUPTI_CB_DOMAIN_RUNTIME_API));
  EXPECT_EQ(cupti::kDomainResource, static_cast<uint32_t>(CUPTI_CB_DOMAIN_RESOURCE));
  EXPECT_EQ(cupti::kSiteEnter, static_cast<int32_t>(CUPTI_API_ENTER));
  EXPECT_EQ(cupti::kSiteExit, static_cast<int32_t>(CUPTI_API_EXIT));
  EXPECT_EQ(cupti::kResourceContextCreated, static_cast<uint32_t>(CUPTI_CBID_RESOURCE_CONTEXT_CREATED));
  EXPECT_EQ(cupti::kResourceGraphCreated, static_cast<uint32_t>(CUPTI_CBID_RESOURCE_GRAPH_CREATED));
  EXPECT_EQ(cupti::kResourceGraphExecCreated, static_cast<uint32_t>(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED));
}

TEST(CuptiAbi, CallbackStructures) {
  SAME_FIELD(CallbackData, site, CUpti_CallbackData, callbackSite);
  SAME_FIELD(CallbackData, function_name, CUpti_CallbackData, functionName);
  SAME_FIELD(CallbackData, context_uid, CUpti_CallbackData, contextUid);
  SAME_FIELD(CallbackData, correlation_data, CUpti_CallbackData, correlationData);
  SAME_FIELD(CallbackData, correlation_id, CUpti_CallbackData, correlationId);
  EXPECT_EQ(sizeof(cupti::CallbackData), sizeof(CUpti_CallbackData));
#ifdef CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN
  SAME_FIELD(SubscriberParams, struct_size, CUpti_SubscriberParams, structSize);
  SAME_FIELD(SubscriberParams, subscriber_name, CUpti_SubscriberParams, subscriberName);
  SAME_FIELD(SubscriberParams, old_subscriber_name, CUpti_SubscriberParams, oldSubscriberName);
  SAME_FIELD(SubscriberParams, old_subscriber_size, CUpti_SubscriberParams, oldSubscriberSize);
  // 13.2 appended allowMultipleSubscribers; the size that we pass says that we end before it.
  EXPECT_LE(sizeof(cupti::SubscriberParams), CUpti_SubscriberParams_STRUCT_SIZE);
  EXPECT_EQ(cupti::kOldNameSize, static_cast<size_t>(CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN));
#endif
}

TEST(CuptiAbi, KernelRecords) {
  SAME_KERNEL(CUpti_ActivityKernel5);
  SAME_KERNEL(CUpti_ActivityKernel6);
  SAME_KERNEL(CUpti_ActivityKernel7);
  SAME_KERNEL(CUpti_ActivityKernel8);
  SAME_KERNEL(CUpti_ActivityKernel9);
#if CUPTI_API_VERSION >= 130000
  SAME_KERNEL(CUpti_ActivityKernel10);
#endif
#if CUPTI_API_VERSION >= 130200
  SAME_KERNEL(CUpti_ActivityKernel11);
#endif
}

TEST(CuptiAbi, CopyRecords) {
  SAME_COPY(Memcpy, CUpti_ActivityMemcpy3);
  SAME_COPY(Memcpy, CUpti_ActivityMemcpy4);
  SAME_FIELD(Memcpy, graph_id, CUpti_ActivityMemcpy4, graphId);
  SAME_COPY(Memcpy, CUpti_ActivityMemcpy5);
  SAME_FIELD(Memcpy, graph_id, CUpti_ActivityMemcpy5, graphId);
#if CUPTI_API_VERSION >= 26
  SAME_COPY(Memcpy, CUpti_ActivityMemcpy6);
  SAME_FIELD(Memcpy, graph_id, CUpti_ActivityMemcpy6, graphId);
#endif
  SAME_COPY(MemcpyPeer, CUpti_ActivityMemcpyPtoP2);
  SAME_COPY(MemcpyPeer, CUpti_ActivityMemcpyPtoP3);
  SAME_COPY(MemcpyPeer, CUpti_ActivityMemcpyPtoP4);
  SAME_FIELD(MemcpyPeer, graph_id, CUpti_ActivityMemcpyPtoP4, graphId);
}

TEST(CuptiAbi, MemsetRecords) {
  SAME_MEMSET(CUpti_ActivityMemset2);
  SAME_MEMSET(CUpti_ActivityMemset3);
  SAME_FIELD(Memset, graph_id, CUpti_ActivityMemset3, graphId);
  SAME_MEMSET(CUpti_ActivityMemset4);
  SAME_FIELD(Memset, graph_id, CUpti_ActivityMemset4, graphId);
}

TEST(CuptiAbi, CallIds) {
  for (const uint32_t id :
       {CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaThreadSynchronize_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000}) {
    EXPECT_TRUE(inject::Contains(inject::kRuntimeSync, id)) << id;
  }
  for (const uint32_t id :
       {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbolAsync_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeerAsync_v4000,
        CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000}) {
    EXPECT_TRUE(inject::Contains(inject::kRuntimeCopy, id)) << id;
  }
  for (const uint32_t id :
       {CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
        CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz}) {
    EXPECT_TRUE(inject::Contains(inject::kDriverSync, id)) << id;
  }
  for (const uint32_t id :
       {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz, CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync}) {
    EXPECT_TRUE(inject::Contains(inject::kDriverCopy, id)) << id;
  }
}

#endif

}  // namespace
}  // namespace gpuwhy
