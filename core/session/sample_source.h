#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// Where samples come from.
struct SampleSource {
  std::vector<std::string> paths{};         ///< files and folders (input_files.h); none: random inputs
  std::optional<std::int64_t> batchAxis{};  ///< arrays are cut along this axis into as many samples as are in them
  bool operator==(const SampleSource&) const = default;
  bool empty() const { return paths.empty(); }
};

/// For people: "random inputs", "photos.npz", "a.npz and 2 others, cut along axis 0".
std::string inWords(const SampleSource& source);

/// {paths[], batch_axis}.
Json toJson(const SampleSource& source);
/// The inverse; errors name the field.
Result<SampleSource> sampleSourceFromJson(const Json& json);

}  // namespace fusescope
