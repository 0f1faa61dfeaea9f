#include "interchange/substitutions/file_matcher.h"

#include <algorithm>
#include <cmath>

#include "frontends/onnx/file_tensors.h"

namespace fusescope {
namespace {

template <class T>
const T* attributeOf(const onnxlib::FileNode& node, std::string_view name) {
  const onnxlib::FileAttribute* found = node.attribute(name);
  return found == nullptr ? nullptr : std::get_if<T>(&found->value);
}

}  // namespace

FileMatcher::FileMatcher(const onnxlib::FileModel& file, const Model& model)
    : m_file(file), m_model(model), m_values(file.graph) {
  for (const auto& tensor : file.graph.initializers) m_weights.emplace(tensor.name, &tensor);
  for (const auto* values : {&file.graph.inputs, &file.graph.outputs, &file.graph.values})
    for (const auto& value : *values)
      if (value.type.dtype != DataType::Undefined) m_declared.emplace(value.name, &value.type);
}

std::int64_t FileMatcher::opset() const {
  const auto found = m_file.opsets.find("");
  return found == m_file.opsets.end() ? onnxlib::newestOpset() : found->second;
}

bool FileMatcher::is(std::size_t place, std::string_view op) const {
  return node(place).domain.empty() && node(place).op == op && !node(place).outputs.empty();
}

std::optional<std::size_t> FileMatcher::maker(const std::string& value, std::string_view op) const {
  const std::ptrdiff_t place = m_values.maker(value);
  if (place < 0 || !is(static_cast<std::size_t>(place), op)) return std::nullopt;
  return static_cast<std::size_t>(place);
}

std::optional<std::size_t> FileMatcher::onlyReader(const std::string& value) const {
  const auto& readers = m_values.readers(value);
  if (readers.size() != 1 || m_values.isOutput(value)) return std::nullopt;
  return readers.front();
}

std::string FileMatcher::otherOperand(std::size_t place, const std::string& value) const {
  const auto& inputs = node(place).inputs;
  if (inputs.size() != 2) return {};
  return inputs[0] == value ? inputs[1] : inputs[1] == value ? inputs[0] : std::string();
}

std::optional<Tensor> FileMatcher::constant(const std::string& value) const {
  if (const auto weight = m_weights.find(value); weight != m_weights.end())
    return weight->second->hasData ? std::optional(toTensor(*weight->second)) : std::nullopt;
  const auto place = maker(value, "Constant");
  if (!place) return std::nullopt;
  if (const auto* tensor = attributeOf<onnxlib::FileTensor>(node(*place), "value"))
    return tensor->hasData ? std::optional(toTensor(*tensor)) : std::nullopt;
  if (const auto* number = attributeOf<float>(node(*place), "value_float")) return Tensor::scalar(*number);
  if (const auto* number = attributeOf<std::int64_t>(node(*place), "value_int"))
    return Tensor::ofInt64({*number}).reshaped({});
  if (const auto* numbers = attributeOf<std::vector<std::int64_t>>(node(*place), "value_ints"))
    return Tensor::ofInt64(*numbers);
  return std::nullopt;
}

std::optional<double> FileMatcher::number(const std::string& value) const {
  const auto tensor = constant(value);
  if (!tensor || tensor->count() != 1 || tensor->type() == DataType::String) return std::nullopt;
  return tensor->asDouble(0);
}

std::optional<std::vector<std::int64_t>> FileMatcher::integers(const std::string& value) const {
  const auto tensor = constant(value);
  if (!tensor || !isInteger(tensor->type())) return std::nullopt;
  return int64Values(*tensor);
}

bool FileMatcher::isNumber(const std::string& value, double wanted) const {
  const auto found = number(value);
  return found && std::abs(*found - wanted) <= 1e-3 * std::abs(wanted);
}

std::int64_t FileMatcher::integer(std::size_t place, std::string_view attribute, std::int64_t otherwise) const {
  const auto* found = attributeOf<std::int64_t>(node(place), attribute);
  return found == nullptr ? otherwise : *found;
}

float FileMatcher::real(std::size_t place, std::string_view attribute, float otherwise) const {
  const auto* found = attributeOf<float>(node(place), attribute);
  return found == nullptr ? otherwise : *found;
}

std::vector<std::int64_t> FileMatcher::list(std::size_t place, std::string_view attribute) const {
  const auto* found = attributeOf<std::vector<std::int64_t>>(node(place), attribute);
  return found == nullptr ? std::vector<std::int64_t>() : *found;
}

std::string FileMatcher::text(std::size_t place, std::string_view attribute, std::string_view otherwise) const {
  const auto* found = attributeOf<std::string>(node(place), attribute);
  return found == nullptr ? std::string(otherwise) : *found;
}

bool FileMatcher::isClosed(const std::set<std::size_t>& places, const std::string& last) const {
  for (const std::size_t place : places)
    for (const std::string& output : node(place).outputs) {
      if (output.empty() || output == last) continue;
      const auto isInside = [&](std::size_t reader) { return places.contains(reader); };
      if (m_values.isOutput(output) || !std::ranges::all_of(m_values.readers(output), isInside)) return false;
    }
  return true;
}

TensorType FileMatcher::type(const std::string& value) const {
  const auto found = m_model.graph->findValue(value);
  if (found) return m_model.graph->value(*found).type;
  if (const auto tensor = constant(value)) return typeOf(*tensor);
  if (const auto declared = m_declared.find(value); declared != m_declared.end()) return toType(*declared->second);
  const onnxlib::FileType* inferred = m_file.inferred.find(value);
  return inferred == nullptr ? TensorType() : toType(*inferred);
}

bool FileMatcher::sameRank(const std::string& a, const std::string& b) const {
  const Shape ofA = type(a).shape, ofB = type(b).shape;
  return !ofA.ranked || !ofB.ranked || ofA.rank() == ofB.rank();
}

}  // namespace fusescope
