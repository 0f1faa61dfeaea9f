#pragma once

#include "ops/type_flow.h"
#include "passes/pass.h"

namespace fusescope {

struct Node;

/// Replaces the declared types of values of `context.graph` that contradict the computed types in `flow`, and adds a
/// decision for each. Returns whether there were any. It must be called before other edits.
bool settleContradictions(PassContext& context, const TypeFlow& flow);

/// Adds a decision for each value of the body in `attribute` of `node` whose declared type is impossible. `flow` has
/// the types in the body.
void recordContradictions(const Node& node, const std::string& attribute, const TypeFlow& flow,
                          std::vector<Decision>& decisions);

}  // namespace fusescope
