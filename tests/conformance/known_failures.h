#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/case_runner.h"

namespace fusescope::conformance {

/// One line of a list of known failures.
struct KnownFailure {
  std::string heading;
  std::string pattern;  ///< a case's name, or a glob
  std::string reason;
};

/// Cases that are known to fail, one a line with a reason, below headings ("## no kernel"):
///   test_some_case    what it lacks
class KnownFailures {
 public:
  /// An absent file is an empty list. Errors: a line without a reason, a case listed twice.
  static Result<KnownFailures> read(const std::filesystem::path& path);

  /// The line that lists the case, or null.
  const KnownFailure* find(const std::string& name) const;
  const std::vector<KnownFailure>& entries() const { return m_entries; }

  /// The list that is true of `outcomes`: lines whose cases still fail keep their words, a glob of which some cases
  /// pass is written out, new failures stand below the class of their problem with their message.
  KnownFailures updated(const std::map<std::string, Outcome>& outcomes) const;
  Status write(const std::filesystem::path& path) const;

 private:
  std::vector<KnownFailure> m_entries;
};

}  // namespace fusescope::conformance
