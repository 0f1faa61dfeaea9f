// Counts of n-grams. Semantics: ONNX operator TfIdfVectorizer.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/list_attributes.h"

namespace fusescope::ops {
namespace {

/// The checked attributes. `counts[n - 1]` is the index in the pool at which the n-grams of length n begin.
struct Form {
  std::string mode;
  std::int64_t shortest = 0, longest = 0, skips = 0, columns = 0;
  Ints columnOf;  ///< the output column of each n-gram of the pool
  std::vector<float> weights;
  Ints starts;
  std::size_t poolSize = 0;
  bool ofTexts = false;
};

/// Returns the number of n-grams of length `n` in the pool.
std::int64_t gramCount(const Form& form, std::size_t n) {
  const std::int64_t end = n < form.starts.size() ? form.starts[n] : static_cast<std::int64_t>(form.poolSize);
  return (end - form.starts[n - 1]) / static_cast<std::int64_t>(n);
}

Status checkPool(const Form& form) {
  std::int64_t before = 0, grams = 0;
  for (std::size_t n = 1; n <= form.starts.size(); ++n) {
    const std::int64_t start = form.starts[n - 1];
    if (start < before || start > static_cast<std::int64_t>(form.poolSize))
      return attributeProblem(
          "ngram_counts",
          fmt::format("contains {}, which is not a position in the pool at or after {}", start, before));
    before = start;
  }
  for (std::size_t n = 1; n <= form.starts.size(); ++n) grams += gramCount(form, n);
  if (grams > std::ssize(form.columnOf))
    return attributeProblem("ngram_indexes",
                            fmt::format("has {} entries, but the pool has {} n-grams", form.columnOf.size(), grams));
  if (!form.weights.empty() && form.weights.size() != form.columnOf.size())
    return attributeProblem("weights",
                            fmt::format("has {} entries, expected {}", form.weights.size(), form.columnOf.size()));
  return Done{};
}

Result<Form> formOf(const Node& node) {
  Form form;
  form.mode = TRY(choiceAttribute(node, "mode", "TF", {"TF", "IDF", "TFIDF"}));
  form.shortest = node.intAttribute("min_gram_length", 1);
  form.longest = node.intAttribute("max_gram_length", 1);
  form.skips = node.intAttribute("max_skip_count", 0);
  if (form.shortest < 1 || form.longest < form.shortest)
    return attributeProblem("max_gram_length", fmt::format("is not possible: the lengths of n-grams would be {} to {}",
                                                           form.shortest, form.longest));
  if (form.skips < 0)
    return attributeProblem("max_skip_count", fmt::format("is {}, but it must not be negative", form.skips));
  form.columnOf = node.intsAttribute("ngram_indexes");
  for (const std::int64_t column : form.columnOf) {
    if (column < 0 || column >= (std::int64_t{1} << 40))
      return attributeProblem("ngram_indexes", fmt::format("contains {}, which is not a valid column", column));
    form.columns = std::max(form.columns, column + 1);
  }
  form.weights = listAttribute<float>(node, "weights");
  form.starts = node.intsAttribute("ngram_counts");
  form.ofTexts = node.hasAttribute("pool_strings");
  if (form.ofTexts == node.hasAttribute("pool_int64s"))
    return attributeProblem("pool_strings", "exactly one of pool_strings and pool_int64s must be given");
  form.poolSize =
      form.ofTexts ? listAttribute<std::string>(node, "pool_strings").size() : node.intsAttribute("pool_int64s").size();
  TRY(checkPool(form));
  return form;
}

Result<Types> inferTfIdf(const InferContext& context) {
  const Form form = TRY(formOf(context.node()));
  const TensorType& x = context.input(0);
  if (x.dtype != DataType::Undefined && (x.dtype == DataType::String) != form.ofTexts)
    return problem(fmt::format("the pool contains {}, but the input has type {}", form.ofTexts ? "texts" : "integers",
                               name(x.dtype)));
  if (!x.shape.ranked) return one(DataType::F32, Shape::unknown());
  if (x.shape.rank() != 1 && x.shape.rank() != 2)
    return problem(fmt::format("input 0 has rank {}, expected 1 or 2", x.shape.rank()));
  Shape shape = x.shape;
  shape.dims.back() = Dim(form.columns);
  return one(DataType::F32, std::move(shape));
}

/// Maps each n-gram to its index in the pool; of equal ones, to the last.
template <class T>
std::map<std::vector<T>, std::size_t> gramsOf(const Form& form, const std::vector<T>& pool) {
  std::map<std::vector<T>, std::size_t> grams;
  std::size_t which = 0;
  for (std::size_t n = 1; n <= form.starts.size(); ++n) {
    auto from = pool.begin() + form.starts[n - 1];
    for (std::int64_t i = 0; i < gramCount(form, n); ++i, ++which) {
      const auto end = from + static_cast<std::ptrdiff_t>(n);
      if (static_cast<std::int64_t>(n) >= form.shortest && static_cast<std::int64_t>(n) <= form.longest)
        grams[std::vector<T>(from, end)] = which;
      from = end;
    }
  }
  return grams;
}

/// Counts how often each n-gram of the pool occurs in a row. Between two neighbouring items of an n-gram there may be 0
/// to max_skip_count other items, and equally many everywhere in the n-gram. An n-gram of a single item is counted
/// once.
template <class T>
std::vector<std::int64_t> countsIn(std::span<const T> row, const Form& form,
                                   const std::map<std::vector<T>, std::size_t>& grams) {
  std::vector<std::int64_t> counts(form.columnOf.size(), 0);
  const auto length = std::ssize(row);
  const std::int64_t longest = std::min<std::int64_t>(form.longest, std::ssize(form.starts));
  for (std::int64_t n = form.shortest; n <= longest; ++n) {
    const std::int64_t farthest = n == 1 ? 1 : std::min(form.skips, length) + 1;
    for (std::int64_t step = 1; step <= farthest; ++step)
      for (std::int64_t start = 0; start + step * (n - 1) < length; ++start) {
        std::vector<T> gram;
        for (std::int64_t k = 0; k < n; ++k) gram.push_back(row[static_cast<std::size_t>(start + k * step)]);
        if (const auto found = grams.find(gram); found != grams.end()) ++counts[found->second];
      }
  }
  return counts;
}

template <class T>
Result<Tensors> vectorized(const KernelContext& context, const Form& form, std::span<const T> items,
                           const std::vector<T>& pool) {
  const auto grams = gramsOf(form, pool);
  const auto length = static_cast<std::size_t>(context.input(0).dims().back());
  Tensor result = TRY(allocateOutput(context));
  const auto rows = context.input(0).dims().size() == 1 ? 1 : static_cast<std::size_t>(context.input(0).dims()[0]);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<std::int64_t> counts = countsIn(items.subspan(row * length, length), form, grams);
    const auto to = result.mutableData<float>().subspan(row * static_cast<std::size_t>(form.columns));
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const float weight = form.weights.empty() || form.mode == "TF" ? 1.0F : form.weights[i];
      const std::int64_t count = form.mode == "IDF" ? std::min<std::int64_t>(counts[i], 1) : counts[i];
      to[static_cast<std::size_t>(form.columnOf[i])] += weight * static_cast<float>(count);
    }
  }
  return Tensors{std::move(result)};
}

Result<Tensors> tfIdf(const KernelContext& context) {
  const Form form = TRY(formOf(context.node()));
  const Tensor& x = context.input(0);
  if (form.ofTexts)
    return vectorized<std::string>(context, form, x.strings(),
                                   listAttribute<std::string>(context.node(), "pool_strings"));
  return vectorized<std::int64_t>(context, form, int64Values(x), context.node().intsAttribute("pool_int64s"));
}

}  // namespace

void registerTfIdf(OpRegistry& registry) {
  registry.add({.op = "TfIdfVectorizer",
                .kind = OpKind::Other,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferTfIdf,
                .kernel = tfIdf,
                .signature = {"T", {{'T', kIndexTypes | TypeSet{DataType::String}}}}});
}

}  // namespace fusescope::ops
