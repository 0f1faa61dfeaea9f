#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/region_program.h"
#include "ir/graph.h"

namespace fusescope::native {

/// One operator with its operands, all row-major. Absent optional inputs and outputs that are not needed are empty.
struct ReferenceCall {
  Node node;
  std::vector<std::optional<Ref>> inputs, outputs;
};

/// Runs an operator with its reference kernel, for operators without a kernel of ours. It allocates memory while it
/// runs.
std::unique_ptr<Step> makeReferenceStep(ReferenceCall call);

}  // namespace fusescope::native
