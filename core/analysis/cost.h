#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/ids.h"
#include "ir/model.h"

namespace fusescope {

class Graph;
struct Node;

/// The extents of a model's values for one choice of the open extents of its inputs.
class ChosenExtents {
 public:
  /// The min, opt or max of the InputSpecs. Min and max are used as far as the model's conditions are satisfied.
  enum class Choice { Least, Usual, Most };
  ChosenExtents(const Model& model, Choice choice = Choice::Usual);
  /// Returns nothing for containers, and for values whose extents do not depend only on the inputs' extents.
  std::optional<Dims> of(ValueId value) const;
  /// Returns the extents of the inputs that are tensors, by name, or nothing if those of one are unknown.
  std::optional<std::map<std::string, Dims>> ofInputs() const;

 private:
  const Graph& m_graph;
  std::map<ValueId, Dims> m_open;  ///< the extents of values whose types have open extents
};

/// Returns whether an input of `model` has open extents.
bool hasOpenInputs(const Model& model);

/// Returns the sum, or nothing if an operand is unknown or the sum does not fit into 64 bits.
std::optional<std::int64_t> knownSum(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b);

/// Returns the number of operations of a node; a multiply-add counts as two. Returns nothing if an extent is unknown,
/// or if the number does not fit into 64 bits.
std::optional<std::int64_t> flopsOfNode(const ChosenExtents& extents, const Node& node);

/// Returns whether `node` reads only as many elements of `value`, its first operand, as it writes. For example, the
/// Gather of an embedding does not read the whole table.
bool readsPart(const Node& node, ValueId value);

/// Returns the size of `value` if its elements have type `type`, or nothing if an extent is unknown.
std::optional<std::int64_t> bytesOfValue(const ChosenExtents& extents, ValueId value, DataType type);

/// Returns the bytes that a conversion of `value` reads and writes, or nothing if an extent is unknown.
std::optional<std::int64_t> bytesOfConversion(const ChosenExtents& extents, ValueId value, DataType from, DataType to);

}  // namespace fusescope
