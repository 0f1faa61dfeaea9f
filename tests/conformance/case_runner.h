#pragma once

#include <string>

#include "tests/conformance/case_files.h"

namespace fusescope::conformance {

/// What became of a case.
struct Outcome {
  bool passed = false;
  std::string problem;  ///< class of the failure: "no kernel", "wrong numbers", "refused by the importer", "crash" …
  std::string message;
  bool native = false;  ///< a kernel other than the reference's ran
  int kernels = 0;      ///< of runNarrowCase(): native ones of narrow floats
};

/// import → plan → build → run → compare, in this process. Floats are compared with the case's tolerances, everything
/// else exactly.
Outcome runCase(const Case& given, const std::string& backend);

/// A case of f32 planned in `type` instead: every native kernel beside the reference, fused node by fused node.
/// `native`: one of narrow floats ran. What cannot run fused node by fused node passes without.
Outcome runNarrowCase(const Case& given, DataType type);

}  // namespace fusescope::conformance
