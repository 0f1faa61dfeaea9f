#include "frontends/torch/input_tree.h"

#include <algorithm>

#include "base/json.h"

namespace fusescope::torch {
namespace {

using Kind = PickleValue::Kind;

/// Returns the children of a node of the tree, or null if it is not a node.
const Json* childrenOf(const Json& node) {
  if (!node.is_object()) return nullptr;
  const auto children = node.find("children_spec");
  return children != node.end() && children->is_array() ? &*children : nullptr;
}

bool isLeaf(const Json& node) {
  return node.is_object() && node.contains("type") && node.at("type").is_null();
}

std::size_t leavesOf(const Json& node) {
  if (isLeaf(node)) return 1;
  std::size_t count = 0;
  if (const Json* children = childrenOf(node))
    for (const Json& child : *children) count += leavesOf(child);
  return count;
}

/// Returns the tuple of arguments and the dictionary of keyword arguments, or null if the tree has another form.
const Json* argumentsOf(const Json& tree) {
  if (!tree.is_array() || tree.size() != 2) return nullptr;
  const Json* both = childrenOf(tree[1]);
  return both != nullptr && both->size() == 2 ? both : nullptr;
}

/// Returns the names of the keyword arguments, in order.
std::vector<std::string> keywordsOf(const Json& tree) {
  std::vector<std::string> names;
  const Json* both = argumentsOf(tree);
  if (both == nullptr || !(*both)[1].is_object()) return names;
  const Json context = (*both)[1].value("context", Json());
  if (!context.is_string()) return names;
  const Json keys = Json::parse(context.get<std::string>(), nullptr, false);
  if (!keys.is_array()) return names;
  for (const Json& key : keys)
    if (key.is_string()) names.push_back(key.get<std::string>());
  return names;
}

void addLeaves(const Pickle& pickle, std::uint32_t index, std::vector<std::uint32_t>& leaves) {
  const PickleValue& value = pickle.at(index);
  if (value.kind == Kind::List || value.kind == Kind::Tuple) {
    for (const std::uint32_t item : value.items) addLeaves(pickle, item, leaves);
  } else if (value.kind == Kind::Dict) {
    for (std::size_t i = 1; i < value.items.size(); i += 2) addLeaves(pickle, value.items[i], leaves);
  } else {
    leaves.push_back(index);
  }
}

}  // namespace

std::vector<std::string> leafNames(const Json& tree, const std::vector<std::string>& argumentNames) {
  std::vector<std::string> names;
  const Json* both = argumentsOf(tree);
  if (both == nullptr) return names;
  std::size_t argument = 0;
  for (const Json& part : *both) {
    const Json* children = childrenOf(part);
    if (children == nullptr) return {};
    for (const Json& child : *children) {
      const bool isNamed = isLeaf(child) && argument < argumentNames.size();
      names.insert(names.end(), leavesOf(child), isNamed ? argumentNames[argument] : std::string());
      ++argument;
    }
  }
  return names;
}

Result<std::vector<std::uint32_t>> exampleLeaves(const Json& tree, const Pickle& examples) {
  const PickleValue& top = examples.top();
  const bool isPair = top.kind == Kind::Tuple && top.items.size() == 2 &&
                      examples.at(top.items[0]).kind == Kind::Tuple && examples.at(top.items[1]).kind == Kind::Dict;
  if (!isPair) return Diagnostic{.message = "contains something other than arguments and keyword arguments"};
  std::vector<std::uint32_t> leaves;
  addLeaves(examples, top.items[0], leaves);
  const std::vector<std::uint32_t>& keywords = examples.at(top.items[1]).items;
  const std::vector<std::string> order = keywordsOf(tree);
  std::vector<std::pair<std::size_t, std::uint32_t>> placed;
  for (std::size_t i = 0; i + 1 < keywords.size(); i += 2) {
    const auto place = std::ranges::find(order, examples.at(keywords[i]).text);
    placed.emplace_back(static_cast<std::size_t>(place - order.begin()), keywords[i + 1]);
  }
  std::ranges::stable_sort(placed, {}, [](const auto& one) { return one.first; });
  for (const auto& [place, value] : placed) addLeaves(examples, value, leaves);
  return leaves;
}

}  // namespace fusescope::torch
