#pragma once

#include <memory>

#include "base/json_fwd.h"
#include "engine/description/weight_blob.h"
#include "ir/model.h"

namespace fusescope {

/// Writes a Model (graph, origins, InputSpecs, provenance, decisions) as JSON and the data of its tensors into a blob.
Json modelToJson(const Model& model, WeightBlobWriter& weights);
/// Reads what modelToJson() wrote. `version` is the format version of `json`. A missing field throws Json::exception.
Result<std::shared_ptr<const Model>> modelFromJson(const Json& json, const WeightBlobReader& weights, int version);

}  // namespace fusescope
