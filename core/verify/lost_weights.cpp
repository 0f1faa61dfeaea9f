#include "verify/lost_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/float_bits.h"
#include "base/json.h"
#include "ir/graph.h"
#include "planning/types/read_type.h"

namespace fusescope {
namespace {

constexpr double kManyZeros = 0.01;

LostWeight lostBy(const Tensor& weight, DataType type) {
  LostWeight lost{.type = type};
  std::int64_t infinite = 0, zero = 0;
  for (std::int64_t i = 0; i < weight.count(); ++i) {
    const auto number = static_cast<float>(weight.asDouble(i));
    if (!std::isfinite(number)) continue;
    lost.largest = std::max(lost.largest, static_cast<double>(std::fabs(number)));
    const float read = roundedTo(type, number);
    infinite += !std::isfinite(read);
    zero += read == 0 && number != 0;
  }
  const auto all = static_cast<double>(std::max<std::int64_t>(weight.count(), 1));
  lost.infinite = static_cast<double>(infinite) / all;
  lost.zero = static_cast<double>(zero) / all;
  return lost;
}

}  // namespace

std::vector<LostWeight> lostWeights(const Plan& plan, std::span<const NodeId> nodes) {
  std::vector<LostWeight> all;
  std::set<std::pair<ValueId, DataType>> seen;
  for (const NodeId id : nodes) {
    const Node& node = plan.graph().node(id);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor* weight = node.inputs[i].valid() ? plan.graph().constantData(node.inputs[i]) : nullptr;
      const DataType type = weight != nullptr ? narrowReadType(plan, node, i) : DataType::Undefined;
      const bool isRounded = type != DataType::Undefined && isFloat(weight->type()) && weight->type() != type;
      if (!isRounded || !weight->hasData() || !seen.emplace(node.inputs[i], type).second) continue;
      LostWeight lost = lostBy(*weight, type);
      if (lost.infinite == 0 && lost.zero < kManyZeros) continue;
      lost.name = plan.graph().value(node.inputs[i]).name;
      all.push_back(std::move(lost));
    }
  }
  return all;
}

std::string inWords(const LostWeight& weight) {
  if (weight.infinite > 0)
    return fmt::format("weight {} becomes infinite in {}, because its largest number is {:.3g}", weight.name,
                       name(weight.type), weight.largest);
  return fmt::format("{:.3g} % of the elements of weight {} become 0 in {}", 100 * weight.zero, weight.name,
                     name(weight.type));
}

Json toJson(const std::vector<LostWeight>& weights) {
  Json json = Json::array();
  for (const LostWeight& weight : weights)
    json.push_back({{"name", weight.name},
                    {"type", name(weight.type)},
                    {"largest", weight.largest},
                    {"infinite", weight.infinite},
                    {"zero", weight.zero},
                    {"message", inWords(weight)}});
  return json;
}

}  // namespace fusescope
