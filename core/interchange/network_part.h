#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/tensor.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// The producers and readers of the values in a file's main graph. Nodes are identified by their index in the file.
/// Bodies belong to their holders: what they read from outside is read by the holder. The file must outlive it.
class FileValues {
 public:
  explicit FileValues(const onnxlib::FileGraph& graph);

  /// What a value depends on, which decides how a part gets a value that it reads but does not make.
  enum class Depends {
    Weights,  ///< only on weights
    Extents,  ///< on weights and extents of tensors
    Data      ///< on the data that the network is run on
  };

  const std::vector<std::string>& reads(std::size_t node) const { return m_reads[node]; }  ///< without duplicates
  /// Returns the node that makes `value`; -1 if it is an input, a weight, or unknown.
  std::ptrdiff_t maker(const std::string& value) const;
  const std::vector<std::size_t>& readers(const std::string& value) const;
  bool isWeight(const std::string& value) const { return m_weights.contains(value); }  ///< whether it is an initializer
  bool isInput(const std::string& value) const { return m_inputs.contains(value); }
  bool isOutput(const std::string& value) const { return m_outputs.contains(value); }
  bool isKnown(const std::string& value) const;
  Depends depends(const std::string& value) const;
  std::vector<std::string> allNames() const;

  const onnxlib::FileGraph& graph() const { return m_graph; }

 private:
  void classify();

  const onnxlib::FileGraph& m_graph;
  std::vector<std::vector<std::string>> m_reads;
  std::map<std::string, std::size_t, std::less<>> m_makers;
  std::map<std::string, std::vector<std::size_t>, std::less<>> m_readers;
  std::set<std::string, std::less<>> m_weights, m_inputs, m_outputs;
  std::vector<Depends> m_dependsOn;  ///< by node
};

/// A part of a network, as nodes of its file.
struct NetworkPart {
  std::set<std::size_t> nodes;          ///< all nodes of the part
  std::set<std::size_t> constantNodes;  ///< those of them that only calculate values from weights and extents for the
                                        ///< others
  std::vector<std::string> inputs;   ///< values that the nodes read and none of them makes, in the order in which they
                                     ///< are read
  std::vector<std::string> frozen;   ///< values that they read and that are constants of the network; they become
                                     ///< weights
  std::vector<std::string> outputs;  ///< values that they make and that are read outside, are read by nobody, or are
                                     ///< outputs
};

/// Facts about a network that are not in its file.
struct PartFacts {
  std::function<bool(const std::string& value)> isConstant;  ///< normalisation made it a constant with known data
  std::function<bool(std::size_t node)> isRemoved;           ///< normalisation removed the node without a replacement
};

/// Returns the part with the nodes `chosen`. It includes nodes between them that normalisation removed, and nodes that
/// calculate values from weights and extents for them. Errors: no node is chosen.
Result<NetworkPart> partOfNodes(const FileValues& values, const std::set<std::size_t>& chosen, const PartFacts& facts);

/// Returns the part between two sets of values: the nodes that calculate `to` from `from`. An empty `from` means the
/// inputs of the network, an empty `to` its outputs. Other values that the nodes read become inputs of the part too.
/// Errors: a name that the network does not have, a value of `to` that does not depend on `from`, a value of `from`
/// that nothing between them reads.
Result<NetworkPart> partBetween(const FileValues& values, const std::vector<std::string>& from,
                                const std::vector<std::string>& to, const PartFacts& facts);

/// Returns the part that calculates `outputs` from the inputs of the network. All of them must be results of nodes.
NetworkPart partThatMakes(const FileValues& values, const std::vector<std::string>& outputs);

}  // namespace fusescope
