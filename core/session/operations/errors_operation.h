#pragma once

#include <optional>
#include <vector>
#include "session/layer_error_report.h"
#include "session/operations/option.h"

namespace fusescope {

/// What errors are judged by, and whether their cause is searched for.
struct ErrorsSettings {
  std::optional<double> rms;  ///< the tolerance; nothing: that of the session, else the usual one
  ErrorsAgainst against = ErrorsAgainst::F32;
  bool bisect = false;
  double seconds = 0;       ///< of bisect; 0: no limit
  std::int64_t builds = 0;  ///< likewise
  bool all = false;

  std::vector<Option> options();
};

}  // namespace fusescope
