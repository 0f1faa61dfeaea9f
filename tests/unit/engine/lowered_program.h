#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/steps/lowering.h"

namespace fusescope::testing {

/// A program without an engine around it, with what it refers to. No tactic is measured.
struct LoweredProgram {
  LoweredProgram(std::shared_ptr<const Plan> plan, std::map<std::string, Dims> extents,
                 const std::string& backend = "native", int threads = 1);
  LoweredProgram(LoweredProgram&&) = delete;
  std::shared_ptr<const Plan> plan;     ///< run by the backend
  std::map<std::string, Dims> extents;  ///< of the network's inputs
  std::shared_ptr<Program> program;
  ShapeCacheCount dynamicKernels{.size = 1};

 private:
  BuildReport m_report;
  std::optional<TacticChooser> m_chooser;
};

}  // namespace fusescope::testing
