#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/advice.h"
#include "session/layer_types.h"
#include "session/sample_source.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// What the types of a fused node do, as it is kept.
struct RunNodeErrors {
  std::string name;                 ///< for people
  std::string identity;             ///< of the fused node, in hex
  std::optional<LayerTypes> types;  ///< its local error holds for a kernel with the same
  LocalAndCarried errors;
  bool operator==(const RunNodeErrors&) const = default;
};

/// What lowered types do layer by layer: a LayerErrorReport without the plan.
struct RunErrors {
  std::string when;  ///< UTC
  SampleSource inputs;
  std::int64_t samples = 0;
  std::string against;                ///< "f32"
  std::string backend;                ///< that both ran on
  std::vector<RunNodeErrors> nodes;   ///< in the order of the plan
  std::vector<TensorErrors> tensors;  ///< likewise
  std::vector<LayerErrorReport::NotMeasured> notMeasured;
  std::string inside{};            ///< InsideTold::words
  std::optional<Advice> advice{};  ///< what to pin where it first goes wrong; nothing: an older file did not say
  bool operator==(const RunErrors&) const = default;
};

/// As it stands in a session file: SESSION_FORMAT.md.
Json toJson(const RunErrors& errors);
/// Of a session file, or of `errors --json`, which knows nothing of `when` and `inputs`. Errors name the field.
Result<RunErrors> runErrorsFromJson(const Json& json);

}  // namespace fusescope
