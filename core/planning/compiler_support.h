#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// How a compiler's verdict on a node was found out.
enum class FoundBy {
  Parser,  ///< it was asked before anything was compiled
  Build    ///< it gave up while it compiled
};
std::string_view name(FoundBy by);  ///< "parser", "build"

/// What a compiler says of a node of a network.
struct NodeSupport {
  std::string node;           ///< its name
  std::optional<bool> taken;  ///< null: the compiler does not say
  /// The reason code from the decision catalogue; empty if the node is accepted or if the compiler does not say.
  std::string code;
  std::string message;  ///< the compiler's own words; empty: it has none
  FoundBy foundBy = FoundBy::Parser;
  bool operator==(const NodeSupport&) const = default;
};

/// What the compiler that a plan is for says of the nodes of its network: what it refuses falls back.
struct CompilerSupport {
  std::vector<NodeSupport> nodes;  ///< in the order of the graph; nodes that nothing is said of may be missing
  const NodeSupport* find(std::string_view node) const;  ///< null: nothing is said of it
  bool operator==(const CompilerSupport&) const = default;
};

Json toJson(const NodeSupport& support);
Json toJson(const CompilerSupport& support);
/// `place`: of the list in the document, for errors.
Result<CompilerSupport> compilerSupportFromJson(const Json& json, const std::string& place);

}  // namespace fusescope
