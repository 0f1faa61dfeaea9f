#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace fusescope {

// What fusion rules ask of a graph. Nothing here knows of segments, precision or directives.

bool isElementwise(const Node& node);  ///< one output, each element from the elements at its place
/// The same elements in the same order: Reshape and its like, whose inputs besides the first are constants, and a
/// Transpose that only moves axes of one element.
bool isView(const Graph& graph, const Node& node);

/// A Cast from one of f32, f16 and bf16 to another: a wish of the network's author about an edge.
bool isFloatCast(const Graph& graph, const Node& node);

/// Both are known to have the same extents, by size or by symbol.
bool sameExtents(const Graph& graph, ValueId a, ValueId b);
/// Every extent is a size or a symbol.
bool extentsKnown(const Graph& graph, ValueId value);
bool isScalarConstant(const Graph& graph, ValueId value);  ///< a constant of one element, with or without data
/// A constant of one element that equals `number`; false without data.
bool isConstantNumber(const Graph& graph, ValueId value, double number);
/// Broadcasting `value` against `to` gives the extents of `to`.
bool broadcastsTo(const Graph& graph, ValueId value, ValueId to);

/// What `value` is before the float Casts that make it; `casts`, if given, gets them, the last one first.
ValueId beforeCasts(const Graph& graph, ValueId value, std::vector<NodeId>* casts = nullptr);
/// What `value` becomes behind float Casts, as long as each is all that reads it; `casts` gets them in order.
ValueId behindCasts(const Graph& graph, ValueId value, std::vector<NodeId>& casts);

/// The node that makes `value` if its type is `op`, else null.
const Node* producerIf(const Graph& graph, ValueId value, std::string_view op);
/// The one node that reads `value`, which must be no output of the network; null if there are others.
const Node* onlyConsumer(const Graph& graph, ValueId value);
/// The one reader of `value` if its type is `op`, else null.
const Node* onlyConsumerIf(const Graph& graph, ValueId value, std::string_view op);
/// The reader of `value` of type `op` if there is exactly one, whatever else reads it.
const Node* consumerIf(const Graph& graph, ValueId value, std::string_view op);
/// The other operand of a binary node.
ValueId otherOperand(const Node& node, ValueId operand);
/// How many axes a reduction takes if they are the last ones of its input and it keeps them; else 0.
std::size_t reducedLastAxes(const Graph& graph, const Node& node);
bool isLastAxis(const Graph& graph, const Node& node, std::int64_t axis);

}  // namespace fusescope
