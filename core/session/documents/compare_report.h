#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diff/common_cover.h"
#include "session/compare_differences.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// The smallest and the largest of the measurements in several turns.
struct Range {
  double least = 0, most = 0;
  bool isSignificant(double same) const {
    return least > same || most < same;
  }  ///< all turns are on one side of `same`
  bool operator==(const Range&) const = default;
};

/// One group of the smallest common cover of two engines' fused nodes, and its times.
struct CompareGroup : CoverGroup {
  std::optional<double> aMs, bMs, deltaMs;
  std::optional<Range> deltaRangeMs;  ///< B minus A, turn by turn; if it includes 0, the turns do not show which is
                                      ///< faster
};

struct CompareReport {
  std::string a, b;
  std::string compilerOfA, compilerOfB;  ///< with version and options: "onnxruntime 1.32.0, level=basic"
  int threadsOfA = 0, threadsOfB = 0;
  std::vector<ComparedDifference> differences;  ///< in what they differ besides their plans
  std::vector<CompareGroup> groups;
  std::vector<TensorComparison> outputs;  ///< b compared with a
  std::vector<TensorComparison> values;   ///< inner values that both store in memory
  std::int64_t valuesInBodies = 0;        ///< values in memory in bodies of both, which are not compared
  std::optional<double> aMs, bMs;
  int turns = 0;                    ///< turns in which both were timed, A B A B …
  std::optional<Range> ratioRange;  ///< B's time divided by A's, turn by turn
  std::string notRanked;            ///< why it is unknown which is faster; empty: it is known
  std::string timeUnavailable;      ///< why there are no times
  std::string groupsUnavailable;    ///< why some groups have no time although A and B have one; empty: all have a time
};

}  // namespace fusescope
