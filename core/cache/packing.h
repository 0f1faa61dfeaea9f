#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// What an entry may have unpacked. Nothing larger is kept, so that a damaged length asks for no more memory.
inline constexpr std::uint64_t kMostUnpacked = std::uint64_t{4} << 30;

/// One frame of zstd.
Result<std::string> packed(std::string_view bytes);

/// The bytes of a frame of zstd, which must be `size` bytes. Errors: it is damaged, or of another length.
Result<std::string> unpacked(std::string_view body, std::uint64_t size);

}  // namespace fusescope
