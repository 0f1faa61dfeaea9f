#pragma once

#include <span>
#include <string>

#include "base/stop.h"
#include "calibration/priced_products.h"
#include "calibration/ranges.h"
#include "calibration/weight_only.h"
#include "ir/model.h"

namespace fusescope {

/// What a user wishes of a node.
struct QuantizeWish {
  enum class Kind {
    None,
    Integers,  ///< a pin to int8
    Floats,    ///< a pin to a float type: no codes on what it reads, its weights stay floats
    Excluded,  ///< by a pattern of the ranges
    Fallback   ///< it runs on the reference, in the model's types
  };
  Kind kind = Kind::None;
  std::string by;  ///< the pattern or option
};

struct QuantizeRequest {
  const Ranges* ranges = nullptr;        ///< null: weights alone
  std::span<const QuantizeWish> wishes;  ///< by NodeId
  bool everyNode = false;                ///< int8 wherever rules let it; false: nodes whose wish is Integers alone
  bool symmetric = false;                ///< signed codes without zero points; false: unsigned ones of the whole range
  WeightOnly weightOnly{};
  PricedIntegers priced{};  ///< of those that the rules would quantise; others follow the rules
  StopToken stop{};
};

/// Whether `name` is of a value of the graph, or is "HOLDER/…" of a body in it.
bool namesValue(const Graph& graph, std::string_view name);

/// `model`, prepared, with QuantizeLinear and DequantizeLinear where they let kernels multiply integers: calibration/
/// WHERE_CODES_STAND.md has the rules. Ids of nodes and values stay; each product, each edge that became codes and each
/// that did not has a decision (quantize.*). Pure. Errors: ranges that are of another network, cancelled.
Result<Model> quantize(const Model& model, const QuantizeRequest& request);
/// The same before codes are moved and leftovers removed: all nodes and values of `model` are there and read what they
/// read, but for operands that are codes or new constants, whose ids are behind those of `model`.
Result<Model> withCodes(const Model& model, const QuantizeRequest& request);
/// `model` as withCodes() finds it where the ranges ask for smoothing: the numbers of pairs made alike, nothing
/// quantised yet. Ids stay. `ranges`, a copy of those asked for, becomes that of the new numbers.
Result<Model> smoothed(const Model& model, const QuantizeRequest& request, Ranges& ranges);

}  // namespace fusescope
