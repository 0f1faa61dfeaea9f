#pragma once

#include "ops/type_flow.h"
#include "passes/pass.h"

namespace fusescope {

/// Gives the values of `context.graph` whose declared type cannot be the computed one, with a decision for each. True
/// if there were any. To be called before other edits.
bool settleContradictions(PassContext& context, const TypeFlow& flow);

/// A decision for each value of the body under `attribute` of `node` whose declared type cannot be. `flow`: the types
/// inside.
void recordContradictions(const Node& node, const std::string& attribute, const TypeFlow& flow,
                          std::vector<Decision>& decisions);

}  // namespace fusescope
