#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// What `inspect` shows, and of what.
struct InspectSettings {
  bool machine = false, memory = false, modules = false;
  int threads = 0;  ///< of machine and memory; 0: as many as the machine has

  std::vector<Option> options();
};

}  // namespace fusescope
