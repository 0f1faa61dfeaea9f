#pragma once

#include "planning/plan.h"

namespace fusescope {

/// `by_price` of a plan's JSON: what prices decided of `plan`.
Json priceChoicesJson(const Plan& plan);

/// What the JSON of a plan says that prices decided of products; `graph`: of the network before it is quantised. A
/// missing field throws Json::exception.
PricedIntegers recordedIntegers(const Graph& graph, const Json& plan);
/// What it says of types and of products of one input, in `graph`, and `integers`.
PriceChoices recordedChoices(const Graph& graph, const Json& plan, PricedIntegers integers);

}  // namespace fusescope
