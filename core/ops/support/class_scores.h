#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {

/// What ai.onnx.ml does to scores at the end: its attribute post_transform.
enum class ScoreTransform { None, Softmax, Logistic, SoftmaxZero, Probit };

Result<ScoreTransform> scoreTransform(const Node& node);
/// Of the scores of one row, in place. A single score is only changed by Probit.
void transformScores(std::span<float> scores, ScoreTransform transform);
/// The two scores of a row that a single one stands for. `mixed`: the score may be negative, and 0 is between the
/// classes; otherwise it is a probability.
Result<std::vector<float>> scoresOfTwo(float score, bool mixed, ScoreTransform transform);

/// The labels of a classifier: texts, or integers.
class ClassLabels {
 public:
  /// From the attribute `texts` or, without it, `integers`.
  static Result<ClassLabels> create(const Node& node, const std::string& texts, const std::string& integers);
  std::size_t count() const { return m_texts.empty() ? m_integers.size() : m_texts.size(); }
  DataType type() const { return m_texts.empty() ? DataType::I64 : DataType::String; }
  /// A tensor of the labels with these indices.
  Tensor pick(const std::vector<std::size_t>& indices) const;

 private:
  std::vector<std::string> m_texts;
  Ints m_integers;
};

/// The features of an operator of ai.onnx.ml, a row each: [N, F], or [F] for a single row.
struct FeatureRows {
  std::vector<double> values;
  std::size_t rows = 0, features = 0;
  std::span<const double> row(std::size_t i) const { return std::span(values).subspan(i * features, features); }
};
FeatureRows featureRows(const Tensor& x);
/// How many rows a shape of rank 1 or 2 has.
Result<Dim> rowCount(const Shape& shape);
/// How many features its rows have.
inline Dim featureCount(const Shape& shape) {
  return shape.ranked ? shape.dims.back() : Dim();
}

/// What features may be made of.
inline constexpr TypeSet kFeatureTypes{DataType::F32, DataType::F64, DataType::I64, DataType::I32};

/// The schema of an operator of ai.onnx.ml on one tensor of features.
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
