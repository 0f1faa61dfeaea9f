#pragma once

#include <cstdint>

namespace fusescope {

/// How the counterpart of a node was found.
enum class MatchedBy : std::uint8_t { Nothing, Id, Name, Structure };

}  // namespace fusescope
