#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
/// {entry, why}
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

/// Reads a recipe for `model`. It may be:
/// - a command line of trtexec or Polygraphy, or a shell script that contains one; a log of trtexec, which begins with
///   its command line and, if it is verbose, says which node each layer belongs to;
/// - a Python script with tables of layers and types, as `export` writes for Polygraphy, ModelOpt,
///   onnxconverter-common, OpenVINO and Torch-TensorRT; the code is not run;
/// - a tactic replay of Polygraphy, a calibration cache of TensorRT, directives of Fusescope.
/// RECIPES.md says how each entry is treated. Errors: it is none of these, or nothing in it can be adopted.
Result<Recipe> readRecipe(std::string_view text, const Model& model, const RecipeOptions& options = {});
/// Does the same for a file. Errors name it.
Result<Recipe> readRecipeFile(const std::filesystem::path& path, const Model& model,
                              std::optional<std::string> layerNames = {});

/// Adopts a recipe. Its types and its directives about types replace those of `options`; other directives stay.
void adopt(const Recipe& recipe, PlanOptions& options);

}  // namespace fusescope
