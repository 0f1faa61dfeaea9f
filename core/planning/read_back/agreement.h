#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/data_type.h"

namespace fusescope {

/// Edges whose value has one type in memory according to our plan, and another according to the compiler.
struct OtherStoredType {
  DataType predicted = DataType::Undefined, made = DataType::Undefined;
  std::int64_t edges = 0;
  bool operator==(const OtherStoredType&) const = default;
};

/// How well our plan predicted which nodes share a kernel, and which types values have in memory. It counts edges; both
/// ends of a counted edge are calculated by kernels of the compiler. All edges between a pair of nodes count as one.
struct Agreement {
  /// All edges, then those inside a kernel: in our plan, in the compiler's result, and in both.
  std::int64_t edges = 0, predicted = 0, made = 0, both = 0;
  /// The edges that both keep in memory and whose types both report, and those of them whose types are equal.
  std::int64_t stored = 0, storedAlike = 0;
  std::int64_t storedNotDisclosed = 0;  ///< edges that both keep in memory, but whose type the compiler does not report
  std::vector<OtherStoredType> otherTypes{};  ///< the stored edges whose types differ; the most frequent pair first

  std::optional<double> precision() const, recall() const, f1() const;  ///< null if the divisor is 0
  std::optional<double> typesShare() const;  ///< the share of stored edges with equal types; null if there are none
};

/// Returns "of 88 edges 53 are inside a kernel; we predicted 58, and 38 of them are right: precision 0.66, …"; empty if
/// there are no such edges.
std::string sharedKernelsText(const Agreement& agreement);
/// Returns "of 20 edges that both keep in memory 18 have the type that we predicted (0.90); predicted f32, in fact f16:
/// 2"; empty if there are no such edges.
std::string storedTypesText(const Agreement& agreement);
/// Returns the pairs of types that differ, "predicted f32, in fact f16: 2; …"; empty if all are equal.
std::string otherTypesText(const Agreement& agreement);

}  // namespace fusescope
