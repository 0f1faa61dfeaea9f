#pragma once

#include <memory>

#include "engine/weight_blob.h"
#include "ir/graph.h"

namespace fusescope {

/// A Graph as JSON with the data of its tensors in a blob. Ids, names and holes come back as they were: an index in
/// `values` and `nodes` is the id, null is a hole. The form is described in engine/FORMAT.md.
Json graphToJson(const Graph& graph, WeightBlobWriter& weights);
/// Errors: anything that does not fit together. A missing field throws Json::exception.
Result<std::shared_ptr<const Graph>> graphFromJson(const Json& json, const WeightBlobReader& weights, int depth = 0);

}  // namespace fusescope
