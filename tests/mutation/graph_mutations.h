#pragma once

#include <functional>
#include <vector>

#include "tests/mutation/dice.h"
#include "tests/mutation/wire.h"

namespace fusescope::mutation {

/// One kind of damage to a GraphProto. False if the graph holds nothing of the sort.
struct GraphMutation {
  const char* name;
  bool (*apply)(WireMessage& graph, Dice& dice);
};

const std::vector<GraphMutation>& graphMutations();

/// A number of the kind that extents and attributes should not be.
std::uint64_t absurdNumber(Dice& dice);

/// Applies `change` to a random field of this number, parsed as a message. False if there is none.
bool changeNested(WireMessage& message, std::uint32_t number, Dice& dice,
                  const std::function<bool(WireMessage&)>& change);

}  // namespace fusescope::mutation
