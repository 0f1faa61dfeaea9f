#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"

namespace fusescope {

/// The contents of a directives file: format "fusescope.directives", which planning/FORMAT.md describes.
struct DirectivesFile {
  Directives directives;
  std::optional<std::string> target{};  ///< absent if the file does not give it
  /// PlanOptions::precisions; absent if the file does not give them.
  std::optional<std::vector<DataType>> precisions{};
  std::optional<std::int64_t> workspaceBytes{};  ///< PlanOptions::workspaceBytes; absent if the file does not give it
  std::optional<WeightOnly> weightOnly{};        ///< PlanOptions::weightOnly; absent if the file does not give it
};

Json toJson(const DirectivesFile& file);
Result<DirectivesFile> directivesFileFromJson(const Json& json);
/// Reads a file. Errors name the file.
Result<DirectivesFile> readDirectivesFile(const std::filesystem::path& path);

/// Returns everything in `options` that a directives file can express, which is all except ranges; these have a file of
/// their own.
DirectivesFile directivesFileOf(const PlanOptions& options);
/// Replaces the directives of `options` by those of `file`, and every other option that the file gives.
void adopt(DirectivesFile file, PlanOptions& options);

}  // namespace fusescope
