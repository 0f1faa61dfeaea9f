#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "interchange/recipes/recipe.h"

namespace fusescope {

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

}  // namespace fusescope
