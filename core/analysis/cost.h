#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph.h"

namespace fusescope {

/// Operations of one node; a multiply-add counts as two. Nothing where an extent is not known.
std::optional<std::int64_t> flopsOfNode(const Graph& graph, const Node& node);

/// Whether `node` reads of `value`, its first operand, only as many elements as it writes: an embedding's Gather does not
/// move the table.
bool readsPart(const Node& node, ValueId value);

/// Bytes of `value` when its elements are of `type`. Nothing where an extent is not known.
std::optional<std::int64_t> bytesOfValue(const Graph& graph, ValueId value, DataType type);

/// Bytes that converting `value` reads and writes. Nothing where an extent is not known.
std::optional<std::int64_t> bytesOfConversion(const Graph& graph, ValueId value, DataType from, DataType to);

}  // namespace fusescope
