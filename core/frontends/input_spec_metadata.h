#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/model.h"

namespace fusescope {

/// The key under which a file contains InputSpecs: in the metadata of an .onnx file, in the `custom` metadata of an
/// exported program of PyTorch, and in its member extra/fusescope.json.
inline constexpr const char* kInputSpecsKey = "fusescope.input_specs";
/// The newest version of this text, which is written. The first version did not contain a version number.
inline constexpr std::int64_t kInputSpecsVersion = 2;

/// InputSpec::source for specs from such metadata, and for ranges that the network's exporter wrote.
inline constexpr const char* kFromMetadata = "metadata";
inline constexpr const char* kFromExporter = "exporter";

/// The description of one input in metadata.
struct CarriedInput {
  InputSpec spec;                      ///< its source is kFromMetadata
  std::vector<std::string> symbols{};  ///< the names of the extents in the network; empty for extents without a name
  std::string givenBy{};  ///< the source that the spec had when it was written: "user", …; empty if unknown
  bool operator==(const CarriedInput&) const = default;
};
struct CarriedInputs {
  std::int64_t version = kInputSpecsVersion;
  std::vector<CarriedInput> inputs{};  ///< empty if the version is newer than kInputSpecsVersion
  bool isNewer() const { return version > kInputSpecsVersion; }
};

/// Returns the inputs as text: {"version": 2, "inputs": [{"name": "x", "type": "f32", "min": [1, 3], "opt": [4, 3],
/// "max": [8, 3], "symbols": ["batch", null], "source": "user"}]}. Names must be UTF-8.
std::string carriedInputsText(const std::vector<CarriedInput>& inputs);
/// Does the same for specs, each with its own source.
std::string inputSpecsText(const std::vector<InputSpec>& specs);
/// Reads this text, and also its first version, which has no types: {"x": {"min": [1, 3], "opt": [4, 3], "max": [8,
/// 3]}}. Errors name the input. It is an error if extents are not numbers, differ in number, or do not satisfy min <=
/// opt <= max, if a type is invalid, or if a name occurs twice.
Result<CarriedInputs> carriedInputsFromText(std::string_view text);

}  // namespace fusescope
