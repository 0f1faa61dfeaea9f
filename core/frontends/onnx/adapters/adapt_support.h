#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/adapters.h"

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
/// Puts `value` into input slot `slot`, with absent inputs before it if need be.
void setInput(FileNode& node, std::size_t slot, std::string value);
bool hasInput(const FileNode& node, std::size_t slot);
bool hasOutput(const FileNode& node, std::size_t slot);

/// An attribute of integers that became an input; without it the input stays absent.
void intsToInput(FileNode& node, AdaptContext& context, const std::string& key, std::size_t slot);
/// An attribute of one number that became an input of the type of input 0.
void numberToInput(FileNode& node, AdaptContext& context, Nodes& before, const std::string& key, std::size_t slot);

/// Several nodes that stand for one: collects them and names what is between them `<node>/<what>`.
class Expansion {
 public:
  Expansion(const FileNode& node, AdaptContext& context) : m_base(node.displayName()), m_context(context) {}

  /// A node of one output; returns the output's name.
  std::string add(const std::string& what, const std::string& op, std::vector<std::string> inputs,
                  std::vector<FileAttribute> attributes = {});
  /// A node that writes `output`.
  void addTo(const std::string& output, const std::string& what, const std::string& op, std::vector<std::string> inputs,
             std::vector<FileAttribute> attributes = {});
  std::string value(const std::string& what) { return m_context.freshValue(m_base + "/" + what); }
  std::string ints(const std::string& what, Ints values);
  /// `number` as a scalar of the element type of the value `like`.
  std::string numberLike(const std::string& what, float number, const std::string& like);
  void append(FileNode node) { m_nodes.push_back(std::move(node)); }
  Nodes take() { return std::move(m_nodes); }

 private:
  std::string m_base;
  AdaptContext& m_context;
  Nodes m_nodes;
};

FileAttribute attribute(std::string name, FileAttributeValue value);
/// An error at the node: it cannot be brought to its newer form.
Diagnostic cannotAdapt(const FileNode& node, std::string why, std::string help);

}  // namespace fusescope::adapting
