// Scores that are weighted sums of features. Semantics: operators LinearClassifier and LinearRegressor of ai.onnx.ml.
// Where these are undefined (a single score for two classes), results are those of ONNX Runtime.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/class_scores.h"
#include "ops/support/list_attributes.h"

namespace fusescope::ops {
namespace linear_models {
namespace {

/// scores[c] = coefficients[c] · x + intercepts[c]
struct LinearModel {
  std::vector<float> coefficients, intercepts;
  std::size_t targets = 0;
  ScoreTransform transform = ScoreTransform::None;

  std::vector<float> scores(std::span<const double> x) const {
    std::vector<float> all;
    for (std::size_t target = 0; target < targets; ++target) {
      double sum = intercepts.empty() ? 0 : static_cast<double>(intercepts[target]);
      for (std::size_t i = 0; i < x.size(); ++i)
        sum += static_cast<double>(coefficients[target * x.size() + i]) * static_cast<double>(static_cast<float>(x[i]));
      all.push_back(static_cast<float>(sum));
    }
    return all;
  }
};

Result<LinearModel> linearModel(const Node& node, std::size_t targets) {
  LinearModel model{.coefficients = listAttribute<float>(node, "coefficients"),
                    .intercepts = listAttribute<float>(node, "intercepts"),
                    .targets = targets,
                    .transform = TRY(scoreTransform(node))};
  if (targets == 0 || model.coefficients.empty() || model.coefficients.size() % targets != 0)
    return attributeProblem("coefficients", fmt::format("has {} entries, which is not a multiple of the {} targets",
                                                        model.coefficients.size(), targets));
  if (!model.intercepts.empty() && model.intercepts.size() != targets)
    return attributeProblem("intercepts", fmt::format("has {} entries, expected {}", model.intercepts.size(), targets));
  return model;
}

Status checkFeatures(const LinearModel& model, const Shape& shape) {
  const Dim features = featureCount(shape);
  const auto wanted = static_cast<std::int64_t>(model.coefficients.size() / model.targets);
  if (!features.known() || features.size == wanted) return Done{};
  return problem(
      fmt::format("the rows of the input have {} features, but the coefficients are for {}", features.size, wanted));
}

struct Classifier {
  LinearModel model;
  ClassLabels labels;
  bool oneForTwo() const { return model.targets == 1 && labels.count() == 2; }
};

Result<Classifier> classifierOf(const Node& node) {
  Classifier classifier{.model = {},
                        .labels = TRY(ClassLabels::create(node, "classlabels_strings", "classlabels_ints"))};
  const std::size_t intercepts = listAttribute<float>(node, "intercepts").size();
  classifier.model = TRY(linearModel(node, intercepts == 0 ? classifier.labels.count() : intercepts));
  if (!classifier.oneForTwo() && classifier.model.targets != classifier.labels.count())
    return problem(fmt::format("the model computes {} scores, but it has {} classes", classifier.model.targets,
                               classifier.labels.count()));
  return classifier;
}

Result<Types> inferClassifier(const InferContext& context) {
  const Classifier classifier = TRY(classifierOf(context.node()));
  const Dim rows = TRY(rowCount(context.input(0).shape));
  TRY(checkFeatures(classifier.model, context.input(0).shape));
  const auto classes = static_cast<std::int64_t>(classifier.labels.count());
  return Types{TensorType{classifier.labels.type(), Shape::of(std::vector{rows})},
               TensorType{DataType::F32, Shape::of(std::vector{rows, Dim(classes)})}};
}

Result<Tensors> classify(const KernelContext& context) {
  const Classifier classifier = TRY(classifierOf(context.node()));
  const FeatureRows rows = featureRows(context.input(0));
  Tensor scores = TRY(allocate(
      DataType::F32, {static_cast<std::int64_t>(rows.rows), static_cast<std::int64_t>(classifier.labels.count())}));
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    std::vector<float> row = classifier.model.scores(rows.row(i));
    if (classifier.oneForTwo()) {
      chosen.push_back(row[0] > 0 ? 1 : 0);
      row = TRY(scoresOfTwo(row[0], false, classifier.model.transform));
    } else {
      chosen.push_back(static_cast<std::size_t>(std::ranges::max_element(row) - row.begin()));
      transformScores(row, classifier.model.transform);
    }
    std::ranges::copy(row, scores.mutableData<float>().subspan(i * row.size()).begin());
  }
  return Tensors{classifier.labels.pick(chosen), std::move(scores)};
}

Result<LinearModel> regressorOf(const Node& node) {
  const std::int64_t targets = node.intAttribute("targets", 1);
  if (targets < 1) return attributeProblem("targets", fmt::format("is {}, expected at least 1", targets));
  return linearModel(node, static_cast<std::size_t>(targets));
}

Result<Types> inferRegressor(const InferContext& context) {
  const LinearModel model = TRY(regressorOf(context.node()));
  const Dim rows = TRY(rowCount(context.input(0).shape));
  TRY(checkFeatures(model, context.input(0).shape));
  return one(DataType::F32, Shape::of(std::vector{rows, Dim(static_cast<std::int64_t>(model.targets))}));
}

Result<Tensors> regress(const KernelContext& context) {
  const LinearModel model = TRY(regressorOf(context.node()));
  const FeatureRows rows = featureRows(context.input(0));
  Tensor results = TRY(allocateOutput(context));
  for (std::size_t i = 0; i < rows.rows; ++i) {
    std::vector<float> row = model.scores(rows.row(i));
    transformScores(row, model.transform);
    std::ranges::copy(row, results.mutableData<float>().subspan(i * row.size()).begin());
  }
  return Tensors{std::move(results)};
}

}  // namespace
}  // namespace linear_models

void registerLinearModels(OpRegistry& registry) {
  registry.add(featureSchema("LinearClassifier", linear_models::inferClassifier, linear_models::classify, 2));
  registry.add(featureSchema("LinearRegressor", linear_models::inferRegressor, linear_models::regress));
}

}  // namespace fusescope::ops
