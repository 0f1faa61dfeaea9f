#pragma once

#include <memory>

#include "passes/pass.h"

namespace fusescope {

/// What is taken for granted where two open extents meet: a condition that an engine checks, or nothing, in a body,
/// whose extents nobody checks.
enum class Assume { Conditions, Nothing };

// The passes that prepare a model, in the order of the recipe in pipelines.cpp.

/// Puts the nodes of the branch that is taken in the place of an If whose condition is known:
/// y = If(true) then {…}  ⟶  …
std::unique_ptr<Pass> takeBranches();
/// Takes out Identity and Dropout that does not train: y = Identity(x)  ⟶  x.
std::unique_ptr<Pass> removeIdentities();
/// Writes an Einsum of two operands that is a product as MatMul, which kernels and rules know:
/// y = Einsum "bqhd,bkhd->bhqk" (q, k)  ⟶  y = MatMul(Transpose(q), Transpose(k)).
std::unique_ptr<Pass> einsumProducts();
/// Computes what depends on constants or known extents alone: Shape → Gather → Concat → …  ⟶  constant.
std::unique_ptr<Pass> foldConstants();
/// Dequantises constants that only normalisations without kernels of codes read: BatchNormalization(x, DQ(q), …)  ⟶
/// BatchNormalization(x, w, …).
std::unique_ptr<Pass> dequantizeParameters();
/// Gives Reshape and Expand a constant for extents that they had computed, where 0, -1 or 1 say it: views that kernels
/// can take in, and no arithmetic of shapes beside them.
std::unique_ptr<Pass> constantShapes();
/// Takes the views around an operator out that works on the last axis either way, as Softmax before opset 13 has them:
/// y = Reshape(Softmax(Flatten(x)))  ⟶  y = Softmax(x). A Gemm of the rows becomes what it is of any number of axes:
/// y = Reshape(Gemm(Reshape(x), w, c))  ⟶  y = Add(MatMul(x, w), c).
std::unique_ptr<Pass> workOnRows();
/// Moves integers instead of the floats that they stand for, by one scale: Transpose(DQ(q))  ⟶  DQ(Transpose(q)),
/// Q(Reshape(x))  ⟶  Reshape(Q(x)). Kernels then have the DequantizeLinear and QuantizeLinear beside them. What only
/// picks elements is passed by a DequantizeLinear alone.
std::unique_ptr<Pass> moveCodes();
/// Takes out Cast, Reshape, Transpose, Slice … whose result provably is their input, and a QuantizeLinear that gives
/// back what was dequantised.
std::unique_ptr<Pass> removeNoOps();
/// Gives each kernel that reads integers a DequantizeLinear of its own: a, b of x̂ = DQ(x)  ⟶  a of DQ(x), b of DQ(x).
std::unique_ptr<Pass> copyDequantize();
/// Takes out nodes and constants that no output needs.
std::unique_ptr<Pass> removeDead();
/// Gives every value its type, inside bodies too; a declared type that contradicts the computed one gives way to it.
std::unique_ptr<Pass> inferTypes(Assume assume = Assume::Conditions);
/// Makes each body a model of its own (Model::bodies) and prepares it as the graph around it was. Constants that it
/// captures become its own; of the rest it captures only what it reads.
std::unique_ptr<Pass> prepareBodies();

/// The types of the graph's inputs, from the specs: extents of fixed inputs, symbols where they may vary.
std::vector<TensorType> inputTypes(const Graph& graph, const std::vector<InputSpec>& specs);

}  // namespace fusescope
