#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"

namespace fusescope::test {

/// A network, and how it is planned: "cpu", "pins", "typed", "tensorrt", "priced".
struct FactsCase {
  std::filesystem::path model;
  std::string how;
};

/// The cases of the bundled samples and, where it is there, of the shared material.
std::vector<FactsCase> factsCases();
/// The plan of a case. Error: it cannot be planned so.
Result<std::shared_ptr<const Plan>> planOf(const FactsCase& asked);
/// All that a case comes to, by part, without the words that explain it.
Json factsOf(const FactsCase& asked);

}  // namespace fusescope::test
