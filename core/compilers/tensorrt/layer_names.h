#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compilers/probed/handed_network.h"
#include "frontends/tensorrt/engine_log.h"

namespace fusescope {

/// The names that a layer's name may be made of: of the nodes of a network, of layers that the log of a build says are
/// of nodes, and of modules. Views: network and log must outlive it.
class KnownNames {
 public:
  KnownNames(const HandedNetwork& network, const EngineLog* log);

  /// A node of the file, or nothing.
  using Found = std::optional<std::string>;
  Found exact(std::string_view name) const;        ///< that is called so, or that the log says the layer is of
  Found underscored(std::string_view name) const;  ///< the only one whose name is this with '_' for '.'
  /// Of "/classifier/1/addmm", as Torch-TensorRT names layers: the nodes in the module classifier.1, by their operators
  /// where `kind`, "CONVOLUTION" or the like, is known.
  std::vector<std::string> inModule(std::string_view path, std::string_view kind) const;
  bool isTensor(std::string_view name) const { return m_network.values.contains(name) || m_constants.contains(name); }
  /// Whether a layer of another node may have got this name: the name of a node and a number behind it.
  bool mayBeNumbered(std::string_view name) const;
  std::size_t longest() const { return m_longest; }  ///< of all exact names

 private:
  const HandedNetwork& m_network;
  const EngineLog* m_log;
  std::map<std::string, std::vector<std::string>, std::less<>> m_underscored, m_byModule;
  std::map<std::string, std::string, std::less<>> m_opOf;  ///< by node of the file
  std::set<std::string, std::less<>> m_constants;          ///< of the file
  std::size_t m_longest = 0;
};

/// What the name of a layer says.
struct LayerName {
  std::vector<std::string> nodes{};    ///< of the file, by their names
  std::vector<std::string> likely{};   ///< that may be meant
  std::vector<std::string> unknown{};  ///< parts that name nothing of the network
  std::optional<std::pair<std::string, std::string>>
      ends{};               ///< "{ForeignNode[a...b]}": what stands there of both ends
  bool isInserted = false;  ///< TensorRT put it in: it converts, copies or reshapes for the sake of another
};

/// "A + B", "A || B", "PWN(A, B)", "{ForeignNode[A...B]}", "Reformatting CopyNode for Input Tensor 0 to A", …: names of
/// nodes may hold any of these marks, so that the longest known names count first.
LayerName readLayerName(std::string_view name, const KnownNames& known);

/// LayerName::isInserted where no network is known: by how the whole name begins.
bool isInsertedLayer(std::string_view name);

}  // namespace fusescope
