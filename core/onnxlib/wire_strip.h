#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope::onnxlib {

/// raw_data of at least this many bytes stays in the mapped file.
inline constexpr std::size_t kMappedFrom = 4096;
/// The key of the external_data entry that stands for a payload left behind; its value is the payload's index.
inline constexpr const char* kPayloadKey = "fusescope.payload";

/// A ModelProto without its large raw_data fields, and where in the file those are.
struct StrippedModel {
  std::string wire;
  std::vector<std::span<const std::byte>> payloads;
};

/// Scans the wire format of a ModelProto. Metadata of the model under `leftKey` are left behind too, where
/// metadataEntry() finds them; empty: none are. Errors: not a ModelProto, truncated, nested too deeply.
Result<StrippedModel> stripPayloads(std::span<const std::byte> file, std::string_view leftKey = {});

}  // namespace fusescope::onnxlib
