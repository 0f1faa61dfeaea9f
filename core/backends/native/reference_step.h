#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/program.h"

namespace fusescope::native {

/// One operator with its operands, all row-major. Absent optional inputs and unasked outputs are nothing.
struct ReferenceCall {
  Node node;
  std::vector<std::optional<Ref>> inputs, outputs;
};

/// Runs an operator by its reference kernel, for operators that have no kernel of ours: it allocates while it runs.
std::unique_ptr<Step> makeReferenceStep(ReferenceCall call);

}  // namespace fusescope::native
