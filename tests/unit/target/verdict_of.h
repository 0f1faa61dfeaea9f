#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/graph.h"
#include "target/node_types.h"
#include "target/target.h"

namespace fusescope {

/// The verdict on the last node of a graph, whose values have the types they declare.
inline Decision verdict(const std::string& target, const std::string& lines) {
  const auto graph = parseGraph("graph \"g\" {\n" + lines + "\n}");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().text());
  const Node& node = graph.value()->node(graph.value()->order().back());
  const NodeTypes types =
      typesOf(*graph.value(), node, [&](ValueId value) { return graph.value()->value(value).type.dtype; });
  return validateNode(Target::fromName(target).value(), *graph.value(), node, types.inputs, types.outputs).why;
}

/// The verdict on `op` of one input and output of these types.
inline Decision onOne(const std::string& target, const std::string& op, const std::string& type,
                      const std::string& attributes = "", const std::string& result = {}) {
  return verdict(target, "input %x: " + type + "\n%y: " + (result.empty() ? type : result) + " = " + op + "(%x) " +
                             attributes + " {name=\"n\"}\noutput %y");
}

inline bool says(const Decision& decision, std::string_view part) {
  return message(decision).find(part) != std::string::npos;
}

}  // namespace fusescope
