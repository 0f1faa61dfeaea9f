#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/model.h"
#include "tests/mutation/dice.h"

namespace fusescope::property {

using mutation::Dice;
using Attributes = std::map<std::string, Attribute>;

/// What a random network may hold.
struct NetworkKind {
  bool f32Only = false;  ///< no float narrower or wider than f32 anywhere
  bool smooth = false;   ///< a small change of its inputs changes results a little: no rounding, comparison, index
  bool runnable = true;  ///< every operator has a kernel
  int bodies = 0;        ///< how deep nodes with bodies may stand in one another
  bool inBody = false;   ///< it is a body itself, whose inputs its holder gives
};

/// Grows a network from a seed: the same on every machine. Every node is its own origin; all weights have data.
class GraphMaker {
 public:
  GraphMaker(std::uint64_t seed, NetworkKind kind);

  /// Adds blocks until there are about `nodes` nodes, then makes outputs of what nobody reads and of some that others
  /// read.
  std::shared_ptr<const Model> make(std::size_t nodes);

  // A body is grown by a maker of its own.
  ValueId addInput(const std::string& name, TensorType type);
  void grow(std::size_t nodes);
  /// A late value of the type and extents of `value`, or itself.
  ValueId like(ValueId value) const;
  std::shared_ptr<const Graph> publishBody(const std::vector<ValueId>& outputs);

  // What blocks are written with.
  std::size_t nodeCount() const { return m_nodes; }
  Dice& dice() { return m_dice; }
  const NetworkKind& kind() const { return m_kind; }
  DataType typeOf(ValueId value) const;
  Dims dimsOf(ValueId value) const;
  std::size_t rankOf(ValueId value) const { return dimsOf(value).size(); }
  /// A value that holds floats, preferably a late one.
  ValueId pick();
  /// One that joins `value` element by element: of its type, and of extents that broadcast to its; else invalid.
  ValueId pickPartner(ValueId value);
  /// Adds a node if its operands suit it, and gives its first output; invalid if they do not.
  ValueId apply(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {});
  std::vector<ValueId> applyMany(const std::string& op, std::vector<ValueId> inputs, std::size_t outputs,
                                 Attributes attributes = {});
  /// A node of an operator that nobody knows, with a result of the type of its operand.
  ValueId applyUnknown(ValueId input);
  ValueId weight(Dims dims, DataType type, double scale = 1);  ///< normally distributed around 0
  ValueId positive(Dims dims, DataType type);                  ///< between 0.5 and 2
  ValueId number(double value, DataType type);                 ///< a scalar
  ValueId integers(std::vector<std::int64_t> values);
  ValueId constant(Tensor tensor) { return m_editor.addConstant("w" + std::to_string(m_names++), std::move(tensor)); }
  double normal();

 private:
  void addInputs();
  void addBlock();

  Dice m_dice;
  NetworkKind m_kind;
  GraphEditor m_editor;
  Model m_model;
  std::vector<ValueId> m_floats;  ///< what blocks may read
  std::size_t m_nodes = 0, m_names = 0;
};

/// A network for other compilers: of any kind, some with bodies in bodies, of up to 45 nodes or so. Kind and size are
/// of `dice`. It is prepared; null: it could not be made.
std::shared_ptr<const Model> randomNetwork(std::uint64_t seed, Dice& dice);

/// Blocks: one way each to grow the network from `x`.
using Block = void (*)(GraphMaker&, ValueId x);
const std::vector<Block>& simpleBlocks();
const std::vector<Block>& kernelBlocks();    ///< what fusion rules look for
const std::vector<Block>& unsmoothBlocks();  ///< integers, indices, comparisons, quantisation
const std::vector<Block>& typeBlocks();      ///< Casts between floats
const std::vector<Block>& controlBlocks();   ///< If, Loop and Scan

}  // namespace fusescope::property
