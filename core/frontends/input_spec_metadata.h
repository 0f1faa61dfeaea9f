#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/model.h"

namespace fusescope {

/// The key under which a file holds InputSpecs: among the metadata of an .onnx file, in the `custom` metadata of an
/// exported program of PyTorch, and in its member extra/fusescope.json.
inline constexpr const char* kInputSpecsKey = "fusescope.input_specs";
/// The newest version of that text, which is written; the first one said no version.
inline constexpr std::int64_t kInputSpecsVersion = 2;

/// InputSpec::source of what such metadata say, and of ranges that the network's exporter wrote.
inline constexpr const char* kFromMetadata = "metadata";
inline constexpr const char* kFromExporter = "exporter";

/// What metadata say of one input.
struct CarriedInput {
  InputSpec spec;                      ///< its source is kFromMetadata
  std::vector<std::string> symbols{};  ///< what the extents are called in the network; empty where they are not
  std::string givenBy{};  ///< the source that the spec had when it was written: "user", …; empty: not told
  bool operator==(const CarriedInput&) const = default;
};
struct CarriedInputs {
  std::int64_t version = kInputSpecsVersion;
  std::vector<CarriedInput> inputs{};  ///< none of a newer version than is known
  bool isNewer() const { return version > kInputSpecsVersion; }
};

/// The inputs as that text: {"version": 2, "inputs": [{"name": "x", "type": "f32", "min": [1, 3], "opt": [4, 3], "max":
/// [8, 3], "symbols": ["batch", null], "source": "user"}]}. Names must be UTF-8.
std::string carriedInputsText(const std::vector<CarriedInput>& inputs);
/// The same of specs alone, each with its own source.
std::string inputSpecsText(const std::vector<InputSpec>& specs);
/// The inverse. Also reads the first version: {"x": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}}, in which types are
/// unknown. Errors name the input: extents that are no numbers, of different counts, or not min <= opt <= max; a type
/// that is none; a name that stands there twice.
Result<CarriedInputs> carriedInputsFromText(std::string_view text);

}  // namespace fusescope
