#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/conformance/case_runner.h"

namespace fusescope::conformance {

/// Passed of all, by domain and element type. A case counts once under each element type among its inputs and outputs;
/// the last row counts each case once.
std::string tableText(const std::vector<Case>& cases, const std::map<std::string, Outcome>& outcomes);

}  // namespace fusescope::conformance
