#pragma once

#include <memory>

#include "engine/weight_blob.h"
#include "ir/model.h"

namespace fusescope {

/// A Model (graph, origins, InputSpecs, provenance, decisions) as JSON with its tensors' data in a blob.
Json modelToJson(const Model& model, WeightBlobWriter& weights);
/// A missing field throws Json::exception. `version`: of the description that `json` is of.
Result<std::shared_ptr<const Model>> modelFromJson(const Json& json, const WeightBlobReader& weights, int version);

}  // namespace fusescope
