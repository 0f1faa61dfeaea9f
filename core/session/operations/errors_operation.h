#pragma once

#include <optional>
#include <vector>
#include "session/documents/layer_error_report.h"
#include "session/operations/option.h"

namespace fusescope {

/// What errors are judged by, and whether their cause is searched for.
struct ErrorsSettings {
  std::optional<double> rms;  ///< the tolerance; nothing: that of the session, else the usual one
  ErrorsAgainst against = ErrorsAgainst::F32;
  bool bisect = false;
  double seconds = 0;       ///< the time limit of --bisect in seconds; 0 means no limit
  std::int64_t builds = 0;  ///< the limit on builds of --bisect; 0 means no limit
  bool all = false;

  std::vector<Option> options();
};

}  // namespace fusescope
