#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/decision.h"
#include "ir/graph.h"

namespace fusescope {

/// What a machine can do, by name: "avx2", "avx512", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "f16c".
using Capabilities = std::set<std::string>;
Capabilities hostCapabilities();  ///< asked of the CPU at run time

/// What to plan for: which types it lacks, which it computes in, and what it can run.
struct Target {
  std::string name;  ///< "cpu", "tensorrt-8", …
  Capabilities capabilities;
  bool planningOnly = false;      ///< engines for it cannot be built here
  bool stronglyTyped = false;     ///< the network's types decide: a pin is honoured by editing the network
  bool predictedFusions = false;  ///< its compiler fuses by rules of its own; ours are predictions
  bool lacksInt64 = false;
  bool lacksFloat64 = false;
  std::set<DataType> computeTypes;   ///< float types that may be asked of a node (emulated where hardware lacks them)
  std::set<DataType> hardwareTypes;  ///< those that the capabilities run at speed; the others' time is unknown
  std::size_t defaultMinSegment = 1;
  std::string acceleratedBackend;  ///< "native", "tensorrt"

  /// "cpu" (capabilities of this machine), "cpu:avx512_vnni+avx512_bf16" (named ones), "tensorrt-8", "tensorrt-10".
  static Result<Target> fromName(std::string_view name);
  std::string canonical() const;  ///< the name with its capabilities: part of a plan's key
};

/// Can `target` run `node` in an accelerated segment at these types (after truncation)? Codes validate.*.
/// Types of inputs and outputs by position; an absent optional is null.
Decision validateNode(const Target& target, const Graph& graph, const Node& node,
                      std::span<const TensorType* const> inputs, std::span<const TensorType* const> outputs);

}  // namespace fusescope
