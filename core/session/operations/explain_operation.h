#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// The node that `explain` is about.
struct ExplainSettings {
  std::string node;  ///< its name in the file

  std::vector<Option> options();
};

}  // namespace fusescope
