#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/file_tensors.h"
#include "interchange/typed_network/graph_retyper.h"

// What becomes of the constants of a graph once all that reads them is known.

namespace fusescope {

Status GraphRetyper::finish() {
  for (const auto& [name, uses] : m_constantUses) TRY(finishConstant(name));
  for (const auto& body : m_bodies) TRY(body->finish());
  return Done{};
}

void GraphRetyper::readBy(const ConstantUse& use, const std::string& name) {
  m_shared.network.edits.operands.push_back({use.node, use.slot, name});
}

/// The constant keeps its name, with converted numbers: an initializer, or the tensor of a Constant node.
void GraphRetyper::convertInPlace(const std::string& name, DataType type, const Tensor& tensor) {
  onnxlib::NetworkEdits& edits = m_shared.network.edits;
  const onnxlib::FileTensor converted = fileTensor(name, tensor.converted(type));
  if (const auto node = m_constantNodes.find(name); node != m_constantNodes.end()) {
    edits.attributes.push_back({{m_path, node->second}, {.name = "value", .reference = {}, .value = converted}});
    edits.types.push_back({m_path, name, type});
  } else {
    edits.initializers.push_back({m_path, converted});
  }
}

Status GraphRetyper::finishConstant(const std::string& name) {
  const std::vector<ConstantUse>& uses = m_constantUses[name];
  const FileValue& value = m_values[name];
  const auto constant = m_constants.find(name);
  const bool hasNumbers = constant != m_constants.end() && constant->second->hasData;
  const bool converts = m_shared.options.weights == WeightTypes::Convert && hasNumbers;
  const Need first = uses.front().need;
  const bool alike = std::ranges::all_of(uses, [&](const ConstantUse& use) { return use.need == first; });
  const bool declared = first.rounded == value.declared && first.type == value.declared;
  if (alike && declared) return Done{};
  const bool free = !m_handedOut.contains(name) && first.rounded == first.type;
  if (converts && alike && free) {
    // Everything else that reads it goes with any type.
    convertInPlace(name, first.type, toTensor(*constant->second));
    return Done{};
  }
  std::map<std::pair<DataType, DataType>, std::string> made;
  for (const ConstantUse& use : uses) {
    const auto [rounded, type] = use.need;
    if (rounded == value.declared && type == value.declared) continue;
    std::string& form = made[{rounded, type}];
    if (form.empty() && converts) {
      form = m_shared.fresh(
          fmt::format("{}_{}_{}", name, rounded == type ? "to" : "rounded_to", fusescope::name(rounded)));
      const Tensor numbers = toTensor(*constant->second).converted(rounded).converted(type);
      m_shared.network.edits.initializers.push_back({m_path, fileTensor(form, numbers)});
    } else if (form.empty()) {
      std::string& narrow = made[{rounded, rounded}];
      if (narrow.empty() && rounded != value.declared) narrow = castTo(name, name, value.declared, rounded);
      if (rounded != type)
        form = castTo(name, narrow.empty() ? name : narrow, rounded, type,
                      fmt::format("{}_rounded_to_{}", name, fusescope::name(rounded)));
    }
    readBy(use, form);
  }
  return Done{};
}

}  // namespace fusescope
