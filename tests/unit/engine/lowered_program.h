#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/lowering.h"

namespace fusescope::testing {

/// A program for one thread without an engine around it, with what it refers to. No tactic is measured.
struct LoweredProgram {
  LoweredProgram(std::shared_ptr<const Plan> plan, std::map<std::string, Dims> extents,
                 const std::string& backend = "native");
  std::shared_ptr<const Plan> plan;
  std::map<std::string, Dims> extents;  ///< of the network's inputs
  std::shared_ptr<Program> program;

 private:
  ShapeCacheCount m_dynamicKernels{.size = 1};
};

}  // namespace fusescope::testing
