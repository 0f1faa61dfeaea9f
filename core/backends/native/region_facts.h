#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backends/native/program.h"
#include "backends/native/rounding.h"
#include "backends/native/weight.h"

namespace fusescope::native {

/// How a fused node is to be lowered.
struct LoweringOptions {
  std::vector<MemoryFormat> inputFormats, outputFormats;  ///< as the fused node's inputs and outputs
  bool fuse = true;                                       ///< false: node by node ("composite")
  bool ownMatMul = false;  ///< matrix products by our own kernel where it can, else by oneDNN
  bool ownBytes = false;   ///< products of codes by our own kernels
  /// Convolutions and products by instructions of the narrow float that they calculate in, where oneDNN has them for
  /// what lies in it; else all is widened.
  bool narrow = false;
  /// What a convolution inside reads and writes; nothing: what oneDNN prefers.
  std::optional<std::pair<MemoryFormat, MemoryFormat>> convFormats;
  bool probe = false;  ///< only to learn what it would be: oneDNN generates no code, the kernel cannot run
};

/// Whether the node gives the same elements other extents.
bool isReshape(const Node& node);
/// The order of axes of a transposition that keeps the last axis where it is; empty for other nodes.
std::vector<std::int64_t> orderBeforeLast(const Node& node);
/// The one type of all floats of a fused node that only moves elements: they stay what they are. Undefined for others.
DataType keptType(const KernelRequest& request);

/// What is known of a fused node that is lowered: its nodes and values, their extents and types, and its
/// constants. It says nothing about where values lie in memory (region_places.h).
class RegionFacts {
 public:
  RegionFacts(const KernelRequest& request, LoweringOptions options);

  const KernelRequest& request() const { return m_request; }
  const Graph& graph() const { return m_graph; }
  const FusedNode& fused() const { return m_fused; }
  const LoweringOptions& options() const { return m_options; }
  int threads() const { return m_threads; }
  const Node& node(NodeId id) const { return m_graph.node(id); }
  const TensorDesc& desc(ValueId value) const { return m_request.values.at(value); }

  // Rounding.
  const Rounding& rounding() const { return m_rounding; }
  /// Replaces the rounding and returns the one that held before.
  Rounding exchangeRounding(Rounding rounding) { return std::exchange(m_rounding, std::move(rounding)); }
  /// Whether the nodes are lowered one by one.
  bool isUnfused() const { return !m_options.fuse || m_rounding.differs(); }
  /// Whether floats stay what they are, because the fused node only moves elements.
  bool keepsFloats() const { return m_kept != DataType::Undefined; }
  /// Says which node reads what is asked for from now on. It matters where nodes read one value at several types.
  void setReader(NodeId reader) { m_reader = reader; }
  /// The type to which nodes round `value` where they read it; Undefined if they do not.
  DataType readType(ValueId value) const;
  /// Whether the value is rounded where nodes read it.
  bool isRounded(ValueId value) const;

  // Types and extents.
  /// The type of a value inside the program: f32 for every float, unless keepsFloats().
  DataType typeOf(ValueId value) const;
  Dims dimsOf(ValueId value) const;
  /// Where the extents of a value are found when those of the fused node change.
  ExtentsOf extentsOf(ValueId value) const;
  const RegionExtents& extents() const { return m_extents; }
  /// Says that a value of floats stands in memory as codes of `type`, from where it is made until it is read last.
  void holdAs(ValueId value, DataType type) { m_heldTypes.emplace(value, type); }
  bool isHeldAsCodes(ValueId value) const { return m_heldTypes.contains(value); }

  // Constants.
  bool isConstant(ValueId value) const { return m_folded.contains(value) || m_request.constants.contains(value); }
  /// A constant whose numbers become part of the code; null for what is no constant. Weights are for weight().
  const Tensor* constant(ValueId value) const;
  /// A constant that only packings read. The value must be a constant.
  Weight weight(ValueId value) const;
  /// The same before it is rounded as it is read: for packings that round it themselves, without a copy in between.
  Weight rawWeight(ValueId value) const;
  /// The number of a constant of one element; nothing for other values.
  std::optional<float> constantNumber(ValueId value) const;
  /// The same as the node `reader` reads it.
  std::optional<float> numberReadBy(NodeId reader, ValueId value);
  const Dims& constantDims(ValueId value) const;  ///< the value must be a constant
  DataType constantType(ValueId value) const;     ///< the value must be a constant
  /// The narrow float that holds all of a constant as it is read; Undefined if there is none.
  DataType narrowTypeOf(ValueId constant) const;
  /// Makes weights of what nodes calculate of constants alone, as far as packings can calculate it.
  void foldConstants();
  /// Whether the node's result is a weight, so that the node does not run.
  bool isFolded(NodeId node) const { return m_foldedNodes.contains(node); }
  /// The node inside that makes a constant of other constants; null for a constant from outside.
  const Node* foldedBy(ValueId value) const;
  /// The constants whose numbers the code holds, as places in KernelRequest::weightSlots.
  std::vector<std::size_t> embedded() const { return {m_embedded.begin(), m_embedded.end()}; }

  // Who needs a value.
  bool isMember(NodeId node) const { return m_members.contains(node); }
  bool isFusedOutput(ValueId value) const { return m_outputIndex.contains(value); }
  /// Which output of the fused node the value is; nothing if it is none.
  std::optional<std::size_t> outputIndex(ValueId value) const;
  /// Whether one node of the fused node reads the value, once, and nobody else needs it.
  bool isReadOnce(ValueId value) const;

 protected:
  // Where values lie depends on who reads them. Emitters take what they run from the bindings of the plan, and walk
  // from no value to its reader.
  /// The nodes inside that read the value.
  std::vector<NodeId> readers(ValueId value) const;
  /// The only reader of a value that nobody else needs.
  std::optional<NodeId> onlyReader(ValueId value) const;

 private:
  const KernelRequest& m_request;
  const Graph& m_graph;
  const FusedNode& m_fused;
  const DataType m_kept;  ///< as keptType()
  Rounding m_rounding;
  NodeId m_reader;
  LoweringOptions m_options;
  int m_threads;
  std::map<ValueId, std::size_t> m_outputIndex;
  std::set<NodeId> m_members;
  RegionExtents m_extents;
  std::map<ValueId, ExtentsOf> m_places;  ///< in m_extents
  std::map<ValueId, DataType> m_heldTypes;
  std::map<ValueId, std::size_t> m_slots;  ///< of constants
  std::map<ValueId, Weight> m_folded;
  std::set<NodeId> m_foldedNodes;
  /// The numbers of folded constants, and of constants as they are rounded to a type, as far as the code holds them.
  mutable std::map<std::pair<ValueId, DataType>, Tensor> m_numbers;
  mutable std::set<std::size_t> m_embedded;
};

}  // namespace fusescope::native
