#include "frontends/onnx/adapters/adapt_support.h"

#include <memory>

#include "ir/tensor.h"

namespace fusescope::adapting {

Nodes only(FileNode node) {
  Nodes nodes;
  nodes.push_back(std::move(node));
  return nodes;
}

FileAttribute attribute(std::string name, FileAttributeValue value) {
  return {.name = std::move(name), .reference = {}, .value = std::move(value)};
}

void removeAttribute(FileNode& node, std::string_view key) {
  std::erase_if(node.attributes, [&](const FileAttribute& attribute) { return attribute.name == key; });
}

void setAttribute(FileNode& node, std::string key, FileAttributeValue value) {
  removeAttribute(node, key);
  node.attributes.push_back(attribute(std::move(key), std::move(value)));
}

void setInput(FileNode& node, std::size_t slot, std::string value) {
  if (node.inputs.size() <= slot) node.inputs.resize(slot + 1);
  node.inputs[slot] = std::move(value);
}

bool hasInput(const FileNode& node, std::size_t slot) {
  return slot < node.inputs.size() && !node.inputs[slot].empty();
}

bool hasOutput(const FileNode& node, std::size_t slot) {
  return slot < node.outputs.size() && !node.outputs[slot].empty();
}

void intsToInput(FileNode& node, AdaptContext& context, const std::string& key, std::size_t slot) {
  const auto* values = attributeAs<Ints>(node, key);
  if (values != nullptr) setInput(node, slot, context.addConstant(node.displayName() + "/" + key, *values));
  removeAttribute(node, key);
}

void numberToInput(FileNode& node, AdaptContext& context, Nodes& before, const std::string& key, std::size_t slot) {
  const auto* number = attributeAs<float>(node, key);
  if (number != nullptr && hasInput(node, 0)) {
    Expansion expansion(node, context);
    setInput(node, slot, expansion.numberLike(key, *number, node.inputs[0]));
    for (FileNode& made : expansion.take()) before.push_back(std::move(made));
  }
  removeAttribute(node, key);
}

std::string Expansion::add(const std::string& what, const std::string& op, std::vector<std::string> inputs,
                           std::vector<FileAttribute> attributes) {
  std::string output = value(what);
  addTo(output, what, op, std::move(inputs), std::move(attributes));
  return output;
}

void Expansion::addTo(const std::string& output, const std::string& what, const std::string& op,
                      std::vector<std::string> inputs, std::vector<FileAttribute> attributes) {
  m_nodes.push_back({.name = m_base + "/" + what,
                     .op = op,
                     .domain = {},
                     .overload = {},
                     .inputs = std::move(inputs),
                     .outputs = {output},
                     .attributes = std::move(attributes),
                     .newest = true});
}

std::string Expansion::ints(const std::string& what, Ints values) {
  return m_context.addConstant(m_base + "/" + what, std::move(values));
}

std::string Expansion::numberLike(const std::string& what, float number, const std::string& like) {
  const onnxlib::FileType* type = m_context.type(like);
  const bool known = type != nullptr && type->container == Container::None && type->dtype != DataType::Undefined &&
                     type->dtype != DataType::String;
  const auto scalar =
      std::make_shared<const Tensor>(Tensor::scalar(number).converted(known ? type->dtype : DataType::F32));
  const std::string constant = m_context.addTensor(
      m_base + "/" + what,
      {.name = {}, .dtype = scalar->type(), .dims = {}, .owner = scalar, .data = scalar->bytes(), .hasData = true});
  return known ? constant : add(what + "_typed", "CastLike", {constant, like});
}

Diagnostic cannotAdapt(const FileNode& node, std::string why, std::string help) {
  return {.message = std::move(why), .where = {.node = node.displayName()}, .help = std::move(help)};
}

}  // namespace fusescope::adapting
