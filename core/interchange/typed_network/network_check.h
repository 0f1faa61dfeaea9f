#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "interchange/typed_network/typed_network.h"

namespace fusescope {

/// The plan by which an exported network is judged: of the same target and machine limits, with no types asked for, so
/// that those of the network hold.
Result<std::shared_ptr<const Plan>> planOfExported(const Plan& plan, std::shared_ptr<const Model> exported,
                                                   const StopToken& stop);

/// The first value of `plan`'s main graph that `reading`, a plan of the exported network, stores at another type;
/// nothing where all agree. One that it holds inside a kernel counts as agreeing.
std::optional<Diagnostic> otherStoredType(const Plan& plan, const TypedNetwork& network, const Plan& reading);

/// How many values are compared so.
std::int64_t comparedStoredTypes(const Plan& plan, const TypedNetwork& network, const Plan& reading);

}  // namespace fusescope
