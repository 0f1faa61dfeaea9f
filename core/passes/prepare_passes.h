#pragma once

#include <memory>

#include "passes/pass.h"

namespace fusescope {

class Graph;

/// What may be assumed where two open extents meet: a condition, which an engine checks, or nothing. Nothing is for
/// bodies, because the extents of bodies are not checked.
enum class Assume { Conditions, Nothing };

// The passes that prepare a model, in the order in which pipelines.cpp runs them.

/// Replaces an If whose condition is known by the nodes of the branch that is taken:
/// y = If(true) then {…}  ⟶  …
std::unique_ptr<Pass> inlineBranches();
/// Removes Identity, and Dropout that does not train: y = Identity(x) ⟶ x.
std::unique_ptr<Pass> removeIdentities();
/// Replaces an Einsum of two operands that is a matrix product by MatMul, for which there are kernels and rules:
/// y = Einsum "bqhd,bkhd->bhqk" (q, k)  ⟶  y = MatMul(Transpose(q), Transpose(k)).
std::unique_ptr<Pass> einsumProducts();
/// Computes what depends only on constants or known extents: Shape → Gather → Concat → … ⟶ constant.
std::unique_ptr<Pass> foldConstants();
/// Dequantises constants that only normalisations read for which there is no kernel on codes:
/// BatchNormalization(x, DQ(q), …)  ⟶  BatchNormalization(x, w, …).
std::unique_ptr<Pass> dequantizeParameters();
/// Gives Reshape and Expand a constant in place of computed extents, if 0, -1 or 1 express them. They become views that
/// kernels can include, and the arithmetic of shapes disappears.
std::unique_ptr<Pass> constantShapes();
/// Removes the views around an operator that works on the last axis with or without them, as around Softmax before
/// opset 13: y = Reshape(Softmax(Flatten(x))) ⟶ y = Softmax(x). A Gemm of rows becomes a product over any number of
/// axes: y = Reshape(Gemm(Reshape(x), w, c)) ⟶ y = Add(MatMul(x, w), c).
std::unique_ptr<Pass> workOnRows();
/// Moves integers instead of the floats that they represent, if there is one scale: Transpose(DQ(q)) ⟶
/// DQ(Transpose(q)), Q(Reshape(x)) ⟶ Reshape(Q(x)). Kernels then have the DequantizeLinear and QuantizeLinear next to
/// them. Nodes that only select elements exchange places only with a DequantizeLinear.
std::unique_ptr<Pass> moveCodes();
/// Removes each Cast, Reshape, Transpose, Slice … whose result provably equals its input, and each QuantizeLinear that
/// restores what was dequantised.
std::unique_ptr<Pass> removeNoOps();
/// Gives each kernel that reads integers a DequantizeLinear of its own: a, b of x̂ = DQ(x) ⟶ a of DQ(x), b of DQ(x).
std::unique_ptr<Pass> copyDequantize();
/// Removes nodes and constants that no output needs.
std::unique_ptr<Pass> removeDead();
/// Gives every value its type, also inside bodies. If a declared type contradicts the computed type, the computed one
/// is used.
std::unique_ptr<Pass> inferTypes(Assume assume = Assume::Conditions);
/// Makes each body a model of its own (Model::bodies), and prepares it as the graph around it was prepared. Constants
/// that it captures become its own constants; it captures only other values that it reads.
std::unique_ptr<Pass> prepareBodies();

/// Returns the types of the graph's inputs according to the specs: numbers for fixed extents, symbols for open ones.
std::vector<TensorType> inputTypes(const Graph& graph, const std::vector<InputSpec>& specs);

}  // namespace fusescope
