#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fusescope::mutation {

/// A model's bytes after damage, and the names of what was done to it, in order.
struct Mutant {
  std::string bytes;
  std::vector<std::string> steps;
};

/// One to three mutations of an .onnx file, chosen by the seed.
Mutant mutated(std::string_view model, std::uint64_t seed);

}  // namespace fusescope::mutation
