#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compilers/probed/compiler_input.h"
#include "frontends/tensorrt/engine_log.h"

namespace fusescope {

/// The names that may be parts of a layer's name: names of nodes, of layers that a build log assigns to nodes, and of
/// modules. It is a view: network and log must outlive it.
class KnownNames {
 public:
  KnownNames(const CompilerInput& network, const EngineLog* log);

  /// The name of a node of the file, or nothing.
  using Found = std::optional<std::string>;
  Found exact(std::string_view name) const;        ///< the node with this name, or the node to which the log assigns a
                                                   ///< layer of this name
  Found underscored(std::string_view name) const;  ///< the only node whose name is this one with '.' replaced by '_'
  /// Returns, for a name like "/classifier/1/addmm", with which Torch-TensorRT names layers, the nodes in the module
  /// classifier.1. If `kind` ("CONVOLUTION" or the like) is known, only nodes with a matching operator are returned.
  std::vector<std::string> inModule(std::string_view path, std::string_view kind) const;
  bool isTensor(std::string_view name) const { return m_network.values.contains(name) || m_constants.contains(name); }
  /// Returns whether this may be the name of another node's layer: the name of a node followed by a number.
  bool mayBeNumbered(std::string_view name) const;
  std::size_t longest() const { return m_longest; }  ///< length of the longest exact name

 private:
  const CompilerInput& m_network;
  const EngineLog* m_log;
  std::map<std::string, std::vector<std::string>, std::less<>> m_underscored, m_byModule;
  std::map<std::string, std::string, std::less<>> m_opOf;  ///< by node of the file
  std::set<std::string, std::less<>> m_constants;          ///< names of constants of the file
  std::size_t m_longest = 0;
};

/// The information in the name of a layer.
struct LayerName {
  std::vector<std::string> nodes{};                           ///< names of nodes of the file
  std::vector<std::string> likely{};                          ///< nodes that are possibly meant
  std::vector<std::string> unknown{};                         ///< parts that name nothing in the network
  std::optional<std::pair<std::string, std::string>> ends{};  ///< both ends in "{ForeignNode[a...b]}"
  bool isInserted = false;  ///< TensorRT added it to convert, copy or reshape for another layer
};

/// Parses names such as "A + B", "A || B", "PWN(A, B)", "{ForeignNode[A...B]}" and "Reformatting CopyNode for Input
/// Tensor 0 to A". Names of nodes may contain any of these characters, so that the longest known names are matched
/// first.
LayerName readLayerName(std::string_view name, const KnownNames& known);

/// Returns LayerName::isInserted without a network, from the beginning of the name.
bool isInsertedLayer(std::string_view name);

}  // namespace fusescope
