#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/advice.h"
#include "session/inputs/sample_source.h"
#include "session/layer_types.h"
#include "verify/layer_errors.h"

namespace fusescope {

/// The errors of a fused node as they are stored.
struct RunNodeErrors {
  std::string name;                 ///< for people
  std::string identity;             ///< of the fused node, in hex
  std::optional<LayerTypes> types;  ///< its local error is valid for a kernel with the same types
  LocalAndCarried errors;
  bool operator==(const RunNodeErrors&) const = default;
};

/// The errors of lowered types layer by layer: a LayerErrorReport without the plan.
struct RunErrors {
  std::string when;  ///< UTC
  SampleSource inputs;
  std::int64_t samples = 0;
  std::string against;                ///< "f32"
  std::string backend;                ///< the backend that both ran on
  std::vector<RunNodeErrors> nodes;   ///< in the order of the plan
  std::vector<TensorErrors> tensors;  ///< in the order of the plan
  std::vector<LayerErrorReport::NotMeasured> notMeasured;
  std::string inside{};            ///< InnerErrorsNote::words
  std::optional<Advice> advice{};  ///< what to pin where it first becomes wrong; nothing in older files
  bool operator==(const RunErrors&) const = default;
};

/// Writes the form of session files: SESSION_FORMAT.md.
Json toJson(const RunErrors& errors);
/// Reads a session file, or `errors --json`, which has no `when` and `inputs`. Errors name the field.
Result<RunErrors> runErrorsFromJson(const Json& json);

}  // namespace fusescope
