#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "base/result.h"
#include "ir/tensor_type.h"

namespace fusescope {

/// An input or output of a layer.
struct ExecutionPort {
  DataType type = DataType::Undefined;  ///< Undefined: a type that we have no name for
  std::vector<std::int64_t> extents{};  ///< -1: open
  std::string layout{};                 ///< for an output, "abcd" or "acdb"; empty: not reported

  /// Returns the product of the extents; nothing if one is open or the product is too large.
  std::optional<std::int64_t> elements() const;
};

/// A layer that OpenVINO runs, or a constant, input or output of the network.
struct ExecutionLayer {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Source {
    std::uint32_t layer = kNone;  ///< kNone: not reported
    std::uint32_t output = 0;
  };

  std::string name, type;
  std::vector<std::string> originals{};  ///< names of operators of the imported network, or names that OpenVINO
                                         ///< invented
  std::string primitive{};               ///< "brgemm_avx512_f32"; "unknown_f32": it has none
  std::int64_t order = 0;
  std::optional<double> ms{};  ///< mean of all runs so far, in whole microseconds; null: it was not run or not measured
  std::vector<ExecutionPort> inputs{}, outputs{};
  std::vector<Source> sources{};  ///< by input
};

/// The execution graph: what OpenVINO's CPU plugin made of a network.
struct ExecutionGraph {
  std::vector<ExecutionLayer> layers;  ///< in the order in which they run
};

/// Reads an execution graph as ov::serialize writes it. Types and layouts come from outputPrecisions and outputLayouts,
/// because runtimePrecision contains less. Errors: it is not XML, not such a graph, or an edge refers to a missing
/// layer; with the line if that is known.
Result<ExecutionGraph> executionGraph(std::string_view xml);

}  // namespace fusescope
