#pragma once

#include <map>
#include <memory>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// `model`, which nothing was quantised in yet, with codes on the edges as the ranges, precisions, pins and fallbacks
/// of `options` say; `model` itself where they ask for no integers. A pure function of these: equal ones give equal
/// graphs. That of `previous` is taken where it was made of the same. Errors: int8 is asked for and there are no
/// ranges, or ranges are given and nothing asks for int8; a pattern that matches nothing; ranges of another network;
/// cancelled.
Result<std::shared_ptr<const Model>> quantizedModel(std::shared_ptr<const Model> model, const PlanOptions& options,
                                                    const Plan* previous = nullptr, const StopToken& stop = {});

/// The graph of `model` with the same codes, before they are moved (withCodes()): what a file of the model is edited
/// by.
Result<std::shared_ptr<const Graph>> graphWithCodes(const Model& model, const PlanOptions& options,
                                                    const StopToken& stop = {});

/// The nodes of `model` that read codes, or weights of codes, as `options` say; by NodeId. Of a model that nothing was
/// quantised in yet. Errors: those of quantizedModel().
Result<std::vector<char>> codedNodes(const Model& model, const PlanOptions& options, const StopToken& stop = {});

/// By place in `options.directives`, for each pin that keeps nodes from codes: the nodes that read codes, or weights of
/// codes, where this pin alone is left out, and do not with it.
Result<std::map<int, std::vector<NodeId>>> keptInFloats(const Model& model, const PlanOptions& options,
                                                        const StopToken& stop = {});

}  // namespace fusescope
