#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/result.h"

namespace fusescope::conformance {

/// What a compiler made of the operator cases, as record.py wrote it, with the differences to our verdicts that are
/// known. Lines, in any order; words are separated by blanks, and what begins with '#' is a comment:
///   compiler WORDS…           who was asked, with its version
///   target NAME               of ours, as plan --target takes it
///   cases NUMBER              how many it was asked about
///   taken CASE                it builds the network; a case without such a line it refuses
///   differs CASE REASON…      our verdict is the other one
struct Recorded {
  std::string compiler, target;
  std::size_t cases = 0;
  std::set<std::string> taken;
  std::map<std::string, std::string> differs;  ///< by case: why

  /// Errors: a line of another form, a case that is said twice, a head that is incomplete.
  static Result<Recorded> read(const std::filesystem::path& path);
};

}  // namespace fusescope::conformance
