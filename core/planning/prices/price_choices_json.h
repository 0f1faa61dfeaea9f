#pragma once

#include "base/json_fwd.h"
#include "planning/plan.h"

namespace fusescope {

class Graph;

/// Returns `by_price` of a plan's JSON: what prices decided in `plan`.
Json priceChoicesJson(const Plan& plan);

/// Reads which products prices decided on in the JSON of a plan; `graph` is that of the network before quantisation. A
/// missing field throws Json::exception.
PricedIntegers recordedIntegers(const Graph& graph, const Json& plan);
/// Reads what prices decided about types and about products of one input, in `graph`, and adds `integers`.
PriceChoices recordedChoices(const Graph& graph, const Json& plan, PricedIntegers integers);

}  // namespace fusescope
