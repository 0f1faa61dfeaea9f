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
  DataType type = DataType::Undefined;  ///< Undefined: one that we have no name for
  std::vector<std::int64_t> extents{};  ///< -1: open
  std::string layout{};                 ///< of an output: "abcd", "acdb"; empty: not said

  /// The product of the extents; null where one is open, or where it is no number of elements.
  std::optional<std::int64_t> elements() const;
};

/// Something that OpenVINO runs, or a constant, input or output of the network.
struct ExecutionLayer {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Source {
    std::uint32_t layer = kNone;  ///< kNone: nothing is said
    std::uint32_t output = 0;
  };

  std::string name, type;
  std::vector<std::string> originals{};  ///< names of operators of the imported network, or that OpenVINO made up
  std::string primitive{};               ///< "brgemm_avx512_f32"; "unknown_f32": it has none
  std::int64_t order = 0;
  std::optional<double> ms{};  ///< mean of all runs so far, in whole microseconds; null: not run, or not measured
  std::vector<ExecutionPort> inputs{}, outputs{};
  std::vector<Source> sources{};  ///< by input
};

/// What OpenVINO's CPU plugin made of a network: the execution graph.
struct ExecutionGraph {
  std::vector<ExecutionLayer> layers;  ///< in the order in which they run
};

/// Reads one as ov::serialize writes it. Types and layouts are those of outputPrecisions and outputLayouts;
/// runtimePrecision says less. Errors: not XML, not such a graph, edges between what is not there; with the line where
/// that is known.
Result<ExecutionGraph> executionGraph(std::string_view xml);

}  // namespace fusescope
