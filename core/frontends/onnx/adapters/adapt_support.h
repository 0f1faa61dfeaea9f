#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/adapters/adapt_context.h"

namespace fusescope::adapting {

using onnxlib::FileAttribute;
using onnxlib::FileAttributeValue;
using onnxlib::FileNode;
using Nodes = std::vector<FileNode>;
using Ints = std::vector<std::int64_t>;

Nodes only(FileNode node);

template <class T>
const T* attributeAs(const FileNode& node, std::string_view key) {
  const FileAttribute* attribute = node.attribute(key);
  return attribute == nullptr ? nullptr : std::get_if<T>(&attribute->value);
}

void removeAttribute(FileNode& node, std::string_view key);
void setAttribute(FileNode& node, std::string key, FileAttributeValue value);
/// Sets input slot `slot` to `value`, and adds absent inputs before it if necessary.
void setInput(FileNode& node, std::size_t slot, std::string value);
bool hasInput(const FileNode& node, std::size_t slot);
bool hasOutput(const FileNode& node, std::size_t slot);

/// Converts an attribute of integers to an input. If the attribute is absent, so is the input.
void intsToInput(FileNode& node, AdaptContext& context, const std::string& key, std::size_t slot);
/// Converts an attribute of one number to an input with the type of input 0.
void numberToInput(FileNode& node, AdaptContext& context, Nodes& before, const std::string& key, std::size_t slot);

/// Collects several nodes that replace one, and gives values between them the names `<node>/<what>`.
class Expansion {
 public:
  Expansion(const FileNode& node, AdaptContext& context) : m_base(node.displayName()), m_context(context) {}

  /// Adds a node with one output, and returns the output's name.
  std::string add(const std::string& what, const std::string& op, std::vector<std::string> inputs,
                  std::vector<FileAttribute> attributes = {});
  /// Adds a node that writes `output`.
  void addTo(const std::string& output, const std::string& what, const std::string& op, std::vector<std::string> inputs,
             std::vector<FileAttribute> attributes = {});
  std::string value(const std::string& what) { return m_context.freshValue(m_base + "/" + what); }
  std::string ints(const std::string& what, Ints values);
  /// Adds a constant: `number` as a scalar with the element type of the value `like`.
  std::string numberLike(const std::string& what, float number, const std::string& like);
  void append(FileNode node) { m_nodes.push_back(std::move(node)); }
  Nodes take() { return std::move(m_nodes); }

 private:
  std::string m_base;
  AdaptContext& m_context;
  Nodes m_nodes;
};

FileAttribute attribute(std::string name, FileAttributeValue value);
/// Makes an error at the node: it cannot be converted to its newer form.
Diagnostic cannotAdapt(const FileNode& node, std::string why, std::string help);

}  // namespace fusescope::adapting
