#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "calibration/ranges.h"
#include "planning/cover.h"

namespace fusescope {

/// An entry of a recipe that is not adopted.
struct UnmappedEntry {
  std::string entry;  ///< the entry as the recipe contains it: "fc1:int8", "--fp8"
  std::string why;
  bool operator==(const UnmappedEntry&) const = default;
};
/// Returns {entry, why}
Json toJson(const UnmappedEntry& entry);

/// What a file or command line of another tool asks for about the types of one model, as our own directives.
struct Recipe {
  std::string kind;  ///< for people: "command line of trtexec"
  std::vector<DataType> precisions{};
  Directives directives{};
  std::int64_t workspaceBytes = 0;
  std::shared_ptr<const Ranges> ranges{};
  std::vector<UnmappedEntry> unmapped{};
  std::vector<std::string> kept{};  ///< options of trtexec that concern no types and still exist in TensorRT 11
};

struct RecipeOptions {
  std::filesystem::path folder{};           ///< the folder of files that the recipe names by relative paths
  std::optional<std::string> layerNames{};  ///< the text of a verbose trtexec log, for its lines `Registering layer`
};

/// Adopts a recipe. Its types and its directives about types replace those of `options`; other directives stay.
void adopt(const Recipe& recipe, PlanOptions& options);

}  // namespace fusescope
