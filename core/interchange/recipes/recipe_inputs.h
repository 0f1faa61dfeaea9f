#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/tensor_type.h"

namespace fusescope {

/// What a recipe says of the extents of an input. What it does not say is empty; extents of which it says all of
/// `min`, `opt` and `max` have one length in all three.
struct RecipeInput {
  std::string name;
  Dims min, opt, max;
  bool operator==(const RecipeInput&) const = default;
};

/// The extents of inputs that a recipe says: the optimisation profile of a command line of trtexec (--minShapes,
/// --optShapes, --maxShapes, --shapes) or Polygraphy (--trt-min-shapes and so on), in a shell script, a log or alone;
/// and INPUT_EXTENTS of a script that `export` wrote. Nothing is run. Errors: extents that are no numbers, located at
/// the input.
Result<std::vector<RecipeInput>> recipeInputs(std::string_view text);
/// The same of a file. Errors name it; it says nothing of inputs.
Result<std::vector<RecipeInput>> readRecipeInputs(const std::filesystem::path& path);

}  // namespace fusescope
