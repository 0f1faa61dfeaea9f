#pragma once

#include <cstdint>
#include <optional>

#include "base/data_type.h"

namespace fusescope {

/// What weighs most of all that was decided about what a node calculates in and where it runs; the last weighs most.
enum class Decided : std::uint8_t {
  Default,    ///< nothing was asked for
  Network,    ///< its author says so: a Cast, a declared type, codes
  Target,     ///< the target computes it in no other type
  Precision,  ///< --precision asks for it
  Prices,     ///< measured times chose it
  Neighbour,  ///< it is apart from a neighbour, since the two calculate in different types
  Pin,        ///< a pin asks for it and holds
  Fallback,   ///< the target or the compiler refuses it, or it is kept from them
  Refused     ///< what a pin asks for is refused
};

/// What a cover says of the nodes of one box beside their names and types.
struct ItemFacts {
  DataType second = DataType::Undefined;  ///< that other nodes of the box calculate in; Undefined: in none other
  std::optional<Decided> decided;         ///< nothing: of no node
  bool pinned = false;                    ///< a wish for a type holds
  bool refused = false;                   ///< one is refused
  bool ignored = false;                   ///< the compiler did not do what one asks for
  bool guessed = false;                   ///< that its kernel holds a node of it is a guess
  std::optional<std::int64_t> bytes;      ///< that its kernel moves; null: not known
  std::optional<std::int64_t> results;    ///< bytes of what its kernel leaves in memory; null: not known
};

}  // namespace fusescope
