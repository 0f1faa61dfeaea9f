#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace fusescope::onnxlib {

/// The key of metadata that readModel() leaves where they are: a megabyte that nobody may want.
inline constexpr const char* kMetadataLeft = "fusescope.example_inputs";

/// The value of `key` among the metadata of an .onnx file that lies in memory, as a view of it; of several the last.
/// Nothing else of the network is read, so that it costs next to nothing. Nothing where there is none, and where the
/// file is no ONNX model.
std::optional<std::string_view> metadataEntry(std::span<const std::byte> file, std::string_view key);
/// The same among the metadata of the main graph.
std::optional<std::string_view> graphMetadataEntry(std::span<const std::byte> file, std::string_view key);

}  // namespace fusescope::onnxlib
