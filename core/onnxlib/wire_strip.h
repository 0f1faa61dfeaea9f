#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope::onnxlib {

/// raw_data with at least this many bytes is not copied out of the mapped file.
inline constexpr std::size_t kMappedFrom = 4096;
/// The key of the external_data entry that replaces such a payload; its value is the payload's index.
inline constexpr const char* kPayloadKey = "fusescope.payload";

/// A ModelProto without its large raw_data fields, and the places of these fields in the file.
struct StrippedModel {
  std::string wire;
  std::vector<std::span<const std::byte>> payloads;
};

/// Scans the wire format of a ModelProto. The model's metadata with the key `leftKey` are left out too; metadataEntry()
/// finds them. If the key is empty, all metadata are kept. It is an error if the file is not a ModelProto, is
/// truncated, or is nested too deeply.
Result<StrippedModel> stripPayloads(std::span<const std::byte> file, std::string_view leftKey = {});

}  // namespace fusescope::onnxlib
