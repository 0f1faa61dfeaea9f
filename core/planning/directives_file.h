#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// What a directives file holds: format "fusescope.directives", described in planning/FORMAT.md.
struct DirectivesFile {
  Directives directives;
  std::optional<std::string> target{};                ///< absent: the file says nothing of it
  std::optional<std::vector<DataType>> precisions{};  ///< as PlanOptions::precisions; absent: it says nothing of them
  std::optional<std::int64_t> workspaceBytes{};       ///< as PlanOptions::workspaceBytes
  std::optional<WeightOnly> weightOnly{};             ///< as PlanOptions::weightOnly
};

Json toJson(const DirectivesFile& file);
Result<DirectivesFile> directivesFileFromJson(const Json& json);
/// Errors name the file.
Result<DirectivesFile> readDirectivesFile(const std::filesystem::path& path);

/// All of `options` that a directives file can say: all but ranges, which have a file of their own.
DirectivesFile directivesFileOf(const PlanOptions& options);
/// Takes over the directives of `file`, and of target and precisions what it says.
void adopt(DirectivesFile file, PlanOptions& options);

}  // namespace fusescope
