#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/extent_expression.h"
#include "ir/graph.h"

namespace fusescope {

/// The elements of a scalar or of a short one-dimensional tensor of integers that are worked out from extents; those
/// that are not valid are unknown.
using SymbolicInts = std::vector<ExtentExpression>;

/// What is known of a node's inputs, by slot: types (null: absent) and elements (null: nothing known).
struct SymbolicInputs {
  std::span<const TensorType* const> types;
  std::span<const SymbolicInts* const> values;
};

/// The elements of an integer or boolean tensor with data, if it is short enough to be a shape.
std::optional<SymbolicInts> symbolicOf(const Tensor& tensor);
/// The tensor of type `type` if every element is a number.
std::optional<Tensor> tensorOf(const SymbolicInts& values, const TensorType& type);

/// The elements of the first output of a node that does arithmetic of shapes (Shape, Gather, Concat, Mul …); nothing
/// for others. `output` is the type of that output.
std::optional<SymbolicInts> symbolicResult(const Node& node, const SymbolicInputs& inputs, const TensorType& output);

/// `computed`, the shape of the first output, with the extents filled in that the elements of its inputs decide
/// (Reshape, Expand, ConstantOfShape, Slice, Tile, Resize, Range). Known extents are never changed.
Shape completedShape(const Node& node, const SymbolicInputs& inputs, const Shape& computed);

}  // namespace fusescope
