#pragma once

#include "compilers/torch/program_network.h"
#include "compilers/torch_tensorrt/partition_facts.h"

namespace fusescope::torch_tensorrt {

inline constexpr const char* kTitle = "Torch-TensorRT";

/// What Torch-TensorRT was told.
struct AskedPartition {
  std::int64_t leastOperators = 0;  ///< of an engine
  bool truncatesDouble = false;
};

/// A division of the exported program in nodes of the network: each engine is one kernel, which is a region that is
/// told as a whole; what stays in torch is a kernel for each operator. A decision says of
/// each of these why it does, and of each operator of an engine what Torch-TensorRT's report has wrong of it.
ReadBack partitionReadBack(const HandedNetwork& network, const torch_compiler::ProgramFacts& program,
                           const torch_compiler::ProgramNetwork& tied, const ProgramPartition& partition,
                           const AskedPartition& asked);

}  // namespace fusescope::torch_tensorrt
