#pragma once

#include <string>
#include <vector>
#include "session/inputs/network_inputs.h"
#include "session/operations/option.h"

namespace fusescope {

/// What is known of the inputs of a network.
struct InputsCommandSettings {
  std::vector<std::string> set, examples;
  std::string from;  ///< a file that has the extents; empty: none
  std::string output;

  InputEdits edits() const { return {.set = set, .from = from, .examples = examples}; }

  std::vector<Option> options();
};

}  // namespace fusescope
