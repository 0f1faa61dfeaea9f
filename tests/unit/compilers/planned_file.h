#pragma once

#include <filesystem>
#include <memory>

#include "tests/support/networks.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope::test {

/// A plan of the file at `path`; null, and a failure, where there is none.
inline std::shared_ptr<const Plan> plannedFile(const std::filesystem::path& path, const PlanOptions& options) {
  const auto model = preparedModel(path);
  return model == nullptr ? nullptr : testing::planned(model, options);
}

}  // namespace fusescope::test
