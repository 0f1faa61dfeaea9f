#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/stop.h"
#include "ir/model.h"

namespace fusescope {

/// What a user may specify about inputs: `--input NAME=DIMS[:TYPE]`, `--min/--opt/--max NAME=DIMS`.
struct InputOverride {
  std::string name;
  std::optional<Dims> fixed, min, opt, max;
  std::optional<DataType> dtype;
  bool operator==(const InputOverride&) const = default;
};

/// Opens a model file: import, normalise, infer. Also reads the model in an engine file (.fse). Errors in files are
/// located; a model is returned completely or not at all. Thread-safe, cancellable.
Result<std::shared_ptr<const Model>> openModel(const std::filesystem::path& path,
                                               const std::vector<InputOverride>& inputs = {},
                                               const StopToken& stop = {}, const Progress& progress = {});

/// Returns the extents in `specs` that the user gave, as overrides.
std::vector<InputOverride> givenExtents(const std::vector<InputSpec>& specs);

}  // namespace fusescope
