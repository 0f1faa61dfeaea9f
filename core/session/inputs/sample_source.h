#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope {

/// The source of samples.
struct SampleSource {
  std::vector<std::string> paths{};         ///< files and folders (input_files.h); empty: random inputs
  std::optional<std::int64_t> batchAxis{};  ///< the axis along which arrays are cut into samples
  bool operator==(const SampleSource&) const = default;
  bool empty() const { return paths.empty(); }
};

/// Returns a text for people: "random inputs", "photos.npz", "a.npz and 2 others, cut along axis 0".
std::string inWords(const SampleSource& source);

/// Returns {paths[], batch_axis}.
Json toJson(const SampleSource& source);
/// Reads what toJson() wrote; errors name the field.
Result<SampleSource> sampleSourceFromJson(const Json& json);

}  // namespace fusescope
