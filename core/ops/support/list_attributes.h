#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace fusescope::ops {

/// Returns an attribute that is a list of floats or texts; empty if it is absent. The kind of the attribute must have
/// been checked.
template <class T>
std::vector<T> listAttribute(const Node& node, const std::string& key) {
  const auto found = node.attributes.find(key);
  const auto* list = found == node.attributes.end() ? nullptr : std::get_if<std::vector<T>>(&found->second);
  return list == nullptr ? std::vector<T>() : *list;
}

}  // namespace fusescope::ops
