// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_CALLBACKS_H_
#define GPUWHY_INJECT_CALLBACKS_H_

#include <stddef.h>
#include <stdint.h>

namespace gpuwhy::inject {

// What CUPTI calls, on any thread of the job. All of them do nothing in a forked child and while the process exits.
void CuptiCallback(void* user, uint32_t domain, uint32_t cbid, const void* data);
void CuptiBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records);
void CuptiBufferCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_CALLBACKS_H_
