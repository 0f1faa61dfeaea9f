#pragma once

#include <memory>

#include "passes/pass.h"

namespace fusescope {

// The passes that prepare a model, in the order of the recipe in pipelines.cpp.

/// Takes out Identity and Dropout that does not train: y = Identity(x)  ⟶  x.
std::unique_ptr<Pass> removeIdentities();
/// Computes what depends on constants or known extents alone: Shape → Gather → Concat → …  ⟶  constant.
std::unique_ptr<Pass> foldConstants();
/// Takes out Cast, Reshape, Transpose, Slice … whose result provably is their input.
std::unique_ptr<Pass> removeNoOps();
/// Gives each kernel that reads integers a DequantizeLinear of its own: a, b of x̂ = DQ(x)  ⟶  a of DQ(x), b of DQ(x).
std::unique_ptr<Pass> copyDequantize();
/// Takes out nodes and constants that no output needs.
std::unique_ptr<Pass> removeDead();
/// Gives every value its type, inside bodies too; a declared type that contradicts the computed one gives way to it.
std::unique_ptr<Pass> inferTypes();

/// The types of the graph's inputs, from the specs: extents of fixed inputs, symbols where they may vary.
std::vector<TensorType> inputTypes(const Graph& graph, const std::vector<InputSpec>& specs);

}  // namespace fusescope
