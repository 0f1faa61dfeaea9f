#pragma once

#include <optional>
#include <vector>
#include "session/operations/option.h"
#include "session/specialise.h"

namespace fusescope {

/// How a network is timed.
struct TimeSettings {
  double seconds = 2.0, warmup = 0.5;
  bool perLayer = false;
  bool specialise = false;  ///< builds engines for the extents that occur, beside a general one
  std::int64_t mostEngines = static_cast<std::int64_t>(SpecialiseOptions().mostEngines);
  std::int64_t mostMebibytes = SpecialiseOptions().mostBytes >> 20;
  double settleSeconds = SpecialiseRequest().mostSeconds;
  std::optional<double> effort;  ///< as BuildSettings::effort

  /// Returns the request for `specialise`. Its `time` has default values.
  SpecialiseRequest specialiseRequest() const;

  std::vector<Option> options();
};

}  // namespace fusescope
