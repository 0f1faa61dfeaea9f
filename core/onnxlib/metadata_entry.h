#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace fusescope::onnxlib {

/// A key of metadata whose value readModel() does not read, because it may be large and is seldom needed.
inline constexpr const char* kMetadataLeft = "fusescope.example_inputs";

/// Returns the value of `key` in the metadata of an .onnx file in memory, as a view of it; the last one if there are
/// several. Nothing else of the file is read, so that this is fast. Returns nothing if there is no such key, or if the
/// file is not an ONNX model.
std::optional<std::string_view> metadataEntry(std::span<const std::byte> file, std::string_view key);
/// Does the same for the metadata of the main graph.
std::optional<std::string_view> graphMetadataEntry(std::span<const std::byte> file, std::string_view key);

}  // namespace fusescope::onnxlib
