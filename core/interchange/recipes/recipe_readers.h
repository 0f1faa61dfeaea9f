#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "interchange/recipes/recipe.h"

namespace fusescope {

// readRecipe() selects one of these functions, each for one kind of recipe.

/// Reads the words after `trtexec`. Errors: a file that it names cannot be read.
Result<Recipe> readTrtexec(const std::vector<std::string>& words, const Model& model, const RecipeOptions& options);

/// Reads the words after `polygraphy`.
Result<Recipe> readPolygraphy(const std::vector<std::string>& words, const Model& model, const RecipeOptions& options);

/// Reads a Python program with tables of layers. Errors: it contains no known table.
Result<Recipe> readPythonTables(std::string_view program, const Model& model, const RecipeOptions& options);

/// Reads Polygraphy's JSON: a tactic replay; the replay of `debug precision` is refused, because it names no layer.
Result<Recipe> readReplay(const Json& json, const Model& model, const RecipeOptions& options);

/// Reads TensorRT's calibration cache.
Result<Recipe> readCalibration(std::string_view text, const Model& model);

/// Adds the ranges of a calibration cache to `recipe`, and int8 to its types. Ranges whose name no value of the model
/// has become unmapped entries.
void addRanges(Ranges ranges, const Model& model, Recipe& recipe);

}  // namespace fusescope
