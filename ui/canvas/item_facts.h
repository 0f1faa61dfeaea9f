#pragma once

#include <cstdint>
#include <optional>

#include "base/data_type.h"

namespace fusescope {

/// The most important decision about what a node calculates in and where it runs. The last value is the most important.
enum class Decided : std::uint8_t {
  Default,    ///< nothing was requested
  Network,    ///< the network's author: a Cast, a declared type, codes
  Target,     ///< the target has no other type for it
  Precision,  ///< --precision asks for it
  Prices,     ///< measured times chose it
  Neighbour,  ///< it is separate from a neighbour because the two calculate in different types
  Pin,        ///< a pin asks for it and is satisfied
  Fallback,   ///< the target or the compiler refuses it, or the user excludes it
  Refused     ///< a pin is refused
};

/// Facts about the nodes of one box in addition to their names and types.
struct ItemFacts {
  DataType second = DataType::Undefined;  ///< the type in which other nodes of the box calculate; Undefined: there is
                                          ///< none
  std::optional<Decided> decided;         ///< nothing: it has no nodes
  bool pinned = false;                    ///< a pin is satisfied
  bool refused = false;                   ///< a pin is refused
  bool ignored = false;                   ///< the compiler ignored a pin
  bool guessed = false;                   ///< it is guessed that its kernel contains one of the nodes
  std::optional<std::int64_t> bytes;      ///< bytes that its kernel moves; null: unknown
  std::optional<std::int64_t> results;    ///< bytes that its kernel writes to memory; null: unknown
};

}  // namespace fusescope
