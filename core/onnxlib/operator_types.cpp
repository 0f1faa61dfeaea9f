#include "onnxlib/operator_types.h"

#include <algorithm>
#include <cctype>

#include "onnxlib/proto_reader.h"
#include "onnxlib/schemas.h"

namespace fusescope::onnxlib {
namespace {

DataType elementType(const std::string& text) {
  constexpr std::string_view kBegin = "tensor(";
  if (!text.starts_with(kBegin) || !text.ends_with(")")) return DataType::Undefined;
  std::string element = text.substr(kBegin.size(), text.size() - kBegin.size() - 1);
  std::ranges::transform(element, element.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  onnx::TensorProto::DataType type{};
  return onnx::TensorProto::DataType_Parse(element, &type) ? dataTypeOf(type) : DataType::Undefined;
}

SlotTypes typesOf(const onnx::OpSchema::FormalParameter& parameter) {
  SlotTypes types{.parameter = parameter.GetTypeStr(), .allowed = {}};
  for (const auto* text : parameter.GetTypes())
    if (const DataType type = elementType(*text); type != DataType::Undefined) types.allowed.push_back(type);
  return types;
}

bool repeats(const std::vector<onnx::OpSchema::FormalParameter>& parameters) {
  return !parameters.empty() && parameters.back().GetOption() == onnx::OpSchema::Variadic;
}

const SlotTypes* slotAt(const std::vector<SlotTypes>& slots, bool repeated, std::size_t i) {
  if (i < slots.size()) return &slots[i];
  return repeated ? &slots.back() : nullptr;
}

}  // namespace

bool SlotTypes::allows(DataType type) const {
  return std::ranges::find(allowed, type) != allowed.end();
}

const SlotTypes* OperatorTypes::operand(std::size_t i) const {
  return slotAt(operands, operandsRepeat, i);
}

const SlotTypes* OperatorTypes::result(std::size_t i) const {
  return slotAt(results, resultsRepeat, i);
}

std::optional<OperatorTypes> operatorTypes(const std::string& domain, const std::string& op, std::int64_t opset) {
  const onnx::OpSchema* schema = schemaOf(domain, op, opset);
  if (schema == nullptr) return std::nullopt;
  OperatorTypes types{.operandsRepeat = repeats(schema->inputs()), .resultsRepeat = repeats(schema->outputs())};
  for (const auto& parameter : schema->inputs()) types.operands.push_back(typesOf(parameter));
  for (const auto& parameter : schema->outputs()) types.results.push_back(typesOf(parameter));
  return types;
}

std::int64_t opsetThatAllows(const std::string& domain, const std::string& op, std::size_t slot, DataType type,
                             std::int64_t opset) {
  if (!canonicalDomain(domain).empty()) return 0;
  std::int64_t version = operatorVersion(domain, op, opset);
  for (std::int64_t later = opset + 1; later <= newestOpset(); ++later) {
    const std::int64_t next = operatorVersion(domain, op, later);
    if (next == version) continue;
    version = next;
    const auto types = operatorTypes(domain, op, later);
    const SlotTypes* slotTypes = types ? types->operand(slot) : nullptr;
    if (slotTypes != nullptr && slotTypes->allows(type)) return later;
  }
  return 0;
}

std::string obstacleToRaising(const FileNode& node, std::int64_t from, std::int64_t to) {
  if (!node.domain.empty()) return {};
  const onnx::OpSchema *before = schemaOf("", node.op, from), *after = schemaOf("", node.op, to);
  if (before == nullptr || before == after) return {};
  if (after == nullptr || after->deprecated()) return "is not an operator of that opset";
  const auto& known = after->attributes();
  for (const auto& [name, attribute] : before->attributes()) {
    const bool used = node.attribute(name) != nullptr;
    const auto now = known.find(name);
    if (now == known.end() || now->second.type != attribute.type) {
      if (used) return "has no attribute '" + name + "' in that opset";
    } else if (!used && now->second.default_value.SerializeAsString() != attribute.default_value.SerializeAsString()) {
      return "has another default of attribute '" + name + "' in that opset";
    }
  }
  for (const auto& [name, attribute] : known)
    if (attribute.required && node.attribute(name) == nullptr)
      return "needs the attribute '" + name + "' in that opset";
  const auto& inputs = after->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool was = i < before->inputs().size();
    if (was && inputs[i].GetName() != before->inputs()[i].GetName() && i < node.inputs.size() &&
        inputs[i].GetOption() != before->inputs()[i].GetOption())
      return "has other inputs in that opset";
    if (i >= node.inputs.size() && inputs[i].GetOption() == onnx::OpSchema::Single)
      return "needs more inputs in that opset";
  }
  return {};
}

}  // namespace fusescope::onnxlib
