// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_PYTHON_SESSION_DEVICE_LIST_H_
#define GPUWHY_READER_PYTHON_SESSION_DEVICE_LIST_H_

#include "reader/reader.h"

namespace gpuwhy::python_session {

// Reads what device_lib.list_local_devices() printed, if it begins at that line: framework.tensorflow.gpu_count (of the
// type GPU, not XLA_GPU) and names. A list that was cut off before its end says nothing about what is not in it.
// Returns the index behind the list, or `begin` when there is none.
size_t ReadDeviceList(PastedText& text, size_t begin, EvidenceSink& sink);

}  // namespace gpuwhy::python_session

#endif  // GPUWHY_READER_PYTHON_SESSION_DEVICE_LIST_H_
