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

/// Who makes and who reads the values of a file's main graph. Nodes are given by their places in the file's list.
/// Bodies count as parts of their holders: what they read from outside is read by the holder. The file must outlive it.
class FileValues {
 public:
  explicit FileValues(const onnxlib::FileGraph& graph);

  /// What becomes of a value where a part reads it that does not make it.
  enum class Depends {
    Weights,  ///< it is made of weights alone
    Extents,  ///< it is made of weights and of extents of tensors
    Data      ///< it is made of what the network is run on
  };

  const std::vector<std::string>& reads(std::size_t node) const { return m_reads[node]; }  ///< each once
  /// The node that makes `value`; -1: it is an input, a weight, or unknown.
  std::ptrdiff_t maker(const std::string& value) const;
  const std::vector<std::size_t>& readers(const std::string& value) const;
  bool isWeight(const std::string& value) const { return m_weights.contains(value); }  ///< an initializer
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

/// A part of a network in the nodes of its file.
struct NetworkPart {
  std::set<std::size_t> nodes;       ///< all that stand in the part
  std::set<std::size_t> goAlong;     ///< of them: those that make values of weights and extents alone for the others
  std::vector<std::string> inputs;   ///< what the nodes read and none of them makes, in the order of their reading
  std::vector<std::string> frozen;   ///< what they read that is a constant of the network: it becomes a weight
  std::vector<std::string> outputs;  ///< what they make that is read outside, by nobody, or is an output
};

/// What is known of a network beside its file.
struct PartFacts {
  std::function<bool(const std::string& value)> isConstant;  ///< normalisation made it a constant whose data is known
  std::function<bool(std::size_t node)> isRemoved;           ///< normalisation left no node in its place
};

/// The part of the nodes `chosen`. Nodes that normalisation removed between them stand in it, too; what they read of
/// weights and extents alone is made in the part. Errors: none is chosen.
Result<NetworkPart> partOfNodes(const FileValues& values, const std::set<std::size_t>& chosen, const PartFacts& facts);

/// The part between two sets of values: the nodes that make `to` out of `from`. An empty `from` means the inputs of the
/// network, an empty `to` its outputs. What else the nodes read is an input of the part as well. Errors: a name that
/// the network has not, a value of `to` that is not made of `from`, one of `from` that nothing between them reads.
Result<NetworkPart> partBetween(const FileValues& values, const std::vector<std::string>& from,
                                const std::vector<std::string>& to, const PartFacts& facts);

/// The part that makes `outputs` out of the inputs of the network. All of them are made by nodes.
NetworkPart partThatMakes(const FileValues& values, const std::vector<std::string>& outputs);

}  // namespace fusescope
