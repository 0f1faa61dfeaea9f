#pragma once

#include <map>
#include <memory>
#include <vector>

#include "calibration/quantize_graph.h"
#include "planning/plan.h"

namespace fusescope {

class Graph;

/// Returns whether a precision or a pin asks for int8, so that ranges are needed.
bool asksForIntegers(const PlanOptions& options);

/// Returns `model`, which must not be quantised yet, with quantised codes on its edges as the ranges, precisions, pins
/// and fallbacks of `options` require. If these ask for no integers, it returns `model` itself. It is a pure function:
/// equal arguments give equal graphs. The model of `previous` is reused if it was made of the same arguments. It is an
/// error if int8 is asked for without ranges, if ranges are given and nothing asks for int8, if a pattern matches
/// nothing, if the ranges are of another network, or if `stop` was requested. `priced` is the result of
/// integersByPrice().
Result<std::shared_ptr<const Model>> quantizedModel(std::shared_ptr<const Model> model, const PlanOptions& options,
                                                    const Plan* previous = nullptr, const StopToken& stop = {},
                                                    const PricedIntegers& priced = {});

/// Returns the model of `plan` without quantised codes. It is the model of the file, except for numbers that smoothing
/// moved from activations into weights. Ids of nodes and values are the same.
Result<std::shared_ptr<const Model>> modelBeforeCodes(const Plan& plan, const StopToken& stop = {});

/// Returns the graph of `plan` with the same codes, before they are moved (withCodes()). Exports edit the model's file
/// according to this graph.
Result<std::shared_ptr<const Graph>> graphWithCodes(const Plan& plan, const StopToken& stop = {});

/// Returns by NodeId whether a node of `model` reads quantised codes, or weights that are codes, under `options`.
/// `model` must not be quantised yet. Errors are those of quantizedModel().
Result<std::vector<char>> codedNodes(const Model& model, const PlanOptions& options, const StopToken& stop = {});

/// Returns for each pin that keeps nodes from using codes, by its index in `options.directives`, the nodes that would
/// read codes (or weights that are codes) without this pin.
Result<std::map<int, std::vector<NodeId>>> keptInFloats(const Model& model, const PlanOptions& options,
                                                        const StopToken& stop = {});

}  // namespace fusescope
