#pragma once

#include <string_view>

#include "calibration/quantize_request.h"
#include "calibration/ranges.h"
#include "ir/model.h"

namespace fusescope {

class Graph;

/// Returns whether `name` is the name of a value of the graph, or "HOLDER/…" of a body in it.
bool namesValue(const Graph& graph, std::string_view name);

/// Adds QuantizeLinear and DequantizeLinear to `model`, which must be prepared, where kernels can then multiply
/// integers. The rules are in calibration/PLACES_OF_CODES.md. Ids of nodes and values are preserved. Each product,
/// each edge that becomes codes and each that does not has a decision (quantize.*). A pure function. It is an error if
/// the ranges are of another network, or if `stop` was requested.
Result<Model> quantize(const Model& model, const QuantizeRequest& request);
/// Does the same without moving codes and removing leftovers: the result has all nodes and values of `model`, with the
/// same operands, except for operands that are codes or new constants. The ids of these are larger than those of
/// `model`.
Result<Model> withCodes(const Model& model, const QuantizeRequest& request);
/// Returns the model from which withCodes() starts if the ranges ask for smoothing: channels of pairs are made similar,
/// and nothing is quantised yet. Ids are preserved. `ranges` must be a copy of the ranges in `request`, and is changed
/// to those of the new numbers.
Result<Model> smoothed(const Model& model, const QuantizeRequest& request, Ranges& ranges);

}  // namespace fusescope
