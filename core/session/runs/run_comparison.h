#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "session/documents/compare_report.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/sample_source.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// A CompareGroup as it is stored: with its fused nodes by name and identity.
struct ComparedGroup {
  std::vector<std::string> origins;                       ///< nodes of the file
  BodyPath body{};                                        ///< see CompareGroup
  std::vector<std::string> a, b;                          ///< names, for people
  std::vector<std::string> identitiesOfA, identitiesOfB;  ///< the identities of the same fused nodes, in hex
  bool same = false;                                      ///< see CompareGroup
  std::optional<double> aMs, bMs, deltaMs;
  std::optional<Range> deltaRangeMs;
  bool operator==(const ComparedGroup&) const = default;
};
ComparedGroup keptGroup(const CompareGroup& group);

/// Two runs that were timed in turns and compared value by value: a CompareReport without the engines.
struct RunComparison {
  std::string a, b;  ///< ids of the runs
  SampleSource inputs;
  std::vector<ComparedGroup> groups;
  std::vector<TensorComparison> outputs, values;  ///< b compared with a
  std::int64_t valuesInBodies = 0;                ///< values in memory in bodies of both, which are not compared
  std::optional<double> aMs, bMs;
  int turns = 0;
  std::optional<Range> ratioRange;
  std::vector<ComparedDifference> differences;  ///< in what they differ besides their plans
  std::string notRanked;                        ///< why it is unknown which is faster; empty: it is known
  std::string timeUnavailable;                  ///< why there are no times
  bool operator==(const RunComparison&) const = default;
};

Json toJson(const CompareReport& report);  ///< returns the document of `compare --json`
Json toJson(const ComparedGroup& group);
/// Writes the form of session files: SESSION_FORMAT.md.
Json toJson(const RunComparison& comparison);
/// Reads a session file, or `compare --json`, in which `a` and `b` are paths because it knows no runs. Errors name the
/// field.
Result<RunComparison> runComparisonFromJson(const Json& json);

}  // namespace fusescope
