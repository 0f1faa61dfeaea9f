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

#include "base/json.h"
#include "ir/graph.h"

namespace fusescope {

/// A step into a body: the node that holds it, and which of its bodies it is.
struct HeldBody {
  std::string holder;     ///< the node's name in the graph that it lies in
  std::string attribute;  ///< "then_branch", "else_branch", "body"
  /// Names that occur in another body of the same holder as well; for these, the text of a place must include the
  /// attribute. Null: the text always includes it.
  std::shared_ptr<const std::set<std::string, std::less<>>> shared{};

  auto operator<=>(const HeldBody& other) const {
    return std::tie(holder, attribute) <=> std::tie(other.holder, other.attribute);
  }
  bool operator==(const HeldBody& other) const { return (*this <=> other) == 0; }
};

struct NetworkPlace;

/// The bodies around something, from the outside in; none: it is in the network itself. A name is unique in its graph
/// alone: with the bodies around it, it is unique in the network.
class BodyPath {
 public:
  BodyPath() = default;
  explicit BodyPath(std::vector<HeldBody> steps) : m_steps(std::move(steps)) {}

  const std::vector<HeldBody>& steps() const { return m_steps; }
  bool isNetwork() const { return m_steps.empty(); }
  /// One body further in. Texts say which body of `holder` it is where they must, of a holder's name alone always.
  BodyPath into(const Node& holder, const std::string& attribute) const;
  BodyPath into(std::string holder, std::string attribute) const;
  /// The same seen from the graph around `outer`, a body of it.
  BodyPath within(const BodyPath& outer) const;
  /// "HOLDER/ATTRIBUTE", "HOLDER/ATTRIBUTE/HOLDER/ATTRIBUTE"; empty: the network.
  std::string text() const;
  /// "HOLDER/NAME"; "HOLDER/ATTRIBUTE/NAME" where another body of the holder has such a name; in the network "NAME".
  std::string of(std::string_view name) const;
  /// "HOLDER/ATTRIBUTE/NAME", also where HOLDER/NAME would do: for what is no name of a graph, as handles.
  std::string exactly(std::string_view name) const;

  /// The innermost holder; nothing for the network.
  std::optional<NetworkPlace> holder() const;

  auto operator<=>(const BodyPath&) const = default;
  bool operator==(const BodyPath&) const = default;

 private:
  std::vector<HeldBody> m_steps;
};

/// A list of {"holder", "attribute"}. The second throws Json::exception for what is none.
Json toJson(const BodyPath& path);
BodyPath bodyPathFromJson(const Json& json);

/// A thing with a name, and the bodies that it is in.
struct NetworkPlace {
  BodyPath bodies;
  std::string name;  ///< in the innermost of them

  std::string text() const { return bodies.of(name); }
  auto operator<=>(const NetworkPlace&) const = default;
  bool operator==(const NetworkPlace&) const = default;
};

/// What the text of a place says of which the bodies are known, so that text() gives it back.
NetworkPlace placeFromText(const BodyPath& bodies, std::string_view text);

/// A body that a text leads into, and what of the text is left behind it.
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
/// The same, where the nodes of `graph` with bodies are known.
std::vector<NamedBody> bodiesNamed(const Graph& graph, const std::vector<NodeId>& holders, std::string_view text);

}  // namespace fusescope
