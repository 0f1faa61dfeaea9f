#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interchange/recipes/recipe.h"

namespace fusescope {

// What readRecipe() chooses among, each for one kind of recipe.

/// The words behind `trtexec`. Errors: a file that it names cannot be read.
Result<Recipe> readTrtexec(const std::vector<std::string>& words, const Model& model, const RecipeOptions& options);

/// The words behind `polygraphy`.
Result<Recipe> readPolygraphy(const std::vector<std::string>& words, const Model& model, const RecipeOptions& options);

/// A Python program that holds tables of layers. Errors: it holds none that is known.
Result<Recipe> readPythonTables(std::string_view program, const Model& model, const RecipeOptions& options);

/// Polygraphy's JSON: a tactic replay; the replay of `debug precision` is refused, since it names no layer.
Result<Recipe> readReplay(const Json& json, const Model& model, const RecipeOptions& options);

/// TensorRT's calibration cache.
Result<Recipe> readCalibration(std::string_view text, const Model& model);

/// Takes the ranges of a calibration cache into `recipe`, and int8 among its types. What no value of the model has the
/// name of is unmapped.
void addRanges(Ranges ranges, const Model& model, Recipe& recipe);

}  // namespace fusescope
