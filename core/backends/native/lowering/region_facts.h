#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backends/native/lowering/rounding.h"
#include "backends/native/region_program.h"
#include "backends/native/weight.h"
#include "ir/graph.h"

namespace fusescope::native {

/// The options for lowering a fused node.
struct LoweringOptions {
  std::vector<MemoryFormat> inputFormats, outputFormats;  ///< in the order of the fused node's inputs and outputs
  bool fuse = true;                                       ///< false: node by node ("composite")
  bool ownMatMul = false;  ///< true: our own kernel for matrix products that it supports, instead of oneDNN
  bool ownBytes = false;   ///< true: our own kernels for products of codes
  /// true: convolutions and products use the instructions for the narrow float that they calculate in, if oneDNN
  /// supports this for their operands; false: everything is widened.
  bool narrow = false;
  /// The formats that a convolution inside reads and writes; nothing: oneDNN's preference.
  std::optional<std::pair<MemoryFormat, MemoryFormat>> convFormats;
  bool probe = false;  ///< true: only to learn which kernels would be used; oneDNN generates no code, and the result
                       ///< cannot run
};

/// Returns whether the node only changes the extents of its input.
bool isReshape(const Node& node);
/// Returns the order of axes of a transposition that leaves the last axis in place; empty for other nodes.
std::vector<std::int64_t> orderBeforeLast(const Node& node);
/// Returns the single type of all floats of a fused node that only moves elements, whose floats are not converted.
/// Returns Undefined for other fused nodes.
DataType keptType(const KernelRequest& request);

/// Facts about a fused node that is lowered: its nodes and values, their extents and types, and its constants. It does
/// not know where values are stored in memory (region_places.h).
class RegionFacts {
 public:
  RegionFacts(const KernelRequest& request, LoweringOptions options);

  const KernelRequest& request() const { return m_request; }
  const FusedNode& fused() const { return m_fused; }
  const LoweringOptions& options() const { return m_options; }
  int threads() const { return m_threads; }
  const Node& node(NodeId id) const { return m_graph.node(id); }
  const TensorDesc& desc(ValueId value) const { return m_request.values.at(value); }

  // Rounding.
  const Rounding& rounding() const { return m_rounding; }
  /// Replaces the rounding and returns the previous one.
  Rounding exchangeRounding(Rounding rounding) { return std::exchange(m_rounding, std::move(rounding)); }
  /// Returns whether the nodes are lowered one by one.
  bool isUnfused() const { return !m_options.fuse || m_rounding.differs(); }
  /// Returns whether floats are not converted, because the fused node only moves elements.
  bool keepsFloats() const { return m_kept != DataType::Undefined; }
  /// Sets which node reads the values that are requested from now on. This matters if nodes read one value in several
  /// types.
  void setReader(NodeId reader) { m_reader = reader; }
  /// Returns the type to which nodes round `value` when they read it; Undefined if they do not round it.
  DataType readType(ValueId value) const;
  /// Returns whether nodes round the value when they read it.
  bool isRounded(ValueId value) const;

  // Types and extents.
  /// Returns the type of a value inside the program: f32 for every float, unless keepsFloats().
  DataType typeOf(ValueId value) const;
  Dims dimsOf(ValueId value) const;
  /// Returns the type of a value in the network.
  DataType declaredType(ValueId value) const;
  /// Returns whether the node is a Cast from one float to another.
  bool castsFloats(const Node& node) const;
  /// Returns where the extents of a value are found when those of the fused node change.
  ExtentSource extentsOf(ValueId value) const;
  const RegionExtents& extents() const { return m_extents; }
  /// Records that a value of floats is stored as codes of `type`, from its producer to its last reader.
  void keepAs(ValueId value, DataType type) { m_keptTypes.emplace(value, type); }
  bool isKeptAsCodes(ValueId value) const { return m_keptTypes.contains(value); }

  // Constants.
  bool isConstant(ValueId value) const { return m_folded.contains(value) || m_request.constants.contains(value); }
  /// Returns a constant whose numbers become part of the code; null if the value is not constant. For weights use
  /// weight().
  const Tensor* constant(ValueId value) const;
  /// Returns a constant that only packings read. The value must be a constant.
  Weight weight(ValueId value) const;
  /// Returns it without the rounding of its readers, for packings that round it themselves without an additional copy.
  Weight rawWeight(ValueId value) const;
  /// Returns the number in a constant of one element; nothing for other values.
  std::optional<float> constantNumber(ValueId value) const;
  /// Returns the same number as the node `reader` reads it.
  std::optional<float> numberReadBy(NodeId reader, ValueId value);
  const Dims& constantDims(ValueId value) const;  ///< the value must be a constant
  DataType constantType(ValueId value) const;     ///< the value must be a constant
  /// Returns the narrow float that represents the whole constant exactly, as it is read; Undefined if there is none.
  DataType narrowTypeOf(ValueId constant) const;
  /// Turns results that nodes calculate only from constants into weights, as far as packings can calculate them.
  void foldConstants();
  /// Returns whether the node's result is a weight, so that the node does not run.
  bool isFolded(NodeId node) const { return m_foldedNodes.contains(node); }
  /// Returns the constants whose numbers are part of the code, as indices in KernelRequest::weightSlots.
  std::vector<std::size_t> embedded() const { return {m_embedded.begin(), m_embedded.end()}; }

  // The readers of a value.
  bool isMember(NodeId node) const { return m_members.contains(node); }
  bool isFusedOutput(ValueId value) const { return m_outputIndex.contains(value); }
  /// Returns which output of the fused node the value is; nothing if it is not an output.
  std::optional<std::size_t> outputIndex(ValueId value) const;

 protected:
  // Only the placement of values needs the graph and the readers of values. Emitters get from the bindings of the plan
  // which nodes they run, and never look for the neighbours of a node.
  const Graph& graph() const { return m_graph; }
  /// Returns the nodes of the fused node that read the value.
  std::vector<NodeId> readers(ValueId value) const;
  /// Returns the only reader of a value that nobody else needs.
  std::optional<NodeId> onlyReader(ValueId value) const;

 private:
  const KernelRequest& m_request;
  const Graph& m_graph;
  const FusedNode& m_fused;
  const DataType m_kept;  ///< see keptType()
  Rounding m_rounding;
  NodeId m_reader;
  LoweringOptions m_options;
  int m_threads;
  std::map<ValueId, std::size_t> m_outputIndex;
  std::set<NodeId> m_members;
  RegionExtents m_extents;
  std::map<ValueId, ExtentSource> m_places;  ///< the indices of values in m_extents
  std::map<ValueId, DataType> m_keptTypes;
  std::map<ValueId, std::size_t> m_slots;  ///< the slots of constants
  std::map<ValueId, Weight> m_folded;
  std::set<NodeId> m_foldedNodes;
  /// The numbers of folded constants, and of constants rounded to a type, if the code has needed them.
  mutable std::map<std::pair<ValueId, DataType>, Tensor> m_numbers;
  mutable std::set<std::size_t> m_embedded;
};

}  // namespace fusescope::native
