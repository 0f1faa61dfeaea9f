#pragma once

#include <cstdint>
#include <memory>

#include "ir/model.h"

namespace fusescope {

/// A network that is another one except for weights and names, with the names of that other one.
struct RenamedNetwork {
  std::shared_ptr<const Model> model;  ///< null: the networks differ in more than names
  std::int64_t nodes = 0;              ///< how many nodes had another name
};

/// Returns `given` with the names of `former` if both have equal operators, attributes, connections, types and extents
/// in the order of their nodes. The inputs and outputs must have the same names, because a run is given them. Networks
/// whose nodes have bodies are not compared. It is a pure function.
RenamedNetwork withNamesOf(const Model& former, const Model& given);

}  // namespace fusescope
