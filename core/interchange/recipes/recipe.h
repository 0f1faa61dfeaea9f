#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "calibration/ranges.h"
#include "planning/cover.h"

namespace fusescope {

/// What stands in a recipe and is not taken over.
struct UnmappedEntry {
  std::string entry;  ///< as the recipe has it: "fc1:int8", "--fp8"
  std::string why;
  bool operator==(const UnmappedEntry&) const = default;
};
/// {entry, why}
Json toJson(const UnmappedEntry& entry);

/// What a file or command line of another tool asks of the types of one model, as wishes of ours.
struct Recipe {
  std::string kind;  ///< for people: "command line of trtexec"
  std::vector<DataType> precisions{};
  Directives directives{};
  std::int64_t workspaceBytes = 0;
  std::shared_ptr<const Ranges> ranges{};
  std::vector<UnmappedEntry> unmapped{};
  std::vector<std::string> kept{};  ///< options of trtexec that say nothing of types and stay options of TensorRT 11
};

struct RecipeOptions {
  std::filesystem::path folder{};           ///< where the files lie that it names by relative paths
  std::optional<std::string> layerNames{};  ///< content of a verbose trtexec log, for its `Registering layer` lines
};

/// Reads, for `model`:
/// - a command line of trtexec or Polygraphy, or a shell script that holds one; a log of trtexec, which begins with its
///   command line and, if it is verbose, says which node each layer is of;
/// - a Python script that holds tables of layers and types, as `export` writes for Polygraphy, ModelOpt,
///   onnxconverter-common, OpenVINO and Torch-TensorRT; code is not run;
/// - a tactic replay of Polygraphy, a calibration cache of TensorRT, directives of Fusescope.
/// RECIPES.md says what becomes of each entry. Errors: it is none of these, or nothing in it can be taken over.
Result<Recipe> readRecipe(std::string_view text, const Model& model, const RecipeOptions& options = {});
/// The same of a file. Errors name it.
Result<Recipe> readRecipeFile(const std::filesystem::path& path, const Model& model,
                              std::optional<std::string> layerNames = {});

/// Takes over what a recipe says. Its types and wishes about types replace those of `options`; other wishes stay.
void adopt(const Recipe& recipe, PlanOptions& options);

}  // namespace fusescope
