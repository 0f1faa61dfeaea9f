#pragma once

#include <memory>

#include "engine/weight_blob.h"
#include "ir/model.h"

namespace fusescope {

/// A Model (graph, origins, InputSpecs, provenance, decisions) as JSON with its tensors' data in a blob.
Json modelToJson(const Model& model, WeightBlobWriter& weights);
/// A missing field throws Json::exception.
Result<std::shared_ptr<const Model>> modelFromJson(const Json& json, const WeightBlobReader& weights);

}  // namespace fusescope
