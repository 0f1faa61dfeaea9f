#pragma once

#include "compilers/torch/program_network.h"
#include "compilers/torch_tensorrt/partition_facts.h"

namespace fusescope::torch_tensorrt {

inline constexpr const char* kTitle = "Torch-TensorRT";

/// Options that Torch-TensorRT was given.
struct AskedPartition {
  std::int64_t leastOperators = 0;  ///< minimum number of operators in an engine
  bool truncatesDouble = false;
};

/// Returns the partition of the exported program in nodes of the network: each engine is one kernel, which is a region
/// that is reported as a whole, and each operator that stays in torch is a kernel. Decisions say why each of these
/// stays in torch, and what Torch-TensorRT's report gets wrong about operators of an engine.
ReadBack partitionReadBack(const CompilerInput& network, const torch_compiler::ProgramFacts& program,
                           const torch_compiler::ProgramNetwork& tied, const ProgramPartition& partition,
                           const AskedPartition& asked);

}  // namespace fusescope::torch_tensorrt
