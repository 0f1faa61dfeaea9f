#include "base/result.h"

#include <algorithm>
#include <string_view>

namespace fusescope {
namespace {

/// Returns what the attribute of a location is called: an attribute of a node, an option or argument of a command, or a
/// key of a file.
std::string_view kindOfAttribute(const Location& where) {
  if (where.attribute.starts_with('-')) return "option '";
  const bool isArgument = std::ranges::all_of(where.attribute, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (isArgument && where.node.empty()) return "argument '";
  return where.node.empty() ? "key '" : "attribute '";
}

}  // namespace

std::string Diagnostic::text() const {
  std::string line;
  const auto part = [&line](std::string_view label, const std::string& name) {
    if (name.empty()) return;
    line += label;
    line += name;
    line += label.empty() ? ": " : "': ";
  };
  part("", where.file);
  part("node '", where.node);
  part("tensor '", where.value);
  part(kindOfAttribute(where), where.attribute);
  line += message;
  if (!help.empty()) line += (line.ends_with('.') ? " " : ". ") + help;  // messages of other programs end with a period
  return line;
}

}  // namespace fusescope
