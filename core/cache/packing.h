#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// The largest unpacked size of an entry. Larger ones are not kept, so that a damaged length cannot cause a larger
/// allocation.
inline constexpr std::uint64_t kMostUnpacked = std::uint64_t{4} << 30;

/// Compresses bytes into one zstd frame. Large entries that hardly shrink, such as weights, are only freed of
/// repetitions, so that they are read in a fraction of the time.
Result<std::string> packed(std::string_view bytes);

/// Returns the bytes of a zstd frame, which must be `size` bytes. Errors: the frame is damaged or has another length.
Result<std::string> unpacked(std::string_view body, std::uint64_t size);

}  // namespace fusescope
