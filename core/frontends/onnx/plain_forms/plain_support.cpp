#include "frontends/onnx/plain_forms/plain_support.h"

#include <algorithm>
#include <memory>

namespace fusescope::plain {

std::int64_t Form::intOf(std::string_view key, std::int64_t otherwise) const {
  const auto* value = adapting::attributeAs<std::int64_t>(m_node, key);
  return value == nullptr ? otherwise : *value;
}

float Form::floatOf(std::string_view key, float otherwise) const {
  const auto* value = adapting::attributeAs<float>(m_node, key);
  return value == nullptr ? otherwise : *value;
}

std::string Form::textOf(std::string_view key, std::string otherwise) const {
  const auto* value = adapting::attributeAs<std::string>(m_node, key);
  return value == nullptr ? otherwise : *value;
}

Ints Form::intsOf(std::string_view key) const {
  const auto* values = adapting::attributeAs<Ints>(m_node, key);
  return values == nullptr ? Ints() : *values;
}

std::vector<FileAttribute> Form::attributes(std::initializer_list<std::string_view> keys) const {
  std::vector<FileAttribute> found;
  for (const FileAttribute& item : m_node.attributes)
    if (std::ranges::find(keys, std::string_view(item.name)) != keys.end()) found.push_back(item);
  return found;
}

std::optional<std::size_t> Form::rank(const std::string& value) const {
  const onnxlib::FileType* type = m_context.type(value);
  if (type != nullptr && type->ranked) return type->dims.size();
  const onnxlib::FileTensor* tensor = m_context.constant(value);
  return tensor == nullptr ? std::nullopt : std::optional(tensor->dims.size());
}

Result<std::size_t> Form::rankNeeded(const std::string& value) const {
  if (const auto known = rank(value)) return *known;
  return problem("its plain form depends on how many axes '" + value + "' has, which the file does not say",
                 "Run onnx.shape_inference on the file, or fix the extents of the network's inputs when exporting.");
}

std::optional<std::int64_t> Form::extent(const std::string& value, std::int64_t axis) const {
  const auto known = rank(value);
  if (!known) return std::nullopt;
  const auto axes = static_cast<std::int64_t>(*known);
  if (axis < 0) axis += axes;
  if (axis < 0 || axis >= axes) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  if (const onnxlib::FileTensor* tensor = m_context.constant(value)) return tensor->dims[at];
  const std::int64_t size = m_context.type(value)->dims[at].size;
  return size < 0 ? std::nullopt : std::optional(size);
}

std::vector<std::string> Form::addMany(const std::string& what, const std::string& op, std::vector<std::string> inputs,
                                       const std::vector<std::string>& parts, std::vector<FileAttribute> attributes) {
  std::vector<std::string> outputs;
  for (const std::string& part : parts) outputs.push_back(part.empty() ? std::string() : name(part));
  m_expansion.append({.name = m_node.displayName() + "/" + what,
                      .op = op,
                      .domain = {},
                      .overload = {},
                      .inputs = std::move(inputs),
                      .outputs = outputs,
                      .attributes = std::move(attributes),
                      .newest = true});
  return outputs;
}

void Form::give(std::size_t output, const std::string& what, const std::string& op, std::vector<std::string> inputs,
                std::vector<FileAttribute> attributes) {
  if (wants(output)) m_expansion.addTo(m_node.outputs[output], what, op, std::move(inputs), std::move(attributes));
}

void Form::finish(const std::string& op, std::vector<std::string> inputs, std::vector<FileAttribute> attributes,
                  std::vector<std::string> outputs) {
  if (outputs.empty()) outputs = {wants(0) ? m_node.outputs[0] : name("result")};
  m_expansion.append({.name = m_node.name,
                      .op = op,
                      .domain = {},
                      .overload = {},
                      .inputs = std::move(inputs),
                      .outputs = std::move(outputs),
                      .attributes = std::move(attributes),
                      .newest = true});
}

std::string Form::scalar(const std::string& what, std::int64_t value) {
  const auto kept = std::make_shared<const std::int64_t>(value);
  return tensor(what, {.name = {},
                       .dtype = DataType::I64,
                       .dims = {},
                       .owner = kept,
                       .data = reinterpret_cast<const std::byte*>(kept.get()),
                       .hasData = true});
}

std::string Form::tensor(const std::string& what, onnxlib::FileTensor tensor) {
  return m_context.addTensor(m_node.displayName() + "/" + what, std::move(tensor));
}

std::string Form::extentVector(const std::string& what, const std::string& value, std::int64_t axis) {
  if (const auto known = extent(value, axis)) return ints(what, {*known});
  std::vector<FileAttribute> range{attribute("start", axis)};
  if (axis != -1) range.push_back(attribute("end", axis + 1));
  return add(what, "Shape", {value}, std::move(range));
}

Ints channelOrder(std::size_t rank, Channels where) {
  const auto last = static_cast<std::int64_t>(rank) - 1;
  Ints order{0};
  if (where == Channels::ToSecond) order.push_back(last);
  for (std::int64_t axis = where == Channels::ToSecond ? 1 : 2; static_cast<std::int64_t>(order.size()) < last; ++axis)
    order.push_back(axis);
  order.push_back(where == Channels::ToSecond ? last - 1 : 1);
  return order;
}

std::string moveChannels(Form& form, const std::string& what, const std::string& x, std::size_t rank, Channels where) {
  return rank < 3 ? x : form.add(what, "Transpose", {x}, {attribute("perm", channelOrder(rank, where))});
}

Status finishActivated(Form& form, const std::string& name, const std::string& x, const std::vector<float>& numbers) {
  struct Activation {
    std::string_view name, op;
    std::vector<std::string> parameters;
  };
  static const std::vector<Activation> kActivations{
      {"Relu", "Relu", {}},
      {"Sigmoid", "Sigmoid", {}},
      {"Tanh", "Tanh", {}},
      {"LeakyRelu", "LeakyRelu", {"alpha"}},
      {"ThresholdedRelu", "ThresholdedRelu", {"alpha"}},
      {"Elu", "Elu", {"alpha"}},
      {"HardSigmoid", "HardSigmoid", {"alpha", "beta"}},
      {"HardSwish", "HardSwish", {}},
      {"Softplus", "Softplus", {}},
      {"Softsign", "Softsign", {}},
      {"Gelu", "Gelu", {}},
      {"QuickGelu", "Swish", {"alpha"}},
      {"Swish", "Swish", {"alpha"}},
      {"SiLU", "Swish", {}},
  };
  if (name == "Clip") {
    const auto bound = [&](const char* what, std::size_t i) {
      return i < numbers.size() ? form.numberLike(what, numbers[i], form.in(0)) : std::string();
    };
    form.finish("Clip", {x, bound("min", 0), bound("max", 1)});
    return Done{};
  }
  const auto found = std::ranges::find(kActivations, name, &Activation::name);
  if (found == kActivations.end())
    return form.problem("its activation '" + name + "' is not known", "Write the file without fusing activations.");
  std::vector<FileAttribute> attributes;
  for (std::size_t i = 0; i < std::min(numbers.size(), found->parameters.size()); ++i)
    attributes.push_back(attribute(found->parameters[i], numbers[i]));
  form.finish(std::string(found->op), {x}, std::move(attributes));
  return Done{};
}

}  // namespace fusescope::plain
