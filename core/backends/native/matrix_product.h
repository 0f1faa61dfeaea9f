#pragma once

#include <dnnl.hpp>

#include "backends/native/code_panels.h"
#include "backends/native/epilogue_chain.h"

namespace fusescope::native {

/// A matrix product with what was taken into it.
struct PreparedMatMul {
  Ref a, b;
  DataType type = DataType::F32;    ///< of both operands, as they are multiplied
  Dims result;                      ///< extents as the primitive sees them: [m, n], or with batches in front
  std::optional<Weight> weights;    ///< what `b` is where it is a constant matrix
  DataType held = DataType::F32;    ///< narrow: what holds all of `weights`
  std::optional<CodeMatrix> codes;  ///< of what `weights` are dequantised, where they are
  std::vector<std::pair<Weight, float>> biases;  ///< by column, or one number, each with its factor; their sum
  dnnl::post_ops operations;
  std::vector<std::pair<int, Ref>> addends;  ///< operands of `operations`, by argument
  std::map<ValueId, Ref> residuals;          ///< of these, what lies as the result
  dnnl::post_ops sums;                       ///< `operations` before the first activation
  std::size_t summed = 0;                    ///< nodes up to there; 0: there is no activation
  bool mayLoseNumbers = false;

  std::int64_t columns() const { return b.dims.back(); }
};

/// A product that our own kernel runs, and where it writes.
struct OwnProduct {
  PreparedMatMul product;
  Ref target;
};

/// `ref`, which is row-major, seen with other extents.
Ref denseAs(Ref ref, const Dims& dims);
/// The sum of the biases of a product, for each column.
Packing packBias(const PreparedMatMul& product);

/// Whether a primitive or our own kernel can run the product.
bool canMultiply(const Context& context, const Node& root);
/// Whether our own kernel can run it, given a plain first operand.
bool isOwnProduct(const Context& context, const Node& root);
/// The constant matrix that `value` is the transposition of, if it is that: it is packed from where it lies.
std::optional<ValueId> transposedConstant(const Context& context, ValueId value);
/// The codes that the second operand of a product, a constant matrix, is dequantised from: by one scale, by one for
/// each column, or by blocks along k.
std::optional<CodeMatrix> codeMatrix(const Context& context, const Node& root);

/// The product with the terms of its own, for operands that are multiplied in `type`, and `own`: by our own kernel.
Result<PreparedMatMul> prepareMatMul(Context& context, const Node& root, DataType type, bool own);
/// Takes what follows into the product as far as it can be post-operations; our own kernel takes biases only. Returns
/// how many nodes of the chain the product stands for then.
Result<std::size_t> foldChain(Context& context, const Chain& chain, PreparedMatMul& product, bool own);
/// Adds one step that runs all of the products, which have one first operand.
Status emitOwnProducts(Context& context, std::vector<OwnProduct> products);

}  // namespace fusescope::native
