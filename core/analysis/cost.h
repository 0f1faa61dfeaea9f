#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ir/model.h"

namespace fusescope {

/// The extents of a model's values for one choice of those that its inputs leave open.
class UsualExtents {
 public:
  /// The InputSpecs' min, opt or max; min and max as far in as the model's conditions hold.
  enum class Choice { Least, Usual, Most };
  UsualExtents(const Model& model, Choice choice = Choice::Usual);
  /// Nothing for containers, and where an extent depends on more than the inputs' extents.
  std::optional<Dims> of(ValueId value) const;
  /// Of the inputs that are tensors, by name; nothing if one is not known.
  std::optional<std::map<std::string, Dims>> ofInputs() const;

 private:
  const Graph& m_graph;
  std::map<ValueId, Dims> m_open;  ///< of values whose types leave extents open
};

/// Whether the extents of an input of `model` are open.
bool hasOpenInputs(const Model& model);

/// The sum; nothing where one is not known, or 64 bits do not hold it.
std::optional<std::int64_t> knownSum(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b);

/// Operations of one node; a multiply-add counts as two. Nothing where an extent is not known, or where they are more
/// than 64 bits hold.
std::optional<std::int64_t> flopsOfNode(const UsualExtents& extents, const Node& node);

/// Whether `node` reads of `value`, its first operand, only as many elements as it writes: an embedding's Gather does
/// not move the table.
bool readsPart(const Node& node, ValueId value);

/// Bytes of `value` when its elements are of `type`. Nothing where an extent is not known.
std::optional<std::int64_t> bytesOfValue(const UsualExtents& extents, ValueId value, DataType type);

/// Bytes that converting `value` reads and writes. Nothing where an extent is not known.
std::optional<std::int64_t> bytesOfConversion(const UsualExtents& extents, ValueId value, DataType from, DataType to);

}  // namespace fusescope
