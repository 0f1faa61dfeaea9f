#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/extent_expression.h"
#include "ir/tensor.h"

namespace fusescope {

struct Node;

/// The elements of an integer scalar or of a short one-dimensional integer tensor, as expressions of extents. An
/// element that is not valid is unknown.
using SymbolicInts = std::vector<ExtentExpression>;

/// What is known of a node's inputs, by position: types (null if absent) and elements (null if unknown).
struct SymbolicInputs {
  std::span<const TensorType* const> types;
  std::span<const SymbolicInts* const> values;
};

/// Returns the elements of an integer or boolean tensor with data, if it is short enough to be a shape.
std::optional<SymbolicInts> symbolicOf(const Tensor& tensor);
/// Returns the tensor of type `type` with these elements, if every element is a number.
std::optional<Tensor> tensorOf(const SymbolicInts& values, const TensorType& type);

/// Returns the elements of the first output of a node that computes with shapes (Shape, Gather, Concat, Mul …), or
/// nothing for other nodes. `output` is the type of that output.
std::optional<SymbolicInts> symbolicResult(const Node& node, const SymbolicInputs& inputs, const TensorType& output);

/// Returns `computed`, the shape of the first output, completed by the extents that follow from the elements of the
/// inputs (Reshape, Expand, ConstantOfShape, Slice, Tile, Resize, Range). Known extents are never changed.
Shape completedShape(const Node& node, const SymbolicInputs& inputs, const Shape& computed);

}  // namespace fusescope
