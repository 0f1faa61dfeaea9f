#pragma once

#include <optional>
#include <string>
#include <vector>

#include "session/sample_source.h"
#include "session/session.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// One CompareGroup, as it is kept: its fused nodes by name and identity.
struct ComparedGroup {
  std::vector<std::string> origins;                       ///< nodes of the file
  BodyPath body{};                                        ///< as CompareGroup
  std::vector<std::string> a, b;                          ///< names, for people
  std::vector<std::string> identitiesOfA, identitiesOfB;  ///< of the same, in hex
  bool same = false;                                      ///< as CompareGroup
  std::optional<double> aMs, bMs, deltaMs;
  std::optional<Range> deltaRangeMs;
  bool operator==(const ComparedGroup&) const = default;
};
ComparedGroup keptGroup(const CompareGroup& group);

/// Two runs that were timed in turns and compared value by value; a CompareReport without the engines.
struct RunComparison {
  std::string a, b;  ///< ids of the runs
  SampleSource inputs;
  std::vector<ComparedGroup> groups;
  std::vector<TensorComparison> outputs, values;  ///< b against a
  std::int64_t valuesInBodies = 0;                ///< that both have in memory in bodies: those are not compared
  std::optional<double> aMs, bMs;
  int turns = 0;
  std::optional<Range> ratioRange;
  std::string timeUnavailable;  ///< why times are absent
  bool operator==(const RunComparison&) const = default;
};

Json toJson(const ComparedGroup& group);
/// As it stands in a session file: SESSION_FORMAT.md.
Json toJson(const RunComparison& comparison);
/// Of a session file, or of `compare --json`, which knows no runs: `a` and `b` are paths there. Errors name the field.
Result<RunComparison> runComparisonFromJson(const Json& json);

}  // namespace fusescope
