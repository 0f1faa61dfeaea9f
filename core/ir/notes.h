#pragma once

#include <string_view>

namespace fusescope {

// Attributes of nodes that are notes: they say where a node comes from, and never what it does. Nodes that differ in
// notes alone are the same operator to whoever compares them.

/// The attribute that holds the place in its author's program where a node was written: the frames of the call as
/// Python prints them, the innermost one last.
inline constexpr std::string_view kSourceNote = "@source";

/// Whether an attribute of this name is a note. No operator has an attribute whose name begins so.
constexpr bool isNote(std::string_view attribute) {
  return attribute.starts_with('@');
}

}  // namespace fusescope
