#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace fusescope {

class Graph;
struct Node;

// Questions of fusion rules about a graph. They do not depend on segments, precision or directives.

/// Returns whether the node has one output, each element of which is computed from the elements at the same position.
bool isElementwise(const Node& node);
/// Returns whether the result has the same elements in the same order: Reshape and similar operators whose inputs
/// besides the first are constants, and a Transpose that moves only axes of one element.
bool isView(const Graph& graph, const Node& node);

/// Returns whether the node is a Cast between two of f32, f16 and bf16, by which the network's author requests a type
/// for an edge.
bool isFloatCast(const Graph& graph, const Node& node);

/// Returns whether both are known to have the same extents, by size or by symbol.
bool sameExtents(const Graph& graph, ValueId a, ValueId b);
/// Returns whether every extent is a size or a symbol.
bool extentsKnown(const Graph& graph, ValueId value);
bool isScalarConstant(const Graph& graph, ValueId value);  ///< a constant of one element, with or without data
/// Returns whether `value` is a constant of one element that equals `number`; false if it has no data.
bool isConstantNumber(const Graph& graph, ValueId value, double number);
/// Returns whether broadcasting `value` against `to` gives the extents of `to`.
bool broadcastsTo(const Graph& graph, ValueId value, ValueId to);

/// Returns the value before the float Casts that produce `value`. `casts`, if not null, gets them, the last one first.
ValueId beforeCasts(const Graph& graph, ValueId value, std::vector<NodeId>* casts = nullptr);
/// Returns the value after the float Casts that follow `value`, as long as each Cast is the only reader. `casts` gets
/// them in order.
ValueId behindCasts(const Graph& graph, ValueId value, std::vector<NodeId>& casts);

/// Returns the producer of `value` if its operator is `op`; otherwise null.
const Node* producerIf(const Graph& graph, ValueId value, std::string_view op);
/// Returns the only node that reads `value`. It is null if there are several, or if `value` is an output of the
/// network.
const Node* onlyConsumer(const Graph& graph, ValueId value);
/// Returns the only reader of `value` if its operator is `op`; otherwise null.
const Node* onlyConsumerIf(const Graph& graph, ValueId value, std::string_view op);
/// Returns the reader of `value` with operator `op` if there is exactly one, even if other nodes read `value`.
const Node* consumerIf(const Graph& graph, ValueId value, std::string_view op);
/// Returns the other operand of a binary node.
ValueId otherOperand(const Node& node, ValueId operand);
/// Returns how many axes a reduction reduces, if these are the last axes of its input and it keeps them with extent 1;
/// otherwise 0. A GlobalAveragePool counts as one.
std::size_t reducedLastAxes(const Graph& graph, const Node& node);
bool isLastAxis(const Graph& graph, const Node& node, std::int64_t axis);

}  // namespace fusescope
