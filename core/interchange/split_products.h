#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "onnxlib/network_edits.h"

namespace fusescope {

/// Products whose result a Split cuts along the columns of the weights, as edits that write each as one product for
/// each part:   Split(MatMul(x, DQ(w)))  ⟶  MatMul(x, DQ(w₀)), MatMul(x, DQ(w₁)), …
struct SplitProducts {
  onnxlib::NetworkEdits edits;
  std::vector<std::string> products;  ///< their names
  std::ptrdiff_t added = 0;           ///< how many products there are more
};

/// What the file does not say.
struct SplitQuestions {
  /// Whether nodes of these names, a product and what stands up to the Split, may be written as others.
  std::function<bool(std::span<const std::string> nodes)> mayGo;
  /// How many axes a value has; 0: nobody knows.
  std::function<std::size_t(const std::string& value)> rankOf;
};

/// Of the main graph of `file`, where weights are codes with a scale for each column. TensorRT moves such a Split into
/// the weights, which it dequantises for that, and multiplies floats; the parts it multiplies as codes, together. The
/// numbers are the same. A Reshape or an Add of a constant between product and Split is written for each part, too; the
/// Split's results keep their names. Error: weights without data, too large for memory.
Result<SplitProducts> splitProducts(const onnxlib::FileModel& file, const SplitQuestions& questions);

}  // namespace fusescope
