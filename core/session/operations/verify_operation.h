#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"
#include "verify/verify_regions.h"

namespace fusescope {

/// How much is checked.
struct VerifySettings {
  int seeds = VerifyOptions().seeds;
  std::string folder;  ///< where mismatches are written; empty: nowhere

  std::vector<Option> options();
};

}  // namespace fusescope
