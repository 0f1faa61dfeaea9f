#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "base/json_fwd.h"

namespace fusescope {

class Graph;
struct Node;
struct Subgraph;

/// A step into a body: the holder, and which of its bodies it is.
struct BodyPathStep {
  std::string holder;     ///< the holder's name in the graph that contains it
  std::string attribute;  ///< "then_branch", "else_branch", "body"
  /// Names that occur in another body of the same holder as well; for these, the text of a place must include the
  /// attribute. Null: the text always includes it.
  std::shared_ptr<const std::set<std::string, std::less<>>> shared{};

  auto operator<=>(const BodyPathStep& other) const {
    return std::tie(holder, attribute) <=> std::tie(other.holder, other.attribute);
  }
  bool operator==(const BodyPathStep& other) const { return (*this <=> other) == 0; }
};

struct NetworkPlace;

/// The bodies around something, from the outside in. If it is empty, the thing is in the network itself. A name is
/// unique only in its graph; together with the bodies around it, it is unique in the network.
class BodyPath {
 public:
  BodyPath() = default;
  explicit BodyPath(std::vector<BodyPathStep> steps) : m_steps(std::move(steps)) {}

  const std::vector<BodyPathStep>& steps() const { return m_steps; }
  bool isNetwork() const { return m_steps.empty(); }
  /// Returns the path of a body of `holder`, a node in the innermost body. Texts of places include the attribute only
  /// where it is needed; if only the name of the holder is given, they always include it.
  BodyPath into(const Node& holder, const std::string& attribute) const;
  BodyPath into(std::string holder, std::string attribute) const;
  /// Returns this path, which is relative to the body `outer`, relative to the graph that contains `outer`.
  BodyPath within(const BodyPath& outer) const;
  /// Returns "HOLDER/ATTRIBUTE" or "HOLDER/ATTRIBUTE/HOLDER/ATTRIBUTE"; empty for the network.
  std::string text() const;
  /// Returns the place of a name in this body: "HOLDER/NAME", or "HOLDER/ATTRIBUTE/NAME" if another body of the holder
  /// has the same name; in the network "NAME".
  std::string of(std::string_view name) const;
  /// Returns "HOLDER/ATTRIBUTE/NAME", even if HOLDER/NAME is unique. It is for texts that are not names of a graph,
  /// such as handles.
  std::string exactly(std::string_view name) const;

  /// Returns the innermost holder, or nothing for the network.
  std::optional<NetworkPlace> holder() const;

  auto operator<=>(const BodyPath&) const = default;
  bool operator==(const BodyPath&) const = default;

 private:
  std::vector<BodyPathStep> m_steps;
};

/// Converts a path to a list of {"holder", "attribute"} and back. bodyPathFromJson() throws Json::exception if the JSON
/// is not such a list.
Json toJson(const BodyPath& path);
BodyPath bodyPathFromJson(const Json& json);

/// A named thing, and the bodies that contain it.
struct NetworkPlace {
  BodyPath bodies;
  std::string name;  ///< the name in the innermost body

  std::string text() const { return bodies.of(name); }
  auto operator<=>(const NetworkPlace&) const = default;
  bool operator==(const NetworkPlace&) const = default;
};

/// Makes the place that `text` names, given the bodies that contain it; text() of the result is `text`.
NetworkPlace placeFromText(const BodyPath& bodies, std::string_view text);

/// A body that the beginning of a text names, and the rest of the text.
struct NamedBody {
  NodeId holder;
  std::string attribute;
  const Subgraph* body = nullptr;
  std::string_view rest;
};

/// Finds the bodies to which a prefix of `text` refers: "HOLDER/ATTRIBUTE/REST" refers to that body, and "HOLDER/REST",
/// as people type it, to each body of the holder. Names may contain slashes, so that several nodes may match. The
/// result refers to `graph` and `text`.
std::vector<NamedBody> bodiesNamed(const Graph& graph, std::string_view text);
/// Does the same if the nodes of `graph` that have bodies are already known.
std::vector<NamedBody> bodiesNamed(const Graph& graph, const std::vector<NodeId>& holders, std::string_view text);

}  // namespace fusescope
