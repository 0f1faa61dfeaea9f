#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/tensor_type.h"

namespace fusescope {

/// The extents of an input in a recipe. Extents that the recipe does not give are empty; if it gives `min`, `opt` and
/// `max`, all three have the same length.
struct RecipeInput {
  std::string name;
  Dims min, opt, max;
  bool operator==(const RecipeInput&) const = default;
};

/// Returns the extents of inputs in a recipe: the optimisation profile of a command line of trtexec (--minShapes,
/// --optShapes, --maxShapes, --shapes) or Polygraphy (--trt-min-shapes and so on), alone, in a shell script or in a
/// log; and INPUT_EXTENTS of a script that `export` wrote. Nothing is run. Errors: extents that are not numbers,
/// located at the input.
Result<std::vector<RecipeInput>> recipeInputs(std::string_view text);
/// Does the same for a file. Errors name the file; it is also an error if it says nothing about inputs.
Result<std::vector<RecipeInput>> readRecipeInputs(const std::filesystem::path& path);

}  // namespace fusescope
