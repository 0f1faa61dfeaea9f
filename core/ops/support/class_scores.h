#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {

/// What ai.onnx.ml does with scores at the end: the attribute post_transform.
enum class ScoreTransform { None, Softmax, Logistic, SoftmaxZero, Probit };

Result<ScoreTransform> scoreTransform(const Node& node);
/// Transforms the scores of one row in place. A single score is changed only by Probit.
void transformScores(std::span<float> scores, ScoreTransform transform);
/// Returns the two scores of a row for which a single score was computed. If `mixed` is true, the score may be negative
/// and 0 separates the classes; otherwise it is a probability.
Result<std::vector<float>> scoresOfTwo(float score, bool mixed, ScoreTransform transform);

/// The labels of a classifier, which are texts or integers.
class ClassLabels {
 public:
  /// Reads the attribute `texts` or, if it is absent, `integers`.
  static Result<ClassLabels> create(const Node& node, const std::string& texts, const std::string& integers);
  std::size_t count() const { return m_texts.empty() ? m_integers.size() : m_texts.size(); }
  DataType type() const { return m_texts.empty() ? DataType::I64 : DataType::String; }
  /// Returns a tensor of the labels at these indices.
  Tensor pick(const std::vector<std::size_t>& indices) const;

 private:
  std::vector<std::string> m_texts;
  Ints m_integers;
};

/// The features that an operator of ai.onnx.ml reads, in rows; the tensor is [N, F], or [F] for a single row.
struct FeatureRows {
  std::vector<double> values;
  std::size_t rows = 0, features = 0;
  std::span<const double> row(std::size_t i) const { return std::span(values).subspan(i * features, features); }
};
FeatureRows featureRows(const Tensor& x);
/// Returns the number of rows of a shape of rank 1 or 2.
Result<Dim> rowCount(const Shape& shape);
/// Returns the number of features in a row.
inline Dim featureCount(const Shape& shape) {
  return shape.ranked ? shape.dims.back() : Dim();
}

/// The element types that features may have.
inline constexpr TypeSet kFeatureTypes{DataType::F32, DataType::F64, DataType::I64, DataType::I32};

/// Makes the schema of an operator of ai.onnx.ml that reads one tensor of features.
inline OpSchema featureSchema(std::string op, InferFunction infer, KernelFunction kernel, int outputs = 1,
                              TypeSet types = kFeatureTypes) {
  return {.op = std::move(op),
          .domain = "ai.onnx.ml",
          .minInputs = 1,
          .maxInputs = 1,
          .infer = std::move(infer),
          .kernel = std::move(kernel),
          .maxOutputs = outputs,
          .signature = {"T", {{'T', types}}}};
}

}  // namespace fusescope::ops
