#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "interchange/typed_network/typed_network.h"

namespace fusescope {

/// Makes the plan by which an exported network is checked: for the same target and machine limits, without requested
/// types, so that the types of the network are used.
Result<std::shared_ptr<const Plan>> planOfExported(const Plan& plan, std::shared_ptr<const Model> exported,
                                                   const StopToken& stop);

/// Returns an error for the first value of `plan`'s main graph that `reading`, a plan of the exported network, stores
/// in another type; nothing if all agree. A value that `reading` keeps inside a kernel counts as agreeing.
std::optional<Diagnostic> otherStoredType(const Plan& plan, const TypedNetwork& network, const Plan& reading);

/// Returns how many values otherStoredType() compares.
std::int64_t comparedStoredTypes(const Plan& plan, const TypedNetwork& network, const Plan& reading);

}  // namespace fusescope
