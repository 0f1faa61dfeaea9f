#include "ops/support/class_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/support/list_attributes.h"

namespace fusescope::ops {
namespace {

float logistic(float x) {
  const float positive = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - positive : positive;
}

/// Returns the quantile of the normal distribution, by Winitzki's approximation of the inverse error function.
float probit(float probability) {
  constexpr float kShape = 0.147F;
  const float x = 2 * probability - 1;
  const float logarithm = std::log((1 - x) * (1 + x));
  const float half = 2 / (std::numbers::pi_v<float> * kShape) + logarithm / 2;
  const float inverse = std::sqrt(std::sqrt(half * half - logarithm / kShape) - half);
  return std::numbers::sqrt2_v<float> * std::copysign(inverse, x);
}

/// If `keepsZeros` is true, scores of 0 stay 0, and the softmax is over the others.
void softmax(std::span<float> scores, bool keepsZeros) {
  constexpr float kZero = 1e-7F;
  const float most = *std::ranges::max_element(scores);
  float sum = 0;
  for (float& score : scores) {
    score = keepsZeros && std::abs(score) <= kZero ? 0 : std::exp(score - most);
    sum += score;
  }
  for (float& score : scores) score /= sum;
}

}  // namespace

Result<ScoreTransform> scoreTransform(const Node& node) {
  const std::string text =
      TRY(choiceAttribute(node, "post_transform", "NONE", {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}));
  if (text == "SOFTMAX") return ScoreTransform::Softmax;
  if (text == "LOGISTIC") return ScoreTransform::Logistic;
  if (text == "SOFTMAX_ZERO") return ScoreTransform::SoftmaxZero;
  return text == "PROBIT" ? ScoreTransform::Probit : ScoreTransform::None;
}

void transformScores(std::span<float> scores, ScoreTransform transform) {
  if (transform == ScoreTransform::Probit)
    for (float& score : scores) score = probit(score);
  if (scores.size() < 2) return;
  if (transform == ScoreTransform::Softmax || transform == ScoreTransform::SoftmaxZero)
    softmax(scores, transform == ScoreTransform::SoftmaxZero);
  if (transform == ScoreTransform::Logistic)
    for (float& score : scores) score = logistic(score);
}

Result<std::vector<float>> scoresOfTwo(float score, bool mixed, ScoreTransform transform) {
  if (transform == ScoreTransform::Probit)
    return attributeProblem("post_transform", "PROBIT of one score for two classes is not defined");
  if (transform == ScoreTransform::Logistic) return std::vector{logistic(-score), logistic(score)};
  return std::vector{mixed ? -score : 1 - score, score};
}

Result<ClassLabels> ClassLabels::create(const Node& node, const std::string& texts, const std::string& integers) {
  ClassLabels labels;
  labels.m_texts = listAttribute<std::string>(node, texts);
  labels.m_integers = node.intsAttribute(integers);
  if (labels.count() == 0) return attributeProblem(integers, "is missing, and so is " + texts);
  return labels;
}

Tensor ClassLabels::pick(const std::vector<std::size_t>& indices) const {
  if (m_texts.empty()) {
    Ints picked;
    for (const std::size_t i : indices) picked.push_back(m_integers[i]);
    return Tensor::ofInt64(std::move(picked));
  }
  std::vector<std::string> picked;
  for (const std::size_t i : indices) picked.push_back(m_texts[i]);
  return Tensor::ofStrings({std::ssize(picked)}, picked);
}

FeatureRows featureRows(const Tensor& x) {
  const Tensor wide = x.converted(DataType::F64);
  FeatureRows rows{.values = {wide.data<double>().begin(), wide.data<double>().end()}};
  rows.rows = x.dims().size() == 1 ? 1 : static_cast<std::size_t>(x.dims()[0]);
  rows.features = static_cast<std::size_t>(x.dims().back());
  return rows;
}

Result<Dim> rowCount(const Shape& shape) {
  if (!shape.ranked) return Dim();
  if (shape.rank() != 1 && shape.rank() != 2)
    return problem(fmt::format("input 0 has rank {}, expected 1 or 2", shape.rank()));
  return shape.rank() == 1 ? Dim(1) : shape.dims[0];
}

}  // namespace fusescope::ops
