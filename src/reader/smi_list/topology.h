// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_SMI_LIST_TOPOLOGY_H_
#define GPUWHY_READER_SMI_LIST_TOPOLOGY_H_

#include "reader/reader.h"

namespace gpuwhy::smi_list {

// `nvidia-smi topo -m`: of every pair of GPUs gpu.topology.#1 = "NV18", and gpu.cpu_affinity = "0-31,64-95" and
// gpu.numa_node = 1 where the columns are there and filled.
void ReadTopology(PastedText& text, EvidenceSink& sink);

}  // namespace gpuwhy::smi_list

#endif  // GPUWHY_READER_SMI_LIST_TOPOLOGY_H_
