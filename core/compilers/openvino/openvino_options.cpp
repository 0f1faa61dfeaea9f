#include "compilers/openvino/openvino_options.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "ir/graph.h"

namespace fusescope {
namespace {

bool isHintPlanned(const Plan& plan) {
  const auto chosen = plan.options.compilerOptions.find("hint");
  return chosen == plan.options.compilerOptions.end() || chosen->second == kHintAsPlanned;
}

/// Returns the float type below f32 in which most nodes are planned; f32 if there is none.
DataType mostNarrow(const Plan& plan) {
  const auto count = [&](DataType type) {
    return std::ranges::count(plan.precisionMap, type, &PrecisionGrant::granted);
  };
  const auto bf16 = count(DataType::BF16), f16 = count(DataType::F16);
  if (bf16 == 0 && f16 == 0) return DataType::F32;
  return bf16 >= f16 ? DataType::BF16 : DataType::F16;
}

class OpenvinoAsking {
 public:
  explicit OpenvinoAsking(CompilerInput& network)
      : m_network(network), m_plan(*network.plan), m_isPlanned(isHintPlanned(m_plan)), m_hint(openvinoHint(m_plan)) {}

  Result<Json> run(int threads) {
    if (m_hint != DataType::F32 && !isNarrow(m_hint))
      return Diagnostic{
          .message = fmt::format("OpenVINO has no hint \"{}\"", m_plan.options.compilerOptions.at("hint")),
          .where = {.attribute = "hint"},
          .help = fmt::format("Give f32, bf16 or f16, or {} for the type that the plan asks for.", kHintAsPlanned)};
    m_network.pins.clear();
    for (const PrecisionGrant& grant : m_plan.precisionMap)
      if (grant.asked != DataType::Undefined) m_network.pins.push_back(lowered(grant));
    return Json{{"hint", name(m_hint)}, {"keep", keptValues()}, {"threads", threads}};
  }

 private:
  bool isFree() const { return !m_isPlanned || std::ranges::count(m_plan.options.precisions, m_hint) > 0; }

  /// Returns the names of the values of nodes that remain in f32, in the order of the file.
  Json keptValues() const {
    std::set<NodeId> kept;
    for (const PrecisionGrant& grant : m_plan.precisionMap)
      if (grant.asked == DataType::F32 || (!isFree() && grant.granted == DataType::F32)) kept.insert(grant.node);
    Json values = Json::array();
    if (m_hint == DataType::F32) return values;
    for (const onnxlib::FileNode& node : m_network.file.graph.nodes) {
      const auto known = m_network.nodes.find(node.name);
      const bool isKept = known != m_network.nodes.end() &&
                          std::ranges::any_of(known->second, [&](NodeId id) { return kept.contains(id); });
      for (const std::string& output : node.outputs)
        if (isKept && !output.empty()) values.push_back(output);
    }
    return values;
  }

  LoweredPin lowered(const PrecisionGrant& grant) const {
    LoweredPin pin{.node = grant.node, .type = grant.asked, .how = {}};
    if (grant.asked == DataType::F32 && m_hint == DataType::F32) {
      pin.how = "OpenVINO is asked for f32 throughout.";
    } else if (grant.asked == DataType::F32) {
      pin.how = fmt::format("Its operators are kept from {} by rt_info, DisablePrecisionConversion.", name(m_hint));
    } else if (grant.asked == m_hint) {
      pin.how = fmt::format(
          "OpenVINO is asked for {} by its hint, which it follows for operators that have such kernels.", name(m_hint));
    } else {
      pin.isExpressible = false;
      pin.how =
          isNarrow(grant.asked)
              ? fmt::format("OpenVINO accepts only one type narrower than f32 for a network, and here that type is {}.",
                            name(m_hint))
          : isByteInteger(grant.asked)
              ? "OpenVINO calculates in integers only where the network has QuantizeLinear and DequantizeLinear."
              : fmt::format("OpenVINO cannot be asked for {}.", name(grant.asked));
    }
    return pin;
  }

  CompilerInput& m_network;
  const Plan& m_plan;
  bool m_isPlanned;
  DataType m_hint;
};

}  // namespace

DataType openvinoHint(const Plan& plan) {
  if (isHintPlanned(plan)) return mostNarrow(plan);
  return dataTypeFromName(plan.options.compilerOptions.at("hint")).value_or(DataType::Undefined);
}

Result<Json> openvinoOptions(CompilerInput& network, const BuildOptions& options) {
  return OpenvinoAsking(network).run(options.threads);
}

}  // namespace fusescope
