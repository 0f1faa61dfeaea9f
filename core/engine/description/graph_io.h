#pragma once

#include <memory>

#include "base/json_fwd.h"
#include "engine/description/weight_blob.h"

namespace fusescope {

class Graph;

/// Writes a Graph as JSON and the data of its tensors into a blob. Ids, names and holes are preserved: the index in
/// `values` and `nodes` is the id, and null is a hole. The format is described in engine/FORMAT.md.
Json graphToJson(const Graph& graph, WeightBlobWriter& weights);
/// Reads what graphToJson() wrote. Errors: contents that are inconsistent. A missing field throws Json::exception.
Result<std::shared_ptr<const Graph>> graphFromJson(const Json& json, const WeightBlobReader& weights, int depth = 0);

}  // namespace fusescope
